"""The transactional producer of a session: what a batch came to becomes visible at once, or not at all.

A commit is a wait for the broker, so that it is left to a thread while the next batch is being worked on. No
transaction begins before the one before it is decided.

The client speaks the transaction protocol of before KIP-890: where the answer to EndTxn is lost it asks again
with the same epoch, and a copy that was held up on the way could end the *next* transaction. The client hides
this. It shows in its debug log alone, which is therefore listened to, and in the time a commit takes; a
producer whose commit was disturbed is replaced before the next transaction, which gives it a new epoch and
makes the stale copy worthless.
"""

import logging
import statistics
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence

from confluent_kafka import KafkaException, Producer, TopicPartition

from stream.config import Kafka, Timeouts
from stream.errors import Abortable, EngineError, Fatal
from stream.kafka.client_errors import classify
from stream.kafka.clients import CONFLUENT, REQUEST_SECONDS, Clients, client, producer_settings, send
from stream.native.messages import produce_all
from stream.records.record import Output, OutputColumn, Outputs

log = logging.getLogger(__name__)

SLOW_TIMES = 10
"""A commit that takes so many times the usual is taken for one that was tried twice."""
SLOW_SECONDS = 0.25

Committed = Callable[[float], None]


class EndTxnRetryDetector(logging.Handler):
    """Listens to the client for a commit that was tried more than once."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.seen = ""
        self._usual: deque[float] = deque(maxlen=64)

    def emit(self, record: logging.LogRecord) -> None:
        """Take a line of the client's log."""
        line = record.getMessage()
        if "EndTxn returned" in line and "NO_ERROR" not in line:
            self.seen = line
        elif record.levelno >= logging.ERROR:
            log.warning("the client says: %s", line)

    def took(self, seconds: float) -> None:
        """Note how long a commit took."""
        if len(self._usual) > 8 and seconds > max(SLOW_SECONDS, SLOW_TIMES * statistics.median(self._usual)):
            self.seen = self.seen or f"a commit took {seconds:.3f} s"
        self._usual.append(seconds)


class TransactionalWriter:
    """Writes batches in transactions, one after the other.

    Args:
        kafka: The cluster.
        transactional_id: The name of which there is only one: whoever had it before is fenced.
        partitions: How many partitions each topic has.
        retried: Told why, each time a producer is replaced after a disturbed commit.
        clients: What makes the producer.
    """

    def __init__(
        self,
        kafka: Kafka,
        transactional_id: str,
        partitions: Mapping[str, int],
        retried: Callable[[str], None],
        clients: Clients = CONFLUENT,
    ) -> None:
        self._kafka = kafka
        self._id = transactional_id
        self._partitions = partitions
        self._retried = retried
        self._clients = clients
        self._timeouts = Timeouts.of(kafka.properties)
        self._disturbances = EndTxnRetryDetector()
        self._pending: _PendingCommit | None = None
        self._producer = self._open()

    def _open(self) -> Producer:
        logger = logging.Logger(f"{__name__}.client")
        logger.addHandler(self._disturbances)
        # The log of "eos" is 25 lines for each transaction, whatever its size.
        settings = {**producer_settings(self._kafka, self._id), "debug": "eos", "log_level": 7}
        producer = client(self._clients.producer, settings, logger=logger)
        try:
            producer.init_transactions(self._timeouts.init_seconds)
        except KafkaException as error:
            raise classify(error) from error
        self._disturbances.seen = ""
        return producer

    def write(
        self,
        outputs: Sequence[Outputs],
        next_offsets: Sequence[TopicPartition],
        group: object,
        committed: Committed,
    ) -> None:
        """Write what some batches came to and begin to commit it, once what came before is decided.

        1. Begin a transaction.
        2. Produce predictions, tree changes, dead letters, the journal, and pieces of snapshots.
        3. Add the offsets to read next, fenced by the group's generation.
        4. Commit.

        A crash before 4 leaves no trace. Where it is not known whether 4 succeeded, the topics know.

        Args:
            outputs: What to write.
            next_offsets: The offsets to read next.
            group: What fences a worker that is no longer of the group.
            committed: Called by `settle` with the seconds it took.

        Raises:
            EngineError: This transaction, or the one before it, did not succeed.
        """
        self.settle()
        self._renew()
        try:
            self._producer.begin_transaction()
            for one in outputs:
                self._produce_run(one.answers)
                for output in one.others:
                    self._produce(output)
        except (KafkaException, BufferError) as error:
            raise classify(error, _topics_of(outputs)) from error
        self._pending = _PendingCommit(
            self._producer, next_offsets, group, _topics_of(outputs), committed, self._timeouts
        )

    @property
    def is_busy(self) -> bool:
        """Whether a transaction is under way and not decided yet."""
        return self._pending is not None and self._pending.is_under_way

    def settle(self) -> None:
        """Wait until the transaction under way, if any, is decided.

        Raises:
            EngineError: It did not succeed, or it is not known whether it did.
        """
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.settle()
            self._producer.poll(0)
            self._disturbances.took(pending.seconds)

    def close(self) -> None:
        """Give the transaction under way a last chance."""
        pending, self._pending = self._pending, None
        if pending is not None:
            pending.wait(self._timeouts.commit_seconds)

    def _renew(self) -> None:
        """Take a new producer where the last commit may have left a copy of itself on the way."""
        if self._disturbances.seen:
            self._retried(self._disturbances.seen)
            # The old one goes first: two of one name would fence each other.
            del self._producer
            self._producer = self._open()

    def _partition(self, topic: str, number: int | None) -> int:
        return -1 if number is None else number % self._partitions[topic]

    def _produce(self, output: Output) -> None:
        send(self._producer, output, self._partition(output.topic, output.partition))

    def _produce_run(self, run: OutputColumn) -> None:
        if not run.values:
            return
        count = self._partitions[run.topic]
        partitions = [number % count for number in run.partitions]
        deadline = time.monotonic() + REQUEST_SECONDS
        done = 0
        while True:
            done = produce_all(self._producer.produce, run.topic, run.values, run.keys, partitions, done)
            if done == len(run.values):
                return
            if time.monotonic() > deadline:
                raise Abortable("the client's queue stayed full")
            self._producer.poll(0.05)


