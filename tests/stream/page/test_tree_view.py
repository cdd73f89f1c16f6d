"""The tree as a list of nodes, its changes in words, and its predictions."""

from itertools import islice

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.change import ChangeKind
from learners.outline import AttributeTest, Leaf, Outline, Split, size
from learners.registry import make_learner
from learners.schema import Instance
from stream.demo.generators import GENERATORS
from stream.page.tree_view import NodeView, in_words, nodes_of
from stream.page.what_if import answer
from stream.records.published import Change, NodeTest, PathStep
from tests.stream.page.garden import described

# ---- the drawing


def rebuilt(nodes: list[NodeView]) -> Outline | None:
    """The tree of a list of nodes."""
    built: dict[int, Outline] = {}
    for place, node in reversed(list(enumerate(nodes))):
        counts = tuple(sorted(node.counts.items()))
        if node.test is None:
            built[place] = Leaf(node.answer, counts)
        else:
            below = [(one.value, built[n]) for n, one in enumerate(nodes) if one.parent == place]
            test = AttributeTest(node.test.attribute, node.test.at_most)
            built[place] = Split(test, counts, tuple(sorted(below)))
    return built.get(0)


values = st.sampled_from(["x", "y", "?", "<b>"])
leaves = st.builds(Leaf, st.sampled_from(["P", "N", None]), st.just((("N", 1), ("P", 2))))
tests = st.builds(AttributeTest, st.sampled_from("abc"), st.sampled_from([None, 1.5]))


def split_of(test: AttributeTest, below: dict[str, Outline]) -> Split:
    return Split(test, (("P", 3),), tuple(sorted(below.items(), key=lambda pair: pair[0])))


outlines = st.recursive(
    leaves,
    lambda below: st.builds(split_of, tests, st.dictionaries(values, below, min_size=1, max_size=3)),
    max_leaves=20,
)


@given(outlines)
def test_the_list_of_nodes_is_the_tree(outline: Outline) -> None:
    nodes = nodes_of(outline)
    assert rebuilt(nodes) == outline
    assert len(nodes) == size(outline).nodes


@given(outlines, st.integers(1, 30))
def test_of_a_tree_too_large_to_be_sent_the_rest_is_counted(outline: Outline, most: int) -> None:
    nodes = nodes_of(outline, most)
    assert len(nodes) <= max(most, 1)
    assert len(nodes) + sum(node.hidden for node in nodes) == size(outline).nodes


def test_of_very_many_classes_most_are_counted_together() -> None:
    counts = tuple((f"c{n:03}", n) for n in range(1, 101))
    (node,) = nodes_of(Leaf("c100", counts))
    assert len(node.counts) == 12 and "c100" in node.counts
    assert sum(node.counts.values()) + node.others == sum(n for _, n in counts)


@pytest.mark.parametrize("kind", list(ChangeKind))
def test_every_kind_of_change_is_put_into_words(kind: ChangeKind) -> None:
    subtree = msgspec.Raw(b'{"answer": "yes", "counts": {}}')
    change = Change(kind, (PathStep("a", "x"),), NodeTest("old"), NodeTest("new", 1.5), None, None, subtree)
    if kind is ChangeKind.RETIRED:
        change = msgspec.structs.replace(change, attribute="user id")
    words = in_words(change)
    assert ("user id" in words) == (kind is ChangeKind.RETIRED)
    assert "None" not in words and "UNSET" not in words
    assert ("new <= 1.5" in words) == (kind in ("grew", "pulled_up", "replaced"))
    assert ("yes" in words) == (kind in ("folded", "relabelled"))


# ---- answers


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("name", ["id5r", "id4"])
def test_a_tree_that_is_only_looked_at_answers_as_its_learner(generator: str, name: str) -> None:
    learner = make_learner(name)
    stream = map(described, GENERATORS[generator](1))
    for one, label in islice(stream, 300):
        learner.learn_one(Instance(one, label))
    nodes = nodes_of(learner.outline())
    for one, _ in islice(map(described, GENERATORS[generator](2)), 200):
        said, asked = answer(nodes, one), learner.predict_one(one)
        if asked.flags and "missing" in asked.flags:
            continue
        assert said.answer == asked.answer
        assert [step.attribute for step in said.path] == [step.attribute for step in asked.path]
        assert set(said.flags) == set(asked.flags)
        assert nodes[said.places[-1]].counts == dict(asked.counts)


@pytest.mark.parametrize(
    ("value", "branch", "flags"),
    [
        (41.5, "low", ()),
        ("41.5", "low", ()),
        (42, "high", ()),
        ("1e3", "high", ()),
        (None, None, ("missing",)),
        ("", None, ("missing",)),
        ("old", None, ("missing",)),
        ("nan", None, ("missing",)),
    ],
)
def test_a_number_goes_by_its_threshold(value: object, branch: str | None, flags: tuple[str, ...]) -> None:
    outline = Split(
        AttributeTest("age", 41.5),
        (("high", 1), ("low", 2)),
        (("false", Leaf("high", ())), ("true", Leaf("low", ()))),
    )
    said = answer(nodes_of(outline), {"age": value})  # type: ignore[dict-item]
    assert said.flags == flags
    assert said.answer == (branch or "low"), "the majority where there is no value"
