"""The naive tree and C4.5 in the stream: which tree is there when, what it costs, and what is kept."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
import pytest

from learners.laws import laws_of
from learners.outline import digest, size
from learners.rebuilt import periodic
from learners.rebuilt.periodic import Job, PeriodicRebuild
from learners.rebuilt.table import Table
from learners.rebuilt.trees import BatchC45, BatchNaiveTree, BatchTree
from learners.registry import make_learner
from learners.schema import Attribute, AttributeType, Instance, Schema

NAMES = ("nt", "c45")
GROW: dict[str, Callable[[Table], BatchTree]] = {"nt": BatchNaiveTree().grow, "c45": BatchC45().grow}


def made(name: str, **settings: object) -> PeriodicRebuild:
    learner = make_learner(name, None, settings)
    assert isinstance(learner, PeriodicRebuild)
    return learner


def noisy(count: int, seed: int = 1) -> list[Instance]:
    """Records of four nominal attributes; the class is that of two of them, with noise."""
    rng = np.random.default_rng(seed)
    rows = rng.integers(0, 3, (count, 4))
    labels = (rows[:, 0] == rows[:, 1]) ^ (rng.random(count) < 0.1)
    return [
        Instance({f"a{a}": f"v{v}" for a, v in enumerate(row.tolist())}, "yes" if label else "no")
        for row, label in zip(rows, labels.tolist(), strict=True)
    ]


def table_of(learner: PeriodicRebuild, instances: list[Instance]) -> Table:
    """Return what a batch learner is to be given, by another way than the learner's."""
    classes = sorted({str(one.label) for one in instances})
    codes = [
        [learner.codes.values[a].index(str(v)) for a, v in enumerate(one.values.values())]
        for one in instances
    ]
    x = np.array(codes, dtype=float) - 1
    labels = [classes.index(str(one.label)) for one in instances]
    return Table.of(x, labels, len(classes), (x.max(axis=0) + 1).astype(int).tolist())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("window", [None, 150])
def test_a_tree_is_the_batch_tree_of_what_was_kept_when_it_was_begun(name: str, window: int | None) -> None:
    learner = made(name, rebuild_every=100, **({} if window is None else {"window": window}))
    stream = noisy(500)
    swaps = 0
    for place, instance in enumerate(stream):
        before = learner.ops.rebuilds
        learner.learn_one(instance)
        if learner.ops.rebuilds > before:
            swaps += 1
            kept = stream[: place + 1][-(window or len(stream)) :]
            batch = GROW[name](table_of(learner, kept))
            outline = learner.outline()
            assert size(outline).leaves == int(((batch.attribute < 0) & (batch.totals > 0)).sum())
            answers = [learner.predict_one(one.values).answer for one in kept]
            classes = sorted({str(one.label) for one in kept})
            assert answers == [classes[label] for label in batch.predict(table_of(learner, kept).x)]
    assert swaps == 5


