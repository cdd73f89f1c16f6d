"""What decides which tree comes of a stream: the settings that belong to an agent's state.

A model's journal and snapshots carry these settings. A worker whose settings differ would grow another tree
from the same records, so it refuses to start and names each setting with its old and new value. Settings that
only decide how predictions are made, how large a batch is or how much memory a stream may use are not part of
the fingerprint: they may be changed at any time.
"""

import hashlib
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from learners.learner import Learner
from learners.registry import make_learner
from stream.records.json_decoder import Decoder

Described = Mapping[str, object]
"""Each setting by its dotted name in `[[agent]]`, as plain values."""

_ADDED_LATER = frozenset({"max_time_jump"})
"""Options that formats without a description did not have."""


class Difference(NamedTuple):
    """A setting that is not what the state was made with."""

    name: str
    old: object
    new: object

    def __str__(self) -> str:
        return f"{self.name} was {_shown(self.old)} and is {_shown(self.new)} now"


def _shown(value: object) -> str:
    return '"none"' if value is None else msgspec.json.encode(value).decode()


def describe(learner: Learner, decoder: Decoder) -> Described:
    """Return the settings that decide the tree of a learner on the records of a decoder."""
    fields = decoder.fields
    settings: dict[str, object] = {
        "learner": learner.name,
        "label": decoder.label,
        "id": decoder.id_field,
        "ignore": list(fields.ignore),
        "attributes": list(fields.attributes),
        "nested": fields.nested.value,
    }
    settings |= {f"options.{name}": value for name, value in learner.options.tree_settings().items()}
    schema: dict[str, object] = msgspec.to_builtins(learner.schema)
    return settings | {f"schema.{name}": value for name, value in schema.items()}


def text_of(settings: Described) -> str:
    """Return settings as they are kept with the state."""
    return msgspec.json.encode(settings, order="sorted").decode()


def fingerprint(settings: Described) -> str:
    """Return a short digest of settings: the same in two workers that grow the same tree."""
    return hashlib.sha256(text_of(settings).encode()).hexdigest()[:16]


def fingerprint_before_1(learner: Learner) -> str:
    """Return the digest that versions wrote which kept no description: of learner, options and schema."""
    options: dict[str, object] = msgspec.to_builtins(learner.options)
    known: dict[str, object] = {}
    for name, value in options.items():
        known |= {gone: one.usual for gone, one in learner.options.removed.items() if one.before == name}
        if name not in _ADDED_LATER:
            known[name] = value
    written = msgspec.json.encode([learner.name, known, learner.schema])
    return hashlib.sha256(written).hexdigest()[:16]


def differences(old_text: str, new: Described) -> list[Difference]:
    """Return the settings that are not what the state was made with.

    A setting that the state does not name did not exist then: it had the value that is its default now. An
    option that is gone because it changed nothing is not compared.
    """
    old: dict[str, object] = msgspec.json.decode(old_text, type=dict[str, object])
    plain: dict[str, object] = msgspec.json.decode(text_of(new), type=dict[str, object])
    if old.get("learner") != plain["learner"]:
        return [Difference("learner", old.get("learner"), plain["learner"])]
    learner = make_learner(str(plain["learner"]))
    usual = msgspec.json.decode(text_of(describe(learner, Decoder("class", "id", 1, 1))))
    removed = {f"options.{name}" for name in learner.options.removed}
    names = [*plain, *(name for name in old if name not in plain and name not in removed)]
    pairs = ((name, old.get(name, usual.get(name)), plain.get(name, usual.get(name))) for name in names)
    return [Difference(*pair) for pair in pairs if pair[1] != pair[2]]


class StateSettings:
    """The settings that a model's state is written with, compared with those it was written with before.

    Args:
        learner: The learner.
        decoder: How its records are taken apart.
    """

    def __init__(self, learner: Learner, decoder: Decoder) -> None:
        self._learner = learner.name
        self._described = describe(learner, decoder)
        self.text = text_of(self._described)
        self.fingerprint = fingerprint(self._described)
        self._before_1 = fingerprint_before_1(learner)
        self._known = ""

    def write(self, *, is_first: bool) -> str:
        """Return the description that goes into the next entry of the journal; "": one before has it."""
        is_new, self._known = self._known != self.text, self.text
        return self.text if is_new or is_first else ""

    def differ(self, learner: str, written: str, described: str) -> str:
        """Return what differs from the settings that some state was written with; "": nothing that matters.

        Args:
            learner: The learner that wrote it.
            written: The fingerprint of its settings.
            described: Their description, where this state has it.
        """
        self._known = described or self._known
        if written in (self.fingerprint, self._before_1):
            return ""
        if learner != self._learner:
            return str(Difference("learner", learner, self._learner))
        if not self._known:
            return "they were not written down then"
        return "; ".join(map(str, differences(self._known, self._described)))
