"""The ways to grow a tree over arrays."""

from learners.rebuilt.trees import UNPRUNED, BatchC45, BatchNaiveTree, Pruning

LITERAL = BatchNaiveTree(min_records=1, pruning=UNPRUNED, cut="gain")
"""The algorithm as the paper prints it."""
GROWERS: dict[str, BatchNaiveTree | BatchC45] = {
    "nt": BatchNaiveTree(),
    "nt, as printed": LITERAL,
    "nt, equal width": BatchNaiveTree(bins="width", cut="gain"),
    "nt, not renormalised": BatchNaiveTree(renormalise=False),
    "c45": BatchC45(),
    "c45, unpruned": BatchC45(1, UNPRUNED),
    "c45, not raised": BatchC45(pruning=Pruning(raising=False)),
}
