# cython: language_level=3, boundscheck=False, wraparound=False, annotation_typing=False
"""Records as rows of small numbers, and nodes that count them. This file is compiled; see `records.pxd`.

A row has the code of each nominal value and the bin of each number. A node has, for every attribute, how many
records of each class have each value, so that any test can be judged without looking at the records; these
are kept in the leaves alone.
"""

from array import array

from learners.mdl.bits import ONE, gammas, odds


class Node:
    """A subtree: a leaf if `test` is -1.

    Attributes:
        counts: How many records of each class; then, for each attribute, of each value and class.
        n: How many records.
        used: For each attribute whether it is tested above; numbers may be tested again.
        available: How many attributes may be tested here.
        test: The attribute tested. A number is compared: bins up to `cut` go to branch 0, the others to 1.
        branches: value -> subtree.
        ids: The records of a leaf, the oldest first.
        label: The class that a leaf answers: a most frequent one, and of these the one it had before.
        same: The class that all leaves below answer; -1 where they differ.
        tried: How many records had come when another test was last tried in vain; 0: none was.
        lead: How many bits more the test could have before another one might be better, 0 where this is not
            known. Bits of tests only grow with records, so that nothing need be judged as long as it lasts.
        saved, runner, margin: The bits saved when the test was chosen, the next best attribute, and how many
            bits more its leaves would have had.
        nodes, decisions, tests, classes, data, wrong: What the bits of the subtree are made of.
        shape, told: The subtree as data, None where it has changed; `shape` may have older counts.
        explained: The way to the node in words, with the version of the tree it was told of.
    """

    def __init__(self, counts: "array[int]", used: bytes, available: int) -> None:
        self.counts = counts
        self.n = 0
        self.used = used
        self.available = available
        self.test = -1
        self.cut = 0
        self.branches: dict[int, Node] = {}
        self.ids: list[int] = []
        self.label = 0
        self.same = 0
        self.tried = 0
        self.lead = 0
        self.saved = 0
        self.runner = -1
        self.margin = 0
        self.nodes = 1
        self.decisions = 0
        self.tests = 0
        self.classes = ONE
        self.data = 0
        self.wrong = 0
        self.shape: object = None
        self.told: object = None
        self.explained: object = None

    def class_counts(self, classes: int) -> list[int]:
        """Return how many records of each class there are."""
        return [self.counts[c] for c in range(classes)]


