"""What happens to a learner, step by step, in a form in which two learners can be compared."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TypeAlias

import numpy as np

from learners.capabilities import Forgetful, SelfChecking
from learners.change import TreeChange
from learners.codes import FIELD_FLAGS, Codes
from learners.learner import BatchResult, Learned, Learner, Prediction
from learners.ops import OpCounts
from learners.outline import Outline
from learners.schema import Instance, InstanceError, Misfit
from learners.vocabulary import Row

Stream: TypeAlias = Sequence[Instance]
Make: TypeAlias = Callable[[], Learner]
Law: TypeAlias = Callable[[Make, Stream], None]


class LawError(AssertionError):
    """A learner does not obey a law."""


def must(condition: bool, message: str) -> None:
    """Raise unless the condition holds. Not an assertion: laws hold under `python -O` as well."""
    if not condition:
        raise LawError(message)


def same(what: str, expected: object, found: object) -> None:
    """Raise unless two things are equal."""
    must(expected == found, f"{what} differ: {expected!r} is not {found!r}")


# ---- steps


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a step came to; `tree` is the outline after it."""

    answer: Prediction | str
    refusal: str
    changes: list[TreeChange]
    margins: list[tuple[float | None, float | None]]
    spent: OpCounts
    tree: Outline | None
    retained: int


Step: TypeAlias = Callable[[Learner, Instance], Outcome]


def learn(learner: Learner, instance: Instance) -> Outcome:
    """Let a learner answer an instance and learn from it."""
    return _outcome(learner, instance, learner.learn_one)


def forget(learner: Learner, instance: Instance) -> Outcome:
    """Let a learner answer an instance and forget it."""
    if not isinstance(learner, Forgetful):
        raise TypeError(f"{type(learner).__name__} cannot forget")
    return _outcome(learner, instance, learner.forget_one)


def _outcome(learner: Learner, instance: Instance, do: Callable[[Instance], list[TreeChange]]) -> Outcome:
    found = answer(learner, instance)
    before = learner.ops.copy()
    refusal = ""
    changes: list[TreeChange] = []
    try:
        changes = do(instance)
    except InstanceError as error:
        refusal = f"{error.misfit} {error.field}"
    must_be_sound(learner)
    margins = [(change.score, change.margin) for change in changes]
    return Outcome(
        found, refusal, changes, margins, learner.ops - before, learner.outline(), learner.retained
    )


def must_be_sound(learner: Learner) -> None:
    """Raise if a learner that can check itself finds something wrong."""
    wrong = learner.check() if isinstance(learner, SelfChecking) else None
    must(wrong is None, f"the learner is not sound: {wrong}")


def answer(learner: Learner, instance: Instance) -> Prediction | str:
    """Return the answer to an instance, or why there can be none."""
    try:
        return learner.predict_one(instance.values)
    except InstanceError as error:
        return f"{error.misfit} {error.field}"


def steps_with(learner: Learner, stream: Stream) -> list[tuple[Step, Instance]]:
    """Return the stream as steps; a learner that can forgets every other instance and learns some again."""
    steps: list[tuple[Step, Instance]] = [(learn, instance) for instance in stream]
    if isinstance(learner, Forgetful):
        steps += [(forget, instance) for instance in stream[::2]]
        steps += [(learn, instance) for instance in stream[: len(stream) // 2]]
    return steps


def questions(stream: Stream) -> Iterator[Instance]:
    """Yield the descriptions of a stream, each also without its first value and with a value nobody knows."""
    for values, label in stream:
        yield Instance(values, label)
        yield Instance({name: values[name] for name in list(values)[1:]}, label)
        yield Instance({n: v + "!" if isinstance(v, str) else v for n, v in values.items()}, label)
    yield Instance({}, None)


# ---- codes and batches


def encoded(learner: Learner, stream: Stream) -> tuple[list[Row], list[int]]:
    """Return the codes of the instances that are not refused."""
    rows: list[Row] = []
    labels: list[int] = []
    for instance in stream:
        try:
            row, label = learner.codes.encode(instance.values, instance.label)[:2]
        except InstanceError:
            continue
        rows.append(row)
        labels.append(label)
    return rows, labels


def of_one_width(rows: list[Row], labels: list[int]) -> Iterator[tuple[list[Row], list[int]]]:
    """Yield batches in which all rows have the same width, as `learn_batch` wants them."""
    for _, group in groupby(zip(rows, labels, strict=True), key=lambda one: len(one[0])):
        batch = list(group)
        yield [row for row, _ in batch], [label for _, label in batch]


def told_singly(learner: Learner, stream: Stream) -> list[tuple[Prediction, Learned]]:
    """Return what `learn_batch` should say about the instances that are not refused, one by one.

    What was wrong with a field is known to whoever made the codes.
    """
    told: list[tuple[Prediction, Learned]] = []
    for instance in stream:
        outcome = learn(learner, instance)
        if isinstance(outcome.answer, Prediction) and not outcome.refusal:
            flags = tuple(flag for flag in outcome.answer.flags if flag not in FIELD_FLAGS)
            found = dataclasses.replace(outcome.answer, flags=flags)
            told.append((found, Learned.of(outcome.changes, outcome.spent, outcome.tree)))
    return told


def learn_batch(learner: Learner, rows: list[Row], labels: list[int], *, arrays: bool) -> BatchResult:
    """Let a learner learn a batch that comes as lists or as arrays."""
    if not arrays:
        result = learner.learn_batch(rows, labels)
    else:
        wide = any(code >= 2**32 for row in rows for code in row)
        codes = np.array(rows, dtype=np.uint64).reshape(len(rows), len(rows[0]))
        result = learner.learn_batch(
            codes if wide else codes.astype(np.uint32), np.array(labels, dtype=np.int32)
        )
    must_be_sound(learner)
    return result


def told_in_batch(result: BatchResult) -> list[tuple[Prediction, Learned | None]]:
    """Return what `learn_batch` said, record by record."""
    places = [place for place, one in enumerate(result.learned) if one is not None and one.changes]
    same("the places that changed the tree", places, list(result.changed))
    return list(zip(result.predictions, result.learned, strict=True))


def names_of(codes: Codes) -> tuple[object, ...]:
    """Return everything that codes know."""
    return codes.attributes, codes.kinds, codes.values, codes.classes, codes.label_kind


# ---- refusals


def refused(
    learner: Learner, bad: Instance, field: str, misfit: Misfit | None = None, *, predicting: bool = False
) -> None:
    """Raise unless a bad instance is refused with an error that names the field.

    Args:
        learner: The learner.
        bad: The instance.
        field: What the error has to name.
        misfit: What it has to say about it.
        predicting: Whether the instance cannot be answered either.
    """
    attempts: list[Callable[[], object]] = [lambda: learner.learn_one(bad)]
    if predicting:
        attempts.append(lambda: learner.predict_one(bad.values))
    for attempt in attempts:
        try:
            attempt()
        except InstanceError as error:
            same("the fields named", field, error.field)
            same("the misfits", misfit or error.misfit, error.misfit)
            must(bool(str(error)), "the error says nothing")
        else:
            raise LawError(f"{bad} was taken")
