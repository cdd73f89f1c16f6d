"""Health: when a worker has started, is alive and is ready."""

import pytest

from stream.events import Committed, Rebalanced, RestoreFinished
from stream.observe.health import Health


def lines(health: Health) -> list[str]:
    return [*health.ready().lines]


def test_ready_means_started_assigned_and_restored() -> None:
    health = Health([("a", "in", False), ("b", "in", True)])
    assert not health.started().is_good and not health.ready().is_good and health.alive().is_good
    health.has_started = True
    assert health.started().is_good and not health.ready().is_good
    assert health.ready(standby=True).is_good
    health.observe(Rebalanced("a", (("in", 0), ("in", 1)), ()))
    assert "a: restoring" in lines(health) and not health.ready(standby=True).is_good
    health.observe(RestoreFinished("a", "in", 5, 0.1))
    assert "a: ready" in lines(health) and not health.ready().is_good
    health.observe(Rebalanced("b", (("in", 0), ("in", 1)), ()))
    health.observe(RestoreFinished("b", "in/0", 5, 0.1))
    assert not health.ready().is_good
    health.observe(RestoreFinished("b", "in/1", 5, 0.1))
    assert health.ready().is_good
    health.observe(Rebalanced("b", (), (("in", 0),)))
    assert health.ready().is_good, "one partition is enough"
    health.observe(Committed("a", "aborted", 0.0))
    assert "a: restoring" in lines(health)
    health.observe(RestoreFinished("a", "in", 5, 0.1))
    assert health.ready().is_good
    health.observe(Rebalanced("a", (), (("in", 0), ("in", 1))))
    assert not health.ready().is_good and health.ready(standby=True).is_good
    health.failure = ValueError("x")
    assert not health.alive().is_good and not health.ready(standby=True).is_good


@pytest.mark.parametrize("per_partition", [False, True])
def test_a_model_that_went_and_came_back_is_not_ready_before_it_is_restored_again(
    per_partition: bool,
) -> None:
    model = "in/0" if per_partition else "in"
    health = Health([("a", "in", per_partition)])
    health.has_started = True
    for _ in range(3):
        health.observe(Rebalanced("a", (("in", 0),), ()))
        assert lines(health) == ["a: restoring"]
        assert not health.ready().is_good and not health.ready(standby=True).is_good
        health.observe(RestoreFinished("a", model, 5, 0.1))
        assert health.ready().is_good
        health.observe(Rebalanced("a", (), (("in", 0),)))
        assert not health.ready().is_good and health.ready(standby=True).is_good


def test_a_partition_that_comes_while_another_is_ready_is_waited_for() -> None:
    health = Health([("a", "in", True)])
    health.has_started = True
    health.observe(Rebalanced("a", (("in", 0),), ()))
    health.observe(RestoreFinished("a", "in/0", 5, 0.1))
    assert health.ready().is_good
    health.observe(Rebalanced("a", (("in", 1),), ()))
    assert not health.ready().is_good
    health.observe(RestoreFinished("a", "in/1", 5, 0.1))
    assert health.ready().is_good
