"""A tree learned again from the journal alone, or from the changes alone: each finds a lie by itself."""

import json

import msgspec
import pytest

from learners.id5r.options import CoreOptions
from learners.outline import digest
from stream.assembly import processor_factory
from stream.audit import Auditor, ChangeProof, JournalProof, Kind
from stream.audit.findings import Findings
from stream.config import Agent, Limits
from stream.model.ports import unit_of
from stream.records.journal import pack, unpack
from stream.records.record import Partition, Record
from tests.contract.rigs import MemoryRig

AGENT = Agent(name="a", input="in", options=CoreOptions(significance=None))
UNIT = unit_of("in", None)
RECORDS = 60


@pytest.fixture(scope="module")
def rig() -> MemoryRig:
    rig = MemoryRig()
    rig.create([AGENT], 1)
    for number in range(RECORDS):
        told = {"x": "abc"[number % 3], "y": "de"[number % 2], "class": "pq"[number % 3 == 1]}
        rig.produce("in", json.dumps(told).encode())
    rig.run([AGENT], {}, max_batch=10)
    return rig


def proved(journal: list[Record]) -> tuple[int, list[tuple[Kind, int]]]:
    """Return how many instances were learned again, and what was wrong at which offsets."""
    findings = Findings()
    proof = JournalProof(UNIT, processor_factory(AGENT, Limits(), lambda event: None), findings)
    for record in journal:
        proof.take(record)
    return proof.instances, [(one.kind, one.first) for one in findings]


def test_every_instance_of_the_journal_is_learned_again(rig: MemoryRig) -> None:
    journal = rig.read(AGENT.topics.journal)
    assert len(journal) == 6
    assert proved(journal) == (RECORDS, [])


@pytest.mark.parametrize("damage", ["digest", "nothing", "removed"])
def test_a_journal_that_lies_is_found_without_the_changes_and_once(rig: MemoryRig, damage: str) -> None:
    journal = list(rig.read(AGENT.topics.journal))
    victim = journal[2]
    entry = unpack(victim.value or b"")
    lie = pack(msgspec.structs.replace(entry, digest="0" * len(entry.digest)))
    journal[2] = victim._replace(value={"digest": lie, "nothing": None, "removed": b""}[damage])
    instances, wrong = proved(journal)
    # After the first wrong entry nothing can be compared: one finding, and no more instances.
    assert wrong == [(Kind.WRONG_TREE, victim.offset)]
    assert instances == 20


def followed(changes: list[Record]) -> tuple[ChangeProof, list[tuple[Kind, int]]]:
    findings = Findings()
    proof = ChangeProof("a", UNIT.model, findings)
    for record in changes:
        proof.take(record)
    return proof, [(one.kind, one.first) for one in findings]


def test_the_changes_lead_to_the_tree_of_the_journal(rig: MemoryRig) -> None:
    proof, wrong = followed(rig.read(AGENT.topics.tree_changes))
    assert wrong == []
    last = unpack(rig.read(AGENT.topics.journal)[-1].value or b"")
    assert (proof.replica.version, digest(proof.replica.outline)) == (last.version, last.digest)


def test_changes_that_lie_are_found_without_the_journal_and_once(rig: MemoryRig) -> None:
    changes = list(rig.read(AGENT.topics.tree_changes))
    assert len(changes) > 2
    told = json.loads(changes[1].value or b"")
    told["tree"]["digest"] = "0" * len(told["tree"]["digest"])
    changes[1] = changes[1]._replace(value=json.dumps(told).encode())
    _, wrong = followed(changes)
    assert wrong == [(Kind.WRONG_TREE, changes[1].offset)]


def test_a_partition_that_no_entry_has_reached_is_not_looked_at_yet() -> None:
    auditor = Auditor(AGENT)
    auditor.mark()
    auditor.take_input(Record(Partition("in", 4), 0, b"{}"))
    report = auditor.finish()
    assert not list(report.findings)
    assert report.dispositions == {"predicted": 0, "learned": 0, "dead_letters": 0, "other": 0}
    assert report.counts.get("input", 0) == 0
