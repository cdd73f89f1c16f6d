"""An agent from a seed: learner, every option that changes a tree, a schema sometimes, small limits."""

import types
from random import Random
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import msgspec

from learners.learner import Options, make_options
from learners.registry import LEARNERS, make_learner, option_types
from learners.schema import Attribute, AttributeType, Schema
from stream.config import Agent, Limits
from stream.records.fields import Nested
from tests.lives.generator import CLOCK, INPUT, Step, Topic, make_topic

INTERESTING: dict[str, tuple[object, ...]] = {
    "significance": (None, None, None, 0.5, 0.2, 0.05, 0.01),
    "min_records_per_value": (0, 0, 1, 2, 5),
    "bins": (2, 3, 4, 8, 32, 100),
    "window": (1, 2, 5, 10, 20, 40),
    "max_instances": (1, 3, 10, 30),
    "max_bytes": (1_000_000, 1_000_000, 1_200_000, 1_500_000, 2_500_000),
    "window_time": (1.0, 20.0, 500.0, 1e6),
    "max_time_jump": (1.0, 60.0, 5_000.0, 1e9),
    "recent": (1, 5, 20),
    "tree_weight": (0.0, 0.25, 1.0, 16.0),
    "retry": (1.0, 1.01, 1.25, 3.0),
    "granularity": (0.0, 0.1, 1.0),
    "max_repeats": (1, 2, 8, 1_024),
    "hold_out": (0.0, 0.1, 0.5),
    "max_held": (1, 3, 10),
    "seed": (0, 1, 7),
    "rebuild_share": (0.05, 0.2, 0.9),
    "rebuild_every": (None, 1, 3, 10),
    "confidence": (None, 0.5, 0.25, 0.01),
    "min_records": (1, 2, 5),
    "repeats": (0, 1, 3),
    "regrow": (None, 1.01, 1.25, 5.0),
}
"""Values worth trying, where the type of an option does not list them."""
OFTEN = {
    "significance": 0.7,
    "rebuild_every": 0.6,
    "max_bytes": 0.4,
    "train": 0.25,
    "preset": 0.1,
    "time": 0.8,
    "window_time": 0.8,
    "max_time_jump": 0.5,
}
SELDOM = 0.25


class Life(NamedTuple):
    """An agent, the limits of its worker, and the records of its input."""

    seed: int
    agent: Agent
    limits: Limits
    steps: tuple[Step, ...]

    def __str__(self) -> str:
        agent = self.agent
        told: dict[str, object] = {
            "learner": agent.learner,
            "options": agent.options,
            "schema": agent.schema,
            "limits": self.limits,
        }
        told |= {"label": agent.label, "id": agent.id, "fields": agent.fields}
        return "\n".join(f"  {name}: {value}" for name, value in told.items())


def make_life(seed: int, learner: str | None = None) -> Life:
    """Return the life that a seed stands for; of one learner, if it is said which."""
    r = Random(seed)
    name = r.choice(sorted(LEARNERS))
    name = learner or name
    label, id_field = (
        r.choice(("class", "class", "class", "label", "plan")),
        r.choice(("id", "id", "id", "key")),
    )
    topic = make_topic(r, label, id_field)
    schema = _schema(r, topic) if r.random() < 0.3 else Schema()
    agent = Agent(
        name="a",
        input=INPUT,
        learner=name,
        label=label,
        id=id_field,
        ignore=_patterns(r, topic) if r.random() < 0.3 else (),
        attributes=_patterns(r, topic) if r.random() < 0.15 else (),
        nested=r.choice(list(Nested)) if r.random() < 0.5 else Nested.IGNORE,
        options=_options(r, name, topic, schema),
        schema=schema,
    )
    limits = Limits(
        max_attributes=r.choice((2, 6, 12, 30, 100)),
        max_values_per_attribute=r.choice((2, 8, 15, 40)),
        max_classes=r.choice((2, 3, 4, 10, 10)),
        max_text=r.choice((20, 40, 60)),
        max_record_bytes=r.choice((300, 2_000, 100_000, 100_000)),
        max_depth=r.choice((2, 8, 32)),
    )
    return Life(seed, agent, limits, topic.steps)


