"""Names and their codes: what grows, what is refused, and what a follower needs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.codes import MISSING_CODE, UNSEEN_CODE, Codes, growth_from
from learners.schema import Attribute, AttributeType, InstanceError, Limits, Misfit, Schema, Value
from learners.texts import text_of
from tests.strategies import Case, cases


def refusal(codes: Codes, values: dict[str, Value], label: Value = "p") -> tuple[Misfit, str]:
    """Return why an instance is refused, and see that nothing has grown."""
    before = codes.dump()
    with pytest.raises(InstanceError) as caught:
        codes.encode(values, label)
    assert codes.dump() == before
    assert str(caught.value)
    return caught.value.misfit, caught.value.field


def test_names_get_codes_in_the_order_they_come() -> None:
    codes = Codes()
    assert codes.encode({"a": "x", "b": 1}, "p") == ((1, 1), 0)
    assert codes.encode({"b": 2, "a": "x", "c": True}, "q") == ((1, 2, 1), 1)
    assert codes.encode({"a": "y"}, "p") == ((2, MISSING_CODE, MISSING_CODE), 0)
    assert (codes.attributes, codes.classes) == (["a", "b", "c"], ["p", "q"])
    assert codes.values == [["?", "x", "y"], ["?", "1", "2"], ["?", "true"]]


def test_declared_names_come_first_in_their_order() -> None:
    schema = Schema((Attribute("b", values=("u", "v")), Attribute("a")), ("q", "p"))
    codes = Codes(schema)
    assert codes.encode({"a": "x", "b": "v"}, "p") == ((2, 1), 1)
    assert codes.class_order(0) < codes.class_order(1)
    assert codes.encode({"a": "x", "b": "w", "c": "z"}, "o")[1] == 2
    assert codes.class_order(1) < codes.class_order(2)


def test_classes_that_are_not_declared_are_ordered_by_name() -> None:
    codes = Codes()
    for label in ("b", "a", "c"):
        codes.encode({}, label)
    assert sorted(range(3), key=codes.class_order) == [1, 0, 2]


def test_looking_up_makes_nothing_grow() -> None:
    codes = Codes()
    codes.encode({"a": "x", "b": "x"}, "p")
    before = codes.dump()
    assert codes.look_up({"a": "y", "new": 1}) == (UNSEEN_CODE, MISSING_CODE)
    assert codes.class_code("q") == codes.class_code(None) == -1
    assert codes.dump() == before


@pytest.mark.parametrize("nothing", [None, "?", "NA", "absent"])
def test_a_value_is_missing_in_every_way_it_can_be(nothing: str | None) -> None:
    codes = Codes(Schema(missing_values=("NA",)))
    codes.encode({"a": "x"}, "p")
    given_values: dict[str, Value] = {} if nothing == "absent" else {"a": nothing}
    assert codes.encode(given_values, "p")[0] == (MISSING_CODE,)
    assert codes.values == [["?", "x"]]


@pytest.mark.parametrize(
    ("value", "text"),
    [(True, "true"), (1, "1"), (1.0, "1"), (-0.0, "0"), (2.5, "2.5"), (1e300, "1e+300"), ("", "")],
)
def test_a_value_has_one_text(value: str | bool | float, text: str) -> None:
    assert text_of(value) == text


# ---- what is refused


@pytest.mark.parametrize(
    ("value", "misfit"),
    [
        (float("nan"), Misfit.NON_FINITE),
        (float("-inf"), Misfit.NON_FINITE),
        (2**63, Misfit.NUMBER_RANGE),
        ([1], Misfit.WRONG_TYPE),
        (b"x", Misfit.WRONG_TYPE),
        ("x" * 1_025, Misfit.STRING_TOO_LONG),
    ],
)
def test_a_bad_value_is_refused_by_name(value: Value, misfit: Misfit) -> None:
    codes = Codes()
    codes.encode({"a": 1}, "p")
    assert refusal(codes, {"a": 1, "bad": value, "c": 1}) == (misfit, "bad")
    assert refusal(codes, {"a": 1, "c": 1}, value) == (misfit, "label")


@pytest.mark.parametrize("label", [None, ""])
def test_an_empty_label_is_refused(label: str | None) -> None:
    assert refusal(Codes(), {"new": 1}, label) == (Misfit.BAD_LABEL, "label")


def test_a_type_that_drifts_is_refused_unless_the_attribute_is_declared_nominal() -> None:
    codes = Codes(Schema((Attribute("any"), Attribute("n", AttributeType.NUMERIC))))
    codes.encode({"any": 1, "n": 1, "met": "x"}, "p")
    codes.encode({"any": "x", "n": 2.5, "met": "y"}, "p")
    assert refusal(codes, {"n": "1"}) == (Misfit.TYPE_DRIFT, "n")
    assert refusal(codes, {"met": 1}) == (Misfit.TYPE_DRIFT, "met")
    assert refusal(codes, {"met": "x"}, 1) == (Misfit.TYPE_DRIFT, "label")


def test_an_attribute_met_as_null_takes_the_type_of_its_first_value() -> None:
    codes = Codes()
    codes.encode({"a": None}, "p")
    codes.encode({"a": 1}, "p")
    assert refusal(codes, {"a": "x"}) == (Misfit.TYPE_DRIFT, "a")


def test_a_closed_schema_refuses_what_it_does_not_declare() -> None:
    attribute = Attribute("a", values=("x",), open=False)
    codes = Codes(Schema((attribute,), ("p",), open=False, open_classes=False))
    assert refusal(codes, {"a": "y"}) == (Misfit.UNKNOWN_VALUE, "a")
    assert refusal(codes, {"a": "x", "b": 1}) == (Misfit.UNKNOWN_ATTRIBUTE, "b")
    assert refusal(codes, {"a": "x"}, "q") == (Misfit.UNKNOWN_CLASS, "label")
    with pytest.raises(InstanceError, match="not declared"):
        codes.look_up({"b": 1})


def test_limits_hold_to_the_last_one_allowed() -> None:
    codes = Codes(limits=Limits(max_attributes=2, max_values_per_attribute=2, max_classes=2, max_text=3))
    codes.encode({"a": "x", "b": "x"}, "p")
    codes.encode({"a": "y", "b": "xxx"}, "q")
    assert refusal(codes, {"a": "z"}) == (Misfit.TOO_MANY_VALUES, "a")
    assert refusal(codes, {"c": "x"}) == (Misfit.TOO_MANY_ATTRIBUTES, "c")
    assert refusal(codes, {"a": "x"}, "r") == (Misfit.TOO_MANY_CLASSES, "label")
    assert refusal(codes, {"a": "xxxx"}) == (Misfit.STRING_TOO_LONG, "a")
    assert refusal(codes, {"name": "x"}) == (Misfit.STRING_TOO_LONG, "name")


def test_a_value_that_must_not_be_missing_is_named() -> None:
    codes = Codes(Schema((Attribute("a"), Attribute("b"))), reject_missing=True)
    assert refusal(codes, {"a": "x"}) == (Misfit.MISSING_VALUE, "b")
    codes.encode({"a": "x", "b": "x"}, "p")
    assert refusal(codes, {"a": "x", "b": "x", "new": None}) == (Misfit.MISSING_VALUE, "new")
    assert codes.look_up({"a": "x"}) == (1, MISSING_CODE)


def test_text_that_cannot_be_encoded_is_refused() -> None:
    codes = Codes()
    assert refusal(codes, {"a": "\ud800"}) == (Misfit.ENCODING, "a")
    assert refusal(codes, {"a": "x"}, "\ud800") == (Misfit.ENCODING, "label")
    assert refusal(codes, {"\ud800": "x"})[0] is Misfit.ENCODING
    codes.encode({"é": "\U0001f333"}, "ü")


# ---- followers


@given(cases(settings=False), st.integers(1, 5))
def test_a_follower_that_gets_the_growth_knows_the_same_names(case: Case, often: int) -> None:
    leader, follower = Codes(case.schema), Codes(case.schema)
    mark = leader.mark()
    for place, (values, label) in enumerate(case.stream):
        row, code = leader.encode(values, label)
        if place % often == 0 or place == len(case.stream) - 1:
            follower.grow(growth_from(list(leader.growth(mark))))
            mark = leader.mark()
            assert follower.dump() == leader.dump()
            assert follower.encode(values, label) == (row, code)
            assert follower.dump() == leader.dump()
    late = Codes(case.schema)
    late.grow(leader.dump())
    assert (late.attributes, late.kinds, late.values) == (leader.attributes, leader.kinds, leader.values)
    assert (late.classes, late.label_kind) == (leader.classes, leader.label_kind)
