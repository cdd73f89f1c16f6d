"""`espalier redrive` on a real broker: run often, killed in the middle, and with records that fail again."""

import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from confluent_kafka import Producer

from stream.broker import Broker
from stream.cli.main import espalier
from stream.config import Agent, Kafka
from stream.errors import EngineError
from stream.kafka.redrive import Redrive
from stream.kafka.topic_reader import TopicReader
from stream.records.dead_letters import Mark, parse
from stream.records.record import Output
from tests.contract.rigs import KafkaRig
from tests.stream.records.letters import letter
from tests.workers import ENVIRONMENT

pytestmark = pytest.mark.broker
PARTITIONS = 3
SECONDS = 120.0

Names = Callable[[str], str]


class Ground:
    """An agent, its topics, and its configuration in a file."""

    def __init__(self, broker: Broker, topics: Names, directory: Path) -> None:
        self.rig = KafkaRig(broker.bootstrap_servers)
        self.agent = Agent(name=topics("a"), input=topics("in"))
        self.rig.create([self.agent], PARTITIONS)
        self.file = directory / "espalier.toml"
        self.file.write_text(
            f'[kafka]\nbootstrap_servers = "{broker.bootstrap_servers}"\n'
            f'[[agent]]\nname = "{self.agent.name}"\ninput = "{self.agent.input}"\n'
        )
        self._producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True})

    def put(self, outputs: list[Output]) -> None:
        for output in outputs:
            partition = output.partition or 0
            headers: list[tuple[str, str | bytes | None]] = list(output.headers)
            self._producer.produce(output.topic, output.value, output.key, partition, headers=headers)
            self._producer.poll(0)
        assert self._producer.flush(60) == 0

    def redrive(self, *options: str) -> Result:
        command = ["redrive", self.agent.name, "-c", str(self.file), *options]
        return CliRunner().invoke(espalier, command, catch_exceptions=False)

    def reached(self) -> int:
        """Return how many offsets the input has; a transaction of one record takes two."""
        return sum(extent.end for extent in TopicReader(self.rig.kafka).extents(self.agent.input).values())

    def sent(self) -> Counter[bytes | None]:
        return Counter(record.value for record in self.rig.read(self.agent.input))


@pytest.fixture
def ground(broker: Broker, topics: Names, tmp_path: Path) -> Ground:
    return Ground(broker, topics, tmp_path)


