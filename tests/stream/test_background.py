"""Builds beside the answering: the same trees, in another thread."""

import threading

import pytest

from learners import make_learner
from learners.batch import rebuilding
from learners.batch.rebuilding import Rebuilding
from learners.batch.table import Table
from learners.batch.trees import BatchTree
from learners.hat import Hat
from learners.naive_tree import NT
from learners.schema import Instance
from stream.background import build_beside


def test_a_tree_is_built_in_a_thread_and_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rebuilding, "SMALL", 20)
    threads: set[str] = set()
    grow = NT._grow

    def told(self: NT, table: Table) -> BatchTree:
        threads.add(threading.current_thread().name)
        return grow(self, table)

    monkeypatch.setattr(NT, "_grow", told)
    alone, helped = make_learner("nt"), make_learner("nt")
    build_beside(helped)
    for n in range(400):
        instance = Instance({"a": f"v{n % 3}", "b": f"v{n % 5}"}, f"c{n % 3 == n % 5}")
        assert alone.learn_one(instance) == helped.learn_one(instance)
    assert any(name.startswith("build") for name in threads)
    assert alone.snapshot() == helped.snapshot()


def test_only_learners_that_build_are_helped_with_or_without_a_hat() -> None:
    hat = make_learner("c45", settings={"train": "errors"})
    build_beside(hat)
    build_beside(make_learner("id5r"))
    assert isinstance(hat, Hat)
    assert isinstance(hat.inner, Rebuilding)
    assert hat.inner.background is not None
