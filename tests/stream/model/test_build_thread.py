"""Builds beside the answering: the same trees, in another thread."""

import threading

import pytest

from learners.rebuilt import periodic
from learners.rebuilt.naive_tree import NT
from learners.rebuilt.periodic import PeriodicRebuild
from learners.rebuilt.table import Table
from learners.rebuilt.trees import BatchTree
from learners.registry import make_learner
from learners.schema import Instance
from stream.model.build_thread import build_in_thread


def test_a_tree_is_built_in_a_thread_and_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(periodic, "SMALL", 20)
    threads: set[str] = set()
    grow = NT._grow

    def told(self: NT, table: Table) -> BatchTree:
        threads.add(threading.current_thread().name)
        return grow(self, table)

    monkeypatch.setattr(NT, "_grow", told)
    alone, helped = make_learner("nt"), make_learner("nt")
    build_in_thread(helped)
    for n in range(400):
        instance = Instance({"a": f"v{n % 3}", "b": f"v{n % 5}"}, f"c{n % 3 == n % 5}")
        assert alone.learn_one(instance) == helped.learn_one(instance)
    assert any(name.startswith("build") for name in threads)
    assert alone.snapshot() == helped.snapshot()


@pytest.mark.parametrize("train", ["all", "errors"])
def test_only_learners_that_build_are_helped(train: str) -> None:
    helped = make_learner("c45", settings={"train": train})
    build_in_thread(helped)
    build_in_thread(make_learner("id5r"))
    assert isinstance(helped, PeriodicRebuild)
    assert helped.background is not None
