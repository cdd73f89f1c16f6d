"""Seconds of our learners and of scikit-learn's, one after the other in this process."""

import importlib
import time
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from lab.experiments.nt_scaling import SKLEARN, Timing, grid, made
from lab.experiments.nt_trial import C45, NT
from learners.rebuilt.table import Sparse, Table
from learners.rebuilt.trees import BatchC45, BatchNaiveTree, BatchTree

GET_SKLEARN = "scikit-learn was not measured: it is not installed. Run `pip install scikit-learn`"
MOST_SECONDS = 120.0
MOST_CELLS = 25_000_000
"""How many cells a sparse table may have to be looked at with all its zeros."""


def has_sklearn() -> bool:
    """Whether scikit-learn is installed."""
    return find_spec("sklearn") is not None


def cpu_seconds(do: Callable[[], object]) -> float:
    """Return the CPU time of this process that something takes."""
    start = time.process_time()
    do()
    return time.process_time() - start


def sklearn_seconds(table: Table) -> float:
    """Return how long scikit-learn takes to grow its tree by entropy, given the arrays it likes best."""
    trees = importlib.import_module("sklearn.tree")
    x: Any
    if isinstance(table.x, Sparse):
        sparse = importlib.import_module("scipy.sparse")
        shape = (len(table), table.width)
        x = sparse.csc_matrix(
            sparse.csr_matrix((table.x.values.astype("f4"), table.x.columns, table.x.start), shape=shape)
        )
    else:
        x = table.x.astype("f4")
    return cpu_seconds(
        lambda: trees.DecisionTreeClassifier(criterion="entropy", random_state=0).fit(x, table.labels)
    )


def dense_seconds(table: Table) -> float | None:
    """Return how long C4.5 takes where it looks at every cell; None where there are too many of them."""
    assert isinstance(table.x, Sparse)
    if len(table) * table.width > MOST_CELLS:
        return None
    whole = Table(table.x.dense(), table.labels, table.classes, table.arity)
    return cpu_seconds(lambda: BatchC45().grow(whole))


def timings(seed: int, largest: int, advance: Callable[[], None]) -> list[Timing]:
    """Return the time of every learner at every size.

    Args:
        seed: Of the tables.
        largest: How many cells are the most.
        advance: Called after each size.
    """
    learners: dict[str, Callable[[Table], BatchTree | float]] = {
        NT: BatchNaiveTree().grow,
        C45: BatchC45().grow,
    }
    if has_sklearn():
        learners[SKLEARN] = sklearn_seconds
    found: list[Timing] = []
    rates: dict[str, float] = {}
    for records, attributes in grid():
        cells = records * attributes
        if cells > largest:
            continue
        table = made(records, attributes, seed)
        for name, learn in learners.items():
            # At least in proportion to the cells: what would take too long is not begun.
            if rates.get(name, 0.0) * cells > MOST_SECONDS:
                found.append(Timing(name, records, attributes, None))
                continue
            start = time.process_time()
            grown = learn(table)
            seconds = grown if isinstance(grown, float) else time.process_time() - start
            rates[name] = seconds / cells
            nodes = 0 if isinstance(grown, float) else grown.nodes
            found.append(Timing(name, records, attributes, seconds, nodes))
        advance()
    return found
