"""What comes into the compiled tree from outside is checked once; what does not fit changes nothing."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from learners.canonical import number_code
from learners.id5r import _core
from learners.id5r.learner import ID5R
from learners.id5r.options import CoreOptions
from learners.schema import CodesError, Instance, Limits
from learners.vocabulary import Row

OPTIONS = {
    "tree": CoreOptions(),
    "bare": CoreOptions(significance=None),
    "ensemble": CoreOptions(preset="adaptive", drift="verified"),
}


def filled(options: CoreOptions, *, numbers: bool) -> ID5R:
    """Return a learner that knows three words, two more, a number if asked for, and two classes."""
    rng = random.Random(4)
    learner = ID5R(options=options)
    for _ in range(60):
        values: dict[str, Any] = {"word": rng.choice("abc"), "other": rng.choice("xy")}
        if numbers:
            values["number"] = rng.choice([1.0, 2.0, 3.0, 4.0])
        learner.learn_one(Instance(values, "yes" if values["word"] == "a" else "no"))
    return learner


FINE = number_code(1.5)
BAD_ROWS: list[tuple[str, bool, list[int], int]] = [
    ("a code that was never given out", False, [4, 1], 0),
    ("a code far beyond all tables", False, [2**20, 1], 0),
    ("a value never learned", False, [-1, 1], 0),
    ("a class that was never given out", False, [1, 1], 2),
    ("a class far beyond all tables", False, [1, 1], 2**20),
    ("a code where there are numbers", True, [4, 1, FINE], 1),
    ("the bits of a number where there is a word", True, [FINE, 1, FINE], 1),
    ("what is not a number", True, [1, 1, 2**64 - 1], 1),
    ("what is not a number, below all", True, [1, 1, 1], 0),
    ("a class where there are numbers", True, [1, 1, FINE], 7),
]


def as_array(rows: list[list[int]], *, wide: bool) -> Any:
    bits = 64 if wide else 32
    return np.array([[c % 2**bits for c in row] for row in rows], dtype=np.uint64 if wide else np.uint32)


def unchanged(learner: ID5R, act: Callable[[], object]) -> None:
    """Hold an act to being refused, and to leaving everything as it was."""
    before, ops = learner.photograph(), learner.ops
    with pytest.raises(CodesError):
        act()
    assert learner.photograph() == before
    assert learner.ops == ops
    for tree in learner._trees():
        assert tree.check() is None


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(("name", "numbers", "row", "label"), BAD_ROWS, ids=[bad[0] for bad in BAD_ROWS])
def test_what_cannot_be_learned_is_refused_and_changes_nothing(
    options: str, name: str, numbers: bool, row: list[int], label: int
) -> None:
    learner = filled(OPTIONS[options], numbers=numbers)
    keeper = learner.voices or learner.tree
    unchanged(learner, lambda: keeper.learn(tuple(row), label))
    good = [1, 1, FINE] if numbers else [1, 1]
    for place in (0, 3, 7):
        rows = [good] * 8
        rows[place] = row
        labels = [0] * 8
        labels[place] = label
        codes, classes = as_array(rows, wide=numbers), np.array(labels, dtype=np.int32)
        unchanged(learner, lambda c=codes, k=classes: learner.learn_batch(c, k))  # type: ignore[misc]
    # Without its label the row is only answered: a code that nobody has is a value never learned.
    answered = learner.learn_batch(as_array([good, row], wide=numbers), np.array([0, -1], dtype=np.int32))
    assert len(answered.predictions) == 2
    assert answered.learned[1] is None


@pytest.mark.parametrize("options", OPTIONS)
def test_a_row_alone_is_held_to_the_same(options: str) -> None:
    learner = filled(OPTIONS[options], numbers=False)
    keeper = learner.voices or learner.tree

    def answer(row: Row) -> int:
        if learner.voices is not None:
            return learner.voices.answer(row)[0]
        return learner.tree.answer(row, learner.codes)[0]

    unchanged(learner, lambda: keeper.learn((1, 1, 1), 0))  # wider than the tree
    unchanged(learner, lambda: keeper.learn((1, 2**64), 0))
    unchanged(learner, lambda: answer((1, 2**64)))
    unchanged(learner, lambda: keeper.learn((1, 1), -1))
    unchanged(learner, lambda: keeper.forget((1, 1), 2))
    unchanged(learner, lambda: keeper.forget((1, 1), 65_536))
    unchanged(learner, lambda: keeper.forget((1, 1), -1))
    for row in ((2**20, 1), (-1, 1), (9, 9)):
        assert not keeper.forget(row, 0)
        assert answer(row) in (0, 1)


BAD_BATCHES: list[tuple[Any, Any, int]] = [
    (np.ones((3, 3), dtype=np.uint32), np.zeros(3, dtype=np.int32), 0),
    (np.ones((3, 2), dtype=np.uint32), np.zeros(4, dtype=np.int32), 0),
    (np.ones((3, 2), dtype=np.int64), np.zeros(3, dtype=np.int32), 0),
    (np.ones(6, dtype=np.uint32), np.zeros(6, dtype=np.int32), 0),
    (np.ones((3, 2), dtype=np.uint32), np.zeros(3, dtype=np.int32), -1),
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(("codes", "labels", "start"), BAD_BATCHES)
def test_a_batch_of_another_shape_is_refused(options: str, codes: Any, labels: Any, start: int) -> None:
    learner = filled(OPTIONS[options], numbers=False)
    before = learner.photograph()
    run = learner.tree.run if learner.voices is None else learner.voices.run
    with pytest.raises(ValueError, match=r"."):
        run(codes, labels, start, 0, _core.Batch(len(labels), 2, learner.voices is not None))
    assert learner.photograph() == before


def test_results_without_room_for_who_answered_are_refused() -> None:
    learner = filled(OPTIONS["ensemble"], numbers=False)
    assert learner.voices is not None
    with pytest.raises(ValueError, match="room"):
        learner.voices.run(
            np.ones((3, 2), dtype=np.uint32), np.zeros(3, dtype=np.int32), 0, 0, _core.Batch(3, 2)
        )


BAD_LAYOUTS: list[tuple[list[int], list[int], list[int], list[int]]] = [
    ([4], [0], [0, 1], [-1]),  # an attribute less
    ([4, 3], [0, 1], [0], [-1, -1]),  # a class less
    ([3, 3], [0, 1], [0, 1], [-1, -1]),  # a value less
    ([4, 0], [0, 1], [0, 1], [-1, -1]),  # not even a code for what is missing
    ([4, 65_536], [0, 1], [0, 1], [-1, -1]),
    ([4, 3], [0, 2], [0, 1], [-1, -1]),
    ([4, 3], [0, 0], [0, 1], [-1, -1]),
    ([4, 3], [0, 1], [0, 2], [-1, -1]),
    ([4, 3], [0, 1], list(range(65_536)), [-1, -1]),
    ([4, 3, 40], [0, 1, 2], [0, 1], [-1, -1, 1]),  # a number's place that leaves a gap
    ([4, 3, 5], [0, 1, 2], [0, 1], [-1, -1, 0]),  # a number without room for its bins
    ([4, 3], [0, 1], [0, 1], [-1]),
]


@pytest.mark.parametrize("layout", BAD_LAYOUTS)
def test_room_that_a_tree_cannot_have_is_refused(layout: tuple[list[int], ...]) -> None:
    learner = filled(OPTIONS["tree"], numbers=False)
    values, order, ranks, numbers = layout
    unchanged(learner, lambda: learner.tree.reserve(values, order, ranks, numbers))


def test_cuts_that_do_not_fit_are_refused() -> None:
    learner = filled(OPTIONS["tree"], numbers=True)
    tree = learner.tree
    for attribute, cuts, median in (
        (0, [FINE], 1),
        (9, [FINE], 1),
        (-1, [FINE], 1),
        (2, [FINE], 1),
        (2, [], 2),
    ):
        unchanged(learner, lambda a=attribute, c=cuts, m=median: tree.set_cuts(a, c, m, False))  # type: ignore[misc]
    unchanged(learner, lambda: tree.set_time(0))
    unchanged(learner, lambda: tree.set_time(9))
    unchanged(learner, lambda: tree.cuts(9))
    fresh = ID5R(options=CoreOptions(bins=4))
    fresh.codes.encode({"number": 1.0}, "yes")
    fresh.make_room(1, [0])
    for cuts in ([3, 2], [2, 2], list(range(1, 9))):
        unchanged(fresh, lambda c=cuts: fresh.tree.set_cuts(0, c, 1, False))  # type: ignore[misc]


def load(learner: ID5R, dump: Any) -> ID5R:
    fresh = ID5R(options=learner.options)
    fresh.codes.grow(learner.codes.dump())
    fresh.make_room(learner.width, learner.numeric)
    for a in learner.numeric:
        fresh.tree.set_cuts(a, *learner.tree.cuts(a), False)
    empty = fresh.photograph()
    try:
        fresh.tree.load(*dump)
    except ValueError:
        assert fresh.photograph() == empty
        assert fresh.tree.check() is None
        raise
    assert fresh.tree.check() is None
    return fresh


def bend(dump: Any, which: int, change: Callable[[Any], None]) -> Any:
    bent = [part if part is None or isinstance(part, tuple) else part.copy() for part in dump]
    change(bent[which])
    return bent


ROWS, NUMBERS, LABELS, TIMES, RING, FORM = range(6)


def put(place: Any, value: int) -> Callable[[Any], None]:
    def change(part: Any) -> None:
        part[place] = value

    return change


@pytest.mark.parametrize("ordered", [False, True])
def test_instances_that_no_tree_can_hold_are_not_restored(ordered: bool) -> None:
    options = CoreOptions(window=1_000 if ordered else None)
    learner = filled(options, numbers=True)
    learner.tree.settle()
    dump = learner.tree.dump()
    assert load(learner, dump).outline() == learner.outline()
    bad: list[tuple[int, Callable[[Any], None]]] = [
        (ROWS, put((0, 0), 4)),
        (ROWS, put((0, 0), 65_535)),
        (NUMBERS, put((0, 0), 2**64 - 1)),
        (LABELS, put(0, 2)),
        (LABELS, put(0, 65_535)),
        (TIMES, put(0, 0)),
        (TIMES, put(0, 2**32 - 1)),
        (ROWS, lambda rows: rows.__setitem__(1, rows[0])),
    ]
    if ordered:
        bad += [(RING, put(0, 2**32 - 1)), (RING, put(0, len(dump[ROWS])))]
    for which, change in bad:
        bent = bend(dump, which, change)
        if which == ROWS and bent[ROWS][1].tolist() == bent[ROWS][0].tolist():
            bent[NUMBERS][1], bent[LABELS][1] = bent[NUMBERS][0], bent[LABELS][0]
        with pytest.raises(ValueError, match=r"."):
            load(learner, bent)


def test_a_tree_that_has_learned_is_not_loaded_again() -> None:
    learner = filled(OPTIONS["tree"], numbers=False)
    learner.tree.settle()
    dump = learner.tree.dump()
    with pytest.raises(ValueError, match="fresh"):
        learner.tree.load(*dump)
    assert learner.tree.check() is None


def test_limits_beyond_the_codes_are_refused() -> None:
    for limits in ({"max_values_per_attribute": 65_535}, {"max_classes": 65_536}):
        with pytest.raises(ValueError, match="at most"):
            Limits(**limits)


def test_as_many_values_as_the_limits_allow_are_learned_and_answered() -> None:
    """Naive Bayes notes which of them it has met; its room must be as large as the largest code."""
    many = 65_534
    learner = ID5R(
        options=CoreOptions(answer="adaptive", window=3), limits=Limits(max_values_per_attribute=many)
    )
    for number in range(many):
        row, label = learner.codes.encode({"id": f"v{number}", "b": "xy"[number % 2]}, "pq"[number % 2])[:2]
        if number < 50 or number > many - 10 or number in (52_500, 53_000):
            learner.learn(row, label)
    assert max(row) == many
    assert learner.tree.check() is None
    assert learner.predict_one({"id": f"v{many - 1}", "b": "y"}).answer in ("p", "q")
    assert learner.predict_one({"id": "never met", "b": "y"}).answer in ("p", "q")
