"""The brokers: logs with transactions, producer epochs, and the last stable offset."""

from collections.abc import Callable
from typing import NamedTuple

from tests.cluster.scheduler import Scheduler

Place = tuple[str, int]
"""A topic and the number of a partition."""
Decided = Callable[[bool], None]


class Entry(NamedTuple):
    """What stands at an offset."""

    value: bytes | None
    key: bytes | None
    headers: tuple[tuple[str, bytes | None], ...]
    transaction: "Transaction | None"


class Refused(Exception):  # noqa: N818 - what has happened is said by the name
    """A broker says no, with an error code of Kafka's."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Log:
    """A partition. A marker, or what was compacted away, is None."""

    def __init__(self) -> None:
        self.entries: list[Entry | None] = []
        self.start = 0
        self.open: dict[Transaction, int] = {}

    @property
    def end(self) -> int:
        """The high watermark."""
        return len(self.entries)

    @property
    def stable_end(self) -> int:
        """The last stable offset: where the first transaction begins that has no marker here yet."""
        return min(self.open.values()) if self.open else len(self.entries)

    def visible(self, offset: int, *, committed: bool) -> Entry | None:
        """Return what a reader sees at an offset; None: nothing."""
        entry = self.entries[offset]
        if entry is None or not committed or entry.transaction is None or entry.transaction.is_committed:
            return entry
        return None

    def committed(self) -> list[tuple[int, Entry]]:
        """Return everything that a `read_committed` reader sees, with its offset."""
        seen = (
            (offset, self.visible(offset, committed=True)) for offset in range(self.start, self.stable_end)
        )
        return [(offset, entry) for offset, entry in seen if entry is not None]


class Transaction:
    """What one producer wrote between two decisions."""

    def __init__(self, name: str, epoch: int) -> None:
        self.name = name
        self.epoch = epoch
        self.places: set[Place] = set()
        self.offsets: list[Decided] = []
        """Called with the decision: the offsets that wait for it in a group."""
        self.is_open = True
        self.is_committed = False
        self.markers_left = 0


class Coordinator:
    """What is known of one transactional id."""

    def __init__(self) -> None:
        self.epoch = -1
        self.transaction: Transaction | None = None


class Brokers:
    """Topics and transactions.

    Args:
        scheduler: Who calls what happens later.
        delay: Returns after how many seconds a marker is written; 0: at once.
        partitions: The topics.
    """

    def __init__(self, scheduler: Scheduler, delay: Callable[[], float], partitions: dict[str, int]) -> None:
        self.scheduler = scheduler
        self.partitions = partitions
        self.logs: dict[Place, Log] = {
            (topic, number): Log() for topic, count in partitions.items() for number in range(count)
        }
        self.visible: dict[str, int] = dict.fromkeys(partitions, 0)
        """How many records of each topic a `read_committed` reader can see."""
        self._delay = delay
        self._coordinators: dict[str, Coordinator] = {}

    def append(self, topic: str, number: int, value: bytes | None) -> None:
        """Write a record outside of transactions."""
        self.logs[topic, number].entries.append(Entry(value, None, (), None))
        self.visible[topic] += 1
        self.scheduler.wake()

    # ---- transactions

    def coordinator(self, name: str) -> Coordinator:
        """Return what is known of a transactional id."""
        return self._coordinators.setdefault(name, Coordinator())

    @property
    def is_committing(self) -> bool:
        """Whether a transaction is open that has its offsets: all that is missing is the decision."""
        transactions = [one.transaction for one in self._coordinators.values()]
        return any(one is not None and one.is_open and one.offsets for one in transactions)

    def new_epoch(self, name: str) -> int | None:
        """Fence whoever used a transactional id; None: its last transaction has not all its markers yet."""
        coordinator = self.coordinator(name)
        transaction = coordinator.transaction
        if transaction is not None and transaction.is_open:
            coordinator.epoch += 1
            self._decide(transaction, commit=False)
        if transaction is not None and transaction.markers_left:
            return None
        coordinator.transaction = None
        coordinator.epoch += 1
        return coordinator.epoch

    def transaction(self, name: str, epoch: int, timeout: float, fenced: int) -> Transaction | None:
        """Return the open transaction of a producer; None: the one before has not all its markers yet.

        Raises:
            Refused: The producer has been fenced.
        """
        coordinator = self.coordinator(name)
        if coordinator.epoch != epoch:
            raise Refused(fenced)
        transaction = coordinator.transaction
        if transaction is not None and not transaction.is_open:
            if transaction.markers_left:
                return None
            transaction = None
        if transaction is None:
            transaction = coordinator.transaction = Transaction(name, epoch)
            opened = transaction
            self.scheduler.call_in(timeout, lambda: self._time_out(opened))
        return transaction

    def _time_out(self, transaction: Transaction) -> None:
        if transaction.is_open:
            self.coordinator(transaction.name).epoch += 1
            self._decide(transaction, commit=False)

    def write(self, transaction: Transaction, place: Place, entry: Entry) -> None:
        """Append a record of a transaction."""
        log = self.logs[place]
        if place not in transaction.places:
            transaction.places.add(place)
            log.open[transaction] = log.end
        log.entries.append(entry)

    def end(self, name: str, epoch: int, fenced: int, no_transaction: int) -> None:
        """Commit what is open under a transactional id, whichever transaction it is.

        Raises:
            Refused: The producer has been fenced, or nothing is open.
        """
        coordinator = self.coordinator(name)
        if coordinator.epoch != epoch:
            raise Refused(fenced)
        transaction = coordinator.transaction
        if transaction is None or not transaction.is_open:
            raise Refused(no_transaction)
        self._decide(transaction, commit=True)

    def _decide(self, transaction: Transaction, *, commit: bool) -> None:
        transaction.is_open = False
        transaction.is_committed = commit
        transaction.markers_left = len(transaction.places) + len(transaction.offsets)
        calls: list[Callable[[], None]] = []
        for place in sorted(transaction.places):
            calls.append(lambda place=place: self._mark(transaction, place))  # type: ignore[misc]
        for offsets in transaction.offsets:
            calls.append(lambda offsets=offsets: self._decide_offsets(transaction, offsets))  # type: ignore[misc]
        for call in calls:
            seconds = self._delay()
            if seconds:
                self.scheduler.call_in(seconds, call)
            else:
                call()
        self.scheduler.wake()

    def _mark(self, transaction: Transaction, place: Place) -> None:
        log = self.logs[place]
        first = log.open.pop(transaction)
        if transaction.is_committed:
            mine = sum(
                entry is not None and entry.transaction is transaction for entry in log.entries[first:]
            )
            self.visible[place[0]] += mine
        log.entries.append(None)
        self._marked(transaction)

    def _decide_offsets(self, transaction: Transaction, offsets: Decided) -> None:
        offsets(transaction.is_committed)
        self._marked(transaction)

    def _marked(self, transaction: Transaction) -> None:
        transaction.markers_left -= 1
        self.scheduler.wake()

    # ---- what operators and time do

    def compact(self, topic: str) -> None:
        """Keep the newest committed record of each key alone."""
        for (name, _), log in self.logs.items():
            if name != topic:
                continue
            newest: dict[bytes | None, int] = {}
            for offset, entry in log.committed():
                before = newest.get(entry.key)
                if before is not None:
                    log.entries[before] = None
                newest[entry.key] = offset
