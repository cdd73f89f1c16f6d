"""The audit sees what was done to the topics, and says which kind of thing it was."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from confluent_kafka import Producer

from learners.id5r.options import CoreOptions
from stream.assembly import processor_factory
from stream.audit import Auditor, ChangeProof, JournalProof, Kind, Report
from stream.broker import Broker
from stream.cli.main import espalier
from stream.config import Agent, Limits, Scope
from stream.model.ports import unit_of
from stream.records.journal import pack, unpack
from stream.records.record import Partition, Record
from tests.contract.rigs import KafkaRig, MemoryRig
from tests.settings import agent_table, write_settings

Log = list[Record]
World = dict[str, Log]
"""The records of an agent's topics by what the topics are for."""

PARTITIONS = 3
RECORDS = 300
ROLES = ("journal", "tree_changes", "predictions", "dead_letters")


def value_of(number: int) -> bytes:
    """Every eleventh is no record at all, every seventh has no label."""
    if number % 11 == 10:
        return b'{"a": nonsense'
    rng = random.Random(number)
    values = {name: rng.choice("xyz") for name in ("a", "b", "c")}
    told: dict[str, Any] = {"id": number, **values}
    if number % 7 != 6:
        told["class"] = "yes" if (values["a"] == values["b"]) != (values["c"] == "x") else "no"
    return json.dumps(told).encode()


def agent_of(scope: Scope) -> Agent:
    return Agent(name="a", input="in", scope=scope, options=CoreOptions(significance=None))


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


def audited(agent: Agent, world: World, *, repeats: bool = False, replay: bool = False) -> Report:
    auditor = Auditor(agent, repeats=repeats)
    for record in world["journal"]:
        auditor.take_journal(record)
    auditor.mark()
    for record in world["tree_changes"]:
        auditor.take_change(record)
    for record in world["predictions"]:
        auditor.take_prediction(record)
    for record in world["dead_letters"]:
        auditor.take_dead_letter(record)
    for record in world["input"]:
        auditor.take_input(record)
    if replay:
        make = processor_factory(agent, Limits(), lambda event: None)
        for number in sorted({record.partition.number for record in world["journal"]}):
            unit = unit_of(agent.input, number if agent.scope is Scope.PARTITION else None)
            proof = JournalProof(unit, make, auditor.findings)
            follower = ChangeProof(agent.name, unit.model, auditor.findings)
            for record in world["journal"]:
                if record.partition.number == number:
                    proof.take(record)
            for record in world["tree_changes"]:
                if record.partition.number == number:
                    follower.take(record)
    return auditor.finish()


def kinds(report: Report) -> set[Kind]:
    return set(report.findings.counts)


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


def edited(record: Record, edit: Callable[[Any], object]) -> Record:
    told = json.loads(record.value or b"")
    edit(told)
    return record._replace(value=json.dumps(told).encode())


