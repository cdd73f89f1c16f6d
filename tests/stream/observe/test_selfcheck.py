"""A worker compares its trees with ID3's now and then, and is none the slower or the wiser for it."""

import gc
import json
import random
import subprocess
from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.id5r.learner import ID5R
from learners.id5r.state import State
from learners.outline import Size
from learners.snapshot import pack, unpack
from stream.assembly import processor_factory
from stream.config import Agent, Limits
from stream.events import Event, ModelMeasured, SelfChecked
from stream.model.ports import unit_of
from stream.model.processor import LearningProcessor
from stream.observe import selfcheck
from stream.observe.selfcheck import SelfCheck, SelfCheckFinding, elsewhere, here
from stream.records.record import Partition, Record

OPTIONS: list[dict[str, object]] = [
    {},
    {"significance": None},
    {"significance": None, "selection": "gain-ratio"},
    {"significance_test": "chi2"},
    {"window": 40},
    {"train": "errors"},
    {"significance": None, "tie_order": ["a2", "a0"]},
]


def instances(count: int, seed: int = 1) -> list[dict[str, object]]:
    chance = random.Random(seed)
    told = []
    for number in range(count):
        values: dict[str, object] = {f"a{n}": f"v{chance.randrange(3)}" for n in range(4)}
        values["class"] = "yes" if (values["a0"] == values["a1"]) != (chance.random() < 0.1) else "no"
        if number % 17 == 0:
            del values["a2"]
        told.append(values)
    return told


def records(count: int, seed: int = 1) -> list[Record]:
    place = Partition("in", 0)
    return [Record(place, n, json.dumps(told).encode()) for n, told in enumerate(instances(count, seed))]


def processor(options: dict[str, object], check: SelfCheck | None = None) -> LearningProcessor:
    given = msgspec.convert(options, ID5R.options_type)
    agent = Agent(name="a", input="in", options=given)
    make = processor_factory(agent, Limits(), check.observe if check else lambda event: None)
    made = (check.watching("a", make) if check else make)(unit_of("in", None))
    assert isinstance(made, LearningProcessor)
    return made


@given(st.sampled_from(OPTIONS), st.integers(0, 300), st.integers(0, 5))
def test_an_exact_tree_is_found_to_be_id3s(options: dict[str, object], count: int, seed: int) -> None:
    made = processor(options)
    made.process(records(count, seed))
    finding = here(made.learner.snapshot())
    assert finding.same
    outline = made.learner.outline()
    classes = 0 if outline is None else sum(count > 0 for _, count in outline.counts)
    # ID3 has counted as soon as there was something to tell apart.
    assert (finding.spent.get("instance_count_additions", 0) > 0) == (classes > 1)


def test_a_retired_attribute_is_no_attribute_of_id3_either() -> None:
    """With the bare algorithm an attribute of one value would be tested where nothing else is left."""
    made = processor({"significance": None})
    given = [{"user": f"u{n}", "a": "x", "class": "yes" if n % 3 else "no"} for n in range(1_100)]
    made.process([Record(Partition("in", 0), n, json.dumps(one).encode()) for n, one in enumerate(given)])
    assert made.learner.codes.retired == {0}
    assert here(made.learner.snapshot()).same


def test_a_tree_that_is_not_id3s_is_found_out() -> None:
    """A tree that was grown under other settings than it says."""
    made = processor({"significance": None})
    made.process(records(300))
    state = unpack(made.learner.snapshot(), "id5r", State)
    state.options["significance"] = 0.001
    assert not here(pack("id5r", state)).same


def test_another_process_finds_the_same() -> None:
    made = processor({})
    made.process(records(300))
    snapshot = made.learner.snapshot()
    assert elsewhere(snapshot) == here(snapshot)
    with pytest.raises(subprocess.SubprocessError):
        elsewhere(snapshot[:-10])


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def checked(compare: Callable[[bytes], SelfCheckFinding]) -> tuple[SelfCheck, list[Event], Clock]:
    events: list[Event] = []
    clock = Clock()
    return SelfCheck(events.append, first=5, every=60, compare=compare, clock=clock), events, clock


