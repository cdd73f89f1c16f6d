"""The audit sees what was done to the topics, and says which kind of thing it was."""

import json
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from confluent_kafka import Producer

from learners.id5r.options import CoreOptions
from stream.audit import Auditor, Kind
from stream.broker import Broker
from stream.cli.main import espalier
from stream.config import Agent, Scope
from stream.records.journal import pack, unpack
from stream.records.record import Partition, Record
from tests.contract.rigs import KafkaRig, MemoryRig
from tests.faults.audited import PARTITIONS, RECORDS, ROLES, Log, World, agent_of, audited, kinds, value_of
from tests.faults.tampering import TAMPERINGS, fork, middle
from tests.settings import agent_table, write_settings


@pytest.fixture(params=list(Scope))
def agent(request: pytest.FixtureRequest) -> Agent:
    return agent_of(request.param)


@pytest.fixture
def world(agent: Agent) -> World:
    rig = MemoryRig()
    rig.create([agent], PARTITIONS)
    for number in range(RECORDS):
        rig.produce(agent.input, value_of(number), number % PARTITIONS)
    rig.run([agent], {}, max_batch=20)
    told = {role: rig.read(getattr(agent.topics, role)) for role in ROLES}
    return {**told, "input": rig.read(agent.input)}


def test_an_untouched_world_has_nothing_wrong(agent: Agent, world: World) -> None:
    report = audited(agent, world, replay=True)
    assert not list(report.findings)
    dead = sum(n % 11 == 10 for n in range(RECORDS))
    unlabelled = sum(n % 11 != 10 and n % 7 == 6 for n in range(RECORDS))
    assert report.dispositions == {
        "predicted": RECORDS - dead,
        "learned": RECORDS - dead - unlabelled,
        "dead_letters": dead,
        "other": 0,
    }


def test_dead_letters_are_counted_by_reason_and_field(agent: Agent, world: World) -> None:
    rig = MemoryRig()
    rig.create([agent], 1)
    for text in ('"yes"', '""', "[]", "{}", '""'):
        rig.produce(agent.input, b'{"a": "x", "class": %b}' % text.encode())
    rig.produce(agent.input, b"{")
    rig.run([agent], {})
    told = {role: rig.read(getattr(agent.topics, role)) for role in ROLES}
    report = audited(agent, {**told, "input": rig.read(agent.input)})
    assert not list(report.findings)
    assert dict(report.refused.counts) == {
        ("bad_label", "class"): 4,
        ("json_syntax", ""): 1,
    }
    assert report.refused_percent == pytest.approx(100 * 5 / 6)


# ---- tampering: each kind is done to a world and must be named


@pytest.mark.parametrize("name", TAMPERINGS)
def test_tampering_is_named(agent: Agent, world: World, name: str) -> None:
    tamper, kind = TAMPERINGS[name]
    tamper(world)
    report = audited(agent, world)
    assert kind in kinds(report), list(report.findings)
    # What is named is where it was done, and not everything from there on.
    assert report.findings.counts[kind] <= RECORDS // 4


def test_every_kind_of_finding_is_found_by_some_tampering() -> None:
    assert {kind for _, kind in TAMPERINGS.values()} | {Kind.WRONG_TREE} == set(Kind)


@pytest.mark.parametrize("role", ROLES)
def test_what_comes_again_the_same_is_passed_over_for_an_at_least_once_engine(
    agent: Agent, world: World, role: str
) -> None:
    place = middle(world[role])
    again = [
        record for record in world[role][: place + 1] if record.partition == world[role][place].partition
    ]
    world[role][place + 1 : place + 1] = again[-3:]
    assert not list(audited(agent, world, repeats=True).findings)
    assert Kind.DOUBLED in kinds(audited(agent, world))


def test_a_fork_stays_a_fork_for_an_at_least_once_engine(agent: Agent, world: World) -> None:
    fork("tree_changes")(world)
    assert Kind.CHAIN_FORK in kinds(audited(agent, world, repeats=True))


