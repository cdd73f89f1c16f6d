"""*Health*: the machine around the learner."""

from grafana_foundation_sdk.builders.dashboard import Dashboard

from deploy.grafana.source.panels import (
    WHERE,
    Panel,
    Query,
    Section,
    Step,
    latest,
    lines,
    number,
    page,
    quantile,
    rate,
)

UID = "espalier-health"
JOB = 'job=~"$job"'
DEAD_LETTERS = rate("espalier_records_total", more=',outcome="dead_letter"')


def health() -> Dashboard:
    """Return the dashboard."""
    return page(
        UID,
        "Espalier / Health",
        "Transactions, delays, state, memory and what could not be used.",
        [
            Section("Workers", _workers()),
            Section("Delays", _delays()),
            Section("Kafka", _kafka()),
            Section("State", _state()),
            Section("Records that could not be used", _dead_letters()),
        ],
    )


def _workers() -> tuple[Panel, ...]:
    return (
        number(
            "Restarts in the last hour",
            "Times a worker was started again. More than one or two is a loop: see the runbook.",
            "short",
            Query(f"sum(changes(process_start_time_seconds{{{JOB}}}[1h]))", "restarts"),
            steps=[Step(None, "green"), Step(1, "orange"), Step(3, "red")],
            decimals=0,
        ),
        number(
            "Age of the durable state",
            "Time since the last commit, of the agent where it is longest. It grows while nothing comes in.",
            "s",
            Query(
                f"max(time() - espalier_state_last_commit_timestamp_seconds{{{WHERE}}})",
                "since the last commit",
            ),
        ),
        number(
            "Trees that differ from ID3's",
            "Agents whose last self-check found another tree than ID3 builds. It must be 0.",
            "short",
            Query(
                f"count(espalier_tree_matches_batch{{{WHERE}}}) - "
                f"sum(espalier_tree_matches_batch{{{WHERE}}})",
                "agents",
            ),
            steps=[Step(None, "green"), Step(1, "red")],
            decimals=0,
        ),
        number(
            "Version",
            "What runs; the number is how many workers run it.",
            "short",
            Query(f"count by (version) (espalier_build_info{{{JOB}}})", "{{version}}"),
            decimals=0,
        ),
        lines(
            "Memory",
            "Memory of the process, and what of it the models hold where the learner knows it.",
            "bytes",
            Query(f"process_resident_memory_bytes{{{JOB}}}", "{{instance}}: process"),
            Query(latest("espalier_model_bytes", how="sum"), "{{agent}}: models"),
        ),
        lines(
            "Processor time",
            "Cores in use. A worker has one busy thread for each agent.",
            "short",
            Query(f"rate(process_cpu_seconds_total{{{JOB}}}[$__rate_interval])", "{{instance}}"),
        ),
    )


def _delays() -> tuple[Panel, ...]:
    pairs = (
        (
            "From record to committed answer",
            "Time from a record's own timestamp to the commit of its answer.",
            "espalier_end_to_end_seconds",
        ),
        (
            "Time of a transaction's commit",
            "Time to produce and commit what a batch came to.",
            "espalier_commit_seconds",
        ),
        (
            "Time of a batch",
            "Time to decode, answer and learn a batch and to write its outputs, before it is committed.",
            "espalier_batch_seconds",
        ),
        (
            "Time of the learner",
            "Time the learner alone took to answer a batch and learn from it.",
            "espalier_learn_seconds",
        ),
    )
    return tuple(
        lines(
            title,
            f"{text} Half of them were quicker than the 50 % line, 99 of 100 than the 99 % line.",
            "s",
            Query(quantile(0.5, name), "{{agent}}: 50 %"),
            Query(quantile(0.95, name), "{{agent}}: 95 %"),
            Query(quantile(0.99, name), "{{agent}}: 99 %"),
        )
        for title, text, name in pairs
    )


def _kafka() -> tuple[Panel, ...]:
    return (
        lines(
            "Transactions",
            "Transactions each second by how they ended. An aborted one is done again; nothing is lost or "
            "doubled.",
            "cps",
            Query(rate("espalier_transactions_total", "agent, result"), "{{agent}}: {{result}}"),
        ),
        lines(
            "Rebalances and partitions",
            "Times partitions came or went in the last 5 minutes, and how many each worker reads now.",
            "short",
            Query(
                f"sum by (agent) (increase(espalier_rebalances_total{{{WHERE}}}[5m]))",
                "{{agent}}: rebalances",
            ),
            Query(f"espalier_partitions_assigned{{{WHERE}}}", "{{agent}}: partitions of {{instance}}"),
        ),
        lines(
            "Records behind, by partition",
            "The ten partitions that are furthest behind.",
            "short",
            Query(
                f"topk(10, sum by (agent, topic, partition) (espalier_consumer_lag_records{{{WHERE}}}))",
                "{{agent}}: {{topic}}/{{partition}}",
            ),
        ),
        lines(
            "Time behind, by agent",
            "Age of the last record processed, in the partition furthest behind; 0 where all is read.",
            "s",
            Query(latest("espalier_consumer_lag_seconds"), "{{agent}}"),
        ),
    )


def _state() -> tuple[Panel, ...]:
    return (
        lines(
            "Restore",
            "How much of what was committed the running restore has reached: 100 % where none is running.",
            "percentunit",
            Query(
                latest("espalier_restore_progress_ratio", "agent, instance", how="min"),
                "{{agent}} on {{instance}}",
            ),
            bounds=(0, 1),
        ),
        lines(
            "Time of the last restore",
            "How long it took to take the state back from the topics.",
            "s",
            Query(latest("espalier_restore_seconds"), "{{agent}}"),
        ),
        lines(
            "Age of the last snapshot",
            "A restore begins with the last snapshot and replays what came after it.",
            "s",
            Query(
                f"time() - max by (agent) (espalier_snapshot_last_success_timestamp_seconds{{{WHERE}}})",
                "{{agent}}",
            ),
        ),
        lines(
            "Size of the last snapshot",
            "Bytes of the last snapshot that was written.",
            "bytes",
            Query(latest("espalier_snapshot_bytes"), "{{agent}}"),
        ),
    )


def _dead_letters() -> tuple[Panel, ...]:
    return (
        lines(
            "Dead letters by reason",
            "Records each second that could not be used, by the reason that is also in their headers.",
            "cps",
            Query(rate("espalier_dead_letters_total", "agent, reason"), "{{agent}}: {{reason}}"),
            stacked=True,
        ),
        lines(
            "Share of records that could not be used",
            "Dead letters as a share of all records. A jump after a release of a producer is a schema that "
            "does not fit.",
            "percentunit",
            Query(
                f"{DEAD_LETTERS} / "
                f"(sum by (agent) (rate(espalier_records_total{{{WHERE}}}[$__rate_interval])) > 0)",
                "{{agent}}",
            ),
            bounds=(0, 1),
        ),
        lines(
            "Fields read as missing",
            "Fields each second that were read as missing because of their value, by the reason. The log "
            "names each field once.",
            "cps",
            Query(rate("espalier_fields_ignored_total", "agent, flag"), "{{agent}}: {{flag}}"),
            stacked=True,
        ),
        lines(
            "Retired attributes",
            "Attributes that got too many values and are ignored since then. The log names each. Most often "
            "an identifier or a timestamp.",
            "short",
            Query(f"sum by (agent) (espalier_attributes_retired_total{{{WHERE}}})", "{{agent}}"),
        ),
    )
