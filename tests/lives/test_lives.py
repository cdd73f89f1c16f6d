"""Two thousand lives of agents, and the proof that the generator and the comparison see what they should."""

import os
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from learners.codes import Codes
from learners.registry import LEARNERS, option_types
from learners.vocabulary import Growth
from stream.model.processor import LearningProcessor
from tests.lives import __main__ as lives_command
from tests.lives import children
from tests.lives.agents import Life, choices, make_life
from tests.lives.children import Failure, Result, attempt, run_all
from tests.lives.generator import BATCH, RESTART
from tests.lives.shrink import shrunk, without

LIVES = 2_000
LOOKED_AT = 300
"""Of the first lives all is known that happened in them."""
SLICE = 250
ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("first", range(LOOKED_AT, LIVES, SLICE))
def test_all_ways_lead_to_one_tree(first: int) -> None:
    """Run as a process of its own: a crash fails a test and not the tests."""
    lives = min(SLICE, LIVES - first)
    command = [sys.executable, "-m", "tests.lives", "--lives", str(lives), "--seed", str(first)]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    assert f"{lives:,} lives, 0 failed" in told.stdout


# ---- the generator


@pytest.fixture(scope="module")
def some() -> list[Life]:
    return list(map(make_life, range(1_500)))


def test_a_seed_stands_for_one_life() -> None:
    assert make_life(17) == make_life(17)
    assert make_life(17) != make_life(18)


def test_every_learner_has_lives_with_every_option(some: list[Life]) -> None:
    drawn: Counter[tuple[str, str]] = Counter()
    for life in some:
        options = life.agent.options
        default = LEARNERS[life.agent.learner].options_type()
        assert options is not None
        drawn.update(
            (life.agent.learner, field)
            for field in options.__struct_fields__
            if getattr(options, field) != getattr(default, field)
        )
    for learner in LEARNERS:
        for option in option_types(learner):
            assert drawn[learner, option], f"{option} of {learner} is never set"


def test_an_option_that_nothing_is_known_about_is_named() -> None:
    with pytest.raises(LookupError, match="option brand_new"):
        choices("brand_new", dict[str, int])


def test_topics_hold_what_topics_of_users_hold(some: list[Life]) -> None:
    values = [step.record.value for life in some for step in life.steps]
    text = b"\n".join(value for value in values if value is not None)
    for sign in ("\U0010ffff", "\U000f0000", "\U00020000", "\U0001f600", "\u4e2d", "\u202e", "\u00e9"):
        assert sign.encode() in text
    for part in (b'"k": {', b": [", b": null", b": true", b": 0.5", b'"1e3"', b"\\u0000", b"NaN"):
        assert part in text
    assert values.count(None) > 20
    assert any(step.record.headers for life in some for step in life.steps)
    assert {life.agent.label for life in some} > {"class", "label"}
    assert min(len(life.steps) for life in some) == 20
    assert max(len(life.steps) for life in some) > 150


def test_lives_are_full() -> None:
    """All ways of the first lives lead to one tree, too; most records are learned, and limits are passed."""
    result = run_all(0, LOOKED_AT, 1)
    happened = result.happened
    assert not result.failures
    assert result.lives == LOOKED_AT
    assert happened["predictions"] > 3 * sum(
        n for what, n in happened.items() if what.startswith("dead letter")
    )
    for reason in (
        "json_syntax",
        "null_value",
        "bad_label",
        "too_many_classes",
        "too_large",
        "unknown_value",
    ):
        assert happened[f"dead letter {reason}"], reason
    for kind in ("planted", "grew", "branched", "folded", "relabelled", "pulled_up", "replaced", "retired"):
        assert happened[f"change {kind}"], kind


# ---- the comparison


def failing(monkeypatch: pytest.MonkeyPatch, learner: str = "id5r") -> tuple[Life, str]:
    """Return a life that fails while something is broken."""
    for seed in range(300):
        life = make_life(seed, learner)
        _, failure = attempt(life)
        if failure is not None:
            return life, failure.kind
    raise AssertionError("nothing failed")


