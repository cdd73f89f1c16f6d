"""One contract for every engine: the same suite over lists and over a real Kafka."""

from collections.abc import Callable
from typing import Any

import pytest
from confluent_kafka import Producer

from learners.id5r.options import CoreOptions
from learners.outline import digest
from stream.broker import Broker
from stream.client.replica import Replica
from stream.config import Agent, AgentTopics, EngineName, Scope, TreeChanges
from stream.memory import Crash
from tests.contract.records import decoded, instance
from tests.contract.rigs import KafkaRig, MemoryRig, Rig

Names = Callable[[str], str]


@pytest.fixture(params=["memory", *(pytest.param(name, marks=pytest.mark.broker) for name in EngineName)])
def rig(request: pytest.FixtureRequest) -> Rig:
    if request.param == "memory":
        return MemoryRig()
    broker: Broker = request.getfixturevalue("broker")
    return KafkaRig(broker.bootstrap_servers, request.param)


def replica_of(rig: Rig, agent: Agent, model: str | None = None) -> Replica:
    replica = Replica(agent.name, model)
    replica.follow(record.value for record in rig.read(agent.topics.tree_changes))
    return replica


BARE = CoreOptions(significance=None)
"""Every record may change the tree: what is tested here is how changes travel, not whether they are wise."""


def agent_named(topics: Names, name: str, input_topic: str = "in", **settings: Any) -> Agent:
    settings.setdefault("options", BARE if settings.get("learner", "id5r") == "id5r" else None)
    return Agent(name=topics(name), input=topics(input_topic), **settings)


def test_every_record_gets_one_prediction_in_order_of_its_partition(rig: Rig, topics: Names) -> None:
    agent = agent_named(topics, "a")
    rig.create([agent], partitions=4)
    for number in range(200):
        rig.produce(agent.input, instance(number), partition=number % 4)
    rig.run([agent], {agent.topics.predictions: 200})
    predictions = decoded(rig, agent.topics.predictions)
    assert sorted(p["id"] for p in predictions) == sorted(f"r{n}" for n in range(200))
    for partition in range(4):
        offsets = [p["source"]["offset"] for p in predictions if p["source"]["partition"] == partition]
        assert offsets == list(range(50))
    assert {record.partition.number for record in rig.read(agent.topics.predictions)} == {0, 1, 2, 3}


def test_tree_changes_form_a_chain_that_leads_to_the_tree(rig: Rig, topics: Names) -> None:
    agent = agent_named(topics, "a")
    rig.create([agent], partitions=1)
    for number in range(150):
        rig.produce(agent.input, instance(number))
    rig.run([agent], {agent.topics.predictions: 150})
    changes = decoded(rig, agent.topics.tree_changes)
    assert [change["seq"] for change in changes] == list(range(1, len(changes) + 1))
    assert len(changes) > 5
    # The replica refuses a gap, a fork or a wrong digest.
    replica = replica_of(rig, agent)
    assert digest(replica.outline) == changes[-1]["tree"]["digest"]


def test_net_changes_form_a_chain_that_leads_to_the_same_tree(rig: Rig, topics: Names) -> None:
    agent = agent_named(topics, "a")
    net = Agent(
        name=topics("b"),
        input=agent.input,
        tree_changes=TreeChanges.COMMIT,
        options=BARE,
        topics=_topics_of_its_own(topics),
    )
    rig.create([agent, net], partitions=1)
    for number in range(150):
        rig.produce(agent.input, instance(number))
    rig.run([agent, net], {agent.topics.predictions: 150, net.topics.predictions: 150}, max_batch=40)
    changes = decoded(rig, net.topics.tree_changes)
    assert [change["seq"] for change in changes] == list(range(1, len(changes) + 1))
    assert len(changes) < len(decoded(rig, agent.topics.tree_changes))
    assert max(change["net_of"] for change in changes) > 1
    assert digest(replica_of(rig, net).outline) == digest(replica_of(rig, agent).outline)
    answers = [
        [(p["id"], p["prediction"], p["probabilities"]) for p in decoded(rig, one.topics.predictions)]
        for one in (agent, net)
    ]
    assert answers[0] == answers[1]


