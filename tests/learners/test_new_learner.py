"""The learner that docs/architecture.md shows is a whole one: it is made from the document's own text."""

import importlib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given, settings

from learners.laws import laws_of
from learners.learner import Learner
from learners.registry import LEARNERS, make_learner, restore_learner
from learners.schema import Instance
from tests.architecture.documents import blocks
from tests.lives.agents import make_life
from tests.lives.children import attempt
from tests.paths import REPOSITORY
from tests.strategies import Case, cases

NAME = "majority"
MOST_LINES = 40
LIVES = 40


def shown() -> str:
    """Return the file that the document shows."""
    text = (REPOSITORY / "docs" / "architecture.md").read_text()
    section = text[text.index("## Adding a learner") : text.index("## Adding an engine")]
    (block,) = blocks(section.replace("\n   ", "\n"), "python")
    return block


@pytest.fixture
def majority(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Learner]]:
    """The learner of the document, with its line in the registry."""
    (tmp_path / f"{NAME}.py").write_text(shown())
    monkeypatch.syspath_prepend(tmp_path)
    learner: type[Learner] = importlib.import_module(NAME).Majority
    monkeypatch.setitem(LEARNERS, learner.name, learner)
    yield learner
    del sys.modules[NAME]


def test_the_learner_that_is_shown_is_short() -> None:
    lines = [line for line in shown().splitlines() if line]
    assert len(lines) <= MOST_LINES


def test_the_learner_that_is_shown_passes_the_checks(tmp_path: Path) -> None:
    path = tmp_path / f"{NAME}.py"
    path.write_text(shown())
    rules = f"{REPOSITORY}/pyproject.toml"
    for command in (
        f"ruff check --config {rules} --ignore INP001 {path}",
        f"ruff format --config {rules} --check {path}",
        f"mypy --config-file {rules} {path}",
    ):
        done = subprocess.run(
            [sys.executable, "-m", *command.split()],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("train", ["all", "errors"])
def test_the_learner_that_is_shown_obeys_every_law(majority: type[Learner], train: str) -> None:
    laws = dict(laws_of(majority))
    assert len(laws) > 20

    @settings(max_examples=25, deadline=None)
    @given(cases(max_size=10, drift=True))
    def obeys(case: Case) -> None:
        for law in laws.values():
            law(partial(make_learner, NAME, case.schema, {"train": train}), case.stream)

    obeys()


def test_the_learner_that_is_shown_lives_as_the_others_do(majority: type[Learner]) -> None:
    happened: Counter[str] = Counter()
    for seed in range(LIVES):
        what, failure = attempt(make_life(seed, majority.name))
        assert failure is None, failure
        happened += what
    assert happened["predictions"] > 500
    assert happened["change relabelled"] > 0


def test_the_learner_that_is_shown_predicts_the_most_frequent_class(majority: type[Learner]) -> None:
    learner = make_learner(majority.name)
    for label in ("no", "yes", "yes", "no", "yes"):
        learner.learn_one(Instance({"a": label}, label))
    restored = restore_learner(learner.snapshot())
    for one in (learner, restored):
        assert one.predict_one({"a": "no"}).answer == "yes"
        assert one.predict_one({"b": 1}).counts == (("no", 2), ("yes", 3))
