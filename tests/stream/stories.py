"""Records of small worlds, good and bad, and what a processor makes of them."""

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import msgspec
from hypothesis import strategies as st

from learners.learner import make_options
from learners.registry import LEARNERS
from stream.assembly import processor_factory
from stream.config import Agent, Limits
from stream.events import Event
from stream.model.number_hints import Observe
from stream.model.ports import unit_of
from stream.model.processor import LearningProcessor
from stream.records.record import Output, Partition, Record
from tests.strategies import cases

INPUT = "in"
BAD: tuple[bytes | None, ...] = (
    None,
    b"",
    b"{",
    b"[1]",
    b"\xff",
    b'{"a": [1], "class": "yes"}',
    b'{"a": 1, "a": 2}',
    b'{"a": NaN}',
    b'{"id": true}',
    b'{"brand new": "value", "class": ""}',
    b'{"brand new": "value", "another": 36893488147419103232, "class": "yes"}',
    b'{"brand new": "value", "class": ["yes"]}',
)


def ignore(event: Event) -> None:
    """Metrics are not looked at."""


def make(agent: Agent, observe: Observe = ignore, limits: Limits | None = None) -> LearningProcessor:
    processor = processor_factory(agent, limits or Limits(), observe)(unit_of(agent.input, None))
    assert isinstance(processor, LearningProcessor)
    return processor


def records_of(values: Iterable[bytes | None], start: int = 0) -> list[Record]:
    place = Partition(INPUT, 0)
    return [Record(place, start + n, value, timestamp_ms=n) for n, value in enumerate(values)]


class Told(NamedTuple):
    """What was published, taken apart by topic."""

    predictions: list[dict[str, Any]]
    changes: list[dict[str, Any]]
    letters: list[Output]
    journal: list[bytes]


def told_by(outputs: Iterable[Output], agent: Agent) -> Told:
    topics = agent.topics
    told = Told([], [], [], [])
    for output in outputs:
        if output.topic == topics.dead_letters:
            told.letters.append(output)
            continue
        assert output.value is not None
        if output.topic == topics.journal:
            told.journal.append(output.value)
        else:
            kind = {topics.predictions: told.predictions, topics.tree_changes: told.changes}[output.topic]
            kind.append(json.loads(output.value))
    return told


class Story(NamedTuple):
    """An agent and the records of its input, good and bad, over several partitions."""

    agent: Agent
    records: list[Record]


def knows(learner: str, name: str, value: object) -> bool:
    """Whether a learner has a setting and takes this value for it."""
    try:
        make_options(LEARNERS[learner].options_type, {name: value})
    except msgspec.ValidationError:
        return False
    return True


@st.composite
def stories(
    draw: st.DrawFn, learners: Sequence[str] = tuple(LEARNERS), *, bad: bool = True, max_size: int = 25
) -> Story:
    """Return records of a small world, some without a label, with whatever else may be in a topic."""
    case = draw(cases(max_size=max_size))
    learner = draw(st.sampled_from(sorted(learners)))
    chosen = {name: value for name, value in case.settings.items() if knows(learner, name, value)}
    chosen["train"] = draw(st.sampled_from(("all", "all", "errors")))
    agent = Agent(
        name="a",
        input=INPUT,
        learner=learner,
        schema=case.schema,
        options=make_options(LEARNERS[learner].options_type, chosen),
    )
    values: list[bytes | None] = []
    for number, (description, label) in enumerate(case.stream):
        while bad and draw(st.integers(0, 4)) == 4:
            values.append(draw(st.sampled_from(BAD)))
        told: dict[str, object] = {"id": number, **description, "class": label}
        if draw(st.integers(0, 5)) == 5:
            del told["class"]
        values.append(json.dumps(told).encode())
    places = draw(st.lists(st.integers(0, 2), min_size=len(values), max_size=len(values)))
    next_offset: Counter[int] = Counter()
    records = []
    for value, number in zip(values, places, strict=True):
        # Offsets have gaps where transactions were aborted or ended.
        offset = next_offset[number] + draw(st.sampled_from((0, 0, 0, 1, 7)))
        next_offset[number] = offset + 1
        key = draw(st.sampled_from((None, b"k", b"\xff")))
        records.append(Record(Partition(INPUT, number), offset, value, key, timestamp_ms=1))
    return Story(agent, records)


def pieces(draw: Callable[[st.SearchStrategy[Any]], Any], records: list[Record]) -> list[list[Record]]:
    """Cut some records into batches at places of hypothesis' choice."""
    cuts = sorted(draw(st.sets(st.integers(1, max(1, len(records) - 1)), max_size=len(records))))
    bounds = [0, *(cut for cut in cuts if cut < len(records)), len(records)]
    return [records[start:end] for start, end in itertools.pairwise(bounds)]
