"""The same bytes on seven ways, which all end with the same tree, predictions and dead letters.

(a) one record per transaction; (b) random batches; (c) the journals of both, replayed; (d) a snapshot in the
middle and the rest in other batches; (e) the change topic, followed by a replica; (f) `evaluate`, with no
stream around the learner; (g) random batches of which only the net changes are published, and their journal.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable

import msgspec

from learners.capabilities import SelfChecking
from learners.iidt.learner import IIDT
from learners.learner import Learner
from learners.outline import Leaf, digest, walk
from learners.rebuilt.periodic import PeriodicRebuild
from stream.assembly import processor_factory
from stream.client.replica import Replica
from stream.config import TreeChanges
from stream.events import Event
from stream.model.ports import unit_of
from stream.model.processor import LearningProcessor
from stream.records.record import Output, Outputs, Record
from tests.lives.agents import Life
from tests.lives.bare import live_alone, reason_of
from tests.lives.generator import ALONE, BATCH, INPUT, OTHER_BATCH, RESTART, Step
from tests.lives.limits import within_reach
from tests.lives.same import Told, same, same_list, same_state, same_told, same_tree

COUNTED = frozenset({"id3", "id3prime", "id5", "id5r-reference", "id5r", "mdl", "iidt-ts", "iidt-ee"})
"""The learners whose leaves count the instances retained; the others' trees are of an earlier moment."""


def live(life: Life) -> Counter[str]:
    """Take one life on all ways; return what happened in it.

    Raises:
        Difference: Two ways differ.
    """
    with within_reach():
        return _live(life)


def _live(life: Life) -> Counter[str]:
    at = next((i for i, step in enumerate(life.steps) if step.marks & RESTART), len(life.steps))
    single = _begin(life, beside=True)
    _run(single, life.steps, lambda step: True)
    batched = _begin(life)
    _run(batched, life.steps[:at], _begins_batch, alone=True)
    entries = len(batched.journal)
    _run(batched, life.steps[at:], _begins_batch, alone=True)
    same_told("b", single, batched)
    same_state("b", single.processor, batched.processor)
    _replay(life, single, batched, entries, at)
    _restart(life, single, at)
    _follow(life, single)
    live_alone(life, single)
    _net(life, single)
    _check_counts(single.processor.learner)
    return _happened(single)


# ---- (a), (b), (d)


def _begins_batch(step: Step) -> bool:
    return bool(step.marks & BATCH)


def _begins_other_batch(step: Step) -> bool:
    return bool(step.marks & OTHER_BATCH)


def _restart(life: Life, single: Told, at: int) -> None:
    """(d): the state goes through a snapshot into a fresh processor."""
    told = _begin(life)
    _run(told, life.steps[:at], _begins_other_batch)
    state = told.processor.snapshot()
    fresh = _make(life)
    fresh.restore(state)
    same_tree("d at once", told.processor, fresh)
    _check_counts(fresh.learner)
    told = told._replace(processor=fresh)
    _run(told, life.steps[at:], _begins_other_batch)
    # A snapshot lets go of what only saves work: later operations are others. So they are not compared.
    same_told("d", single, told, without_operations=True)
    same_tree("d", single.processor, told.processor)


def _make(life: Life, *, beside: bool = False) -> LearningProcessor:
    """Return a fresh processor; whether trees are built in a thread beside it decides nothing."""
    processor = processor_factory(life.agent, life.limits, _ignore)(unit_of(INPUT, None))
    assert isinstance(processor, LearningProcessor)
    if not beside and isinstance(processor.learner, PeriodicRebuild):
        processor.learner.background = None
    return processor


def _begin(life: Life, *, beside: bool = False) -> Told:
    return Told(life.agent.topics, _make(life, beside=beside), [], [], [], [])


def _ignore(event: Event) -> None:
    """Metrics are not looked at."""


def _run(told: Told, steps: Iterable[Step], begins: Callable[[Step], bool], *, alone: bool = False) -> None:
    """Process records in batches that begin where `begins` says so, and where spare time is granted."""
    processor = told.processor
    batch: list[Record] = []
    for step in steps:
        if batch and (step.units or begins(step)):
            _keep(told, processor.process(batch))
            batch = []
        if step.units and processor.can_improve:
            processor.improve(step.units)
            if alone and step.marks & ALONE:
                outputs = processor.improved()
                assert outputs is not None
                _keep(told, outputs)
        batch.append(step.record)
    if batch:
        _keep(told, processor.process(batch))