def _patterns(r: Random, topic: Topic) -> tuple[str, ...]:
    """Return names of fields, some with a star, some of what is nested."""
    some = r.sample(topic.names, r.randint(1, len(topic.names)))
    forms = ("{}", "{}", "{}", "{}.k", "{}.*", "*")
    return tuple(r.choice(forms).format(name) if r.random() < 0.3 else name or "*" for name in some)


# ---- options


def choices(name: str, kind: object) -> tuple[object, ...]:
    """Return the values to try for an option of some type.

    Raises:
        LookupError: Nothing is known about it; `INTERESTING` has to say what to try.
    """
    parts = get_args(kind) if get_origin(kind) in (Union, types.UnionType) else (kind,)
    listed: list[object] = []
    for part in parts:
        bare = get_args(part)[0] if get_origin(part) is Annotated else part
        if get_origin(bare) is Literal:
            listed += get_args(bare)
        elif bare is bool:
            listed += [False, True]
        elif bare is type(None):
            listed.append(None)
        elif name in INTERESTING:
            listed += INTERESTING[name]
        else:
            raise LookupError(f"no values to try are known for the option {name}: {kind}")
    return tuple(listed)


def _options(r: Random, learner: str, topic: Topic, schema: Schema) -> Options:
    """Return settings that the learner takes, each drawn by itself."""
    kind = LEARNERS[learner].options_type
    chosen: dict[str, object] = {}
    for name, type_ in option_types(learner).items():
        if r.random() >= OFTEN.get(name, SELDOM):
            continue
        if name == "tie_order":
            value: object = tuple(r.sample(topic.names, r.randint(1, len(topic.names))))
        elif name == "time":
            nominal = any(a.name == CLOCK and a.type is AttributeType.NOMINAL for a in schema.attributes)
            value = None if nominal or CLOCK not in topic.names else CLOCK
        elif name == "window_time" and chosen.get("time") is None:
            continue
        else:
            value = r.choice(choices(name, type_))
        if _is_taken(kind, chosen | {name: value}):
            chosen[name] = value
    options = make_options(kind, chosen)
    try:
        make_learner(learner, schema, options)
    except ValueError:  # settings and schema that do not go together are refused at the start
        return kind()
    return options


def _is_taken(kind: type[Options], chosen: dict[str, object]) -> bool:
    try:
        make_options(kind, chosen)
    except msgspec.ValidationError:
        return False
    return True


# ---- schemas


def _schema(r: Random, topic: Topic) -> Schema:
    declared = r.sample(topic.names, r.randint(0, len(topic.names)))
    seen = [record.value for record, _, _ in topic.steps[:12]]
    attributes = tuple(_attribute(r, name, seen) for name in declared)
    classes: tuple[str, ...] = ()
    if r.random() < 0.5:
        classes = tuple(_text(name) for name in r.sample(topic.classes, r.randint(1, len(topic.classes))))
    return Schema(
        attributes,
        classes,
        open=r.random() < 0.8,
        open_classes=r.random() < 0.8,
        missing_values=tuple(r.sample(("NA", "nan", "-1", "0", "x", ""), r.choice((0, 0, 1, 3)))),
    )


def _attribute(r: Random, name: str, seen: list[bytes | None]) -> Attribute:
    values = [_field(value, name) for value in seen]
    known = [value for value in values if value is not None]
    numbers = bool(known) and all(type(value) in (int, float) for value in known)
    if numbers if r.random() < 0.9 else r.random() < 0.5:
        cuts = tuple(sorted(r.sample((-10.0, -1.5, 0.0, 0.5, 3.0, 60.0), r.choice((0, 0, 1, 3)))))
        return Attribute(name, AttributeType.NUMERIC, cuts=cuts)
    texts = tuple(dict.fromkeys(map(_text, known))) if r.random() < 0.6 else ()
    return Attribute(name, values=texts, open=r.random() < 0.7)


def _field(value: bytes | None, name: str) -> Any:
    """Return a field of a record; None where there is none of a plain type."""
    try:
        told = msgspec.json.decode(value or b"")
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    found = told.get(name) if isinstance(told, dict) else None
    return None if isinstance(found, (list, dict)) else found


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
