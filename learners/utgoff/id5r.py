"""Table 3: the ID5R tree-update algorithm, and its mirror image that forgets an instance.

Table 3 as printed does not always build ID3's tree: step 3(c)ii re-establishes the subtrees only of the node
whose own test has changed. A pull-up above has also rearranged the subtrees of the nodes further down the
path; where such a node's test happens to be the best one, the printed table leaves their tests as the
pull-up left them. Here a flag, `dirty`, is carried down: once anything was restructured, every subtree off
the path is re-established on the way. docs/fidelity.md has the seven instances that show the difference.
"""

from typing import ClassVar

from learners.change import ChangeKind
from learners.ops import OpCounts
from learners.utgoff.node import Node, collapse, count, distribute, store, tabulate, value_of
from learners.utgoff.pull_up import pull_up
from learners.utgoff.retaining import RetainingLearner
from learners.utgoff.selection import Selection
from learners.utgoff.skeleton import dump_skeleton, load_skeleton
from learners.vocabulary import Row


class ID5R(RetainingLearner):
    """The tree ID3 would build from every instance retained, kept up to date by restructuring.

    Example:
        The eight people of the paper's Table 5, whose tree tests hair, then eyes.

        >>> from learners.outline import render
        >>> from learners.schema import Instance
        >>> people = '''- short blond brown,- tall dark brown,+ tall blond blue,- tall dark blue,
        ... - short dark blue,+ tall red blue,- tall blond brown,+ short blond blue'''
        >>> tree = ID5R()
        >>> for person in people.split(","):
        ...     label, *values = person.split()
        ...     person = dict(zip(("height", "hair", "eyes"), values))
        ...     for change in tree.learn_one(Instance(person, label)):
        ...         print(change.kind, "at", change.path and change.path[-1][1] or "the root")
        planted at the root
        grew at the root
        pulled_up at the root
        branched at red
        pulled_up at blond
        >>> print(render(tree.outline()))
        hair
          blond: eyes
            blue: +
            brown: -
          dark: -
          red: +
    """

    name: ClassVar[str] = "id5r-reference"
    exact: ClassVar[bool] = True
    retests: ClassVar[ChangeKind] = ChangeKind.PULLED_UP

    def _add(self, row: Row, label: int) -> None:
        update(self._root, row, label, self._selection, self.ops)

    def _remove(self, row: Row, label: int) -> None:
        downdate(self._root, row, label, self._selection, self.ops)

    def _widened(self) -> None:
        settle(self._root, self._selection, self.ops)

    def _dump_tree(self) -> list[object]:
        return dump_skeleton(self._root)

    def _load_tree(self, tree: list[object]) -> None:
        load_skeleton(self._root, tree, ((kept.stored, kept.label) for kept in self._retention))


def update(
    root: Node, row: Row, label: int, selection: Selection, ops: OpCounts, *, reestablish: bool = True
) -> None:
    """Learn one instance; the tree is then the one ID3 builds from all instances.

    Args:
        root: The tree.
        row: The description.
        label: The class.
        selection: Which attribute is best.
        ops: Where the costs are counted.
        reestablish: Whether step 3(c)ii is done. ID5 leaves it out.
    """
    ops.instances_stored += 1
    node = root
    dirty = False
    while True:
        if node.counts is None:
            # 1, 2. An empty or unexpanded tree of the instance's class, or one without an attribute left
            # to test, takes the instance into its set.
            if not node.classes or (node.is_pure and label in node.classes) or not node.attributes:
                store(node, row, label)
                return
            # 3(a) Expand it one level, choosing the test attribute arbitrarily: the first that was declared.
            # With a significance level a set stays together until some attribute is significant.
            dirty |= not node.is_pure
            tabulate(node, ops)
            if selection.significance is None:
                distribute(node, min(node.attributes), ops)
        # 3(b) Update the counts for the test attribute and all nontest attributes.
        node.classes[label] = node.classes.get(label, 0) + 1
        count(node, row, label, +1)
        node.touch()
        ops.instance_count_additions += len(node.attributes)
        # 3(c) If the test does not have the lowest E-score, restructure; then re-establish off the path.
        dirty |= establish(node, selection, ops)
        if node.test is None:
            store_counted(node, row, label)
            return
        value = value_of(row, node.test)
        if dirty and reestablish:
            settle_except(node, value, selection, ops)
        # 3(d) Go on along the branch for the instance's value; grow it if necessary.
        branch = node.branches.get(value)
        if branch is None:
            left = tuple(attribute for attribute in node.attributes if attribute != node.test)
            branch = node.branches[value] = Node(left)
        node = branch


