"""The incremental MDL tree: the paper's numbers, its own laws, numbers, windows, and bad input."""

import importlib.util
import json
import math
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import ModuleType

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lab.experiments.mdl_worked import NAMES, bits, days, extensions, learner_of
from learners.change import ChangeKind
from learners.learner import FLAG_MISSING
from learners.mdl import bits as lengths
from learners.mdl.bits import ONE, additive, length
from learners.mdl.classes import TwoClassesError
from learners.mdl.judging import SLACK
from learners.mdl.learner import MDL
from learners.mdl.options import CODES, MDLOptions
from learners.mdl.records import Node
from learners.mdl.tree import Tree
from learners.outline import digest, size
from learners.registry import make_learner
from learners.schema import Attribute, AttributeType, Instance, InstanceError, Misfit, Schema
from stream.config import load
from stream.errors import ConfigError
from tests.paths import REPOSITORY
from tests.strategies import Case, cases

GOLDEN = json.loads((REPOSITORY / "tests" / "golden" / "mdl.json").read_text(encoding="utf-8"))
MANY = 200 if settings.get_current_profile_name() == "laws" else 15
COMPILED = ("records", "judging", "growing", "tree")
TRACES = {
    "full": ("paper", False),
    "data": ("paper-data", False),
    "data_deep=True": ("paper-data", True),
    "root": ("paper-root", False),
    "kt": ("additive", False),
    "kt_deep=True": ("additive", True),
}


def made(case: Case, **options: object) -> MDL:
    known = {name: value for name, value in case.settings.items() if name in ("tie_order", "window")}
    learner = make_learner("mdl", Schema(), {**known, **options})
    assert isinstance(learner, MDL)
    return learner


def in_a_line(learner: MDL, node: Node) -> str:
    """Return a tree in the words of the golden file: values by text, counts of N and P."""
    if node.test < 0:
        named = [learner.codes.class_code(name) for name in "NP"]
        counts = [node.counts[code] if code >= 0 else 0 for code in named]
        return f"{named.index(node.label)}{counts}"
    every = sorted(
        {str(day.values[learner.codes.attributes[node.test]]) for day in days()},
    )
    told = sorted(
        (every.index(learner.codes.values[node.test][value]), below) for value, below in node.branches.items()
    )
    branches = ", ".join(f"{place}:{in_a_line(learner, below)}" for place, below in told)
    return f"{learner.codes.attributes[node.test]}({branches})"


# ---- the paper's numbers


def test_every_length_is_that_of_the_formula() -> None:
    for arguments, value in GOLDEN["L"].items():
        n, k, b = map(int, arguments.strip("()").split(","))
        assert length(n, k, b) == pytest.approx(value, abs=1e-12)


def test_the_leaf_and_its_splits_have_the_bits_of_the_golden_file() -> None:
    learner = learner_of("paper")
    for number, day in enumerate(days()[:5], 1):
        learner.learn_one(day)
        assert bits(learner) == pytest.approx(GOLDEN["leaves"][number - 1], abs=1e-6)
        for name, value in GOLDEN.get(f"splits_{number}", {}).items():
            assert extensions(learner)[name] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("trace", TRACES)
@pytest.mark.parametrize("restructure", ["pull-up", "rebuild"])
def test_the_weather_is_learned_step_by_step_as_in_the_golden_file(trace: str, restructure: str) -> None:
    code, deep = TRACES[trace]
    declared = Schema(tuple(Attribute(name) for name in NAMES), ("N", "P"))
    options = MDLOptions(code=code, deep=deep, retry=1.0, restructure=restructure, tree_weight=1.0)  # type: ignore[arg-type]
    learner = MDL(declared, options)
    for day, (score, tree) in zip(days(), GOLDEN["traces"][trace], strict=True):
        learner.learn_one(day)
        assert learner.tree.root is not None
        assert sum(learner.description_bits) == pytest.approx(score, abs=2e-6)
        assert in_a_line(learner, learner.tree.root) == tree


def test_parity_of_two_needs_deep() -> None:
    told = GOLDEN["xor4_data_bits"]
    for deep, value in ((False, told["leaf"]), (True, told["two_splits"])):
        learner = learner_of("paper-data", deep=deep)
        for a, b in ("00", "11", "01", "10"):
            learner.learn_one(Instance({"a": a, "b": b}, "x" if a == b else "y"))
        assert bits(learner) == pytest.approx(value, abs=1e-6)


