"""The incremental MDL tree has the bits of the paper and of the golden file."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.experiments.mdl_worked import NAMES, bits, days, extensions, learner_of
from learners.mdl import bits as lengths
from learners.mdl.bits import ONE, additive, length
from learners.mdl.learner import MDL
from learners.mdl.options import MDLOptions
from learners.mdl.records import Node
from learners.outline import size
from learners.schema import Attribute, Instance, Schema
from tests.paths import REPOSITORY

GOLDEN = json.loads((REPOSITORY / "tests" / "golden" / "mdl.json").read_text(encoding="utf-8"))
TRACES = {
    "full": ("paper", False),
    "data": ("paper-data", False),
    "data_deep=True": ("paper-data", True),
    "root": ("paper-root", False),
    "kt": ("additive", False),
    "kt_deep=True": ("additive", True),
}


def in_a_line(learner: MDL, node: Node) -> str:
    """Return a tree in the words of the golden file: values by text, counts of N and P."""
    if node.test < 0:
        named = [learner.codes.class_code(name) for name in "NP"]
        counts = [node.counts[code] if code >= 0 else 0 for code in named]
        return f"{named.index(node.label)}{counts}"
    every = sorted(
        {str(day.values[learner.codes.attributes[node.test]]) for day in days()},
    )
    told = sorted(
        (every.index(learner.codes.values[node.test][value]), below) for value, below in node.branches.items()
    )
    branches = ", ".join(f"{place}:{in_a_line(learner, below)}" for place, below in told)
    return f"{learner.codes.attributes[node.test]}({branches})"


def test_every_length_is_that_of_the_formula() -> None:
    for arguments, value in GOLDEN["L"].items():
        n, k, b = map(int, arguments.strip("()").split(","))
        assert length(n, k, b) == pytest.approx(value, abs=1e-12)


def test_the_leaf_and_its_splits_have_the_bits_of_the_golden_file() -> None:
    learner = learner_of("paper")
    for number, day in enumerate(days()[:5], 1):
        learner.learn_one(day)
        assert bits(learner) == pytest.approx(GOLDEN["leaves"][number - 1], abs=1e-6)
        for name, value in GOLDEN.get(f"splits_{number}", {}).items():
            assert extensions(learner)[name] == pytest.approx(value, abs=1e-6)


@pytest.mark.parametrize("trace", TRACES)
@pytest.mark.parametrize("restructure", ["pull-up", "rebuild"])
def test_the_weather_is_learned_step_by_step_as_in_the_golden_file(trace: str, restructure: str) -> None:
    code, deep = TRACES[trace]
    declared = Schema(tuple(Attribute(name) for name in NAMES), ("N", "P"))
    options = MDLOptions(code=code, deep=deep, retry=1.0, restructure=restructure, tree_weight=1.0)  # type: ignore[arg-type]
    learner = MDL(declared, options)
    for day, (score, tree) in zip(days(), GOLDEN["traces"][trace], strict=True):
        learner.learn_one(day)
        assert learner.tree.root is not None
        assert sum(learner.description_bits) == pytest.approx(score, abs=2e-6)
        assert in_a_line(learner, learner.tree.root) == tree


def test_parity_of_two_needs_deep() -> None:
    told = GOLDEN["xor4_data_bits"]
    for deep, value in ((False, told["leaf"]), (True, told["two_splits"])):
        learner = learner_of("paper-data", deep=deep)
        for a, b in ("00", "11", "01", "10"):
            learner.learn_one(Instance({"a": a, "b": b}, "x" if a == b else "y"))
        assert bits(learner) == pytest.approx(value, abs=1e-6)


def test_the_smallest_split_whose_leaves_answer_the_same_is_shown_as_a_leaf() -> None:
    faulty = GOLDEN["smallest_faulty_split"]
    learner = learner_of("paper-data")
    stream = [
        Instance({"a": side}, label)
        for side in ("left", "right")
        for label, count in zip("xy", faulty[side], strict=True)
        for _ in range(count)
    ]
    for instance in stream:
        learner.learn_one(instance)
    root = learner.tree.root
    assert root is not None
    assert (root.test, root.decisions) == (0, 1)
    assert size(learner.outline()).leaves == 1


@given(st.lists(st.integers(0, 12), min_size=2, max_size=5).filter(any))
def test_a_leaf_of_the_additive_code_has_the_bits_of_its_records_one_by_one(counts: list[int]) -> None:
    classes = tuple(map(str, range(len(counts))))
    learner = MDL(Schema(classes=classes))
    for name, count in zip(classes, counts, strict=True):
        for _ in range(count):
            learner.learn_one(Instance({}, name))
    tree, exceptions = learner.description_bits
    assert tree == 1
    assert exceptions == pytest.approx(additive(counts), abs=1e-6)


def test_the_table_of_logarithms_is_right_far_out() -> None:
    table = lengths.gammas(4_000)
    for place in (1, 2, 3, 100, 3_999):
        assert table[place] / ONE == pytest.approx(math.lgamma(place / 2) / math.log(2), abs=1e-6)
