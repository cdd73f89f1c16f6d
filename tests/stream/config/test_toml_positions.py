"""The line that is named for a setting is the one it stands on, however the file is written."""

import tomllib
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stream.config.toml_positions import KeyPath, locate


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        ("a = 1", ("a",), 1),
        ("# one\n\n  a = 1", ("a",), 3),
        ("[t]\na = 1\n[u]\na = 2", ("u", "a"), 4),
        ("[t.u]\na = 1", ("t",), 1),
        ("[t.u]\na = 1\n[t]\nb = 1", ("t", "b"), 4),
        ("[[t]]\na = 1\n[[t]]\na = 2", ("t", 1, "a"), 4),
        ("[[t]]\n[[t]]\n[t.u]\na = 2", ("t", 1, "u", "a"), 4),
        ("[[t]]\n[[t.u]]\na = 1\n[[t]]\n[[t.u]]\na = 2", ("t", 1, "u", 0, "a"), 6),
        ("[ t . 'u' ]\n\"a b\" = 1", ("t", "u", "a b"), 2),
        ('"a\\u0062\\"" . c = 1', ('ab"', "c"), 1),
        ("t.u.a = 1\nt.u.b = 2", ("t", "u", "b"), 2),
        ("a = {b = 1, c.d = 2}\ne = 3", ("a", "c", "d"), 1),
        ("a = [\n 1, # ]\n 2,\n]\nb = 1", ("a", 1), 3),
        ("a = [\n [1],\n {b = 2}]\nc = 1", ("a", 1, "b"), 3),
        ('a = """\nb = 1\n\\""" """\nb = 2', ("b",), 4),
        ('a = """x"""""\nb = 2', ("b",), 2),
        ("a = '''\nb = 1\n'''''\nb = 2", ("b",), 4),
        ("a = \"]#'\"\nb = ']#\"'\nc = 3", ("c",), 3),
        ("a = 1979-05-27 07:32:00 # when\nb = 1", ("b",), 2),
        ("a = 1\r\nb = 2\r\n", ("b",), 2),
        ('a = \'\'\nb = ""\nc = """"""\nd = 1', ("d",), 4),
    ],
)
def test_a_setting_is_found_on_its_line(text: str, path: KeyPath, line: int) -> None:
    assert _at(tomllib.loads(text), path) is not None
    assert locate(text)[path] == line


# Every value in these files is the number of the line it stands on.
NAME = st.sampled_from(["a", "b", "c1", "d-e", '"f.g"', "'h i'", '"\\u00fc"'])
LAYOUT = st.sampled_from(["[{0}]", "[[{0}]]", "[{0}.{1}]", "[[{0}.{1}]]", "# {0} = [", ""])
PAIR = st.sampled_from(
    [
        "{0} = {n}",
        "  {0}.{1} = {n} # ]",
        "{0} = {{ {1} = {n}, {2}.{1} = {n} }}",
        "{0} = [{n}, {n}]",
        "{0} = [ # {{\n {m},\n]",
        "{0} = [[\n{m}], {{ {1} = [\n{o}, {o}] }}\n]",
        "{0} . {1} = {n}",
        "_text{n} = '''\n{0} = [ \"\"\" '''",
        '_text{n} = """\n{0} = \\""" ]"""',
    ]
)
STATEMENT = st.tuples(st.one_of(LAYOUT, PAIR, PAIR), NAME, NAME, NAME)


@given(st.lists(STATEMENT, max_size=12))
def test_every_value_of_a_random_file_is_found_on_its_line(
    statements: list[tuple[str, str, str, str]],
) -> None:
    text = ""
    for form, *names in statements:
        n = text.count("\n") + 1
        longer = text + form.format(*names, n=n, m=n + 1, o=n + 2) + "\n"
        if _is_toml(longer):
            text = longer
    lines = locate(text)
    for path, value in _leaves(tomllib.loads(text), ()):
        assert path in lines
        if isinstance(value, int):
            assert lines[path] == value


def _is_toml(text: str) -> bool:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return False
    return True


def _leaves(value: object, path: KeyPath) -> Iterator[tuple[KeyPath, object]]:
    if isinstance(value, dict):
        for name, one in value.items():
            yield from _leaves(one, (*path, name))
    elif isinstance(value, list):
        for number, one in enumerate(value):
            yield from _leaves(one, (*path, number))
    else:
        yield path, value


def _at(value: object, path: KeyPath) -> object:
    for step in path:
        assert isinstance(value, dict | list)
        value = value[step]  # type: ignore[index]
    return value
