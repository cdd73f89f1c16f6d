"""Records as users have them, on a real Kafka: every learner predicts each, and survives a restart."""

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest
from click.testing import CliRunner

from learners.learner import make_options
from learners.registry import LEARNERS
from learners.schema import Attribute, AttributeType, Schema
from stream.broker import Broker
from stream.cli.main import espalier
from stream.config import Agent
from stream.errors import StateError
from stream.records.fields import Nested
from tests.contract.rigs import KafkaRig, MemoryRig
from tests.needs import DATA, missing

Names = Callable[[str], str]
Values = dict[str, Any]


def agents_of(topics: Names, **settings: Any) -> list[Agent]:
    """Return an agent for every learner, all on one input, that spends no spare time on its tree."""
    return [
        Agent(name=topics(name), input=topics("in"), learner=name, idle_share=0, **settings)
        for name in sorted(LEARNERS)
    ]


def send(rig: KafkaRig | MemoryRig, topic: str, records: Iterable[Values]) -> None:
    for record in records:
        rig.produce(topic, msgspec.json.encode(record))


def outcomes(rig: KafkaRig | MemoryRig, agents: Sequence[Agent]) -> dict[str, tuple[int, str]]:
    """Return of each learner how many predictions there are, and the tree that made the last of them."""
    found: dict[str, list[Values]] = {agent.name: [] for agent in agents}
    for record in rig.read(agents[0].topics.predictions):
        prediction = msgspec.json.decode(record.value or b"")
        found[prediction["agent"]].append(prediction)
    return {
        agent.learner: (len(found[agent.name]), found[agent.name][-1]["tree"]["digest"]) for agent in agents
    }


def without_a_broker(agents: Sequence[Agent], records: Sequence[Values]) -> dict[str, tuple[int, str]]:
    """Return what comes of the same records one at a time, without a broker and without a restart."""
    rig = MemoryRig()
    rig.create(agents, partitions=1)
    send(rig, agents[0].input, records)
    rig.run(agents, {}, max_batch=1)
    return outcomes(rig, agents)


def restarted(rig: KafkaRig, agents: Sequence[Agent], parts: Sequence[Sequence[Values]]) -> None:
    """Send each part and let a worker of its own process it: the first one record at a time."""
    predictions, sent = agents[0].topics.predictions, 0
    for number, part in enumerate(parts):
        send(rig, agents[0].input, part)
        sent += len(part)
        rig.run(agents, {predictions: sent * len(agents)}, max_batch=1 if number == 0 else 2_000)


def null_first(count: int) -> list[Values]:
    rng = random.Random(3)
    rows: list[Values] = []
    for number in range(count):
        x = None if number < 2 else round(rng.gauss(0, 1), 3)
        y = rng.choice(["red", "dark", None])
        rows.append({"id": number, "x": x, "hair": y, "class": "p" if (x or 0) > 0.2 else "n"})
    return rows


@pytest.mark.broker
def test_a_field_that_is_null_first_and_a_number_later(broker: Broker, topics: Names) -> None:
    rig, agents, records = KafkaRig(broker.bootstrap_servers), agents_of(topics), null_first(240)
    rig.create(agents, partitions=1)
    restarted(rig, agents, [records[:20], records[20:60], records[60:]])
    assert outcomes(rig, agents) == without_a_broker(agents, records)
    assert rig.read(agents[0].topics.dead_letters) == []


@pytest.mark.broker
@pytest.mark.data
def test_records_that_are_repeated_do_not_vanish(broker: Broker, topics: Names, data_dir: Path) -> None:
    lines = (data_dir / "balance-scale.csv").read_text().splitlines()
    names, rows = lines[0].split(","), [line.split(",") for line in lines[1:]]
    rng = random.Random(11)
    drawn = [rng.choice(rows) for _ in range(300)]
    records: list[Values] = [
        {name: cell if name == "class" else int(cell) for name, cell in zip(names, row, strict=True)}
        for row in drawn
    ]
    rig, agents = KafkaRig(broker.bootstrap_servers), agents_of(topics)
    rig.create(agents, partitions=1)
    restarted(rig, agents, [records[:20], records[20:]])
    assert outcomes(rig, agents) == without_a_broker(agents, records)