def _keep(told: Told, outputs: Outputs) -> None:
    told.predictions.extend(outputs.answers)
    for one in outputs.others:
        if one.topic == told.topics.journal:
            assert one.value is not None
            told.journal.append(one.value)
        elif one.topic == told.topics.tree_changes:
            told.changes.append(one)
        else:
            assert one.topic == told.topics.dead_letters
            told.letters.append(one)


# ---- (c)


def _replay(life: Life, single: Told, batched: Told, entries: int, at: int) -> None:
    """(c): the journals of (a) and of (b), whole, and that of (b) in part and the rest of the records."""
    for journal in (single.journal, batched.journal):
        fresh = _make(life)
        for entry in journal:
            fresh.replay(entry)
        same_state("c", single.processor, fresh)
    told = _begin(life)
    for entry in batched.journal[:entries]:
        told.processor.replay(entry)
    _run(told, life.steps[at:], _begins_batch, alone=True)
    same_told("c and on", _last(single, told), told)
    same_state("c and on", single.processor, told.processor)


def _last(told: Told, other: Told) -> Told:
    """Return as much from the end of what one way wrote as another has written."""
    return told._replace(
        predictions=told.predictions[len(told.predictions) - len(other.predictions) :],
        changes=told.changes[len(told.changes) - len(other.changes) :],
        letters=told.letters[len(told.letters) - len(other.letters) :],
    )


# ---- (e)


def _follow(life: Life, single: Told) -> None:
    """(e): the change topic alone leads to the tree."""
    replica = Replica(life.agent.name)
    replica.follow(one.value for one in single.changes)
    processor = single.processor
    same("e digest", processor.digest, digest(replica.outline))
    same("e version", processor.version, replica.version)


# ---- (g)


def _net(life: Life, single: Told) -> None:
    """(g): what only the net changes are published of is the same tree, and predicts the same."""
    agent = msgspec.structs.replace(life.agent, tree_changes=TreeChanges.COMMIT)
    life = life._replace(agent=agent)
    told = _begin(life)
    _run(told, life.steps, _begins_batch, alone=True)
    same_list("g predictions", *([_as_predicted(one) for one in way.predictions] for way in (single, told)))
    same_list("g dead letters", single.letters, told.letters)
    same("g digest", single.processor.digest, told.processor.digest)
    same("g tree", single.processor.learner.outline(), told.processor.learner.outline())
    _follow(life, told)
    _names_trees_of_the_chain(told)
    fresh = _make(life)
    for entry in told.journal:
        fresh.replay(entry)
    # A record without a label is predicted and not replayed; predicting does some of the repairs that wait.
    same_tree("g replayed", told.processor, fresh)


def _as_predicted(prediction: Output) -> Output:
    """Leave out which tree it was, and how clearly tests were chosen: that is of the last look at them."""
    value = json.loads(prediction.value or b"")
    del value["tree"]
    for step in value["path"]:
        del step["runner_up"], step["margin"]
    return prediction._replace(value=json.dumps(value).encode())


def _names_trees_of_the_chain(told: Told) -> None:
    """Each prediction names a tree that was published, with its digest."""
    changes = [json.loads(one.value or b"")["tree"] for one in told.changes]
    published = {0: digest(None)} | {tree["version"]: tree["digest"] for tree in changes}
    for one in told.predictions:
        tree = json.loads(one.value or b"")["tree"]
        same("g tree of a prediction", published.get(tree["version"]), tree["digest"])


# ---- at the end


def _check_counts(learner: Learner) -> None:
    """The leaves count what is retained, and the tree fits its instances."""
    if learner.name in COUNTED:
        leaves = (node for _, node in walk(learner.outline()) if isinstance(node, Leaf))
        held = len(learner.growing.held) if isinstance(learner, IIDT) else 0
        same("leaves", learner.retained - held, sum(n for leaf in leaves for _, n in leaf.counts))
    if isinstance(learner, SelfChecking):
        wrong = learner.check()
        assert wrong is None, wrong


def _happened(told: Told) -> Counter[str]:
    """Return what happened, for those who ask whether anything did."""
    happened = Counter(f"dead letter {reason_of(letter)}" for letter in told.letters)
    happened["predictions"] = len(told.predictions)
    for change in told.changes:
        happened.update(f"change {one['kind']}" for one in json.loads(change.value or b"")["changes"])
    return happened
