"""What is told about numbers in advance, what is missing, and what does not fit."""

import json
import math
import random
from pathlib import Path

import pytest

from learners.change import ChangeKind
from learners.learner import Learner
from learners.outline import Split, to_json
from learners.registry import make_learner
from learners.schema import Attribute, AttributeType, Instance, InstanceError, Misfit, Schema, Value
from stream.files.dataset import read_dataset
from tests.oracles.id3 import Rules
from tests.oracles.numeric import Batch
from tests.trees import plain, tree_of

NUMERIC = AttributeType.NUMERIC


def taught(schema: Schema | None = None, **settings: object) -> Learner:
    """Return a learner that knows that a large x is a yes."""
    learner = make_learner("id5r", schema, settings)
    for place in range(64):
        learner.learn_one(Instance({"x": place, "w": "ab"[place % 2]}, "yes" if place > 29 else "no"))
    return learner


def test_a_number_is_compared_with_a_threshold() -> None:
    outline = taught().outline()
    assert isinstance(outline, Split)
    assert outline.test.attribute == "x"
    assert outline.test.at_most is not None and 25 < outline.test.at_most < 35
    told = taught().predict_one({"x": 1e6})
    assert (told.answer, told.path[0].value) == ("yes", "false")


def test_a_declared_nominal_attribute_wins_over_the_numbers_in_it() -> None:
    learner = taught(Schema((Attribute("x"),)), min_records_per_value=0, significance=None)
    assert json.loads(to_json(learner.outline()))["test"] == {"attribute": "x"}
    assert "17" in learner.codes.values[0]


def test_declared_cuts_are_the_only_thresholds() -> None:
    learner = taught(Schema((Attribute("x", NUMERIC, cuts=(10.0, 40.0)),)))
    text = to_json(learner.outline())
    assert {10.0, 40.0} >= {float(part.split("}")[0]) for part in text.split('"at_most": ')[1:]} != set()
    assert not any(change.kind is ChangeKind.RECUT for change in learner.learn_one(Instance({"x": 1}, "no")))


@pytest.mark.parametrize(
    "cuts", [(2.0, 1.0), (1.0, 1.0), (math.nan,), (math.inf,), tuple(map(float, range(101)))]
)
def test_cuts_that_are_none_are_refused(cuts: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="cuts"):
        make_learner("id5r", Schema((Attribute("x", NUMERIC, cuts=cuts),)))


def test_a_sentinel_is_missing_beside_null_and_an_absent_field() -> None:
    schema = Schema(missing_values=("NA", "-999", "NaN"))
    learner = taught(schema)
    known = learner.codes.encode({"w": "a"}, "no")
    for hole in (None, "?", "NA", -999, -999.0, math.nan):
        assert learner.codes.encode({"x": hole, "w": "a"}, "no") == known
    assert learner.predict_one({"x": "NA"}).answer == learner.predict_one({}).answer


def test_a_missing_number_goes_with_the_larger_branch() -> None:
    learner = make_learner("id5r", Schema((Attribute("x", NUMERIC, cuts=(20.0,)),)))
    for place in range(64):
        learner.learn_one(Instance({"x": place}, "yes" if place > 20 else "no"))
    assert learner.predict_one({"x": None}).answer == "yes"  # 43 of 64 are above the cut


@pytest.mark.parametrize("value", ["many", True])
def test_what_is_no_number_is_missing(value: Value) -> None:
    learner, other = taught(preset="adaptive"), taught(preset="adaptive")
    answer = learner.predict_one({"x": value, "w": "a"})
    assert answer == other.predict_one({"x": None, "w": "a"}).with_flags(("wrong_type",))
    learner.learn_one(Instance({"x": value, "w": "a"}, "yes"))
    other.learn_one(Instance({"x": None, "w": "a"}, "yes"))
    assert learner.snapshot() == other.snapshot()


def test_what_is_not_a_number_is_refused_and_changes_nothing() -> None:
    learner = taught(preset="adaptive")
    before = learner.snapshot()
    bad = Instance({"x": math.nan, "w": "a"}, "yes")
    for attempt in (lambda: learner.learn_one(bad), lambda: learner.predict_one(bad.values)):
        with pytest.raises(InstanceError) as caught:
            attempt()
        assert (caught.value.field, caught.value.misfit) == ("x", Misfit.NON_FINITE)
    assert learner.snapshot() == before


def test_infinities_are_beyond_all_other_numbers() -> None:
    learner = taught()
    assert learner.predict_one({"x": math.inf}).answer == "yes"
    assert learner.predict_one({"x": -math.inf}).answer == "no"
    learner.learn_one(Instance({"x": math.inf}, "yes"))
    json.loads(to_json(learner.outline()), parse_constant=lambda text: pytest.fail(text))


def test_a_new_threshold_is_one_change_of_the_whole_tree() -> None:
    rng = random.Random(3)
    learner = make_learner("id5r", None, {"significance": 0.1})
    recuts = []
    for _ in range(300):
        x = rng.random()
        changes = learner.learn_one(Instance({"x": x, "y": rng.random()}, "yes" if x > 0.6 else "no"))
        if any(change.kind is ChangeKind.RECUT for change in changes):
            assert [change.path for change in changes] == [()]
            recuts.append(changes)
    assert recuts


NUMERIC_SETS = ["iris", "diabetes", "credit-a", "hypothyroid", "colic", "glass", "labor", "zoo"]


@pytest.mark.data
@pytest.mark.parametrize("name", NUMERIC_SETS)
def test_equals_the_batch_tree_on_real_data(data_dir: Path, name: str) -> None:
    data = read_dataset(data_dir / f"{name}.csv", schema=data_dir / "SCHEMA.json")
    learner = make_learner("id5r", data.schema, {}, data.limits)
    rules = Rules(
        significance=0.01, significance_test="g", min_records_per_value=2, classes=data.schema.classes
    )
    nominal = frozenset(one.name for one in data.schema.attributes if one.type is not NUMERIC)
    batch = Batch(rules, nominal=nominal)
    batch.attributes = [one.name for one in data.schema.attributes]
    for place, instance in enumerate(data.instances.shuffled(1)[:130]):
        learner.learn_one(instance)
        batch.learn(*instance)
        if place % 10 == 9:
            assert tree_of(learner) == plain(batch.tree())
