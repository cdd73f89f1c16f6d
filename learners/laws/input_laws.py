"""The laws of what comes in: names that are new, limits, and instances that do not fit."""

import math

from learners.laws.story import Law, Make, Stream, answer, learn, must, refused, same
from learners.learner import Learner, Prediction
from learners.schema import Attribute, AttributeType, Instance, Limits, Misfit, Schema, Value

BAD_VALUES: tuple[object, ...] = (math.nan, math.inf, -math.inf, [1], {"a": 1}, b"bytes", object())


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
        for label in (*BAD_VALUES, 2**63, None, ""):
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
    refused(learner, Instance({"a": "y", "n": 1}, "r"), "label", Misfit.UNKNOWN_CLASS)
    same("the snapshots after bad input", before, learner.snapshot())


def bad_values_are_missing_ones(make: Make, stream: Stream) -> None:
    """A value that is too long or of another type than before acts exactly as null, but for the flag."""
    flagged, plain = (type(make())(limits=Limits(max_text=16)) for _ in range(2))
    for learner in (flagged, plain):
        learner.learn_one(Instance({"a": "x", "b": True, "n": 1.5}, "p"))
    bad: tuple[tuple[str, Value, str], ...] = (
        ("a", 1, "wrong_type"),
        ("b", "true", "wrong_type"),
        ("n", "1.5", "wrong_type"),
        ("n", False, "wrong_type"),
        ("a", "x" * 17, "too_long"),
    )
    for place, instance in enumerate(stream):
        name, value, flag = bad[place % len(bad)]
        label = instance.label if isinstance(instance.label, str) and len(instance.label) <= 16 else "q"
        values: dict[str, Value] = {
            "a": "y",
            "b": False,
            "n": place,
            **{f"{n}'": v for n, v in instance.values.items()},
        }
        worse, null = Instance({**values, name: value}, label), Instance({**values, name: None}, label)
        said, known = answer(flagged, worse), answer(plain, null)
        if isinstance(said, Prediction) and isinstance(known, Prediction):
            must(flag in said.flags, f"nothing says that {name} = {value!r} is {flag}")
            same("the answers", {*known.flags, flag}, {*said.flags})
            same(
                "the answers", (known.answer, known.counts, known.path), (said.answer, said.counts, said.path)
            )
        same("what is refused", learn(plain, null).refusal, learn(flagged, worse).refusal)
        same("the snapshots", plain.snapshot(), flagged.snapshot())


def a_drifting_label_is_refused(make: Make, stream: Stream) -> None:
    """A label that changes its type raises an error that names it, and nothing changes."""
    learner = type(make())()
    learner.learn_one(Instance({"a": "x", "b": True, "n": 1.5}, "p"))
    before = learner.snapshot()
    refused(learner, Instance({"a": "x", "new": "x"}, 1), "label", Misfit.TYPE_DRIFT)
    same("the snapshots after bad input", before, learner.snapshot())


def limits_are_kept(make: Make, stream: Stream) -> None:
    """Nothing grows beyond the limits: what does not fit is refused, missing, or retired."""
    limits = Limits(max_attributes=2, max_values_per_attribute=2, max_classes=2, max_text=4)
    learner = type(make())(limits=limits)
    for value, label in (("x", "p"), ("y", "q")):
        learner.learn_one(Instance({"a": value, "b": value}, label))
    before = learner.snapshot()
    refused(learner, Instance({"a": "x", "b": "x"}, "r"), "label", Misfit.TOO_MANY_CLASSES)
    refused(learner, Instance({"a": "x", "b": "x"}, "ppppp"), "label", Misfit.STRING_TOO_LONG)
    same("the snapshots after bad input", before, learner.snapshot())
    names = learner.codes.dump()
    learner.learn_one(Instance({"a": "x", "b": "x", "c": "x"}, "p"))
    learner.learn_one(Instance({"a": "x", "b": "xxxxx"}, "p"))
    same("the names", names, learner.codes.dump())
    learner.learn_one(Instance({"a": "z", "b": "x"}, "p"))
    same("the attributes retired", {0}, learner.codes.retired)
    same("the values", [["?", "x", "y"]] * 2, learner.codes.values)


INPUT_LAWS: list[Law] = [
    names_may_appear_at_any_time,
    bad_values_are_refused,
    closed_names_are_refused,
    bad_values_are_missing_ones,
    a_drifting_label_is_refused,
    limits_are_kept,
]