def test_killed_in_the_middle_and_run_again_each_is_sent_exactly_once(ground: Ground) -> None:
    letters = 3_000
    ground.put([letter(ground.agent, n, partition=n % PARTITIONS) for n in range(letters)])
    command = ["redrive", ground.agent.name, "-c", str(ground.file), "--yes", "--batch", "1"]
    for goal in (200, 700, 1_200):
        process = subprocess.Popen(
            [sys.executable, "-m", "stream", *command],
            env=ENVIRONMENT,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            deadline = time.monotonic() + SECONDS
            while ground.reached() < goal:
                assert process.poll() is None, "it ended before it could be killed"
                assert time.monotonic() < deadline, ground.reached()
            assert process.poll() is None, "it ended before it could be killed"
        finally:
            process.kill()
            process.wait()
    assert 500 < ground.sent().total() < letters
    assert set(ground.sent().values()) == {1}
    told = ground.redrive("--yes")
    assert told.exit_code == 0, told.output
    assert ground.sent() == Counter(b"value %d" % number for number in range(letters))
    again = ground.redrive("--yes")
    assert "0 dead letters sent" in again.output
    assert f"sent by an earlier run: {letters:,}" in again.output
    assert ground.sent().total() == letters
    for record in ground.rig.read(ground.agent.input):
        number = int((record.value or b"").split()[1])
        assert record.partition.number == number % PARTITIONS
        assert (record.key, record.headers) == (b"key %d" % number, (("espalier.redriven", b"1"),))
    last = parse(ground.rig.read(ground.agent.topics.dead_letters)[-1])
    assert isinstance(last, Mark)
    assert last.upto == letters // PARTITIONS


def test_two_at_the_same_time_send_nothing_twice(ground: Ground) -> None:
    ground.put([letter(ground.agent, n) for n in range(200)])

    def opened() -> Redrive:
        kafka = Kafka(ground.rig.kafka.bootstrap_servers)
        run = Redrive(kafka, ground.agent, reason=None, force=False, batch=10, tell=lambda *told: None)
        run.open()
        run.read_marks()
        return run

    slow = opened()
    fast = opened()
    assert fast.run().chosen.total == 200
    with pytest.raises(EngineError):
        slow.run()
    slow.close()
    fast.close()
    assert ground.sent() == Counter(b"value %d" % number for number in range(200))


def test_one_reason_after_the_other(ground: Ground) -> None:
    reasons = ("json_syntax", "bad_label")
    ground.put([letter(ground.agent, n, reason=reasons[n % 2], field="x" * (n % 2)) for n in range(100)])
    dry = ground.redrive("--dry-run", "--reason", "bad_label")
    assert "50 dead letters to be sent" in dry.output
    assert ["50", "bad_label", "x"] in [line.split() for line in dry.output.splitlines()]
    assert not ground.sent()
    unasked = ground.redrive("--reason", "bad_label")
    assert unasked.exit_code == 2
    assert "--yes" in unasked.output
    for options, count in (
        (("--reason", "bad_label"), 50),
        (("--reason", "bad_label"), 50),
        ((), 100),
        (("--reason", "json_syntax"), 100),
        ((), 100),
    ):
        assert ground.redrive("--yes", *options).exit_code == 0
        assert ground.sent().total() == count
    assert set(ground.sent().values()) == {1}


def test_what_fails_again_does_not_go_round_for_ever(ground: Ground) -> None:
    agent, rig = ground.agent, ground.rig
    rig.produce(agent.input, b"{")
    rig.produce(agent.input, b'{"a": "x", "class": "yes"}')
    for count in range(1, 5):
        rig.run([agent], {agent.topics.dead_letters: count + (count - 1)})
        told = ground.redrive("--yes")
        assert told.exit_code == 0, told.output
        assert f"{int(count < 4)} dead letters sent" in told.output
    assert "sent 3 times already" in told.output
    assert ground.sent()[b"{"] == 4
    assert "1 dead letters sent" in ground.redrive("--yes", "--force").output
    rig.run([agent], {agent.topics.dead_letters: 4 + 4 + 1})
    last = [record for record in rig.read(agent.topics.dead_letters) if record.value == b"{"][-1]
    assert dict(last.headers)["espalier.redriven"] == b"4"
    assert len(rig.read(agent.topics.predictions)) == 1


def test_an_audit_and_a_listing_pass_over_the_marks(ground: Ground) -> None:
    agent, rig = ground.agent, ground.rig
    for _ in range(3):
        rig.produce(agent.input, b"{")
    rig.run([agent], {agent.topics.dead_letters: 3})
    assert ground.redrive("--yes").exit_code == 0
    rig.run([agent], {agent.topics.dead_letters: 7})
    command = ["audit", "-c", str(ground.file), "--replay", "--max-refused", "100"]
    audited = CliRunner().invoke(espalier, command, catch_exceptions=False)
    assert audited.exit_code == 0, audited.output
    listed = CliRunner().invoke(espalier, ["dead-letters", "-c", str(ground.file)], catch_exceptions=False)
    assert listed.output.startswith(f'agent "{agent.name}": 6 dead letters')
    assert "sent to the input again so far: json_syntax 3" in listed.output


def test_a_missing_topic_is_named(broker: Broker, topics: Names, tmp_path: Path) -> None:
    file = tmp_path / "espalier.toml"
    file.write_text(
        f'[kafka]\nbootstrap_servers = "{broker.bootstrap_servers}"\n'
        f'[[agent]]\nname = "{topics("a")}"\ninput = "{topics("in")}"\n'
    )
    for command in (["redrive", "--yes"], ["redrive", "--dry-run"], ["dead-letters"]):
        result = CliRunner().invoke(espalier, [*command, "-c", str(file)])
        assert isinstance(result.exception, EngineError)
        assert "there is no topic" in str(result.exception)
