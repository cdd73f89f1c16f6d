"""The laws of what comes in: names that are new, limits, and instances that do not fit."""

import math

from learners.checks.story import Law, Make, Stream, answer, learn, must, refused, same
from learners.learner import Learner
from learners.schema import Attribute, AttributeType, Instance, Limits, Misfit, Schema

BAD_VALUES: tuple[object, ...] = (math.nan, math.inf, -math.inf, 2**63, [1], {"a": 1}, b"bytes", object())


def names_may_appear_at_any_time(make: Make, stream: Stream) -> None:
    """An attribute, a value or a class that nobody has declared is learned whenever it comes."""
    learner = type(make())()
    for place, instance in enumerate(stream):
        late = {f"late {place}": "new", "always": f"value {place}"}
        new = Instance({**instance.values, **late}, f"class {place}")
        must(not isinstance(answer(learner, new), str), f"{new} cannot be answered")
        must(not learn(learner, new).refusal, f"{new} was refused")
        must(set(late) <= set(learner.codes.attributes), f"{late} are not known")
        must(f"value {place}" in learner.codes.values[learner.codes.attributes.index("always")], "no value")
        must(new.label in learner.codes.classes, f'class "{new.label}" is not known')


def bad_values_are_refused(make: Make, stream: Stream) -> None:
    """A value or a label of a wrong kind raises an error that names the field, and nothing changes."""
    learner = make()
    for instance in stream:
        if learn(learner, instance).refusal:
            continue
        before = learner.snapshot()
        for name in list(instance.values)[:2]:
            for value in BAD_VALUES:
                if value in (math.inf, -math.inf) and _has_thresholds(learner, name):
                    continue  # it is below or above all others
                worse: dict[str, object] = {**instance.values, name: value}
                refused(learner, Instance(worse, instance.label), name, predicting=True)  # type: ignore[arg-type]
        for label in (*BAD_VALUES, None, ""):
            refused(learner, Instance(instance.values, label), "label")  # type: ignore[arg-type]
        same("the snapshots after bad input", before, learner.snapshot())


def _has_thresholds(learner: Learner, name: str) -> bool:
    codes = learner.codes
    return codes.numbers and codes.kinds[codes.attribute_code(name)] in ("number", "")


def closed_names_are_refused(make: Make, stream: Stream) -> None:
    """What a closed schema does not declare raises an error that names the field, and nothing changes."""
    attributes = (Attribute("a", values=("x", "y"), open=False), Attribute("n", AttributeType.NUMERIC))
    learner = type(make())(Schema(attributes, ("p", "q"), open=False, open_classes=False))
    learner.learn_one(Instance({"a": "x", "n": 1}, "p"))
    before = learner.snapshot()
    refused(learner, Instance({"a": "z", "n": 1}, "q"), "a", Misfit.UNKNOWN_VALUE)
    refused(learner, Instance({"b": 1, "a": "y"}, "q"), "b", Misfit.UNKNOWN_ATTRIBUTE, predicting=True)
    refused(learner, Instance({"a": "y", "n": "1"}, "q"), "n", Misfit.TYPE_DRIFT, predicting=True)
    refused(learner, Instance({"a": "y", "n": 1}, "r"), "label", Misfit.UNKNOWN_CLASS)
    same("the snapshots after bad input", before, learner.snapshot())


def drifting_types_are_refused(make: Make, stream: Stream) -> None:
    """A field that changes its type raises an error that names it, and nothing changes."""
    learner = type(make())()
    learner.learn_one(Instance({"a": "x", "b": True, "n": 1.5}, "p"))
    before = learner.snapshot()
    for name, value in (("a", 1), ("b", "true"), ("n", False)):
        drifted = Instance({"a": "x", "b": True, "n": 2, name: value}, "p")
        refused(learner, drifted, name, Misfit.TYPE_DRIFT, predicting=True)
    refused(learner, Instance({"a": "x", "new": "x"}, 1), "label", Misfit.TYPE_DRIFT)
    same("the snapshots after bad input", before, learner.snapshot())


def limits_are_kept(make: Make, stream: Stream) -> None:
    """What goes beyond the limits raises an error that names the field, and nothing changes."""
    limits = Limits(max_attributes=2, max_values_per_attribute=2, max_classes=2, max_text=4)
    learner = type(make())(limits=limits)
    for value, label in (("x", "p"), ("y", "q")):
        learner.learn_one(Instance({"a": value, "b": value}, label))
    before = learner.snapshot()
    refused(learner, Instance({"a": "z", "b": "x"}, "p"), "a", Misfit.TOO_MANY_VALUES)
    refused(learner, Instance({"a": "x", "b": "x", "c": "x"}, "p"), "c", Misfit.TOO_MANY_ATTRIBUTES)
    refused(learner, Instance({"a": "x", "b": "x"}, "r"), "label", Misfit.TOO_MANY_CLASSES)
    refused(learner, Instance({"a": "x", "b": "xxxxx"}, "p"), "b", Misfit.STRING_TOO_LONG, predicting=True)
    refused(learner, Instance({"a": "x", "b": "x"}, "ppppp"), "label", Misfit.STRING_TOO_LONG)
    same("the snapshots after bad input", before, learner.snapshot())


INPUT_LAWS: list[Law] = [
    names_may_appear_at_any_time,
    bad_values_are_refused,
    closed_names_are_refused,
    drifting_types_are_refused,
    limits_are_kept,
]
