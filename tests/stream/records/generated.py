"""Generated instances, and the bytes of instances that were damaged."""

import json

from hypothesis import strategies as st

plain = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text() | st.floats(-1e300, 1e300)
fields = st.dictionaries(st.text().filter(lambda name: name not in ("class", "id")), plain, max_size=8)
whole = st.builds(
    lambda values, label, name: {**values, "class": label, "id": name},
    fields,
    plain,
    st.none() | st.text() | st.integers(-(2**63), 2**63 - 1),
)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Return a valid record in which some bytes were changed, left out, doubled or put in."""
    data = bytearray(json.dumps(draw(whole), ensure_ascii=draw(st.booleans())).encode())
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        match draw(st.integers(0, 4)):
            case 0:
                data[at : at + 1] = draw(st.binary(max_size=2))
            case 1:
                del data[at : at + draw(st.integers(1, 6))]
            case 2:
                data[at:at] = data[at : at + draw(st.integers(1, 40))]
            case 3:
                data[at:at] = draw(st.sampled_from(_TOKENS))
            case _:
                del data[at:]
    return bytes(data)


_TOKENS = [
    *(b"{", b"}", b"[", b"]", b":", b",", b'"', b"\\", b"\\u", b"\\ud800", b"null", b"NaN", b"Infinity"),
    *(b"1e999", b"-", b"00", b"9" * 30, b"\xff", b"\x00", b"\xef\xbb\xbf", b"\xed\xa0\x80", b'"class":'),
]
