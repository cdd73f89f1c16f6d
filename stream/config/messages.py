"""How settings, their types and their values are put into words, for messages and for the reference."""

import datetime
import inspect
import json
import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

import msgspec
from msgspec import inspect as types

_LONGEST = 60
_FIELD = re.compile(r"^ {4}(\w+): (.*)$")


def quoted(text: str) -> str:
    """Return a text between quotes, on one line, and cut where it is very long."""
    whole = json.dumps(text, ensure_ascii=False)
    return whole if len(whole) <= _LONGEST else whole[:_LONGEST] + '..."'


def listed(names: Iterable[str]) -> str:
    """Return names as a sentence takes them: "a", "b" or "c"."""
    *most, last = (quoted(name) for name in names)
    return f"{', '.join(most)} or {last}" if most else last


def nearest(name: str, allowed: Iterable[str]) -> str | None:
    """Return the allowed name that was probably meant, if one was."""
    matches = get_close_matches(name, list(allowed), n=1)
    return matches[0] if matches else None


def did_you_mean(name: str, allowed: Iterable[str]) -> str:
    """Return a question for the nearest right name, with a blank before it, or nothing.

    >>> did_you_mean("lerner", ["name", "learner"])
    ' Did you mean "learner"?'
    """
    near = nearest(name, allowed)
    return f" Did you mean {quoted(near)}?" if near else ""


def choice(name: str, allowed: Iterable[str]) -> str:
    """Return what to say after "unknown ...": the nearest right name and all that are allowed."""
    allowed = list(allowed)
    return f"{quoted(name)}.{did_you_mean(name, allowed)} Allowed: {', '.join(allowed)}"


def value_in_words(value: object) -> str:
    """Return what a value from a TOML file looks like to the one who wrote it."""
    match value:
        case str():
            return quoted(value)
        case bool():
            return "true" if value else "false"
        case int() | float():
            text = repr(value)
            return text if len(text) <= _LONGEST else f"a number of {len(text)} digits"
        case list():
            return "a list"
        case dict():
            return "a table"
        case datetime.date() | datetime.time():
            return "a date or time"
        case _:
            return f"a {type(value).__name__}"


def type_in_words(kind: object) -> str:
    """Return what may be written for a value of a type.

    >>> type_in_words(int), type_in_words(tuple[str, ...])
    ('a whole number', 'a list, each a string')
    """
    return _in_words(types.type_info(kind))


def alternatives(kind: object) -> list[str]:
    """Return the texts a value of a type may be, where they can be counted up."""
    info = types.type_info(kind)
    texts: list[str] = []
    for one in info.types if isinstance(info, types.UnionType) else (info,):
        match one:
            case types.EnumType():
                texts += (str(member.value) for member in one.cls)
            case types.LiteralType():
                texts += map(str, one.values)
    return texts


def _in_words(kind: types.Type) -> str:
    match kind:
        case types.BoolType():
            return "true or false"
        case types.IntType():
            return "a whole number" + _range(kind)
        case types.FloatType():
            return "a number" + _range(kind)
        case types.StrType():
            return "a string that is not empty" if kind.min_length else "a string"
        case types.EnumType():
            return listed(member.value for member in kind.cls)
        case types.LiteralType():
            return listed(str(value) for value in kind.values)
        case types.UnionType():
            # What has no value is left out: there is no way to write it.
            return " or ".join(_in_words(one) for one in kind.types if not isinstance(one, types.NoneType))
        case types.VarTupleType(item_type=types.StructType()):
            return "an array of tables"
        case types.VarTupleType():
            return f"a list, each {_in_words(kind.item_type)}"
        case _:
            return "a table"


def _range(kind: types.IntType | types.FloatType) -> str:
    match kind:
        case types.IntType(ge=int(least), le=int(most)):
            return f" from {least} to {most}"
        case _:
            bounds = (
                ("of at least", kind.ge),
                ("above", kind.gt),
                ("of at most", kind.le),
                ("below", kind.lt),
            )
            words = [f"{word} {bound:g}" for word, bound in bounds if bound is not None]
            return " " + " and ".join(words) if words else ""


def field_docs(kind: type[msgspec.Struct]) -> Mapping[str, str]:
    """Return what the docstrings of a struct and of those above it say about each field."""
    docs: dict[str, str] = {}
    for cls in reversed(kind.__mro__):
        if "__doc__" in vars(cls) and cls.__doc__ and issubclass(cls, msgspec.Struct):
            docs.update(_documented(inspect.cleandoc(cls.__doc__)))
    return docs


def _documented(docstring: str) -> dict[str, str]:
    """Return the entries of the "Args" or "Attributes" section, each on one line."""
    docs: dict[str, str] = {}
    name = ""
    _, _, section = re.sub(r"^Attributes:$", "Args:", docstring, flags=re.MULTILINE).partition("\nArgs:\n")
    for line in section.splitlines():
        if found := _FIELD.match(line):
            name = found[1]
            docs[name] = found[2]
        elif line.startswith("        ") and name:
            docs[name] += " " + line.strip()
        else:
            break
    return docs
