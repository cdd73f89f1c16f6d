"""Which versions of Faust and of what it stands on are known to work, and which are known not to."""

from collections.abc import Callable, Mapping
from importlib.metadata import PackageNotFoundError, version
from typing import NamedTuple

from stream.errors import EngineError

Installed = Callable[[str], str | None]
"""Returns the version of a package; None where it is not installed."""


class Known(NamedTuple):
    """What is known of a package.

    Attributes:
        first: The first version that works.
        tested: The one that the tests run with.
        reason: What is wrong with those before the first.
    """

    first: str
    tested: str
    reason: str


KNOWN: Mapping[str, Known] = {
    "faust-streaming": Known("0.15.3", "0.15.3", "it cannot do without opentracing: every rebalance fails"),
    "aiokafka": Known("0.13.0", "0.14.0", "it speaks a protocol that Kafka 4 no longer answers"),
    "mode-streaming": Known("0.5.4", "0.7.1", "Faust cannot be imported with it"),
}
NEEDED: Mapping[str, str] = {"cramjam": "lz4, snappy and zstd records cannot be read without it"}


def check_versions(installed: Installed | None = None) -> None:
    """Refuse what is known not to work.

    Raises:
        EngineError: All that is wrong, and what to install instead.
    """
    installed = installed or _installed
    problems: list[str] = []
    old_faust = installed("faust")
    if old_faust is not None:
        problems.append(
            f'"faust" {old_faust} is the package that is no longer kept, and hides faust-streaming: '
            'run "pip uninstall faust"'
        )
    for name, known in KNOWN.items():
        found = installed(name)
        if found is None:
            problems.append(f'"{name}" is not installed: {_install(name, known)}')
        elif _numbers(found) < _numbers(known.first):
            problems.append(f'"{name}" {found} does not work: {known.reason}. {_install(name, known)}')
    for name, why in NEEDED.items():
        if installed(name) is None:
            problems.append(f'"{name}" is not installed: {why}. Run "pip install {name}"')
    if problems:
        raise EngineError("the Faust engine cannot run here: " + "; ".join(problems))


def _install(name: str, known: Known) -> str:
    return f'{known.first} and later do (tested: {known.tested}). Run "pip install {name}=={known.tested}"'


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _numbers(text: str) -> tuple[int, ...]:
    """Return the numbers a version begins with.

    >>> _numbers("0.15.3rc1") < _numbers("0.15.10")
    True
    """
    numbers: list[int] = []
    for part in text.split("."):
        digits = ""
        for sign in part:
            if not sign.isdigit():
                break
            digits += sign
        if not digits:
            break
        numbers.append(int(digits))
        if digits != part:
            break
    return tuple(numbers)
