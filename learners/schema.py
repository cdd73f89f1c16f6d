"""What instances look like, and what is wrong with one that does not fit.

A schema is a declaration and never changes. Without one, attributes, values and classes are met as they
come: strings and booleans are nominal, numbers numeric. What has been met so far is kept in
`learners.codes.Codes`, which is part of a learner's state.
"""

import math
from collections.abc import Mapping
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

import msgspec

Value = str | bool | int | float | None
Values = Mapping[str, Value]

MISSING = "?"
"""The text of a missing value, as it appears on a branch. A value written so is a missing one, too."""


MOST_CUTS = 100
MOST_VALUES = 65_534
"""Values of a nominal attribute, beside the missing one."""
MOST_CLASSES = 65_535


class AttributeType(StrEnum):
    """How the values of an attribute are compared."""

    NOMINAL = "nominal"
    NUMERIC = "numeric"


class Attribute(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A declared attribute.

    Args:
        name: The field of the instance that holds its value.
        type: Nominal values are compared for equality, numeric ones with a threshold.
        values: The values known in advance.
        open: Whether values beyond `values` may appear. Always true where no values are declared.
        cuts: The thresholds a number is compared with, ascending; without any they are found in the data.
    """

    name: str
    type: AttributeType = AttributeType.NOMINAL
    values: tuple[str, ...] = ()
    open: bool = True
    cuts: tuple[float, ...] = ()

    @property
    def wrong_cuts(self) -> str | None:
        """What is wrong with the cuts; None where nothing is."""
        if not self.cuts:
            return None
        if self.type is not AttributeType.NUMERIC:
            return "only a numeric attribute has cuts. Remove them, or make it numeric"
        if len(self.cuts) > MOST_CUTS:
            return f"there are {len(self.cuts)} cuts, more than {MOST_CUTS}"
        if all(map(math.isfinite, self.cuts)) and all(low < high for low, high in pairwise(self.cuts)):
            return None
        return "cuts must be finite numbers in ascending order"


class Schema(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is declared about the instances to come; everything may be left out.

    Args:
        attributes: The declared attributes; their order is the order in which ties are broken.
        classes: The declared classes; their order decides between equally frequent ones.
        open: Whether attributes that are not declared may appear. Always true where none is declared.
        open_classes: Whether classes beyond `classes` may appear. Always true where none is declared.
        missing_values: Texts that mean "no value", beside null and an absent field.
    """

    attributes: tuple[Attribute, ...] = ()
    classes: tuple[str, ...] = ()
    open: bool = True
    open_classes: bool = True
    missing_values: tuple[str, ...] = ()

    @property
    def takes_new_attributes(self) -> bool:
        """Whether an attribute that is not declared is welcome."""
        return self.open or not self.attributes

    @property
    def takes_new_classes(self) -> bool:
        """Whether a class that is not declared is welcome."""
        return self.open_classes or not self.classes


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How much one model may be made to remember by the names and values in its input.

    A code has two bytes: there is an end to how many values and classes can have one.
    """

    max_attributes: int = 1_000
    max_values_per_attribute: int = 1_024
    max_classes: int = 256
    max_text: int = 1_024

    def __post_init__(self) -> None:
        """Refuse limits that a record could pass before it reaches them."""
        if self.max_values_per_attribute > MOST_VALUES:
            raise ValueError(f"max_values_per_attribute must be at most {MOST_VALUES}")
        if self.max_classes > MOST_CLASSES:
            raise ValueError(f"max_classes must be at most {MOST_CLASSES}")


class Instance(NamedTuple):
    """A description and the class it belongs to."""

    values: Values
    label: Value


class Misfit(StrEnum):
    """Why an instance does not fit. A closed set: it labels metrics and dead letters."""

    UNKNOWN_ATTRIBUTE = "unknown_attribute"
    UNKNOWN_VALUE = "unknown_value"
    UNKNOWN_CLASS = "unknown_class"
    WRONG_TYPE = "wrong_type"
    TYPE_DRIFT = "type_drift"
    ENCODING = "encoding"
    NON_FINITE = "non_finite"
    NUMBER_RANGE = "number_range"
    MISSING_VALUE = "missing_value"
    FUTURE_TIME = "future_time"
    BAD_LABEL = "bad_label"
    STRING_TOO_LONG = "string_too_long"
    TOO_MANY_CLASSES = "too_many_classes"


class CodesError(ValueError):
    """Rows or labels, given as codes, that a learner has no room for. The learner is unchanged."""


class InstanceError(ValueError):
    """An instance does not fit the schema, the limits, or what has been met so far.

    The learner that raises it is unchanged.

    Args:
        misfit: What kind of thing is wrong.
        field: The attribute or label it is about.
        message: What is wrong, for people.
    """

    def __init__(self, misfit: Misfit, field: str, message: str) -> None:
        super().__init__(message)
        self.misfit = misfit
        self.field = field
