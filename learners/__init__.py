"""Decision-tree learners that know nothing of streams, clocks or files.

Read in this order: `schema` and `codes` (what an instance is), `outline` and `change` (the tree as data),
`learner` (the promises), `merit` (which test is better), `utgoff` (the systems of 1989), `batch` (trees of
arrays, built at once and swapped whole), `mdl` (the tree of the shortest description), `anytime` (trees that
get better with spare time), `hat` (training on errors alone), `checks` (the laws).
"""

from collections.abc import Mapping

import msgspec

from learners.anytime.learner import IIDTEE, IIDTTS
from learners.anytime.lsid3 import LSID3
from learners.c45 import C45
from learners.core.id5r import ID5R
from learners.hat import hat_of
from learners.learner import Learner, Options, make_options
from learners.mdl.learner import MDL
from learners.naive_tree import NT
from learners.schema import Limits, Schema
from learners.snapshot import SnapshotError, learner_of
from learners.utgoff import id5r as reference
from learners.utgoff.id3prime import ID3, ID3Prime
from learners.utgoff.id4 import ID4
from learners.utgoff.id5 import ID5

LEARNERS: dict[str, type[Learner]] = {
    learner.name: learner
    for learner in (ID3, ID3Prime, ID4, ID5, ID5R, reference.ID5R, NT, C45, MDL, LSID3, IIDTTS, IIDTEE)
}
"""Every learner by the name it has in a configuration."""


class UnknownLearnerError(LookupError):
    """There is no learner of this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f'there is no learner "{name}". Choose one of {", ".join(sorted(LEARNERS))}')
        self.name = name


def make_learner(
    name: str,
    schema: Schema | None = None,
    settings: Mapping[str, object] | Options | None = None,
    limits: Limits | None = None,
) -> Learner:
    """Return a new learner; with the setting `train = "errors"` it learns only what it answers wrongly.

    Args:
        name: One of `LEARNERS`.
        schema: What is declared about the instances to come.
        settings: The learner's settings, as plain values or as its options.
        limits: How much it may be made to remember.

    Raises:
        UnknownLearnerError: There is no such learner.
        msgspec.ValidationError: A setting is unknown or has a wrong value.
    """
    learner = _learner(name)
    if not isinstance(settings, Options):
        settings = make_options(learner.options_type, settings or {})
    kind = hat_of(learner) if settings.train == "errors" and not _has_own_hat(learner) else learner
    return kind(schema, settings, limits)


def restore_learner(data: bytes, limits: Limits | None = None) -> Learner:
    """Return the learner that made a snapshot, whichever it was, with a hat if it had one.

    Raises:
        SnapshotError: The bytes are not a whole snapshot, or that of a learner which is not known here.
    """
    try:
        learner = _learner(learner_of(data))
    except UnknownLearnerError as error:
        raise SnapshotError(str(error)) from error
    restored = learner.restore(data, limits)
    if restored.options.train == "errors" and not _has_own_hat(learner):
        return hat_of(learner).over(restored)
    return restored


def _has_own_hat(learner: type[Learner]) -> bool:
    """Return whether a learner sees to `train = "errors"` itself, which is faster."""
    return bool(getattr(learner, "wears_hat", False))


def option_types(name: str) -> dict[str, object]:
    """Return the names of a learner's settings and their types, `train` among them.

    Raises:
        UnknownLearnerError: There is no such learner.
    """
    return {field.name: field.type for field in msgspec.structs.fields(_learner(name).options_type)}


def option_names(name: str) -> tuple[str, ...]:
    """Return the names of a learner's settings.

    Raises:
        UnknownLearnerError: There is no such learner.
    """
    return tuple(option_types(name))


def _learner(name: str) -> type[Learner]:
    try:
        return LEARNERS[name]
    except KeyError:
        raise UnknownLearnerError(name) from None
