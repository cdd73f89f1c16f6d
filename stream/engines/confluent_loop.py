"""The engine on confluent-kafka: one transaction per batch, state in the journal, exactly once.

Whatever goes wrong, there is one way out: everything in memory is dropped and made anew from the topics. A
batch is committed before the next is polled, so that nothing is ever half done when partitions come or go.
"""

import logging
import time
from collections.abc import Callable, Iterator, Sequence

from confluent_kafka import KafkaException, Producer, TopicPartition

from stream.config import Agent, Batch, Kafka, Scope
from stream.engine import Guarantee, MakeProcessor, Stop, Unit
from stream.engines.confluent_errors import classify
from stream.engines.confluent_members import Member, PartitionMember, TopicMember
from stream.engines.kafka import REQUEST_SECONDS, Topics, producer_settings, read_to_end, send
from stream.errors import Abortable, EngineError, Fenced, StateError
from stream.events import Committed, Processed, Progress, Restored
from stream.processor import Observe, Processor
from stream.record import Output, Partition, Record

log = logging.getLogger(__name__)

COMMIT_SECONDS = 10.0
JOURNAL_SECONDS = 30.0
"""How long a restore waits for the journal to reach what was committed: markers may come a moment later."""

_Spans = dict[Partition, tuple[int, int]]
"""For each partition the first offset of a batch, and the offset to read next."""


class ConfluentLoop:
    """Runs one agent on a Kafka cluster.

    Args:
        kafka: The cluster.
        agent: The agent.
        batch: How many records make a transaction.
        instance: The name of this worker among its peers.
        observe: Told of everything that metrics count.
    """

    guarantee = Guarantee.EXACTLY_ONCE

    def __init__(self, kafka: Kafka, agent: Agent, batch: Batch, instance: str, observe: Observe) -> None:
        self._kafka = kafka
        self._agent = agent
        self._batch = batch
        self._instance = instance
        self._observe = observe

    def run(self, make_processor: MakeProcessor, stop: Stop) -> None:
        """Work until told to stop; after a disturbance begin again from the topics."""
        partitions = self._check_topics()
        while not stop():
            session = _Session(
                self._kafka, self._agent, self._batch, self._observe, make_processor, partitions
            )
            try:
                session.work(self._member(), stop)
            except (Abortable, Fenced) as error:
                # Crash-only: what was in memory is gone with the session, the topics say where to go on.
                log.warning("agent %s begins again from its journal: %s", self._agent.name, error)
                self._observe(Committed(self._agent.name, "aborted", 0.0))
                time.sleep(0.2)

    def _member(self) -> Member:
        if self._agent.scope is Scope.PARTITION:
            return PartitionMember(self._kafka, self._agent, self._instance, self._observe)
        return TopicMember(self._kafka, self._agent, self._observe)

    def _check_topics(self) -> dict[str, int]:
        """Return how many partitions each of the agent's topics has.

        Raises:
            EngineError: One is missing, or the journal does not fit the input.
        """
        agent = self._agent
        topics = agent.topics
        needed = (agent.input, topics.predictions, topics.tree_changes, topics.dead_letters, topics.journal)
        known = Topics(self._kafka).describe(needed)
        missing = [name for name in needed if name not in known]
        if missing:
            raise EngineError(
                f'agent "{agent.name}": missing topics: {", ".join(missing)}. '
                'Make them with "espalier topics create"'
            )
        want = known[agent.input].partitions if agent.scope is Scope.PARTITION else 1
        if known[topics.journal].partitions != want:
            raise StateError(
                f'the journal "{topics.journal}" has {known[topics.journal].partitions} partitions where '
                f'{want} are needed for scope "{agent.scope}". The input was repartitioned, or the scope '
                "has changed: give the agent another name to begin anew"
            )
        return {name: facts.partitions for name, facts in known.items()}


