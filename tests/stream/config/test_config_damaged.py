"""Whatever is in the file and in the environment: it is read, or it is refused as a wrong configuration."""

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from stream.config import Config
from stream.config.environment import variables
from stream.errors import ConfigError
from tests.stream.config.samples import FULL, read_text

FRAGMENT = st.sampled_from(
    [
        *"[]{}=.,\"'#\n\\ -",
        "[[agent]]",
        "[agent.schema]",
        "name = ",
        '"""',
        "1e400",
        "nan",
        "9" * 30,
        "true",
        '""',
        "[]",
        "{}",
        "2020-01-01",
        "properties",
        "\x7f",
        "ü",
        "\ufeff",
    ]
)
CUT = st.tuples(st.integers(0, len(FULL)), st.integers(0, 12), FRAGMENT)


@given(st.lists(CUT, min_size=1, max_size=4))
def test_a_damaged_file_is_read_or_refused_and_nothing_else(cuts: list[tuple[int, int, str]]) -> None:
    text = FULL
    for start, length, fragment in cuts:
        text = text[:start] + fragment + text[start + length :]
    _read_or_refuse(text)


VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
    | st.sampled_from(["loans", "applications", "none", "topic", "x" * 300, 2**80]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
PLACES = [number for number, line in enumerate(FULL.splitlines()) if "=" in line]


@given(st.lists(st.tuples(st.sampled_from(PLACES), VALUES), min_size=1, max_size=5))
def test_a_file_with_any_values_is_read_or_refused_and_nothing_else(
    changes: list[tuple[int, object]],
) -> None:
    lines = FULL.splitlines()
    for number, value in changes:
        lines[number] = lines[number].split("=")[0] + "= " + _toml(value)
    _read_or_refuse("\n".join(lines))


@example({"ESPALIER_KAFKA_PROPERTIES_ACKS": "\n"})
@given(
    st.dictionaries(
        st.sampled_from([*variables(), "ESPALIER_X", "ESPALIER_KAFKA_PROPERTIES_ACKS"]).flatmap(
            lambda name: st.sampled_from([name, name + "_FILE", name[:-1]])
        ),
        st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8),
        max_size=4,
    )
)
def test_any_environment_is_read_or_refused_and_nothing_else(environ: dict[str, str]) -> None:
    _read_or_refuse(FULL, environ)


def _read_or_refuse(text: str, environ: dict[str, str] | None = None) -> None:
    try:
        loaded = read_text(text, environ)
    except ConfigError as error:
        assert error.problems
        for problem in error.problems:
            assert problem.place.startswith(("espalier.toml", "ESPALIER_"))
            assert "\n" not in str(problem)
    else:
        assert isinstance(loaded.config, Config)


def _toml(value: object) -> str:
    match value:
        case None:
            return "1979-05-27"
        case dict():
            return "{" + ", ".join(f"{_toml(name)} = {_toml(one)}" for name, one in value.items()) + "}"
        case list():
            return "[" + ", ".join(map(_toml, value)) + "]"
        case str():
            return msgspec.json.encode(value).decode().replace("\x7f", "\\u007f")
        case _:
            return str(value).lower()
