# cython: language_level=3, boundscheck=False, wraparound=False, annotation_typing=False
"""The tree of the fewest bits, record by record, in the paper's order of steps. Compiled; see `tree.pxd`.

It runs uncompiled as well, and is the same tree.
"""

from learners.mdl.growing import Growing
from learners.mdl.records import Node


class Tree(Growing):
    """The tree of the records retained.

    Args:
        code: How bits are counted.
        weight: How much a bit of the tree counts against one of the exceptions, in the additive code.
        deep: Whether a test is judged by the whole subtree that could grow below it.
        retry: How many times as many records there must be before a test that did not pay is tried again.
        pull: Whether subtrees are restructured by pulling tests up; otherwise they are built again.
    """

    def __init__(self, code: int, weight: float, deep: bool, retry: float, pull: bool) -> None:
        super().__init__(code, weight, deep)
        self.retry = retry
        self.pull = pull
        self.changed = False
        self.saved = 0
        self.expansions = 0
        self.collapses = 0
        self.pull_ups = 0
        self.rebuilds = 0

    def learn(self) -> None:
        """Take in the record that was put down."""
        place = self.next
        self.next += 1
        label = self.labels[place % self.room]
        if 2 * (self.next - self.first) + self.k + 16 > len(self.table):
            self.reserve_table()
        if self.root is None:
            self.root = self.new_root()
            self.root.label = label
            self.changed = True
        path = self.updated(self.root, place, label)
        leaf = path[len(path) - 1]
        wrong = leaf.n > 1 and leaf.label != label
        self.relabel(leaf)
        self.refresh_path(path)
        if self.restructure(path) or self.prune(path):
            return
        if wrong:
            self.extend(path)

    def updated(self, root: Node, place: int, label: int) -> list[Node]:
        """Count a record on its way down and store it; return the nodes on the way."""
        node = root
        path = [node]
        self.count(node, place, 1)
        node.told = None
        while node.test >= 0:
            value = self.branch_of(node, place)
            branch = node.branches.get(value)
            if branch is None:
                available = node.available - (0 if self.numeric[node.test] else 1)
                branch = node.branches[value] = self.new_node(self.used_below(node), available)
                branch.label = label
                self.note(path)
            if node.lead > 0:
                node.lead -= self.growth(branch, label)
            node = branch
            path.append(node)
            self.count(node, place, 1)
            node.told = None
        node.ids.append(place)
        return path

    def growth(self, branch: Node, label: int) -> int:
        """Return how many bits more the test above a branch has, as one with leaves, with a record there."""
        n, here = branch.n, branch.counts[label]
        more = self.table[2 * n + 4] - self.table[2 * n + 2] - self.odds[here + 1] + self.odds[here]
        return more if n else more + (self.one * self.weight >> 8) + 1

    def relabel(self, leaf: Node) -> None:
        """Let a leaf answer its most frequent class; where there are several, it stays with its own."""
        best = self.most_frequent(leaf.counts, 0)
        if leaf.counts[best] > leaf.counts[leaf.label]:
            leaf.label = best

    def refresh_path(self, path: list[Node]) -> None:
        """Find the parts of the bits on a path again, from its end to the root."""
        for at in range(len(path) - 1, -1, -1):
            node = path[at]
            same = node.same
            self.refresh(node)
            if node.same != same:
                self.note(path[: at + 1])

    def note(self, path: list[Node]) -> None:
        """Note that the tree looks different at the end of a path."""
        self.changed = True
        for node in path:
            node.shape = None

    def replace(self, path: list[Node], at: int, new: Node) -> None:
        """Put another subtree in the place of the node of a path, and find the bits above it."""
        old = path[at]
        if at == 0:
            self.root = new
        else:
            above = path[at - 1]
            for value in above.branches:
                if above.branches[value] is old:
                    above.branches[value] = new
                    break
        for up in range(at - 1, -1, -1):
            self.refresh(path[up])
            node = path[up]
            node.shape = node.told = None
        self.changed = True

    def adopt(self, path: list[Node], at: int, new: Node) -> bool:
        """Put a subtree of fewer bits in its place, unless the whole tree would have more."""
        assert self.root is not None
        old, before = path[at], self.bits(self.root)
        self.replace(path, at, new)
        saved = before - self.bits(self.root)
        if saved < 0:
            path[at] = new
            self.replace(path, at, old)
            path[at] = old
            return False
        self.saved = saved
        return True

    def is_early(self, node: Node) -> bool:
        """Whether too few records have come since another test was tried in vain."""
        return node.tried > 0 and self.next - node.tried < (self.retry - 1) * (self.next - self.first)

    def restructure(self, path: list[Node]) -> bool:
        """Exchange the first test on a path that is not the best, if this saves bits."""
        for at in range(len(path) - 1):
            node = path[at]
            if node.lead > 0 or self.is_early(node):
                continue
            if self.deep:
                new = self.best_subtree(self.folded(node))
                if new.test == node.test and new.cut == node.cut:
                    node.tried = self.next
                    continue
            else:
                self.best_extension(node)
                if self.best < 0:
                    continue
                if self.best == node.test and self.best_cut == node.cut:
                    node.lead = self.lead
                    continue
                if self.pull:
                    new = self.settled_with(node, self.best, self.best_cut)
                else:
                    new = self.grown_with(self.folded(node), self.best, self.best_cut)
            saved = self.bits(node) - self.bits(new)
            if new.test >= 0 and saved > self.slack and self.adopt(path, at, new):
                new.saved = saved
                self.pull_ups += 1
                return True
            node.tried = self.next
        return False

    def prune(self, path: list[Node]) -> bool:
        """Fold the nodes of a path that have fewer bits as leaves, from the end upwards.

        One whose leaves all answer the same class goes also if it has the same bits.
        """
        pruned = False
        saved = 0
        for at in range(len(path) - 2, -1, -1):
            node = path[at]
            less = self.bits(node) - self.leaf_bits(node)
            if less > self.slack or (less >= 0 and node.same >= 0):
                leaf = self.folded(node)
                if self.adopt(path, at, leaf):
                    path[at] = leaf
                    saved += self.saved
                    pruned = True
                    self.collapses += 1
        self.saved = saved if pruned else self.saved
        return pruned

    def extend(self, path: list[Node]) -> bool:
        """Give the leaf at the end of a path the test that saves most, if one saves bits."""
        leaf = path[len(path) - 1]
        if self.deep:
            if self.is_early(leaf):
                return False
            new = self.best_subtree(leaf)
            leaf.tried = self.next
        else:
            self.best_extension(leaf)
            if self.best < 0 or self.best_bits >= self.bits(leaf) - self.slack:
                return False
            saved, runner, margin = self.bits(leaf) - self.best_bits, self.runner, self.margin
            new = self.split(leaf, self.best, self.best_cut)
            new.saved, new.runner, new.margin = saved, runner, margin
        if new is leaf:
            return False
        self.saved = self.bits(leaf) - self.bits(new)
        self.replace(path, len(path) - 1, new)
        self.expansions += 1
        return True

    def counted(self) -> tuple[int, int, int, int, int, int, int, int]:
        """Return what has been done so far, in the order that `state.in_order` takes."""
        return (
            self.additions,
            self.scores,
            self.expansions,
            self.pull_ups,
            self.collapses,
            self.rebuilds,
            self.next,
            self.first,
        )

    # ---- forgetting, and all at once

    def forget_oldest(self) -> None:
        """Take the oldest record out, and prune where it was."""
        place = self.first
        node = self.root
        assert node is not None
        path: list[Node] = []
        while True:
            path.append(node)
            self.count(node, place, -1)
            node.told = None
            node.lead = 0
            if node.test < 0:
                break
            node = node.branches[self.branch_of(node, place)]
        node.ids.remove(place)
        last = len(path) - 1
        while last > 0 and node.n == 0:
            last -= 1
            node = path[last]
            del path[last + 1], node.branches[self.branch_of(node, place)]
            self.note(path)
        self.first += 1
        if node.n == 0:
            self.root = None
            self.changed = True
            return
        if node.test < 0:
            self.relabel(node)
        self.refresh_path(path)
        if node.test >= 0:
            path.append(node)
        self.prune(path)

    def rebuild(self) -> None:
        """Build the tree of all records again."""
        if self.root is None:
            return
        ids = list(range(self.first, self.next))
        leaf = self.leaf_of(ids, self.barred, self.width - sum(self.barred))
        self.root = self.best_subtree(leaf) if self.deep else self.grown(leaf)
        self.rebuilds += 1
        self.changed = True

    def find(self, row: list[int]) -> tuple[Node, int]:
        """Return the node that answers a row, and 0; or the last node on the way, and 1."""
        node = self.root
        assert node is not None
        while node.same < 0:
            value = row[node.test] if node.test < len(row) else 0
            if self.numeric[node.test]:
                value = 1 if value > node.cut else 0
            branch = node.branches.get(value)
            if branch is None:
                return node, 1
            node = branch
        return node, 0
