"""A thread that puts made-up instances into the input, at a rate or as fast as they go."""

import threading
import time
from collections.abc import Iterator
from itertools import islice

import msgspec

from stream.demo.generators import Generated
from stream.demo.runtime import DemoRuntime

PAUSE_SECONDS = 0.02


class Feeder:
    """Sends instances until it has sent them all or is stopped.

    Args:
        stage: Where to.
        instances: What to send.
        records: How many; None: until it is stopped.
        rate: How many a second; None: as fast as they go.
    """

    def __init__(
        self, stage: DemoRuntime, instances: Iterator[Generated], records: int | None, rate: float | None
    ) -> None:
        self.sent = 0
        self._stage = stage
        self._instances = islice(instances, records)
        self._rate = rate
        self._stop = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="feed", daemon=True)

    def start(self) -> None:
        """Begin to send, in the background."""
        self._thread.start()

    def check(self) -> None:
        """Do nothing, unless sending has failed.

        Raises:
            StreamError: Why it has failed.
        """
        if self._failure is not None:
            raise self._failure

    def stop(self) -> None:
        """Send no more."""
        self._stop.set()
        self._thread.join(30)

    def _run(self) -> None:
        try:
            self._send_all()
            self._stage.flush()
        except BaseException as error:
            self._failure = error

    def _send_all(self) -> None:
        started = time.monotonic()
        encode = msgspec.json.Encoder().encode
        for instance in self._instances:
            while self._rate is not None and self.sent >= (time.monotonic() - started) * self._rate:
                if self._stop.wait(PAUSE_SECONDS):
                    return
            if self._stop.is_set():
                return
            self._stage.send(self.sent, encode(instance))
            self.sent += 1
