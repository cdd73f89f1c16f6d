"""A tree as the page draws it: a flat list of nodes, and changes in words."""

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from learners.change import ChangeKind
from learners.outline import Counts, Outline, Split, size
from stream.records import published

MOST_NODES = 5_000
"""What is further from the root is not sent: no page could show it, and a browser could not hold it."""
MOST_CLASSES = 12
"""Classes of a node that are told one by one; the others are counted together."""

_change = msgspec.json.Decoder(published.TreeChange)


class _Leaf(msgspec.Struct):
    answer: str | None


_leaf = msgspec.json.Decoder(_Leaf)


class Test(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a decision node asks."""

    attribute: str
    at_most: float | None = None


class Evidence(msgspec.Struct, frozen=True):
    """How clearly the test was chosen."""

    score: float
    runner_up: str | None
    margin: float | None


class NodeView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A node: a test, or an answer. `parent` is its place in the list, `value` the branch that leads here."""

    parent: int
    value: str
    counts: dict[str, int]
    test: Test | None = None
    answer: str | None = None
    evidence: Evidence | None = None
    others: int = 0  # instances of classes that are not in `counts`
    hidden: int = 0  # nodes below that are not in the list


def nodes_of(outline: Outline | None, most: int = MOST_NODES) -> list[NodeView]:
    """Return the nodes of a tree, parents before their children, the upper levels first."""
    nodes: list[NodeView] = []
    queue: deque[tuple[int, str, Outline]] = deque([] if outline is None else [(-1, "", outline)])
    waiting = len(queue)
    while queue:
        parent, value, node = queue.popleft()
        counts, others = _counted(node.counts)
        if not isinstance(node, Split):
            nodes.append(NodeView(parent, value, counts, answer=node.answer, others=others))
            continue
        is_cut = waiting + len(node.branches) > most
        nodes.append(
            NodeView(
                parent,
                value,
                counts,
                test=Test(node.test.attribute, node.test.at_most),
                evidence=None if node.evidence is None else Evidence(*node.evidence),
                others=others,
                hidden=size(node).nodes - 1 if is_cut else 0,
            )
        )
        if not is_cut:
            here = len(nodes) - 1
            waiting += len(node.branches)
            queue.extend((here, branch, child) for branch, child in node.branches)
    return nodes


def _counted(counts: Counts) -> tuple[dict[str, int], int]:
    if len(counts) <= MOST_CLASSES:
        return dict(counts), 0
    most = sorted(counts, key=lambda pair: -pair[1])[:MOST_CLASSES]
    return dict(sorted(most)), sum(n for _, n in counts) - sum(n for _, n in most)


class ChangeView(NamedTuple):
    """A change as the page tells it."""

    version: int
    at: float
    kind: str
    what: str
    path: list[tuple[str, str]]
    cause: dict[str, object] | None
    margin: float | None
    size: tuple[int, int, int]


def told(value: bytes, at: float) -> list[ChangeView]:
    """Return what a record of the change topic says."""
    record = _change.decode(value)
    cause = msgspec.to_builtins(record.cause)
    measures = (record.tree.nodes, record.tree.leaves, record.tree.depth)
    return [
        ChangeView(
            record.seq,
            at,
            change.kind.value,
            in_words(change),
            [(_test_in_words(step), step.value) for step in change.path],
            cause,
            change.margin,
            measures,
        )
        for change in record.changes
    ]


def _test_in_words(test: published.NodeTest | published.PathStep | None) -> str:
    if test is None:
        return ""
    return test.attribute if test.at_most is msgspec.UNSET else f"{test.attribute} <= {test.at_most!r}"


def _answer(change: published.Change) -> str:
    """Return what a node that became a leaf answers."""
    leaf = _leaf.decode(change.subtree)
    return "nothing" if leaf.answer is None else leaf.answer


_PLAIN: Mapping[ChangeKind, str] = {
    ChangeKind.PLANTED: "planted the first node",
    ChangeKind.BRANCHED: "branched for a new value",
    ChangeKind.WITHERED: "lost a branch",
    ChangeKind.CLEARED: "lost its last instance",
    ChangeKind.DROPPED: "dropped its past",
    ChangeKind.RECUT: "found its thresholds again",
}


def in_words(change: published.Change) -> str:
    """Return what happened, without where. A kind that has no words of its own is told by its name."""
    new, old = _test_in_words(change.new_test), _test_in_words(change.old_test)
    match change.kind:
        case ChangeKind.GREW:
            return f"grew a test of {new}"
        case ChangeKind.PULLED_UP:
            return f"pulled up {new} over {old}"
        case ChangeKind.REPLACED:
            return f"replaced {old} by {new}"
        case ChangeKind.FOLDED:
            return f"folded {old} into {_answer(change)}"
        case ChangeKind.RELABELLED:
            return f"now answers {_answer(change)}"
        case ChangeKind.RETIRED:
            return f"retired {change.attribute}: too many values"
    return _PLAIN.get(change.kind, str(change.kind).replace("_", " "))
