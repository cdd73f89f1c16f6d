"""The tree as data: what a learner's tree says, apart from how it is kept.

An outline is the contracted tree: a decision node whose instances are all of one class is a leaf. Two
learners hold the same tree exactly when their outlines have the same digest. All walks are loops, not
recursions: a tree may be as deep as there are attributes.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple, TypeAlias

Counts = tuple[tuple[str, int], ...]
"""How many instances of each class, sorted by class."""


class AttributeTest(NamedTuple):
    """What a decision node asks: the value of an attribute, or whether it is at most a threshold."""

    attribute: str
    at_most: float | None = None

    def __str__(self) -> str:
        return self.attribute if self.at_most is None else f"{self.attribute} <= {self.at_most!r}"


class Evidence(NamedTuple):
    """How clearly a test was chosen: its score, the next best attribute, how much worse that one is."""

    score: float
    runner_up: str | None
    margin: float | None


@dataclass(frozen=True, slots=True)
class Leaf:
    """An answer node. The answer is None where the tree has nothing to say."""

    answer: str | None
    counts: Counts
    _digest: str = field(default="", compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Split:
    """A decision node; its branches are sorted by value.

    The evidence belongs to the moment and to the way of learning, not to the tree: it does not count when
    outlines are compared.
    """

    test: AttributeTest
    counts: Counts
    branches: "tuple[tuple[str, Outline], ...]"
    evidence: Evidence | None = field(default=None, compare=False)
    _digest: str = field(default="", compare=False, repr=False)
    _size: "Size | None" = field(default=None, compare=False, repr=False)


Outline: TypeAlias = Leaf | Split
Path = tuple[tuple[AttributeTest, str], ...]
"""The tests and values that lead from the root to a node."""


class Size(NamedTuple):
    """How large a tree is. Depth is the number of tests on the longest path."""

    nodes: int
    leaves: int
    depth: int


def size(outline: Outline | None) -> Size:
    """Return the size of a tree. It is kept, like the digest, so that a change costs the nodes on its path.

    >>> size(Split(AttributeTest("hair"), (), (("dark", Leaf("-", ())), ("red", Leaf("+", ())))))
    Size(nodes=3, leaves=2, depth=1)
    """
    if outline is None:
        return Size(0, 0, 0)
    stack = [outline]
    while stack:
        node = stack[-1]
        if isinstance(node, Split) and node._size is None:
            waiting = [
                child for _, child in node.branches if isinstance(child, Split) and child._size is None
            ]
            if waiting:
                stack.extend(waiting)
                continue
            sizes = [_size_of(child) for _, child in node.branches]
            whole = Size(
                1 + sum(s.nodes for s in sizes),
                sum(s.leaves for s in sizes),
                1 + max((s.depth for s in sizes), default=0),
            )
            object.__setattr__(node, "_size", whole)
        stack.pop()
    return _size_of(outline)


def _size_of(node: Outline) -> Size:
    """Return the size of a node whose size has been found out."""
    if isinstance(node, Leaf):
        return Size(1, 1, 0)
    assert node._size is not None
    return node._size


def walk(outline: Outline | None) -> Iterator[tuple[Path, Outline]]:
    """Yield every node with the path to it, in depth-first order."""
    stack: list[tuple[Path, Outline]] = [] if outline is None else [((), outline)]
    while stack:
        path, node = stack.pop()
        yield path, node
        if isinstance(node, Split):
            stack.extend(((*path, (node.test, value)), child) for value, child in reversed(node.branches))


def post_order(outline: Outline) -> Iterator[Outline]:
    """Yield every node after its children."""
    stack: list[tuple[Outline, bool]] = [(outline, False)]
    while stack:
        node, children_done = stack.pop()
        if children_done or isinstance(node, Leaf):
            yield node
        else:
            stack.append((node, True))
            stack.extend((child, False) for _, child in reversed(node.branches))


# ---- digest


@lru_cache(maxsize=1 << 16)
def quoted(text: str | None) -> str:
    """Return a text as JSON. The same few names are written over and over."""
    return json.dumps(text, ensure_ascii=False)


def opening_of_test(test: AttributeTest) -> str:
    """Return how the text begins that the digest of a decision node is made from; its branches follow."""
    at_most = "" if test.at_most is None else f'"at_most":{json.dumps(test.at_most)},'
    return f'{{{at_most}"attribute":{quoted(test.attribute)},"branches":{{'


def _canonical(node: Outline) -> str:
    """Return the text a node's digest is made from; the branches have theirs already."""
    if isinstance(node, Leaf):
        return f'{{"answer":{quoted(node.answer)}}}'
    branches = ",".join(f'{quoted(value)}:"{child._digest}"' for value, child in node.branches)
    return f"{opening_of_test(node.test)}{branches}}}}}"


def digest(outline: Outline | None) -> str:
    """Return the SHA-256 that names the tree: its tests, branches and answers, not its counts.

    docs/digest.md has the rule in words. A node's digest is made from those of its children and kept, so
    that a change costs the nodes on its path and not the whole tree.
    """
    if outline is None:
        return hashlib.sha256(b"null").hexdigest()
    stack: list[Outline] = [outline]
    while stack:
        node = stack[-1]
        if isinstance(node, Split) and not node._digest:
            waiting = [child for _, child in node.branches if not child._digest]
            if waiting:
                stack.extend(waiting)
                continue
        stack.pop()
        if not node._digest:
            object.__setattr__(node, "_digest", hashlib.sha256(_canonical(node).encode()).hexdigest())
    return outline._digest


