"""Bad records among good ones, one to ten: each gets its reason, and nothing else is different.

The payloads are those of the catalogue that the codec's own tests have (P01 to P50), the catalogue of what a
record as a whole can have wrong with it (S), and mutations of good records.
"""

import json
import random
import time
from collections.abc import Iterator
from typing import NamedTuple

from stream.kafka.topic_reader import TopicReader
from stream.records.record import Headers
from tests.faults.ground import Plan, Result, Tally
from tests.faults.world import Failure, World, instance
from tests.payloads import CATALOGUE

IN_A_WORLD = 50_000
LONGEST = 900_000
"""What a topic takes that nobody has told to take more."""
ANY = "any"
"""The reason, or whether there is one, depends on what was learned before."""


class Payload(NamedTuple):
    """A record, and the reason for which it must be rejected; "accepted" where it must not."""

    name: str
    value: bytes | None
    expected: str
    key: bytes | None = None
    headers: Headers = ()


def _good(**fields: object) -> bytes:
    return json.dumps({"id": "s", "a": "x", "b": "y", "c": "z", "d": "x", "e": "y", **fields}).encode()


def _semantic() -> Iterator[Payload]:
    yield Payload("S01 no value", None, "null_value")
    yield Payload("S01 no value, but a key", None, "null_value", b"model")
    yield Payload("S02 no key", _good(), "accepted")
    yield Payload("S04 a key that is no text", _good(), "accepted", b"\xff\xfe\x00")
    yield Payload("S04 a key of 100 kB", _good(), "accepted", b"k" * 100_000)
    yield Payload("S05 longer than a record may be", _good(x="y" * 262_144), "too_large")
    yield Payload(
        "S06 a dead letter that its headers would make too large", b"{" + b" " * (LONGEST - 100), "too_large"
    )
    yield Payload("S07 no label", _good(), "accepted")
    yield Payload("S08 the label is null", _good(**{"class": None}), "accepted")
    yield Payload("S08 the label is empty", _good(**{"class": ""}), "bad_label")
    yield Payload("S08 the label is an array", _good(**{"class": []}), "bad_label")
    yield Payload("S08 the label is an object", _good(**{"class": {}}), "bad_label")
    yield Payload("S08 the label is 1", _good(**{"class": 1}), ANY)
    yield Payload("S08 the label is true", _good(**{"class": True}), ANY)
    yield Payload("S09 a new class", _good(**{"class": "maybe"}), "accepted")
    yield Payload("S10 a value nobody has seen", _good(a="never"), "accepted")
    yield Payload("S11 an attribute more", _good(f="x"), "accepted")
    yield Payload("S12 attributes missing", b'{"id":"s","a":"x"}', "accepted")
    yield Payload("S12 all attributes missing", b'{"id":"s"}', "accepted")
    yield Payload("S13 a number where text was", _good(a=7, **{"class": "yes"}), "accepted")
    yield Payload("S13 an object where text was", _good(a={"b": 1}), "accepted")
    yield Payload("S15 the same id again", _good(**{"class": "yes"}), ANY)
    yield Payload("S16 the same id, another label", _good(**{"class": "no"}), ANY)
    yield Payload(
        "S22 10,000 attributes",
        json.dumps({f"n{n}": 1 for n in range(10_000)}).encode(),
        "accepted",
    )
    yield Payload("S23 a long name", _good(**{"n" * 5_000: "x"}), "accepted")
    yield Payload("S23 a long value", _good(a="v" * 5_000, **{"class": "yes"}), "accepted")
    yield Payload("S25 the contrary of what is known", _good(**{"class": "no"}), "accepted")
    yield Payload("S26 no attributes at all", b'{"class":"yes"}', "accepted")
    yield Payload(
        "S27 a thousand headers", _good(), "accepted", None, tuple((f"h{n}", b"v") for n in range(1_000))
    )
    yield Payload(
        "S27 headers twice, empty, and no text",
        _good(),
        "accepted",
        None,
        (("h", None), ("h", b"\xff"), ("", b"")),
    )
    yield Payload(
        "S27 a header of 500 kB and nothing else right", b"{", "json_syntax", None, (("h", b"x" * 500_000),)
    )
    spoofed = (
        ("espalier.dlq.reason", b"none"),
        ("espalier.dlq.offset", b"0"),
        ("__streams.errors.offset", b"9"),
    )
    yield Payload("S28 our own headers in a record", b"[]", "not_object", None, spoofed)
    yield Payload("S29 a dead letter that came back", _good(), "accepted", None, spoofed)
    yield Payload(
        "S35 an operation nobody knows", _good(), "unknown_op", None, (("espalier.op", b"explode"),)
    )
    yield Payload(
        "S35 an operation that is no text", _good(), "unknown_op", None, (("espalier.op", b"\xff\xfe"),)
    )
    yield Payload(
        "S35 the usual operation, said aloud", _good(), "accepted", None, (("espalier.op", b"instance"),)
    )


