"""The examples in docstrings are run, and print what they say."""

import doctest
import importlib
from pathlib import Path

import pytest

from tests.architecture.program import FILES
from tests.paths import REPOSITORY

WITH_EXAMPLES = [path for path in FILES if ">>> " in path.read_text()]


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_the_examples_of_a_file_print_what_they_say(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = ".".join(path.relative_to(REPOSITORY).with_suffix("").parts).removesuffix(".__init__")
    told = doctest.testmod(importlib.import_module(name))
    assert told.attempted > 0, "there are examples, but none is run"
    assert told.failed == 0, capsys.readouterr().out


def test_there_are_files_with_examples() -> None:
    assert len(WITH_EXAMPLES) >= 25
