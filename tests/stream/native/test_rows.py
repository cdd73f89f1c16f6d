"""The fast way from bytes to codes: whatever it understands, the general way understands the same."""

import json
import random
import threading
from collections.abc import Sequence
from itertools import product

import msgspec
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from learners.codes import Codes
from learners.schema import Attribute, AttributeType, InstanceError, Limits, Schema, Value, Values
from learners.vocabulary import Growth
from stream.errors import RejectedRecord
from stream.native.rows import RowReader, Rows
from stream.records.json_decoder import Decoder
from stream.records.record import Partition, Record
from tests.payloads import CATALOGUE

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


# ---- what is understood


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"string":"red"}',
        '{"string":"a text of more than eight bytes","boolean":true,"whole":-1,"any":1,"number":0}',
        '{"number":-5,"whole":17,"boolean":false,"string":"","class":"no","id":"r1"}',
        '{"class":"a class of more than eight bytes","id":17,"größe":"x","string":"grün"}',
        '{"class":null,"id":null,"string":null,"boolean":null,"null":null,"any":null}',
        '{"any":"1","string":"1"}',
        '{"any":true,"string":"true"}',
        '{"string":"?","whole":"?","boolean":"?","null":"?"}',
        '{"whole":999999999999999999,"id":-999999999999999999}',
        ' \t\r\n{ \t\r\n"string" \t\r\n: \t\r\n"red" \t\r\n, \t\r\n"whole" :\n1 \t\r\n} \t\r\n',
        '{ \n }',
        '{"id":"","string":"red"}',
        '{"id":"!#[]~\x7f and so on: a long id {with} all sorts, of \'signs\'"}',
    ],
)  # fmt: skip
def test_a_plain_record_of_names_that_are_known_is_understood(text: str) -> None:
    assert understood(text.encode())


@pytest.mark.parametrize(
    "text",
    [
        *('{"new":"red"}', '{"string":"new"}', '{"string":"rex"}', '{"class":"new"}', '{"stringx":"red"}'),
        *('{"string":"re\\u0064"}', '{"strin\\u0067":"red"}', '{"id":"\\n"}', '{"class":"n\\u006f"}'),
        *('{"string":"red","string":"red"}', '{"id":1,"id":1}', '{"class":"no","class":null}'),
        *('{"string":1}', '{"string":true}', '{"whole":"1"}', '{"boolean":"true"}', '{"boolean":1}'),
        *('{"whole":1.0}', '{"whole":1e0}', '{"whole":-0}', '{"whole":01}', '{"whole":+1}', '{"whole":-}'),
        *('{"whole":00}', '{"whole":-01}', '{"whole":1x}', '{"whole":9007199254740992.0}', '{"whole":.1}'),
        *('{"id":1234567890123456789}', '{"id":1.5}', '{"id":true}', '{"id":[1]}', '{"id":"ü"}', '{"id":}'),
        *('{"string":["red"]}', '{"string":{}}', '{"boolean":tru}', '{"boolean":True}', '{"string":nul}'),
        *('{"class":""}', '{"class":1}', '{"class":true}', '{"class":"?"}', '{"null":"red"}', '{"null":1}'),
        *('{"string":"red"', '{"string":"red', '{"string":', '{"string"', '{"string', '{"', "{", "", " "),
        *('{"string":"red"}x', '{"string":"red"}{}', '{"string":"red",}', '{,}', '{"string" "red"}', "[]"),
        *('{"string":"red" "whole":1}', '{"string"::"red"}', '"red"', "null", "1", "{]", '{string:"red"}'),
        *('\ufeff{"string":"red"}', '{"string":\xa0"red"}', '{"string":\x0b"red"}', '{"string":"red"}\x00'),
        *('{"string":"re\x00"}', '{"string":"\x1f"}', "{'string':'red'}", '{"string":red}', '{"id":"\x1f"}'),
    ],
)  # fmt: skip
def test_whatever_is_new_odd_or_wrong_is_left_to_the_general_way(text: str) -> None:
    assert not understood(text.encode())


