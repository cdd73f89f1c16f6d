"""Names and their codes: what grows, what is refused, and what a follower needs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.canonical import text_of
from learners.codes import Coded, Codes
from learners.schema import Attribute, AttributeType, InstanceError, Limits, Misfit, Schema, Value
from learners.vocabulary import MISSING_CODE, UNSEEN_CODE, growth_from
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
    assert codes.encode({"a": "x", "b": 1}, "p")[:2] == ((1, 1), 0)
    assert codes.encode({"b": 2, "a": "x", "c": True}, "q")[:2] == ((1, 2, 1), 1)
    assert codes.encode({"a": "y"}, "p")[:2] == ((2, MISSING_CODE, MISSING_CODE), 0)
    assert (codes.attributes, codes.classes) == (["a", "b", "c"], ["p", "q"])
    assert codes.values == [["?", "x", "y"], ["?", "1", "2"], ["?", "true"]]


def test_declared_names_come_first_in_their_order() -> None:
    schema = Schema((Attribute("b", values=("u", "v")), Attribute("a")), ("q", "p"))
    codes = Codes(schema)
    assert codes.encode({"a": "x", "b": "v"}, "p")[:2] == ((2, 1), 1)
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
    assert codes.look_up({"a": "y", "new": 1}).row == (UNSEEN_CODE, MISSING_CODE)
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
        ([1], Misfit.WRONG_TYPE),
        (b"x", Misfit.WRONG_TYPE),
    ],
)
def test_a_bad_value_is_refused_by_name(value: Value, misfit: Misfit) -> None:
    codes = Codes()
    codes.encode({"a": 1}, "p")
    assert refusal(codes, {"a": 1, "bad": value, "c": 1}) == (misfit, "bad")
    assert refusal(codes, {"a": 1, "c": 1}, value) == (misfit, "label")


@pytest.mark.parametrize(
    ("label", "misfit"), [("x" * 1_025, Misfit.STRING_TOO_LONG), (2**63, Misfit.NUMBER_RANGE)]
)
def test_a_label_that_is_too_large_is_refused(label: Value, misfit: Misfit) -> None:
    assert refusal(Codes(), {"a": 1}, label) == (misfit, "label")


@pytest.mark.parametrize("label", [None, ""])
def test_an_empty_label_is_refused(label: str | None) -> None:
    assert refusal(Codes(), {"new": 1}, label) == (Misfit.BAD_LABEL, "label")


def test_a_label_whose_type_drifts_is_refused() -> None:
    codes = Codes()
    codes.encode({"a": "x"}, "p")
    assert refusal(codes, {"a": "x"}, 1) == (Misfit.TYPE_DRIFT, "label")


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
    before = codes.dump()
    assert refusal(codes, {"a": "x"}, "r") == (Misfit.TOO_MANY_CLASSES, "label")
    assert codes.encode({"c": "x"}, "p") == Coded(
        (0, 0), 0, ("too_many_attributes",), (), (("c", "too_many_attributes"),)
    )
    assert codes.encode({"name": "x"}, "p") == Coded((0, 0), 0, ("too_long",), (), (("name", "too_long"),))
    assert codes.encode({"a": "xxxx"}, "p") == Coded((0, 0), 0, ("too_long",), (), (("a", "too_long"),))
    assert codes.dump() == before
    assert codes.encode({"a": "z", "b": "x"}, "p") == Coded((0, 1), 0, (), (0,))
    assert codes.dump() != before


def test_a_value_that_must_not_be_missing_is_named() -> None:
    codes = Codes(Schema((Attribute("a"), Attribute("b"))), reject_missing=True)
    assert refusal(codes, {"a": "x"}) == (Misfit.MISSING_VALUE, "b")
    codes.encode({"a": "x", "b": "x"}, "p")
    assert refusal(codes, {"a": "x", "b": "x", "new": None}) == (Misfit.MISSING_VALUE, "new")
    assert codes.look_up({"a": "x"}).row == (1, MISSING_CODE)


def test_text_that_cannot_be_encoded_is_refused() -> None:
    codes = Codes()
    assert refusal(codes, {"a": "\ud800"}) == (Misfit.ENCODING, "a")
    assert refusal(codes, {"a": "x"}, "\ud800") == (Misfit.ENCODING, "label")
    assert refusal(codes, {"\ud800": "x"})[0] is Misfit.ENCODING
    codes.encode({"é": "\U0001f333"}, "ü")


# ---- what is missing although it is there


def test_a_value_of_another_type_is_missing_unless_the_attribute_is_declared_nominal() -> None:
    codes = Codes(Schema((Attribute("any"),)))
    codes.encode({"any": 1, "met": "x", "n": 1}, "p")
    before = codes.dump()
    for values, row, field in (
        ({"met": 1}, (0, 0, 0), "met"),
        ({"met": True, "any": 1}, (1, 0, 0), "met"),
        ({"n": "1"}, (0, 0, 0), "n"),
    ):
        drifted = Coded(row, 0, ("wrong_type",), (), ((field, "wrong_type"),))
        assert codes.encode(values, "p") == drifted
        assert codes.look_up(values) == drifted._replace(label=-1)
    assert codes.dump() == before
    assert codes.encode({"any": "x", "met": "y", "n": 2}, "p") == Coded((2, 2, 2), 0)


def test_an_attribute_met_as_null_takes_the_type_of_its_first_value() -> None:
    codes = Codes()
    codes.encode({"a": None}, "p")
    grown = codes.grown
    assert codes.encode({"a": 1}, "p").row == (1,)
    assert codes.grown > grown
    assert codes.encode({"a": "x"}, "p").flags == ("wrong_type",)


@pytest.mark.parametrize("numbers", [False, True])
def test_text_in_a_declared_number_is_the_number_it_is(numbers: bool) -> None:
    schema = Schema((Attribute("n", AttributeType.NUMERIC),), missing_values=("-999",))
    codes = Codes(schema, numbers=numbers)
    for text, number in (
        ("12.5", 12.5),
        ("1e3", 1000),
        ("-7", -7),
        ("+.5", 0.5),
        ("007", 7),
        ("9007199254740993", 2**53 + 1),
    ):
        assert codes.encode({"n": text}, "p") == codes.encode({"n": number}, "p")
        assert codes.look_up({"n": text}) == codes.look_up({"n": number})
    for text in ("", "-999", "-999.0"):
        assert codes.encode({"n": text}, "p") == Coded((0,), 0)
    for value in (" 3", "3 ", "1_000", "inf", "nan", "many", "0x10", "\u0663", True):
        assert codes.encode({"n": value}, "p") == Coded((0,), 0, ("wrong_type",), (), (("n", "wrong_type"),))


def test_an_integer_of_more_than_64_bits_is_a_float() -> None:
    for numbers in (False, True):
        codes = Codes(numbers=numbers)
        assert codes.encode({"n": 2**63}, "p") == codes.encode({"n": 2.0**63}, "p")
    assert codes.encode({"n": 10**400}, "p") == codes.encode({"n": float("inf")}, "p")
    assert refusal(Codes(), {"n": 10**400}) == (Misfit.NON_FINITE, "n")


def test_flags_are_sorted_and_there_once() -> None:
    codes = Codes(limits=Limits(max_text=2))
    codes.encode({"a": "x", "b": "x"}, "p")
    coded = codes.encode({"b": 1, "a": "xxx", "c": "yyy", "long": "x"}, "p")
    assert coded.flags == ("too_long", "wrong_type")
    assert coded.noted == (("a", "too_long"), ("b", "wrong_type"), ("c", "too_long"), ("long", "too_long"))
    assert (coded.row, codes.attributes, codes.kinds[2]) == ((0, 0, 0), ["a", "b", "c"], "")


# ---- attributes that are retired


def test_an_attribute_with_too_many_values_is_missing_from_then_on() -> None:
    codes = Codes(limits=Limits(max_values_per_attribute=2, max_text=3))
    for value in ("x", "y"):
        assert codes.encode({"id": value, "a": "x"}, "p").retired == ()
    grown = codes.grown
    assert codes.look_up({"id": "z", "a": "x"}) == Coded((UNSEEN_CODE, 1), -1)
    assert codes.retired == set()
    assert codes.encode({"id": "z", "a": "x"}, "p") == Coded((0, 1), 0, (), (0,))
    assert (codes.retired, codes.grown) == ({0}, grown + 1)
    assert codes.values[0] == ["?", "x", "y"]
    whatever: tuple[Value, ...] = ("x", "new", 1, True, None, "too long")
    for one in whatever:
        assert codes.encode({"id": one, "a": "x"}, "p") == Coded((0, 1), 0)
        assert codes.look_up({"id": one, "a": "x"}) == Coded((0, 1), -1)
        assert codes.recall({"id": one, "a": "x"}) == (0, 1)
    assert codes.grown == grown + 1


def test_a_refused_instance_retires_nothing() -> None:
    codes = Codes(limits=Limits(max_values_per_attribute=1, max_classes=1))
    codes.encode({"a": "x"}, "p")
    assert refusal(codes, {"a": "y"}, "q") == (Misfit.TOO_MANY_CLASSES, "label")
    assert not codes.retired


def test_a_retired_attribute_need_not_be_there() -> None:
    codes = Codes(limits=Limits(max_values_per_attribute=1), reject_missing=True)
    codes.encode({"a": "x", "b": "x"}, "p")
    assert codes.encode({"a": "y", "b": "x"}, "p") == Coded((0, 1), 0, (), (0,))
    assert codes.encode({"b": "x"}, "p") == Coded((0, 1), 0)
    assert refusal(codes, {"a": "y"}) == (Misfit.MISSING_VALUE, "b")


def test_everything_that_grows_is_counted() -> None:
    steps: list[tuple[dict[str, Value], Value]] = [
        ({"a": None}, "p"),
        ({"a": 1}, "p"),
        ({"a": 2}, "q"),
        ({"b": "x", "c": None}, "q"),
        ({"c": True}, "p"),
        ({"b": "y"}, "p"),
        ({"b": "z"}, "p"),
    ]
    for numbers in (False, True):
        limits = Limits(max_values_per_attribute=2)
        leader, follower = Codes(limits=limits, numbers=numbers), Codes(limits=limits, numbers=numbers)
        for values, label in steps:
            mark = leader.mark()
            leader.encode(values, label)
            before = follower.grown
            follower.grow(leader.growth(mark))
            assert (follower.grown != before) == (leader.mark() != mark or before == 0)
        assert follower.dump() == leader.dump()
        assert leader.retired == {1}


# ---- followers


@given(cases(settings=False), st.integers(1, 5))
def test_a_follower_that_gets_the_growth_knows_the_same_names(case: Case, often: int) -> None:
    limits = Limits(max_values_per_attribute=2)
    leader, follower = Codes(case.schema, limits), Codes(case.schema, limits)
    mark = leader.mark()
    for place, (values, label) in enumerate(case.stream):
        coded = leader.encode(values, label)
        if place % often == 0 or place == len(case.stream) - 1:
            follower.grow(growth_from(list(leader.growth(mark))))
            mark = leader.mark()
            assert follower.dump() == leader.dump()
            assert follower.encode(values, label)._replace(retired=coded.retired) == coded
            assert follower.dump() == leader.dump()
    late = Codes(case.schema)
    late.grow(leader.dump())
    assert (late.attributes, late.kinds, late.values) == (leader.attributes, leader.kinds, leader.values)
    assert (late.classes, late.label_kind) == (leader.classes, leader.label_kind)
    assert late.retired == leader.retired
