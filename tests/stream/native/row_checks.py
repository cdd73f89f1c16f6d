"""Read rows on the fast path and compare them with the general decoder."""

from collections.abc import Sequence

import msgspec

from learners.codes import Codes
from learners.schema import Attribute, AttributeType, InstanceError, Schema, Value, Values
from stream.native.rows import RowReader, Rows
from stream.records.json_decoder import Decoder
from stream.records.record import Partition, Record

MAX_BYTES = 2_000_000


def agree(
    reader: RowReader,
    codes: Codes,
    values: Sequence[bytes | None],
    label: str = "class",
    id_field: str = "id",
) -> Rows:
    """Read a batch; what was understood must be what the general way reads, and it must learn no name."""
    rows = reader.read(list(values))
    general = Decoder(label, id_field, MAX_BYTES, 32)
    assert rows.codes.shape == (len(values), len(codes.attributes))
    assert [str(a.dtype) for a in (rows.codes, rows.labels, rows.understood)] == ["uint32", "int32", "uint8"]
    assert len(rows) == len(rows.labels) == len(rows.understood) == len(rows.ids) == len(values)
    for value, row, told, name, understood in zip(
        values, rows.codes.tolist(), rows.labels.tolist(), rows.ids, rows.understood.tolist(), strict=True
    ):
        if not understood:
            assert (set(row) <= {0}, told, name) == (True, -1, None)
            continue
        before = (codes.mark(), codes.grown, codes.label_kind)
        decoded = general.decode(Record(Partition("in", 0), 0, value))
        if decoded.label is None:
            assert (tuple(row), told) == codes.look_up(decoded.values)[:2]
        else:
            assert (tuple(row), told) == codes.encode(decoded.values, decoded.label)[:2]
        assert (codes.mark(), codes.grown, codes.label_kind) == before
        assert name == (None if decoded.id is None else msgspec.json.encode(decoded.id))
    return rows


def taught(*instances: tuple[Values, Value], codes: Codes | None = None) -> Codes:
    """Return codes that have met some instances; those that do not fit are left out."""
    codes = codes or Codes()
    for values, label in instances:
        try:
            codes.encode(values, label)
        except InstanceError:
            continue
    return codes


def usual() -> Codes:
    """Return codes with one attribute of each kind."""
    schema = Schema(
        (
            Attribute("any", values=("red", "1", "true", "?")),
            Attribute("number", AttributeType.NUMERIC, values=("1", "-5", "0", "2.5", "true")),
        )
    )
    codes = Codes(schema)
    met: list[tuple[str, list[Value]]] = [
        ("string", ["red", "blue", "", "1", "true", "dark red", "a text of more than eight bytes", "grün"]),
        ("boolean", [True, False]),
        ("whole", [0, 1, -1, 17, 10**18 - 1, -(10**18 - 1), 2**53]),
        ("größe", ["x"]),
        ("null", [None]),
    ]
    for name, values in met:
        for value in values:
            codes.encode({name: value}, "yes")
    codes.encode({}, "no")
    codes.encode({}, "a class of more than eight bytes")
    return codes


def understood(value: bytes, codes: Codes | None = None, max_bytes: int = MAX_BYTES) -> bool:
    codes = codes or usual()
    return bool(agree(RowReader(codes, "class", "id", max_bytes), codes, [value]).understood[0])
