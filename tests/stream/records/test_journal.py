"""The bytes of the journal: what is packed is unpacked, and nothing else is."""

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.vocabulary import Growth
from stream.errors import NewerFormat, StateError
from stream.records.journal import (
    CHECKSUM_BYTES,
    FORMAT,
    WITH_RETIRED,
    Block,
    JournalEntry,
    pack,
    seal,
    unpack,
)

codes = st.integers(0, 300)
growths = st.builds(
    Growth,
    st.lists(st.tuples(st.text(), st.sampled_from(["string", "number", ""]))).map(tuple),
    st.lists(st.tuples(codes, st.text())).map(tuple),
    st.lists(st.tuples(codes, st.text())).map(tuple),
    st.lists(st.text()).map(tuple),
    st.sampled_from(["", "string", "any"]),
    st.lists(codes).map(tuple),
)
entries = st.builds(
    JournalEntry,
    format=st.sampled_from([FORMAT, WITH_RETIRED]),
    model=st.text(),
    sequence=st.integers(0, 2**40),
    learner=st.text(),
    settings=st.text(),
    next_offsets=st.dictionaries(st.integers(0, 1_000), st.integers(0, 2**62)),
    growth=growths,
    blocks=st.lists(st.builds(Block, codes, st.binary(), st.binary(), st.binary())),
    version=st.integers(0, 2**40),
    digest=st.text(),
)


@given(entries)
def test_what_is_packed_is_unpacked(entry: JournalEntry) -> None:
    assert unpack(pack(entry)) == entry


@given(st.binary(max_size=80))
def test_bytes_of_any_kind_are_refused_as_state_and_in_no_other_way(data: bytes) -> None:
    for message in (data, seal(data)):
        with pytest.raises(StateError):
            unpack(message)


@given(entries, st.data())
def test_a_truncated_or_lengthened_message_is_refused(entry: JournalEntry, data: st.DataObject) -> None:
    whole = pack(entry)
    for message in (whole[: data.draw(st.integers(0, len(whole) - 1))], whole + b"\0", b"\0" + whole):
        with pytest.raises(StateError, match="checksum"):
            unpack(message)


@given(entries, st.data())
def test_a_body_of_another_shape_is_refused_even_with_a_right_checksum(
    entry: JournalEntry, data: st.DataObject
) -> None:
    fields: list[object] = msgspec.msgpack.decode(pack(entry)[:-CHECKSUM_BYTES])
    at = data.draw(st.integers(0, len(fields) - 1))
    fields[at] = {"of": [b"another", None, 1.5]}
    with pytest.raises(StateError, match="not an entry"):
        unpack(seal(msgspec.msgpack.encode(fields)))


@pytest.mark.parametrize("body", [[], [None], ["1"], {}, 1, [1], [0]])
def test_what_has_no_format_is_no_entry(body: object) -> None:
    with pytest.raises(StateError, match="not an entry") as caught:
        unpack(seal(msgspec.msgpack.encode(body)))
    assert not isinstance(caught.value, NewerFormat)


@given(st.integers(WITH_RETIRED + 1, 2**32), st.lists(st.integers() | st.text(), max_size=3))
def test_a_newer_format_is_told_from_damage(number: int, rest: list[object]) -> None:
    plain = [value for value in rest if not isinstance(value, int) or abs(value) < 2**63]
    message = seal(msgspec.msgpack.encode([number, *plain]))
    with pytest.raises(NewerFormat, match=f"format {number}; this version reads up to {WITH_RETIRED}"):
        unpack(message)
    damaged = bytes([message[0] ^ 1]) + message[1:]
    with pytest.raises(StateError, match="checksum") as caught:
        unpack(damaged)
    assert not isinstance(caught.value, NewerFormat)


instances = st.integers(0, 5).flatmap(
    lambda width: st.lists(
        st.tuples(
            st.lists(st.integers(0, 2**32 - 1), min_size=width, max_size=width).map(tuple),
            st.integers(-1, 2**31 - 1),
            st.tuples(st.integers(0, 2**31), st.integers(0, 2**62)),
        ),
        min_size=1,
    )
)


@given(instances, st.booleans())
def test_a_block_holds_the_labelled_instances_and_no_other(
    told: list[tuple[tuple[int, ...], int, tuple[int, int]]], as_array: bool
) -> None:
    # Of a record without a label some codes may be of values that nothing is known about.
    rows = [row if as_array or label >= 0 else (-1,) * len(row) for row, label, _ in told]
    labels = np.array([label for _, label, _ in told], dtype=np.int32)
    coded = np.array(rows, dtype=np.uint32).reshape(len(rows), -1) if as_array else rows
    places = np.array([place for _, _, place in told], dtype=np.int64).reshape(-1, 2)
    block = Block.of(coded, labels, places)
    expected = [one for one in told if one[1] >= 0]
    if not expected:
        assert block is None
        return
    assert block is not None
    read, classes = block.unpack()
    assert [tuple(row) for row in read.tolist()] == [row for row, _, _ in expected]
    assert classes.tolist() == [label for _, label, _ in expected]
    kept = np.frombuffer(block.places, dtype="<i8").reshape(-1, 2).tolist()
    assert [tuple(place) for place in kept] == [place for _, _, place in expected]


@pytest.mark.parametrize(
    "block",
    [Block(2, b"\0" * 8, b"\0" * 8, b""), Block(1, b"\0" * 7, b"\0" * 4, b""), Block(1, b"", b"\0" * 3, b"")],
    ids=["too few rows", "part of a code", "part of a label"],
)
def test_a_block_whose_arrays_do_not_fit_is_refused(block: Block) -> None:
    with pytest.raises(StateError, match="sizes do not agree"):
        block.unpack()


def test_the_checksum_is_the_one_that_is_described() -> None:
    """CRC-32 as everybody computes it, little-endian, after the body: others can check a journal."""
    assert seal(b"123456789") == b"123456789" + bytes.fromhex("2639f4cb")
