"""Training on errors alone, for every learner of the registry; and how learners are made by name."""

from collections.abc import Sequence

import msgspec
import numpy as np
import pytest

from learners.capabilities import Forgetful
from learners.learner import FLAG_UNSEEN, Learner, make_options
from learners.outline import digest
from learners.registry import (
    LEARNERS,
    UnknownLearnerError,
    make_learner,
    option_names,
    option_types,
    restore_learner,
)
from learners.schema import Instance, InstanceError
from learners.snapshot import SnapshotError, pack

NAMES = sorted(LEARNERS)
EXACT = [name for name in NAMES if name.startswith("id5r")]


def multiplexor(number: int, seed: int = 0) -> list[Instance]:
    """Return instances of the six-bit multiplexor, drawn with replacement."""
    rng = np.random.default_rng(seed)
    made = []
    for bits in rng.integers(2, size=(number, 6)).tolist():
        values = {
            name: "01"[bit] for name, bit in zip(("a0", "a1", "d0", "d1", "d2", "d3"), bits, strict=True)
        }
        made.append(Instance(values, "+-"[bits[2 + 2 * bits[0] + bits[1]]]))
    return made


def is_right(learner: Learner, instance: Instance) -> bool:
    """Return whether the tree answers an instance rightly without meeting a value it does not know."""
    answered = learner.predict_one(instance.values)
    return answered.answer == instance.label and FLAG_UNSEEN not in answered.flags


def trained_by_hand(learner: Learner, instances: Sequence[Instance]) -> list[Instance]:
    """Teach a learner that learns everything what it predicts wrongly, and return that."""
    taught = []
    for instance in instances:
        if not is_right(learner, instance):
            learner.learn_one(instance)
            taught.append(instance)
    return taught


@pytest.mark.parametrize("name", NAMES)
def test_exactly_what_is_predicted_wrongly_is_learned(name: str) -> None:
    instances = multiplexor(120)
    selective, bare = make_learner(name, settings={"train": "errors"}), make_learner(name)
    taught = trained_by_hand(bare, instances)
    for instance in instances:
        selective.learn_one(instance)
    assert digest(selective.outline()) == digest(bare.outline())
    assert selective.ops == bare.ops
    assert 0 < len(taught) < len(instances)
    assert selective.retained == bare.retained


@pytest.mark.parametrize("name", EXACT)
def test_the_tree_of_an_exact_learner_is_id3s_of_what_was_learned(name: str) -> None:
    selective = make_learner(name, settings={"train": "errors", "significance": "none"})
    taught: list[Instance] = []
    for instance in multiplexor(150, seed=3):
        if not is_right(selective, instance):
            taught.append(instance)
        selective.learn_one(instance)
        batch = make_learner("id3")
        for one in taught:
            batch.learn_one(one)
        assert digest(selective.outline()) == digest(batch.outline())
    assert len(taught) < 50


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("size", [1, 7, 90])
def test_a_batch_is_its_records_one_by_one(name: str, size: int) -> None:
    instances = multiplexor(90, seed=1)
    one_by_one, batched = (make_learner(name, settings={"train": "errors"}) for _ in range(2))
    for start in range(0, len(instances), size):
        some = instances[start : start + size]
        encoded = [batched.codes.encode(*instance)[:2] for instance in some]
        result = batched.learn_batch([row for row, _ in encoded], [label for _, label in encoded])
        for instance, prediction, learned in zip(some, result.predictions, result.learned, strict=True):
            assert prediction == one_by_one.predict_one(instance.values)
            before = one_by_one.ops.copy()
            changes = one_by_one.learn_one(instance)
            assert learned is not None
            assert learned.changes == changes
            assert learned.spent == one_by_one.ops - before
            assert learned.digest == (digest(one_by_one.outline()) if changes else None)
    assert digest(batched.outline()) == digest(one_by_one.outline())


@pytest.mark.parametrize("name", NAMES)
def test_a_record_without_a_label_is_only_answered(name: str) -> None:
    learner = make_learner(name, settings={"train": "errors"})
    rows = [learner.codes.encode(*instance)[:2] for instance in multiplexor(5)]
    result = learner.learn_batch([row for row, _ in rows], [-1] * 5)
    assert [one.answer for one in result.predictions] == [None] * 5
    assert result.learned == [None] * 5
    assert learner.outline() is None


@pytest.mark.parametrize("name", NAMES)
def test_the_first_instance_always_trains(name: str) -> None:
    learner = make_learner(name, settings={"train": "errors"})
    assert len(learner.learn_one(multiplexor(1)[0])) == 1


