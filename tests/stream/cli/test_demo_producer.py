"""The producer of the demonstration in containers, and the bench of the metrics."""

import itertools
import json
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from lab.bench.observing import Sizes, metrics_bench
from stream.broker import Broker
from stream.cli.demo_producer import feed
from stream.config import Agent, Kafka
from stream.demo.generators import GENERATORS
from stream.kafka.reading import follow
from stream.kafka.topic_plan import plans_for
from stream.kafka.topics import TopicAdmin


class Sent:
    """What would have been sent; says when it is enough."""

    def __init__(self, most: int, stop: threading.Event) -> None:
        self.values: list[bytes] = []
        self.flushed = False
        self._most, self._stop = most, stop

    def send(self, topic: str, value: bytes, key: bytes) -> None:
        assert topic == "in"
        self.values.append(value)
        if len(self.values) == self._most:
            self._stop.set()

    def flush(self) -> None:
        self.flushed = True


def test_instances_are_sent_until_it_is_stopped_and_then_delivered() -> None:
    stop = threading.Event()
    sent = Sent(25, stop)
    count = feed(sent, "in", GENERATORS["loans"](1), 1_000_000.0, stop)  # type: ignore[arg-type]
    assert count == len(sent.values) >= 25
    assert sent.flushed
    expected = list(itertools.islice(GENERATORS["loans"](1), count))
    assert [json.loads(value) for value in sent.values] == expected


@pytest.mark.broker
def test_it_fills_a_topic_and_says_what_is_missing_where_there_is_none(
    broker: Broker, topics: Callable[[str], str]
) -> None:
    kafka, topic = Kafka(broker.bootstrap_servers), topics("in")
    command = [sys.executable, "-m", "stream.cli.demo_producer", topic, "--records", "30", "--rate", "1000"]
    command += ["--bootstrap-servers", kafka.bootstrap_servers]
    told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert told.returncode != 0
    assert "espalier topics create" in told.stderr
    assert "Traceback" not in told.stderr
    TopicAdmin(kafka).create(plans_for(Agent(topics("a"), topic), 1))
    told = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert told.returncode == 0, told.stderr
    assert "30 records sent" in told.stderr
    found = [record for record in follow(kafka, [topic], from_beginning=True, until_end=True) if record]
    assert len(found) == 30


def test_the_bench_of_the_metrics_sets_goals_beside_figures() -> None:
    report = metrics_bench(Sizes(4_000, 1, 1), True, lambda what: None)
    assert [goal.goal for goal in report.goals] == ["<= 3 %", "<= 3 %", "<= 50 ms", "<= 50 ms"]
    assert all(goal.met is not None for goal in report.goals)
    (_, scrapes) = report.tables
    assert all(isinstance(row[4], int) and row[4] > 5_000 for row in scrapes.rows)
