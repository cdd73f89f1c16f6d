"""`espalier dead-letters`, and what a worker logs about records that it refuses."""

import json
import signal
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from stream.broker import Broker
from stream.cli.main import espalier
from stream.cli.refusals import Meter
from stream.config import Agent, EngineName
from stream.records.dead_letters import MOST_PAIRS, OTHER, Tally
from stream.records.letter_summary import SHOWN_BYTES, Summary
from stream.records.record import Partition, Record
from stream.records.remedies import REMEDIES
from tests.contract.rigs import KafkaRig
from tests.stream.records.letters import letter
from tests.workers import ENVIRONMENT, SECONDS, wait_until

AGENT = Agent(name="a", input="in")
PLACE = Partition("in.dead-letters", 0)


# ---- summaries


def test_memory_depends_neither_on_how_many_letters_there_are_nor_on_their_names() -> None:
    summary = Summary("a", None, 3)

    def take(start: int, end: int) -> int:
        for number in range(start, end):
            output = letter(AGENT, number, field=f"field {number}", value=b"x" * 2_000)
            summary.take(Record(PLACE, number, output.value, output.key, output.headers))
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        before = take(0, 2_000)
        after = take(2_000, 12_000)
    finally:
        tracemalloc.stop()
    assert after < before + 50_000
    assert summary.tally.total == 12_000
    assert len(summary.tally.counts) == MOST_PAIRS + 1
    assert summary.tally.counts["json_syntax", OTHER] == 12_000 - MOST_PAIRS
    assert all(len(some) <= 3 for some in summary.examples.values())
    shown = [example.value or "" for some in summary.examples.values() for example in some]
    assert max(map(len, shown)) == SHOWN_BYTES


def test_reasons_that_nobody_knows_fill_no_memory() -> None:
    tally = Tally(most=10)
    for number in range(1_000):
        tally.add(f"reason {number}", f"field {number % 3}")
    assert len(tally.counts) <= 2 * 10 + 1
    assert tally.total == 1_000


def test_examples_are_the_first_ones_and_only_of_the_reason_that_was_asked_for() -> None:
    summary = Summary("a", "bad_label", 2)
    for number in range(10):
        output = letter(AGENT, number, reason=("bad_label", "json_syntax")[number % 2], field="f")
        summary.take(Record(PLACE, number, output.value, output.key, output.headers))
    assert summary.tally.counts == {("bad_label", "f"): 5}
    (examples,) = summary.examples.values()
    assert [(one.offset, one.message, one.value) for one in examples] == [
        (0, "message 0", "value 0"),
        (2, "message 2", "value 2"),
    ]


# ---- the command


