"""A reader of topics that uses nothing of ours: what it sees is what anybody would see."""

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from confluent_kafka import Consumer, KafkaError, Message, TopicPartition
from confluent_kafka.admin import AdminClient

from tests.workers import wait_until

T = TypeVar("T")

_PASSING = {KafkaError._TRANSPORT, KafkaError._ALL_BROKERS_DOWN, KafkaError._TIMED_OUT, KafkaError._RESOLVE}
"""Errors that a client reports while it helps itself."""


def partitions_of(servers: str, topic: str, seconds: float = 60) -> list[int]:
    """Return the partitions of a topic; of one made a moment ago, not every broker knows them yet.

    All topics are asked for: whoever asks a broker for one that it does not know makes it.
    """
    admin = AdminClient({"bootstrap.servers": servers, "log_level": 0})
    found: list[int] = []

    def is_known() -> bool:
        described = admin.list_topics(timeout=30).topics.get(topic)
        found[:] = sorted(described.partitions) if described is not None and described.error is None else []
        return bool(found)

    assert wait_until(is_known, seconds), f"no broker of {servers} knows partitions of {topic}"
    return found


class PlainReader(threading.Thread, Generic[T]):
    """A read_committed consumer that reads a topic from its beginning while other things happen.

    Args:
        servers: The brokers.
        topic: The topic.
        keep: What is kept of a message.
        settings: More settings of the client.
    """

    def __init__(self, servers: str, topic: str, keep: Callable[[Message], T], **settings: Any) -> None:
        super().__init__(daemon=True)
        self.topic = topic
        self.records: list[T] = []
        self.failure: str | None = None
        self._keep = keep
        self._servers = servers
        self._reached: dict[int, int] = {}
        self._stop_reading = threading.Event()
        self._consumer = Consumer(
            {
                "bootstrap.servers": servers,
                "group.id": f"{topic}.plain-reader",
                "isolation.level": "read_committed",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
                "auto.offset.reset": "error",
                "fetch.wait.max.ms": 100,
                "log_level": 0,
                **settings,
            }
        )
        self._partitions = partitions_of(servers, topic)
        self._consumer.assign([TopicPartition(topic, number, 0) for number in self._partitions])

    @property
    def count(self) -> int:
        return len(self.records)

    def run(self) -> None:
        while not self._stop_reading.is_set():
            for message in self._consumer.consume(500, 0.1):
                self._take(message)
        self._consumer.close()

    def _take(self, message: Message) -> None:
        error = message.error()
        if error is None:
            self.records.append(self._keep(message))
        elif error.code() == KafkaError._PARTITION_EOF:
            self._reached[message.partition() or 0] = message.offset() or 0
        elif error.code() not in _PASSING and not error.retriable():
            self.failure = f"the plain reader of {self.topic} met an error: {error.str()}"

    def wait_for(self, count: int, seconds: float) -> bool:
        """Wait until so many records are there; return whether they are."""
        return wait_until(lambda: self.count >= count or self.failure is not None, seconds)

    def finish(self, seconds: float = 60) -> None:
        """Read to where the topic ends now, and stop. No transaction may be open any more.

        That nothing more comes is known by the offset that was reached, and not by waiting.
        """
        ends = self._ends()

        def has_ended() -> bool:
            return self.failure is not None or all(
                end == 0 or self._reached.get(number, -1) >= end for number, end in ends.items()
            )

        has_ended_in_time = wait_until(has_ended, seconds)
        self.stop()
        assert self.failure is None, self.failure
        assert has_ended_in_time, f"{self.topic}: reached {self._reached} of {ends} in {seconds:.0f} s"

    def _ends(self) -> dict[int, int]:
        """Return where the partitions end now; by a client of its own, for the reader is at work."""
        asker = Consumer({"bootstrap.servers": self._servers, "group.id": "asker", "log_level": 0})
        try:
            return {
                number: asker.get_watermark_offsets(TopicPartition(self.topic, number), timeout=30)[1]
                for number in self._partitions
            }
        finally:
            asker.close()

    def stop(self) -> None:
        self._stop_reading.set()
        if self.ident is not None:
            self.join(30)
