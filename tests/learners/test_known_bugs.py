"""Bugs that are known and not mended: each test says what should be, and fails the run once it is so.

Whoever mends one takes its mark away, and moves the test to the file of its subject.
"""

import sys

import pytest

from learners import make_learner
from learners.change import ChangeKind, TreeChange, apply
from learners.checks import laws_of
from learners.codes import Codes
from learners.outline import AttributeTest, Leaf, Split, from_dict
from learners.schema import Instance, InstanceError
from learners.utgoff.id5r import ID5R
from tests.oracle import Batch, Rules
from tests.strategies import make_bare


def bug(reason: str, *raises: type[BaseException]) -> pytest.MarkDecorator:
    return pytest.mark.xfail(reason=reason, strict=True, raises=raises or AssertionError)


def of(names: str, *lines: str) -> list[Instance]:
    """Return instances from lines of values and a label."""
    return [Instance(dict(zip(names, line.split()[0], strict=True)), line.split()[1]) for line in lines]


@bug("a restored learner keeps instances in another order, and the costs of Table 4 depend on it")
def test_what_is_learned_after_a_restart_costs_what_it_would_have_cost() -> None:
    law = dict(laws_of(ID5R))["restored_learners_go_on_alike"]
    stream = of("abcd", "rrrr yes", "rbrr yes", "rrrr yes", "rrrb no", "rrrr yes", "rrgr no")
    law(lambda: make_learner("id5r-reference", None, {"significance": 0.5}), stream)


@bug('the instance is compared as it was given, not with the values that "most_common" fills in')
def test_the_smaller_tree_is_that_of_the_instances_as_they_are_stored() -> None:
    chosen = {"missing": "most_common", "on_contradiction": "smaller"}
    learner, batch = make_learner("id5r-reference", None, chosen), Batch(Rules(), **chosen)  # type: ignore[arg-type]
    for values, label in (({}, "perhaps"), ({"colour": "red"}, "yes"), ({}, "no")):
        learner.learn_one(Instance(values, label))
        batch.learn(values, label)
    assert learner.predict_one({"colour": "red"}).counts == (("no", 1), ("yes", 1))
    assert batch.tree() is not None


@bug('the error names "a new attribute" and not which')
def test_a_new_attribute_without_a_value_is_named() -> None:
    with pytest.raises(InstanceError) as caught:
        Codes(reject_missing=True).encode({"a": None}, "p")
    assert caught.value.field == "a"


@bug("text that cannot be encoded is learned, and no snapshot can be taken ever after", UnicodeEncodeError)
@pytest.mark.parametrize(
    "instance",
    [Instance({"a": "\ud800"}, "p"), Instance({"\ud800": "x"}, "p"), Instance({"a": "x"}, "\ud800")],
    ids=["value", "name", "label"],
)
def test_text_that_cannot_be_encoded_is_refused(instance: Instance) -> None:
    learner = make_bare("id5r-reference")
    try:
        learner.learn_one(instance)
    except InstanceError:
        return
    learner.snapshot()


@bug("pull_up and settle call themselves once a level; the learner is left half changed", RecursionError)
@pytest.mark.parametrize("name", ["id5", "id5r-reference"])
def test_as_many_attributes_as_the_limits_allow_are_learned(name: str) -> None:
    learner = make_bare(name)
    many = Limits().max_attributes
    base = {f"a{place}": "0" for place in range(many)}
    last = {**base, f"a{many - 1}": "1"}
    for values, label in (
        (base, "x"),
        (base, "y"),
        (last, "x"),
        (last, "x"),
        ({**base, f"a{many // 2}": "1"}, "y"),
    ):
        learner.learn_one(Instance(values, label))


@bug("KeyError instead of the ValueError that apply promises", KeyError)
def test_a_branch_that_withers_must_be_there() -> None:
    test = AttributeTest("a")
    change = TreeChange(ChangeKind.WITHERED, ((test, "v"),), None, None, None)
    with pytest.raises(ValueError, match="A change was missed"):
        apply(Split(test, (), (("u", Leaf("x", ())),)), change)


@bug("KeyError or TypeError instead of the ValueError that from_dict promises", KeyError, TypeError)
@pytest.mark.parametrize(
    "data",
    [
        {"test": {"attribute": "a"}},
        {"test": 5, "branches": {}},
        {"test": {"attribute": "a", "x": 1}, "branches": {}},
    ],
)
def test_half_a_node_is_no_tree(data: object) -> None:
    with pytest.raises(ValueError, match="not a node"):
        from_dict(data)
