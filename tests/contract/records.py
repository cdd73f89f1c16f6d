"""The records that contract tests send and read."""

import random
from typing import Any

import msgspec

from tests.contract.rigs import Rig


def instance(number: int, seed: int = 1) -> bytes:
    """Return one of a stream of instances whose class depends on two attributes, now and then wrongly."""
    rng = random.Random(f"{seed}-{number}")
    a, b, c = (rng.choice("xyz") for _ in range(3))
    label = ("same" if a == b else "other") if rng.random() > 0.05 else "odd"
    return msgspec.json.encode({"id": f"r{number}", "a": a, "b": b, "c": c, "class": label})


def decoded(rig: Rig, topic: str) -> list[dict[str, Any]]:
    return [msgspec.json.decode(record.value or b"") for record in rig.read(topic)]
