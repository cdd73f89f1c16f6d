"""Every error has its place in the drawing, and every way to end is explained."""

import inspect
import re

import pytest

from stream import errors
from stream.cli.audit import REFUSED
from stream.errors import EXIT_CODES, ConfigError, Problem, RejectedRecord, StreamError
from stream.files.csv_file import DataError

TREE = {
    name: cls
    for name, cls in vars(errors).items()
    if inspect.isclass(cls) and issubclass(cls, StreamError) and cls is not StreamError
}


@pytest.mark.parametrize("name", sorted(TREE))
def test_an_error_is_drawn_under_its_parent_with_its_exit_code(name: str) -> None:
    drawing = (errors.__doc__ or "").splitlines()
    number, line = next((n, line) for n, line in enumerate(drawing) if re.match(rf" +[x+] {name} ", line))
    code = line.split()[-1]
    assert code == ("-" if TREE[name] is RejectedRecord else str(TREE[name].exit_code))
    depth = len(line) - len(line.lstrip())
    above = next(other for other in reversed(drawing[:number]) if other.strip() and _indent(other) < depth)
    parent = TREE[name].__mro__[1].__name__
    assert parent in above.split()


def test_every_exit_code_is_explained_and_no_other() -> None:
    used = {cls.exit_code for cls in TREE.values()}
    assert used | {0, 1, 2, DataError.exit_code, REFUSED} == set(EXIT_CODES)


def test_a_configuration_error_carries_all_its_problems() -> None:
    problems = [Problem("espalier.toml:1", "one"), Problem("ESPALIER_X", "two")]
    error = ConfigError(problems)
    assert error.problems == tuple(problems)
    assert str(error) == "espalier.toml:1: one\nESPALIER_X: two"


def test_a_rejected_record_says_why_and_where() -> None:
    error = RejectedRecord("bad_json", "decode", "the value is not JSON")
    assert (error.reason, error.stage, str(error)) == ("bad_json", "decode", "the value is not JSON")


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())
