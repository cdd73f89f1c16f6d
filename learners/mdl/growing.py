# cython: language_level=3, boundscheck=False, wraparound=False, annotation_typing=False
"""How subtrees come about: built again, grown deep, or by pulling a test up. Compiled; see `growing.pxd`.

Nothing here changes a tree that is in use: a subtree is made, and adopted by `tree.py` if it has fewer bits.
"""

from array import array

from learners.mdl.judging import Judging
from learners.mdl.records import Node


class Growing(Judging):
    """Judging, and subtrees.

    Args:
        code: How bits are counted.
        weight: How much a bit of the tree counts against one of the exceptions, in the additive code.
        deep: Whether a test is judged by the whole subtree that could grow below it.
    """

    def __init__(self, code: int, weight: float, deep: bool) -> None:
        super().__init__(code, weight)
        self.deep = deep

    def recount(self, node: Node, used: bytes) -> None:
        """Count a subtree again in the present layout."""
        node.used = used
        node.available = self.width - sum(used)
        node.shape = node.told = None
        if self.reshaped:
            node.lead = 0
        node.counts = array("i", [0]) * self.cells
        node.n = 0
        for branch in node.branches.values():
            self.recount(branch, self.used_below(node))
            self.add_counts(node, branch)
        for place in node.ids:
            self.count(node, place, 1)
        self.refresh(node)

    def leaf_of(self, ids: list[int], used: bytes, available: int) -> Node:
        """Return a leaf of some records."""
        node = self.new_node(used, available)
        node.ids = ids
        for place in ids:
            self.count(node, place, 1)
        node.label = self.most_frequent(node.counts, 0)
        self.refresh(node)
        return node

    def folded(self, node: Node) -> Node:
        """Return a node as a leaf."""
        leaf = Node(node.counts, node.used, node.available)
        leaf.n, leaf.ids = node.n, self.collected(node)
        leaf.label = self.most_frequent(leaf.counts, 0)
        self.refresh(leaf)
        return leaf

    def split(self, node: Node, test: int, cut: int) -> Node:
        """Return a node with the records of a leaf and a test; its branches are leaves."""
        made = Node(node.counts, node.used, node.available)
        made.n, made.test, made.cut = node.n, test, cut
        groups: dict[int, list[int]] = {}
        for place in node.ids:
            value = self.branch_of(made, place)
            if value in groups:
                groups[value].append(place)
            else:
                groups[value] = [place]
        used = self.used_below(made)
        available = node.available - (0 if self.numeric[test] else 1)
        for value, ids in groups.items():
            made.branches[value] = self.leaf_of(ids, used, available)
        self.refresh(made)
        return made

    def grown(self, leaf: Node) -> Node:
        """Extend a leaf and its new leaves as long as this saves bits."""
        if self.deep:
            return self.deep_grown(leaf)
        self.best_extension(leaf)
        if self.best < 0 or self.best_bits >= self.bits(leaf) - self.slack:
            return leaf
        return self.grown_with(leaf, self.best, self.best_cut)

    def grown_with(self, leaf: Node, test: int, cut: int) -> Node:
        """Give a leaf a test, and extend what is below it."""
        saved, runner, margin = self.bits(leaf) - self.best_bits, self.runner, self.margin
        node = self.split(leaf, test, cut)
        node.saved, node.runner, node.margin = saved, runner, margin
        for value in list(node.branches):
            node.branches[value] = self.grown(node.branches[value])
        self.refresh(node)
        return node

    def deep_grown(self, leaf: Node) -> Node:
        """Extend a leaf until its leaves are of one class, and prune by bits."""
        if leaf.wrong == 0:
            return leaf
        self.best_extension(leaf)
        if self.best < 0:
            return leaf
        node = self.grown_with(leaf, self.best, self.best_cut)
        return leaf if self.bits(leaf) <= self.bits(node) + self.slack else node

    def best_subtree(self, leaf: Node) -> Node:
        """Return the best of the subtrees that can grow deep below the tests of a leaf."""
        found = leaf
        for place in range(self.width):
            a = self.order[place]
            cut = 0
            if leaf.used[a]:
                continue
            if self.numeric[a]:
                cut = self.best_threshold(leaf, a)
                if cut < 0:
                    continue
            elif self.extension_bits(leaf, a) < 0:
                continue
            self.best_bits = self.bits(leaf)
            self.runner = -1
            node = self.grown_with(leaf, a, cut)
            if self.bits(node) < self.bits(found) - self.slack:
                if found is not leaf:
                    node.runner, node.margin = found.test, self.bits(found) - self.bits(node)
                node.saved = self.bits(leaf) - self.bits(node)
                found = node
        return found

    # ---- pulling up

    def pulled_up(self, node: Node, test: int, cut: int) -> Node:
        """Return a subtree of the same records with a test at its root. What it is made from stays as it was.

        Counts of new nodes are sums; records are looked at only where a leaf is divided.
        """
        if node.test < 0:
            return self.split(node, test, cut)
        if node.test == test and node.cut == cut:
            return node
        made = Node(node.counts, node.used, node.available)
        made.n, made.test, made.cut = node.n, test, cut
        used = self.used_below(made)
        available = node.available - (0 if self.numeric[test] else 1)
        for old, branch in node.branches.items():
            for new, below in self.pulled_up(branch, test, cut).branches.items():
                middle = made.branches.get(new)
                if middle is None:
                    middle = made.branches[new] = self.new_node(used, available)
                    middle.test, middle.cut = node.test, node.cut
                middle.branches[old] = below
                self.add_counts(middle, below)
        for middle in made.branches.values():
            self.refresh(middle)
        self.refresh(made)
        return made

    def settled(self, node: Node) -> Node:
        """Return a subtree with the tests it would have if it were built again."""
        self.best_extension(node)
        if self.best < 0 or self.best_bits >= self.leaf_bits(node) - self.slack:
            return self.folded(node)
        return self.settled_with(node, self.best, self.best_cut)

    def settled_with(self, node: Node, test: int, cut: int) -> Node:
        """Pull a test up and let what is below it be what it would be if it were built again."""
        saved, runner, margin = self.leaf_bits(node) - self.best_bits, self.runner, self.margin
        pulled = self.pulled_up(node, test, cut)
        made = Node(node.counts, node.used, node.available)
        made.n, made.test, made.cut = node.n, test, cut
        made.saved, made.runner, made.margin = saved, runner, margin
        for value, branch in pulled.branches.items():
            made.branches[value] = self.settled(branch)
        self.refresh(made)
        return made
