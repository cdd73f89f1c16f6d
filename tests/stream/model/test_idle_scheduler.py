"""Spare time is spent in short slices, within its share, by models in turn."""

import pytest

from stream.model.idle_time import IdleScheduler
from stream.records.record import Outputs
from stream.state.schedule import IMPROVE_SECONDS, Schedule


def test_the_seconds_of_slices_are_taken_once() -> None:
    improving = IdleScheduler(0.5)
    improving.seconds = 2.5
    assert [improving.take_seconds(), improving.take_seconds()] == [2.5, 0.0]


class Clock:
    """A clock that a model's work moves."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 100.0
        monkeypatch.setattr("stream.model.idle_time.time.perf_counter", lambda: self.now)


class Working:
    """A model whose units take a microsecond each, or as long as is said."""

    def __init__(self, clock: Clock, seconds: float = 1e-6) -> None:
        self.clock, self.seconds = clock, seconds
        self.can_improve = True
        self.units = 0
        self.longest = 0.0
        self.written = 0

    def improve(self, units: int) -> None:
        self.units += units
        took = units * self.seconds
        self.longest = max(self.longest, took)
        self.clock.now += took

    def improved(self) -> Outputs | None:
        self.written += 1
        return None


def test_slices_are_short_and_keep_to_their_share(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    model, improving = Working(clock), IdleScheduler(0.25)
    models = {"m": model}
    began = clock.now
    for _ in range(1_000):
        clock.now += improving.wait(models, 0.1)  # type: ignore[arg-type]
        improving.spend(models)  # type: ignore[arg-type]
    assert model.longest <= 0.0026
    spent = model.units * model.seconds
    assert spent / (clock.now - began) == pytest.approx(0.25, rel=0.05)
    # Work that gets slower is noticed after a single slice.
    model.seconds *= 20
    model.longest = 0.0
    clock.now += 10
    improving.spend(models)  # type: ignore[arg-type]
    model.longest = 0.0
    for _ in range(20):
        clock.now += improving.wait(models, 0.1)  # type: ignore[arg-type]
        improving.spend(models)  # type: ignore[arg-type]
    assert model.longest <= 0.0026


def test_nothing_is_spent_without_a_share_or_where_nothing_can_be_improved(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)
    model = Working(clock)
    off = IdleScheduler(0.0)
    assert off.wait({"m": model}, 0.1) == 0.1  # type: ignore[dict-item]
    assert off.spend({"m": model}) is None  # type: ignore[dict-item]
    model.can_improve = False
    on = IdleScheduler(1.0)
    assert on.wait({"m": model}, 0.1) == 0.1  # type: ignore[dict-item]
    assert on.spend({"m": model}) is None  # type: ignore[dict-item]
    assert model.units == 0


def test_models_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)
    models = {name: Working(clock) for name in "abc"}
    improving = IdleScheduler(1.0)
    for _ in range(90):
        improving.spend(models)  # type: ignore[arg-type]
    assert min(model.units for model in models.values()) > 0.8 * max(m.units for m in models.values())


def test_spare_time_makes_a_snapshot_due() -> None:
    schedule = Schedule(1_000_000, 1e9)
    schedule.begun(0.0, 100)
    schedule.improved(IMPROVE_SECONDS / 2)
    assert not schedule.is_due(1.0)
    schedule.improved(IMPROVE_SECONDS / 2)
    assert schedule.is_due(1.0)
    schedule.begun(1.0, 100)
    assert not schedule.is_due(2.0)
