"""Figures of the paper and worked examples, compared to the last count."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TypeVar

import msgspec
import pytest

from learners.codes import Codes
from learners.learner import Learner
from learners.ops import OpCounts
from learners.outline import Leaf, Outline, post_order, size
from learners.registry import EXACT
from learners.schema import Instance, Schema
from learners.utgoff.id3 import id3
from learners.utgoff.id5r import establish, settle_except, update
from learners.utgoff.node import Node, add_to, count, distribute, nodes_of, store, tabulate, value_of
from learners.utgoff.reading import Reading
from learners.utgoff.selection import Selection
from learners.vocabulary import Row
from tests.paths import REPOSITORY
from tests.strategies import make_bare

GOLDEN = REPOSITORY / "tests" / "golden"
T = TypeVar("T")


class Step(msgspec.Struct):
    instance: tuple[str, ...]
    nodes: int
    raw_nodes: int
    tree: object
    raw: object


class Section33(msgspec.Struct):
    attributes: tuple[str, ...]
    tie_order: tuple[str, ...]
    steps: tuple[Step, ...]


class Order(msgspec.Struct):
    tie_order: tuple[str, ...]
    instance_count_additions: int
    e_scores: int
    nodes: int
    tree: object


class Multiplexor(msgspec.Struct):
    attributes: tuple[str, ...]
    orders: tuple[Order, ...]


class Printed(msgspec.Struct):
    stream: tuple[str, ...]
    literal: object
    id3: object


class Table3(msgspec.Struct):
    attributes: tuple[str, ...]
    streams: tuple[Printed, ...]


class Weather(msgspec.Struct):
    attributes: tuple[str, ...]
    days: tuple[str, ...]
    nodes: int
    tree: object


def golden(name: str, form: type[T]) -> T:
    return msgspec.json.decode((GOLDEN / f"{name}.json").read_bytes(), type=form)


def instances(attributes: Iterable[str], lines: Iterable[Sequence[str]]) -> list[Instance]:
    """Return instances from lines of a label and values."""
    return [Instance(dict(zip(attributes, line[1:], strict=True)), line[0]) for line in lines]


def short(outline: Outline | None) -> object:
    """Return a tree as the golden files write it: {attribute: {value: subtree}}, a leaf as its answer."""
    assert outline is not None
    done: dict[int, object] = {}
    for node in post_order(outline):
        if isinstance(node, Leaf):
            done[id(node)] = node.answer
        else:
            done[id(node)] = {node.test.attribute: {value: done[id(child)] for value, child in node.branches}}
    return done[id(outline)]


def raw(node: Node, codes: Codes, above: tuple[int, ...] = ()) -> dict[str, object]:
    """Return a node in the paper's drawing: expanded with its counts as [+, -], or a list of instances."""
    names, texts = codes.attributes, codes.values
    if node.test is None or node.counts is None:
        left = [a for a in range(len(names)) if a not in above]
        instances = [{names[a]: texts[a][row[a]] for a in left} for row, _ in node.instances]
        return {"class": codes.classes[next(iter(node.classes))], "instances": instances}
    tallies = {
        names[a]: {
            texts[a][v]: [tally.get(codes.class_code(c), 0) for c in "+-"] for v, tally in table.items()
        }
        for a, table in node.counts.items()
    }
    below = (*above, node.test)
    branches = {texts[node.test][v]: raw(branch, codes, below) for v, branch in node.branches.items()}
    return {"test": names[node.test], "counts": tallies, "branches": branches}


# ---- section 3.3

EXAMPLE = golden("section33", Section33)
PEOPLE = instances(EXAMPLE.attributes, (step.instance for step in EXAMPLE.steps))


@pytest.mark.parametrize("name", sorted(EXACT))
def test_the_eight_people_of_section_3_3_give_the_papers_tree_after_each(name: str) -> None:
    learner = make_bare(name, tie_order=EXAMPLE.tie_order)
    for step, person in zip(EXAMPLE.steps, PEOPLE, strict=True):
        learner.learn_one(person)
        assert short(learner.outline()) == step.tree
        assert size(learner.outline()).nodes == step.nodes


def test_the_eight_people_give_every_count_and_node_that_section_3_3_draws() -> None:
    codes, selection = Codes(), Selection()
    root = Node(tuple(EXAMPLE.attributes.index(name) for name in EXAMPLE.tie_order))
    for step, person in zip(EXAMPLE.steps, PEOPLE, strict=True):
        update(root, *codes.encode(*person)[:2], selection, OpCounts())
        assert raw(root, codes) == step.raw
        assert sum(1 for _ in nodes_of(root)) == step.raw_nodes


# ---- Table 7, the row of ID3

