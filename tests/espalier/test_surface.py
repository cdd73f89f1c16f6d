"""The public surface: every name is there, typed and documented, and works as a stranger would use it."""

import doctest
import re
import subprocess
import sys

import pytest

import espalier
from espalier import Instance, Schema, make_learner
from tests.paths import REPOSITORY

TYPED = """\
from espalier import Instance, Learner, Outline, make_learner

learner: Learner = make_learner("id5r")
learner.learn_one(Instance({"light": "red"}, "stop"))
outline: Outline | None = learner.outline()
answer: str | None = learner.predict_one({"light": "red"}).answer
wrong: int = learner.predict_one({"light": "red"}).answer
"""


def test_every_name_is_there_and_documented() -> None:
    assert len(set(espalier.__all__)) == len(espalier.__all__)
    for name in espalier.__all__:
        assert getattr(espalier, name).__doc__, name


def test_nothing_else_is_public() -> None:
    public = {name for name in vars(espalier) if not name.startswith("_")}
    modules = {name for name in public if isinstance(getattr(espalier, name), type(sys))}
    assert public - modules == set(espalier.__all__)


def test_the_example_of_the_package_runs() -> None:
    result = doctest.testmod(espalier)
    assert result.attempted > 2
    assert result.failed == 0


def test_importing_it_imports_neither_faust_nor_the_laboratory() -> None:
    program = "import espalier, sys; print(sorted({'faust', 'lab', 'river'} & set(sys.modules)))"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"


def test_it_is_typed() -> None:
    """The type checker accepts right use and refuses the one wrong line."""
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", "/dev/null", "-c", TYPED]
    told = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY)
    assert told.stdout.count("error:") == 1, told.stdout
    assert "Incompatible types in assignment" in told.stdout


def test_a_schema_is_taken_and_numbers_are_learned() -> None:
    learner = make_learner("id5r", Schema())
    for x, label in [(1.5, "low"), (9.5, "high")] * 20:
        learner.learn_one(Instance({"x": x}, label))
    assert learner.predict_one({"x": 1.0}).answer == "low"
    assert learner.predict_one({"x": 11.0}).answer == "high"


def test_the_example_of_the_readme_prints_what_it_says(capsys: pytest.CaptureFixture[str]) -> None:
    text = (REPOSITORY / "README.md").read_text()
    example = text.partition("test_surface.py runs it -->\n```python\n")[2].partition("```")[0]
    said = re.findall(r"print\(.*\)  # (.+)", example)
    exec(compile(example, "README.md", "exec"), {})
    assert capsys.readouterr().out.split() == said == ["warm"]
