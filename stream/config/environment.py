"""Settings from environment variables.

Every setting outside the agents has a variable: `ESPALIER_METRICS_PORT` is `port` in `[metrics]`, and
`ESPALIER_KAFKA_PROPERTIES_SASL_PASSWORD` the client's property `sasl.password`. With `_FILE` at its end a
variable names a file that holds the value, which is how secrets are handed to containers.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from stream.config.messages import nearest, quoted
from stream.config.properties import ENDING_IN_FILE
from stream.config.settings import Config
from stream.config.toml_positions import KeyPath
from stream.errors import Problem

PREFIX = "ESPALIER_"

RESERVED = frozenset(
    {
        "ESPALIER_DATA",
        "ESPALIER_FAILPOINT",
        "ESPALIER_REQUIRE_BROKER",
        "ESPALIER_REQUIRE_DATA",
        "ESPALIER_REQUIRE_OBSERVE",
        "ESPALIER_REQUIRE_PEERS",
    }
)
"""Variables that are not settings: the tests and the tools around them have their own use for them."""

_PROPERTIES = f"{PREFIX}KAFKA_PROPERTIES_"
_FILE = "_FILE"

# Kubernetes tells every pod of every service by such variables: one named "espalier" must not stop a worker.
_SERVICE_LINK = re.compile(
    r".*_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_PROTO|_PORT|_ADDR)?)"
)
_SERVICE_ADDRESS = re.compile(r"(tcp|udp|sctp)://.*")


class Given(NamedTuple):
    """A setting that the environment gives: by which variable, its text, whether that came from a file."""

    variable: str
    text: str
    from_file: bool


def variables() -> Mapping[str, KeyPath]:
    """Return the variable of every setting that has one, but for the client's properties."""
    return {PREFIX + "_".join(path).upper(): path for path in _scalars(Config, ())}


def from_environment(environ: Mapping[str, str]) -> tuple[Mapping[KeyPath, Given], list[Problem]]:
    """Return the settings in the environment, by their path, and what is wrong with the variables."""
    known = variables()
    given: dict[KeyPath, Given] = {}
    problems: list[Problem] = []
    for variable, value in sorted(environ.items()):
        if not variable.startswith(PREFIX) or variable in RESERVED or _is_service_link(variable, value):
            continue
        setting, from_file = _without_file(variable, known)
        path = _path(setting, known)
        if path is None:
            problems.append(Problem(variable, f"no setting has this variable. {_hint(variable, known)}"))
        elif path in given:
            problems.append(Problem(variable, f"{quoted(setting)} is set as well. Keep one of them"))
        else:
            try:
                text = _contents(Path(value)) if from_file else value
            except (OSError, ValueError) as error:
                problems.append(Problem(variable, f"cannot read the file {quoted(value)}: {_reason(error)}"))
            else:
                given[path] = Given(variable, text, from_file)
    return given, problems


def _scalars(kind: type[msgspec.Struct], above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the path of every setting that is one value, outside of arrays."""
    for field in msgspec.structs.fields(kind):
        path = (*above, field.encode_name)
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from _scalars(field.type, path)
        elif path not in (("agent",), ("kafka", "properties")):
            yield path


def _path(setting: str, known: Mapping[str, KeyPath]) -> KeyPath | None:
    if setting.startswith(_PROPERTIES) and setting != _PROPERTIES:
        return ("kafka", "properties", _property(setting))
    return known.get(setting)


def _property(setting: str) -> str:
    return setting.removeprefix(_PROPERTIES).lower().replace("_", ".")


def _without_file(variable: str, known: Mapping[str, KeyPath]) -> tuple[str, bool]:
    """Return the variable whose value a variable stands for, and whether by a file."""
    setting = variable.removesuffix(_FILE)
    is_own_name = variable in known or _property(variable) in ENDING_IN_FILE
    return (variable, False) if is_own_name or setting == variable else (setting, True)


def _is_service_link(variable: str, value: str) -> bool:
    return bool(
        _SERVICE_LINK.fullmatch(variable)
        or (variable.endswith("_PORT") and _SERVICE_ADDRESS.fullmatch(value))
    )


def _hint(variable: str, known: Iterable[str]) -> str:
    # Compared without what all of them begin with, which would make any two of them alike.
    near = nearest(variable.removeprefix(PREFIX), [name.removeprefix(PREFIX) for name in known])
    return f'Did you mean "{PREFIX}{near}"?' if near else "See them all with `espalier config docs`"


def _contents(path: Path) -> str:
    return path.read_text(encoding="utf-8").rstrip("\r\n")


def _reason(error: OSError | ValueError) -> str:
    return (error.strerror or str(error)) if isinstance(error, OSError) else "it is not UTF-8 text"
