"""Every metric there is: its name, type, labels and meaning. docs/metrics.md is printed from here.

Labels come from the configuration or from closed sets: a label made from data would let whoever writes the
data fill our memory. The one exception is the class, of which the first few are named and the others counted
together.
"""

from typing import Literal, NamedTuple

from learners.change import ChangeKind
from learners.ops import OPERATIONS
from stream.events import IGNORED

PREFIX = "espalier_"
WINDOWS = (100, 1_000, 10_000)
ALL = "all"
MOST_CLASSES = 10
OTHER = "(other)"
NONE = "(none)"
SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 30.0)
DELAYS = (0.01, 0.1, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0, 3_600.0, 86_400.0)

Kind = Literal["counter", "gauge", "histogram"]


class Metric(NamedTuple):
    """One metric.

    `name` is without the prefix, and without `_total` for a counter. `waits` names what must come before it
    has a value, where that is not there yet.
    """

    name: str
    kind: Kind
    labels: tuple[str, ...]
    says: str
    waits: str = ""

    @property
    def shown(self) -> str:
        """The name under which its samples are found."""
        return f"{PREFIX}{self.name}{'_total' if self.kind == 'counter' else ''}"


_A = ("agent",)
_PLACE = ("agent", "topic", "partition")

METRICS: tuple[Metric, ...] = (
    # ---- records and answers
    Metric("records", "counter", (*_A, "outcome"), "Records by what became of them."),
    Metric("dead_letters", "counter", (*_A, "reason"), "Records that could not be used, by the reason."),
    Metric(
        "fields_ignored",
        "counter",
        (*_A, "flag"),
        "Fields of records that were read as missing, by the reason; the records themselves were used.",
    ),
    Metric(
        "attributes_retired",
        "counter",
        _A,
        "Attributes that reached `max_values_per_attribute` values and are ignored since then.",
    ),
    Metric("predictions", "counter", (*_A, "correct"), "Answers to records with a label."),
    Metric(
        "confusion",
        "counter",
        (*_A, "class", "answer"),
        "Records with a label by their class and by the answer they got.",
    ),
    Metric(
        "accuracy_ratio",
        "gauge",
        (*_A, "window"),
        "Share of right answers among the last N records with a label.",
    ),
    Metric(
        "kappa_ratio",
        "gauge",
        (*_A, "window"),
        "Accuracy corrected for chance (Cohen): 0 is no better than guessing, 1 is always right.",
    ),
    Metric(
        "precision_ratio",
        "gauge",
        (*_A, "class"),
        f"Of the answers that named a class, the share that was right; last {WINDOWS[-1]} records.",
    ),
    Metric(
        "recall_ratio",
        "gauge",
        (*_A, "class"),
        f"Of the records of a class, the share that was answered so; last {WINDOWS[-1]} records.",
    ),
    Metric(
        "label_delay_seconds",
        "histogram",
        _A,
        "Time from an answer to its label, for labels that come after their record.",
        waits="labels that come after their record",
    ),
    Metric(
        "labels_pending",
        "gauge",
        _A,
        "Answers whose label has not come yet and is waited for.",
        waits="labels that come after their record",
    ),
    # ---- the tree
    Metric(
        "tree_nodes", "gauge", (*_A, "kind"), "Nodes of the tree; the sum over the models of this worker."
    ),
    Metric("tree_depth", "gauge", _A, "Tests on the longest path of the tree; of the deepest model."),
    Metric("tree_changes", "counter", (*_A, "kind"), "Changes of the tree."),
    Metric("operations", "counter", (*_A, "operation"), "What learning cost, in the units of the papers."),
    Metric("instances_retained", "gauge", _A, "Instances the trees stand for."),
    Metric("model_bytes", "gauge", _A, "Memory that the models hold, where the learner knows it."),
    Metric(
        "description_length",
        "gauge",
        (*_A, "part"),
        "How long a description is, in bits: of the tree, and of its exceptions, where the learner counts "
        "them. The sum is the description length.",
    ),
    Metric(
        "past_drops",
        "gauge",
        (*_A, "rule"),
        "How often the models have dropped their past because answers got worse, by the rule that said so, "
        "where one watches for it.",
    ),
    Metric(
        "tree_matches_batch",
        "gauge",
        _A,
        "1 where the last self-check of every model found the tree that ID3 builds, 0 where not.",
    ),
    Metric("self_checks", "counter", (*_A, "result"), "Self-checks of the tree by how they ended."),
    Metric(
        "id3_operations",
        "gauge",
        (*_A, "operation"),
        "What ID3 spent on the tree of the last self-check: its cost for each record.",
    ),
    # ---- spare time
    Metric("improve_units", "counter", _A, "Units of spare time spent on better trees."),
    Metric("improvements", "counter", _A, "Attempts that made a tree better."),
    Metric(
        "improve_quality",
        "gauge",
        (*_A, "moment"),
        "What improving makes smaller (leaves, or errors to be expected) at the last improvement.",
    ),
    # ---- time
    Metric("learn_seconds", "histogram", _A, "Time the learner took to answer a batch and learn from it."),
    Metric(
        "predict_seconds", "histogram", _A, "Time the learner took to answer a batch that had no label in it."
    ),
    Metric(
        "batch_seconds",
        "histogram",
        _A,
        "Time from a batch's bytes to its outputs, before they are committed.",
    ),
    Metric("commit_seconds", "histogram", _A, "Time to produce and commit what a batch came to."),
    Metric(
        "end_to_end_seconds",
        "histogram",
        _A,
        "Time from a record's own timestamp to the commit of its answer; the last record of each batch.",
    ),
    # ---- Kafka
    Metric("records_consumed", "counter", _PLACE, "Offsets read from an input partition."),
    Metric("consumer_lag_records", "gauge", _PLACE, "Offsets between the last commit and the end."),
    Metric(
        "consumer_lag_seconds",
        "gauge",
        _PLACE,
        "Age of the last record processed, while there are more; 0 at the end of the partition.",
    ),
    Metric("partitions_assigned", "gauge", _A, "Input partitions that this worker reads."),
    Metric("transactions", "counter", (*_A, "result"), "Transactions by how they ended."),
    Metric("rebalances", "counter", _A, "Times partitions came or went."),
    # ---- state
    Metric(
        "state_last_commit_timestamp_seconds",
        "gauge",
        _A,
        "When the state was last made durable, in seconds since 1970.",
    ),
    Metric("restore_seconds", "gauge", _A, "Time the last restore took."),
    Metric(
        "restore_instances", "gauge", _A, "Instances taken back by the restore that is running, or the last."
    ),
    Metric(
        "restore_progress_ratio",
        "gauge",
        _A,
        "How much of what was committed the restore has reached; 1 when nothing is being restored.",
    ),
    Metric("snapshot_seconds", "histogram", _A, "Time to make and write a snapshot."),
    Metric("snapshot_bytes", "gauge", _A, "Size of the last snapshot."),
    Metric(
        "snapshot_last_success_timestamp_seconds",
        "gauge",
        _A,
        "When the last snapshot was written, in seconds since 1970.",
    ),
    # ---- who this is
    Metric("agent_info", "gauge", (*_A, "topic", "learner", "scope"), "1 for each agent of this worker."),
    Metric("build_info", "gauge", ("version", "python"), "1; the version that runs."),
)