def _topics_of_its_own(topics: Names) -> AgentTopics:
    names = ("predictions", "tree_changes", "dead_letters")
    return AgentTopics(**{name: topics(f"b.{name}") for name in names})


def test_a_bad_record_becomes_a_dead_letter_and_the_stream_goes_on(rig: Rig, topics: Names) -> None:
    agent = agent_named(topics, "a")
    rig.create([agent], partitions=1)
    bad = [b"{not json", b"\xff\xfe", b"[1]", b'{"a": "x", "class": []}', b'{"a":1,"a":2}', None]
    reasons = ["json_syntax", "encoding", "not_object", "bad_label", "duplicate_key", "null_value"]
    for number, value in enumerate(bad):
        rig.produce(agent.input, instance(number))
        rig.produce(agent.input, value, headers=(("trace", b"t-1"),))
    rig.run([agent], {agent.topics.predictions: 6, agent.topics.dead_letters: 6})
    assert len(decoded(rig, agent.topics.predictions)) == 6
    letters = rig.read(agent.topics.dead_letters)
    assert [letter.value for letter in letters] == bad
    headers = [dict(letter.headers) for letter in letters]
    assert [h["espalier.dlq.reason"] for h in headers] == [reason.encode() for reason in reasons]
    assert [h["espalier.dlq.offset"] for h in headers] == [str(2 * n + 1).encode() for n in range(6)]
    assert all(h["trace"] == b"t-1" for h in headers)
    assert all(h["__streams.errors.topic"] == agent.input.encode() for h in headers)


def test_a_wrong_type_in_the_middle_of_the_stream_is_a_missing_value(rig: Rig, topics: Names) -> None:
    agent = agent_named(topics, "a")
    rig.create([agent], partitions=1)
    rig.produce(agent.input, b'{"a": "x", "class": "p"}')
    rig.produce(agent.input, b'{"a": 17, "class": "p"}')
    rig.produce(agent.input, b'{"a": "y", "class": "n"}')
    rig.run([agent], {agent.topics.predictions: 3})
    assert rig.read(agent.topics.dead_letters) == []


def test_a_record_without_a_label_is_only_answered(rig: Rig, topics: Names) -> None:
    agent = agent_named(topics, "a")
    rig.create([agent], partitions=1)
    rig.produce(agent.input, b'{"id": 1, "a": "x", "class": "p"}')
    rig.produce(agent.input, b'{"id": 2, "a": "y", "class": "n"}')
    rig.produce(agent.input, b'{"id": 3, "a": "y"}')
    rig.produce(agent.input, b'{"id": 4, "a": "z", "class": null}')
    rig.run([agent], {agent.topics.predictions: 4})
    answers = decoded(rig, agent.topics.predictions)
    assert [answer["prediction"] for answer in answers] == [None, "p", "n", "n"]
    assert "label" not in answers[2]
    assert "correct" not in answers[2]
    assert answers[3]["flags"] == ["unseen_value"]
    assert len(decoded(rig, agent.topics.tree_changes)) == 2


def test_two_agents_work_side_by_side_on_one_topic(rig: Rig, topics: Names) -> None:
    agents = [agent_named(topics, "one"), agent_named(topics, "two", learner="id4")]
    rig.create(agents, partitions=2)
    for number in range(100):
        rig.produce(agents[0].input, instance(number), partition=number % 2)
    rig.run(agents, {agents[0].topics.predictions: 200})
    predictions = decoded(rig, agents[0].topics.predictions)
    for agent in agents:
        assert sum(p["agent"] == agent.name for p in predictions) == 100
        replica_of(rig, agent)
    assert {p["learner"] for p in predictions} == {"id5r", "id4"}


@pytest.mark.parametrize("scope", list(Scope))
def test_a_restart_goes_on_where_the_last_run_stopped(rig: Rig, topics: Names, scope: Scope) -> None:
    agent = agent_named(topics, "a", scope=scope)
    whole = agent_named(topics, "whole", "whole-in", scope=scope)
    rig.create([agent, whole], partitions=2)
    for start, end in ((0, 60), (60, 100), (100, 160)):
        for number in range(start, end):
            rig.produce(agent.input, instance(number), partition=number % 2)
            rig.produce(whole.input, instance(number), partition=number % 2)
        rig.run([agent], {agent.topics.predictions: end}, max_batch=17)
    rig.run([whole], {whole.topics.predictions: 160})
    models = [None] if scope is Scope.TOPIC else [0, 1]
    for model in models:
        told = [
            replica_of(rig, one, one.input if model is None else f"{one.input}/{model}")
            for one in (agent, whole)
        ]
        assert digest(told[0].outline) == digest(told[1].outline)
        assert told[0].outline is not None
    assert len(decoded(rig, agent.topics.predictions)) == 160