def test_a_lie_that_is_told_everywhere_is_found_by_learning_again(agent: Agent, world: World) -> None:
    """Whoever rewrites all topics in the same way still cannot make the learner grow another tree."""
    model = json.loads(world["tree_changes"][-1].value or b"")["model"]
    true = json.loads(world["tree_changes"][-1].value or b"")["tree"]["digest"]
    for role in ("tree_changes", "predictions"):
        world[role] = [
            record._replace(value=(record.value or b"").replace(true.encode(), b"0" * 64))
            for record in world[role]
        ]
    for index, record in enumerate(world["journal"]):
        entry = unpack(record.value or b"")
        if entry.digest == true:
            lie = msgspec.structs.replace(entry, digest="0" * 64)
            world["journal"][index] = record._replace(value=pack(lie))
    assert not list(audited(agent, world).findings)
    report = audited(agent, world, replay=True)
    assert kinds(report) == {Kind.WRONG_TREE}
    assert report.trees[model][1] == "0" * 64


def test_what_was_deleted_by_age_is_not_missing(agent: Agent, world: World) -> None:
    """Outputs and journal may be cut at their beginnings; what is left must still be right."""
    auditor_world: World = {}
    for role, log in world.items():
        kept: Log = []
        for partition in sorted({record.partition for record in log}):
            own = [record for record in log if record.partition == partition]
            kept += own[len(own) // 3 :] if role != "input" else own
        auditor_world[role] = kept
    auditor = Auditor(agent)
    for role in ROLES:
        for partition in {record.partition for record in auditor_world[role]}:
            first = min(r.offset for r in auditor_world[role] if r.partition == partition)
            auditor.begin(partition, first)
    for role, take in (
        ("journal", auditor.take_journal),
        ("tree_changes", auditor.take_change),
        ("predictions", auditor.take_prediction),
        ("dead_letters", auditor.take_dead_letter),
        ("input", auditor.take_input),
    ):
        for record in auditor_world[role]:
            take(record)
        if role == "journal":
            auditor.mark()
    assert not list(auditor.finish().findings)


# ---- the command, on a real broker


@pytest.mark.broker
@pytest.mark.parametrize("scope", list(Scope))
def test_the_command_reads_the_topics_and_says_what_is_wrong(
    broker: Broker, topics: Callable[[str], str], tmp_path: Path, scope: Scope
) -> None:
    agent = Agent(name=topics("a"), input=topics("in"), scope=scope, options=CoreOptions(significance=None))
    rig = KafkaRig(broker.bootstrap_servers)
    rig.create([agent], PARTITIONS)
    for number in range(RECORDS):
        rig.produce(agent.input, value_of(number), number % PARTITIONS)
    good = RECORDS - sum(n % 11 == 10 for n in range(RECORDS))
    rig.run([agent], {agent.topics.predictions: good})
    table = agent_table(agent, options={"significance": "none"})
    file = write_settings(tmp_path, broker.bootstrap_servers, table)
    command = ["audit", "-c", str(file), "--replay"]
    told = CliRunner().invoke(espalier, [*command, "--max-refused", "10"])
    assert told.exit_code == 0, told.output
    assert f"nothing is wrong; {RECORDS - good} of {RECORDS} records were refused (9 %)" in told.output
    assert f"{good:,} predicted" in told.output
    # The same with what is allowed by default.
    told = CliRunner().invoke(espalier, command)
    assert told.exit_code == 65, told.output
    assert "nothing is wrong" not in told.output
    *_, head, row, last = told.stdout.splitlines()
    assert head.split() == ["dead", "letters", "reason", "field"]
    assert row.split() == [str(RECORDS - good), "json_syntax", "-"]
    assert last.startswith(f"{RECORDS - good} of {RECORDS} records were refused (9 %), more than 1 %")
    assert json.loads(CliRunner().invoke(espalier, [*command, "--json"]).stdout)["ok"] is False
    prediction = rig.read(agent.topics.predictions)[0]
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "enable.idempotence": True})
    producer.produce(prediction.partition.topic, prediction.value, partition=prediction.partition.number)
    assert producer.flush(20) == 0
    told = CliRunner().invoke(espalier, [*command, "--json"])
    assert told.exit_code == 1, told.output
    report = json.loads(told.stdout)
    assert not report["ok"]
    assert report["counts"] == {"doubled": 1, "reordered": 1}
    assert report["refused"] == [{"reason": "json_syntax", "field": "", "records": RECORDS - good}]
    assert report["refused_percent"] == pytest.approx(9)
    assert {finding["topic"] for finding in report["findings"]} == {agent.input, agent.topics.predictions}


def test_partitions_are_named_as_everywhere() -> None:
    report = Auditor(agent_of(Scope.TOPIC))
    report.take_journal(Record(Partition("a.journal", 0), 3, b"damaged"))
    assert "unreadable: a.journal/0: offset 3" in str(next(iter(report.findings)))
