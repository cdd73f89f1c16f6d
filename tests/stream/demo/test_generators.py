"""The shipped generators: the same for a seed, flat, and with a rule behind them that can be learned."""

import json
from collections import Counter
from itertools import islice

import pytest

from learners.change import ChangeKind
from learners.outline import size
from learners.registry import make_learner
from learners.schema import Instance
from stream.config import Agent
from stream.demo.generators import (
    DEFAULT_GENERATOR,
    GENERATORS,
    OPTIONS,
    Generated,
    loans,
    multiplexer,
    stagger,
    weather,
)
from stream.evaluation import Evaluation, evaluate

AGENT = Agent(name="any", input="any")

every_generator = pytest.mark.parametrize("name", GENERATORS)


def some(name: str, count: int, seed: int = 1) -> list[Generated]:
    return list(islice(GENERATORS[name](seed), count))


def instance(generated: Generated) -> Instance:
    label = generated[AGENT.label]
    return Instance({k: v for k, v in generated.items() if k not in (AGENT.label, AGENT.id)}, label)


def learned(generated: list[Generated]) -> Evaluation:
    return evaluate(map(instance, generated), make_learner("id5r"))


@every_generator
def test_a_seed_gives_the_same_instances_and_another_seed_others(name: str) -> None:
    assert some(name, 50) == some(name, 50)
    assert some(name, 50) != some(name, 50, seed=2)


@every_generator
def test_instances_are_flat_json_with_the_fields_an_agent_expects(name: str) -> None:
    generated = some(name, 200)
    assert json.loads(json.dumps(generated)) == generated
    assert [one[AGENT.id] for one in generated] == list(range(1, 201))
    for one in generated:
        assert list(one) == list(generated[0])
        assert isinstance(one[AGENT.label], str)
        kind = float if name == "sea" else str
        assert all(isinstance(value, kind) for value in instance(one).values.values())


@every_generator
def test_there_is_more_than_one_class_and_none_is_rare(name: str) -> None:
    classes = Counter(one["class"] for one in some(name, 3_000))
    assert len(classes) == 2
    assert min(classes.values()) > 600


@pytest.mark.parametrize("name", ["loans", "multiplexer", "weather"])
def test_the_class_follows_from_the_description(name: str) -> None:
    classes: dict[str, object] = {}
    for one in some(name, 3_000):
        values = json.dumps(instance(one).values)
        assert classes.setdefault(values, one["class"]) == one["class"]


def test_the_weather_has_the_rule_of_the_fourteen_mornings() -> None:
    tree = evaluate(map(instance, islice(weather(3), 500)), make_learner("id5r"))
    assert (tree.nodes, tree.leaves, tree.depth) == (8, 5, 2)


def test_the_class_of_a_multiplexer_is_the_bit_that_is_addressed() -> None:
    for one in islice(multiplexer(1), 200):
        address = int(f"{one['a0']}{one['a1']}", 2)
        assert one["class"] == one[f"d{address}"]


def test_the_tree_of_the_demonstration_goes_on_growing_and_being_tied_anew() -> None:
    assert DEFAULT_GENERATOR == "loans"
    # What the stream offers is seen by the bare algorithm; the default waits until a test is significant.
    learner = make_learner("id5r", None, {"significance": None})
    early: Counter[str] = Counter()
    later: Counter[str] = Counter()
    for number, one in enumerate(islice(loans(1), 2_000)):
        kinds = early if number < 500 else later
        kinds.update(change.kind.value for change in learner.learn_one(instance(one)))
    assert early["pulled_up"] > 30 and early["grew"] > 10
    assert later["pulled_up"] > 10 and later["grew"] > 3
    assert size(learner.outline()).depth >= 4


def test_loans_can_be_noisy() -> None:
    clean, noisy = (list(islice(loans(1, noise=share), 2_000)) for share in (0.0, 0.2))
    accuracy = [learned(one).accuracy for one in (clean, noisy)]
    assert accuracy[0] is not None and accuracy[1] is not None
    assert accuracy[0] > 0.9 > accuracy[1]


def test_the_concept_of_stagger_changes_after_every_period() -> None:
    def consistent(blocks: list[Generated]) -> bool:
        return len({json.dumps(instance(one)) for one in blocks}) == len(
            {json.dumps(instance(one).values) for one in blocks}
        )

    blocks = list(islice(stagger(1, period=200), 800))
    parts = [blocks[start : start + 200] for start in range(0, 800, 200)]
    assert all(map(consistent, parts))
    assert not consistent(parts[0] + parts[1]) and not consistent(parts[1] + parts[2])
    assert consistent(parts[0] + parts[3]), "after the third concept the first comes again"


def test_the_sea_changes_and_the_learner_drops_the_past() -> None:
    learner = make_learner("id5r", None, OPTIONS["sea"])
    kinds = Counter(change.kind for one in some("sea", 4_000) for change in learner.learn_one(instance(one)))
    assert kinds[ChangeKind.DROPPED] >= 1
