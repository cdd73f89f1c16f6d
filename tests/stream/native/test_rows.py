"""The fast way from bytes to codes: whatever it understands, the general way understands the same."""

import pytest

from learners.codes import Codes
from stream.errors import RejectedRecord
from stream.native.rows import RowReader
from stream.records.json_decoder import Decoder
from stream.records.record import Partition, Record
from tests.payloads import CATALOGUE
from tests.stream.native.row_checks import MAX_BYTES, agree, taught, understood, usual


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