def test_a_record_without_a_value_is_not_understood() -> None:
    codes = usual()
    rows = agree(RowReader(codes, "class", "id", MAX_BYTES), codes, [None, b'{"id":1}', None])
    assert rows.understood.tolist() == [0, 1, 0]
    assert rows.ids == [None, b"1", None]


def test_a_batch_of_nothing_has_the_width_of_the_codes() -> None:
    assert RowReader(usual(), "class", "id", MAX_BYTES).read([]).codes.shape == (0, 7)
    assert RowReader(Codes(), "class", "id", MAX_BYTES).read([b"{}"]).codes.shape == (1, 0)


def test_a_value_that_is_too_long_is_not_understood() -> None:
    value = b'{"string":"red"}'
    assert understood(value, max_bytes=len(value))
    assert not understood(value, max_bytes=len(value) - 1)


@pytest.mark.parametrize("payload", CATALOGUE, ids=lambda p: f"{p.number}-{p.what.replace(' ', '-')}")
@pytest.mark.parametrize("known", [False, True], ids=["fresh", "met"])
def test_a_payload_of_the_catalogue_is_read_as_the_general_way_reads_it(
    payload: tuple[str, str, bytes, str], known: bool
) -> None:
    value = payload[2]
    codes = usual()
    if known:  # all its names, if it can have any
        try:
            told = Decoder("class", "id", MAX_BYTES, 32).decode(Record(Partition("in", 0), 0, value))
        except RejectedRecord:
            pass
        else:
            taught((told.values, told.label or "yes"), codes=codes)
    rows = agree(RowReader(codes, "class", "id", MAX_BYTES), codes, [b"{}", value, b'{"id":1}'])
    assert rows.understood[0] == rows.understood[2] == 1
    if payload[3] != "accepted":
        assert not rows.understood[1]


# ---- what the codes say


def test_the_reader_keeps_up_with_the_codes() -> None:
    codes = Codes()
    reader = RowReader(codes, "class", "id", MAX_BYTES)
    for count in range(250):
        fields = {f"field {n % 40}": f"value {n}" for n in range(count, count + 3)}
        value = json.dumps({**fields, "class": f"class {count}"}).encode()
        assert not agree(reader, codes, [value]).understood[0]
        codes.encode(fields, f"class {count}")
        assert agree(reader, codes, [value]).understood[0]


def test_a_type_that_is_decided_later_is_minded() -> None:
    codes = taught(({"a": None, "b": 1}, "yes"))
    reader = RowReader(codes, "class", "id", MAX_BYTES)
    batch = [b'{"a":null}', b'{"a":1}', b'{"a":"1"}']
    assert agree(reader, codes, batch).understood.tolist() == [1, 0, 0]
    codes.encode({"a": "1"}, "yes")
    assert agree(reader, codes, batch).understood.tolist() == [1, 0, 1]


def growth(
    attributes: tuple[tuple[str, str], ...] = (),
    kinds: tuple[tuple[int, str], ...] = (),
    values: tuple[tuple[int, str], ...] = (),
    classes: tuple[str, ...] = (),
    label_kind: str = "",
) -> Growth:
    return Growth(attributes, kinds, values, classes, label_kind)


def test_a_type_is_minded_where_nothing_else_has_changed() -> None:
    codes = Codes(Schema((Attribute("a", values=("1",)),), classes=("1",)))
    reader = RowReader(codes, "class", "id", MAX_BYTES)
    batch = [b'{"a":1}', b'{"a":"1"}', b'{"class":1}', b'{"class":"1"}']
    assert agree(reader, codes, batch).understood.tolist() == [1, 1, 1, 1]
    codes.grow(growth(kinds=((0, "number"),)))
    assert agree(reader, codes, batch).understood.tolist() == [1, 0, 1, 1]
    codes.grow(growth(label_kind="string"))
    assert agree(reader, codes, batch).understood.tolist() == [1, 0, 0, 1]


def test_a_label_that_would_decide_the_type_of_all_labels_is_left_to_the_codes() -> None:
    codes = Codes()
    codes.grow(growth(classes=("yes",)))
    assert not understood(b'{"class":"yes"}', codes)