def store_counted(node: Node, row: Row, label: int) -> None:
    """Add an instance to the set of a node without a test whose counts have it already."""
    node.instances[row, label] = node.instances.get((row, label), 0) + 1


def establish(node: Node, selection: Selection, ops: OpCounts) -> bool:
    """Give a node with counts its best test; return whether anything was restructured.

    A node whose instances are all of one class is an answer whatever is below it, and is left alone.
    """
    best = selection.choose(node, ops)
    if node.is_pure or best == node.test:
        return False
    if best is None:
        collapse(node, ops)
    elif node.test is None:
        distribute(node, best, ops)
    else:
        # 3(c)i Restructure the tree so that an attribute with the lowest E-score is at the root.
        ops.pull_ups += 1
        pull_up(node, best, ops)
    return True


def settle_except(node: Node, value: int, selection: Selection, ops: OpCounts) -> None:
    """3(c)ii Re-establish a best test in each subtree except the one that is updated next."""
    for other, branch in node.branches.items():
        if other != value:
            settle(branch, selection, ops)


def settle(node: Node, selection: Selection, ops: OpCounts) -> bool:
    """Re-establish a best test in a subtree and in all those below it; return whether any changed.

    Also below a node whose test is the best already: a pull-up rearranges at every depth.
    """
    if node.counts is None:
        if node.is_pure or not node.attributes:
            return False
        tabulate(node, ops)
    changed = establish(node, selection, ops)
    # Nothing can change below a node of one class. It is visited all the same: the scores counted there are
    # among those of the paper's Table 7.
    for branch in node.branches.values():
        changed |= settle(branch, selection, ops)
    if changed:
        node.cached = None
        ops.repairs += 1
    return changed


def downdate(
    root: Node, row: Row, label: int, selection: Selection, ops: OpCounts, *, reestablish: bool = True
) -> None:
    """Forget one instance that is in the tree; the tree is then ID3's of those that are left.

    Table 3 mirrored: the instance leaves the counts on its way down and the set at the end. A pull-up on the
    way still finds the instance below, so that its branch survives the transposition even where the counts
    above show it no more.

    Args:
        root: The tree.
        row: The description.
        label: The class.
        selection: Which attribute is best.
        ops: Where the costs are counted.
        reestablish: Whether best tests are found off the path, too. ID5 leaves it out.
    """
    ops.instances_forgotten += 1
    above: list[tuple[Node, int]] = []
    node = root
    dirty = False
    while node.counts is not None:
        _take(node.classes, label)
        count(node, row, label, -1)
        node.touch()
        ops.instance_count_additions += len(node.attributes)
        if node.classes:
            dirty |= establish(node, selection, ops)
        if node.test is None:
            break
        value = value_of(row, node.test)
        if dirty and reestablish:
            settle_except(node, value, selection, ops)
        above.append((node, value))
        node = node.branches[value]
    _take(node.instances, (row, label))  # type: ignore[arg-type]
    if node.counts is None:
        _take(node.classes, label)
    node.touch()
    if dirty and node.classes:
        # With a significance level the set at the end may have been split off just now, and still be mixed.
        settle(node, selection, ops)
    # A node without instances goes, and with it the branch that led to it.
    while above and not node.classes:
        node, value = above.pop()
        del node.branches[value]
    if not root.classes:
        root.counts, root.test = None, None


def _take(tally: dict[int, int], name: int) -> None:
    if tally[name] == 1:
        del tally[name]
    else:
        tally[name] -= 1
