"""The tree as data: outlines of nodes, with their digests and sizes, and the paths of predictions.

An outline is kept from one publication to the next, so that a change costs the nodes on its path.
"""

from cpython.object cimport PyTypeObject

cdef extern from "Python.h":
    object PyType_GenericAlloc(PyTypeObject *type, Py_ssize_t items)
    int PyObject_GenericSetAttr(object item, object name, object value) except -1


cdef object threshold_of(const Tree *tree, Test test):
    return number_of(tree.scales[test.attribute].cuts[test.cut - 1])


# ---- paths


cdef tuple path_of(Tree *tree, const Node *end, codes):
    """Return the decisions that led the row at hand to the node with its answer, in names.

    `tree.used` says what was tested on the way, as `tree_answer` leaves it.
    """
    cdef const Node *node = tree.root
    cdef int32_t branch
    cdef list attributes = codes.attributes, values = codes.values, steps = []
    while node.form == SPLIT and node is not end:
        branch = branch_of(tree, tree.row, node.test)
        name = attributes[node.test.attribute]
        rival = attributes[node.runner_up] if node.runner_up >= 0 else None
        behind = <double>node.margin / SCORE_UNITS if node.runner_up >= 0 else None
        if node.test.cut < 0:
            steps.append(Step(name, (<list>values[node.test.attribute])[branch], rival, behind))
        else:
            steps.append(Step(name, "false" if branch else "true", rival, behind, threshold_of(tree, node.test)))
        node = node.branches[branch]
    if node.form != SPLIT and node.present > 1 and not tree.settings.gated and node.set_count:
        chain_steps(tree, node, attributes, values, steps)
    return tuple(steps)


cdef int chain_steps(Tree *tree, const Node *node, list attributes, list values, list steps) except -1:
    """Add the decisions within a set of one description: it stands for a chain of tests with one branch each."""
    cdef const uint8_t *first = row_of(&tree.store, node.set[0])
    cdef int32_t i, value
    cdef list left = untested(tree)
    for i in range(len(left)):
        a = left[i]
        value = code_at(&tree.store, tree.row, a)
        if value != code_at(&tree.store, first, a):
            break
        rival = attributes[left[i + 1]] if i + 1 < len(left) else None
        steps.append(Step(attributes[a], (<list>values[a])[value], rival, 0.0 if rival is not None else None))
    return 0


cdef list untested(const Tree *tree):
    """Return the attributes that a chain may test, in the order in which ties are broken."""
    cdef int32_t i
    return [
        tree.order[i] for i in range(tree.attributes)
        if not tree.used[tree.order[i]] and not is_number(tree, tree.order[i])
    ]


# ---- outlines: made without the constructors of their frozen classes, which take most of the time otherwise


cdef object new_leaf(answer, tuple counts, str digest):
    leaf = PyType_GenericAlloc(<PyTypeObject *>Leaf, 0)
    PyObject_GenericSetAttr(leaf, "answer", answer)
    PyObject_GenericSetAttr(leaf, "counts", counts)
    PyObject_GenericSetAttr(leaf, "_digest", digest)
    return leaf


cdef object new_split(test, tuple counts, tuple branches, evidence, str digest, size):
    split = PyType_GenericAlloc(<PyTypeObject *>Split, 0)
    PyObject_GenericSetAttr(split, "test", test)
    PyObject_GenericSetAttr(split, "counts", counts)
    PyObject_GenericSetAttr(split, "branches", branches)
    PyObject_GenericSetAttr(split, "evidence", evidence)
    PyObject_GenericSetAttr(split, "_digest", digest)
    PyObject_GenericSetAttr(split, "_size", size)
    return split


cdef str digest_of(str text):
    return sha256(text.encode()).hexdigest()