class _Session:
    """From joining the group to the first disturbance."""

    def __init__(
        self,
        kafka: Kafka,
        agent: Agent,
        batch: Batch,
        observe: Observe,
        make_processor: MakeProcessor,
        partitions: dict[str, int],
    ) -> None:
        self._kafka = kafka
        self._agent = agent
        self._batch = batch
        self._observe = observe
        self._make_processor = make_processor
        self._partitions = partitions
        self._processors: dict[Unit, Processor] = {}

    def work(self, member: Member, stop: Stop) -> None:
        """Join, and carry batches until told to stop. The numbers are those of `stream/__init__.py`."""
        producer: Producer | None = None
        try:
            while not stop():
                member.keep_alive()
                self._drop(member.take_revoked())
                if not member.is_active:
                    producer = None
                    continue
                if producer is None:
                    producer = self._open_producer(member.transactional_id)
                for unit in member.take_assigned():
                    self._restore(unit, member)
                # 1 a batch is polled
                records = member.poll(self._batch.max_batch, self._batch.linger_ms / 1_000)
                if not records:
                    continue
                # 2-6 decoded, answered, learned, made into outputs, counted
                outputs, spans = self._process(records, member)
                # 7, 8 produced and committed together with the offsets
                self._commit(producer, outputs, spans, member)
                self._tell_progress(spans, member)
        finally:
            member.close()

    # ---- 2-6

    def _process(self, records: Sequence[Record], member: Member) -> tuple[list[Output], _Spans]:
        started = time.perf_counter()
        outputs: list[Output] = []
        spans: _Spans = {}
        batches: dict[Unit, list[Record]] = {}
        for record in records:
            # 3 each record goes to the processor of its model
            batches.setdefault(member.unit_of(record.partition), []).append(record)
            first, _ = spans.get(record.partition, (record.offset, 0))
            spans[record.partition] = first, record.offset + 1
        for unit, batch in batches.items():
            outputs.extend(self._processors[unit].process(batch))
        self._observe(Processed(self._agent.name, len(records), time.perf_counter() - started))
        return outputs, spans

    # ---- 7, 8

    def _open_producer(self, transactional_id: str) -> Producer:
        """Return a producer of which there is only one: whoever had its id before is fenced."""
        producer = Producer(producer_settings(self._kafka, transactional_id))
        try:
            producer.init_transactions(2 * REQUEST_SECONDS)
        except KafkaException as error:
            raise classify(error) from error
        return producer

    def _commit(self, producer: Producer, outputs: Sequence[Output], spans: _Spans, member: Member) -> None:
        """Make everything a batch came to visible at once, or not at all.

        1. Begin a transaction.
        2. Produce predictions, tree changes, dead letters and the journal.
        3. Add the offsets to read next, fenced by the group's generation.
        4. Commit.

        A crash before 4 leaves no trace. Where it is not known whether 4 succeeded, the topics know.
        """
        started = time.perf_counter()
        next_offsets = [TopicPartition(p.topic, p.number, end) for p, (_, end) in spans.items()]
        try:
            producer.begin_transaction()
            for output in outputs:
                wanted = -1 if output.partition is None else output.partition % self._partitions[output.topic]
                send(producer, output, wanted)
            _insist(
                lambda: producer.send_offsets_to_transaction(
                    next_offsets, member.group_metadata(), COMMIT_SECONDS
                )
            )
            _insist(lambda: producer.commit_transaction(COMMIT_SECONDS))
        except (KafkaException, BufferError) as error:
            # Nothing is aborted here: it may be that the commit succeeded. The next producer of this name
            # aborts what was left open, and the topics say how it ended.
            raise classify(error) from error
        self._observe(Committed(self._agent.name, "committed", time.perf_counter() - started))

    def _tell_progress(self, spans: _Spans, member: Member) -> None:
        for place, (first, end) in spans.items():
            lag = member.lag(place, end)
            self._observe(Progress(self._agent.name, place.topic, place.number, first, end, lag))

    # ---- state

    def _drop(self, units: Sequence[Unit]) -> None:
        for unit in units:
            self._processors.pop(unit, None)

    def _restore(self, unit: Unit, member: Member) -> None:
        """Make a model's processor from its journal and read on where it stands.

        What was committed is asked for first: offsets that are stable belong to a transaction that has been
        decided, so that its journal message is there or about to appear.
        """
        started = time.perf_counter()
        committed = member.committed(unit)
        deadline = time.monotonic() + JOURNAL_SECONDS
        while True:
            processor, instances = self._replayed(unit, member)
            behind = _behind(processor.next_offsets, committed)
            if not behind:
                break
            if time.monotonic() > deadline:
                raise StateError(
                    f"{self._agent.topics.journal} does not reach the committed offsets of {unit.model}: "
                    f"{behind}. Part of the journal is missing, or the group's offsets were moved by hand"
                )
            member.keep_alive()
            time.sleep(0.1)
        member.start(unit, processor.next_offsets)
        self._processors[unit] = processor
        seconds = time.perf_counter() - started
        log.info("agent %s: model %s restored from %d instances", self._agent.name, unit.model, instances)
        self._observe(Restored(self._agent.name, unit.model, instances, seconds))

    def _replayed(self, unit: Unit, member: Member) -> tuple[Processor, int]:
        processor = self._make_processor(unit)
        instances = 0

        def alive() -> Iterator[None]:
            while True:
                member.keep_alive(0)
                yield

        journal = Partition(self._agent.topics.journal, unit.journal_partition)
        told = time.monotonic()
        for record in read_to_end(self._kafka, journal, alive=alive()):
            instances += processor.replay(record.value or b"")
            if time.monotonic() - told > 5:
                told = time.monotonic()
                log.info(
                    "agent %s: restoring %s, %d instances so far", self._agent.name, unit.model, instances
                )
        return processor, instances


def _behind(state: dict[int, int], committed: dict[int, int]) -> str:
    """Return where the journal has not reached what was committed, as text.

    Raises:
        StateError: The journal is ahead: the group's offsets were moved back by hand.
    """
    ahead = {p: offset for p, offset in state.items() if p in committed and committed[p] < offset}
    if ahead:
        raise StateError(
            f"the group's offsets {committed} are behind those of the journal {state}. They were moved back "
            "by hand: records would be learned twice. Give the agent another name to learn from the beginning"
        )
    behind = {p: offset for p, offset in committed.items() if state.get(p, 0) < offset}
    return ", ".join(
        f"partition {p} at {state.get(p, 0)} instead of {offset}" for p, offset in behind.items()
    )


def _insist(call: Callable[[], object]) -> None:
    """Call again what may be called again, for as long as a commit may take."""
    deadline = time.monotonic() + 2 * COMMIT_SECONDS
    while True:
        try:
            call()
            return
        except KafkaException as error:
            if not error.args[0].retriable() or time.monotonic() > deadline:
                raise
