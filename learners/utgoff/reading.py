"""How a tree of the family is read: the answer to a description, and the tree as data.

A tree is interpreted by descending until all instances at a node are of one class (section 3.2): what is
below such a node is there for restructuring only.
"""

from learners.bayes import NOTHING, known_scores, shares_of
from learners.codes import Codes
from learners.learner import BY_BAYES, FLAG_MISSING, FLAG_NO_ANSWER, FLAG_UNSEEN, Prediction, Step
from learners.merit import majority
from learners.outline import AttributeTest, Counts, Evidence, Leaf, Outline, Split
from learners.utgoff.node import Node, value_of
from learners.utgoff.selection import Selection
from learners.vocabulary import MISSING_CODE, Row


class Reading:
    """Reads trees whose codes and selection it is given."""

    def __init__(self, codes: Codes, selection: Selection) -> None:
        self._codes = codes
        self._selection = selection

    # ---- what ID4 reads differently

    def below(self, node: Node, value: int) -> Node | None:
        """Return the subtree for a value of the node's test."""
        return node.branches.get(value)

    def subtrees(self, node: Node) -> list[tuple[int, Outline]]:
        """Return the outlines of the branches, which have all been made."""
        return [
            (value, branch.cached) for value, branch in node.branches.items() if branch.cached is not None
        ]

    def is_silent(self, node: Node) -> bool:
        """Return whether a node without a test has nothing to say."""
        return False

    # ---- answers

    def answer(self, root: Node, row: Row) -> Prediction:
        """Return the answer to a description and the path to it."""
        node = root
        path: list[Step] = []
        while node.test is not None and not node.is_pure:
            value = value_of(row, node.test)
            branch = self.below(node, value)
            if branch is None:
                if value == MISSING_CODE:
                    return self.answer_without(node, row, path)
                return self._answered(node.classes, path, FLAG_UNSEEN)
            path.append(self._step(node, value))
            node = branch
        if self.is_silent(node):
            return Prediction(None, self._counts(node.classes), tuple(path), (FLAG_NO_ANSWER,))
        return self._answered(node.classes, path)

    def answer_without(self, node: Node, row: Row, path: list[Step]) -> Prediction:
        """Answer where the value tested is missing: naive Bayes from the counts of the node.

        The article's section 6 would restructure the tree below the node, for this one description; that
        takes time in proportion to the instances there.
        """
        assert node.counts is not None
        scores = known_scores(node.classes, ((node.counts[a], value_of(row, a)) for a in node.attributes))
        names, order = self._codes.classes, self._codes.class_order
        best = min(scores, key=lambda label: (-scores[label], order(label)))
        every = shares_of([scores.get(label, NOTHING) for label in range(len(names))])
        shares = tuple(sorted((names[label], share) for label, share in enumerate(every) if share))
        counts = self._counts(node.classes)
        return Prediction(names[best], counts, tuple(path), (FLAG_MISSING,), BY_BAYES, shares)

    def _step(self, node: Node, value: int) -> Step:
        assert node.test is not None
        evidence = self._evidence(node)
        name = self._codes.attributes[node.test]
        return Step(name, self._codes.values[node.test][value], evidence.runner_up, evidence.margin)

    def _evidence(self, node: Node) -> Evidence:
        assert node.test is not None
        assert node.counts is not None
        scores = self._selection.scores(node)
        return self._selection.evidence(scores, node.test, self._codes.attributes, node.counts, node.classes)

    def _answered(self, classes: dict[int, int], path: list[Step], *flags: str) -> Prediction:
        return Prediction(self._majority(classes), self._counts(classes), tuple(path), flags)

    def _majority(self, classes: dict[int, int]) -> str | None:
        best = majority(classes, {code: self._codes.class_order(code) for code in classes})
        return None if best is None else self._codes.classes[best]

    def _counts(self, classes: dict[int, int]) -> Counts:
        return tuple(sorted((self._codes.classes[code], n) for code, n in classes.items()))

    # ---- the tree as data

    def outline(self, root: Node) -> Outline | None:
        """Return the contracted tree; only subtrees that have changed are looked into."""
        if not root.classes:
            return None
        stack = [root]
        while stack:
            node = stack[-1]
            if node.cached is None and node.test is not None and not node.is_pure:
                waiting = [branch for branch in node.branches.values() if branch.cached is None]
                if waiting:
                    stack.extend(waiting)
                    continue
            stack.pop()
            if node.cached is None:
                node.cached = self._outline_of(node)
        return root.cached

    def _outline_of(self, node: Node) -> Outline:
        counts = self._counts(node.classes)
        if node.test is None or node.is_pure:
            return Leaf(None if self.is_silent(node) else self._majority(node.classes), counts)
        texts = self._codes.values[node.test]
        branches = sorted((texts[value], subtree) for value, subtree in self.subtrees(node))
        evidence = self._evidence(node)
        return Split(AttributeTest(self._codes.attributes[node.test]), counts, tuple(branches), evidence)