def results(events: list[Event]) -> list[str]:
    return [event.result for event in events if isinstance(event, SelfChecked)]


def test_a_check_is_made_some_time_after_the_first_batch_and_then_now_and_then() -> None:
    check, events, clock = checked(here)
    made = processor({}, check)
    batches = [records(20, seed) for seed in range(4)]
    for now, batch, expected in zip((0, 4, 6, 40), batches, (0, 0, 1, 1), strict=True):
        clock.now = now
        made.process(batch)
        check.wait()
        assert len(results(events)) == expected, now
    clock.now = 67
    made.process(records(20, 9))
    check.wait()
    assert results(events) == ["same", "same"]
    assert sum(isinstance(event, ModelMeasured) for event in events) == 5, "every event is passed on"


def test_what_was_found_is_told(caplog: pytest.LogCaptureFixture) -> None:
    check, events, clock = checked(lambda snapshot: SelfCheckFinding(False, {"e_scores": 7}))
    made = processor({}, check)
    made.process(records(5))
    clock.now = 6
    made.process(records(5, 2))
    check.wait()
    (told,) = [event for event in events if isinstance(event, SelfChecked)]
    assert (told.agent, told.model, told.result) == ("a", "in", "different")
    assert told.spent is not None
    assert told.spent.e_scores == 7
    assert "is not the one that ID3 builds" in caplog.text


def test_a_tree_that_tests_numbers_is_not_compared_with_id3s() -> None:
    made = processor({})
    place = Partition("in", 0)
    told = [json.dumps({"size": n, "class": "big" if n > 20 else "small"}).encode() for n in range(60)]
    made.process([Record(place, n, text) for n, text in enumerate(told)])
    assert here(made.learner.snapshot()) == SelfCheckFinding(None, {})


@pytest.mark.parametrize("error", [OSError("no more processes"), ValueError("what?")])
def test_a_check_that_cannot_be_made_is_counted_and_harms_nobody(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(snapshot: bytes) -> SelfCheckFinding:
        raise error

    check, events, clock = checked(fail)
    made = processor({}, check)
    made.process(records(5))
    clock.now = 6
    made.process(records(5, 2))
    check.wait()
    assert results(events) == ["failed"]
    assert f"could not be made: {error}" in caplog.text


def test_what_cannot_be_compared_is_counted_as_left_out() -> None:
    check, events, clock = checked(lambda snapshot: SelfCheckFinding(None, {}))
    made = processor({}, check)
    made.process(records(5))
    clock.now = 6
    made.process(records(5, 2))
    check.wait()
    assert results(events) == ["skipped"]


def test_a_model_of_too_many_instances_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selfcheck, "MOST_DISTINCT", 3)
    check, events, clock = checked(lambda snapshot: pytest.fail("it is not looked at"))
    made = processor({}, check)
    made.process(records(50))
    clock.now = 6
    made.process(records(5, 2))
    check.wait()
    assert results(events) == ["skipped"]


def test_a_learner_without_an_exact_tree_is_never_checked() -> None:
    check, events, clock = checked(here)
    make = processor_factory(Agent(name="a", input="in", learner="id4"), Limits(), check.observe)
    made = check.watching("a", make)(unit_of("in", None))
    made.process(records(5))
    clock.now = 6
    made.process(records(5, 2))
    check.wait()
    assert not results(events)


def test_a_model_that_was_dropped_is_not_kept_for_its_check() -> None:
    check, events, clock = checked(here)
    made = processor({}, check)
    made.process(records(5))
    del made
    events.clear()
    gc.collect()
    clock.now = 6
    check.observe(ModelMeasured("a", "in", Size(1, 1, 0), 5))
    check.wait()
    assert not results(events)


def test_what_a_worker_answers_does_not_depend_on_its_checks() -> None:
    check, events, clock = checked(here)
    doubting, plain = processor({"significance": None}, check), processor({"significance": None})
    for seed in range(8):
        clock.now += 100
        batch = records(60, seed)
        assert list(doubting.process(batch)) == list(plain.process(batch))
        check.wait()
    assert len(results(events)) == 7
