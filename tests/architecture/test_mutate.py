"""Mutants are what they say: one change each, the same for the same seed, of code that has tests."""

import ast
import difflib
from pathlib import Path

import pytest

from tests.mutate.__main__ import summary
from tests.mutate.judge import Judge, Verdict, killer_in
from tests.mutate.mutants import (
    Mutant,
    applied,
    draw,
    files,
    package_of,
    places_in,
    statement_around,
)
from tests.mutate.reach import Reach
from tests.paths import REPOSITORY

EXAMPLE = '''
def f(a: int = 1, *, b: bool = True) -> int:
    """A docstring with 1 < 2."""
    if a < 2 and not b:
        raise ValueError(f"{a + 1} is too little")
    a += 1
    print("x" + str(a))
    return a * 3
'''


def of_example() -> set[tuple[str, str]]:
    told = set()
    for what, node in places_in("example.py", EXAMPLE):
        text = applied(EXAMPLE, node)
        ast.parse(text)
        changed = [
            line[2:].strip()
            for line in difflib.ndiff(EXAMPLE.splitlines(), text.splitlines())
            if line[0] == "+"
        ]
        told.add((what, " ".join(changed)))
    return told


def test_everything_is_done_to_a_function_and_nothing_to_what_only_describes_it() -> None:
    assert of_example() == {
        ("comparison swapped", "if (a <= 2) and not b:"),
        ("and for or", "if (a < 2 or not b):"),
        ("negation dropped", "if a < 2 and (b):"),
        ("number changed", "if a < (3) and not b:"),
        ("statement dropped", "pass"),
        ("number changed", "a += (2)"),
        ("operator swapped", "return (a // 3)"),
        ("number changed", "return a * (4)"),
        ("result forgotten", "return None"),
    }


def test_the_same_seed_gives_the_same_mutants_each_of_which_changes_one_place() -> None:
    some = ["stream/audit/", "stream/config/", "learners/laws/"]
    mutants = draw(40, 7, only=some)
    assert mutants == draw(40, 7, only=some)
    assert mutants != draw(40, 8, only=some)
    assert len({(mutant.path, mutant.text) for mutant in mutants}) == 40
    for mutant in mutants:
        before = (REPOSITORY / mutant.path).read_text()
        ast.parse(mutant.text)
        assert mutant.text != before
        assert f"@@ -{max(1, mutant.line - 2)}," in mutant.difference(before)


def test_only_what_was_asked_for_is_changed() -> None:
    assert {mutant.path for mutant in draw(20, 1, only=["stream/audit/"])} <= {
        path for path in files() if path.startswith("stream/audit/")
    }


def test_every_package_that_is_not_left_out_has_mutants() -> None:
    found = files()
    assert len(found) > 60
    assert {"learners/id5r", "stream/kafka", "stream/config"} <= {package_of(path) for path in found}
    assert not any(path.startswith("lab/bench") for path in found)


def test_a_line_belongs_to_its_innermost_statement_and_to_no_more_than_the_head_of_a_block() -> None:
    assert statement_around(EXAMPLE, 4) == (4, 4)
    assert statement_around(EXAMPLE, 5) == (5, 5)
    text = "def f(a):\n    if (\n        a\n        and 1\n    ):\n        a = (\n            2\n        )\n"
    assert statement_around(text, 4) == (2, 5)
    assert statement_around(text, 7) == (6, 8)


REACH = Reach(
    [("a.py::slow", 9.0, False), ("a.py::fast", 1.0, False), ("b.py::x", 2.0, False), ("b.py::k", 3.0, True)],
    {"f.py": {1: frozenset({0, 1, 3}), 2: frozenset({1}), 9: frozenset({2})}},
)


def test_the_tests_of_a_mutant_are_those_that_run_its_lines_then_their_modules_then_those_on_a_broker() -> (
    None
):
    assert REACH.of_lines("f.py", 1, 2) == {"a.py::slow", "a.py::fast", "b.py::k"}
    assert REACH.of_lines("f.py", 3, 8) == REACH.of_lines("g.py", 1, 9) == set()
    assert REACH.of_file("f.py") == set(REACH.seconds)
    judge = Judge(Path(), REACH, 300, Path())
    assert list(judge.stages({"a.py::slow", "a.py::fast", "b.py::k"})) == [
        ["a.py::fast", "a.py::slow"],
        [],
        [],
        ["b.py::k"],
    ]
    assert list(Judge(Path(), REACH, 300, None).stages({"a.py::slow"})) == [
        ["a.py::slow"],
        [],
        ["a.py::fast"],
    ]


@pytest.mark.parametrize(
    ("output", "status", "killer"),
    [
        ("4 passed", 0, None),
        ("FAILED a.py::t - assert 1 == 2", 1, "a.py::t"),
        ("FAILED a.py::t - Failed: Timeout (>20.0s) from pytest-timeout.", 1, "time-out of a.py::t"),
        ("ERROR a.py - ImportError", 2, "a.py"),
        ("Segmentation fault", -11, "pytest, which ended with -11"),
    ],
)
def test_a_failure_a_time_out_and_a_crash_kill(output: str, status: int, killer: str | None) -> None:
    assert killer_in(output, status) == killer


def test_what_was_killed_is_counted_for_each_package() -> None:
    mutants = [
        Mutant(path, 1, 1, "", "") for path in ("stream/page/a.py", "stream/page/b.py", "learners/c.py")
    ]
    verdicts = [Verdict("t", False, True), Verdict(None, False, True), Verdict("t", True, True)]
    text, share = summary(mutants, verdicts)
    assert share == 2 / 3
    assert [line.split() for line in text.splitlines()[:2]] == [
        ["learners", "1", "of", "1", "killed"],
        ["stream/page", "1", "of", "2", "killed"],
    ]
    assert "2 of 3 mutants were killed (66.7%), 1 by a time-out" in text
