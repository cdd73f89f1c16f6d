"""All streams over two binary attributes and two classes, up to six instances: no sampling, no luck."""

import json
from collections import Counter
from functools import cache
from itertools import product

import pytest

from learners.codes import Codes
from learners.ops import OpCounts
from learners.outline import to_json
from learners.registry import EXACT, LEARNERS
from learners.schema import Instance
from learners.utgoff.id5r import downdate, update
from learners.utgoff.node import Node, collect, value_of
from learners.utgoff.reading import Reading
from learners.utgoff.selection import Selection
from learners.vocabulary import Row
from tests.oracles.id3 import Rules, Tree, id3
from tests.strategies import make_bare

LONGEST = 6
WORLD = [Instance({"a": a, "b": b}, label) for a, b, label in product("01", "01", "+-")]
CODES = Codes()
ENCODED = [CODES.encode(*instance)[:2] for instance in WORLD]
NAMED = {code: (dict(one.values), str(one.label)) for code, one in zip(ENCODED, WORLD, strict=True)}
READING = Reading(CODES, Selection())

Form = tuple[object, ...]
Bag = frozenset[tuple[tuple[Row, int], int]]


@cache
def tree_of(bag: Bag) -> Tree | None:
    """Return ID3's tree of some instances, each with how often it is there."""
    return id3([NAMED[code] for code, times in bag for _ in range(times)], ["a", "b"], Rules())  # type: ignore[misc]


def bag_of(root: Node) -> Bag:
    return frozenset(collect(root))


def form_of(node: Node) -> Form:
    """Return all that decides what an update makes of a node: from one form come equal trees.

    The order in which branches and instances are kept is left out: a tree does not depend on it.
    """
    branches = frozenset((value, form_of(branch)) for value, branch in node.branches.items())
    return node.test, node.counts is None, frozenset(node.instances.items()), branches


def copy_of(node: Node) -> Node:
    twin = Node(node.attributes)
    twin.classes, twin.instances, twin.test = dict(node.classes), dict(node.instances), node.test
    if node.counts is not None:
        twin.counts = {a: {v: dict(t) for v, t in tallies.items()} for a, tallies in node.counts.items()}
    twin.branches = {value: copy_of(branch) for value, branch in node.branches.items()}
    return twin


def check_counts(node: Node) -> None:
    """Assert that every node's counts are those of the instances below it."""
    there = dict(collect(node))
    classes: Counter[int] = Counter()
    for (_, label), times in there.items():
        classes[label] += times
    assert node.classes == dict(classes)
    for attribute, tallies in (node.counts or {}).items():
        counted: dict[int, dict[int, int]] = {}
        for (row, label), times in there.items():
            tally = counted.setdefault(value_of(row, attribute), {})
            tally[label] = tally.get(label, 0) + times
        assert tallies == counted
    for branch in node.branches.values():
        check_counts(branch)


def check(root: Node, bag: Bag) -> None:
    assert bag_of(root) == bag
    check_counts(root)
    assert json.loads(to_json(READING.outline(copy_of(root)))) == tree_of(bag)


def test_every_stream_gives_id3s_tree_and_every_instance_can_be_forgotten() -> None:
    # Streams that lead to nodes of the same form go on alike and are followed together; `streams` counts
    # them, so that none is lost.
    ops, selection = OpCounts(), Selection()
    root = Node((0, 1))
    level: dict[Form, tuple[Node, int]] = {form_of(root): (root, 1)}
    for length in range(1, LONGEST + 1):
        following: dict[Form, tuple[Node, int]] = {}
        for before, streams in level.values():
            for row, label in ENCODED:
                root = copy_of(before)
                update(root, row, label, selection, ops)
                form = form_of(root)
                if form not in following:
                    check(root, frozenset((Counter(dict(bag_of(before))) + Counter([(row, label)])).items()))
                known, others = following.get(form, (root, 0))
                following[form] = known, others + streams
        assert sum(streams for _, streams in following.values()) == len(WORLD) ** length
        for before, _ in following.values():
            for code in dict(collect(before)):
                root = copy_of(before)
                downdate(root, *code, selection, ops)
                check(root, frozenset((Counter(dict(bag_of(before))) - Counter([code])).items()))
        level = following


@pytest.mark.parametrize("name", sorted(EXACT))
def test_every_short_stream_gives_id3s_tree_through_snapshots(name: str) -> None:
    learner_type = LEARNERS[name]
    level = [(make_bare(name).snapshot(), Counter[tuple[Row, int]]())]
    for length in range(1, 5):
        following = []
        for snapshot, bag in level:
            for instance, code in zip(WORLD, ENCODED, strict=True):
                learner = learner_type.restore(snapshot)
                learner.learn_one(instance)
                grown = bag + Counter([code])
                assert json.loads(to_json(learner.outline())) == tree_of(frozenset(grown.items()))
                following.append((learner.snapshot(), grown))
        assert len(following) == len(WORLD) ** length
        level = following
