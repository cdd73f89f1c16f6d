"""Every option changes something: two learners that differ in it alone differ on some stream."""

import functools
from collections.abc import Iterator, Mapping

import msgspec
import pytest

from learners.learner import make_options
from learners.registry import LEARNERS, option_names
from tests.learners.option_cases import CASES, LISTED, SPECIAL, Case, cases_of
from tests.learners.option_streams import STREAMS, WIDE, Seen, observe

OPTIONS = [(learner, option) for learner in sorted(LEARNERS) for option in option_names(learner)]


@functools.cache
def _observe(learner: str, settings: bytes, stream: str) -> Seen:
    """Return what `observe` returns; learners with the same settings are not run twice."""
    return observe(learner, msgspec.json.decode(settings), stream)


def seen(learner: str, settings: Mapping[str, object], stream: str) -> Seen:
    return _observe(learner, msgspec.json.encode(dict(settings)), stream)


def differences(learner: str, option: str, case: Case, beside: Mapping[str, object]) -> Iterator[str]:
    """Yield in what a learner differs from one with other settings in one option, stream by stream."""
    for stream in case.streams or [name for name in STREAMS if name != WIDE]:
        one = seen(learner, beside, stream)
        other = seen(learner, {**case.beside, option: case.value}, stream)
        for name in Seen._fields:
            if getattr(one, name) != getattr(other, name):
                yield name


@pytest.mark.parametrize(("learner", "option"), OPTIONS, ids=lambda name: name)
def test_an_option_changes_something(learner: str, option: str) -> None:
    for case in cases_of(learner, option):
        wanted = {case.effect} if case.effect else {*Seen._fields} - {"operations"}
        others = [case.beside]
        if case.third is not None:
            others.append({**case.beside, option: case.third})
        for other in others:
            found = differences(learner, option, case, other)
            assert any(name in wanted for name in found), (
                f"{learner} with {option} = {case.value!r} beside {dict(case.beside)} "
                f"and with {dict(other)} differ on no stream in {' or '.join(sorted(wanted))}"
            )


@pytest.mark.parametrize("learner", LEARNERS)
def test_an_option_that_is_gone_cannot_be_set(learner: str) -> None:
    options = LEARNERS[learner].options_type
    for name, removed in options.removed.items():
        with pytest.raises(msgspec.ValidationError, match=f"unknown field `{name}`"):
            make_options(options, {name: removed.usual})
        assert removed.before in options.__struct_fields__


def test_an_option_that_no_case_names_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(CASES, "window")
    with pytest.raises(LookupError, match="the option window"):
        cases_of("id5r", "window")


def test_no_case_is_for_an_option_that_is_gone() -> None:
    names = {option for _, option in OPTIONS}
    assert {*CASES, *LISTED} <= names
    assert {*SPECIAL} <= set(OPTIONS)


@pytest.mark.parametrize("learner", sorted(LEARNERS))
@pytest.mark.parametrize("stream", ["noisy", "numeric", "missing"])
def test_two_learners_with_the_same_settings_do_not_differ(learner: str, stream: str) -> None:
    """Else an option that changes nothing would seem to."""
    assert observe(learner, {}, stream) == seen(learner, {}, stream)
