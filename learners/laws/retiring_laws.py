"""The laws of attributes that are left out: retired ones, and those that no instance has."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import msgspec

from learners.change import ChangeKind, TreeChange, fold
from learners.laws.story import Law, Make, Stream, answer, learn, must, names_of, same
from learners.learner import Learner, Prediction
from learners.outline import Outline, Split, digest, size
from learners.schema import Instance, InstanceError, Limits
from learners.vocabulary import Growth, Row

FEW_VALUES = Limits(max_values_per_attribute=2)
NOTHING = "nothing"
"""A name that no stream has."""


def retire(learner: Learner, attributes: Sequence[int]) -> list[TreeChange]:
    """Retire attributes, as a follower does: the codes first, then the learner."""
    learner.codes.grow(Growth((), (), (), (), "", tuple(attributes)))
    return learner.retire(attributes)


def places_of(stream: Stream) -> list[int]:
    """Return some moments of a stream."""
    return sorted({0, 1, len(stream) // 2, len(stream)})


def tested(outline: Outline | None) -> set[str]:
    """Return the attributes that a tree tests."""
    names: set[str] = set()
    stack = [outline]
    while stack:
        node = stack.pop()
        if isinstance(node, Split):
            names.add(node.test.attribute)
            stack.extend(branch for _, branch in node.branches)
    return names


def with_limits(make: Make, limits: Limits) -> Learner:
    """Return the learner that `make` makes, with other limits."""
    learner = make()
    return type(learner)(learner.schema, learner.options, limits)


def without(make: Make, name: str) -> Learner:
    """Return the learner that `make` makes, for instances that never have an attribute."""
    learner = make()
    attributes = tuple(one for one in learner.schema.attributes if one.name != name)
    schema = msgspec.structs.replace(learner.schema, attributes=attributes)
    return type(learner)(schema, learner.options)


# ---- what is told, and what follows


def retiring_is_told(make: Make, stream: Stream) -> None:
    """There is one change for each attribute, with the whole tree, which does not test it any more."""
    for place in places_of(stream):
        learner = make()
        for instance in stream[:place]:
            learn(learner, instance)
        attributes = list(range(len(learner.codes.attributes)))[::-2]
        names = [learner.codes.attributes[attribute] for attribute in attributes]
        before, followed, kept = learner.ops.copy(), learner.outline(), learner.retained
        for _ in range(2):
            changes = retire(learner, attributes)
            same("the names told", names, [change.attribute for change in changes])
            same("the kinds", [ChangeKind.RETIRED] * len(names), [change.kind for change in changes])
            same("the places", [()] * len(names), [change.path for change in changes])
            for change in changes:
                same("the trees told", digest(learner.outline()), digest(change.subtree))
            followed = fold(changes, followed)
            same("the trees followed", digest(learner.outline()), digest(followed))
            same("the sizes", size(learner.outline()), size(followed))
            must(not tested(learner.outline()) & {*names}, f"one of {names} is still tested")
            must(learner.retained <= kept, f"{learner.retained} instances are retained of {kept}")
        spent = (learner.ops - before).as_tuple()
        must(min(spent) >= 0, f"retiring was paid back: {spent}")
        same("none is retired", [], retire(learner, []))
        for instance in stream[place:]:
            followed = fold(learn(learner, instance).changes, followed)
            same("the trees followed", digest(learner.outline()), digest(followed))
            must(not tested(learner.outline()) & {*names}, f"one of {names} is tested again")


def restored_learners_know_what_is_retired(make: Make, stream: Stream) -> None:
    """A learner restored at any moment after attributes were retired goes on as if nothing had happened."""
    for place in places_of(stream):
        learner = make()
        for instance in stream[:place]:
            learn(learner, instance)
        retire(learner, list(range(0, len(learner.codes.attributes), 2)))
        snapshots = [learner.snapshot()]
        story = []
        for instance in stream[place:]:
            story.append(learn(learner, instance))
            snapshots.append(learner.snapshot())
        for cut, snapshot in enumerate(snapshots):
            restored = type(learner).restore(snapshot)
            same("the codes", learner.codes.retired, restored.codes.retired)
            same("the snapshots", snapshot, restored.snapshot())
            for instance, told in zip(stream[place + cut :], story[cut:], strict=True):
                same(f"what follows a restart after step {place + cut}", told, learn(restored, instance))
            same("the operations", learner.ops, restored.ops)


# ---- followers


class _Block(NamedTuple):
    """Rows of one width, and what is retired before the first of them."""

    retired: tuple[int, ...]
    rows: list[Row]
    labels: list[int]


def _blocks(leader: Learner, stream: Stream) -> Iterator[_Block]:
    """Let a learner learn instances one by one; yield what a follower is given."""
    block = _Block((), [], [])
    for instance in stream:
        try:
            coded = leader.codes.encode(instance.values, instance.label)
        except InstanceError:
            continue
        if coded.retired:
            leader.retire(coded.retired)
        leader.learn(coded.row, coded.label)
        if coded.retired or (block.rows and len(coded.row) > len(block.rows[0])):
            yield block
            block = _Block(coded.retired, [], [])
        block.rows.append(coded.row)
        block.labels.append(coded.label)
    yield block


def followers_learn_in_batches(make: Make, stream: Stream) -> None:
    """A follower that is given names ahead of the rows, and these in batches, becomes the same learner."""
    for length in sorted({1, 2, 3, 7, max(1, len(stream))}):
        leader, follower = (with_limits(make, FEW_VALUES) for _ in range(2))
        for start in range(0, len(stream), length):
            mark = leader.codes.mark()
            blocks = list(_blocks(leader, stream[start : start + length]))
            follower.codes.grow(leader.codes.growth(mark))
            for block in blocks:
                if block.retired:
                    follower.retire(block.retired)
                follower.learn_batch(block.rows, block.labels)
            same("the codes", names_of(leader.codes), names_of(follower.codes))
            same("the trees", digest(leader.outline()), digest(follower.outline()))
            same(f"the snapshots after batches of {length}", leader.snapshot(), follower.snapshot())


def values_beyond_the_limit_retire(make: Make, stream: Stream) -> None:
    """An attribute that passes its limit is retired by the instance that does so, which is learned."""
    learner, other = (with_limits(make, FEW_VALUES) for _ in range(2))
    for instance in stream:
        known = learner.codes.retired.copy()
        outcome = learn(learner, instance)
        new = sorted(learner.codes.retired - known)
        told = [change.attribute for change in outcome.changes if change.kind is ChangeKind.RETIRED]
        same("what is told as retired", [learner.codes.attributes[a] for a in new], told)
        if outcome.refusal:
            continue
        coded = other.codes.encode(instance.values, instance.label)
        same("the attributes retired", tuple(new), coded.retired)
        other.retire(coded.retired)
        other.learn(coded.row, coded.label)
        same("the snapshots", learner.snapshot(), other.snapshot())


# ---- as if it had never been there


def retired_attributes_were_never_there(make: Make, stream: Stream) -> None:
    """Whenever an attribute is retired, the tree is then the one of instances that never had it.

    Numbers that are compared with thresholds have no values that could be too many: the law is not for them.
    """
    for name in list(dict.fromkeys(name for values, _ in stream for name in values))[:3]:
        for place in places_of(stream):
            learner, plain = make(), without(make, name)
            if learner.schema.attributes and not plain.schema.attributes:
                continue  # with nothing declared everything would be welcome
            gone = False
            for at, instance in enumerate(stream):
                code = learner.codes.attributes.index(name) if name in learner.codes.attributes else -1
                if at >= place and code >= 0 and not gone:
                    if learner.codes.is_numeric(code):
                        break
                    gone = bool(retire(learner, [code]))
                    same("the trees when it retires", digest(plain.outline()), digest(learner.outline()))
                    same("what is retained", plain.retained, learner.retained)
                bare = Instance({n: v for n, v in instance.values.items() if n != name}, instance.label)
                learn(plain, bare)
                learn(learner, instance)
                if gone:
                    same("the trees afterwards", digest(plain.outline()), digest(learner.outline()))


def a_field_that_is_always_null_is_none(make: Make, stream: Stream) -> None:
    """A field that no instance has a value for leaves the tree and the answers as they are without it.

    Not so where the papers have it otherwise: the bare algorithm of 1989 tests an attribute of one value if
    nothing else is left, and a gain ratio is compared with the mean gain of all attributes.
    """
    learner, plain = make(), make()
    settings = msgspec.to_builtins(learner.options)
    bare = "significance" in settings and settings["significance"] is None
    by_mean = settings.get("selection") == "gain-ratio"
    if bare or by_mean or settings.get("missing") == "reject" or not learner.schema.takes_new_attributes:
        return
    for instance in stream:
        with_null = Instance({NOTHING: None, **instance.values}, instance.label)
        said, known = answer(learner, with_null), answer(plain, instance)
        if isinstance(said, Prediction) and isinstance(known, Prediction):
            same("the answers", (known.answer, known.counts), (said.answer, said.counts))
        same("what is refused", learn(plain, instance).refusal, learn(learner, with_null).refusal)
        same("the trees", digest(plain.outline()), digest(learner.outline()))


RETIRING_LAWS: list[Law] = [
    retiring_is_told,
    restored_learners_know_what_is_retired,
    followers_learn_in_batches,
    values_beyond_the_limit_retire,
    a_field_that_is_always_null_is_none,
]
EXACT_RETIRING_LAWS: list[Law] = [retired_attributes_were_never_there]