LABELS: dict[str, str] = {
    "agent": "the agent's name",
    "topic": "the agent's input",
    "partition": "a partition of it that this worker reads",
    "learner": "the agent's learner",
    "scope": "`topic` or `partition`: what one model learns from",
    "outcome": "`learned` (and answered), `predicted` (no label), `dead_letter`",
    "reason": "why: [records.md](records.md#dead-letter)",
    "flag": f"{', '.join(f'`{flag}`' for flag in IGNORED)}: [records.md](records.md#instance-input)",
    "rule": "`ddm`, `verified`: [choosing.md](choosing.md#when-the-stream-changes)",
    "correct": "`true` or `false`",
    "class": f"the first {MOST_CLASSES} classes by name, `{OTHER}` for all others",
    "answer": f"as `class`; `{NONE}` where there was no answer",
    "window": f"{', '.join(f'`{window}`' for window in WINDOWS)} records; `{ALL}` since the worker started",
    "kind": f"of nodes `leaf`, `decision`; of changes {', '.join(f'`{kind.value}`' for kind in ChangeKind)}: "
    "[records.md](records.md#tree-change)",
    "moment": "`before` or `after`",
    "operation": ", ".join(f"`{name}`" for name in OPERATIONS),
    "result": "of transactions `committed`, `aborted`; "
    "of self-checks `same`, `different`, `skipped` (too many instances, or numbers), `failed`",
    "version": "of Espalier",
    "python": "the version of Python",
}
"""What the values of each label are."""
