"""No change makes the description longer, and no test need be judged at every record."""

from random import Random

import pytest
from hypothesis import given, settings

from learners.mdl.judging import SLACK
from learners.mdl.learner import MDL
from learners.mdl.options import CODES, MDLOptions
from learners.mdl.records import Node
from learners.mdl.tree import Tree
from learners.schema import InstanceError
from tests.learners.mdl.streams import MANY, changing, made
from tests.strategies import Case, cases


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
