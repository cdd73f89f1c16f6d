"""Every setting of docs/configuration.md is read by the product, not only by the reader of configurations."""

import gc
import json
import logging
import re
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from learners.schema import Attribute, AttributeType, Schema
from stream.assembly import processor_factory
from stream.broker import Broker
from stream.cli.worker import worker
from stream.config import Agent, Config, Kafka, Limits
from stream.events import Event, Snapshotted
from stream.kafka.sender import Sender
from stream.kafka.topic_plan import plans_for
from stream.kafka.topics import TopicAdmin
from stream.model.number_hints import Observe
from stream.model.ports import unit_of
from stream.observe.metrics import Metrics
from stream.records.record import Partition, Record
from stream.worker import Worker
from tests.paths import REPOSITORY
from tests.settings import agent_table, write_settings
from tests.stream.reads import STRUCTS, record, structs_in, unread

SECONDS = 60.0
DECLARED = Schema(
    attributes=(
        Attribute("a", values=("x", "y"), open=False),
        Attribute("n", AttributeType.NUMERIC, cuts=(1.0, 2.0)),
    ),
    classes=("p", "q"),
    missing_values=("NA",),
)


def records() -> list[bytes]:
    """Return records of the schema, and some that only its details refuse or allow."""
    usual = [{"id": n, "a": "xy"[n % 2], "n": n % 4, "class": "pq"[n % 2]} for n in range(60)]
    other = [{"a": "z", "class": "p"}, {"a": "NA", "class": "r"}, {"b": "new", "class": "q"}]
    return [json.dumps(values).encode() for values in usual + other]


@pytest.fixture
def usual_process() -> Iterator[None]:
    """Undo what the command `worker` does to its process: logs, signals, garbage collection."""
    root = logging.getLogger()
    handlers, level, thresholds = root.handlers[:], root.level, gc.get_threshold()
    signals = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGUSR1)}
    yield
    root.handlers[:], root.level = handlers, level
    gc.unfreeze()
    gc.set_threshold(*thresholds)
    for number, handler in signals.items():
        signal.signal(number, handler)


class UntilSnapshot(Worker):
    """A worker that stops when it has written a snapshot, or has not within a minute."""

    def __init__(self, config: Config, observe: Observe, metrics: Metrics | None = None) -> None:
        self.has_snapshot = False

        def seen(event: Event) -> None:
            observe(event)
            if isinstance(event, Snapshotted):
                self.has_snapshot = True
                self.stop()

        super().__init__(config, seen, metrics)
        self._timer = threading.Timer(SECONDS, self.stop)
        self._timer.start()

    def wait(self, seconds: float | None = None) -> bool:
        ended = super().wait(seconds)
        if ended:
            self._timer.cancel()
            assert self.has_snapshot
        return ended


@pytest.mark.broker
@pytest.mark.usefixtures("usual_process")
def test_a_worker_reads_every_setting(
    broker: Broker, topics: Callable[[str], str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    agent = Agent(topics("a"), topics("in"))
    kafka = Kafka(broker.bootstrap_servers)
    TopicAdmin(kafka).create(plans_for(agent, 1))
    sender = Sender(kafka)
    for value in records():
        sender.send(agent.input, value)
    sender.flush()
    declared = {one.pop("name"): one for one in msgspec.to_builtins(DECLARED.attributes)}
    schema = {**msgspec.to_builtins(DECLARED), "attributes": declared}
    file = write_settings(
        tmp_path,
        broker.bootstrap_servers,
        agent_table(agent, schema=schema),
        batch={"max_batch": 20},
        state={"snapshot_records": 30},
    )
    monkeypatch.setattr("stream.cli.worker.Worker", UntilSnapshot)
    readers = record(monkeypatch)
    worker.main(["-c", str(file)], standalone_mode=False)
    monkeypatch.undo()
    found = unread(readers)
    assert not found, found


def test_a_setting_that_is_read_by_nobody_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    agent, limits = Agent("a", "in", schema=DECLARED), Limits()
    readers = record(monkeypatch)
    processor = processor_factory(agent, limits, lambda event: None)(unit_of("in", None))
    processor.process([Record(Partition("in", 0), n, value) for n, value in enumerate(records())])
    assert limits.max_depth == 32  # here, which does not count
    monkeypatch.undo()
    found = unread(readers)
    assert {"Batch.linger_ms", "State.trim_journal", "Agent.group", "Log.level"} <= set(found)
    assert not {"Agent.label", "Agent.ignore", "Limits.max_depth", "Limits.max_text", "Attribute.cuts"} & set(
        found
    )


def test_the_settings_are_those_of_the_reference() -> None:
    reference = (REPOSITORY / "docs" / "configuration.md").read_text()
    options = re.compile(r"^## `\[agent\.options\]`.*?(?=^## )", re.MULTILINE | re.DOTALL)
    properties = re.compile(r"^### `\[kafka\.properties\]`.*?(?=^## )", re.MULTILINE | re.DOTALL)
    listed = re.findall(r"^\| `(\w+)` \|", properties.sub("", options.sub("", reference)), re.MULTILINE)
    names = [
        field.name
        for kind in STRUCTS
        for field in msgspec.structs.fields(kind)
        if field.name not in ("options", "properties") and not any(structs_in(field.type))
    ]
    assert sorted(listed) == sorted(names)
