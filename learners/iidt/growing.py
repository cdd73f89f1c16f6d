"""IIDT and I-IIDT: a tree that takes records in as they come and is improved as long as there is budget.

Figures 2, 4 to 9 of the paper, with its corrections: `docs/fidelity.md` lists them. A unit of budget is about
a node of a tree that SID3 draws. Work stops in the middle of anything and goes on there, so that a budget
gives the same tree however it is divided.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

from learners.iidt._choosing import Policy, prune
from learners.iidt._tree import Forest, Made, Node
from learners.lookahead._lookahead import splitmix64

UNIT_VALUES = 256
"""How many values looked at cost a unit."""
MASK = (1 << 64) - 1
COUNTERS = (
    "iteration",
    "most_r",
    "improvements",
    "rejected",
    "additions",
    "expansions",
    "discards",
    "collapses",
)


@dataclass
class Work:
    """An attempt to improve a node: the subtree that is being built for it.

    Attributes:
        node: The node.
        path: The branches that lead to it from the root.
        r: What it is allowed.
        first: The oldest record that there was when it began.
        next: The number of the next record then.
        width: How many attributes there were.
        domain: How many values of each.
        made: The subtree.
    """

    node: Node
    path: list[int]
    r: int
    first: int
    next: int
    width: int
    domain: list[int]
    made: Made


class Growing:
    """The tree of the records retained.

    Args:
        policy: Which nodes are improved, and what is better.
        seed: What random numbers are made from.
        regrow: How many times as many records an impure leaf must have before C4.5 is tried on it again,
            where leaves may be impure; None: it never is, which is the paper's way.
    """

    def __init__(self, policy: Policy, seed: int, regrow: float | None = None) -> None:
        self.forest = Forest()
        self.policy = policy
        self.seed = seed & MASK
        self.regrow = regrow
        self.changed = False
        self.iteration = 0
        self.most_r = 1
        self.improvements = 0
        self.rejected = 0
        self.saved = 0.0
        self.credit = 0
        self.idle = False
        self.work: Work | None = None
        self.held: deque[tuple[list[int], int]] = deque()
        self.additions = self.expansions = self.discards = self.collapses = 0

    # ---- records

    def learn(self, number: int) -> None:
        """Take in a record that was put down."""
        forest = self.forest
        self.idle = False
        if forest.root is None:
            forest.root = Node()
        path = forest.insert(forest.root, number)
        self.additions += len(path)
        self._settle(path, number)

    def _settle(self, path: list[Node], number: int) -> None:
        """See to a leaf that has got a record."""
        leaf = path[-1]
        if leaf.shape is None or leaf.shown != leaf.label:
            self._touch(path)
        if leaf.n == max(leaf.counts):
            return
        if leaf.stuck:
            if self.forest.alike(leaf.rows[0], number):
                return
            leaf.stuck = False
        if self.policy.by_errors and (self.regrow is None or leaf.n < self.regrow * leaf.tried):
            return
        new = self.built(leaf.rows)
        if new.test >= 0:
            self.expansions += 1
            leaf.become(new)
            self._touch(path)
        else:
            leaf.tried, leaf.stuck = leaf.n, new.stuck

    def built(self, rows: list[int], r: int = 0, seed: int = 0) -> Node:
        """Return the subtree of some records: ID3, C4.5 or LSID3, by policy and allowance."""
        made = self.forest.make(rows, r, seed)
        made.job.run(MASK >> 1)
        new = self.forest.grown(made, r)
        if self.policy.by_errors:
            stuck = new.stuck
            prune(self.forest, new, self.policy.confidence, self.policy.z)
            new.stuck = stuck
        return new

    def start(self, numbers: list[int]) -> None:
        """Build the first tree from records that were put down: ID3's, or C4.5's."""
        self.forest.root = self.built(numbers)
        self.additions += len(numbers)
        self.changed, self.idle = True, False

    def evict(self) -> None:
        """Let the oldest record go."""
        forest = self.forest
        self.idle = False
        path = forest.remove(forest.first)
        forest.first += 1
        kept = [node for node in path if node.n]
        last = kept[-1]
        if len(kept) < len(path):
            last.branches = {value: below for value, below in last.branches.items() if below.n}
            self._touch(kept)
        for depth, node in enumerate(kept):
            if node.test >= 0 and max(node.counts) == node.n:
                self.collapses += 1
                node.rows = forest.rows_below(node)
                node.test, node.numeric, node.branches = -1, False, {}
                self._touch(kept[: depth + 1])
                last = node
                break
        if last.test < 0 and last.shown != last.label:
            self._touch(kept)
        work = self.work
        if work is not None and (
            self._at(work.path) is not work.node
            or forest.next - work.first > 3 * (forest.next - forest.first)
        ):
            # Its node has gone, or most of what it is being built from.
            self.work = None
        forest.compact(forest.first if self.work is None else self.work.first)

    def retire(self, attributes: Sequence[int]) -> bool:
        """Let no record have a value of some attributes and build the tree again; return whether any had."""
        forest = self.forest
        had = False
        for attribute in attributes:
            for row, _ in self.held:
                if attribute < len(row):
                    row[attribute] = 0
            if attribute < forest.width:
                had |= forest.blank(attribute)
        if had:
            self.work = None
            forest.compact(forest.first)
            if forest.root is not None:
                self.start(list(range(forest.first, forest.next)))
        return had

    def _touch(self, path: list[Node]) -> None:
        """Note that the tree looks different along a path."""
        for node in path:
            node.shape, node.leaves, node.errors = None, -1, -1
        self.changed = True

    def _at(self, path: list[int]) -> Node | None:
        """Return the node that some branches lead to."""
        node = self.forest.root
        for value in path:
            if node is None:
                break
            node = node.branches.get(value)
        return node

    # ---- improving

    def improve(self, budget: int) -> int:
        """Spend a budget; return how much of it was of use. What is begun goes on with the next one."""
        given, self.credit = self.credit, self.credit + budget
        while self.credit > 0 and not self.idle:
            if self.work is None:
                self._begin()
                continue
            job = self.work.made.job
            before = job.spent
            job.run(before + self.credit)
            self.credit -= job.spent - before
            if job.done:
                self._finish(self.work)
                self.work = None
        if self.idle:
            self.credit = min(self.credit, 0)
            return 0 if given == self.credit else budget
        return budget

    def _begin(self) -> None:
        """Choose a node and begin an attempt; where there is none, be idle until there are new records."""
        forest = self.forest
        nodes, chosen = self.policy.choose(forest, 2 * self.most_r)
        self.credit -= 1 + nodes
        if chosen is None:
            self.idle = True
            return
        node, path, r = chosen
        self.most_r = max(self.most_r, r)
        rows = forest.rows_below(node)
        self.credit -= len(rows) * forest.width // UNIT_VALUES
        made = forest.make(rows, r, self._seed(path, self.iteration))
        domain = list(forest.domain)
        self.work = Work(node, path, r, forest.first, forest.next, forest.width, domain, made)

    def _seed(self, path: list[int], iteration: int) -> int:
        seed = splitmix64(self.seed, iteration + 1)
        for value in path:
            seed = splitmix64(seed, (value + 1) & MASK)
        return seed

    def _finish(self, work: Work) -> None:
        """Put the subtree that has been built in the place of the one in use if it is better."""
        forest, node = self.forest, work.node
        self.iteration += 1
        new = forest.grown(work.made, work.r)
        if self.policy.by_errors:
            prune(forest, new, self.policy.confidence, self.policy.z)
        rows = forest.rows_below(node)
        if rows != work.made.ids:
            self._refill(new, rows)
        self.credit -= len(rows) * forest.width // UNIT_VALUES
        better = self.policy.worth(forest, node) - self.policy.worth(forest, new)
        if better > 1e-9:
            if self._is_worse(node, new, work.path):
                self.rejected += 1
            else:
                self.improvements += 1
                self.saved += better
                self.discards += 1
                node.become(new)
                path: list[Node] = []
                for depth in range(len(work.path) + 1):
                    above = self._at(work.path[:depth])
                    assert above is not None
                    path.append(above)
                self._touch(path)
                return
        node.last_r, node.tried = work.r, node.n
        # Nothing can be made of records that no test divides.
        node.stuck = node.test < 0 and new.test < 0 and new.stuck

    def _refill(self, root: Node, rows: list[int]) -> None:
        """Give a subtree the records that there are now: some came while it was being built, some went."""
        forest = self.forest
        nodes = [root]
        for node in nodes:
            nodes.extend(node.branches.values())
            node.counts, node.rows, node.n, node.leaves, node.errors = [], [], 0, -1, -1
        for number in rows:
            forest.insert(root, number)
        nodes = [root]
        for node in nodes:
            node.branches = {value: below for value, below in node.branches.items() if below.n}
            nodes.extend(node.branches.values())
            if node.test < 0 and not self.policy.by_errors and node.n > max(node.counts):
                node.become(self.built(node.rows))

    def _is_worse(self, old: Node, new: Node, path: list[int]) -> bool:
        """Whether records that were held out speak against a subtree: it must not be smaller but worse."""
        forest = self.forest
        only_old = only_new = 0
        node = self._at(path)
        for row, label in self.held:
            if node is not forest.root and not self._passes(row, path):
                continue
            before, now = forest.find(old, row)[0].label, forest.find(new, row)[0].label
            only_old += before == label != now
            only_new += now == label != before
        return only_old - only_new > sqrt(only_old + only_new)

    def _passes(self, row: list[int], path: list[int]) -> bool:
        node = self.forest.root
        assert node is not None
        for value in path:
            code = row[node.test] if node.test < len(row) else 0
            if (int((code - 1) & MASK > node.key) if node.numeric else code) != value:
                return False
            node = node.branches[value]
        return True

    # ---- going on after a restart

    def resume(self, path: list[int], r: int, first: int, following: int, width: int, domain: list[int],
               position: list[int], decisions: list[int]) -> None:  # fmt: skip
        """Go on with an attempt that was under way.

        Raises:
            ValueError: There can have been none like this.
        """
        forest = self.forest
        node = self._at(path)
        if node is None or not forest.base <= first <= following <= forest.next:
            raise ValueError("the attempt is at no node, or of records that are not there")
        if not 0 <= width <= forest.width or len(domain) < width:
            raise ValueError("the attempt has attributes that are not there")
        rows = [number for number in range(first, following) if self._leads(number, path)]
        made = forest.make(rows, r, self._seed(path, self.iteration), width, domain)
        made.job.resume(position, decisions)
        self.work = Work(node, path, r, first, following, width, domain, made)

    def counted(self) -> list[int]:
        """Return what has been counted, for a snapshot."""
        return [getattr(self, name) for name in COUNTERS]

    def set_counted(self, counters: list[int]) -> None:
        """Go on counting."""
        for name, count in zip(COUNTERS, counters, strict=True):
            setattr(self, name, count)

    def _leads(self, number: int, path: list[int]) -> bool:
        node = self.forest.root
        assert node is not None
        for value in path:
            if self.forest.branch(node, number) != value:
                return False
            node = node.branches[value]
        return True
