"""What stands in for a transactional producer and an administrator of confluent-kafka."""

import logging
from collections.abc import Sequence
from concurrent.futures import Future
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from confluent_kafka import KafkaError, KafkaException, TopicPartition

from tests.cluster.broker import Entry, Refused, Transaction
from tests.cluster.groups import Metadata

if TYPE_CHECKING:
    from tests.cluster.cluster import Cluster

LATE_SECONDS = 4.0
"""How late a request can arrive that was held up."""

REPEATED = "ENDTXN: EndTxn returned _TRANSPORT in state CommittingTransaction (may retry)"
"""What the client logs when it sends the request to commit a second time."""


def _timed_out(what: str) -> KafkaException:
    return KafkaException(KafkaError(KafkaError._TIMED_OUT, what, retriable=True))


def _abortable(code: int, what: str) -> KafkaException:
    return KafkaException(KafkaError(code, what, txn_requires_abort=True))


class FakeProducer:
    """A producer of the fake cluster.

    Args:
        cluster: The cluster.
        settings: As for confluent-kafka.
        logger: Is told of requests that were tried again.
    """

    def __init__(self, cluster: "Cluster", settings: dict[str, Any], logger: logging.Logger) -> None:
        self._cluster = cluster
        self._scheduler = cluster.scheduler
        self._name = settings["transactional.id"]
        self._timeout = settings["transaction.timeout.ms"] / 1_000
        self._logger = logger
        self._epoch = -1
        self._queue: list[tuple[str, int, Entry]] = []
        self._transaction: Transaction | None = None
        self._is_sent = False
        self._gets_no_response = False
        self._error: KafkaException | None = None

    def init_transactions(self, timeout: float) -> None:
        self._scheduler.step()
        if self._cluster.faults.happens("coordinator away"):
            error = KafkaError(KafkaError.COORDINATOR_NOT_AVAILABLE, "made up", retriable=True)
            raise KafkaException(error)
        deadline = self._scheduler.now + timeout
        while (epoch := self._cluster.brokers.new_epoch(self._name)) is None:
            if self._scheduler.now >= deadline:
                raise _timed_out("markers are missing")
            self._scheduler.wait(deadline - self._scheduler.now)
        self._epoch = epoch

    def begin_transaction(self) -> None:
        self._scheduler.step()
        self._raise_error()
        assert not self._queue, "the transaction before has not been committed"
        self._transaction = None
        self._is_sent = False

    def _raise_error(self) -> None:
        if self._error is not None:
            raise self._error

    def produce(
        self,
        topic: str,
        value: bytes | None,
        key: bytes | None,
        partition: int,
        headers: Sequence[tuple[str, bytes | None]] = (),
    ) -> None:
        self._raise_error()
        faults = self._cluster.faults
        if faults.happens("queue full"):
            raise BufferError("made up")
        if faults.happens("produce failed"):
            self._error = _abortable(KafkaError._STATE, "made up")
            raise self._error
        number = partition if partition >= 0 else 0
        self._queue.append((topic, number, Entry(value, key, tuple(headers), None)))
        if self._cluster.rng.random() < 0.2:
            self._send()

    def poll(self, seconds: float) -> int:
        self._scheduler.step()
        return 0

    def _send(self) -> None:
        """Send what is in the queue; an error shows with the next call."""
        if not self._queue:
            return
        brokers = self._cluster.brokers
        try:
            transaction = brokers.transaction(self._name, self._epoch, self._timeout, KafkaError._FENCED)
        except Refused as refused:
            self._error = self._error or KafkaException(
                KafkaError(refused.code, "another producer has this name", fatal=True)
            )
            return
        if transaction is None:
            return
        if self._transaction is not None and self._transaction is not transaction:
            # A copy of an older commit has ended it: the client does not notice, and writes the rest.
            self._cluster.faults.counts["transaction cut in two"] += 1
        self._transaction = transaction
        for topic, number, entry in self._queue:
            brokers.write(transaction, (topic, number), entry._replace(transaction=transaction))
        self._queue.clear()
        self._scheduler.wake()

    def _flush(self, seconds: float) -> None:
        deadline = self._scheduler.now + seconds
        while self._queue:
            self._send()
            self._raise_error()
            if self._queue:
                if self._scheduler.now >= deadline:
                    raise _timed_out("messages are still in the queue")
                self._scheduler.wait(deadline - self._scheduler.now)
        self._raise_error()

    def send_offsets_to_transaction(
        self, offsets: Sequence[TopicPartition], group: Metadata, timeout: float
    ) -> None:
        self._scheduler.step()
        self._flush(timeout)
        if self._cluster.faults.happens("offsets abortable"):
            self._error = _abortable(KafkaError.COORDINATOR_NOT_AVAILABLE, "made up")
            raise self._error
        brokers = self._cluster.brokers
        deadline = self._scheduler.now + timeout
        try:
            while True:
                transaction = brokers.transaction(self._name, self._epoch, self._timeout, KafkaError._FENCED)
                if transaction is not None:
                    break
                if self._scheduler.now >= deadline:
                    raise _timed_out("markers are missing")
                self._scheduler.wait(deadline - self._scheduler.now)
            self._transaction = transaction
            places = [((one.topic, one.partition), one.offset) for one in offsets]
            self._cluster.group.commit(transaction, places, group)
        except Refused as refused:
            self._error = _abortable(refused.code, "refused")
            raise self._error from refused

    def commit_transaction(self, timeout: float) -> None:
        self._scheduler.step()
        self._flush(timeout)
        faults = self._cluster.faults
        self._scheduler.step()
        transaction = self._transaction
        if transaction is None:
            return
        if self._gets_no_response:
            self._lose_response(timeout)
        if transaction.is_committed:
            # Committed by a request whose response was lost.
            return
        if faults.happens("commit abortable"):
            self._error = _abortable(KafkaError.UNKNOWN_PRODUCER_ID, "made up")
            raise self._error
        if faults.happens("commit fenced"):
            self._cluster.brokers.new_epoch(self._name)
        if faults.happens("commit fatal"):
            self._error = KafkaException(KafkaError(KafkaError.UNKNOWN, "made up", fatal=True))
            raise self._error
        if self._is_sent or faults.happens("commit late"):
            # The client sends it once, and goes on waiting with the next call.
            if not self._is_sent:
                self._is_sent = True
                self._copy_arrives_later()
            self._await_late_commit(transaction, timeout)
            return
        if faults.happens("commit request lost"):
            self._scheduler.wait(timeout, can_be_woken=False)
            self._logger.debug(REPEATED)
            raise _timed_out("the request was lost")
        if faults.happens("commit repeated"):
            self._logger.debug(REPEATED)
            self._copy_arrives_later()
        self._end()
        if faults.happens("commit response lost"):
            self._gets_no_response = self._cluster.rng.random() < 0.5
            self._lose_response(timeout)
        self._scheduler.step()

    def _lose_response(self, seconds: float) -> None:
        self._scheduler.wait(seconds, can_be_woken=False)
        self._logger.debug(REPEATED)
        raise _timed_out("the response to the request was lost")

    def _await_late_commit(self, transaction: Transaction, seconds: float) -> None:
        deadline = self._scheduler.now + seconds
        while transaction.is_open:
            if self._scheduler.now >= deadline:
                raise _timed_out("the request is late")
            self._scheduler.wait(deadline - self._scheduler.now)
        if not transaction.is_committed:
            self._error = KafkaException(KafkaError(KafkaError._FENCED, "refused", fatal=True))
            raise self._error

    def _end(self) -> None:
        try:
            self._cluster.brokers.end(
                self._name, self._epoch, KafkaError._FENCED, KafkaError.INVALID_TXN_STATE
            )
        except Refused as refused:
            self._error = KafkaException(KafkaError(refused.code, "refused", fatal=True))
            raise self._error from refused

    def _copy_arrives_later(self) -> None:
        """A copy of the request to commit is on the way: it commits whatever is open when it arrives."""

        def arrive() -> None:
            try:
                self._cluster.brokers.end(
                    self._name, self._epoch, KafkaError._FENCED, KafkaError.INVALID_TXN_STATE
                )
            except Refused:
                return

        self._scheduler.call_in(self._cluster.rng.random() * LATE_SECONDS, arrive)


class FakeAdmin:
    """An administrator of the fake cluster."""

    def __init__(self, cluster: "Cluster", settings: dict[str, Any]) -> None:
        self._cluster = cluster

    def list_topics(self, timeout: float) -> SimpleNamespace:
        self._cluster.scheduler.step()
        return SimpleNamespace(
            topics={
                name: SimpleNamespace(
                    partitions={n: SimpleNamespace(replicas=[1]) for n in range(count)}, error=None
                )
                for name, count in self._cluster.brokers.partitions.items()
            }
        )

    def delete_records(self, places: Sequence[TopicPartition]) -> dict[Any, "Future[object]"]:
        self._cluster.scheduler.step()
        futures: dict[Any, Future[object]] = {}
        for one in places:
            future: Future[object] = Future()
            if self._cluster.faults.happens("trim failed"):
                future.set_exception(_timed_out("made up"))
            else:
                log = self._cluster.brokers.logs[one.topic, one.partition]
                log.start = max(log.start, one.offset)
                future.set_result(None)
            futures[one] = future
        return futures