cdef class Outlines:
    """The outlines of the nodes of one tree, by the numbers of the nodes."""

    cdef Tree *tree
    cdef object codes     # the names that the outlines have
    cdef dict kept        # as of the publication that made each
    cdef dict whole       # those of which everything was made by the last publication: their counts are of now
    cdef dict tests       # by attribute and threshold: the test, and how the text of its digest begins
    cdef list classes     # their codes in the order of their names
    cdef list names       # of the classes, in the same order
    cdef list answers     # by code of a class: the digest of a leaf with this answer
    cdef int64_t reused   # how many outlines were taken as they were
    cdef readonly object made  # how many outlines were made so far

    def __cinit__(self):
        self.made = 0
        self.tests = {}
        self.classes = []
        self.answers = []
        self.forget()

    cdef int forget(self) except -1:
        """Let go of all outlines."""
        self.kept = {}
        self.whole = {}
        return 0

    cdef int begin(self, codes) except -1:
        """Begin at the root, with the names there are now."""
        if codes is not self.codes:
            self.forget()
            self.codes = codes
            self.tests = {}
            self.classes = []
        if len(self.classes) != len(codes.classes):
            self.classes = sorted(range(len(codes.classes)), key=codes.classes.__getitem__)
            self.names = sorted(codes.classes)
            self.answers = [digest_of(f'{{"answer":{quoted(name)}}}') for name in codes.classes]
        if self.tree.attributes:
            memset(self.tree.used, 0, self.tree.attributes)
        if self.tree.retired_count:
            memcpy(self.tree.used, self.tree.retired, self.tree.retired_count)
        return 0

    cdef object fresh(self, codes):
        """Return the outline of the tree with all counts as they are now; nothing is kept."""
        if self.tree.root is NULL:
            self.forget()
            return None
        self.begin(codes)
        self.whole = {}
        return self.outline(self.tree.root, False)

    cdef object publish(self, codes):
        """Return the outline of the tree; what looks as it did when it was last published is the same object."""
        if self.tree.root is NULL:
            self.forget()
            return None
        self.begin(codes)
        self.whole = {}
        told = self.outline(self.tree.root, True)
        if len(self.kept) > 2 * self.tree.nodes + 1_000:
            kept = {}
            self.sift(self.tree.root, kept)
            self.kept = kept
        return told

    cdef int sift(self, const Node *node, dict kept) except -1:
        """Keep the outlines of the nodes that there are; most of the others are of nodes that are gone."""
        cdef int32_t v
        outline = self.kept.get(node.id)
        if outline is not None:
            kept[node.id] = outline
        if node.form == SPLIT:
            for v in range(branch_count(self.tree, node.test)):
                if node.branches[v] is not NULL:
                    self.sift(node.branches[v], kept)
        return 0

    cdef object subtree(self, path, codes):
        """Return the subtree at a path with counts of now: what was just published, where it has them."""
        cdef const Node *node = self.tree.root
        cdef int32_t v
        cdef Py_ssize_t place, depth = len(path)
        self.begin(codes)
        for place in range(depth):
            if node.form != SPLIT:
                break
            value = path[place][1]
            v = value != "true" if node.test.cut >= 0 else codes.value_code(node.test.attribute, value)
            if not 0 <= v < branch_count(self.tree, node.test) or node.branches[v] is NULL:
                raise LookupError(f"there is no branch {value}")
            if node.test.cut < 0:
                self.tree.used[node.test.attribute] = 1
            node = node.branches[v]
        else:
            place = depth
        told = self.outline(<Node *>node, False)
        for _ in range(place, depth):
            told = told.branches[0][1]
        return told

    cdef object outline(self, Node *node, bint keep):
        """Return the outline of a node; `keep`: with its digest and size, and what is known of it already."""
        cdef int64_t reused = self.reused
        if not keep:
            told = self.whole.get(node.id)
            if told is not None:
                return told
        elif not node.reshaped:
            told = self.kept.get(node.id)
            if told is not None:
                self.reused += 1
                return told
        self.made += 1
        told = self.split(node, keep) if node.form == SPLIT else self.chain(node, keep)
        if keep:
            node.reshaped = 0
            self.kept[node.id] = told
            if self.reused == reused:
                self.whole[node.id] = told
        return told

    cdef tuple counts(self, const Node *node):
        cdef int32_t code
        cdef Py_ssize_t place
        cdef list found = []
        for place in range(len(self.classes)):
            code = self.classes[place]
            if code < self.tree.classes and node.classes[code]:
                found.append((self.names[place], node.classes[code]))
        return tuple(found)

    cdef tuple test(self, Test test):
        """Return a test, and how the text of the digest of a node with it begins."""
        threshold = None if test.cut < 0 else self.tree.scales[test.attribute].cuts[test.cut - 1]
        known = self.tests.get((test.attribute, threshold))
        if known is None:
            at_most = None if threshold is None else threshold_of(self.tree, test)
            asked = AttributeTest(self.codes.attributes[test.attribute], at_most)
            if len(self.tests) > 100_000:
                self.tests = {}
            known = self.tests[test.attribute, threshold] = (asked, opening_of_test(asked))
        return known

    cdef object split(self, Node *node, bint keep):
        """Return the outline of a decision node."""
        cdef int32_t v, a = node.test.attribute
        cdef list branches = []
        if node.test.cut < 0:
            self.tree.used[a] = 1
            values = self.codes.values[a]
            for v in range(branch_count(self.tree, node.test)):
                if node.branches[v] is not NULL:
                    branches.append((values[v], self.outline(node.branches[v], keep)))
            self.tree.used[a] = 0
            branches.sort()
        else:
            if node.branches[1] is not NULL:
                branches.append(("false", self.outline(node.branches[1], keep)))
            if node.branches[0] is not NULL:
                branches.append(("true", self.outline(node.branches[0], keep)))
        test, opening = self.test(node.test)
        names = self.codes.attributes
        rival = None if node.runner_up < 0 else names[node.runner_up]
        margin = None if node.runner_up < 0 else <double>node.margin / SCORE_UNITS
        evidence = tuple.__new__(Evidence, (<double>node.score / SCORE_UNITS, rival, margin))
        return self.made_split(test, opening, self.counts(node), tuple(branches), evidence, keep)

    cdef object made_split(self, test, opening, tuple counts, tuple branches, evidence, bint keep):
        """Return a decision node, with its digest and size where they are kept."""
        cdef int64_t nodes = 1, leaves = 0, depth = 0
        cdef list texts
        if not keep:
            return new_split(test, counts, branches, evidence, "", None)
        texts = []
        for value, child in branches:
            texts.append(f'{quoted(value)}:"{child._digest}"')
            if type(child) is Leaf:
                nodes += 1
                leaves += 1
                continue
            more, ends, deep = child._size
            nodes += more
            leaves += ends
            depth = max(depth, deep)
        digest = digest_of(f'{opening}{",".join(texts)}}}}}')
        size = tuple.__new__(Size, (nodes, leaves, depth + 1))
        return new_split(test, counts, branches, evidence, digest, size)

    cdef object chain(self, Node *node, bint keep):
        """Return the outline of a set: a leaf, below a chain of tests if it is mixed and of one description."""
        cdef int32_t answer = majority(self.tree, node)
        cdef const uint8_t *first
        counts = self.counts(node)
        told = new_leaf(self.codes.classes[answer], counts, self.answers[answer])
        if node.present < 2 or self.tree.settings.gated:
            return told
        first = row_of(&self.tree.store, node.set[0])
        for a in reversed(untested(self.tree)):
            value = self.codes.values[a][code_at(&self.tree.store, first, a)]
            test, opening = self.test(Test(a, -1))
            told = self.made_split(test, opening, counts, ((value, told),), None, keep)
        return told
