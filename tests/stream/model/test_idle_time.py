"""Spare time: units in the journal, and the same tree after every restart."""

import json
from itertools import islice

import msgspec
import pytest

import stream.model.idle_time
import stream.records.journal
from learners.learner import make_options
from learners.outline import digest
from learners.registry import LEARNERS
from stream.assembly import processor_factory
from stream.audit.change_chain import ChangeChain
from stream.audit.findings import Findings
from stream.client.replica import Replica
from stream.config import Agent, Limits
from stream.demo.generators import xor
from stream.demo.probe import UNSEEN_SEED, Probe
from stream.errors import NewerFormat, StateError
from stream.events import Event, Improved
from stream.memory import Crash, MemoryBroker, MemoryEngine
from stream.model.ports import unit_of
from stream.model.processor import LearningProcessor
from stream.records.journal import WITH_IMPROVING, unpack
from stream.records.published import TreeChange
from stream.records.record import Outputs
from tests.stream.stories import INPUT, ignore, make, records_of, told_by

BITS = {"bits": 3, "others": 4}


def values(count: int, seed: int = 1, **shape: int) -> list[bytes]:
    return [msgspec.json.encode(one) for one in islice(xor(seed, **(shape or BITS)), count)]


def an_agent(learner: str = "iidt-ts", **options: object) -> Agent:
    chosen = make_options(LEARNERS[learner].options_type, options) if options else None
    return Agent(name="a", input=INPUT, learner=learner, options=chosen)


def follow(replica: Replica, outputs: Outputs, agent: Agent) -> list[bytes]:
    """Let a replica follow some outputs; return the journal's messages among them."""
    told = told_by(outputs, agent)
    replica.follow([json.dumps(change).encode() for change in told.changes])
    return told.journal


@pytest.mark.parametrize("learner", ["iidt-ts", "iidt-ee"])
def test_units_are_in_the_journal_before_the_records_that_follow_them(learner: str) -> None:
    agent = an_agent(learner)
    processor, replica = make(agent), Replica("a")
    journal = follow(replica, processor.process(records_of(values(150))), agent)
    for units in (40, 400, 4_000):
        processor.improve(units)
    journal += follow(replica, processor.process(records_of(values(60, 2), 150)), agent)
    processor.improve(30_000)
    rest = processor.improved()
    assert rest is not None
    journal += follow(replica, rest, agent)
    assert processor.improved() is None
    entries = [unpack(entry) for entry in journal]
    assert [(entry.improved, len(entry.blocks)) for entry in entries] == [(0, 1), (4_440, 1), (30_000, 0)]
    assert [entry.format == WITH_IMPROVING for entry in entries] == [False, True, True]
    assert processor.learner.improvements > 0  # type: ignore[attr-defined]
    # Whoever follows the changes holds the tree, and so does whoever replays the journal.
    assert digest(replica.outline) == processor.digest == entries[-1].digest
    again = make(agent)
    for entry in journal:
        again.replay(entry)
    assert again.point == processor.point
    assert again.learner.snapshot() == processor.learner.snapshot()


@pytest.mark.parametrize("learner", ["iidt-ts", "iidt-ee"])
def test_no_tree_change_of_spare_time_is_published_twice(learner: str) -> None:
    """Whether it is committed alone or with the next batch, every change is in exactly one transaction."""
    agent = an_agent(learner)
    processor = make(agent)
    shape = {"bits": 3, "others": 6}
    outputs = [processor.process(records_of(values(300, **shape)))]
    first = processor.version
    for turn in range(60):
        processor.improve(300)
        alone = processor.improved()
        assert alone is not None
        outputs.append(alone)
        processor.improve(300)
        outputs.append(processor.process(records_of(values(5, 2 + turn, **shape), 300 + 5 * turn)))
    told = [told_by(one, agent) for one in outputs]
    assert [change["seq"] for one in told for change in one.changes] == list(range(1, processor.version + 1))
    assert [len(one.journal) for one in told] == [1] * len(told)
    assert processor.version > first
    # Both ways were taken: changes without a cause are in transactions with and without records.
    uncaused = [any(change["cause"] is None for change in one.changes) for one in told]
    assert any(uncaused[1::2])
    assert any(uncaused[2::2])