class Records:
    """The records retained, in a ring, and how they and the counts are laid out."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self.table = gammas(64)
        self.odds = odds(32, 2)
        self.odds_of = 2
        self.width = 0
        self.k = 2
        self.cells = 2
        self.reshaped = True
        self.barred = b""
        self.base = array("i")
        self.sizes = array("i")
        self.numeric = array("i")
        self.cuts = array("i")
        self.order = array("i")
        self.ranks = array("i")
        self.sorted: list[list[int]] = []
        self.room = 16
        self.rows = array("i")
        self.labels = array("i", [0]) * 16
        self.first = 0
        self.next = 0
        self.additions = 0

    def lay_out(
        self,
        sizes: list[int],
        numeric: list[int],
        cuts: list[int],
        order: list[int],
        k: int,
        ranks: list[int],
        texts: list[list[int]],
        barred: bytes,
    ) -> None:
        """Make room for names that are new. What is in the tree is to be counted again.

        Args:
            sizes: For each attribute how many codes or bins there can be.
            numeric: For each whether it is a number.
            cuts: For each number how many cuts it has.
            order: The attributes in the order in which ties are broken.
            k: How many classes there are.
            ranks: For each class its place among equally frequent ones.
            texts: For each attribute its values in the order of their texts.
            barred: For each attribute whether it may not be tested anywhere.
        """
        old, width = self.width, len(sizes)
        rows = array("i", [0]) * (self.room * width)
        for place in range(self.first, self.next):
            slot = place % self.room
            for a in range(old):
                rows[slot * width + a] = self.rows[slot * old + a]
        self.rows = rows
        self.reshaped = width != old or k != self.k or list(self.numeric) != numeric or self.barred != barred
        self.barred = barred
        self.width, self.k = width, k
        self.sizes, self.numeric, self.cuts = array("i", sizes), array("i", numeric), array("i", cuts)
        self.order, self.ranks, self.sorted = array("i", order), array("i", ranks), texts
        self.base = array("i", [0]) * (width + 1)
        self.cells = k
        for a in range(width):
            self.base[a] = self.cells
            self.cells += sizes[a] * k
        self.reserve_table()

    def rename(self, ranks: list[int], texts: list[list[int]]) -> None:
        """Take note of names that are new, for which there is room already; see `lay_out`."""
        self.ranks, self.sorted = array("i", ranks), texts

    def reserve_table(self) -> None:
        """Have all logarithms that as many records, attributes and cuts as there are can need."""
        needed = 2 * max(self.next - self.first, self.width, self.cells) + self.k + 16
        if needed > len(self.table):
            self.table = gammas(2 * needed, self.table)
        if 2 * len(self.odds) < needed or self.odds_of != self.k:
            self.odds, self.odds_of = odds(len(self.table) // 2, self.k), self.k

    def put(self, row: list[int], label: int) -> None:
        """Write a record down as the next one; it is not in the tree yet."""
        if self.next - self.first >= self.room:
            self.widen_ring()
        slot = self.next % self.room
        self.labels[slot] = label
        start = slot * self.width
        for a in range(len(row)):
            self.rows[start + a] = row[a]
        for a in range(len(row), self.width):
            self.rows[start + a] = 0

    def widen_ring(self) -> None:
        """Have room for twice as many records."""
        room, width = 2 * self.room, self.width
        rows, labels = array("i", [0]) * (room * width), array("i", [0]) * room
        for place in range(self.first, self.next):
            old, new = place % self.room, place % room
            labels[new] = self.labels[old]
            for a in range(width):
                rows[new * width + a] = self.rows[old * width + a]
        self.room, self.rows, self.labels = room, rows, labels
        self.reserve_table()

    def dumped(self) -> tuple[list[int], list[int]]:
        """Return the rows of all records, one after the other, and their labels."""
        rows: list[int] = []
        labels: list[int] = []
        for place in range(self.first, self.next):
            slot = place % self.room
            labels.append(self.labels[slot])
            for a in range(self.width):
                rows.append(self.rows[slot * self.width + a])
        return rows, labels

    def load(self, rows: list[list[int]], labels: list[int], first: int) -> None:
        """Have the records that were dumped, and no tree."""
        self.root = None
        self.first = self.next = first
        for row, label in zip(rows, labels, strict=True):
            self.put(row, label)
            self.next += 1
        self.reserve_table()

    def set_value(self, place: int, attribute: int, value: int) -> None:
        """Give a record another bin, for cuts that are new; the tree is to be built again."""
        self.rows[place % self.room * self.width + attribute] = value

    def branch_of(self, node: Node, place: int) -> int:
        """Return the branch that a record takes."""
        value = self.rows[place % self.room * self.width + node.test]
        if self.numeric[node.test]:
            return 1 if value > node.cut else 0
        return value

    # ---- counts

    def count(self, node: Node, place: int, sign: int) -> None:
        """Add a record to the counts of a node or take it out."""
        slot = place % self.room
        start, k, label, width = slot * self.width, self.k, self.labels[slot], self.width
        counts, rows, base = node.counts, self.rows, self.base
        counts[label] += sign
        for a in range(width):
            counts[base[a] + rows[start + a] * k + label] += sign
        node.n += sign
        self.additions += width

    def add_counts(self, node: Node, other: Node) -> None:
        """Add the counts of another node."""
        counts, others = node.counts, other.counts
        for i in range(self.cells):
            counts[i] += others[i]
        node.n += other.n

    def new_root(self) -> Node:
        """Return an empty leaf that has nothing above it."""
        return self.new_node(self.barred, self.width - sum(self.barred))

    def new_node(self, used: bytes, available: int) -> Node:
        """Return an empty leaf."""
        return Node(array("i", [0]) * self.cells, used, available)

    def most_frequent(self, counts: "array[int]", start: int) -> int:
        """Return the most frequent class, and of several the first in the order of classes."""
        best = 0
        for c in range(1, self.k):
            more = counts[start + c] - counts[start + best]
            if more > 0 or (more == 0 and self.ranks[c] < self.ranks[best]):
                best = c
        return best

    def used_below(self, node: Node) -> bytes:
        """Return which attributes are tested at a node or above it."""
        if self.numeric[node.test]:
            return node.used
        return node.used[: node.test] + b"\1" + node.used[node.test + 1 :]

    def collected(self, node: Node) -> list[int]:
        """Return the records below a node, the oldest first."""
        if node.test < 0:
            return list(node.ids)
        ids: list[int] = []
        for branch in node.branches.values():
            ids.extend(self.collected(branch))
        ids.sort()
        return ids