def middle(log: Log) -> int:
    """Return the place of a record with others of its partition on both sides."""
    chosen = log[len(log) // 2].partition
    places = [i for i, record in enumerate(log) if record.partition == chosen]
    return places[len(places) // 2]


def remove(role: str) -> Callable[[World], None]:
    return lambda world: world[role].pop(middle(world[role])) and None


def double(role: str) -> Callable[[World], None]:
    return lambda world: world[role].insert(middle(world[role]), world[role][middle(world[role])])


def swap(role: str) -> Callable[[World], None]:
    def work(world: World) -> None:
        log, place = world[role], middle(world[role])
        log[place], log[place - 1] = log[place - 1], log[place]

    return work


def alter(
    role: str, edit: Callable[[Any], object], place: Callable[[Log], int] = middle
) -> Callable[[World], None]:
    def work(world: World) -> None:
        index = place(world[role])
        world[role][index] = edited(world[role][index], edit)

    return work


def alter_entry(world: World, **fields: Any) -> None:
    place = middle(world["journal"])
    record = world["journal"][place]
    entry = msgspec.structs.replace(unpack(record.value or b""), **fields)
    world["journal"][place] = record._replace(value=pack(entry))


def last(log: Log) -> int:
    return len(log) - 1


def fork(role: str) -> Callable[[World], None]:
    def work(world: World) -> None:
        place = middle(world[role])
        other = edited(world[role][place], lambda told: told["tree"].update(digest="0" * 64))
        world[role].insert(place + 1, other)

    return work


def fork_journal(world: World) -> None:
    place = middle(world["journal"])
    record = world["journal"][place]
    entry = msgspec.structs.replace(unpack(record.value or b""), digest="0" * 64)
    world["journal"].insert(place + 1, record._replace(value=pack(entry)))


def damage_journal(world: World) -> None:
    place = middle(world["journal"])
    value = bytearray(world["journal"][place].value or b"")
    value[len(value) // 2] ^= 1
    world["journal"][place] = world["journal"][place]._replace(value=bytes(value))


def cut_end(role: str) -> Callable[[World], None]:
    def work(world: World) -> None:
        del world[role][last(world[role])]

    return work


def alter_dead_letter(world: World) -> None:
    world["dead_letters"][0] = world["dead_letters"][0]._replace(value=b"something else")


def invent(world: World) -> None:
    """A record of the input vanishes that something came of."""
    del world["input"][middle(world["input"])]


def other_version(world: World) -> None:
    """A prediction from a transaction that was never committed: right by itself, at the wrong time."""
    versions = {json.loads(c.value or b"")["seq"]: json.loads(c.value or b"") for c in world["tree_changes"]}
    for index, record in reversed(list(enumerate(world["predictions"]))):
        told = json.loads(record.value or b"")
        if told["tree"]["version"] > 5 and told["model"] == versions[1]["model"]:
            old = versions[1]["tree"]
            told["tree"] = {"version": 1, "digest": old["digest"]}
            world["predictions"][index] = record._replace(value=json.dumps(told).encode())
            return


def set_label(told: Any) -> None:
    told.pop("label") if "label" in told else told.update(label="yes")


TAMPERINGS: dict[str, tuple[Callable[[World], None], Kind]] = {
    "a removed prediction": (remove("predictions"), Kind.MISSING),
    "a removed dead letter": (remove("dead_letters"), Kind.MISSING),
    "a removed tree change": (remove("tree_changes"), Kind.CHAIN_GAP),
    "a removed journal entry": (remove("journal"), Kind.JOURNAL_GAP),
    "a removed record of the input": (invent, Kind.INVENTED),
    "the last prediction removed": (cut_end("predictions"), Kind.MISSING),
    "the last tree change removed": (cut_end("tree_changes"), Kind.CHAIN_GAP),
    "the last journal entry removed": (cut_end("journal"), Kind.AHEAD),
    "a doubled prediction": (double("predictions"), Kind.DOUBLED),
    "a doubled dead letter": (double("dead_letters"), Kind.DOUBLED),
    "a doubled tree change": (double("tree_changes"), Kind.DOUBLED),
    "a doubled journal entry": (double("journal"), Kind.DOUBLED),
    "predictions in another order": (swap("predictions"), Kind.REORDERED),
    "dead letters in another order": (swap("dead_letters"), Kind.REORDERED),
    "tree changes in another order": (swap("tree_changes"), Kind.REORDERED),
    "journal entries in another order": (swap("journal"), Kind.REORDERED),
    "an altered digest of a tree change": (
        alter("tree_changes", lambda told: told["tree"].update(digest="0" * 64)),
        Kind.CHAIN_BROKEN,
    ),
    "an altered digest of the last tree change": (
        alter("tree_changes", lambda told: told["tree"].update(digest="0" * 64), last),
        Kind.WRONG_DIGEST,
    ),
    "an altered previous digest": (
        alter("tree_changes", lambda told: told["tree"].update(previous_digest="0" * 64)),
        Kind.CHAIN_BROKEN,
    ),
    "an altered version": (
        alter("tree_changes", lambda told: told["tree"].update(version=999)),
        Kind.CHAIN_BROKEN,
    ),
    "an altered digest of a prediction": (
        alter("predictions", lambda told: told["tree"].update(digest="0" * 64)),
        Kind.WRONG_DIGEST,
    ),
    "an altered digest of a journal entry": (
        lambda world: alter_entry(world, digest="0" * 64),
        Kind.WRONG_DIGEST,
    ),
    "a journal entry without its instances": (lambda world: alter_entry(world, blocks=[]), Kind.UNLEARNED),
    "a prediction with or without a label": (alter("predictions", set_label), Kind.UNLEARNED),
    "a prediction of another time": (other_version, Kind.TORN),
    "a tree change of another cause": (
        alter("tree_changes", lambda told: told["cause"].update(offset=0)),
        Kind.TORN,
    ),
    "a fork of the tree changes": (fork("tree_changes"), Kind.CHAIN_FORK),
    "a fork of the journal": (fork_journal, Kind.JOURNAL_FORK),
    "a damaged journal entry": (damage_journal, Kind.UNREADABLE),
    "an altered dead letter": (alter_dead_letter, Kind.ALTERED),
    "a prediction of the future": (
        alter("predictions", lambda told: told["source"].update(offset=5_000), last),
        Kind.AHEAD,
    ),
}


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
