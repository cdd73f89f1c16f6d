"""Everything that can go wrong with the development broker.

* BrokerError, itself a StreamError                                              exit 69
  x NoJava              there is no Java 17 or newer on this machine
  x DownloadRefused     the jars could not be fetched
  x WrongHash           a jar is not the one that was pinned
  x StartFailed         a node ended, or did not answer in time
    + PortTaken         somebody took the port meanwhile: tried again with another
  x AlreadyRunning      the directory has a running broker                       exit 75
  x NotRunning          the directory has none
  x UnusableDirectory   the directory was made for something else

Every message ends with what to do next, because a person at a terminal reads it.
"""

# ruff: noqa: N818 - named for what has happened, as in stream/errors.py

from stream.errors import StreamError


class BrokerError(StreamError):
    """The development broker cannot do what was asked; the message says why and what to do."""

    exit_code = 69


class NoJava(BrokerError):
    """There is no Java 17 or newer to run the broker with."""


class DownloadRefused(BrokerError):
    """The jars could not be fetched: no network, a proxy, a limit, or nothing to fetch with."""


class WrongHash(BrokerError):
    """A jar differs from the one whose SHA-256 is in the pinned list; it is not run."""


class StartFailed(BrokerError):
    """A node ended by itself or did not answer within its time limit."""


class PortTaken(StartFailed):
    """A port was free when it was chosen and taken when the node wanted it."""


class AlreadyRunning(BrokerError):
    """The directory already has a running broker."""

    exit_code = 75


class NotRunning(BrokerError):
    """The directory has no running broker."""


class UnusableDirectory(BrokerError):
    """The directory holds something that this broker cannot go on with."""
