"""Which two values of each option are compared, and what else must be set so that the option counts."""

import types
from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple, Union, get_args, get_origin

import msgspec

from learners.registry import LEARNERS

Effect = Literal["digests", "predictions", "retained", "refused", "operations"]


class Case(NamedTuple):
    """One value of an option against another.

    Attributes:
        value: The value; the other one is the default.
        third: A value that differs from both, where the default is "none": that the option is set is not all.
        beside: Other settings that both learners have.
        streams: The streams to try; none: all but the wide one.
        effect: In what the learners must differ; unset: in anything but the operations.
    """

    value: object
    beside: Mapping[str, object] = types.MappingProxyType({})
    streams: tuple[str, ...] = ()
    effect: Effect | None = None
    third: object = None


SIGNIFICANT = {"significance": 0.05}
BY_TIME = {"time": "t", "window_time": 25.0}
OFTEN = {"rebuild_every": 20}
ONCE = {"rebuild_every": 1_000_000}

CASES: dict[str, Case] = {
    "significance": Case(0.2, third=0.001),
    "min_records_per_value": Case(9, SIGNIFICANT),
    "bins": Case(3),
    "tie_order": Case(("twin", "d", "c", "b", "a"), effect="digests"),
    "window": Case(30, effect="retained", third=60),
    "time": Case("t"),
    "window_time": Case(25.0, {"time": "t"}, effect="retained", third=60.0),
    "max_time_jump": Case(5.0, BY_TIME, effect="refused", third=2_000.0),
    "max_instances": Case(30, effect="retained", third=60),
    "max_bytes": Case(1_000_000, streams=("wide",), effect="retained"),
    "recent": Case(40, effect="predictions", third=100),
    "tree_weight": Case(4.0, effect="digests"),
    "retry": Case(20.0, effect="digests"),
    "granularity": Case(1.0, effect="digests"),
    "max_repeats": Case(1, effect="digests"),
    "hold_out": Case(0.0, effect="digests"),
    "max_held": Case(1, effect="digests"),
    "seed": Case(7, effect="digests"),
    "rebuild_share": Case(0.9, effect="digests"),
    "rebuild_every": Case(3, effect="digests", third=7),
    "confidence": Case(0.01, OFTEN, effect="digests", third=0.5),
    "min_records": Case(12, OFTEN, effect="digests"),
    "repeats": Case(0, OFTEN, effect="digests"),
    "regrow": Case(None, effect="digests"),
}
"""The options whose type does not list their values."""

LISTED: dict[str, Case] = {
    "significance_test": Case(..., SIGNIFICANT, effect="digests"),
    "missing": Case(..., streams=("missing",), effect="digests"),
    "rounding": Case(..., streams=("close",), effect="digests"),
    "absent": Case(..., OFTEN, ("sparse",), "digests"),
    "restructure": Case(..., effect="operations"),
    "on_contradiction": Case(..., effect="retained"),
    "train": Case(..., effect="retained"),
}
"""The options whose type lists their values, where more is to be said; all those values are tried."""

SPECIAL: dict[tuple[str, str], Case] = {
    ("mdl", "retry"): Case(1.0, effect="digests"),
    ("iidt-ee", "confidence"): Case(0.01, effect="digests"),
    **{
        (learner, "max_bytes"): Case(1_000_000, ONCE, ("wide",), "retained")
        for learner in ("nt", "c45", "lsid3")
    },
}
"""What is different for one learner."""


def cases_of(learner: str, option: str) -> list[Case]:
    """Return the pairs of values to compare.

    Raises:
        LookupError: The option is not known here.
    """
    if (learner, option) in SPECIAL:
        return [SPECIAL[learner, option]]
    field = next(f for f in msgspec.structs.fields(LEARNERS[learner].options_type) if f.name == option)
    listed = [value for value in _listed(field.type) if value != field.default]
    if listed:
        return [LISTED.get(option, Case(...))._replace(value=value) for value in listed]
    if option not in CASES:
        raise LookupError(f"say in option_cases.CASES what to try for the option {option}: {field.type}")
    return [CASES[option]]


def _listed(kind: object) -> list[object]:
    """Return the values that a type lists, those it only describes not among them."""
    parts = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    listed: list[object] = []
    for part in parts:
        bare = get_args(part)[0] if get_origin(part) is Annotated else part
        if get_origin(bare) is Literal:
            listed += get_args(bare)
        elif bare is bool:
            listed += [False, True]
    return listed
