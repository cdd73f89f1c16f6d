"""Table 2: the basic ID4 tree update procedure (Schlimmer and Fisher 1986).

ID4 keeps counts and no instances. When another attribute becomes the best one at a node, the subtrees below
are thrown away and grow again from what comes later, so that a concept whose best test keeps changing is
never learned (section 3.1).
"""

from typing import ClassVar

import msgspec

from learners.learner import FLAG_MISSING, FLAG_UNSEEN, Prediction, Step
from learners.ops import OpCounts
from learners.outline import Leaf, Outline
from learners.snapshot import SnapshotError
from learners.utgoff.family import UtgoffLearner
from learners.utgoff.node import Node, add_to, count, nodes_of, value_of
from learners.utgoff.reading import Reading
from learners.utgoff.selection import Selection
from learners.vocabulary import MISSING_CODE, Row


def update(root: Node, row: Row, label: int, selection: Selection, ops: OpCounts) -> None:
    """Learn one instance.

    With a significance level, step 3 is done only where some attribute is not independent of the class, and
    chooses among those (section 3.1): otherwise the node stays what it is.

    Args:
        root: The tree.
        row: The description.
        label: The class.
        selection: Which attribute is best.
        ops: Where the costs are counted, by the convention that reproduces the paper's Table 7: additions at
            every node visited, scores at the mixed ones with more than one attribute to choose from.
    """
    node = root
    while True:
        # 1. For each possible test attribute, update the count for its value in the instance.
        if node.counts is None:
            node.counts = {attribute: {} for attribute in node.attributes}
        add_to(node.classes, label, 1)
        count(node, row, label, 1)
        node.touch()
        ops.instance_count_additions += len(node.attributes)
        # 2. If all the instances observed are of one class, it is an answer node. It is one too where no
        # attribute is left, and answers the majority.
        if node.is_pure or not node.attributes:
            return
        # 3. Otherwise,
        if len(node.attributes) > 1:
            ops.e_scores += len(node.attributes)
        best = selection.best(selection.scores(node), node)
        if best is None:
            return
        if node.test is None:
            # 3(a) If it is an answer node, change it to a decision node with the best test.
            node.test = best
            ops.expansions += 1
        elif node.test != best:
            # 3(b)i Change the attribute test to one with the lowest E-score.
            node.test = best
            # 3(b)ii Discard all existing subtrees.
            ops.discards += len(node.branches)
            node.branches = {}
        # 3(c) Go on along the branch for the instance's value; grow it if necessary.
        value = value_of(row, best)
        branch = node.branches.get(value)
        if branch is None:
            left = tuple(attribute for attribute in node.attributes if attribute != best)
            branch = node.branches[value] = Node(left)
        node = branch


class ID4Reading(Reading):
    """Reads trees with branches that have been discarded, or have not grown again.

    Such a branch answers from the node's own counts for its value if these are of one class; otherwise it has
    no answer. It is read as a node without counts, of which ID4 has none itself.
    """

    def below(self, node: Node, value: int) -> Node | None:
        """Return the subtree for a value of the node's test, or what the node itself knows about it."""
        assert node.test is not None
        assert node.counts is not None
        branch = node.branches.get(value)
        if branch is not None:
            return branch
        tally = node.counts[node.test].get(value)
        if tally is None:
            return None
        stump = Node(())
        stump.classes = tally
        return stump

    def subtrees(self, node: Node) -> list[tuple[int, Outline]]:
        """Return the outlines of the branches, one for each value of the test that has been met."""
        assert node.test is not None
        assert node.counts is not None
        found: list[tuple[int, Outline]] = []
        for value, tally in node.counts[node.test].items():
            branch = node.branches.get(value)
            if branch is None:
                answer = self._majority(tally) if len(tally) == 1 else None
                found.append((value, Leaf(answer, self._counts(tally))))
            elif branch.cached is not None:
                found.append((value, branch.cached))
        return found

    def is_silent(self, node: Node) -> bool:
        """Return whether a node is a branch with nothing below and counts of several classes."""
        return node.counts is None and not node.is_pure

    def answer_without(self, node: Node, row: Row, path: list[Step]) -> Prediction:
        """Answer where the value tested is missing: by the best known attribute, from the node's own counts.

        No instances are kept, so that there is nothing to restructure below it.
        """
        assert node.counts is not None
        known = tuple(a for a in node.attributes if value_of(row, a) != MISSING_CODE)
        if not known:
            return self._answered(node.classes, path, FLAG_MISSING)
        best, scores = self._selection.choose_from(node.counts, node.classes, known)
        if best is None:
            return self._answered(node.classes, path, FLAG_MISSING)
        value = value_of(row, best)
        tally = node.counts[best].get(value)
        if tally is None:
            return self._answered(node.classes, path, FLAG_MISSING, FLAG_UNSEEN)
        evidence = self._selection.evidence(scores, best, self._codes.attributes, node.counts, node.classes)
        names = self._codes.attributes[best], self._codes.values[best][value]
        return self._answered(tally, [*path, Step(*names, evidence.runner_up, evidence.margin)], FLAG_MISSING)


