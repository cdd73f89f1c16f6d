"""MDL learners of generated cases, and streams with noise and change."""

from collections.abc import Iterator
from random import Random

from hypothesis import settings

from learners.mdl.learner import MDL
from learners.registry import make_learner
from learners.schema import Instance, Schema
from tests.strategies import Case

MANY = 200 if settings.get_current_profile_name() == "laws" else 15


def made(case: Case, **options: object) -> MDL:
    known = {name: value for name, value in case.settings.items() if name in ("tie_order", "window")}
    learner = make_learner("mdl", Schema(), {**known, **options})
    assert isinstance(learner, MDL)
    return learner


def changing(chance: Random, records: int, more: int = 0) -> Iterator[Instance]:
    """Yield a stream whose class is told by one attribute of five, then by another, and sometimes by none.

    So many more values than three come with time.
    """
    told_by = chance.sample("abcde", 4)
    for n in range(records):
        values = {name: str(chance.randrange(3 + more * n // records)) for name in "abcde"}
        teller = told_by[n * len(told_by) // records]
        told = chance.random() < 0.85
        yield Instance(values, "yes" if (values[teller] == "1") == told else "no")


def stream_of(records: int, noise: int) -> list[Instance]:
    """Return a stream whose class is told by two of eight attributes, but for some records."""
    told = []
    for n in range(records):
        # Numbers that are far from regular and the same everywhere.
        mixed = (n * 2654435761) % 2**32 ^ (n * 40503 % 2**16) << 7
        values = {f"a{place}": str(mixed >> 3 * place & 1) for place in range(8)}
        label = (values["a0"] == "1" and values["a3"] == "1") != (noise > 0 and n % noise == 0)
        told.append(Instance(values, "yes" if label else "no"))
    return told