def test_the_smallest_split_whose_leaves_answer_the_same_is_shown_as_a_leaf() -> None:
    faulty = GOLDEN["smallest_faulty_split"]
    learner = learner_of("paper-data")
    stream = [
        Instance({"a": side}, label)
        for side in ("left", "right")
        for label, count in zip("xy", faulty[side], strict=True)
        for _ in range(count)
    ]
    for instance in stream:
        learner.learn_one(instance)
    root = learner.tree.root
    assert root is not None
    assert (root.test, root.decisions) == (0, 1)
    assert size(learner.outline()).leaves == 1


@given(st.lists(st.integers(0, 12), min_size=2, max_size=5).filter(any))
def test_a_leaf_of_the_additive_code_has_the_bits_of_its_records_one_by_one(counts: list[int]) -> None:
    classes = tuple(map(str, range(len(counts))))
    learner = MDL(Schema(classes=classes))
    for name, count in zip(classes, counts, strict=True):
        for _ in range(count):
            learner.learn_one(Instance({}, name))
    tree, exceptions = learner.description_bits
    assert tree == 1
    assert exceptions == pytest.approx(additive(counts), abs=1e-6)


def test_the_table_of_logarithms_is_right_far_out() -> None:
    table = lengths.gammas(4_000)
    for place in (1, 2, 3, 100, 3_999):
        assert table[place] / ONE == pytest.approx(math.lgamma(place / 2) / math.log(2), abs=1e-6)


# ---- its laws


class Watched(Tree):
    """A tree that notes the bits before and after each restructuring and pruning."""

    def restructure(self, path: list[Node]) -> bool:
        return self._watch(super().restructure, path)

    def prune(self, path: list[Node]) -> bool:
        return self._watch(super().prune, path)

    def _watch(self, do: object, path: list[Node]) -> bool:
        assert self.root is not None
        before = self.bits(self.root)
        done = bool(do(path))  # type: ignore[operator]
        WATCHED.append((before, self.bits(self.root), done))
        return done


WATCHED: list[tuple[int, int, bool]] = []


def watch(learner: MDL) -> MDL:
    """Let a learner that has learned nothing have a watched tree."""
    options = learner.options
    learner.tree = Watched(
        CODES[options.code],
        options.tree_weight,
        options.deep,
        options.retry,
        options.restructure == "pull-up",
    )
    learner._lay_out()
    return learner


@pytest.mark.parametrize("code", ["additive", "paper", "paper-data", "paper-root"])
@settings(deadline=None, max_examples=MANY)
@given(cases(max_size=30))
def test_the_description_never_gets_longer_by_restructuring_or_pruning(code: str, case: Case) -> None:
    WATCHED.clear()
    learner = watch(made(case, code=code, retry=1.0))
    for instance in case.stream:
        try:
            learner.learn_one(instance)
        except InstanceError:
            continue
    assert WATCHED
    assert all(after <= before + SLACK for before, after, _ in WATCHED)
    assert all(after == before for before, after, done in WATCHED if not done)


@pytest.mark.parametrize("code", ["additive", "paper-data", "paper-root"])
def test_nor_does_it_where_noise_and_change_make_many_tests_worth_a_try(code: str) -> None:
    WATCHED.clear()
    for seed in range(12):
        learner = watch(MDL(options=MDLOptions(code=code, retry=1.0)))  # type: ignore[arg-type]
        for instance in changing(Random(seed), 200):
            learner.learn_one(instance)
    assert all(after <= before + SLACK for before, after, _ in WATCHED)
    assert all(after == before for before, after, done in WATCHED if not done)
    assert sum(done for _, _, done in WATCHED) > 10


