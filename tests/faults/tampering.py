"""Ways to tamper with the topics of an agent, and the finding each must lead to."""

import json
from collections.abc import Callable
from typing import Any

import msgspec

from stream.audit import Kind
from stream.records.journal import pack, unpack
from stream.records.record import Record
from tests.faults.audited import Log, World


def edited(record: Record, edit: Callable[[Any], object]) -> Record:
    told = json.loads(record.value or b"")
    edit(told)
    return record._replace(value=json.dumps(told).encode())


def middle(log: Log) -> int:
    """Return the place of a record with others of its partition on both sides."""
    chosen = log[len(log) // 2].partition
    places = [i for i, record in enumerate(log) if record.partition == chosen]
    return places[len(places) // 2]


def remove(role: str) -> Callable[[World], None]:
    return lambda world: world[role].pop(middle(world[role])) and None


def double(role: str) -> Callable[[World], None]:
    return lambda world: world[role].insert(middle(world[role]), world[role][middle(world[role])])


def swap(role: str) -> Callable[[World], None]:
    def work(world: World) -> None:
        log, place = world[role], middle(world[role])
        log[place], log[place - 1] = log[place - 1], log[place]

    return work


def alter(
    role: str, edit: Callable[[Any], object], place: Callable[[Log], int] = middle
) -> Callable[[World], None]:
    def work(world: World) -> None:
        index = place(world[role])
        world[role][index] = edited(world[role][index], edit)

    return work


def alter_entry(world: World, **fields: Any) -> None:
    place = middle(world["journal"])
    record = world["journal"][place]
    entry = msgspec.structs.replace(unpack(record.value or b""), **fields)
    world["journal"][place] = record._replace(value=pack(entry))


def last(log: Log) -> int:
    return len(log) - 1


def fork(role: str) -> Callable[[World], None]:
    def work(world: World) -> None:
        place = middle(world[role])
        other = edited(world[role][place], lambda told: told["tree"].update(digest="0" * 64))
        world[role].insert(place + 1, other)

    return work


def fork_journal(world: World) -> None:
    place = middle(world["journal"])
    record = world["journal"][place]
    entry = msgspec.structs.replace(unpack(record.value or b""), digest="0" * 64)
    world["journal"].insert(place + 1, record._replace(value=pack(entry)))


def damage_journal(world: World) -> None:
    place = middle(world["journal"])
    value = bytearray(world["journal"][place].value or b"")
    value[len(value) // 2] ^= 1
    world["journal"][place] = world["journal"][place]._replace(value=bytes(value))


def cut_end(role: str) -> Callable[[World], None]:
    def work(world: World) -> None:
        del world[role][last(world[role])]

    return work


def alter_dead_letter(world: World) -> None:
    world["dead_letters"][0] = world["dead_letters"][0]._replace(value=b"something else")


def invent(world: World) -> None:
    """A record of the input vanishes that something came of."""
    del world["input"][middle(world["input"])]


def other_version(world: World) -> None:
    """A prediction from a transaction that was never committed: right by itself, at the wrong time."""
    versions = {json.loads(c.value or b"")["seq"]: json.loads(c.value or b"") for c in world["tree_changes"]}
    for index, record in reversed(list(enumerate(world["predictions"]))):
        told = json.loads(record.value or b"")
        if told["tree"]["version"] > 5 and told["model"] == versions[1]["model"]:
            old = versions[1]["tree"]
            told["tree"] = {"version": 1, "digest": old["digest"]}
            world["predictions"][index] = record._replace(value=json.dumps(told).encode())
            return


def set_label(told: Any) -> None:
    told.pop("label") if "label" in told else told.update(label="yes")


TAMPERINGS: dict[str, tuple[Callable[[World], None], Kind]] = {
    "a removed prediction": (remove("predictions"), Kind.MISSING),
    "a removed dead letter": (remove("dead_letters"), Kind.MISSING),
    "a removed tree change": (remove("tree_changes"), Kind.CHAIN_GAP),
    "a removed journal entry": (remove("journal"), Kind.JOURNAL_GAP),
    "a removed record of the input": (invent, Kind.INVENTED),
    "the last prediction removed": (cut_end("predictions"), Kind.MISSING),
    "the last tree change removed": (cut_end("tree_changes"), Kind.CHAIN_GAP),
    "the last journal entry removed": (cut_end("journal"), Kind.AHEAD),
    "a doubled prediction": (double("predictions"), Kind.DOUBLED),
    "a doubled dead letter": (double("dead_letters"), Kind.DOUBLED),
    "a doubled tree change": (double("tree_changes"), Kind.DOUBLED),
    "a doubled journal entry": (double("journal"), Kind.DOUBLED),
    "predictions in another order": (swap("predictions"), Kind.REORDERED),
    "dead letters in another order": (swap("dead_letters"), Kind.REORDERED),
    "tree changes in another order": (swap("tree_changes"), Kind.REORDERED),
    "journal entries in another order": (swap("journal"), Kind.REORDERED),
    "an altered digest of a tree change": (
        alter("tree_changes", lambda told: told["tree"].update(digest="0" * 64)),
        Kind.CHAIN_BROKEN,
    ),
    "an altered digest of the last tree change": (
        alter("tree_changes", lambda told: told["tree"].update(digest="0" * 64), last),
        Kind.WRONG_DIGEST,
    ),
    "an altered previous digest": (
        alter("tree_changes", lambda told: told["tree"].update(previous_digest="0" * 64)),
        Kind.CHAIN_BROKEN,
    ),
    "an altered version": (
        alter("tree_changes", lambda told: told["tree"].update(version=999)),
        Kind.CHAIN_BROKEN,
    ),
    "an altered digest of a prediction": (
        alter("predictions", lambda told: told["tree"].update(digest="0" * 64)),
        Kind.WRONG_DIGEST,
    ),
    "an altered digest of a journal entry": (
        lambda world: alter_entry(world, digest="0" * 64),
        Kind.WRONG_DIGEST,
    ),
    "a journal entry without its instances": (lambda world: alter_entry(world, blocks=[]), Kind.UNLEARNED),
    "a prediction with or without a label": (alter("predictions", set_label), Kind.UNLEARNED),
    "a prediction of another time": (other_version, Kind.TORN),
    "a tree change of another cause": (
        alter("tree_changes", lambda told: told["cause"].update(offset=0)),
        Kind.TORN,
    ),
    "a fork of the tree changes": (fork("tree_changes"), Kind.CHAIN_FORK),
    "a fork of the journal": (fork_journal, Kind.JOURNAL_FORK),
    "a damaged journal entry": (damage_journal, Kind.UNREADABLE),
    "an altered dead letter": (alter_dead_letter, Kind.ALTERED),
    "a prediction of the future": (
        alter("predictions", lambda told: told["source"].update(offset=5_000), last),
        Kind.AHEAD,
    ),
}