def test_of_two_attributes_of_one_name_the_later_is_meant() -> None:
    codes = taught(({"a": "x"}, "yes"))
    reader = RowReader(codes, "class", "id", MAX_BYTES)
    batch = [b'{"a":"x"}', b'{"a":"x","class":"yes"}'] * 2
    assert agree(reader, codes, batch).codes.tolist() == [[1]] * 4
    codes.grow(growth((("a", "string"),), (), ((1, "y"), (1, "x"))))
    assert agree(reader, codes, batch).codes.tolist() == [[0, 2]] * 4


def test_texts_that_begin_alike_are_told_apart() -> None:
    codes = taught(*(({"a": "eight888" + "b" * n}, "yes") for n in range(1, 300, 2)))
    batch = [f'{{"a":"eight888{"b" * n}"}}'.encode() for n in range(301)]
    rows = agree(RowReader(codes, "class", "id", MAX_BYTES), codes, batch)
    assert rows.understood.tolist() == [n % 2 for n in range(300)] + [0]


@pytest.mark.parametrize("label", ['q"', "b\\", "\n", "\x00", "\ud800"])
def test_a_label_field_that_cannot_be_written_without_an_escape_is_never_met(label: str) -> None:
    codes = taught(({}, "x"))
    raw = label.encode("utf-8", "surrogatepass")
    batch = [b'{"' + raw + b'":"x"}', b"{}", b'{"' + raw + b'"":"x"}']
    rows = agree(RowReader(codes, label, "id", MAX_BYTES), codes, batch, label)
    assert rows.understood.tolist() == [0, 1, 0]


def test_texts_that_mean_no_value_are_missing() -> None:
    schema = Schema((Attribute("a", values=("NA", "-1", "x")),), missing_values=("NA", "-1", "a longer text"))
    codes = Codes(schema)
    taught(({"b": "x"}, "yes"), codes=codes)
    batch = [b'{"a":"NA"}', b'{"a":"-1"}', b'{"a":-1}', b'{"b":"NA"}', b'{"b":"a longer text"}', b'{"b":"?"}']
    rows = agree(RowReader(codes, "class", "id", MAX_BYTES), codes, batch)
    assert rows.understood.all()
    assert rows.codes.tolist() == [[0, 0], [0, 0], [2, 0], [0, 0], [0, 0], [0, 0]]


def test_a_text_that_is_known_but_too_long_is_not_understood() -> None:
    schema = Schema((Attribute("a", values=("longer", "1000", "text")),), classes=("longer", "1000", "text"))
    codes = Codes(schema, Limits(max_text=4))
    batch = [b'{"a":"longer"}', b'{"a":"1000"}', b'{"class":"longer"}', b'{"class":1000}']
    rows = agree(RowReader(codes, "class", "id", MAX_BYTES), codes, batch)
    assert rows.understood.tolist() == [0, 1, 0, 1]


def test_where_missing_values_are_refused_a_record_to_be_learned_must_be_whole() -> None:
    codes = Codes(reject_missing=True)
    taught(({"a": "x", "b": "y"}, "yes"), codes=codes)
    batch = [b'{"a":"x","class":"yes"}', b'{"a":"x"}', b'{"a":"x","b":"y","class":"yes"}']
    batch += [b'{"a":"x","b":null,"class":"yes"}', b'{"a":"x","b":"?","class":"yes"}']
    rows = agree(RowReader(codes, "class", "id", MAX_BYTES), codes, batch)
    assert rows.understood.tolist() == [0, 1, 1, 0, 0]


@pytest.mark.parametrize(("label", "id_field"), [("a", "b"), ("b", "a"), ("a", "a"), ("c", 'd"'), ("\n", "")])
def test_the_fields_of_label_and_id_are_no_attributes(label: str, id_field: str) -> None:
    codes = taught(({"a": "x", "b": "x", "": "x"}, "x"))
    reader = RowReader(codes, label, id_field, MAX_BYTES)
    for names in product(["a", "b", "", "c", 'd"'], repeat=2):
        fields = ",".join(
            f"{json.dumps(name)}:{value}" for name, value in zip(names, ('"x"', '"x"'), strict=True)
        )
        agree(reader, codes, [f"{{{fields}}}".encode()], label, id_field)


