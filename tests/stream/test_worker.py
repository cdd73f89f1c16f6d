"""A worker runs every agent, and a failure of one is not hidden by the others."""

import threading
import time
from collections.abc import Callable
from typing import ClassVar

import msgspec
import pytest

from stream.broker import Broker
from stream.config import Agent, Batch, Config, Kafka, State
from stream.errors import EngineError, StateError
from stream.events import Event, RestoreFinished
from stream.kafka.topic_plan import plans_for
from stream.kafka.topics import TopicAdmin
from stream.model.number_hints import Observe
from stream.model.ports import Guarantee, MakeProcessor, Stop, Unit
from stream.worker import Worker
from tests.contract.rigs import KafkaRig

SECONDS = 60.0


class FakeLoop:
    """An engine that waits until it is stopped, or does what a test has set for its agent."""

    guarantee = Guarantee.EXACTLY_ONCE
    made: ClassVar[list["FakeLoop"]] = []
    acts: ClassVar[dict[str, Callable[[], None]]] = {}

    def __init__(
        self, kafka: Kafka, agent: Agent, batch: Batch, instance: str, observe: Observe, state: State
    ) -> None:
        self.agent = agent
        self.instance = instance
        self.thread = ""
        self.model = ""
        self.ended = False
        self.made.append(self)

    def run(self, make_processor: MakeProcessor, stop: Stop) -> None:
        self.thread = threading.current_thread().name
        self.model = str(make_processor(Unit("m", 0)).next_offsets)
        while not stop():
            if self.agent.name in self.acts:
                self.acts[self.agent.name]()
            time.sleep(0.005)
        self.ended = True


@pytest.fixture
def loops(monkeypatch: pytest.MonkeyPatch) -> list[FakeLoop]:
    monkeypatch.setattr("stream.assembly.KafkaEngine", FakeLoop)
    monkeypatch.setattr(FakeLoop, "made", [])
    monkeypatch.setattr(FakeLoop, "acts", {})
    return FakeLoop.made


def worker_of(*names: str, instance: str | None = None) -> Worker:
    agents = tuple(Agent(name=name, input="in") for name in names)
    return Worker(Config(agents=agents, instance=instance), lambda event: None)


def fail(error: BaseException) -> Callable[[], None]:
    def act() -> None:
        raise error

    return act


def test_every_agent_works_in_a_thread_of_its_own_until_stopped(loops: list[FakeLoop]) -> None:
    worker = worker_of("a", "b", instance="one")
    worker.start()
    assert worker.wait(0.05) is False
    worker.stop()
    assert worker.wait(SECONDS) is True
    assert {loop.thread for loop in loops} == {"agent-a", "agent-b"}
    assert all(loop.ended for loop in loops)
    assert {loop.instance for loop in loops} == {"one"}
    assert {loop.model for loop in loops} == {"{}"}


def test_a_worker_without_a_name_is_told_apart_by_host_and_process(loops: list[FakeLoop]) -> None:
    worker = worker_of("a")
    worker.start()
    worker.stop()
    worker.wait(SECONDS)
    assert loops[0].instance.rpartition("-")[2].isdigit()


@pytest.mark.parametrize("error", [StateError("the journal is damaged"), KeyError("a bug")])
def test_the_failure_of_one_agent_stops_all_and_is_what_wait_raises(
    loops: list[FakeLoop], error: Exception
) -> None:
    FakeLoop.acts["b"] = fail(error)
    worker = worker_of("a", "b", "c")
    worker.start()
    with pytest.raises(type(error)) as caught:
        worker.wait(SECONDS)
    assert caught.value is error
    assert {loop.agent.name: loop.ended for loop in loops} == {"a": True, "b": False, "c": True}


def test_the_first_failure_is_the_one_that_is_told(loops: list[FakeLoop]) -> None:
    worker = worker_of("a", "b")

    def fail_later() -> None:
        deadline = time.monotonic() + SECONDS
        while not worker._stop.is_set() and time.monotonic() < deadline:
            time.sleep(0.005)
        raise StateError("second")

    FakeLoop.acts |= {"a": fail(StateError("first")), "b": fail_later}
    worker.start()
    with pytest.raises(StateError, match="first"):
        worker.wait(SECONDS)


@pytest.mark.broker
def test_an_agent_whose_topics_are_missing_stops_the_worker(
    broker: Broker, topics: Callable[[str], str]
) -> None:
    kafka = Kafka(broker.bootstrap_servers)
    good = Agent(name=topics("good"), input=topics("in"))
    bad = Agent(name=topics("bad"), input=topics("nowhere"))
    TopicAdmin(kafka).create(plans_for(good, 1))
    worker = Worker(Config(agents=(good, bad), kafka=kafka), lambda event: None)
    worker.start()
    with pytest.raises(EngineError, match="missing topics"):
        worker.wait(SECONDS)


@pytest.mark.broker
def test_a_journal_that_does_not_fit_the_scope_stops_the_worker(
    broker: Broker, topics: Callable[[str], str]
) -> None:
    kafka = Kafka(broker.bootstrap_servers)
    agent = Agent(name=topics("a"), input=topics("in"))
    plans = [
        plan._replace(partitions=3) if plan.name == agent.topics.journal else plan
        for plan in plans_for(agent, 1)
    ]
    TopicAdmin(kafka).create(plans)
    worker = Worker(Config(agents=(agent,), kafka=kafka), lambda event: None)
    worker.start()
    with pytest.raises(StateError, match="has 3 partitions where 1 are needed"):
        worker.wait(SECONDS)


@pytest.mark.broker
def test_a_stopped_worker_has_told_metrics_of_its_restore(
    broker: Broker, topics: Callable[[str], str]
) -> None:
    kafka = Kafka(broker.bootstrap_servers)
    agent = Agent(name=topics("a"), input=topics("in"))
    TopicAdmin(kafka).create(plans_for(agent, 1))
    events: list[Event] = []
    worker = Worker(Config(agents=(agent,), kafka=kafka), events.append)
    worker.start()
    deadline = time.monotonic() + SECONDS
    while not any(isinstance(event, RestoreFinished) for event in events):
        assert time.monotonic() < deadline
        assert worker.wait(0.05) is False
    worker.stop()
    assert worker.wait(SECONDS)


@pytest.mark.broker
def test_a_batch_of_wide_records_fits_into_the_journal(broker: Broker, topics: Callable[[str], str]) -> None:
    """As wide as the limits allow, and as many as a batch may have."""
    rig = KafkaRig(broker.bootstrap_servers)
    agent = Agent(name=topics("a"), input=topics("in"))
    rig.create([agent], partitions=1)
    for number in range(1_500):
        values = {f"a{place}": str((number >> place % 11) & 1) for place in range(900)}
        rig.produce(agent.input, msgspec.json.encode({**values, "class": values["a0"]}))
    rig.run([agent], {agent.topics.predictions: 1_500}, max_batch=2_000)