def events(count: int) -> list[Values]:
    rng = random.Random(5)
    found: list[Values] = []
    for number in range(count):
        plan, logins = rng.choice(["free", "pro"]), rng.randint(0, 30)
        found.append(
            {
                "id": f"e-{number}",
                "user_id": f"{rng.getrandbits(64):016x}",
                "ts": f"2026-11-17T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z",
                "plan": plan,
                "logins": logins,
                "class": "churn" if plan == "free" and logins < 10 else "stay",
            }
        )
    return found


@pytest.mark.broker
def test_events_with_ids_and_timestamps_are_all_learned(broker: Broker, topics: Names) -> None:
    """The tree is that of `plan` and `logins`, whether the other fields are ignored or retired."""
    plain = Agent(name=topics("plain"), input=topics("in"))
    clean = Agent(name=topics("clean"), input=topics("in"), ignore=("user_id", "ts"))
    rig, agents = KafkaRig(broker.bootstrap_servers), [plain, clean]
    rig.create(agents, partitions=1)
    send(rig, plain.input, events(5_000))
    rig.run(agents, {plain.topics.predictions: 10_000}, max_batch=500)
    assert rig.read(plain.topics.dead_letters) == []
    predictions = [msgspec.json.decode(one.value or b"") for one in rig.read(plain.topics.predictions)]
    last = {one["agent"]: one for one in predictions}
    assert Counter(one["agent"] for one in predictions) == {plain.name: 5_000, clean.name: 5_000}
    assert last[plain.name]["tree"]["digest"] == last[clean.name]["tree"]["digest"]
    assert {step["attribute"] for one in predictions[-100:] for step in one["path"]} == {"plan", "logins"}
    changes = [msgspec.json.decode(one.value or b"") for one in rig.read(plain.topics.tree_changes)]
    retired = [
        (one["agent"], change["attribute"])
        for one in changes
        for change in one["changes"]
        if change["kind"] == "retired"
    ]
    assert sorted(retired) == [(plain.name, "ts"), (plain.name, "user_id")]


@pytest.mark.broker
def test_every_learner_retires_what_has_too_many_values(broker: Broker, topics: Names) -> None:
    """The limit of 1,024 values is passed by rows that differ in an id alone, which cost little to learn."""
    rig = KafkaRig(broker.bootstrap_servers)
    agents = [agent for agent in agents_of(topics) if agent.learner not in ("id3", "id3prime", "lsid3")]
    rig.create(agents, partitions=1)
    records: list[Values] = [
        {"user": f"u-{n}", "colour": "red" if n % 2 else "blue", "class": "p" if n % 2 else "n"}
        for n in range(1_060)
    ]
    restarted(rig, agents, [records[:20], records[20:1_040], records[1_040:]])
    found = outcomes(rig, agents)
    assert {learner: count for learner, (count, _) in found.items()} == dict.fromkeys(found, 1_060)
    assert rig.read(agents[0].topics.dead_letters) == []
    changes = [msgspec.json.decode(one.value or b"") for one in rig.read(agents[0].topics.tree_changes)]
    kinds = Counter(
        one["learner"] for one in changes for change in one["changes"] if change["kind"] == "retired"
    )
    assert kinds == dict.fromkeys((agent.learner for agent in agents), 1)


@pytest.mark.broker
def test_a_renamed_label_is_refused_with_both_names(broker: Broker, topics: Names, tmp_path: Path) -> None:
    rig, agents = KafkaRig(broker.bootstrap_servers), agents_of(topics)
    rig.create(agents, partitions=1)
    records: list[Values] = [
        {"a": n % 3, "class": "good" if n % 2 else "bad", "outcome": "won"} for n in range(30)
    ]
    restarted(rig, agents, [records])
    for agent in agents:
        renamed = msgspec.structs.replace(agent, label="outcome", ignore=("class",))
        with pytest.raises(StateError) as caught:
            rig.run([renamed], {agent.topics.predictions: 10**6})
        message = str(caught.value)
        assert 'label was "class" and is "outcome" now' in message, agent.learner
        assert 'ignore was [] and is ["class"] now' in message, agent.learner
    file = tmp_path / "espalier.toml"
    one = agents[0]
    file.write_text(
        f'[kafka]\nbootstrap_servers = "{broker.bootstrap_servers}"\n'
        f'[[agent]]\nname = "{one.name}"\ninput = "{one.input}"\nlearner = "{one.learner}"\n'
        'label = "outcome"\n'
    )
    checked = CliRunner().invoke(espalier, ["config", "check", "-c", str(file)])
    assert (checked.exit_code, 'label was "class" and is "outcome" now' in checked.output) == (78, True)
    offline = CliRunner().invoke(espalier, ["config", "check", "-c", str(file), "--offline"])
    assert offline.exit_code == 0


