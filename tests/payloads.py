"""The catalogue of bad payloads: what a producer may send, and what becomes of it."""

import gzip
import json
from typing import NamedTuple


class Payload(NamedTuple):
    """What a producer may send by mistake or on purpose, and what becomes of it."""

    number: str
    what: str
    value: bytes
    expected: str


def sample(number: str, what: str, value: bytes | str, expected: str) -> Payload:
    return Payload(number, what, value.encode() if isinstance(value, str) else value, expected)


CATALOGUE = [
    sample("P01", "nothing", b"", "empty"),
    sample("P02", "whitespace", " \n\t ", "empty"),
    sample("P03", "truncated", '{"id": "1", "x": "ab', "json_syntax"),
    sample("P04", "trailing garbage", '{"id": "1"} garbage', "json_syntax"),
    sample("P05", "two documents", '{"id":"1"}\n{"id":"2"}', "json_syntax"),
    sample("P06", "byte-order mark", b'\xef\xbb\xbf{"id":"1"}', "encoding"),
    sample("P07", "UTF-16", '{"id":"1"}'.encode("utf-16-le"), "encoding"),
    sample("P07b", "UTF-16, big end first", '{"id":"1"}'.encode("utf-16-be"), "encoding"),
    sample("P08", "UTF-16 with a mark", '{"id":"1"}'.encode("utf-16"), "encoding"),
    sample("P09", "not UTF-8", b'{"id":"\xff\xfe"}', "encoding"),
    sample("P09b", "a name that is not UTF-8", b'{"\xff":1}', "encoding"),
    sample("P09c", "Latin-1", '{"town":"Zürich"}'.encode("latin-1"), "encoding"),
    sample("P10", "overlong UTF-8", b'{"id":"\xc0\xaf"}', "encoding"),
    sample("P11", "half a surrogate pair", r'{"id":"\ud800"}', "encoding"),
    sample("P11b", "a pair the wrong way round", r'{"id":"\udc00\ud800"}', "encoding"),
    sample("P11c", "half a pair and more text", r'{"id":"\ud800 and so on, for a while"}', "encoding"),
    sample("P12", "a surrogate in UTF-8", b'{"id":"\xed\xa0\x80"}', "encoding"),
    sample("P13", "NUL, escaped", r'{"x":"a\u0000b"}', "accepted"),
    sample("P14", "a raw control character", '{"x":"a\x01b"}', "json_syntax"),
    sample("P15", "NaN", '{"x":NaN}', "non_finite"),
    sample("P16", "Infinity", '{"x":Infinity}', "non_finite"),
    sample("P17", "-Infinity", '{"x":-Infinity}', "non_finite"),
    sample("P18", "a number that overflows", '{"x":1e999}', "accepted"),
    sample("P19", "the smallest number", '{"x":5e-324}', "accepted"),
    sample("P20", "minus zero", '{"x":-0.0}', "accepted"),
    sample("P21", "2^63", f'{{"x":{2**63}}}', "accepted"),
    sample("P21b", "2^63 - 1", f'{{"x":{2**63 - 1}}}', "accepted"),
    sample("P21c", "-2^63 - 1", f'{{"x":{-(2**63) - 1}}}', "accepted"),
    sample("P21d", "2^63 as the id", f'{{"id":{2**63}}}', "number_range"),
    sample("P21e", "2^63 as the class", f'{{"class":{2**63}}}', "number_range"),
    sample("P22", "2^64", f'{{"x":{2**64}}}', "accepted"),
    sample("P23", "5,000 digits", b'{"x":' + b"9" * 5_000 + b"}", "number_range"),
    sample("P24", "4,000 digits", b'{"x":' + b"9" * 4_000 + b"}", "number_range"),
    sample("P24b", "4,000 digits as the id", b'{"id":' + b"9" * 4_000 + b"}", "number_range"),
    sample("P25", "a million digits", b'{"x":1.' + b"0" * 1_000_000 + b"}", "number_range"),
    sample("P25b", "a million digits, no point", b'{"x":1' + b"0" * 1_000_000 + b"}", "number_range"),
    sample("P26", "a key twice", '{"x":1,"x":2}', "duplicate_key"),
    sample("P26b", "a key twice, once escaped", r'{"x":1,"\u0078":1}', "duplicate_key"),
    sample("P27", "two labels", '{"class":"yes","class":"no"}', "duplicate_key"),
    sample("P28", "900 arrays", b"[" * 900 + b"]" * 900, "too_deep"),
    sample("P29", "2,000 arrays", b"[" * 2_000 + b"]" * 2_000, "too_deep"),
    sample("P30", "100,000 arrays", b"[" * 100_000 + b"]" * 100_000, "too_deep"),
    sample("P31", "1,000,000 open arrays", b"[" * 1_000_000, "too_deep"),
    sample("P32", "100,000 objects", b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "too_deep"),
    sample("P33", "an array", "[1,2,3]", "not_object"),
    sample("P34", "a string", '"hello"', "not_object"),
    sample("P35", "null", "null", "not_object"),
    sample("P36", "a number", "42", "not_object"),
    sample("P37", "single quotes", "{'id':'1'}", "json_syntax"),
    sample("P38", "a trailing comma", '{"id":"1",}', "json_syntax"),
    sample("P38b", "a comment", '{"id":"1"} // one', "json_syntax"),
    sample("P39", "10 MB of text", b'{"x":"' + b"A" * 10_000_000 + b'"}', "too_large"),
    sample("P40", "200,000 keys", json.dumps({f"k{n}": 1 for n in range(200_000)}), "accepted"),
    sample("P41", "Avro with a schema id", b"\x00\x00\x00\x00\x01\x02\x06abc", "json_syntax"),
    sample("P42", "Protocol Buffers", b"\x08\x96\x01\x12\x03abc", "json_syntax"),
    sample("P43", "gzip", gzip.compress(b'{"id":"1"}', mtime=0), "json_syntax"),
    sample("P44", "a pickle", b"\x80\x04\x95\x05\x00\x00\x00\x00\x00\x00\x00}\x94\x8c\x01a.", "json_syntax"),
    sample("P45", "leading zeros", '{"x":007}', "json_syntax"),
    sample("P46", "a hexadecimal number", '{"x":0x10}', "json_syntax"),
    sample("P47", "True", '{"x":True}', "json_syntax"),
    sample("P48", "one name in two normal forms", '{"caf\u00e9":1,"cafe\u0301":2}', "accepted"),
    sample("P49", "invisible characters", '{"\u202eabc":1,"a\u200bb":2}', "accepted"),
    sample("P50", "names with a meaning", '{"__class__":"x","__reduce__":"y","__proto__":"z"}', "accepted"),
]
"""P01-P50 are the numbers of the project's catalogue of bad input; a letter marks a relative of ours."""