def catalogue() -> list[Payload]:
    """Return all payloads that a topic takes."""
    told = [
        Payload(f"{p.number} {p.what}", p.value, "too_large" if len(p.value) > 262_144 else p.expected)
        for p in CATALOGUE
        if len(p.value) < LONGEST
    ]
    # What is right by itself may be wrong after what was learned before.
    told = [p._replace(expected=ANY) if p.expected == "accepted" else p for p in told]
    return [*told, *_semantic()]


def mutated(rng: random.Random, value: bytes) -> bytes:
    """Return a good record with something done to its bytes."""
    data = bytearray(value)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        place = rng.randrange(len(data) or 1)
        match rng.randrange(5):
            case 0 if data:
                data[place % len(data)] ^= 1 << rng.randrange(8)
            case 1:
                del data[place : place + rng.randint(1, 8)]
            case 2:
                data[place:place] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 4)))
            case 3:
                data[place:place] = data[rng.randrange(len(data) or 1) :][: rng.randint(1, 20)]
            case _:
                data[place:place] = rng.choice(
                    (b'"', b"{", b"}", b"\\", b",", b":", b"[", b"\x00", b"1e400", b"null")
                )
    return bytes(data)


def run(plan: Plan) -> Result:
    """Feed records of which one in eleven is bad, and compare every answer and every reason."""
    result = Result("poison", what="bad records among ten times as many good ones")
    tally = Tally(plan, result)
    started = time.monotonic()
    rng = random.Random(plan.seed)
    left = plan.repeat
    reasons: set[str] = set()
    try:
        while left > 0 and not plan.is_over and tally.is_clean:
            count = min(left, IN_A_WORLD)
            left -= count
            _one_world(plan, tally, rng, count, reasons)
    except (Failure, AssertionError) as error:
        tally.fail(str(error))
    result.seconds = time.monotonic() - started
    result.detail = f"{len(catalogue())} payloads of the catalogue and mutations; {len(reasons)} reasons"
    # One in eleven is bad, give or take; and all of the catalogue.
    return result.conclude(plan, max(len(catalogue()), plan.repeat // 13))


def _one_world(plan: Plan, tally: Tally, rng: random.Random, count: int, reasons: set[str]) -> None:
    world = World(
        plan.ground.servers,
        plan.ground.directory,
        plan.ground.workers,
        max_batch=500,
        seed=rng.randrange(10**6),
        bug=plan.bug,
    )
    world.watch_dead_letters()
    payloads = catalogue()
    rng.shuffle(payloads)
    expected: dict[int, Payload] = {}
    worker = world.start()
    bad = 0
    for number in range(count):
        value = instance(number, world.seed)
        if rng.random() >= 1 / 11 or number < 50:
            world.feed_one(value, 0)
            continue
        bad += 1
        if payloads and rng.random() < 0.5:
            # Every payload of the catalogue once; what follows is mutations.
            payload = payloads.pop()
            expected[number] = payload
            world.feed_one(payload.value, 0, payload.key, payload.headers)
        else:
            world.feed_one(mutated(rng, value), 0)
    for payload in payloads:
        expected[world.produced] = payload
        world.feed_one(payload.value, 0, payload.key, payload.headers)
    bad += len(payloads)
    world.flush()
    world.settle(worker, 300)
    world.check()
    told = _reasons(world)
    for offset, payload in expected.items():
        came = told.get(offset, "accepted")
        if payload.expected not in (ANY, came):
            raise Failure(f"{payload.name}: {came} instead of {payload.expected}")
    reasons.update(told.values())
    tally.count("bad", bad)
    tally.add_records(world.produced)
    world.delete()


def _reasons(world: World) -> dict[int, str]:
    """Return the reasons of the dead letters by the offset of their records."""
    reader = TopicReader(world.kafka)
    topic = world.agent.topics.dead_letters
    told: dict[int, str] = {}
    for record in reader.read(topic, reader.extents(topic)):
        # The last of a name is ours: what a record said under it was left out.
        headers = {name: (value or b"").decode(errors="replace") for name, value in record.headers}
        told[int(headers["espalier.dlq.offset"])] = headers["espalier.dlq.reason"]
    return told
