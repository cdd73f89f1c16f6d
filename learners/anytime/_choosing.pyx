# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True
"""What a tree is worth, which of its nodes to improve next (figures 4 to 6), and pruning."""

from libc.math cimport pow, sqrt

from learners.anytime._tree cimport Forest, Node

cdef double MARGIN = 0.1  # C4.5 takes a leaf that is worse by no more than this


cpdef double expected_errors(double n, double wrong, double confidence, double z):
    """Return the errors to be expected of a leaf with so many records, so many of them wrong (C4.5)."""
    cdef double share, none
    if n <= 0:
        return 0
    if wrong < 1:
        none = n * (1 - pow(confidence, 1 / n))
        return none if wrong <= 0 else none + wrong * (expected_errors(n, 1, confidence, z) - none)
    if wrong + 0.5 >= n:
        return n
    share = (wrong + 0.5) / n
    share = (share + z * z / (2 * n) + z * sqrt(share / n - share * share / n + z * z / (4 * n * n))) / (
        1 + z * z / n
    )
    return share * n


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
    """Return the errors to be expected of a subtree: those of its leaves."""
    cdef Node node
    cdef double total = 0
    for node in in_order(root):
        if node.test < 0:
            total += leaf_errors(node, confidence, z)
    return total


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
            else:
                leaf = total
        errors[node] = leaf


cdef class Policy:
    """How nodes are chosen.

    Args:
        by_errors: Whether what counts are the errors to be expected (IIDT-EE), or leaves (IIDT-TS).
        granularity: The least share of the root's cost that an attempt has.
        most: The largest allowance of an attempt.
        retry: How many times as many records there must be for attempts to begin anew.
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

    def utilities(self, Forest forest):
        """Return of each node: itself, its parent's place, its branch, cost, benefit; parents first."""
        cdef list nodes = [], parents = [], values = [], left = [], least = [], worth
        cdef list stack
        cdef Node node, below
        cdef Py_ssize_t i, width = forest.width, a
        cdef double cost, bound
        cdef long long attributes, n
        if forest.root is None:
            return []
        tested = bytes(width)
        stack = [(forest.root, -1, 0, tested)]
        known = {}
        while stack:
            node, parent, value, tested = stack.pop()
            if tested not in known:
                # Attributes that can still be tested, and the fewest values of one.
                domains = [2 if forest.numeric[a] else forest.domain[a] for a in range(width) if not tested[a]]
                nominal = sum(1 for a in range(width) if not tested[a] and not forest.numeric[a])
                known[tested] = nominal, min([d for d in domains if d > 1], default=2)
            nodes.append(node)
            parents.append(parent)
            values.append(value)
            nominal, fewest = known[tested]
            left.append(nominal)
            least.append(fewest)
            if node.test >= 0:
                below_tested = tested
                if not node.numeric:
                    below_tested = tested[: node.test] + b"\1" + tested[node.test + 1 :]
                i = len(nodes) - 1
                stack.extend((below, i, branch, below_tested) for branch, below in reversed(node.branches.items()))
        worth = [0.0] * len(nodes)
        for i in range(len(nodes) - 1, -1, -1):
            node = nodes[i]
            if node.test < 0:
                worth[i] += leaf_errors(node, self.confidence, self.z) if self.by_errors else 1.0
            elif not self.by_errors:
                worth[i] += (2 if node.numeric else forest.domain[node.test]) - len(node.branches)
            if parents[i] >= 0:
                worth[parents[i]] += worth[i]
        found = []
        for i in range(len(nodes)):
            node = nodes[i]
            attributes = <long long>left[i] + node.tests
            cost = <double>self.next_r(node) * node.n * attributes * attributes * attributes
            if self.by_errors:
                bound = 0
                for n in node.counts:
                    bound += expected_errors(n, 0, self.confidence, self.z)
            else:
                bound = <double>least[i] * <double>least[i]
            found.append((node, parents[i], values[i], cost, <double>worth[i] - bound))
        return found

    def choose(self, Forest forest):
        """Return how many nodes there are, and the one to improve next, the way to it and its allowance."""
        cdef Node node
        cdef double best = 0, cost, benefit, most
        cdef Py_ssize_t place, chosen = -1
        found = self.utilities(forest)
        if not found:
            return 0, None
        most = found[0][3]
        for place, (node, _, _, cost, benefit) in enumerate(found):
            if benefit <= 1e-9 or cost <= 0 or node.stuck or (node.test < 0 and not self.by_errors):
                continue
            if cost < self.granularity * most or self.next_r(node) > self.most:
                continue
            if benefit / cost > best:
                best, chosen = benefit / cost, place
        if chosen < 0:
            return len(found), None
        node = found[chosen][0]
        path = []
        place = chosen
        while found[place][1] >= 0:
            path.append(found[place][2])
            place = found[place][1]
        return len(found), (node, path[::-1], self.next_r(node))