def test_a_snapshot_in_the_middle_of_an_attempt_goes_on_with_it() -> None:
    agent = an_agent()
    processor = make(agent)
    processor.process(records_of(values(200)))
    processor.improve(777)
    processor.improved()
    restored = make(agent)
    restored.restore(processor.snapshot())
    for one in (processor, restored):
        one.improve(20_000)
        one.improved()
    assert restored.point == processor.point
    assert restored.snapshot() == processor.snapshot()


def test_a_snapshot_is_not_made_of_units_that_are_not_in_the_journal() -> None:
    processor = make(an_agent())
    processor.process(records_of(values(50)))
    processor.improve(10)
    with pytest.raises(AssertionError, match="journal"):
        processor.snapshot()


def test_units_in_the_journal_of_a_learner_that_cannot_use_them_are_refused() -> None:
    improving, fixed = an_agent(), an_agent("id3")
    processor = make(improving)
    processor.process(records_of(values(20)))
    processor.improve(100)
    outputs = processor.improved()
    assert outputs is not None
    (entry,) = told_by(outputs, improving).journal
    with pytest.raises(StateError):
        make(fixed).replay(entry)


def test_what_spare_time_changed_has_no_cause_and_the_chain_holds() -> None:
    agent = an_agent()
    processor = make(agent)
    told = told_by(processor.process(records_of(values(150))), agent).changes
    processor.improve(50_000)
    outputs = processor.improved()
    assert outputs is not None
    better = told_by(outputs, agent).changes
    assert better
    assert all(change["cause"] is None for change in better)
    assert all(change["cause"] is not None for change in told)
    findings = Findings()
    chain = ChangeChain(findings, repeats=False, cut=False)
    for place, change in enumerate([*told, *better]):
        event = msgspec.json.decode(json.dumps(change), type=TreeChange)
        chain.take(event, records_of([b""], place)[0])
    assert not list(findings)


@pytest.mark.parametrize("crashes", [(), (Crash(1, after_commit=False), Crash(2, after_commit=True))])
def test_spare_time_solves_parity_and_a_restart_gives_the_same_tree(crashes: tuple[Crash, ...]) -> None:
    agent, broker = an_agent(), MemoryBroker()
    for place, value in enumerate(values(300)):
        broker.produce(INPUT, value, partition=place % 2)
    events: list[Event] = []
    probe = Probe(xor(UNSEEN_SEED, **BITS))
    found: list[LearningProcessor] = []

    def observed(unit: object) -> LearningProcessor:
        processor = processor_factory(agent, Limits(), events.append)(unit_of(INPUT, None))
        assert isinstance(processor, LearningProcessor)
        found.append(processor)
        return processor

    def solved() -> bool:
        return probe.accuracy(found[-1].learner.outline_lately) == 1.0 and not found[-1].can_improve

    engine = MemoryEngine(
        broker,
        INPUT,
        agent.topics.journal,
        "a",
        max_batch=70,
        crashes=crashes,
        wait=lambda: True,
        idle_share=1.0,
    )
    engine.run(observed, solved)
    # What has not been committed is lost, and is spent again.
    after = make(agent)
    for record in broker.read(agent.topics.journal):
        after.replay(record.value or b"")
    replica = Replica("a")
    replica.follow([record.value or b"" for record in broker.read(agent.topics.tree_changes)])
    assert digest(replica.outline) == after.digest
    assert sum(event.improvements for event in events if isinstance(event, Improved)) > 0
    MemoryEngine(broker, INPUT, agent.topics.journal, "a", wait=lambda: True, idle_share=1.0).run(
        observed, solved
    )
    assert probe.accuracy(found[-1].learner.outline_lately) == 1.0


def test_an_older_version_is_told_to_upgrade() -> None:
    processor = make(an_agent(), ignore)
    processor.process(records_of(values(20)))
    processor.improve(10)
    outputs = processor.improved()
    assert outputs is not None
    (entry,) = told_by(outputs, an_agent()).journal
    with pytest.raises(NewerFormat):
        stream.records.journal.unseal(
            entry, stream.records.journal.JournalEntry, stream.records.journal.FORMAT, "an entry"
        )
