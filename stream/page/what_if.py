"""An answer from a tree that is only looked at: the learner is not asked.

It walks the tree as it is drawn, so that the path can be shown. Where a value is missing or was never seen
the majority at the node answers; a learner may look further there (docs/page.md).
"""

import math
from collections.abc import Mapping, Sequence

import msgspec

from learners.canonical import text_of
from learners.learner import FLAG_MISSING, FLAG_NO_ANSWER, FLAG_UNSEEN
from learners.schema import MISSING
from stream.page.tree_view import NodeView

Given = Mapping[str, str | int | float | bool | None]


class AnswerStep(msgspec.Struct, frozen=True, omit_defaults=True):
    """One decision on the way."""

    attribute: str
    value: str
    at_most: float | None = None
    runner_up: str | None = None
    margin: float | None = None


class Answer(msgspec.Struct, frozen=True):
    """An answer and why; `places` are the nodes on the way, by their place in the list of nodes."""

    answer: str | None
    counts: dict[str, int]
    path: tuple[AnswerStep, ...]
    places: tuple[int, ...]
    flags: tuple[str, ...]


def answer(nodes: Sequence[NodeView], values: Given) -> Answer:
    """Return the answer of a tree, given as its list of nodes, to a description."""
    if not nodes:
        return Answer(None, {}, (), (), (FLAG_NO_ANSWER,))
    branches: dict[tuple[int, str], int] = {
        (node.parent, node.value): place for place, node in enumerate(nodes) if node.parent >= 0
    }
    place, path, places, flags = 0, [], [0], []
    while (test := nodes[place].test) is not None:
        node = nodes[place]
        branch = _branch(test.at_most, values.get(test.attribute))
        below = branches.get((place, branch))
        if below is None:
            flags.append(FLAG_MISSING if branch == MISSING else FLAG_UNSEEN)
            break
        evidence = node.evidence
        path.append(
            AnswerStep(
                test.attribute,
                branch,
                test.at_most,
                None if evidence is None else evidence.runner_up,
                None if evidence is None else evidence.margin,
            )
        )
        places.append(below)
        place = below
    last = nodes[place]
    said = last.answer if last.test is None else _majority(last.counts)
    if said is None:
        flags.append(FLAG_NO_ANSWER)
    return Answer(said, last.counts, tuple(path), tuple(places), tuple(flags))


def _branch(at_most: float | None, value: str | int | float | bool | None) -> str:
    """Return the name of the branch that a value takes."""
    if value is None or value == "" or value == MISSING:
        return MISSING
    if at_most is None:
        return text_of(value)
    try:
        number = float(value)
    except ValueError:
        return MISSING
    return MISSING if math.isnan(number) else text_of(number <= at_most)


def _majority(counts: Mapping[str, int]) -> str | None:
    """Return the class with the most instances; of several, the first by name."""
    return min(counts, key=lambda name: (-counts[name], name)) if any(counts.values()) else None