# ---- JSON


def to_json(outline: Outline | None) -> str:
    """Return the tree as JSON text, the form that docs/records.md describes."""
    if outline is None:
        return "null"
    texts: dict[int, str] = {}
    for node in post_order(outline):
        counts = ", ".join(f"{quoted(name)}: {n}" for name, n in node.counts)
        if isinstance(node, Leaf):
            text = f'{{"answer": {quoted(node.answer)}, "counts": {{{counts}}}}}'
        else:
            at_most = "" if node.test.at_most is None else f', "at_most": {json.dumps(node.test.at_most)}'
            branches = ", ".join(f"{quoted(value)}: {texts[id(child)]}" for value, child in node.branches)
            test = f'{{"attribute": {quoted(node.test.attribute)}{at_most}}}'
            text = f'{{"test": {test}, "counts": {{{counts}}}, "branches": {{{branches}}}}}'
        texts[id(node)] = text
    return texts[id(outline)]


def from_dict(data: object) -> Outline | None:
    """Return the tree whose JSON form was parsed into `data`.

    Raises:
        ValueError: It is not an outline.
    """
    if data is None:
        return None
    order: list[dict[str, object]] = []
    stack: list[object] = [data]
    while stack:
        node = _checked_node(stack.pop())
        order.append(node)
        branches = node.get("branches")
        if isinstance(branches, dict):
            stack.extend(branches.values())
    built: dict[int, Outline] = {}
    for node in reversed(order):
        branches, test, counts = node.get("branches"), node.get("test"), node.get("counts")
        told = tuple(sorted(counts.items())) if isinstance(counts, dict) else ()
        if isinstance(branches, dict) and isinstance(test, dict):
            below = tuple(sorted((value, built[id(child)]) for value, child in branches.items()))
            built[id(node)] = Split(AttributeTest(test["attribute"], test.get("at_most")), told, below)
        else:
            answer = node.get("answer")
            built[id(node)] = Leaf(None if answer is None else str(answer), told)
    return built[id(data)]


def _checked_node(node: object) -> dict[str, object]:
    """Return a node of parsed JSON if it is one."""
    if isinstance(node, dict):
        test = node.get("test")
        if "answer" in node or (
            isinstance(test, dict)
            and isinstance(test.get("attribute"), str)
            and set(test) <= {"attribute", "at_most"}
            and isinstance(node.get("branches"), dict)
        ):
            return node
    raise ValueError(f"not a node of an outline: {str(node)[:80]}")


# ---- for people


def _counted(counts: Counts) -> str:
    return " ".join(f"{name}:{n}" for name, n in counts)


def _answer(leaf: Leaf) -> str:
    return "(no answer)" if leaf.answer is None else leaf.answer


def render(outline: Outline | None, *, counts: bool = False, most: int | None = None) -> str:
    """Return the tree as indented text.

    Args:
        outline: The tree.
        counts: Whether to show how many instances of each class are at each leaf.
        most: How many lines at the most; what is left out is said.

    >>> print(render(Split(AttributeTest("hair"), (), (("dark", Leaf("-", ())), ("red", Leaf("+", ()))))))
    hair
      dark: -
      red: +
    """
    if outline is None:
        return "(no tree yet)"
    lines: list[str] = []
    stack: list[tuple[int, str, Outline]] = [(0, "", outline)]
    while stack:
        level, value, node = stack.pop()
        head = "  " * level + (f"{value}: " if level else "")
        if isinstance(node, Leaf):
            lines.append(head + _answer(node) + (f"  ({_counted(node.counts)})" if counts else ""))
        else:
            lines.append(head + str(node.test))
            stack.extend((level + 1, value, child) for value, child in reversed(node.branches))
    if most is not None and len(lines) > most:
        lines[most - 1 :] = [f"... and {len(lines) - most + 1} more lines"]
    return "\n".join(lines)


def to_dot(outline: Outline | None) -> str:
    """Return the tree in Graphviz's language: `espalier tree AGENT --format dot | dot -Tsvg`."""
    lines = ["digraph tree {", '  node [fontname="sans-serif"];', '  edge [fontname="sans-serif"];']
    numbers: dict[int, int] = {}
    for number, (_, node) in enumerate(walk(outline)):
        numbers[id(node)] = number
        if isinstance(node, Leaf):
            label = json.dumps(f"{_answer(node)}\n{_counted(node.counts)}", ensure_ascii=False)
            lines.append(f"  n{number} [shape=box, style=rounded, label={label}];")
        else:
            lines.append(
                f"  n{number} [shape=ellipse, label={json.dumps(str(node.test), ensure_ascii=False)}];"
            )
    for _, node in walk(outline):
        if isinstance(node, Split):
            for value, child in node.branches:
                label = json.dumps(value, ensure_ascii=False)
                lines.append(f"  n{numbers[id(node)]} -> n{numbers[id(child)]} [label={label}];")
    return "\n".join([*lines, "}"])
