"""The topics of an agent that has worked in memory, and the audit of them."""

import json
import random
from typing import Any

from learners.id5r.options import CoreOptions
from stream.assembly import processor_factory
from stream.audit import Auditor, ChangeProof, JournalProof, Kind, Report
from stream.config import Agent, Limits, Scope
from stream.model.ports import unit_of
from stream.records.record import Record

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
