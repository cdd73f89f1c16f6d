"""What is really allocated stays near `max_bytes`, and the weights that decide are near what things take."""

import csv
import ctypes
import gc
import gzip
import random
import tracemalloc
from itertools import islice
from pathlib import Path

import pytest

from learners.id5r.learner import ID5R
from learners.id5r.options import OUTLINE_BYTES, CoreOptions
from learners.schema import Instance, Value


class MemoryInfo(ctypes.Structure):
    """What the C library says of its heap."""

    _fields_ = tuple(
        (name, ctypes.c_size_t)
        for name in (
            "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks",
            "keepcost",
        )
    )  # fmt: skip


def allocated() -> int:
    """Return how many bytes of the heap are in use."""
    library = ctypes.CDLL(None)
    library.mallinfo2.restype = MemoryInfo
    found = library.mallinfo2()
    return int(found.uordblks + found.hblkhd)


def noisy(rng: random.Random, *, numeric: bool) -> Instance:
    """Return a record of six attributes, three of which say something about the class."""
    values: dict[str, Value] = {
        f"a{k}": rng.gauss(0, 1) if numeric else f"v{rng.randrange(5)}" for k in range(6)
    }
    likely = sum(
        value in ("v0", "v1") or (isinstance(value, float) and value > 0) for value in values.values()
    )
    return Instance(values, f"c{likely // 2 if rng.random() < 0.9 else rng.randrange(3)}")


def learn(learner: ID5R, records: list[Instance]) -> None:
    """Learn records in batches, none of which knows much of what is to come."""
    for start in range(0, len(records), 50):
        coded = [learner.codes.encode(*record)[:2] for record in records[start : start + 50]]
        learner.learn_batch([row for row, _ in coded], [label for _, label in coded])
        assert learner.options.max_bytes is None or learner.tree.bytes <= 1.25 * learner.options.max_bytes


@pytest.mark.parametrize("numeric", [False, True])
def test_an_outline_takes_about_what_it_is_said_to(numeric: bool) -> None:
    """A kept outline of a node takes between half and one and a half times its constant."""
    rng = random.Random(1)
    learner = ID5R(options=CoreOptions(significance=None))
    learn(learner, [noisy(rng, numeric=numeric) for _ in range(700)])
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    again = ID5R.restore(learner.snapshot())
    gc.collect()
    with_outlines = tracemalloc.get_traced_memory()[0] - before
    kept = again.tree.outlines_kept
    again._published = None
    again.tree.forget_outlines()
    gc.collect()
    each = (with_outlines - (tracemalloc.get_traced_memory()[0] - before)) / kept
    tracemalloc.stop()
    assert kept > 100
    assert OUTLINE_BYTES / 2 < each < OUTLINE_BYTES * 1.5, each


@pytest.mark.parametrize("numeric", [False, True])
@pytest.mark.parametrize("significance", [None, 0.01])
def test_what_a_tree_weighs_is_near_what_it_takes(significance: float | None, numeric: bool) -> None:
    """The heap grows by no more than the weight and a tenth, and by no less than half of it."""
    rng = random.Random(2)
    learner = ID5R(options=CoreOptions(significance=significance, max_bytes=1_000_000))
    records = [noisy(rng, numeric=numeric) for _ in range(3_000)]
    gc.collect()
    before = allocated()
    learn(learner, records)
    gc.collect()
    outlines = learner.tree.nodes * OUTLINE_BYTES  # these are on the heap of Python
    taken = allocated() - before + outlines
    weight = learner.tree.weigh(learner.tree)
    assert weight <= 1_000_000
    assert weight / 2 < taken < weight * 1.1, (taken, weight)
    assert learner.retained < len(records) or significance is not None


@pytest.mark.data
@pytest.mark.parametrize("name", ["electricity.csv.gz", "covertype.csv.gz", "splice.csv"])
@pytest.mark.parametrize("significance", [None, 0.01])
def test_a_limit_on_memory_is_kept_on_real_records(
    data_dir: Path, name: str, significance: float | None
) -> None:
    path = data_dir / name
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        rows = csv.reader(file)
        *names, _ = next(rows)
        records = [
            Instance(dict(zip(names, map(_value, row), strict=False)), row[-1]) for row in islice(rows, 2_500)
        ]
    learner = ID5R(options=CoreOptions(significance=significance, max_bytes=1_000_000))
    learn(learner, records)
    assert learner.retained > 1


def _value(text: str) -> Value:
    try:
        return float(text)
    except ValueError:
        return text