class _PendingCommit:
    """A transaction on its way to be committed, in a thread of its own."""

    def __init__(
        self,
        producer: Producer,
        next_offsets: Sequence[TopicPartition],
        group: object,
        topics: set[str],
        committed: Committed,
        timeouts: Timeouts,
    ) -> None:
        self.seconds = 0.0
        self._producer = producer
        self._next_offsets = list(next_offsets)
        self._group = group
        self._topics = topics
        self._committed = committed
        self._timeouts = timeouts
        self._error: EngineError | None = None
        self._thread = threading.Thread(target=self._run, name="commit", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        started = time.perf_counter()
        try:
            if self._next_offsets:
                _insist(
                    lambda seconds: self._producer.send_offsets_to_transaction(
                        self._next_offsets, self._group, seconds
                    ),
                    self._timeouts,
                )
            _insist(self._producer.commit_transaction, self._timeouts)
        except KafkaException as error:
            # Nothing is aborted here: it may be that the commit succeeded. The next producer of this name
            # aborts what was left open, and the topics say how it ended.
            self._error = classify(error, self._topics)
        self.seconds = time.perf_counter() - started

    @property
    def is_under_way(self) -> bool:
        return self._thread.is_alive()

    def wait(self, seconds: float | None = None) -> None:
        self._thread.join(seconds)

    def settle(self) -> None:
        self.wait(self._timeouts.settle_seconds)
        if self._thread.is_alive():
            raise Fatal("the client does not come back from a commit")
        if self._error is not None:
            raise self._error
        self._committed(self.seconds)


def _topics_of(outputs: Sequence[Outputs]) -> set[str]:
    return {one.answers.topic for one in outputs if one.answers.values} | {
        other.topic for one in outputs for other in one.others
    }


def _insist(call: Callable[[float], object], timeouts: Timeouts) -> None:
    """Call again what may be called again, for up to `insist_seconds` together.

    Args:
        call: Is given how many seconds it has.
        timeouts: Of the cluster.
    """
    deadline = time.monotonic() + timeouts.insist_seconds
    left = timeouts.commit_seconds
    while True:
        try:
            call(left)
            return
        except KafkaException as error:
            left = min(timeouts.commit_seconds, deadline - time.monotonic())
            if not error.args[0].retriable() or left <= 0:
                raise
