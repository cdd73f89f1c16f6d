"""The laws that every learner obeys, of the same again, of snapshots, of changes and of answers."""

import copy
import math

from learners.change import fold
from learners.laws.story import (
    Law,
    LawError,
    Make,
    Outcome,
    Stream,
    answer,
    encoded,
    learn,
    learn_batch,
    must,
    names_of,
    of_one_width,
    questions,
    same,
    steps_with,
    told_in_batch,
    told_singly,
)
from learners.learner import Learned, Prediction
from learners.outline import Outline, digest, size, to_json
from learners.schema import Instance, InstanceError
from learners.snapshot import SnapshotError

# ---- the same again


def same_input_gives_same_output(make: Make, stream: Stream) -> None:
    """The same instances give the same answers, changes, costs and snapshot, to the byte."""
    one, other = make(), make()
    for step, instance in steps_with(one, stream):
        same("the outcomes", step(one, instance), step(other, instance))
    same("the snapshots", one.snapshot(), other.snapshot())


def learners_share_nothing(make: Make, stream: Stream) -> None:
    """What one learner learns leaves all others as they are, also one it was restored to."""
    one, other = make(), make()
    empty = other.snapshot()
    for step, instance in steps_with(one, stream):
        before = one.snapshot()
        twin = type(one).restore(before)
        step(one, instance)
        same("a restored learner's snapshots", before, twin.snapshot())
        same("another learner's snapshots", empty, other.snapshot())


def outlines_stay_as_they_were(make: Make, stream: Stream) -> None:
    """An outline that was given out does not change when learning goes on."""
    learner = make()
    given: list[tuple[Outline | None, str, str]] = []
    for step, instance in steps_with(learner, stream):
        step(learner, instance)
        outline = learner.outline()
        given.append((outline, to_json(outline), digest(outline)))
    for outline, text, name in given:
        same("an outline given out", (text, name), (to_json(outline), digest(outline)))


def arguments_are_left_alone(make: Make, stream: Stream) -> None:
    """Learning and predicting do not alter what they are given."""
    learner = make()
    for step, instance in steps_with(learner, stream):
        values = dict(instance.values)
        step(learner, Instance(values, instance.label))
        same("the values", list(instance.values.items()), list(values.items()))
    rows, labels = encoded(learner, stream)
    given = copy.deepcopy((rows, labels))
    for batch in of_one_width(rows, labels):
        learner.learn_batch(*batch)
    same("the rows and labels", given, (rows, labels))


# ---- snapshots


def restored_learners_go_on_alike(make: Make, stream: Stream) -> None:
    """A learner restored at any moment goes on as if nothing had happened: trees, answers, changes, costs."""
    learner = make()
    steps = steps_with(learner, stream)
    story: list[Outcome] = []
    snapshots: list[bytes] = []
    for step, instance in steps:
        snapshots.append(learner.snapshot())
        story.append(step(learner, instance))
    for cut, snapshot in enumerate(snapshots):
        restored = type(learner).restore(snapshot)
        for (step, instance), told in zip(steps[cut:], story[cut:], strict=True):
            same(f"what follows a restart before step {cut}", told, step(restored, instance))
        same(f"the operations after a restart before step {cut}", learner.ops, restored.ops)


def snapshots_are_stable(make: Make, stream: Stream) -> None:
    """A restored learner gives the snapshot it was restored from, to the byte."""
    learner = make()
    for step, instance in steps_with(learner, stream):
        snapshot = learner.snapshot()
        same("the snapshots", snapshot, type(learner).restore(snapshot).snapshot())
        step(learner, instance)


