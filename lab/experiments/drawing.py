"""Trees drawn as text, with the counts that the paper shows in brackets."""

from collections.abc import Mapping

from lab.experiments.concepts import Concept
from learners.utgoff.node import Node


class Pen:
    """Draws the trees of a concept.

    Args:
        concept: Where the names come from.
        classes: The classes in the order in which they are counted; the paper's is [positives, negatives].
    """

    def __init__(self, concept: Concept, classes: tuple[str, ...] = ("+", "-")) -> None:
        self._concept = concept
        self._classes = [concept.classes.index(name) for name in classes]

    def draw(self, root: Node) -> str:
        """Return a tree with everything it keeps: counts of all attributes, instances, superfluous tests.

        A decision node is written `test`, then in parentheses the attributes that could be tested instead;
        each value of an attribute with its counts.
        """
        lines: list[str] = []
        stack: list[tuple[int, str, Node]] = [(0, "", root)]
        while stack:
            level, head, node = stack.pop()
            indent = "  " * level
            if node.test is None:
                lines.append(f"{indent}{head}{self._leaf(node)}")
                continue
            assert node.counts is not None
            others = "; ".join(self._counts(node, a) for a in sorted(node.attributes) if a != node.test)
            lines.append(f"{indent}{head}{self._name(node.test)}" + (f"  ({others})" if others else ""))
            texts = self._concept.values[node.test]
            for value in sorted(node.branches, key=lambda v: texts[v], reverse=True):
                tally = node.counts[node.test].get(value, {})
                stack.append((level + 1, f"{texts[value]} {self._tally(tally)}: ", node.branches[value]))
        return "\n".join(lines)

    def contracted(self, root: Node) -> str:
        """Return a tree as it is read: down to the first node of one class."""
        lines: list[str] = []
        stack: list[tuple[int, str, Node]] = [(0, "", root)]
        while stack:
            level, head, node = stack.pop()
            indent = "  " * level
            if node.test is None or node.is_pure:
                lines.append(f"{indent}{head}{self._answer(node)}")
                continue
            lines.append(f"{indent}{head}{self._name(node.test)}")
            texts = self._concept.values[node.test]
            for value in sorted(node.branches, key=lambda v: texts[v], reverse=True):
                stack.append((level + 1, f"{texts[value]}: ", node.branches[value]))
        return "\n".join(lines)

    def in_a_line(self, node: Node) -> str:
        """Return all tests of a tree, superfluous ones too, and the classes of its leaves in one line."""
        if node.test is None:
            return self._answer(node)
        texts = self._concept.values[node.test]
        below = sorted((texts[value], self.in_a_line(branch)) for value, branch in node.branches.items())
        return f"{self._name(node.test)}({', '.join(f'{text} {tree}' for text, tree in below)})"

    def _name(self, attribute: int) -> str:
        return self._concept.attributes[attribute]

    def _answer(self, node: Node) -> str:
        return " or ".join(sorted(self._concept.classes[label] for label in node.classes))

    def _leaf(self, node: Node) -> str:
        described = "; ".join(
            ", ".join(f"{self._name(a)}={self._concept.values[a][row[a]]}" for a in sorted(node.attributes))
            or "no attribute left"
            for (row, _), number in node.instances.items()
            for _ in range(number)
        )
        return f"{self._answer(node)}  {{{described}}}"

    def _counts(self, node: Node, attribute: int) -> str:
        assert node.counts is not None
        texts = self._concept.values[attribute]
        values = sorted((texts[value], tally) for value, tally in node.counts[attribute].items())
        return f"{self._name(attribute)}: " + ", ".join(f"{text} {self._tally(t)}" for text, t in values)

    def _tally(self, tally: Mapping[int, int]) -> str:
        return "[" + ",".join(str(tally.get(label, 0)) for label in self._classes) + "]"
