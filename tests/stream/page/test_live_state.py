"""What the page learns from the events of the agents."""

import gc
import json
import time
from itertools import islice
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.outline import Size, size
from learners.registry import LEARNERS
from stream.assembly import processor_factory
from stream.config import Agent, Limits
from stream.demo.generators import GENERATORS
from stream.events import ModelMeasured, PartitionProgress, Rebalanced, RestoreFinished
from stream.model.ports import unit_of
from stream.model.processor import LearningProcessor
from stream.observe.metrics import Metrics
from stream.page.feed import PageFeed
from stream.page.http_app import HttpApp
from stream.page.live_state import WAITING_BYTES, LiveState
from stream.page.tree_view import told
from stream.records.record import Partition, Record


def test_the_page_is_told_the_changes_that_are_published() -> None:
    agent = Agent(name="loans", input="in")
    front = HttpApp([agent], Metrics())
    processor = processor_factory(agent, Limits(), front.observe)(unit_of("in", None))
    published: list[bytes] = []
    everything: list[Record] = []
    for start in range(0, 200, 20):
        records = [
            Record(Partition("in", 0), start + n, json.dumps(one).encode())
            for n, one in enumerate(islice(GENERATORS["loans"](start), 20))
        ]
        everything += records
        outputs = processor.process(records)
        published += [one.value or b"" for one in outputs.others if one.topic == agent.topics.tree_changes]
    board = front.hub.agents["loans"]
    model = board.models["in"]
    assert [value for step in model.steps for value in step.changes] == published
    assert model.latest is not None and model.latest.version == len(published) > 5
    assert (board.answered, board.labelled) == (200, 200)
    last = told(published[-1], 0.0)
    cause = last[-1].cause
    assert cause is not None
    assert last[-1].version == len(published) and cause["topic"] == "in"
    by_offset: dict[object, object] = {
        record.offset: json.loads(record.value or b"")["id"] for record in everything
    }
    assert cause["id"] == by_offset[cause["offset"]]


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_can_be_shown(learner: str) -> None:
    agent = Agent(name="loans", input="in", learner=learner)
    hub = LiveState([agent])
    presenter = PageFeed(hub)
    processor = processor_factory(agent, Limits(), hub.observe)(unit_of("in", None))
    for number, one in enumerate(islice(GENERATORS["loans"](1), 120)):
        processor.process([Record(Partition("in", 0), number, json.dumps(one).encode())])
        if number % 20 == 19:
            presenter.tick()
    assert isinstance(processor, LearningProcessor)
    deadline = time.monotonic() + 45
    shown: dict[str, Any] = {}
    while shown.get("version") != processor.version:  # on a busy machine it is drawn a little later
        assert time.monotonic() < deadline
        presenter.tick()
        shown = json.loads(presenter.tree(("loans", "in")) or b"{}")
    assert shown["digest"] == processor.digest
    tree = processor.learner.outline_lately
    assert len(shown["nodes"]) == size(tree).nodes


@given(st.lists(st.integers(1, 40_000), min_size=1, max_size=12))
def test_of_many_large_changes_the_last_wait_and_the_others_are_counted(sizes: list[int]) -> None:
    agent = Agent(name="loans", input="in")
    front = HttpApp([agent], Metrics())
    processor = processor_factory(agent, Limits(), front.observe)(unit_of("in", None))
    changes = [b"x" * size for size in sizes]
    front.hub.observe(ModelMeasured("loans", "in", Size(1, 1, 0), 1, None, changes))
    (step,) = front.hub.agents["loans"].models["in"].steps
    assert step.changes == changes[step.passed :]
    assert len(step.changes) == 1 or sum(map(len, step.changes)) <= WAITING_BYTES
    assert step.passed == 0 or sum(map(len, changes[step.passed - 1 :])) > WAITING_BYTES
    assert processor.next_offsets == {}


def test_the_lag_of_partitions_goes_before_what_somebody_says_of_all() -> None:
    hub = HttpApp([Agent(name="loans", input="in")], Metrics()).hub
    board = hub.agents["loans"]
    unknown = board.lag
    assert unknown is None
    hub.set_lag("loans", 7)
    hub.set_lag("loans", 9)
    assert board.lag == 9
    hub.observe(PartitionProgress("loans", "in", 0, 0, 5, 3))
    hub.observe(PartitionProgress("loans", "in", 1, 0, 5, 4))
    hub.set_lag("loans", 100)
    assert board.lag == 7
    hub.observe(Rebalanced("loans", (), (("in", 1),)))
    assert board.lag == 3


def test_a_model_that_is_kept_elsewhere_now_is_no_longer_shown() -> None:
    agent = Agent(name="loans", input="in", scope="partition")  # type: ignore[arg-type]
    front = HttpApp([agent], Metrics())
    make = processor_factory(agent, Limits(), front.observe)
    kept = [make(unit_of("in", number)) for number in range(3)]
    assert set(front.hub.agents["loans"].models) == {"in/0", "in/1", "in/2"}
    front.observe(Rebalanced("loans", (), (("in", 1),)))
    assert set(front.hub.agents["loans"].models) == {"in/0", "in/2"}
    del kept
    gc.collect()
    front.observe(RestoreFinished("loans", "in/0", 1, 0.1))
    assert front.hub.agents["loans"].models["in/0"].latest is None, "a processor that is gone is not asked"