@pytest.mark.parametrize("name", NAMES)
def test_an_unseen_value_of_a_test_trains_although_the_majority_is_right(name: str) -> None:
    settings: dict[str, object] = {"train": "errors"}
    if "significance" in option_names(name):
        settings["significance"] = "none"
    if "rebuild_every" in option_names(name):
        settings |= {"confidence": "none", "rebuild_every": 1}
    if "min_records" in option_names(name):
        settings["min_records"] = 1
    learner = make_learner(name, settings=settings)
    for value, label in (("x", "+"), ("y", "-"), ("y", "-")):
        learner.learn_one(Instance({"a": value}, label))
    new = Instance({"a": "new"}, "+")
    assert learner.predict_one(new.values).flags == (FLAG_UNSEEN,)
    assert learner.predict_one(new.values).answer == "+"
    assert learner.learn_one(new)
    assert is_right(learner, new)


@pytest.mark.parametrize("name", NAMES)
def test_a_restored_learner_trains_on_errors_too(name: str) -> None:
    instances = multiplexor(80)
    whole = make_learner(name, settings={"train": "errors"})
    for instance in instances[:40]:
        whole.learn_one(instance)
    restored = restore_learner(whole.snapshot())
    assert type(restored) is type(whole)
    for instance in instances[40:]:
        assert restored.learn_one(instance) == whole.learn_one(instance)
    assert restored.snapshot() == whole.snapshot()
    assert restored.ops == whole.ops
    assert type(restored).restore(whole.snapshot()).outline() == whole.outline()


@pytest.mark.parametrize("name", NAMES)
def test_a_restored_learner_of_every_record_learns_every_record(name: str) -> None:
    learner = make_learner(name)
    first, *others = multiplexor(40)
    learner.learn_one(first)
    restored = restore_learner(learner.snapshot())
    assert restored.options.train == "all"
    for instance in others:
        restored.learn_one(instance)
    assert restored.retained == 40


@pytest.mark.parametrize("name", NAMES)
def test_what_was_learned_can_be_forgotten_and_nothing_else(name: str) -> None:
    selective = make_learner(name, settings={"train": "errors"})
    assert isinstance(selective, Forgetful) == isinstance(make_learner(name), Forgetful)
    if isinstance(selective, Forgetful):
        first, right = Instance({"a": "x"}, "+"), Instance({"a": "y"}, "+")
        selective.learn_one(first)
        assert selective.learn_one(right) == []
        with pytest.raises(InstanceError):
            selective.forget_one(right)
        assert selective.forget_one(first)
        assert selective.outline() is None


@pytest.mark.parametrize("name", NAMES)
def test_what_does_not_fit_is_refused_and_changes_nothing(name: str) -> None:
    learner = make_learner(name, settings={"train": "errors"})
    learner.learn_one(Instance({"a": "x"}, "+"))
    before = learner.snapshot()
    with pytest.raises(InstanceError):
        learner.learn_one(Instance({"a": float("nan")}, "+"))
    assert learner.snapshot() == before


@pytest.mark.parametrize("name", NAMES)
def test_a_class_used_directly_trains_on_errors_too(name: str) -> None:
    kind = LEARNERS[name]
    direct = kind(None, make_options(kind.options_type, {"train": "errors"}))
    named = make_learner(name, settings={"train": "errors"})
    for instance in multiplexor(60):
        assert direct.learn_one(instance) == named.learn_one(instance)
    assert direct.snapshot() == named.snapshot()
    assert direct.retained < 60


@pytest.mark.parametrize("name", [name for name in NAMES if LEARNERS[name].takes_arrays])
def test_rows_may_come_as_an_array(name: str) -> None:
    by_tuples, by_array = (make_learner(name, settings={"train": "errors"}) for _ in range(2))
    instances = multiplexor(90, seed=2)
    for learner in (by_tuples, by_array):
        for instance in instances[:10]:
            learner.learn_one(instance)
    coded = [by_tuples.codes.encode(*instance)[:2] for instance in instances[10:]]
    rows, labels = [row for row, _ in coded], [label if n % 7 else -1 for n, (_, label) in enumerate(coded)]
    told = by_tuples.learn_batch(rows, labels)
    same = by_array.learn_batch(np.array(rows, dtype=np.uint32), np.array(labels, dtype=np.int32))
    assert list(told.predictions) == list(same.predictions)
    assert list(told.learned) == list(same.learned)
    assert list(told.changed) == list(same.changed)
    assert by_tuples.snapshot() == by_array.snapshot()


def test_train_is_a_setting_of_every_learner() -> None:
    for name in NAMES:
        assert "train" in option_names(name)
        assert set(option_types(name)) == set(option_names(name))


def test_an_unknown_learner_and_an_unknown_setting_are_refused() -> None:
    with pytest.raises(UnknownLearnerError, match=r'no learner "id6".*id4'):
        make_learner("id6")
    with pytest.raises(msgspec.ValidationError, match="speed"):
        make_learner("id4", settings={"speed": 9})
    with pytest.raises(msgspec.ValidationError, match="train"):
        make_learner("id4", settings={"train": "sometimes"})


def test_a_snapshot_of_an_unknown_learner_is_refused() -> None:
    with pytest.raises(SnapshotError, match="id6"):
        restore_learner(pack("id6", msgspec.convert({}, msgspec.defstruct("Empty", []))))