class Ground:
    """An agent whose dead letters are of several kinds."""

    def __init__(self, broker: Broker, topics: Callable[[str], str], directory: Path) -> None:
        self.rig = KafkaRig(broker.bootstrap_servers)
        self.agent = Agent(name=topics("a"), input=topics("in"))
        self.rig.create([self.agent], 1)
        self.directory = directory
        self.file = directory / "espalier.toml"
        self.file.write_text(
            f'[kafka]\nbootstrap_servers = "{broker.bootstrap_servers}"\n[metrics]\nport = 0\n'
            f'[[agent]]\nname = "{self.agent.name}"\ninput = "{self.agent.input}"\n'
        )

    def run(self, *arguments: str) -> str:
        result = CliRunner().invoke(espalier, [*arguments, "-c", str(self.file)], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout


@pytest.fixture
def ground(broker: Broker, topics: Callable[[str], str], tmp_path: Path) -> Ground:
    return Ground(broker, topics, tmp_path)


BAD = [b"{", b'{"class": ""}', b"\x00\x00\x00\x00\x11{}", b"{\x1b[2J", b'{"class": [1]}', None]


@pytest.mark.broker
def test_reasons_are_listed_with_counts_fields_examples_and_what_to_do(ground: Ground) -> None:
    agent = ground.agent
    for value in BAD:
        ground.rig.produce(agent.input, value)
    ground.rig.run([agent], {agent.topics.dead_letters: len(BAD)})
    text = ground.run("dead-letters", agent.name)
    assert text.startswith(f'agent "{agent.name}": {len(BAD)} dead letters in {agent.topics.dead_letters}\n')
    paragraphs = text.split("\n\n")[1:]
    assert [paragraph.splitlines()[0] for paragraph in paragraphs[:-1]] == [
        "3  json_syntax",
        '2  bad_label  field "class"',
        "1  null_value",
    ]
    assert all("what to do: " in paragraph for paragraph in paragraphs[:-1])
    assert all(line.isprintable() for line in text.splitlines())
    whole = " ".join(text.split())
    assert f"{agent.input}/0@2: the record begins with a schema registry header (schema id 17)" in whole
    assert "(no value)" in text
    assert f'"espalier redrive {agent.name}"' in whole

    told = json.loads(ground.run("dead-letters", "--json", "-n", "1"))
    assert told["dead_letters"] == len(BAD)
    first = told["reasons"][0]
    assert (first["reason"], first["field"], first["records"]) == ("json_syntax", "", 3)
    assert first["remedy"] == REMEDIES["json_syntax"]
    (example,) = first["examples"]
    assert (example["topic"], example["partition"], example["offset"]) == (agent.input, 0, 0)
    assert example["value"] == "{"

    only = ground.run("dead-letters", "--reason", "bad_label")
    assert "2 dead letters with the reason bad_label" in only
    assert "json_syntax" not in only
    refused = CliRunner().invoke(espalier, ["dead-letters", "--reason", "nonsense", "-c", str(ground.file)])
    assert refused.exit_code == 2


@pytest.mark.broker
def test_letters_of_another_agent_on_the_same_topic_are_not_counted(ground: Ground) -> None:
    agent = ground.agent
    for number in range(3):
        output = letter(Agent(name="other", input=agent.input), number)
        ground.rig.produce(agent.topics.dead_letters, output.value, 0, output.headers)
    ground.rig.produce(agent.topics.dead_letters, b"not a letter")
    ground.rig.flush()
    text = ground.run("dead-letters")
    assert ": 0 dead letters" in text
    assert "3 of other agents" in text
    assert "1 records that are not dead letters" in text


@pytest.mark.broker
@pytest.mark.parametrize("engine", list(EngineName))
def test_a_worker_says_what_it_refuses(ground: Ground, engine: EngineName) -> None:
    agent = ground.agent
    for value in (*BAD, b"{", b"{"):
        ground.rig.produce(agent.input, value)
    ground.rig.flush()
    worker = subprocess.Popen(
        [sys.executable, "-m", "stream", "worker", "-c", str(ground.file), "--engine", engine.value],
        cwd=ground.directory,
        env=ENVIRONMENT,
        stderr=subprocess.PIPE,
        text=True,
    )
    letters = len(BAD) + 2
    try:
        assert wait_until(lambda: len(ground.rig.read(agent.topics.dead_letters)) == letters), (
            "no dead letters"
        )
        worker.send_signal(signal.SIGTERM)
        _, said = worker.communicate(timeout=SECONDS)
    finally:
        worker.kill()
        worker.wait()
    assert worker.returncode == 0, said
    warnings = [line for line in said.splitlines() if " WARNING " in line]
    first = [line for line in warnings if "dead letter (" in line]
    assert [line.partition("dead letter (")[2].partition(")")[0] for line in first] == [
        "json_syntax",
        "bad_label",
        "null_value",
    ]
    assert f"[agent={agent.name} partition={agent.input}/0 offset=0]" in first[0]
    (counted,) = [line for line in warnings if "dead letters in" in line]
    assert f"{letters} dead letters in" in counted
    assert "json_syntax 5, bad_label (class) 2, null_value 1" in counted


# ---- the terminal


def test_progress_is_shown_on_a_terminal_and_nowhere_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Meter().tell("in.dead-letters", 5, 1_000_000)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    meter = Meter()
    meter.tell("in.dead-letters", 5, 1_000_000)
    meter.tell("in.dead-letters", 6, 1_000_000)
    assert capsys.readouterr().err == "\rin.dead-letters: 5 of at most 1,000,000"
    meter.clear()
    assert capsys.readouterr().err.strip() == ""
