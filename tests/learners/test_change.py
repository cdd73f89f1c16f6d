"""Changes of a tree: found, applied, and folded."""

import json

import pytest
from hypothesis import given

from learners.change import ChangeKind, TreeChange, apply, diff, fold
from learners.outline import AttributeTest, Evidence, Leaf, Outline, Split, digest, from_dict, to_json, walk
from tests.strategies import outlines

A, B = AttributeTest("a"), AttributeTest("b")
X, Y = Leaf("x", (("x", 1),)), Leaf("y", (("y", 1),))


def split(test: AttributeTest, **branches: Outline) -> Split:
    return Split(test, (), tuple(sorted(branches.items())))


@given(outlines(), outlines())
def test_the_changes_lead_from_one_tree_to_the_other(old: Outline, new: Outline) -> None:
    changes = diff(old, new)
    assert digest(fold(changes, old)) == digest(new)
    assert bool(changes) == (digest(old) != digest(new))
    assert digest(fold(diff(None, new))) == digest(new)
    assert fold(diff(old, None), old) is None


@given(outlines(), outlines())
def test_the_changes_are_the_same_whether_digests_are_known_or_not(old: Outline, new: Outline) -> None:
    expected = diff(from_dict(json.loads(to_json(old))), from_dict(json.loads(to_json(new))))
    digest(old), digest(new)
    assert diff(old, new) == expected


@given(outlines())
def test_a_tree_does_not_differ_from_itself(outline: Outline) -> None:
    assert diff(outline, outline) == []
    assert diff(None, None) == []


@pytest.mark.parametrize(
    ("old", "new", "kind", "path"),
    [
        (None, X, ChangeKind.PLANTED, ()),
        (X, None, ChangeKind.CLEARED, ()),
        (X, split(A, u=X, v=Y), ChangeKind.GREW, ()),
        (split(A, u=X, v=Y), X, ChangeKind.FOLDED, ()),
        (X, Y, ChangeKind.RELABELLED, ()),
        (split(A, u=X), split(A, u=X, v=Y), ChangeKind.BRANCHED, ((A, "v"),)),
        (split(A, u=X, v=Y), split(A, u=X), ChangeKind.WITHERED, ((A, "v"),)),
        (split(A, u=X, v=Y), split(A, u=X, v=X), ChangeKind.RELABELLED, ((A, "v"),)),
        (split(A, u=X, v=Y), split(B, u=X, v=Y), ChangeKind.REPLACED, ()),
        (split(A, u=split(B, u=X)), split(A, u=split(A, u=X)), ChangeKind.REPLACED, ((A, "u"),)),
    ],
)
def test_each_kind_of_change_is_told_where_it_happened(
    old: Outline | None, new: Outline | None, kind: ChangeKind, path: tuple[tuple[AttributeTest, str], ...]
) -> None:
    (change,) = diff(old, new)
    assert (change.kind, change.path) == (kind, path)
    assert digest(apply(old, change)) == digest(new)


def test_a_learner_says_what_another_test_is_called() -> None:
    (change,) = diff(split(A, u=X), split(B, u=X), ChangeKind.PULLED_UP)
    assert (change.kind, change.old_test, change.new_test) == (ChangeKind.PULLED_UP, A, B)


def test_counts_alone_are_no_change() -> None:
    assert diff(split(A, u=X), split(A, u=Leaf("x", (("x", 7),)))) == []


def test_a_change_tells_the_score_and_the_margin_of_its_test() -> None:
    scored = Split(A, (), (("u", X),), Evidence(0.25, "b", 0.5))
    (grew,) = diff(X, scored)
    (folded,) = diff(scored, X)
    assert (grew.score, grew.margin) == (0.25, 0.5)
    assert (folded.score, folded.margin) == (None, None)


@pytest.mark.parametrize("tree", [None, X, split(B, u=X), split(A, v=X)])
def test_a_change_that_does_not_fit_is_refused(tree: Outline | None) -> None:
    change = TreeChange(ChangeKind.RELABELLED, ((A, "u"), (B, "v")), None, None, Y)
    with pytest.raises(ValueError, match="A change was missed"):
        apply(tree, change)


def test_a_branch_that_withers_must_be_there() -> None:
    change = TreeChange(ChangeKind.WITHERED, ((A, "v"),), None, None, None)
    with pytest.raises(ValueError, match="A change was missed"):
        apply(split(A, u=X), change)


@pytest.mark.usefixtures("little_stack")
def test_a_change_five_thousand_levels_down_is_found_and_applied() -> None:
    trees: list[Outline] = [X, Y]
    for level in range(5_000):
        trees = [split(AttributeTest(f"a{level}"), v=tree) for tree in trees]
    old, new = trees
    (change,) = diff(old, new)
    assert (change.kind, len(change.path)) == (ChangeKind.RELABELLED, 5_000)
    applied = apply(old, change)
    assert digest(applied) == digest(new)
    assert [node for _, node in walk(applied)][-1] == Y
