# cython: language_level=3, boundscheck=False, wraparound=False, annotation_typing=False
"""How many bits a tree has, and which test would save most. This file is compiled; see `judging.pxd`."""

from array import array

from learners.mdl.bits import ONE
from learners.mdl.records import Node, Records

ADDITIVE, PAPER, DATA, ROOT = range(4)
"""The codes: additive; the paper's; its exceptions alone; its exceptions as one set for all leaves."""
SLACK = 1 << 12
"""Bits count as fewer only by more than this, a millionth of a bit: less is rounding."""


class Judging(Records):
    """Records, and the bits of trees of them.

    Args:
        code: How bits are counted.
        weight: How much a bit of the tree counts against one of the exceptions, in the additive code.
    """

    def __init__(self, code: int, weight: float) -> None:
        super().__init__()
        self.code = code
        self.weight = round(256 * weight)
        # Constants, for the compiler.
        self.one = ONE
        self.slack = SLACK
        self.adds_up = code == ADDITIVE
        self.names_classes = code in (PAPER, ROOT)
        # What `best_extension` finds.
        self.best = -1
        self.best_cut = 0
        self.best_bits = 0
        self.runner = -1
        self.margin = 0
        self.lead = 0
        self.threshold_bits = 0
        self.scores = 0

    def cell_bits(self, counts: "array[int]", start: int) -> int:
        """Return the bits of the classes of some records, as a leaf of them would have."""
        table, odds, k = self.table, self.odds, self.k
        n = most = bits = 0
        if self.adds_up:
            for c in range(k):
                here = counts[start + c]
                n += here
                bits -= odds[here]
            return bits + table[2 * n + 2]
        for c in range(k):
            here = counts[start + c]
            n += here
            most = max(most, here)
        return table[2 * n + 4] - table[2 * (n - most) + 2] - table[2 * most + 2]

    def log(self, number: int) -> int:
        """Return log2 of a whole number."""
        return self.table[2 * number + 2] - self.table[2 * number]

    def length(self, n: int, k: int) -> int:
        """Return L(n, k, n)."""
        return self.table[2 * n + 4] - self.table[2 * k + 2] - self.table[2 * (n - k) + 2]

    def total(
        self, nodes: int, decisions: int, tests: int, classes: int, data: int, wrong: int, n: int
    ) -> int:
        """Return the bits of a tree from what they are made of."""
        if self.adds_up:
            return ((nodes * self.one + tests) * self.weight >> 8) + data
        if self.code == DATA:
            return data
        shape = self.log(nodes + 3) - self.one + self.length(nodes, decisions) - self.log(nodes + 1)
        return shape + tests + classes + (self.length(n, wrong) if self.code == ROOT else data)

    def bits(self, node: Node) -> int:
        """Return the bits of a subtree with its exceptions, as if it were the whole tree."""
        return self.total(node.nodes, node.decisions, node.tests, node.classes, node.data, node.wrong, node.n)

    def leaf_bits(self, node: Node) -> int:
        """Return the bits a node would have as a leaf."""
        counts = node.counts
        most = 0
        for c in range(self.k):
            most = max(most, counts[c])
        return self.total(1, 0, 0, self.one, self.cell_bits(counts, 0), node.n - most, node.n)

    def refresh(self, node: Node) -> None:
        """Find the parts of a node's bits from its counts, or from its branches, whose parts are right."""
        if node.test < 0:
            node.nodes, node.decisions, node.tests, node.classes = 1, 0, 0, self.one
            node.data = self.cell_bits(node.counts, 0)
            node.wrong = node.n - node.counts[node.label]
            node.same = node.label
            return
        nodes = decisions = 1
        tests = self.test_bits(node, node.test)
        classes = data = wrong = leaves = 0
        same = -2
        for branch in node.branches.values():
            nodes += branch.nodes
            decisions += branch.decisions
            tests += branch.tests
            classes += branch.classes
            data += branch.data
            wrong += branch.wrong
            leaves += branch.test < 0
            same = branch.same if same in (-2, branch.same) else -1
        node.nodes, node.decisions, node.tests = nodes, decisions, tests
        node.data, node.wrong, node.same = data, wrong, same
        if self.names_classes and leaves == len(node.branches) and self.last_is_known(node):
            classes -= self.one
        node.classes = classes

    def test_bits(self, node: Node, attribute: int) -> int:
        """Return the bits that say which attribute is tested, and for a number which of its cuts."""
        bits = self.log(node.available)
        if self.numeric[attribute]:
            bits += self.log(max(1, self.cuts[attribute]))
        return bits

    def last_is_known(self, node: Node) -> bool:
        """Whether all leaves below a node but the last are of one class, which leaves one for the last.

        Branches count in the order of their texts, as the paper codes them.
        """
        values = [0, 1] if self.numeric[node.test] else self.sorted[node.test]
        labels = [node.branches[value].label for value in values if value in node.branches]
        return len(set(labels[: len(labels) - 1])) < 2

    # ---- tests

    def best_extension(self, node: Node) -> None:
        """Find the test that has the fewest bits with its leaves; `best` is -1 where none divides."""
        # Most of the time goes here: the additive code of nominal tests is written out.
        counts, table, odds, k, used = node.counts, self.table, self.odds, self.k, node.used
        base, sizes, numeric, order = self.base, self.sizes, self.numeric, self.order
        adds_up, one, slack, weight = self.adds_up, self.one, self.slack, self.weight
        best, runner, best_cut = -1, -1, 0
        best_bits = second = scored = 0
        rival = 1 << 62
        tests = self.log(node.available) if node.available else 0
        for place in range(self.width):
            a = order[place]
            if used[a]:
                continue
            cut = 0
            if numeric[a]:
                cut = self.best_threshold(node, a)
                if cut < 0:
                    rival = 0
                    continue
                bits = self.threshold_bits
            elif adds_up:
                start = cell = base[a]
                data = leaves = 0
                while cell < start + sizes[a] * k:
                    n = 0
                    for c in range(cell, cell + k):
                        here = counts[c]
                        n += here
                        data -= odds[here]
                    if n:
                        leaves += 1
                        data += table[2 * n + 2]
                    cell += k
                bits = (((leaves + 1) * one + tests) * weight >> 8) + data
                if leaves < 2:
                    rival = min(rival, bits)
                    continue
            else:
                bits = self.extension_bits(node, a)
                if bits < 0:
                    continue
            scored += 1
            if best < 0 or bits < best_bits - slack:
                if best >= 0:
                    rival = min(rival, best_bits)
                second, runner = best_bits, best
                best, best_cut, best_bits = a, cut, bits
                continue
            rival = min(rival, bits)
            if runner < 0 or bits < second - slack:
                second, runner = bits, a
        self.scores += scored
        self.best, self.best_cut, self.best_bits, self.runner = best, best_cut, best_bits, runner
        self.margin = second - best_bits if runner >= 0 else 0
        # Of a number another cut might get better as well.
        self.lead = rival - best_bits - 2 * slack if adds_up and best >= 0 and not numeric[best] else 0

    def extension_bits(self, node: Node, a: int) -> int:
        """Return the bits of a node with the leaves of a nominal test; -1 where there would be only one."""
        counts, k, start = node.counts, self.k, self.base[a]
        data = wrong = leaves = n = most = 0
        for value in range(self.sizes[a]):
            n = most = 0
            for c in range(k):
                here = counts[start + value * k + c]
                n += here
                most = max(most, here)
            if n:
                leaves += 1
                wrong += n - most
                data += self.cell_bits(counts, start + value * k)
        if leaves < 2:
            return -1
        classes = self.extension_classes(node, a, leaves) if self.names_classes else 0
        return self.total(leaves + 1, 1, self.test_bits(node, a), classes, data, wrong, node.n)

    def extension_classes(self, node: Node, a: int, leaves: int) -> int:
        """Return the bits of the classes of a nominal test's leaves."""
        labels: list[int] = []
        for value in self.sorted[a]:
            start = self.base[a] + value * self.k
            best = self.most_frequent(node.counts, start)
            if node.counts[start + best]:
                labels.append(best)
        return (leaves - (len(set(labels[: len(labels) - 1])) < 2)) * self.one

    def best_threshold(self, node: Node, a: int) -> int:
        """Return the cut of a number whose two leaves have the fewest bits, -1 where none divides."""
        counts, k, start = node.counts, self.k, self.base[a]
        sides = array("i", [0]) * (2 * k)
        for value in range(self.sizes[a]):
            for c in range(k):
                sides[k + c] += counts[start + value * k + c]
        found = -1
        low = 0
        tests = self.test_bits(node, a)
        for value in range(self.sizes[a]):
            moved = 0
            for c in range(k):
                here = counts[start + value * k + c]
                sides[c] += here
                sides[k + c] -= here
                moved += here
            low += moved
            if low == node.n:
                break
            if not moved:
                continue
            most = other = 0
            for c in range(k):
                most = max(most, sides[c])
                other = max(other, sides[k + c])
            data = self.cell_bits(sides, 0) + self.cell_bits(sides, k)
            bits = self.total(3, 1, tests, self.one, data, node.n - most - other, node.n)
            if found < 0 or bits < self.threshold_bits - self.slack:
                found, self.threshold_bits = value, bits
        return found