class ID4(UtgoffLearner):
    """A tree that is corrected by growing it again below the node that was wrong.

    It keeps no instances, so that it can neither forget one nor have a window, and its tree need not agree
    with the instances it was given.

    Example:
        The eight people of the paper's Table 5. The root has just changed its test; what the instances
        before the change could say about blond people is lost.

        >>> from learners.outline import render
        >>> from learners.schema import Instance
        >>> people = '''- short blond brown,- tall dark brown,+ tall blond blue,- tall dark blue,
        ... - short dark blue'''
        >>> tree = ID4()
        >>> for person in people.split(","):
        ...     label, *values = person.split()
        ...     person = dict(zip(("height", "hair", "eyes"), values))
        ...     for change in tree.learn_one(Instance(person, label)):
        ...         print(change.kind, "at", change.path and change.path[-1][1] or "the root")
        planted at the root
        grew at the root
        replaced at the root
        >>> print(render(tree.outline()))
        hair
          blond: (no answer)
          dark: -
    """

    name: ClassVar[str] = "id4"

    def _make_reading(self) -> Reading:
        return ID4Reading(self.codes, self._selection)

    def _add(self, row: Row, label: int) -> None:
        update(self._root, row, label, self._selection, self.ops)

    def _retire(self) -> None:
        """Leave the attributes out of every table; a node that tests one grows again as Table 2 has it."""
        for node in nodes_of(self._root):
            node.attributes = tuple(a for a in node.attributes if a not in self._retired)
            if node.counts is not None:
                node.counts = {a: node.counts[a] for a in node.attributes}
            if node.test in self._retired:
                self.ops.discards += len(node.branches)
                node.test, node.branches = None, {}
            node.touch()

    def _filled_in(self, row: Row) -> Row:
        return tuple(
            self._commonest(attribute) if value == MISSING_CODE else value
            for attribute, value in enumerate(row)
        )

    def _commonest(self, attribute: int) -> int:
        """Return the commonest value of an attribute so far, which the root counts; the first by name."""
        tallies = (self._root.counts or {}).get(attribute, {})
        seen = {value: sum(tally.values()) for value, tally in tallies.items() if value != MISSING_CODE}
        names = self.codes.values[attribute]
        return min(seen, key=lambda value: (-seen[value], names[value]), default=MISSING_CODE)

    def _dump_tree(self) -> list[object]:
        dumped: list[object] = []
        stack = [self._root]
        while stack:
            node = stack.pop()
            values = list(node.branches)
            dumped.append(_Dumped(node.test, node.classes, node.counts or {}, values))
            stack.extend(node.branches[value] for value in reversed(values))
        return dumped

    def _load_tree(self, tree: list[object]) -> None:
        forms = iter(msgspec.convert(tree, list[_Dumped]))
        stack = [self._root]
        while stack:
            node = stack.pop()
            form = next(forms, None)
            if form is None or not form.fits(node, len(self.codes.classes)):
                raise SnapshotError(f"not a node of a tree: {str(form)[:80]}")
            node.classes = form.classes
            node.counts = form.counts if form.classes else None
            node.test = form.test
            left = tuple(attribute for attribute in node.attributes if attribute != form.test)
            node.branches = {value: Node(left) for value in form.branches}
            stack.extend(reversed(node.branches.values()))
        if next(forms, None) is not None:
            raise SnapshotError("the tree has more nodes than places")


class _Dumped(msgspec.Struct, array_like=True, frozen=True):
    """A node of a snapshot; the nodes are in pre-order."""

    test: int | None
    classes: dict[int, int]
    counts: dict[int, dict[int, dict[int, int]]]
    branches: list[int]

    def fits(self, node: Node, classes: int) -> bool:
        """Return whether it can be this node of a tree with so many classes."""
        return (
            (self.test is None or self.test in self.counts)
            and (not self.branches or self.test is not None)
            and all(0 <= label < classes for label in self.classes)
            and set(self.counts) == (set(node.attributes) if self.classes else set())
        )
