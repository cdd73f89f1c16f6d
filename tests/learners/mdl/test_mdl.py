"""The incremental MDL tree: the same tree on every way, changes, windows, numbers and bad input."""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from types import ModuleType

import pytest
from hypothesis import given, settings

from learners.change import ChangeKind
from learners.learner import FLAG_MISSING
from learners.mdl import bits as lengths
from learners.mdl.classes import TwoClassesError
from learners.mdl.learner import MDL
from learners.mdl.options import CODES, MDLOptions
from learners.outline import digest, size
from learners.registry import make_learner
from learners.schema import Attribute, AttributeType, Instance, InstanceError, Misfit, Schema
from stream.config import load
from stream.errors import ConfigError
from tests.learners.mdl.streams import MANY, changing, made, stream_of
from tests.strategies import Case, cases

COMPILED = ("records", "judging", "growing", "tree")


# ---- its laws


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