def test_names_that_the_journal_loses_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    grow = Codes.grow

    def forgetful(codes: Codes, growth: Growth) -> None:
        grow(codes, growth._replace(kinds=()))

    monkeypatch.setattr(Codes, "grow", forgetful)
    failing(monkeypatch)


def test_a_record_that_is_lost_is_seen_and_the_stream_shrinks(monkeypatch: pytest.MonkeyPatch) -> None:
    process = LearningProcessor.process

    def losing(self: LearningProcessor, records: list) -> object:  # type: ignore[type-arg]
        return process(self, records[:4] + records[5:])

    monkeypatch.setattr(LearningProcessor, "process", losing)
    life, kind = failing(monkeypatch)
    assert kind.startswith(("b ", "g "))
    smaller, message = shrunk(life, kind)
    assert len(smaller.steps) <= 6
    # The ways with larger batches see it: random ones, and those of which only net changes are published.
    assert message.startswith(("b ", "g "))


def test_what_happened_before_a_record_happens_before_the_next() -> None:
    life = next(life for life in map(make_life, range(100)) if life.steps[3].marks & RESTART)
    left = without(life.steps, 2, 5)
    assert len(left) == len(life.steps) - 3
    assert left[2].record == life.steps[5].record
    assert left[2].marks & RESTART
    assert left[:2] == life.steps[:2]
    assert not without(life.steps, 0, len(life.steps))
    assert any(step.marks & BATCH for step in life.steps)


def test_a_life_that_ends_the_process_is_reported_with_its_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lives after it go on."""
    victim = make_life(3)
    restore = LearningProcessor.restore

    def dying(self: LearningProcessor, state: bytes) -> None:
        if msgspec.json.encode(self.learner.options) == msgspec.json.encode(victim.agent.options):
            os.kill(os.getpid(), signal.SIGSEGV)
        restore(self, state)

    monkeypatch.setattr(LearningProcessor, "restore", dying)
    result = run_all(0, 8, 2)
    assert result.lives == 8
    assert (3, "the process ended with SIGSEGV") in [(one.seed, one.kind) for one in result.failures]


def test_long_work_says_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(lives_command, "SAY_SECONDS", 0)
    watch = lives_command.Watch(400)
    result = Result(lives=100)
    watch(result)
    result.lives = 200
    result.failures.append(Failure(107, "id5r", "b", "differs"))
    watch(result)
    result.lives = 400
    watch(result)
    said = capsys.readouterr().err.splitlines()
    assert said == [
        "100 of 400 lives, 0 failed; 0 minutes left",
        "failed: seed 107, id5r: b",
        "200 of 400 lives, 1 failed; 0 minutes left",
    ]
    assert watch.result is result


def test_an_interruption_keeps_what_was_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(
        first: int, lives: int, jobs: int, learner: str | None, watch: lives_command.Watch
    ) -> Result:
        watch(Result(lives=100, failures=[Failure(7, "id5r", "b", "differs")]))
        raise KeyboardInterrupt

    monkeypatch.setattr(lives_command, "run_all", interrupted)
    monkeypatch.setattr("sys.argv", ["lives", "--lives", "300", "--no-shrink"])
    assert lives_command.main() == 1
    said = capsys.readouterr()
    assert "interrupted after 100 of 300 lives" in said.err
    assert "100 lives, 1 failed" in said.out


def test_a_life_without_an_end_is_known_by_its_cpu_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a life takes longer than it works."""

    def endless(life: Life) -> tuple[Counter[str], Failure | None]:
        while True:
            pass

    monkeypatch.setattr(children, "SECONDS", 0.2)
    monkeypatch.setattr(children, "attempt", endless)
    result = run_all(0, 1, 1)
    assert [failure.kind for failure in result.failures] == ["the process ended with SIGPROF"]
