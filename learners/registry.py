"""Every learner there is, by name; how one is made, and restored from a snapshot."""

from collections.abc import Mapping

import msgspec

from learners.id5r.learner import ID5R
from learners.id5r.options import CoreOptions
from learners.iidt.learner import IIDTEE, IIDTTS
from learners.learner import Learner, Options, make_options
from learners.mdl.learner import MDL
from learners.rebuilt.c45 import C45
from learners.rebuilt.lsid3 import LSID3
from learners.rebuilt.naive_tree import NT
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
EXACT = frozenset(name for name, learner in LEARNERS.items() if learner.exact)
"""The learners whose tree is that of a batch learner, and so depends on nothing but the instances."""


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
    """Return a new learner.

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
    return learner(schema, settings, limits)


def restore_learner(data: bytes, limits: Limits | None = None, options: Options | None = None) -> Learner:
    """Return the learner that made a snapshot, whichever it was.

    Args:
        data: The snapshot.
        limits: How much it may be made to remember.
        options: Its settings from now on, which must lead to the same tree; if not given, the snapshot's.

    Raises:
        SnapshotError: The bytes are not a whole snapshot, or that of a learner which is not known here.
        ValueError: The settings would grow another tree.
    """
    try:
        learner = _learner(learner_of(data))
    except UnknownLearnerError as error:
        raise SnapshotError(str(error)) from error
    restored = learner.restore(data, limits)
    if isinstance(restored, ID5R) and isinstance(options, CoreOptions) and options != restored.options:
        restored.answer_as(options)
    return restored


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
