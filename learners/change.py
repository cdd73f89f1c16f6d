"""Changes of a tree: what happened, where, and what the subtree there looks like now.

Folding the changes of a learner over nothing, in order, gives its outline (up to counts): whoever follows
the changes holds the same tree with no other input.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from learners.outline import AttributeTest, Leaf, Outline, Path, Split, digest


class ChangeKind(StrEnum):
    """What happened to a subtree. A closed set: it labels metrics."""

    PLANTED = "planted"  # the first leaf
    GREW = "grew"  # a leaf became a decision node
    BRANCHED = "branched"  # a decision node got a branch for one more value
    PULLED_UP = "pulled_up"  # another test was pulled up to this node, nothing was forgotten
    REPLACED = "replaced"  # another test took this node and what was below it was thrown away or built again
    FOLDED = "folded"  # a decision node became a leaf
    RELABELLED = "relabelled"  # a leaf answers another class
    WITHERED = "withered"  # a branch lost its last instance
    CLEARED = "cleared"  # the last instance left the tree
    DROPPED = "dropped"  # the past was dropped because answers got worse; the tree is of what is left
    RECUT = "recut"  # the thresholds of numbers were found again, and the whole tree with them
    RETIRED = "retired"  # an attribute is left out from now on; the tree is the one without it


@dataclass(frozen=True, slots=True)
class TreeChange:
    """At `path` the tree now looks like `subtree`; None: there is nothing any more."""

    kind: ChangeKind
    path: Path
    old_test: AttributeTest | None
    new_test: AttributeTest | None
    subtree: Outline | None
    saved: float | None = None
    """The bits that the change made the description shorter by, where the learner counts them."""
    attribute: str | None = None
    """The attribute that was retired, where that is what happened."""

    @property
    def score(self) -> float | None:
        """The score of the new test, where there is one."""
        evidence = self.subtree.evidence if isinstance(self.subtree, Split) else None
        return None if evidence is None else evidence.score

    @property
    def margin(self) -> float | None:
        """By how much the next best test was worse, where there is one."""
        evidence = self.subtree.evidence if isinstance(self.subtree, Split) else None
        return None if evidence is None else evidence.margin


def diff(
    old: Outline | None, new: Outline | None, retested: ChangeKind = ChangeKind.REPLACED
) -> list[TreeChange]:
    """Return the changes that lead from one tree to another; counts alone are no change.

    Subtrees that are the same object, or are known to have the same digest, are not looked into, so that the
    cost is that of the nodes a learner has touched.

    Args:
        old: The tree before.
        new: The tree now.
        retested: What to call a decision node whose test is another one now.
    """
    if old is None or new is None:
        if old is new:
            return []
        kind = ChangeKind.PLANTED if old is None else ChangeKind.CLEARED
        return [TreeChange(kind, (), _test(old), _test(new), new)]
    changes: list[TreeChange] = []
    stack: list[tuple[Path, Outline, Outline]] = [((), old, new)]
    while stack:
        path, was, now = stack.pop()
        if _look_alike(was, now):
            continue
        if isinstance(was, Split) and isinstance(now, Split) and was.test == now.test:
            stack.extend(_branches(path, was, now, changes))
            continue
        if isinstance(was, Leaf) and isinstance(now, Leaf):
            if was.answer == now.answer:
                continue
            kind = ChangeKind.RELABELLED
        elif isinstance(now, Leaf):
            kind = ChangeKind.FOLDED
        else:
            kind = ChangeKind.GREW if isinstance(was, Leaf) else retested
        changes.append(TreeChange(kind, path, _test(was), _test(now), now))
    return changes


def change_of_all(old: Outline | None, new: Outline | None, kind: ChangeKind) -> list[TreeChange]:
    """Return one change from a whole tree to another; none where they look the same."""
    if digest(old) == digest(new):
        return []
    return [TreeChange(kind, (), _test(old), _test(new), new)]


def changes_of_retiring(old: Outline | None, new: Outline | None, names: Iterable[str]) -> list[TreeChange]:
    """Return a change of the whole tree for each attribute that was retired, even if it looks the same."""
    return [TreeChange(ChangeKind.RETIRED, (), _test(old), _test(new), new, attribute=name) for name in names]


def _look_alike(one: Outline, other: Outline) -> bool:
    """Return whether two trees are known to be the same up to counts; otherwise they may be."""
    return one is other or (bool(other._digest) and one._digest == other._digest)


def _test(outline: Outline | None) -> AttributeTest | None:
    return outline.test if isinstance(outline, Split) else None


def _branches(
    path: Path, was: Split, now: Split, changes: list[TreeChange]
) -> list[tuple[Path, Outline, Outline]]:
    """Note branches that came and went; return the pairs still to be compared, last first."""
    before = dict(was.branches)
    pairs: list[tuple[Path, Outline, Outline]] = []
    for value, child in now.branches:
        earlier = before.pop(value, None)
        if earlier is None:
            here = (*path, (now.test, value))
            changes.append(TreeChange(ChangeKind.BRANCHED, here, None, _test(child), child))
        elif not _look_alike(earlier, child):
            pairs.append(((*path, (now.test, value)), earlier, child))
    for value, child in before.items():
        changes.append(TreeChange(ChangeKind.WITHERED, (*path, (now.test, value)), _test(child), None, None))
    return pairs[::-1]


def apply(outline: Outline | None, change: TreeChange) -> Outline | None:
    """Return the tree after a change.

    Raises:
        ValueError: The path of the change does not lead anywhere in this tree: a change was missed.
    """
    spine: list[tuple[Split, str]] = []
    node = outline
    for test, value in change.path:
        if not isinstance(node, Split) or node.test != test:
            raise ValueError(f'the change at "{test} = {value}" does not fit the tree. A change was missed')
        spine.append((node, value))
        node = dict(node.branches).get(value)
    subtree = change.subtree
    for parent, value in reversed(spine):
        branches = dict(parent.branches)
        if subtree is None:
            if value not in branches:
                raise ValueError(f'there is no branch "{value}" that could wither. A change was missed')
            del branches[value]
        else:
            branches[value] = subtree
        subtree = Split(parent.test, parent.counts, tuple(sorted(branches.items())), parent.evidence)
    return subtree


def fold(changes: Iterable[TreeChange], outline: Outline | None = None) -> Outline | None:
    """Return the tree after all the changes, beginning with `outline`."""
    for change in changes:
        outline = apply(outline, change)
    return outline