TASK = golden("multiplexor", Multiplexor)
ALL_64 = [
    Instance(dict(zip(TASK.attributes, map(str, bits), strict=True)), str(bits[2 + 2 * bits[0] + bits[1]]))
    for bits in product((0, 1), repeat=6)
]


@pytest.mark.parametrize("order", TASK.orders, ids=["address bits first", "the paper's"])
def test_id3_on_the_multiplexor_costs_what_table_7_says(order: Order) -> None:
    codes, ops, selection = Codes(), OpCounts(), Selection()
    rows = [codes.encode(*instance)[:2] for instance in ALL_64]
    ranked = tuple(TASK.attributes.index(name) for name in order.tie_order)
    tree = Reading(codes, selection).outline(id3(((row, 1) for row in rows), ranked, selection, ops))
    assert ops.instance_count_additions == order.instance_count_additions
    assert ops.e_scores == order.e_scores
    assert size(tree).nodes == order.nodes
    assert short(tree) == order.tree


def test_the_golden_file_has_the_figures_that_table_7_prints() -> None:
    paper = TASK.orders[1]
    assert (paper.instance_count_additions, paper.e_scores, paper.nodes) == (1176, 66, 51)


@pytest.mark.parametrize("order", TASK.orders, ids=["address bits first", "the paper's"])
@pytest.mark.parametrize("name", sorted(EXACT))
def test_the_multiplexors_tree_is_learned_one_by_one(name: str, order: Order) -> None:
    learner = taught(make_bare(name, tie_order=order.tie_order), ALL_64)
    assert short(learner.outline()) == order.tree
    assert all(learner.predict_one(one.values).answer == one.label for one in ALL_64)


# ---- Table 3 as printed

TABLE_3 = golden("table3", Table3)


def literal_table_3(root: Node, row: Row, label: int, selection: Selection, ops: OpCounts) -> None:
    """Learn one instance by Table 3 as it is printed: step 3(c)ii only where the node's own test changed."""
    node = root
    while True:
        if node.counts is None:
            if not node.classes or (node.is_pure and label in node.classes) or not node.attributes:
                store(node, row, label)
                return
            tabulate(node, ops)
            distribute(node, min(node.attributes), ops)
        add_to(node.classes, label, 1)
        count(node, row, label, 1)
        node.touch()
        changed = establish(node, selection, ops)
        assert node.test is not None
        value = value_of(row, node.test)
        if changed:
            settle_except(node, value, selection, ops)
        left = tuple(attribute for attribute in node.attributes if attribute != node.test)
        node = node.branches.setdefault(value, Node(left))


@pytest.mark.parametrize("printed", TABLE_3.streams, ids=["seven", "six"])
def test_table_3_as_printed_is_not_id3_and_ours_is(printed: Printed) -> None:
    lines = [(label, *bits) for bits, label in (text.split() for text in printed.stream)]
    stream = instances(TABLE_3.attributes, lines)
    codes, selection, root = Codes(), Selection(), Node((0, 1, 2, 3))
    for instance in stream:
        literal_table_3(root, *codes.encode(*instance)[:2], selection, OpCounts())
    assert short(Reading(codes, selection).outline(root)) == printed.literal
    assert printed.literal != printed.id3
    for name in EXACT:
        assert short(taught(make_bare(name), stream).outline()) == printed.id3


def taught(learner: Learner, stream: Iterable[Instance]) -> Learner:
    for instance in stream:
        learner.learn_one(instance)
    return learner


# ---- the weather, contradictions


@pytest.mark.parametrize("name", sorted(EXACT))
def test_the_saturday_mornings_give_quinlans_tree(name: str) -> None:
    weather = golden("weather", Weather)
    days = instances(weather.attributes, (day.split() for day in weather.days))
    learner = taught(make_bare(name), days)
    assert short(learner.outline()) == weather.tree
    assert size(learner.outline()).nodes == weather.nodes


@pytest.mark.parametrize("name", ["id5", *sorted(EXACT)])
@pytest.mark.parametrize(
    ("labels", "classes", "answer"),
    [
        ("bbaa", (), "a"),  # a tie: the smallest name, never the first to appear
        ("bba", (), "b"),
        ("ab", (), "a"),
        ("ba", (), "a"),
        ("ab", ("b", "a"), "b"),  # a tie: the order in which the classes are declared
        ("cb", ("c",), "c"),  # a declared class goes before one that is not
    ],
)
def test_a_contradiction_is_answered_by_the_majority(
    name: str, labels: str, classes: tuple[str, ...], answer: str
) -> None:
    stream = [Instance({"x": "0"}, label) for label in labels]
    learner = taught(make_bare(name, Schema(classes=classes)), stream)
    assert short(learner.outline()) == {"x": {"0": answer}}
    assert learner.predict_one({"x": "0"}).answer == answer
