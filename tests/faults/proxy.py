"""A proxy in front of a broker that reads Kafka's protocol just enough to hurt chosen requests.

A request is a length and then api key, version and correlation id; a response begins with its correlation
id. That is all it needs to know which answer belongs to which request; of the transactional requests it also
reads whose transaction is meant.
"""

import asyncio
import contextlib
import struct
import threading
from collections import Counter
from collections.abc import Callable, Coroutine
from enum import IntEnum, StrEnum
from typing import Any, NamedTuple, Self


class Api(IntEnum):
    """The requests that are of interest."""

    PRODUCE = 0
    FETCH = 1
    LIST_OFFSETS = 2
    METADATA = 3
    OFFSET_FETCH = 9
    FIND_COORDINATOR = 10
    JOIN_GROUP = 11
    HEARTBEAT = 12
    SYNC_GROUP = 14
    INIT_PRODUCER_ID = 22
    ADD_PARTITIONS_TO_TXN = 24
    ADD_OFFSETS_TO_TXN = 25
    END_TXN = 26
    TXN_OFFSET_COMMIT = 28


class Fault(StrEnum):
    """What can be done to a request."""

    LOSE_REQUEST = "request lost"
    """The connection is closed before the broker has it."""
    LOSE_RESPONSE = "response lost"
    """The broker has done it, but the connection is closed before the answer arrives."""
    DELAY = "delayed"
    """It arrives later."""
    SWALLOW = "swallowed"
    """Nothing ever comes back, and the connection stays open."""
    ERROR = "answered with an error"
    """The broker has done it, and the answer says that it has not: of requests whose answer is just that."""
    GHOST = "ghost"
    """The connection is closed, and the request arrives in the middle of the next transaction."""


class Request(NamedTuple):
    """What is known about a request.

    Attributes:
        api: Its kind.
        version: The version of its form.
        correlation: The number that its answer has as well.
        transactional_id: Whose transaction it is about; empty: none.
        frame: All of it, in which names can be looked for.
    """

    api: int
    version: int
    correlation: int
    transactional_id: str
    frame: bytes = b""


Choose = Callable[[Request], Fault | None]
"""Decides what is done to a request; called in the proxy's thread."""

_FLEXIBLE = {Api.PRODUCE: 9, Api.INIT_PRODUCER_ID: 2, Api.ADD_PARTITIONS_TO_TXN: 3, Api.ADD_OFFSETS_TO_TXN: 3}
_FLEXIBLE |= {Api.END_TXN: 3, Api.TXN_OFFSET_COMMIT: 3}
_NAMED = {Api.INIT_PRODUCER_ID, Api.ADD_PARTITIONS_TO_TXN, Api.ADD_OFFSETS_TO_TXN, Api.END_TXN}
_NAMED |= {Api.TXN_OFFSET_COMMIT}


def parse(frame: bytes) -> Request:
    """Read the head of a request, and whose transaction it is about."""
    api, version, correlation = struct.unpack_from(">hhi", frame)
    name = ""
    if api in _NAMED:
        (length,) = struct.unpack_from(">h", frame, 8)
        place = 10 + max(0, length)
        if version >= _FLEXIBLE[Api(api)]:
            # A compact string behind the tagged fields of the head, of which librdkafka sends none.
            size = frame[place + 1] - 1
            name = frame[place + 2 : place + 2 + max(0, size)].decode()
        else:
            (size,) = struct.unpack_from(">h", frame, place)
            name = frame[place + 2 : place + 2 + max(0, size)].decode()
    return Request(api, version, correlation, name, frame)


class _Ghost(NamedTuple):
    frame: bytes
    correlation: int
    connection: "_Connection"


