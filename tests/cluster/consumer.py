"""What stands in for a consumer of confluent-kafka."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from confluent_kafka import OFFSET_BEGINNING, KafkaError, KafkaException, TopicPartition

from tests.cluster.broker import Place
from tests.cluster.groups import Member, Metadata

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

NO_OFFSET = -1001
HEARTBEAT_SECONDS = 0.2
NOTICE = 0.3
"""The probability that a client that was expelled notices it at a poll."""


class Message:
    """A record or an error."""

    __slots__ = ("_error", "_offset", "_place", "_record")

    def __init__(self, place: Place, offset: int, record: Any, error: KafkaError | None = None) -> None:
        self._place, self._offset, self._record, self._error = place, offset, record, error

    def topic(self) -> str:
        return self._place[0]

    def partition(self) -> int:
        return self._place[1]

    def offset(self) -> int:
        return self._offset

    def error(self) -> KafkaError | None:
        return self._error

    def value(self) -> bytes | None:
        value: bytes | None = self._record.value
        return value

    def key(self) -> bytes | None:
        key: bytes | None = self._record.key
        return key

    def headers(self) -> list[tuple[str, bytes | None]]:
        return list(self._record.headers)

    def timestamp(self) -> tuple[int, int]:
        return 1, 1_000

    def __len__(self) -> int:
        return 0 if self._record is None else len(self._record.value or b"")


class FakeConsumer:
    """A consumer of the fake cluster.

    Args:
        cluster: The cluster.
        settings: As for confluent-kafka.
    """

    def __init__(self, cluster: "Cluster", settings: dict[str, Any]) -> None:
        self._cluster = cluster
        self._scheduler = cluster.scheduler
        self._process = cluster.scheduler.process
        self._committed = settings["isolation.level"] == "read_committed"
        self._tells_end = bool(settings["enable.partition.eof"])
        self._must_reach_back = settings["auto.offset.reset"] == "error"
        self._positions: dict[Place, int] = {}
        self._paused: set[Place] = set()
        self._ends_told: dict[Place, int] = {}
        self._topic = ""
        self._callbacks: dict[str, Callable[[Any, list[TopicPartition]], None]] = {}
        self._member: Member | None = None
        self._generation = -1
        self._changes: deque[tuple[str, list[int]]] = deque()
        self._is_expelled = False
        self._is_leaving = False

    # ---- the group

    def subscribe(self, topics: list[str], on_assign: Any, on_revoke: Any, on_lost: Any) -> None:
        self._topic = topics[0]
        self._callbacks = {"assign": on_assign, "revoke": on_revoke, "lost": on_lost}
        self._member = self._cluster.group.join(self, self._topic, self._process)

    def change(self, kind: str, numbers: list[int]) -> None:
        """The coordinator tells the client what it gets or gives back."""
        assert self._member is not None
        self._member.is_ready = False
        self._generation = self._cluster.group.generation
        self._changes.append((kind, numbers))

    def was_expelled(self) -> None:
        """The coordinator has given this member up. Its client does not know yet."""
        self._is_expelled = True

    def _serve(self) -> bool:
        """Call back what has changed, on the thread that polls; return whether anything has."""
        member = self._member
        if member is None:
            return False
        if self._is_expelled and self._cluster.rng.random() < NOTICE:
            self._is_expelled = False
            self._changes.clear()
            self._member, self._generation = None, -1
            mine = sorted(number for topic, number in self._positions if topic == self._topic)
            if not self._is_leaving:
                self._member = self._cluster.group.join(self, self._topic, self._process)
            if mine:
                self._call("lost", mine)
            return True
        served = bool(self._changes)
        while self._changes and not self._is_expelled:
            kind, numbers = self._changes.popleft()
            try:
                self._call(kind, numbers)
            finally:
                if not self._changes:
                    member.is_ready = True
                    self._cluster.group.served()
        if self._is_leaving and self._member is not None and not self._is_expelled:
            self._cluster.group.leave(member.name)
            self._member = None
        return served

    def _call(self, kind: str, numbers: list[int]) -> None:
        partitions = [TopicPartition(self._topic, number) for number in numbers]
        try:
            self._callbacks[kind](self, partitions)
        finally:
            # As the client does where the callback has not done it.
            for number in numbers:
                place = self._topic, number
                if kind != "assign":
                    self._positions.pop(place, None)
                elif place not in self._positions:
                    self._positions[place] = self._cluster.group.offsets.get(place, 0)

    def memberid(self) -> str:
        return "" if self._member is None else self._member.name

    def consumer_group_metadata(self) -> Metadata:
        return Metadata("group", self._generation, self.memberid())

    def unsubscribe(self) -> None:
        self._scheduler.step()
        self._is_leaving = True
        mine = sorted(number for topic, number in self._positions if topic == self._topic)
        if self._member is not None and mine:
            self._changes.clear()
            self._changes.append(("revoke", mine))

    def close(self) -> None:
        if self._process.is_dead:
            return
        if self._member is not None:
            self._cluster.group.leave(self._member.name)
            self._member = None
        self._positions.clear()

    # ---- reading

    def assign(self, places: Sequence[TopicPartition]) -> None:
        self._scheduler.step()
        self._positions = {}
        self.incremental_assign(places)

    def incremental_assign(self, places: Sequence[TopicPartition]) -> None:
        for one in places:
            self._positions[one.topic, one.partition] = self._resolved(one)

    def _resolved(self, place: TopicPartition) -> int:
        if place.offset == OFFSET_BEGINNING:
            return self._cluster.brokers.logs[place.topic, place.partition].start
        return place.offset

    def pause(self, places: Sequence[TopicPartition]) -> None:
        self._paused |= {(one.topic, one.partition) for one in places}

    def resume(self, places: Sequence[TopicPartition]) -> None:
        self._paused -= {(one.topic, one.partition) for one in places}

    def seek(self, place: TopicPartition) -> None:
        self._scheduler.step()
        where = place.topic, place.partition
        if where not in self._positions or self._cluster.faults.happens("seek refused"):
            raise KafkaException(KafkaError(KafkaError._STATE, "not yet"))
        self._positions[where] = self._resolved(place)

    def poll(self, seconds: float) -> Message | None:
        found = self.consume(1, seconds)
        return found[0] if found else None

    def consume(self, count: int, seconds: float) -> list[Message]:
        self._scheduler.step()
        deadline = self._scheduler.now + seconds
        while True:
            served = self._serve()
            found = self._fetch(count)
            if found or served or self._scheduler.now >= deadline:
                return found
            left = deadline - self._scheduler.now
            self._scheduler.wait(min(left, HEARTBEAT_SECONDS) if self._is_expelled else left)

    def _fetch(self, count: int) -> list[Message]:
        found: list[Message] = []
        places = [place for place in self._positions if place not in self._paused]
        if len(places) > 1 and self._cluster.rng.random() < 0.5:
            places.reverse()
        for place in places:
            if len(found) < count:
                self._read(place, count, found)
        if found and self._member_or_reader() and self._cluster.faults.happens("error among records"):
            place = found[0]._place
            wrong = KafkaError(KafkaError._TIMED_OUT, "made up")
            found.insert(self._cluster.rng.randrange(len(found) + 1), Message(place, 0, None, wrong))
        return found

    def _member_or_reader(self) -> bool:
        """Whether this reads the input, and not the end of a topic."""
        return not self._tells_end

    def _read(self, place: Place, count: int, found: list[Message]) -> None:
        log = self._cluster.brokers.logs[place]
        at, end = self._positions[place], log.stable_end if self._committed else log.end
        if at and at <= end and self._member_or_reader() and self._cluster.faults.happens("records twice"):
            at = max(log.start, at - 2)
        if at < log.start:
            if self._must_reach_back:
                wrong = KafkaError(KafkaError._AUTO_OFFSET_RESET, f"offset {at} is not there")
                found.append(Message(place, at, None, wrong))
                return
            at = log.start
        while at < end and len(found) < count:
            entry = log.visible(at, committed=self._committed)
            if entry is not None:
                found.append(Message(place, at, entry))
            at += 1
        self._positions[place] = at
        if self._tells_end and at >= end and len(found) < count and self._ends_told.get(place) != at:
            self._ends_told[place] = at
            found.append(Message(place, at, None, KafkaError(KafkaError._PARTITION_EOF)))

    # ---- questions

    def committed(self, places: Sequence[TopicPartition], timeout: float) -> list[TopicPartition]:
        self._scheduler.step()
        group = self._cluster.group
        deadline = self._scheduler.now + timeout
        while any(not group.is_stable((one.topic, one.partition)) for one in places):
            if self._scheduler.now >= deadline:
                raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "offsets are not stable"))
            self._scheduler.wait(deadline - self._scheduler.now)
        if self._cluster.faults.happens("offsets timed out"):
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "made up"))
        return [
            TopicPartition(one.topic, one.partition, group.offsets.get((one.topic, one.partition), NO_OFFSET))
            for one in places
        ]

    def get_watermark_offsets(
        self, place: TopicPartition, timeout: float = 0.0, cached: bool = False
    ) -> tuple[int, int]:
        log = self._cluster.brokers.logs[place.topic, place.partition]
        if not cached:
            self._scheduler.step()
        return log.start, log.stable_end if self._committed else log.end
