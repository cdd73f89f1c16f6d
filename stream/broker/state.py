"""What is remembered about a broker in its directory, for other processes to find it and later ones to go on.

```
broker.json           the cluster's id and its nodes' ports (kept after a stop: the data and the address stay)
start.lock            held while a start is under way
node-1/pid            the process id of the node and when it was born
node-1/data           the topics; the reason why people keep a directory
node-1/server.log     what Kafka logged
node-1/stdout.log     what the JVM itself said
```
"""

import base64
import contextlib
import fcntl
import uuid
from collections.abc import Iterator
from pathlib import Path

import msgspec

from stream.broker.errors import AlreadyRunning, UnusableDirectory
from stream.broker.settings import Ports


class BrokerState(msgspec.Struct, frozen=True):
    """What `broker.json` holds."""

    cluster_id: str
    java: str
    attached: bool
    ports: tuple[Ports, ...]


def load(directory: Path) -> BrokerState | None:
    """Return what is remembered in `directory`; None when no broker was ever there."""
    path = directory / "broker.json"
    try:
        return msgspec.json.decode(path.read_bytes(), type=BrokerState)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise UnusableDirectory(
            f'cannot read "{path}": {error}. Delete the directory, with the topics in it, or use another.'
        ) from None


def save(directory: Path, state: BrokerState) -> None:
    """Remember `state` in `directory`, whole or not at all."""
    draft = directory / "broker.json.new"
    draft.write_bytes(msgspec.json.format(msgspec.json.encode(state)) + b"\n")
    draft.replace(directory / "broker.json")


def new_cluster_id() -> str:
    """Return a random cluster id as Kafka writes them: 22 characters, the first of them never a dash.

    A leading dash would be taken for an option by Kafka's storage tool.
    """
    while True:
        name = base64.urlsafe_b64encode(uuid.uuid4().bytes).decode().rstrip("=")
        if not name.startswith("-"):
            return name


@contextlib.contextmanager
def only_one_start(directory: Path) -> Iterator[None]:
    """Hold the right to start a broker in `directory`, which is made if it is not there."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
        lock = (directory / "start.lock").open("wb")
    except OSError as error:
        raise UnusableDirectory(
            f'cannot use "{directory}" for a broker: {error}. Name another directory.'
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(
                f'another start is under way in "{directory}". Wait for it, or use another directory.'
            ) from None
        yield