def test_a_reader_is_never_used_by_two_threads_at_once() -> None:
    codes = usual()
    reader = RowReader(codes, "class", "id", MAX_BYTES)
    batch: list[bytes | None] = [b'{"string":"red","whole":17,"class":"no","id":4}'] * 500
    expected = reader.read(batch)
    wrong: list[str] = []

    def read() -> None:
        for _ in range(200):
            try:
                rows = reader.read(batch)
            except RuntimeError as error:
                assert "two threads" in str(error)
                continue
            if rows.ids != expected.ids or not np.array_equal(rows.codes, expected.codes):
                wrong.append("the rows differ")

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


# ---- made-up codes, made-up records

NAMES = ("x", "on", "colour", "eight888", "anameofmanyletters", "é", "größe", "class", "id", "", 'q"', "b\\")
TEXTS = (
    *("", "?", "NA", "red", "1", "-1", "0", "-0", "007", "1.0", "true", "false", "null", "é", "日本"),
    *("seven77", "eight888", "nine99999", "sixteen616161616", "seventeen71717171"),
    *("\t", "\x7f", "\ud800", 'q"', "b\\"),
)
NUMBERS = (0, 1, -1, 7, 17, 2**53, 10**18 - 1, 10**18, 2**63 - 1, 2**64, 1.0, -0.0, 2.5, 1e300)
RAW = (
    *("1.0", "-0", "-0.0", "01", "+1", "1e0", "1E2", "0x1", "NaN", "1" * 18, "1" * 19, "-" + "1" * 18),
    *('"\\u0072ed"', '"r\x01d"', '"\\ud800"', '"', "'x'", "tru", "True", "nul", "[1]", "{}", ""),
    "9" * 1_030,
)
SPACE: tuple[str, ...] = ("", "", "", " ", "\n", "\t\r ", "\x0b", "\xa0", "\ufeff", "//")

PALETTES: tuple[tuple[Value, ...], ...] = (TEXTS[:20], (True, False), NUMBERS[:8], TEXTS[:20])

# A record of a seed is made much faster than one that is drawn piece by piece, and volume counts here.
seeds = st.integers(0, 2**32)
attributes = st.builds(
    Attribute,
    st.sampled_from(NAMES),
    st.sampled_from(AttributeType),
    st.lists(st.sampled_from(TEXTS), max_size=5).map(tuple),
    st.booleans(),
)
some_texts = st.lists(st.sampled_from(TEXTS), max_size=3).map(tuple)
schemas = st.builds(
    Schema, st.lists(attributes, max_size=4).map(tuple), some_texts, st.booleans(), st.booleans(), some_texts
)
limits = st.builds(Limits, max_text=st.sampled_from((1_024, 1_024, 1_024, 1_024, 8, 3, 0)))
kinds = st.sampled_from(("", "any", "string", "number", "boolean", "other"))


def instance(dice: random.Random) -> tuple[Values, Value]:
    """Return an instance whose fields mostly keep to one type, as nothing would ever be learned otherwise."""
    values: dict[str, Value] = {}
    for name in dice.sample(NAMES, dice.randrange(7)):
        own = PALETTES[NAMES.index(name) % len(PALETTES)]
        values[name] = dice.choice(own if dice.random() < 0.95 else (None, True, *TEXTS, *NUMBERS))
    return values, dice.choice(("yes", "no", "1") if dice.random() < 0.9 else (None, True, *TEXTS, *NUMBERS))


