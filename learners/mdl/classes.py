"""The codes of a learner that knows two classes, as the paper's way of counting bits does."""

from collections.abc import Sequence

from learners.canonical import text_of
from learners.codes import Codes
from learners.schema import InstanceError, Limits, Misfit, Schema, Value

MOST = 2


class TwoClassesError(ValueError):
    """More than two classes are declared for a code of two."""


def refusal_of(classes: Sequence[str]) -> str | None:
    """Return what is wrong with the classes that are declared, or None."""
    if len(classes) <= MOST:
        return None
    return f'the paper\'s code is for two classes, and {len(classes)} are declared. Set code = "additive"'


class TwoClassCodes(Codes):
    """Codes that take two classes and no more."""

    def __init__(
        self,
        schema: Schema | None = None,
        limits: Limits | None = None,
        *,
        reject_missing: bool = False,
        numbers: bool = False,
    ) -> None:
        super().__init__(schema, limits, reject_missing=reject_missing, numbers=numbers)
        refusal = refusal_of(self.schema.classes)
        if refusal is not None:
            raise TwoClassesError(refusal)

    def _read_label(self, label: Value) -> tuple[str, str]:
        text, kind = super()._read_label(label)
        if len(self.classes) >= MOST and label is not None and self.class_code(text_of(label)) < 0:
            raise InstanceError(
                Misfit.TOO_MANY_CLASSES,
                "label",
                f'class "{text[:64]}" would be the third, and the paper\'s code is for two. '
                'Set code = "additive"',
            )
        return text, kind