class _Connection:
    """One client and the broker."""

    def __init__(self, proxy: "Proxy", reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._proxy = proxy
        self._client = reader, writer
        self._pending: dict[int, tuple[Request, Fault | None]] = {}
        self._ghosts = 0
        self._is_gone = False

    async def run(self) -> None:
        try:
            self._broker = await asyncio.open_connection("127.0.0.1", self._proxy.upstream)
        except OSError:
            self._client[1].close()
            return
        tasks = [asyncio.create_task(self._requests()), asyncio.create_task(self._responses())]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            if self._ghosts:
                # The client is gone; what it sent is still on its way.
                await asyncio.wait([tasks[1]], timeout=20)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._client[1].close()
            self._broker[1].close()

    async def _requests(self) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while True:
                frame = await _frame(self._client[0])
                request = parse(frame)
                fault = self._proxy.choose_for(request)
                if fault is Fault.DELAY:
                    await asyncio.sleep(self._proxy.delay)
                elif fault is Fault.SWALLOW:
                    continue
                elif fault is Fault.LOSE_REQUEST:
                    return
                elif fault is Fault.GHOST:
                    self._ghosts += 1
                    self._proxy.hold(request, _Ghost(frame, request.correlation, self))
                    self._is_gone = True
                    self._client[1].close()
                    return
                self._pending[request.correlation] = request, fault
                await self.forward(frame)

    async def forward(self, frame: bytes) -> None:
        with contextlib.suppress(OSError):
            self._broker[1].write(struct.pack(">i", len(frame)) + frame)
            await self._broker[1].drain()

    async def _responses(self) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, OSError):
            while True:
                frame = await _frame(self._broker[0])
                (correlation,) = struct.unpack_from(">i", frame)
                request, fault = self._pending.pop(correlation, (None, None))
                if request is None:
                    # The answer to a ghost: throttle time, then what the broker thought of it.
                    (error,) = struct.unpack_from(">h", frame, 8)
                    self._proxy.ghosts[error] += 1
                    self._ghosts -= 1
                    if not self._ghosts:
                        return
                    continue
                if fault is Fault.LOSE_RESPONSE:
                    return
                if fault is Fault.ERROR:
                    # Behind correlation id and throttle time: the error that means "unknown".
                    frame = frame[:8] + struct.pack(">h", -1) + frame[10:]
                if not self._is_gone:
                    self._client[1].write(struct.pack(">i", len(frame)) + frame)
                    await self._client[1].drain()
                self._proxy.answered(request)


async def _frame(reader: asyncio.StreamReader) -> bytes:
    (length,) = struct.unpack(">i", await reader.readexactly(4))
    return await reader.readexactly(length)


class Proxy:
    """Listens on a port of its own and passes everything on to a broker, except for what is chosen.

    Args:
        upstream: The broker's port.
        port: Its own.
    """

    def __init__(self, upstream: int, port: int) -> None:
        self.upstream = upstream
        self.port = port
        self.delay = 0.3
        self.ghost_delay = 0.02
        self.choose: Choose = lambda request: None
        self.counts: Counter[tuple[str, Fault]] = Counter()
        self.ghosts: Counter[int] = Counter()
        """How the broker answered ghosts, by error code."""
        self.versions: Counter[tuple[str, int]] = Counter()
        self._held: dict[str, list[_Ghost]] = {}
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    def __enter__(self) -> Self:
        self._thread.start()
        self._call(self._listen())
        return self

    def __exit__(self, *told: object) -> None:
        self._call(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    def _call(self, work: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(30)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port, limit=1 << 20)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.CancelledError):
            await _Connection(self, reader, writer).run()

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        others = asyncio.all_tasks(self._loop) - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    # ---- called by connections, all in one thread

    def choose_for(self, request: Request) -> Fault | None:
        if request.api in _NAMED:
            self.versions[Api(request.api).name, request.version] += 1
        fault = self.choose(request)
        if fault is not None:
            self.counts[Api(request.api).name, fault] += 1
        return fault

    def hold(self, request: Request, ghost: _Ghost) -> None:
        self._held.setdefault(request.transactional_id, []).append(ghost)

    def answered(self, request: Request) -> None:
        """The next transaction of somebody has begun: what was held back of the last one arrives now."""
        if request.api == Api.ADD_PARTITIONS_TO_TXN:
            for ghost in self._held.pop(request.transactional_id, ()):
                task = asyncio.ensure_future(self._release(ghost))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _release(self, ghost: _Ghost) -> None:
        await asyncio.sleep(self.ghost_delay)
        await ghost.connection.forward(ghost.frame)