@st.composite
def grown_codes(draw: st.DrawFn) -> Codes:
    """Return codes as they come to be, or as a journal that was made up by somebody leaves them."""
    codes = Codes(draw(schemas), draw(limits), reject_missing=draw(st.integers(0, 3)) == 3)
    dice = random.Random(draw(seeds))
    taught(*(instance(dice) for _ in range(dice.randrange(40))), codes=codes)
    if draw(st.integers(0, 3)) == 3:
        new = draw(st.lists(st.tuples(st.sampled_from(NAMES), kinds), max_size=3).map(tuple))
        codes.grow(Growth(new, (), (), draw(some_texts), draw(kinds)))
        if codes.attributes:
            known = st.integers(0, len(codes.attributes) - 1)
            changed = draw(st.lists(st.tuples(known, kinds), max_size=2).map(tuple))
            added = draw(st.lists(st.tuples(known, st.sampled_from(TEXTS)), max_size=5).map(tuple))
            codes.grow(Growth((), changed, added, (), ""))
    return codes


def value_text(dice: random.Random, codes: Codes, name: str, label: str, odd: bool) -> str:
    """Return a value as somebody may write it: mostly one that is known, mostly in the type it had before."""
    texts, kind = codes.classes, codes.label_kind
    if name in codes.attributes and name != label:
        texts, kind = codes.values[codes.attribute_code(name)], codes.kinds[codes.attribute_code(name)]
    chance = dice.random()
    if texts and chance < (0.7 if odd else 0.98):
        text = dice.choice(texts)
        quoted = kind == "string" or text == "?" or (kind in ("", "any", "other") and dice.random() < 0.7)
        return json.dumps(text, ensure_ascii=odd and dice.random() < 0.2) if quoted or not text else text
    if not odd or chance < 0.95:
        return json.dumps(dice.choice((None, True, False, *TEXTS, *NUMBERS)), ensure_ascii=False)
    return dice.choice(RAW)


def written(dice: random.Random, codes: Codes, label: str, id_field: str) -> bytes:
    """Return a record as somebody may write it; an odd one with escapes, fields twice, strange numbers."""
    odd = dice.random() < 0.3
    spaces = SPACE if odd else SPACE[: dice.choice((1, 6))]
    share = dice.choice((0.1, 0.5, 1.0))
    names = [name for name in dict.fromkeys([*codes.attributes, label, id_field]) if dice.random() < share]
    if odd:
        names += dice.sample([*names, *NAMES], dice.randrange(2))
    else:
        names = [name for name in names if name.isalnum()]
    pieces = []
    for name in dice.sample(names, len(names)):
        field = json.dumps(name, ensure_ascii=odd and dice.random() < 0.3)
        value = value_text(dice, codes, name, label, odd)
        if name == id_field and dice.random() < 0.7:
            value = dice.choice(('"r17"', "17"))
        space = [dice.choice(spaces) for _ in range(4)]
        pieces.append(f"{space[0]}{field}{space[1]}:{space[2]}{value}{space[3]}")
    text = f"{dice.choice(spaces)}{{{','.join(pieces) or dice.choice(spaces)}}}{dice.choice(spaces)}"
    data = text.encode("utf-8", "surrogatepass")
    for _ in range(dice.choice((0, 0, 0, 1, 2))):
        data = damage(data, dice.randrange(6), dice.randrange(2**16), dice.randrange(2**16))
    return data


def damage(data: bytes, how: int, where: int, what: int) -> bytes:
    """Return a record of which some bytes were changed, left out, doubled or put in, or that was cut."""
    at = where % (len(data) + 1)
    match how % 6:
        case 0:
            return data[:at] + bytes([what % 256]) + data[at + 1 :]
        case 1:
            return data[:at] + bytes([b % 256 ^ 1 << what % 8 for b in data[at : at + 1]]) + data[at + 1 :]
        case 2:
            return data[:at] + data[at + 1 + what % 4 :]
        case 3:
            return data[: at + 1 + what % 40] + data[at:]
        case 4:
            return data[:at] + _TOKENS[what % len(_TOKENS)] + data[at:]
        case _:
            return data[:at]


_TOKENS = (
    *(b"{", b"}", b"[", b":", b",", b'"', b"\\", b"\\u0041", b"null", b'"class":', b',"id":1', b"//"),
    *(b"1", b"0", b"-", b".", b"e1", b" ", b"\n", b"\xff", b"\x00", b"\xc2\xa0", b"\xed\xa0\x80"),
)