def damaged_snapshots_are_refused(make: Make, stream: Stream) -> None:
    """A snapshot that is cut short, too long, or has a bit flipped, is refused."""
    learner = make()
    for instance in stream:
        learn(learner, instance)
    whole = learner.snapshot()
    # All of the head, and of a long body no more than some hundred places.
    head = min(len(whole), 96)
    places = sorted({*range(head), *range(0, len(whole), 1 + len(whole) // 256)})
    damaged = [*(whole[:place] for place in places), whole + b"\0", whole[1:]]
    for place in places:
        for bit in range(8) if place < head else (place % 8,):
            damaged.append(whole[:place] + bytes([whole[place] ^ 1 << bit]) + whole[place + 1 :])
    for data in damaged:
        try:
            type(learner).restore(data)
        except SnapshotError:
            continue
        raise LawError(f"a damaged snapshot was restored: {data[:64]!r}, {len(data)} bytes")


# ---- changes and costs


def changes_fold_to_the_outline(make: Make, stream: Stream) -> None:
    """Whoever applies the changes as they come holds the learner's tree after every step."""
    learner = make()
    followed: Outline | None = None
    for step, instance in steps_with(learner, stream):
        followed = fold(step(learner, instance).changes, followed)
        same("the trees", digest(learner.outline()), digest(followed))
        same("the sizes", size(learner.outline()), size(followed))


def changes_mean_a_new_digest(make: Make, stream: Stream) -> None:
    """A change is returned exactly when the digest is another one."""
    learner = make()
    before = digest(learner.outline())
    for step, instance in steps_with(learner, stream):
        changes = step(learner, instance).changes
        after = digest(learner.outline())
        must(bool(changes) == (before != after), f"{len(changes)} changes lead from {before} to {after}")
        before = after


def operations_only_grow(make: Make, stream: Stream) -> None:
    """No count of operations ever falls."""
    learner = make()
    before = learner.ops.copy()
    for step, instance in steps_with(learner, stream):
        step(learner, instance)
        spent = (learner.ops - before).as_tuple()
        must(min(spent) >= 0, f"a step was paid back: {spent}")
        before = learner.ops.copy()


# ---- answers


def nothing_is_answered_before_learning(make: Make, stream: Stream) -> None:
    """Before the first instance there is no tree, no answer and no probability."""
    learner = make()
    same("the outlines", None, learner.outline())
    same("what is retained", 0, learner.retained)
    for question in questions(stream):
        found = answer(learner, question)
        if isinstance(found, Prediction):
            same("the answers", (None, {}), (found.answer, found.probabilities))


def predicting_changes_nothing(make: Make, stream: Stream) -> None:
    """Answering leaves the learner as it was, and the same question has the same answer."""
    learner = make()
    for instance in stream:
        learn(learner, instance)
        before = learner.snapshot()
        answers = [answer(learner, question) for question in questions(stream)]
        same("the snapshots", before, learner.snapshot())
        same("the answers", answers, [answer(learner, question) for question in questions(stream)])


def answers_are_most_probable(make: Make, stream: Stream) -> None:
    """Probabilities sum to one and the answer is a most probable class."""
    learner = make()
    for instance in stream:
        learn(learner, instance)
        for question in questions(stream):
            found = answer(learner, question)
            if isinstance(found, Prediction) and found.answer is not None:
                shares = found.probabilities
                must(math.isclose(math.fsum(shares.values()), 1), f"the probabilities are {shares}")
                must(shares.get(found.answer) == max(shares.values()), f'"{found.answer}" of {shares}')


def batches_equal_single_records(make: Make, stream: Stream) -> None:
    """However a stream is cut into batches, each record is answered and then learned as if it came alone."""
    single = make()
    told = told_singly(single, stream)
    for arrays in (False, True) if single.takes_arrays else (False,):
        for length in sorted({1, 2, 3, max(1, len(stream))}):
            batched = make()
            found: list[tuple[Prediction, Learned | None]] = []
            for start in range(0, len(stream), length):
                for rows, labels in of_one_width(*encoded(batched, stream[start : start + length])):
                    silent = learn_batch(batched, rows, [-1] * len(rows), arrays=arrays)
                    same("what is learned without labels", [None] * len(rows), list(silent.learned))
                    found += told_in_batch(learn_batch(batched, rows, labels, arrays=arrays))
            same(f"the stories in batches of {length}", told, found)
            same("the snapshots", single.snapshot(), batched.snapshot())


def followers_become_the_same_learner(make: Make, stream: Stream) -> None:
    """The growth of the codes, the rows and the labels are all a follower needs."""
    learner, follower = make(), make()
    beginning = learner.codes.mark()
    for instance in stream:
        mark = learner.codes.mark()
        try:
            row, label = learner.codes.encode(instance.values, instance.label)[:2]
        except InstanceError:
            same("the codes after a refusal", mark, learner.codes.mark())
            continue
        follower.codes.grow(learner.codes.growth(mark))
        same("the codes", names_of(learner.codes), names_of(follower.codes))
        same("the changes", learner.learn(row, label), follower.learn(row, label))
    same("the snapshots", learner.snapshot(), follower.snapshot())
    late = make()
    late.codes.grow(learner.codes.growth(beginning))
    same("the codes that grew at once", names_of(learner.codes), names_of(late.codes))


LAWS: list[Law] = [
    same_input_gives_same_output,
    learners_share_nothing,
    outlines_stay_as_they_were,
    arguments_are_left_alone,
    restored_learners_go_on_alike,
    snapshots_are_stable,
    damaged_snapshots_are_refused,
    changes_fold_to_the_outline,
    changes_mean_a_new_digest,
    operations_only_grow,
    nothing_is_answered_before_learning,
    predicting_changes_nothing,
    answers_are_most_probable,
    batches_equal_single_records,
    followers_become_the_same_learner,
]