def test_each_partition_has_a_model_of_its_own_when_asked(rig: Rig, topics: Names) -> None:
    agent = agent_named(topics, "a", scope=Scope.PARTITION)
    rig.create([agent], partitions=4)
    for number in range(160):
        rig.produce(agent.input, instance(number), partition=number % 4)
    rig.run([agent], {agent.topics.predictions: 160})
    for partition in range(4):
        alone = MemoryRig()
        twin = Agent(name="twin", input=agent.input, options=BARE)
        alone.create([twin], partitions=1)
        for number in range(partition, 160, 4):
            alone.produce(twin.input, instance(number))
        alone.run([twin], {})
        model = replica_of(rig, agent, f"{agent.input}/{partition}")
        assert digest(model.outline) == digest(replica_of(alone, twin).outline)


def test_one_journal_message_is_written_for_each_batch(rig: Rig, topics: Names) -> None:
    agent = agent_named(topics, "a")
    rig.create([agent], partitions=1)
    for number in range(100):
        rig.produce(agent.input, instance(number))
    rig.run([agent], {agent.topics.predictions: 100}, max_batch=1000)
    assert len(rig.read(agent.topics.journal)) < 20


@pytest.mark.broker
@pytest.mark.parametrize("engine", list(EngineName))
def test_kafka_and_memory_give_the_same_bytes(broker: Broker, topics: Names, engine: EngineName) -> None:
    agent = agent_named(topics, "a")
    rigs: list[Rig] = [MemoryRig(), KafkaRig(broker.bootstrap_servers, engine)]
    outputs = []
    for rig in rigs:
        rig.create([agent], partitions=1)
        for number in range(300):
            rig.produce(agent.input, instance(number) if number % 50 else b"?")
        rig.run([agent], {agent.topics.predictions: 294, agent.topics.dead_letters: 6}, max_batch=7)
        outputs.append(
            [
                [record.value for record in rig.read(topic)]
                for topic in (agent.topics.predictions, agent.topics.tree_changes, agent.topics.dead_letters)
            ]
        )
    assert outputs[0] == outputs[1]


@pytest.mark.broker
@pytest.mark.parametrize("engine", list(EngineName))
def test_what_was_never_committed_to_the_input_is_not_learned_from(
    broker: Broker, topics: Names, engine: EngineName
) -> None:
    agent = agent_named(topics, "a")
    rig = KafkaRig(broker.bootstrap_servers, engine)
    rig.create([agent], partitions=1)
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topics("writer")})
    producer.init_transactions(30)
    for number, end in enumerate((producer.abort_transaction, producer.commit_transaction) * 2):
        producer.begin_transaction()
        for place in range(20):
            producer.produce(agent.input, instance(20 * number + place), partition=0)
        producer.flush(30)
        end(30)
    rig.run([agent], {agent.topics.predictions: 40})
    told = [answer["id"] for answer in decoded(rig, agent.topics.predictions)]
    assert told == [f"r{number}" for number in (*range(20, 40), *range(60, 80))]


@pytest.mark.parametrize("after_commit", [False, True])
def test_a_crash_on_either_side_of_the_commit_leaves_no_trace(topics: Names, after_commit: bool) -> None:
    agent = agent_named(topics, "a")
    outputs = []
    for crashes in ([], [Crash(batch, after_commit) for batch in (0, 1, 4, 5)]):
        rig = MemoryRig()
        rig.create([agent], partitions=1)
        for number in range(200):
            rig.produce(agent.input, instance(number))
        rig.run([agent], {agent.topics.predictions: 200}, max_batch=20, crashes=crashes)
        outputs.append(
            [r.value for t in ("predictions", "tree_changes") for r in rig.read(getattr(agent.topics, t))]
        )
    assert outputs[0] == outputs[1]
