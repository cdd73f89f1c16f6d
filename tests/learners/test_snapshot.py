"""Snapshots: what is refused, and that they are the same bytes everywhere."""

import hashlib
import os
import struct
import subprocess
import sys

import msgspec
import pytest

from learners.outline import to_json
from learners.registry import LEARNERS, restore_learner
from learners.schema import Instance
from learners.snapshot import FORMAT, MAGIC, NewerFormatError, SnapshotError, learner_of, pack, unpack
from tests.paths import REPOSITORY
from tests.strategies import make_bare

STREAM = [
    Instance({"a": str(n % 3), "b": n % 2 == 0, "c": f"v{n % 5}"}, "yes" if n % 3 == 0 else f"no{n % 2}")
    for n in range(40)
]


class Body(msgspec.Struct):
    number: int
    text: str = ""


def test_a_snapshot_gives_back_its_body_and_its_learner() -> None:
    data = pack("some", Body(7, "é"))
    assert unpack(data, "some", Body) == Body(7, "é")
    assert learner_of(data) == "some"


def test_the_layout_is_the_documented_one() -> None:
    data = pack("some", Body(7))
    body = msgspec.msgpack.encode(Body(7))
    head = MAGIC + struct.pack("<HB", FORMAT, 4) + b"some" + struct.pack("<Q", len(body))
    assert data == head + hashlib.sha256(body).digest() + body


def test_a_snapshot_of_another_learner_is_refused_by_name() -> None:
    with pytest.raises(SnapshotError, match='of learner "some", not "other"'):
        unpack(pack("some", Body(7)), "other", Body)


def test_a_newer_format_is_refused_as_such_and_no_format_at_all_too() -> None:
    data = pack("some", Body(7))
    with pytest.raises(NewerFormatError, match=f"format {FORMAT + 1}"):
        unpack(data[:4] + struct.pack("<H", FORMAT + 1) + data[6:], "some", Body)
    with pytest.raises(SnapshotError, match="not a snapshot"):
        unpack(data[:4] + b"\0\0" + data[6:], "some", Body)


@pytest.mark.parametrize(
    "data", [b"", b"ESPL", b"\x80\x04K\x01.", b"x" * 200, MAGIC + b"\x01\x00\xff" + b"x" * 300]
)
def test_what_is_no_snapshot_is_refused(data: bytes) -> None:
    with pytest.raises(SnapshotError):
        learner_of(data)
    with pytest.raises(SnapshotError):
        restore_learner(data)


def test_a_claim_of_more_bytes_than_there_can_be_is_refused() -> None:
    data = pack("some", Body(7))
    with pytest.raises(SnapshotError, match="claims"):
        unpack(data[:11] + struct.pack("<Q", 1 << 40) + data[19:], "some", Body)


def test_a_whole_body_of_another_form_is_refused() -> None:
    class Other(msgspec.Struct):
        word: str

    with pytest.raises(SnapshotError, match="cannot be read"):
        unpack(pack("some", Other("x")), "some", Body)


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_a_learner_refuses_a_whole_snapshot_whose_body_makes_no_learner(name: str) -> None:
    with pytest.raises(SnapshotError):
        LEARNERS[name].restore(pack(name, Body(7)))


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_every_learner_is_restored_by_what_its_snapshot_says(name: str) -> None:
    learner = make_bare(name)
    for instance in STREAM:
        learner.learn_one(instance)
    restored = restore_learner(learner.snapshot())
    assert type(restored) is LEARNERS[name]
    assert to_json(restored.outline()) == to_json(learner.outline())


@pytest.mark.parametrize("name", sorted(LEARNERS))
def test_another_process_with_other_hashes_makes_the_same_bytes(name: str) -> None:
    program = (
        "import hashlib, sys\n"
        "from learners.schema import Instance\n"
        "from tests.strategies import make_bare\n"
        f"learner = make_bare({name!r})\n"
        f"for values, label in {[(one.values, one.label) for one in STREAM]!r}:\n"
        "    learner.learn_one(Instance(values, label))\n"
        "print(hashlib.sha256(learner.snapshot()).hexdigest())\n"
    )
    found = set()
    for hashes in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": hashes, "PYTHONPATH": str(REPOSITORY)}
        command = [sys.executable, "-c", program]
        ran = subprocess.run(
            command, env=environment, capture_output=True, check=True, timeout=120, text=True
        )
        found.add(ran.stdout)
    assert len(found) == 1