fields = st.sampled_from([("class", "id"), ("class", "class"), ("x", "on"), ("é", 'q"'), ("", "colour")])


@given(grown_codes(), fields, seeds)
@example(Codes(Schema((Attribute("x"), Attribute("x", values=("red",))))), ("class", "id"), 0)
def test_what_is_understood_is_read_as_the_general_way_reads_it(
    codes: Codes, names: tuple[str, str], seed: int
) -> None:
    dice = random.Random(seed)
    batch = [written(dice, codes, *names) for _ in range(50)]
    agree(RowReader(codes, *names, MAX_BYTES), codes, batch, *names)


@given(grown_codes(), seeds)
def test_a_reader_that_kept_up_reads_as_one_that_begins_now(codes: Codes, seed: int) -> None:
    reader = RowReader(codes, "class", "id", MAX_BYTES)
    dice = random.Random(seed)
    for _ in range(8):
        taught(instance(dice), codes=codes)
        batch: list[bytes | None] = [written(dice, codes, "class", "id") for _ in range(5)]
        kept_up = agree(reader, codes, batch)
        fresh = RowReader(codes, "class", "id", MAX_BYTES).read(batch)
        assert kept_up.understood.tolist() == fresh.understood.tolist()
        assert kept_up.codes.tolist() == fresh.codes.tolist()


plain_text = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cc"], exclude_characters='"\\'), max_size=30
)
plain_values = plain_text | st.booleans() | st.integers(-(10**18) + 1, 10**18 - 1) | st.none()


@given(
    st.dictionaries(plain_text.filter(lambda name: name not in ("class", "id")), plain_values, max_size=12),
    plain_text.filter(bool) | st.booleans() | st.integers(0, 99),
    st.none() | st.integers(-(10**18) + 1, 10**18 - 1) | st.text("abc-:/ 019", max_size=30),
    st.sampled_from([(",", ":"), (", ", ": "), (" ,\n", "\t: ")]),
    st.randoms(use_true_random=False),
)
def test_a_plain_record_is_understood_once_its_names_are_known(
    known: dict[str, Value], label: Value, name: Value, separators: tuple[str, str], order: random.Random
) -> None:
    codes = taught((known, label))
    whole = {**known, "class": label, "id": name}
    batch: list[bytes | None] = []
    for _ in range(4):
        pairs = order.sample([*whole.items()], len(whole))
        batch.append(json.dumps(dict(pairs), ensure_ascii=False, separators=separators).encode())
        del pairs[len(pairs) // 2 :]
        batch.append(json.dumps(dict(pairs), ensure_ascii=False, separators=separators).encode())
    assert agree(RowReader(codes, "class", "id", MAX_BYTES), codes, batch).understood.all()


def test_thousands_of_damaged_records_are_read_as_the_general_way_reads_them() -> None:
    codes = usual()
    reader = RowReader(codes, "class", "id", MAX_BYTES)
    dice = random.Random(17)
    valid = [
        b'{"string":"red","boolean":true,"whole":17,"class":"no","id":"r1"}',
        b'{"id": 17, "any": 1, "number": -5, "string": "a text of more than eight bytes", "class": "yes"}',
        '{"größe":"x","string":"grün","null":null,"any":"?","whole":-1,"class":null}'.encode(),
        b'{"class":"a class of more than eight bytes","boolean":false,"whole":0,"string":""}',
    ]
    counts = [0, 0]
    for _ in range(100):
        batch = []
        for _ in range(300):
            value = dice.choice(valid)
            for _ in range(dice.choice((1, 1, 2, 3))):
                value = damage(value, dice.randrange(6), dice.randrange(2**16), dice.randrange(2**16))
            batch.append(value)
        rows = agree(reader, codes, batch)
        counts[1] += int(rows.understood.sum())
        counts[0] += len(batch)
    # Some damage does no harm: a digit becomes another one that is known, a cut goes through nothing.
    assert 100 < counts[1] < counts[0] // 4
