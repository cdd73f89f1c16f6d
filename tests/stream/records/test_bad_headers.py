"""A header whose name is not UTF-8 costs its own record and nothing else.

The client raises SystemError when it is asked for the headers of such a record. Any producer written in C, Go
or Rust can write one, and no broker looks at the names.
"""

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from stream.broker import Broker
from stream.cli.main import espalier
from stream.config import Agent, EngineName
from stream.errors import RejectedRecord
from stream.records.dead_letter import Rejected, dead_letter
from stream.records.json_decoder import Decoder
from stream.records.record import UNREADABLE, Partition, Record
from tests.contract.rigs import KafkaRig
from tests.raw_producer import produce_raw

NAMES = [b"bad\xff\xfe", b"\xc3", b"\xed\xa0\x80"]
GOOD = 30


def value_of(number: int) -> bytes:
    letter = "xyz"[number % 3]
    return json.dumps({"id": number, "a": letter, "class": "yes" if letter == "x" else "no"}).encode()


def headers_of(record: Record) -> dict[str, str]:
    return {name: (text or b"").decode() for name, text in record.headers}


@pytest.fixture(params=[EngineName.CONFLUENT, EngineName.FAUST])
def rig(request: pytest.FixtureRequest, broker: Broker) -> KafkaRig:
    return KafkaRig(broker.bootstrap_servers, request.param)


def filled(rig: KafkaRig, topics: Callable[[str], str]) -> Agent:
    """Return an agent with good records and, in their middle, one for each bad name."""
    agent = Agent(name=topics("a"), input=topics("in"))
    rig.create([agent], 1)
    for number in range(GOOD):
        if number == GOOD // 2:
            rig.flush()
            for index, name in enumerate(NAMES):
                headers = [(b"trace", b"t-1"), (name, b"v"), (b"last", b"l")]
                value = value_of(1_000 + index)
                produce_raw(rig.kafka.bootstrap_servers, agent.input, value, headers, b"key")
        rig.produce(agent.input, value_of(number))
    rig.flush()
    return agent


@pytest.mark.broker
def test_a_record_with_an_unreadable_header_is_one_dead_letter_and_the_worker_goes_on(
    rig: KafkaRig, topics: Callable[[str], str]
) -> None:
    agent = filled(rig, topics)
    rig.run([agent], {agent.topics.predictions: GOOD, agent.topics.dead_letters: len(NAMES)})
    letters = rig.read(agent.topics.dead_letters)
    assert [letter.value for letter in letters] == [value_of(1_000 + n) for n in range(len(NAMES))]
    assert {letter.key for letter in letters} == {b"key"}
    for index, letter in enumerate(letters):
        told = headers_of(letter)
        assert told["espalier.dlq.reason"] == "bad_header"
        assert told["espalier.dlq.offset"] == str(GOOD // 2 + index)
        assert all(name.startswith(("espalier.dlq.", "__streams.errors.")) for name in told)
    assert len(rig.read(agent.topics.predictions)) == GOOD
    # One journal: nothing was begun again from it, in one worker's whole life.
    sources = [msgspec.json.decode(one.value or b"")["source"] for one in rig.read(agent.topics.predictions)]
    offsets = [source["offset"] for source in sources]
    assert offsets == sorted(set(offsets))


@pytest.mark.broker
def test_tail_audit_and_tree_go_on(broker: Broker, topics: Callable[[str], str], tmp_path: Path) -> None:
    rig = KafkaRig(broker.bootstrap_servers)
    agent = filled(rig, topics)
    rig.run([agent], {agent.topics.predictions: GOOD, agent.topics.dead_letters: len(NAMES)})
    change = rig.read(agent.topics.tree_changes)[-1].value or b""
    of_another = change.replace(agent.name.encode(), b"another")
    servers = broker.bootstrap_servers
    produce_raw(servers, agent.topics.tree_changes, of_another, [(NAMES[0], b"v")])
    file = tmp_path / "espalier.toml"
    file.write_text(
        f'[kafka]\nbootstrap_servers = "{servers}"\n[[agent]]\nname = "{agent.name}"\n'
        f'input = "{agent.input}"\n'
    )

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(espalier, [*arguments, "-c", str(file)], catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    tailed = run("tail", agent.input, "--from-beginning", "--until-end", "--headers")
    assert len(tailed.splitlines()) == GOOD + len(NAMES)
    assert tailed.count("not UTF-8") == len(NAMES)
    assert "x: yes" in run("tree")
    audited = json.loads(run("audit", "--json", "--replay", "--max-refused", "50"))
    assert audited["ok"] is True
    assert audited["dispositions"]["dead_letters"] == len(NAMES)


def test_what_the_client_cannot_read_is_not_copied_into_the_dead_letter() -> None:
    record = Record(Partition("in", 0), 7, b'{"a": "x"}', b"k", UNREADABLE)
    with pytest.raises(RejectedRecord, match="name of a header is not UTF-8") as caught:
        Decoder("class", "id", 1_000, 10).decode(record)
    assert caught.value.reason == "bad_header"
    letter = dead_letter(Rejected(record, "bad_header", "decode", "m"), "letters", "a")
    assert (letter.value, letter.key) == (record.value, record.key)
    assert all(name.startswith(("espalier.dlq.", "__streams.errors.")) for name, _ in letter.headers)


def test_a_record_cannot_pretend_that_its_headers_are_unreadable() -> None:
    copied = tuple((str(name), text) for name, text in UNREADABLE)
    forged = Record(Partition("in", 0), 7, b'{"a": "x"}', b"k", (*copied, ("b", b"c"))[:1])
    assert Decoder("class", "id", 1_000, 10).decode(forged).values == {"a": "x"}
