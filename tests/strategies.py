"""What hypothesis makes up: schemas, instances, streams of them, and settings of the learners.

A stream comes from a small world: one to eight attributes of one to four values, one to four classes. Each
record is drawn as one number and taken apart into values and label, which is quick and shrinks well. Small
worlds reach ties, contradictions and repetitions by themselves; attributes that come late, values that are
missing and concepts that can be learned are drawn on purpose. So are the habits of real fields: null before
the first value, an identifier, whole numbers that turn into others, another type now and then.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import Literal

import msgspec
from hypothesis import strategies as st

from learners.learner import Learner, make_options
from learners.outline import AttributeTest, Leaf, Outline, Split
from learners.registry import LEARNERS, make_learner, option_names
from learners.schema import Attribute, Instance, Schema, Value
from tests.oracles.id3 import text_of

# The family of 1989 asks for a deeper stack when its first learner is made. Hypothesis wants no such thing to
# happen in the middle of a test.
LEARNERS["id3"]()

Declared = Literal["nothing", "open", "closed"]
NAMES = ("colour", "size", "shape", "a", "b", "é", "on", "width")
CLASSES = ("yes", "no", "perhaps", "1")
PALETTES: tuple[tuple[Value, ...], ...] = (
    ("red", "blue", "green", "dark red"),
    (1, 2, 2.5, -3),
    (True, False),
    ("x", "y", "", "é"),
)


Habit = Literal["plain", "null first", "identifier", "floats later", "drifts"]
WORLDLY: tuple[Habit, ...] = ("null first", "identifier", "floats later")
"""What a field may do besides having values of its palette."""


@dataclass(frozen=True)
class Column:
    """An attribute of a world."""

    name: str
    values: tuple[Value, ...]
    comes_at: int  # the first record that has it
    may_lack: bool
    habit: Habit = "plain"

    def value(self, code: int, place: int) -> Value:
        """Return the value that a code stands for at some place of the stream."""
        value = self.values[code]
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if self.habit == "identifier":
            return place if is_number else f"{value} {place}"
        if self.habit == "floats later" and is_number and place >= FLOATS_AT:
            return float(value or 0) + 0.25
        if self.habit == "drifts" and place % DRIFT_EVERY == DRIFT_EVERY - 1:
            return "a word" if is_number else 7
        return value

    def has(self, place: int) -> bool:
        """Whether a record at some place has the field at all."""
        return self.habit == "null first" or place >= self.comes_at


FLOATS_AT = 3
DRIFT_EVERY = 4


@dataclass(frozen=True)
class World:
    """Where the records of a stream come from."""

    columns: tuple[Column, ...]
    classes: tuple[str, ...]
    concept: Literal["chance", "first", "parity"]

    @property
    def records(self) -> int:
        """How many numbers stand for a record."""
        product = 4 * len(self.classes)
        for column in self.columns:
            product *= len(column.values) + column.may_lack
        return product

    def record(self, number: int, place: int) -> Instance:
        """Return the record that a number stands for at some place of the stream."""
        values: dict[str, Value] = {}
        codes: list[int] = []
        for column in self.columns:
            number, code = divmod(number, len(column.values) + column.may_lack)
            codes.append(code)
            if column.has(place):
                if place < column.comes_at:
                    values[column.name] = None
                elif code < len(column.values):
                    values[column.name] = column.value(code, place)
                elif place % 2:
                    values[column.name] = None  # missing in the one way or in the other
        noise, by_chance = divmod(number, len(self.classes))
        if self.concept == "chance" or noise == 0:
            return Instance(values, self.classes[by_chance])
        rule = codes[0] if self.concept == "first" else sum(codes[:3])
        return Instance(values, self.classes[rule % len(self.classes)])


@dataclass(frozen=True)
class Case:
    """A stream, with what is declared about it and the settings of the learner that gets it."""

    schema: Schema
    settings: dict[str, object]
    stream: tuple[Instance, ...]

    def in_words(self) -> "Case":
        """Return the case with every number as a word, for learners that would compare it with thresholds."""
        return replace(self, stream=in_words(self.stream))


def in_words(stream: Sequence[Instance]) -> tuple[Instance, ...]:
    """Return a stream in which every number is a word."""

    def word(value: Value) -> Value:
        return text_of(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value

    return tuple(Instance({k: word(v) for k, v in values.items()}, label) for values, label in stream)


@st.composite
def worlds(draw: st.DrawFn, *, late: bool = True, missing: bool = True, drift: bool = False) -> World:
    """Return a world.

    Args:
        draw: What hypothesis draws with.
        late: Whether attributes may come after the first record, with null before or without.
        missing: Whether values may be missing.
        drift: Whether values may be of another type now and then, which makes them missing ones.
    """
    habits: tuple[Habit, ...] = (*WORLDLY, "drifts") if drift else WORLDLY
    columns = []
    for name in NAMES[: draw(st.integers(1, 8))]:
        palette = draw(st.sampled_from(PALETTES))
        values = palette[: draw(st.integers(1, len(palette)))]
        comes_at = draw(st.sampled_from((0, 0, 0, 2, 7))) if late else 0
        may_lack = missing and draw(st.integers(0, 3)) == 3
        # Three of ten fields have a habit.
        habit: Habit = draw(st.sampled_from(habits)) if draw(st.integers(0, 9)) > 6 else "plain"
        if habit == "null first":
            comes_at = draw(st.integers(1, 5)) if late and missing else 0
        columns.append(Column(name, values, comes_at, may_lack, habit))
    classes = CLASSES[: draw(st.integers(1, 4))]
    return World(tuple(columns), classes, draw(st.sampled_from(("chance", "first", "parity"))))


@st.composite
def schemas(draw: st.DrawFn, world: World) -> Schema:
    """Return a schema that every record of a world fits: of nothing, of some names, or of all there is."""
    strange = any(column.habit in ("identifier", "floats later", "drifts") for column in world.columns)
    declared: Declared = draw(st.sampled_from(("nothing", "open", "open" if strange else "closed")))
    if declared == "nothing":
        return Schema()
    columns = draw(st.permutations(world.columns))
    classes = draw(st.permutations(world.classes))
    if declared == "open":
        some = draw(st.integers(0, len(columns)))
        attributes = tuple(Attribute(column.name, values=_texts(column)[:1]) for column in columns[:some])
        return Schema(attributes, tuple(classes[: draw(st.integers(0, len(classes)))]))
    attributes = tuple(Attribute(column.name, values=_texts(column), open=False) for column in columns)
    return Schema(attributes, tuple(classes), open=False, open_classes=False)


def _texts(column: Column) -> tuple[str, ...]:
    return tuple(map(text_of, column.values))


@st.composite
def streams(draw: st.DrawFn, world: World, *, min_size: int = 1, max_size: int = 30) -> tuple[Instance, ...]:
    """Return records of a world."""
    # A drawn length gives longer streams than the lists of hypothesis, whose mean length is about five.
    size = draw(st.integers(min_size, max_size))
    numbers = draw(st.lists(st.integers(0, world.records - 1), min_size=size, max_size=size))
    if draw(st.integers(0, 3)) == 3:  # a few records again and again
        few = draw(st.integers(1, 3))
        numbers = [numbers[place % few if place % few < size else 0] for place in range(size)]
    return tuple(world.record(number, place) for place, number in enumerate(numbers))


@st.composite
def selections(draw: st.DrawFn, names: Sequence[str] = NAMES) -> dict[str, object]:
    """Return settings that decide which test is best."""
    settings: dict[str, object] = {}
    if draw(st.booleans()):
        settings["selection"] = "gain-ratio"
    if draw(st.integers(0, 2)) == 2:
        settings["significance"] = draw(st.sampled_from((0.5, 0.2, 0.05, 0.01)))
        settings["significance_test"] = draw(st.sampled_from(("chi2", "g")))
        settings["min_records_per_value"] = draw(st.sampled_from((0, 0, 2)))
    if draw(st.booleans()):
        settings["tie_order"] = tuple(draw(st.permutations(names))[: draw(st.integers(1, len(names)))])
    return settings


@st.composite
def retentions(draw: st.DrawFn) -> dict[str, object]:
    """Return settings that decide which instances the tree stands for."""
    settings: dict[str, object] = {}
    if draw(st.booleans()):
        settings["window"] = draw(st.integers(1, 12))
    if draw(st.booleans()):
        settings["missing"] = draw(st.sampled_from(("most_common", "reject")))
    if draw(st.booleans()):
        settings["on_contradiction"] = draw(st.sampled_from(("replace", "smaller")))
    return settings


@st.composite
def cases(
    draw: st.DrawFn,
    *,
    max_size: int = 30,
    late: bool = True,
    missing: bool = True,
    settings: bool = True,
    retention: bool = True,
    drift: bool = False,
) -> Case:
    """Return a stream with a schema and settings that fit it."""
    world = draw(worlds(late=late, missing=missing, drift=drift))
    chosen: dict[str, object] = {}
    if settings:
        chosen |= draw(selections([column.name for column in world.columns]))
    if settings and retention:
        chosen |= draw(retentions())
    return Case(draw(schemas(world)), chosen, draw(streams(world, max_size=max_size)))


# ---- trees

_NAMES = st.text(max_size=4) | st.sampled_from(("colour", 'a "name"', "line\nbreak", "back\\slash", "é"))
_COUNTS = st.dictionaries(_NAMES, st.integers(1, 99), max_size=3).map(
    lambda counts: tuple(sorted(counts.items()))
)
_TESTS = st.builds(AttributeTest, _NAMES, st.none() | st.floats(allow_nan=False, allow_infinity=False))


def outlines() -> st.SearchStrategy[Outline]:
    """Return trees as data, of any names and shapes."""

    def grown(below: st.SearchStrategy[Outline]) -> st.SearchStrategy[Outline]:
        branches = st.dictionaries(_NAMES, below, min_size=1, max_size=3)
        return st.builds(
            Split,
            _TESTS,
            _COUNTS,
            branches.map(lambda found: tuple(sorted(found.items(), key=itemgetter(0)))),
        )

    leaves: st.SearchStrategy[Outline] = st.builds(Leaf, st.none() | _NAMES, _COUNTS)
    return st.recursive(leaves, grown, max_leaves=12)


# ---- learners


def fitted(name: str, settings: Mapping[str, object]) -> dict[str, object]:
    """Return those of some settings that a learner takes, with the bare algorithm where they say nothing.

    Learners differ in their defaults; what is left unsaid here is the algorithm of the paper.
    """
    bare = {"significance": None, "significance_test": "chi2", "min_records_per_value": 0}
    known = option_names(name)
    taken: dict[str, object] = {}
    for key, value in {**bare, **settings}.items():
        try:
            make_options(LEARNERS[name].options_type, {key: value})
        except msgspec.ValidationError:
            assert key not in known or key in ("missing", "on_contradiction"), (
                f"{name} refuses {key} = {value}"
            )
        else:
            taken[key] = value
    return taken


def make_bare(name: str, schema: Schema | None = None, **settings: object) -> Learner:
    """Return a learner with the settings it takes, bare of its own defaults."""
    return make_learner(name, schema, fitted(name, settings))
