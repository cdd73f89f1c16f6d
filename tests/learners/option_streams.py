"""Small fixed streams, and all that a learner shows of itself along them.

Two learners that differ in one option must differ on one of them; `option_cases` says in what.
"""

from collections.abc import Callable, Mapping
from random import Random
from typing import NamedTuple

from learners.capabilities import Anytime
from learners.outline import digest
from learners.registry import make_learner
from learners.schema import Instance, InstanceError

UNITS = 3_000
"""Units of spare time that a learner which can use them is given after every twentieth record."""

WIDE = "wide"
"""The stream for caps on memory: only the number of retained instances is looked at."""


class Seen(NamedTuple):
    """All that two learners are compared by.

    Attributes:
        digests: The tree after every record.
        predictions: The predicted class of every record, its probabilities, and what predicted it.
        retained: The number of retained instances after every record.
        refused: The numbers of the records that were refused, each with the reason.
        operations: What learning cost, by operation.
    """

    digests: tuple[str, ...]
    predictions: tuple[object, ...]
    retained: tuple[int, ...]
    refused: tuple[tuple[int, str], ...]
    operations: Mapping[str, int]


def observe(name: str, settings: Mapping[str, object], stream: str) -> Seen:
    """Return what a new learner shows along one of `STREAMS`."""
    learner = make_learner(name, None, settings)
    digests, predictions, retained, refused = [], [], [], []
    for number, (values, label) in enumerate(STREAMS[stream]):
        try:
            if stream != WIDE:
                prediction = learner.predict_one(values)
                predictions.append((prediction.answer, prediction.by, prediction.probabilities))
            learner.learn_one(Instance(values, label))
        except InstanceError as error:
            refused.append((number, error.misfit.value))
        if isinstance(learner, Anytime) and number % 20 == 19 and learner.can_improve:
            learner.improve(UNITS)
        if stream != WIDE:
            digests.append(digest(learner.outline()))
        retained.append(learner.retained)
    return Seen(tuple(digests), tuple(predictions), tuple(retained), tuple(refused), learner.ops.spent())


# ---- the streams

Row = tuple[dict[str, str | float], str]


def _noisy(r: Random, n: int) -> Row:
    """Nominal values, two of which matter; one label in five is wrong."""
    values = {name: r.choice("xyz") for name in "abcd"}
    label = "same" if values["a"] == values["b"] else values["c"]
    return dict(values), label if r.random() < 0.8 else r.choice(("same", "x", "y"))


def _numeric(r: Random, n: int) -> Row:
    """Numbers with a skewed distribution, and a concept in two of them."""
    values: dict[str, str | float] = {name: round(r.expovariate(0.1), 2) for name in ("u", "v", "w")}
    right = float(values["u"]) + float(values["v"]) / 3 > 9
    return values, "high" if right == (r.random() < 0.9) else "low"


def _repeats(r: Random, n: int) -> Row:
    """Few descriptions, so that most come again; two attributes that always say the same."""
    a, b = r.choice("xy"), r.choice("xy")
    return {"a": a, "b": b, "twin": a}, "yes" if a == b else "no"


def _missing(r: Random, n: int) -> Row:
    """Nominal values and numbers, one in four of them absent."""
    values: dict[str, str | float] = {"a": r.choice("xyz"), "b": r.choice("xyz"), "u": r.randint(-9, 9)}
    label = "yes" if values["a"] == "x" or float(values["u"]) > 4 else "no"
    return {name: value for name, value in values.items() if r.random() < 0.75}, label


def _time(r: Random, n: int) -> Row:
    """Times that go on by one, with a jump of a thousand and late records."""
    moment = n + (1_000 if n > 100 else 0) - (40 if n % 17 == 16 else 0)
    a = r.choice("xy")
    return {"t": moment, "a": a, "b": r.choice("xyz")}, "yes" if (a == "x") == (n % 60 < 30) else "no"


def _drift(r: Random, n: int) -> Row:
    """A concept that turns over in the middle."""
    values = {name: r.choice("xy") for name in "abc"}
    return dict(values), "yes" if (values["a"] == "x") == (n < 120) else "no"


def _many(r: Random, n: int) -> Row:
    """An attribute with many values, one with few, and a label that hangs on both."""
    few, many = r.choice("xyz"), r.randrange(60)
    right = (many % 3 == 0) if few == "x" else few == "y"
    return {"few": few, "many": f"v{many}"}, "yes" if right == (r.random() < 0.9) else "no"


def _contradictions(r: Random, n: int) -> Row:
    """The same descriptions with one class, later with another."""
    a, b, c = r.choice("xyz"), r.choice("xy"), r.choice("xy")
    return {"a": a, "b": b, "c": c}, "yes" if (a == "x") != (n % 90 > 45 and c == "x") else "no"


def _parity(r: Random, n: int) -> Row:
    """Two of five attributes together decide; none of them alone says anything."""
    values = {name: r.choice("01") for name in "abcde"}
    return dict(values), "odd" if (values["a"] != values["b"]) == (r.random() < 0.95) else "even"


def _sparse(r: Random, n: int) -> Row:
    """Counts of words, most of them absent; what says something is that a word is there."""
    counts = {f"w{k}": r.randint(1, 3) for k in range(6) if r.random() < 0.35}
    return dict(counts), "yes" if ("w0" in counts) == (r.random() < 0.9) else "no"


def _close(r: Random, n: int) -> Row:
    """Two attributes whose E-scores differ by less than the 1e-5 that scores are rounded to.

    Of 30 records of each class, the first attribute has x in 1 and 16, the second in 28 and 12.
    """
    number, label = n // 2, "pn"[n % 2]
    first, second = ((1, 28), (16, 12))[n % 2]
    return {"first": "x" if number < first else "y", "second": "x" if 29 - number < second else "y"}, label


def _wide(r: Random, n: int) -> Row:
    """Records of so many attributes and values that a megabyte is soon full."""
    values: dict[str, str | float] = {f"f{k}": str((n * k + n) % 400) for k in range(500)}
    return values, "yes" if n % 2 else "no"


def _stream(make: Callable[[Random, int], Row], length: int) -> tuple[Row, ...]:
    r = Random(make.__name__)
    return tuple(make(r, n) for n in range(length))


STREAMS: dict[str, tuple[Row, ...]] = {
    "noisy": _stream(_noisy, 200),
    "numeric": _stream(_numeric, 200),
    "repeats": _stream(_repeats, 120),
    "missing": _stream(_missing, 150),
    "time": _stream(_time, 180),
    "drift": _stream(_drift, 240),
    "many": _stream(_many, 240),
    "contradictions": _stream(_contradictions, 180),
    "parity": _stream(_parity, 160),
    "sparse": _stream(_sparse, 200),
    "close": _stream(_close, 60),
    WIDE: _stream(_wide, 450),
}
"""By name, in the order in which they are tried."""
