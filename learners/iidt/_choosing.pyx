# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""What a tree is worth, which of its nodes to improve next (figures 4 to 6), and pruning."""

from learners.iidt._tree cimport Forest, Node
from learners.lookahead._errors cimport expected_errors

cdef double MARGIN = 0.1  # C4.5 takes a leaf that is worse by no more than this


cdef double leaf_errors(Node node, double confidence, double z):
    cdef long long most = max(node.counts) if node.counts else 0
    return expected_errors(node.n, node.n - most, confidence, z)


cdef list in_order(Node root):
    """Return all nodes, parents before their children."""
    cdef list stack = [root], nodes = []
    cdef Node node
    while stack:
        node = stack.pop()
        nodes.append(node)
        if node.test >= 0:
            stack.extend(node.branches.values())
    return nodes


cpdef double errors_of(Node root, double confidence, double z):
    """Return the errors to be expected of a subtree: those of its leaves. They are kept."""
    cdef list stack = [root]
    cdef Node node, below
    cdef bint waits
    cdef double total
    while stack:
        node = stack[len(stack) - 1]
        if node.errors < 0:
            if node.test < 0:
                node.errors = leaf_errors(node, confidence, z)
            else:
                waits = False
                total = 0
                for below in node.branches.values():
                    if below.errors < 0:
                        stack.append(below)
                        waits = True
                    else:
                        total += below.errors
                if waits:
                    continue
                node.errors = total
        stack.pop()
    return root.errors


cpdef prune(Forest forest, Node root, double confidence, double z):
    """Make leaves of subtrees of which no more errors are to be expected as leaves."""
    cdef Node node, below
    cdef double leaf, total
    cdef dict errors = {}
    cdef list rows
    for node in reversed(in_order(root)):
        leaf = leaf_errors(node, confidence, z)
        if node.test >= 0:
            total = 0
            for below in node.branches.values():
                total += <double>errors[below]
            if leaf <= total + MARGIN:
                rows = forest.rows_below(node)
                node.test, node.numeric, node.branches, node.rows = -1, False, {}, rows
                node.shape = node.explained = None
                node.leaves = -1
            else:
                leaf = total
        errors[node] = leaf


cdef class Policy:
    """How nodes are chosen.

    Args:
        by_errors: Whether what counts are the errors to be expected (IIDT-EE), or leaves (IIDT-TS).
        granularity: The least share of the root's cost that an attempt has.
        most: The largest allowance of an attempt.
        retry: How many times as many records there must be for attempts to begin again.
        confidence: C4.5's CF.
        z: The quantile of the normal distribution that belongs to it.
    """

    cdef public bint by_errors
    cdef public double granularity, retry, confidence, z
    cdef public long long most

    def __init__(self, by_errors, granularity, most, retry, confidence, z):
        self.by_errors, self.granularity, self.most, self.retry = by_errors, granularity, most, retry
        self.confidence, self.z = confidence, z

    cpdef long long next_r(self, Node node):
        """Return what the next attempt to improve a node is allowed."""
        if node.last_r <= 0 or node.n >= self.retry * node.tried:
            return 1
        return 2 * node.last_r

    cpdef double worth(self, Forest forest, Node root):
        """Return what is to be made small: leaves, or errors to be expected."""
        if self.by_errors:
            return errors_of(root, self.confidence, self.z)
        return <double>forest.size(root)

    cdef tuple walk(self, Forest forest, long long top):
        """Return the nodes that may be improved, their parents' places, branches, costs and benefits.

        Args:
            forest: The tree.
            top: The most that any node's next attempt is allowed: where even that would cost too little,
                nothing below needs to be looked at.
        """
        cdef list nodes = [], parents = [], values = [], masks = [], left = [], costs = [], benefits = []
        cdef list waiting = [forest.root], above = [-1], through = [0]
        cdef Node node, below
        cdef Py_ssize_t a, place, parent
        cdef double cost, bound, most = -1, cube
        cdef long long attributes, n
        cdef bint numbers = any(forest.numeric)
        # Attributes by how many values they have, the fewest first. The sets are bits of an int of Python:
        # one of C has no bit for the attributes of a wide record.
        cdef object one = 1
        groups = {}
        nominal = 0
        for a in range(forest.width):
            domain = 2 if forest.numeric[a] else forest.domain[a]
            if domain > 1:
                groups[domain] = groups.get(domain, 0) | one << a
            nominal += not forest.numeric[a]
        ordered = sorted(groups.items())
        self.worth(forest, forest.root)
        while waiting:
            node, parent, value = waiting.pop(), above.pop(), through.pop()
            place = len(nodes)
            mask, free = 0, nominal
            if parent >= 0:
                mask, free = masks[parent], left[parent]
                if not (<Node>nodes[parent]).numeric:
                    mask |= one << (<Node>nodes[parent]).test
                    free -= 1
            attributes = <long long>free + node.tests
            cube = <double>attributes * attributes * attributes
            cost = <double>self.next_r(node) * node.n * cube
            if most < 0:
                most = cost
            if self.by_errors:
                bound = 0
                for n in node.counts:
                    bound += expected_errors(n, 0, self.confidence, self.z)
                bound = node.errors - bound
            else:
                fewest = 2
                for domain, members in ordered:
                    if members & ~mask:
                        fewest = domain
                        break
                bound = node.leaves - <double>fewest * <double>fewest
            nodes.append(node)
            parents.append(parent)
            values.append(value)
            masks.append(mask)
            left.append(free)
            costs.append(cost)
            benefits.append(bound)
            if node.test >= 0 and (numbers or <double>top * node.n * cube >= self.granularity * most):
                for branch, below in reversed(node.branches.items()):
                    if below.test >= 0 or self.by_errors:
                        waiting.append(below)
                        above.append(place)
                        through.append(branch)
        return nodes, parents, values, costs, benefits

    def utilities(self, Forest forest):
        """Return of each node that may be improved: itself, its parent's place, branch, cost and benefit."""
        return [] if forest.root is None else list(zip(*self.walk(forest, 1 << 60), strict=True))

    def choose(self, Forest forest, long long top=1 << 60):
        """Return how many nodes there are, and the one to improve next, the way to it and its allowance."""
        cdef Node node
        cdef double best = 0, cost, benefit, most
        cdef Py_ssize_t place, chosen = -1
        if forest.root is None:
            return 0, None
        nodes, parents, values, costs, benefits = self.walk(forest, top)
        forest.size(forest.root)
        most = costs[0]
        for place in range(len(nodes)):
            node, cost, benefit = nodes[place], costs[place], benefits[place]
            if benefit <= 1e-9 or cost <= 0 or node.stuck:
                continue
            if (node.test < 0 and not self.by_errors) or cost < self.granularity * most:
                continue
            if benefit / cost > best and self.next_r(node) <= self.most:
                best, chosen = benefit / cost, place
        if chosen < 0:
            return forest.root.nodes, None
        node = nodes[chosen]
        path = []
        place = chosen
        while parents[place] >= 0:
            path.append(values[place])
            place = parents[place]
        return forest.root.nodes, (node, path[::-1], self.next_r(node))
