"""Every query that is shipped returns data: a real Prometheus has scraped a real worker on a real Kafka."""

import itertools
import json
import subprocess
import threading
import time
import urllib.request
from collections.abc import Iterator

import pytest

from stream.broker import Broker
from stream.broker.kafka_ping import free_port
from stream.config import Agent, Kafka
from stream.demo.generators import GENERATORS, xor
from stream.kafka.sender import Sender
from stream.kafka.topic_plan import plans_for
from stream.kafka.topics import TopicAdmin
from tests.settings import write_settings
from tests.stream.observe.expressions import (
    Shipped,
    filled_in,
    of_annotations,
    of_panels,
    of_rules,
    of_variables,
)
from tests.stream.observe.prometheus import Prometheus, program
from tests.workers import WorkerProcess

pytestmark = pytest.mark.broker

PARITY = ".parity"
"""The topic of an agent that learns in its spare time what no greedy tree does."""
AGENTS: dict[str, dict[str, str]] = {
    "exact": {},
    "simple": {"learner": "id4"},
    "short": {"learner": "mdl"},
    "patient": {"learner": "iidt-ts", "input": PARITY},
}


class Run:
    """A worker at work, and what Prometheus knows of it."""

    def __init__(self, prometheus: Prometheus, port: int) -> None:
        self.prometheus = prometheus
        self.port = port

    def scrape(self, accept: str = "text/plain") -> bytes:
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/metrics", headers={"Accept": accept})
        with urllib.request.urlopen(request, timeout=30) as answer:
            told: bytes = answer.read()
            return told


def _feed(kafka: Kafka, topic: str, stop: threading.Event) -> None:
    """Send a stream that drifts, with a dead letter now and then, and moments without any label."""
    sender = Sender(kafka)
    for instance in itertools.islice(xor(1, bits=4, others=5), 600):
        sender.send(f"{topic}{PARITY}", json.dumps(instance).encode())
    for number, instance in enumerate(GENERATORS["stagger"](1)):
        if number % 50 == 0:
            sender.send(topic, b"not JSON")
        if number % 1_000 > 900:
            instance.pop("class")
        sender.send(topic, json.dumps(instance).encode(), str(number).encode())
        # A batch without any label exists only if nothing with a label arrives beside it.
        if stop.wait(1 if number % 1_000 in (900, 999) else 0.1 if number % 100 == 0 else 0):
            break
    sender.flush()


@pytest.fixture(scope="module")
def run(broker: Broker, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    program("prometheus")
    directory = tmp_path_factory.mktemp("observe")
    kafka, topic, port = Kafka(broker.bootstrap_servers), "observe.input", free_port()
    plans = {
        plan.name: plan
        for name in AGENTS
        for plan in plans_for(Agent(name, f"{topic}{PARITY}" if name == "patient" else topic), 2)
    }
    TopicAdmin(kafka).create(list(plans.values()))
    write_settings(
        directory,
        kafka.bootstrap_servers,
        [
            {"name": name, **about, "input": f"{topic}{about.get('input', '')}"}
            for name, about in AGENTS.items()
        ],
        metrics={"port": port},
        state={"snapshot_records": 500, "snapshot_seconds": 2},
    )
    with WorkerProcess(directory) as worker:
        stop = threading.Event()
        feed = threading.Thread(target=_feed, args=(kafka, topic, stop), daemon=True)
        try:
            with Prometheus(directory, [f"127.0.0.1:{port}"]) as prometheus:
                feed.start()
                for sign, needed in (
                    ("espalier_tree_matches_batch", 1),
                    ("espalier_snapshot_bytes", 2),
                    ("espalier_predict_seconds_count", 1),
                    ('espalier_accuracy_ratio{window="10000"} > 0', 2),
                ):
                    prometheus.until(
                        lambda sign=sign, needed=needed: len(prometheus.query(sign)) >= needed,  # type: ignore[misc]
                        f"there is {sign}; the log says: {worker.words()[-2000:]}",
                    )
                    assert worker.process.poll() is None, worker.words()
                # Two scrapes and two evaluations of the rules after all is there.
                began = prometheus.query("max(espalier_transactions_total)")
                prometheus.until(
                    lambda: prometheus.query("min(count_over_time(agent:espalier_records:rate5m[1m]))") > [3],
                    "rules were evaluated",
                )
                assert began
                yield Run(prometheus, port)
        finally:
            stop.set()
            worker.stop()
            if feed.ident is not None:
                feed.join(60)


def answered(run: Run, shipped: Shipped) -> None:
    run.prometheus.until(
        lambda: bool(run.prometheus.query(filled_in(shipped.expr))),
        f"{shipped.where} has data: {filled_in(shipped.expr)}",
    )


def test_every_panel_has_data(run: Run) -> None:
    told = list(of_panels())
    assert len(told) > 50
    for shipped in told:
        answered(run, shipped)


def test_every_annotation_has_data(run: Run) -> None:
    told = list(of_annotations())
    assert told
    for shipped in told:
        answered(run, shipped)


def test_every_variable_offers_something(run: Run) -> None:
    seen = {}
    for where, series, label in of_variables():
        values = run.prometheus.ask(f"label/{label}/values", **{"match[]": filled_in(series)})
        assert values, where
        seen[label] = values
    assert seen["agent"] == sorted(AGENTS)
    assert seen["topic"] == ["observe.input", f"observe.input{PARITY}"]
    assert seen["job"] == ["espalier"]


def test_every_rule_has_data_to_judge(run: Run) -> None:
    told = list(of_rules())
    assert len(told) > 15
    for shipped in told:
        answered(run, shipped)


def test_a_healthy_run_raises_no_alarm_but_that_of_its_dead_letters(run: Run) -> None:
    rules = run.prometheus.ask("rules", type="alert")
    states = {rule["name"]: rule["state"] for group in rules["groups"] for rule in group["rules"]}
    unhealthy = {
        rule["name"]: rule for group in rules["groups"] for rule in group["rules"] if rule["health"] != "ok"
    }
    assert not unhealthy
    active = {name for name, state in states.items() if state != "inactive"}
    # A machine that does other things as well may fall behind for a moment: that is no alarm yet.
    assert active - {"EspalierLagRising"} == {"EspalierDeadLetters"}
    assert states["EspalierLagRising"] != "firing"


def test_prometheus_keeps_the_offsets_behind_its_points(run: Run) -> None:
    now = time.time()
    told = run.prometheus.ask(
        "query_exemplars", query="espalier_batch_seconds_bucket", start=str(now - 300), end=str(now)
    )
    labels = [exemplar["labels"] for series in told for exemplar in series["exemplars"]]
    assert labels
    assert all(set(one) == {"partition", "offset"} for one in labels)


def test_promtool_has_nothing_to_say_against_the_metrics(run: Run) -> None:
    told = subprocess.run(
        [program("promtool"), "check", "metrics"], input=run.scrape(), capture_output=True, check=False
    )
    assert (told.returncode, told.stdout, told.stderr) == (0, b"", b"")