@pytest.mark.broker
def test_settings_that_do_not_change_the_tree_may_be_changed(broker: Broker, topics: Names) -> None:
    rig, agent = KafkaRig(broker.bootstrap_servers), Agent(name=topics("a"), input=topics("in"))
    rig.create([agent], partitions=1)
    records = null_first(90)
    for number, answer in enumerate(("tree", "adaptive", "tree")):
        options = make_options(LEARNERS["id5r"].options_type, {"answer": answer})
        changed = msgspec.structs.replace(agent, options=options)
        send(rig, agent.input, records[30 * number : 30 * number + 30])
        rig.run([changed], {agent.topics.predictions: 30 * number + 30}, max_batch=7 + number)
    assert outcomes(rig, [agent]) == without_a_broker([agent], records)


# ---- whole topics


class Topic(NamedTuple):
    """What an agent is told about a topic, and what must come of it."""

    settings: dict[str, Any]
    accuracy: float
    dead: frozenset[str] = frozenset()


NUMERIC = AttributeType.NUMERIC
UGLY = {
    "clickstream": Topic(
        {"label": "converted", "ignore": ("event_id", "ts", "user.id", "page"), "nested": Nested.FLATTEN},
        0.94,
    ),
    "sensors": Topic({"label": "fail", "ignore": ("device", "t")}, 0.98),
    "cdc": Topic(
        {
            "label": "after.status",
            "ignore": ("before", "source", "op", "ts_ms", "after.id", "after.customer_id", "after.created"),
            "nested": Nested.FLATTEN,
            "schema": Schema((Attribute("after.amount", NUMERIC),)),
        },
        0.93,
        frozenset({"null_value"}),
    ),
    "payments": Topic({"label": "fraud", "ignore": ("account", "ip")}, 0.0, frozenset({"unknown_op"})),
    "logs": Topic(
        {
            "label": "page",
            "ignore": ("msg", "latency"),
            "schema": Schema((Attribute("latency_ms", NUMERIC), Attribute("bytes", NUMERIC))),
        },
        0.99,
    ),
    "wide": Topic({"label": "plan"}, 0.97),
}
"""The accuracy that the concept allows is 1 less the noise: .96, .995, .95, -, 1 and 1."""


@pytest.mark.broker
@pytest.mark.data
def test_topics_as_users_have_them_are_learned(broker: Broker, topics: Names, data_dir: Path) -> None:
    program = data_dir.parent / "ugly" / "make.py"
    if not program.is_file():
        missing(f'there is no "{program}"', DATA)
    rig = KafkaRig(broker.bootstrap_servers)
    agents = {
        name: Agent(name=topics(name), input=topics(f"in-{name}"), **topic.settings)
        for name, topic in UGLY.items()
    }
    rig.create(list(agents.values()), partitions=1)
    expected: dict[str, int] = {}
    for name, agent in agents.items():
        made = subprocess.run([sys.executable, program, name], capture_output=True, check=True)
        lines = [json.loads(line) for line in made.stdout.splitlines()]
        for line in lines:
            value = None if line["value"] is None else json.dumps(line["value"]).encode()
            headers = tuple((key, text.encode()) for key, text in line["headers"].items())
            rig.produce(agent.input, value, headers=headers)
        refused = [line for line in lines if line["value"] is None or "espalier.op" in line["headers"]]
        expected[agent.topics.predictions] = len(lines) - len(refused)
        if refused:
            expected[agent.topics.dead_letters] = len(refused)
    rig.run(list(agents.values()), expected, max_batch=500)
    for name, agent in agents.items():
        predictions = [msgspec.json.decode(one.value or b"") for one in rig.read(agent.topics.predictions)]
        assert len(predictions) == expected[agent.topics.predictions], name
        letters = [dict(one.headers) for one in rig.read(agent.topics.dead_letters)]
        assert {(one["espalier.dlq.reason"] or b"").decode("ascii") for one in letters} == UGLY[name].dead, (
            name
        )
        judged = [one["correct"] for one in predictions if "correct" in one]
        assert bool(judged) == (name != "payments")
        assert not judged or sum(judged) / len(judged) >= UGLY[name].accuracy, name
    first = msgspec.json.decode(rig.read(agents["sensors"].topics.predictions)[-1].value or b"")
    assert type(first["label"]) is int
    assert type(first["prediction"]) is int
