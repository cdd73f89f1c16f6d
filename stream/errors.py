"""Everything that can go wrong, what is done about it, and how the process ends if it ends.

* StreamError                                                                            exit
  x ConfigError           settings are missing or wrong          stop before the start    78
  x RejectedRecord        a record is not what it should be      dead letter, go on        -
  x StateError            journal or snapshot are not trusted    stop: a human decides    70
    + NewerFormat         written by a newer version             stop: upgrade first      71
  x EngineError           the broker or its client failed        stop                     74
    + BrokerUnavailable   no broker answers                      stop: start it, retry    69
    + Fenced              another worker took our place          stop: start to stand by  75
    + Abortable           this transaction cannot be committed   abort, rewind, go on     75
    + Fatal               the client is of no further use        stop: a restart restores 74

The numbers are those of sysexits.h where it has one. `EXIT_CODES` says for all of them what a supervisor can
do. A bug (a failed assertion, a KeyError) is none of these: it is not caught, and the process ends with 1.
"""

# ruff: noqa: N818 - what has happened is said by the name; "Error" at its end would add nothing

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from stream.printable import clipped

EXIT_CODES: Mapping[int, str] = MappingProxyType(
    {
        0: "done",
        1: "a check said no, or a bug; the log has a traceback if it was a bug",
        2: "the command line was wrong; see --help",
        65: "the data are wrong: a file that cannot be read, or more dead letters than an audit allows",
        69: "no broker could be reached; start it or correct bootstrap_servers, then start again",
        70: "the state in the topics contradicts itself; starting again does not help, look at the message",
        71: "the state was written by a newer version; nothing was touched, upgrade and start again",
        74: "the broker or its client failed; start again, the topics say how far the work had come",
        75: "for the moment something else goes first, such as a worker that took over; start again",
        78: "the configuration is wrong; every error was listed",
    }
)
"""What each exit status means and what to do about it."""


MAX_FIELD = 64
"""The longest name of a field that a dead letter or a log line carries, in characters."""


class StreamError(Exception):
    """The root: something went wrong that has a name."""

    exit_code: ClassVar[int] = 1


class Problem(NamedTuple):
    """One thing that is wrong with the configuration.

    `place` is where it was written: `espalier.toml:7`, or the name of an environment variable.
    """

    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.message}"


class ConfigError(StreamError):
    """Settings are missing or wrong. Nothing has been started.

    Args:
        problems: All of them, not the first only.
    """

    exit_code = 78

    def __init__(self, problems: Sequence[Problem]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


class RejectedRecord(StreamError):
    """A record is not what it should be. It becomes a dead letter and the stream goes on.

    Args:
        reason: What kind of thing is wrong, from a closed set: it labels metrics and dead letters.
        stage: Where it was noticed, such as "decode" or "learn".
        message: What is wrong, for people.
        field: The name of the field that is wrong; empty: the record as a whole.
    """

    def __init__(self, reason: str, stage: str, message: str, field: str = "") -> None:
        super().__init__(message)
        self.reason = reason
        self.stage = stage
        self.field = clipped(field, MAX_FIELD)


class StateError(StreamError):
    """A journal or a snapshot cannot be trusted. Nothing is repaired: a human decides."""

    exit_code = 70


class NewerFormat(StateError):
    """State was written in a format of a newer version than this one. Nothing has been overwritten."""

    exit_code = 71


class EngineError(StreamError):
    """The broker or its client failed. What was not committed has left no trace."""

    exit_code = 74


class BrokerUnavailable(EngineError):
    """No broker answers at the configured address."""

    exit_code = 69


class Fenced(EngineError):
    """Another worker has taken our place. Whatever we still hold is out of date."""

    exit_code = 75


class Abortable(EngineError):
    """The running transaction cannot be committed. Abort it, go back to the last commit, and go on."""

    exit_code = 75


class Fatal(EngineError):
    """The client cannot go on, and whether the last transaction was committed is known to the broker only."""
