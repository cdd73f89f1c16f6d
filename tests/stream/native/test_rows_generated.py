"""Generated codes and records: the fast path reads what the general decoder reads."""

import json
import random

from hypothesis import example, given
from hypothesis import strategies as st

from learners.codes import Codes
from learners.schema import Attribute, AttributeType, Limits, Schema, Value, Values
from learners.vocabulary import Growth
from stream.native.rows import RowReader
from tests.stream.native.row_checks import MAX_BYTES, agree, taught, usual

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