def changing(chance: Random, records: int, more: int = 0) -> Iterator[Instance]:
    """Yield a stream whose class is told by one attribute of five, then by another, and sometimes by none.

    So many more values than three come with time.
    """
    told_by = chance.sample("abcde", 4)
    for n in range(records):
        values = {name: str(chance.randrange(3 + more * n // records)) for name in "abcde"}
        teller = told_by[n * len(told_by) // records]
        told = chance.random() < 0.85
        yield Instance(values, "yes" if (values[teller] == "1") == told else "no")


class Doubting(Tree):
    """A tree that judges all tests at every record, because no lead lasts."""

    def growth(self, branch: Node, label: int) -> int:
        return 1 << 60


def doubting(learner: MDL) -> MDL:
    """Let a learner that has learned nothing judge all tests at every record."""
    options = learner.options
    learner.tree = Doubting(CODES[options.code], options.tree_weight, options.deep, options.retry, True)
    learner._lay_out()
    return learner


@pytest.mark.parametrize("window", [None, 40])
def test_a_test_that_leads_need_not_be_judged_at_every_record(window: int | None) -> None:
    options = MDLOptions(window=window, retry=1.0)
    for seed in range(24):
        sure, unsure = MDL(options=options), doubting(MDL(options=options))
        for instance in changing(Random(seed), 300, seed % 9):
            assert sure.learn_one(instance) == unsure.learn_one(instance)
            assert sure.description_bits == unsure.description_bits
        assert sure.ops.e_scores < unsure.ops.e_scores


@settings(deadline=None, max_examples=MANY)
@given(cases(max_size=30))
def test_nor_where_values_attributes_and_classes_are_new_and_old_records_go(case: Case) -> None:
    sure, unsure = made(case, retry=1.0), doubting(made(case, retry=1.0))
    for instance in case.stream:
        assert sure.learn_one(instance) == unsure.learn_one(instance)
        assert sure.description_bits == unsure.description_bits


@pytest.mark.parametrize("seed", range(6))
def test_the_same_stream_gives_the_same_tree_and_bits_again(seed: int) -> None:
    def life() -> Iterator[tuple[str, tuple[float, float]]]:
        learner = MDL()
        for instance in changing(Random(seed), 400):
            learner.learn_one(instance)
            yield digest(learner.outline()), learner.description_bits

    first = list(life())
    kept = [object() for _ in range(seed * 977 + 1)]  # so that nothing lies where it lay
    assert list(life()) == first
    assert len({one for one, _ in first}) > 3
    del kept


@pytest.mark.parametrize("code", ["additive", "paper", "paper-data"])
@settings(deadline=None, max_examples=MANY)
@given(cases(max_size=30))
def test_pulling_up_gives_the_tree_that_building_anew_gives(code: str, case: Case) -> None:
    pulled = made(case, code=code, retry=1.0, restructure="pull-up")
    rebuilt = made(case, code=code, retry=1.0, restructure="rebuild")
    for instance in case.stream:
        for learner in (pulled, rebuilt):
            try:
                learner.learn_one(instance)
            except InstanceError:
                continue
        assert pulled.outline() == rebuilt.outline()
        assert pulled.description_bits == rebuilt.description_bits


@settings(deadline=None, max_examples=MANY)
@given(cases(max_size=30))
def test_the_bits_kept_in_the_nodes_are_those_of_the_records(case: Case) -> None:
    learner, again = made(case), made(case)
    for instance in case.stream:
        learner.learn_one(instance)
        again.learn_one(instance)
        kept = learner.description_bits
        assert kept == again.description_bits
        learner._lay_out()  # which counts every node again
        assert kept == learner.description_bits


@contextmanager
def uncompiled() -> Iterator[ModuleType]:
    """Have the tree's modules from their sources."""
    names = [f"learners.mdl.{name}" for name in COMPILED]
    saved = {name: sys.modules.pop(name) for name in names}
    folder = Path(lengths.__file__).parent
    try:
        for name in names:
            file = folder / f"{name.rpartition('.')[2]}.py"
            spec = importlib.util.spec_from_file_location(name, file)
            assert spec is not None
            assert spec.loader is not None
            sys.modules[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules[name])
        yield sys.modules[names[-1]]
    finally:
        sys.modules.update(saved)


@pytest.mark.parametrize("deep", [False, True])
@settings(deadline=None, max_examples=MANY)
@given(cases(max_size=20))
def test_the_tree_is_the_same_uncompiled(deep: bool, case: Case) -> None:
    compiled, plain = made(case, deep=deep), made(case, deep=deep)
    with uncompiled() as module:
        plain.tree = module.Tree(
            CODES["additive"], plain.options.tree_weight, deep, plain.options.retry, True
        )
    plain._lay_out()
    for instance in case.stream:
        assert compiled.learn_one(instance) == plain.learn_one(instance)
        assert compiled.description_bits == plain.description_bits
        assert compiled.ops == plain.ops
    assert compiled.snapshot() == plain.snapshot()


def stream_of(records: int, noise: int) -> list[Instance]:
    """Return a stream whose class is told by two of eight attributes, but for some records."""
    told = []
    for n in range(records):
        # Numbers that are far from regular and the same everywhere.
        mixed = (n * 2654435761) % 2**32 ^ (n * 40503 % 2**16) << 7
        values = {f"a{place}": str(mixed >> 3 * place & 1) for place in range(8)}
        label = (values["a0"] == "1" and values["a3"] == "1") != (noise > 0 and n % noise == 0)
        told.append(Instance(values, "yes" if label else "no"))
    return told


def test_the_cost_of_a_record_stays_flat() -> None:
    learner = MDL()
    costs = []
    stream = stream_of(4_000, 17)
    for start in range(0, len(stream), 1_000):
        before = learner.ops
        for instance in stream[start : start + 1_000]:
            learner.learn_one(instance)
        costs.append(learner.ops - before)
    assert costs[-1].instance_count_additions < 3 * costs[1].instance_count_additions
    assert costs[-1].e_scores < 3 * costs[1].e_scores
    assert size(learner.outline()).leaves <= 4


# ---- in the stream


def test_a_change_names_the_bits_it_saved() -> None:
    learner = MDL()
    grown = [change for one in stream_of(60, 0) for change in learner.learn_one(one)]
    kinds = {change.kind: change for change in grown}
    assert kinds[ChangeKind.PLANTED].saved is None
    change = kinds[ChangeKind.GREW]
    assert change.saved is not None
    assert change.saved > 0
    assert change.score == pytest.approx(change.saved)


def test_a_window_bounds_what_is_kept_and_the_tree_follows() -> None:
    learner = MDL(options=MDLOptions(window=100))
    old = stream_of(300, 0)
    for values, label in old:
        learner.learn_one(Instance(values, label))
    for values, label in old:
        learner.learn_one(Instance(values, "no" if label == "yes" else "yes"))
    assert learner.retained == 100
    assert sum(count for _, count in learner.predict_one({}).counts) <= 100
    assert all(learner.predict_one(one.values).answer != one.label for one in old[-50:])


def test_numbers_are_tested_with_a_threshold() -> None:
    learner = MDL(Schema((Attribute("x", AttributeType.NUMERIC),)))
    for n in range(200):
        x = n * 37 % 101
        learner.learn_one(Instance({"x": x}, "low" if x <= 40 else "high"))
    assert learner.predict_one({"x": 40}).answer == "low"
    assert learner.predict_one({"x": 43.5}).answer == "high"
    told = learner.predict_one({"x": None})
    assert told.answer == "high"
    assert told.flags == (FLAG_MISSING,)
    assert isinstance(told.path[0].at_most, float)


@pytest.mark.parametrize("code", ["paper", "paper-data", "paper-root"])
def test_a_third_class_is_refused_where_the_code_is_for_two(code: str) -> None:
    settings = {"code": code}
    with pytest.raises(TwoClassesError, match='Set code = "additive"'):
        make_learner("mdl", Schema(classes=("a", "b", "c")), settings)
    learner = make_learner("mdl", None, settings)
    for label in "ab":
        learner.learn_one(Instance({"x": label}, label))
    before = learner.snapshot()
    with pytest.raises(InstanceError, match='Set code = "additive"') as refused:
        learner.learn_one(Instance({"x": "new"}, "c"))
    assert (refused.value.misfit, refused.value.field) == (Misfit.TOO_MANY_CLASSES, "label")
    assert learner.snapshot() == before


def test_three_classes_for_a_code_of_two_are_an_error_of_the_configuration(tmp_path: Path) -> None:
    file = tmp_path / "espalier.toml"
    file.write_text(
        '[[agent]]\nname = "a"\ninput = "in"\nlearner = "mdl"\n'
        '[agent.options]\ncode = "paper"\n[agent.schema]\nclasses = ["a", "b", "c"]\n',
        encoding="utf-8",
    )
    with pytest.raises(ConfigError, match="the paper's code is for two classes, and 3 are declared"):
        load(file, {})