@pytest.mark.parametrize("name", NAMES)
def test_laws_hold_while_a_tree_is_being_built(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(periodic, "SMALL", 0)
    monkeypatch.setattr(periodic, "AHEAD", 2)
    make = partial(made, name, rebuild_every=6, window=9, min_records=1)
    stream = noisy(30)
    learner = make()
    pending = 0
    for instance in stream:
        learner.learn_one(instance)
        pending += learner._building > 0
    assert pending > 10
    for title, law in laws_of(type(learner)):
        if title != "damaged_snapshots_are_refused":
            law(make, stream)


@pytest.mark.parametrize("name", NAMES)
def test_a_build_in_the_background_gives_the_same_tree(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(periodic, "SMALL", 50)
    alone, helped = made(name, window=200), made(name, window=200)
    with ThreadPoolExecutor(1) as pool:
        begun: list[Job] = []

        def background(job: Job) -> Job:
            begun.append(job)
            return pool.submit(job).result

        helped.background = background
        for instance in noisy(1_500):
            assert digest(alone.outline()) == digest(helped.outline())
            assert alone.learn_one(instance) == helped.learn_one(instance)
    assert len(begun) == helped.ops.rebuilds + (helped._building > 0)
    assert alone.snapshot() == helped.snapshot()


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("share", [0.1, 0.5])
def test_building_has_its_share_of_the_work(name: str, share: float) -> None:
    learner = made(name, rebuild_share=share)
    stream = noisy(8_000)
    for instance in stream:
        learner.learn_one(instance)
    building = learner.ops.instance_count_additions
    other = len(stream) * (periodic.RECORD_WORK + 4 * periodic.VALUE_WORK)
    # The first thousand records have more trees than their share.
    assert share / 4 < building / (building + other) < share * 1.3 + 0.1


@pytest.mark.parametrize("name", NAMES)
def test_no_more_is_kept_than_allowed_and_a_swap_is_one_event(name: str) -> None:
    learner = made(name, max_instances=300, rebuild_every=80)
    stream = noisy(2_000)
    rows, labels = zip(*(learner.codes.encode(*one)[:2] for one in stream), strict=True)
    result = learner.learn_batch(np.array(rows, dtype=np.uint32), np.array(labels, dtype=np.int32))
    assert learner.retained <= 300 + 80
    assert len(result.changed) <= learner.ops.rebuilds == 25
    assert all(result.learned[place].spent.rebuilds == 1 for place in result.changed)  # type: ignore[union-attr]
    assert learner.ops.instances_stored - learner.ops.instances_forgotten <= 300 + 80


@pytest.mark.parametrize("name", NAMES)
def test_numbers_are_compared_with_a_threshold(name: str) -> None:
    schema = Schema((Attribute("n", AttributeType.NUMERIC), Attribute("s")))
    learner = make_learner(name, schema, {"rebuild_every": 1})
    for n in range(40):
        learner.learn_one(Instance({"n": n / 4, "s": "x"}, "low" if n < 20 else "high"))
    assert learner.predict_one({"n": 1.25, "s": "x"}).answer == "low"
    [step] = learner.predict_one({"n": 7.25, "s": "x"}).path
    assert (step.value, step.at_most) == ("false", 4.75)
    outline = learner.outline()
    assert outline is not None and outline.test.at_most == 4.75  # type: ignore[union-attr]


def test_the_outline_says_nothing_of_branches_without_records() -> None:
    learner = made("c45", rebuild_every=1, min_records=1, confidence="none", window=4)
    for value, label in (("old", "-"), ("a", "+"), ("a", "+"), ("b", "-"), ("b", "-")):
        learner.learn_one(Instance({"v": value}, label))
    outline = learner.outline()
    assert outline is not None and [value for value, _ in outline.branches] == ["a", "b"]  # type: ignore[union-attr]
    assert learner.predict_one({"v": "old"}).flags == ("unseen_value",)


@pytest.mark.parametrize("name", NAMES)
def test_absent_counts_are_zeros_and_give_the_tree_of_the_zeros_written_out(name: str) -> None:
    rng = np.random.default_rng(2)
    counts = rng.integers(0, 4, (300, 12)) * (rng.random((300, 12)) < 0.3)
    labels = np.where(counts[:, 0] + counts[:, 3] > 1, "sport", "news")
    written, left_out = (make_learner(name, None, {"absent": "zero", "rebuild_every": 50}) for _ in range(2))
    names = [f"word{place}" for place in range(12)]
    order = Instance(dict.fromkeys(names, 0), "news")
    for learner in (written, left_out):
        learner.learn_one(order)
    for row, label in zip(counts.tolist(), labels.tolist(), strict=True):
        whole = dict(zip(names, row, strict=True))
        written.learn_one(Instance(whole, label))
        left_out.learn_one(Instance({word: n for word, n in whole.items() if n}, label))
    assert digest(written.outline()) == digest(left_out.outline())
    assert size(written.outline()).leaves > 1
    assert left_out.predict_one({}) == written.predict_one(dict.fromkeys(names, 0))
    assert left_out.predict_one({}).answer == "news"


def test_an_absent_number_is_missing_and_no_zero_unless_asked_for() -> None:
    missing, zero = (
        made("c45", rebuild_every=1, confidence="none", absent=how) for how in ("missing", "zero")
    )
    for learner in (missing, zero):
        for number in range(60):
            learner.learn_one(Instance({"x": float(number % 2)}, "low" if number % 2 == 0 else "high"))
    assert zero.predict_one({}).probabilities == zero.predict_one({"x": 0.0}).probabilities
    assert missing.predict_one({}).probabilities == pytest.approx({"high": 0.5, "low": 0.5})


def test_wide_records_are_fewer() -> None:
    learner = made("nt", max_bytes=1_000_000, rebuild_every=1_000)
    row = {f"a{place}": "x" for place in range(400)}
    learned = [Instance({**row, "a0": f"v{n % 3}"}, f"c{n % 3}") for n in range(1_000)]
    for instance in learned:
        learner.learn_one(instance)
    assert learner.retained == 1_000_000 // (8 * 401)
