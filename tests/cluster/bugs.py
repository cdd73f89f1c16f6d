"""Seeded bugs: mistakes put into the product from outside, each of which schedules must find.

A schedule that finds nothing proves little unless it is known what it would find.
"""

import contextlib
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from confluent_kafka import KafkaException

from stream.errors import Abortable
from stream.kafka import checkpoints, session, transactions
from stream.kafka.batch_poller import BatchPoller, cut
from stream.kafka.checkpoints import CheckpointManager
from stream.kafka.exclusive import ExclusiveMembership
from stream.kafka.shared import SharedMembership
from stream.kafka.transactions import TransactionalWriter, _PendingCommit
from stream.model.processor import LearningProcessor
from tests.cluster.groups import Metadata

Patch = tuple[Any, str, Any]
"""An owner, the name of an attribute, and what is put in its place."""


class Bug(NamedTuple):
    """A mistake.

    Attributes:
        title: What is wrong.
        patches: Makes what is to be replaced; called once for each use.
        findings: What schedules must find, as patterns, any of them.
    """

    title: str
    patches: Callable[[], list[Patch]]
    findings: tuple[str, ...]

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """Put the bug in for a while."""
        patches = self.patches()
        before = [(owner, name, getattr(owner, name)) for owner, name, _ in patches]
        try:
            for owner, name, value in patches:
                setattr(owner, name, value)
            yield
        finally:
            for owner, name, old in before:
                setattr(owner, name, old)

    def is_found_in(self, failure: str) -> bool:
        """Whether a schedule has failed for the reason that this bug is."""
        return any(re.search(finding, failure) for finding in self.findings)


def _offsets_first() -> list[Patch]:
    write = TransactionalWriter.write

    def early(writer: Any, outputs: Any, offsets: Any, group: Any, committed: Any) -> None:
        if outputs and offsets:
            write(writer, [], offsets, group, lambda seconds: None)
        write(writer, outputs, [], group, committed)

    return [(TransactionalWriter, "write", early)]


def _no_offsets() -> list[Patch]:
    """Outputs without their offsets: nothing fences a worker that has lost its partitions."""
    write = TransactionalWriter.write

    def unfenced(writer: Any, outputs: Any, offsets: Any, group: Metadata, committed: Any) -> None:
        write(writer, outputs, [], group, committed)

    return [(TransactionalWriter, "write", unfenced)]


def _model_kept() -> list[Patch]:
    restore = CheckpointManager.restore
    kept: dict[Any, Any] = {}

    def remembered(keeper: Any, unit: Any) -> Any:
        fresh = restore(keeper, unit)
        if fresh is None:
            return None
        worker = id(keeper._observe), keeper._clients, unit
        known = kept.setdefault(worker, fresh)
        if known is not fresh:
            keeper._member.start(unit, known.next_offsets)
        return known

    return [(CheckpointManager, "restore", remembered)]


def _last_stable_offset() -> list[Patch]:
    read = checkpoints.read_to_end  # type: ignore[attr-defined]

    def stable(kafka: Any, where: Any, start: int, alive: Any, group: Any, end: int, clients: Any) -> Any:
        return read(kafka, where, start, alive, group, 0, clients)

    return [(checkpoints, "read_to_end", stable)]


def _unclear_is_done() -> list[Patch]:
    run = _PendingCommit._run

    def believing(pending: Any) -> None:
        run(pending)
        if isinstance(pending._error, Abortable):
            pending._error = None

    return [(_PendingCommit, "_run", believing)]


def _unclear_is_not_done() -> list[Patch]:
    """A commit that timed out is made again, with the same records, in another transaction."""
    write = TransactionalWriter.write

    def again(writer: Any, outputs: Any, offsets: Any, group: Any, committed: Any) -> None:
        write(writer, outputs, offsets, group, committed)
        pending = writer._pending
        pending.wait()
        if isinstance(pending._error, Abortable) and "request" in str(pending._error):
            writer._pending = None
            writer._producer = writer._open()
            write(writer, outputs, offsets, group, committed)

    return [(TransactionalWriter, "write", again)]


def _behind_an_error() -> list[Patch]:
    def dropping(poller: Any, consumer: Any, batch: Any, seconds: float = 0.1) -> Any:
        messages = poller.waiting or consumer.consume(1, seconds)
        if messages and len(messages) < batch.max_batch:
            messages = messages + consumer.consume(batch.max_batch - len(messages), 0)
        messages, poller.waiting = cut(messages, batch)
        return poller._taker.take(messages)[0]

    return [(BatchPoller, "take", dropping)]


def _learned_again() -> list[Patch]:
    return [(session, "_check_order", lambda processor, batch, spans: None)]


def _learned_again_in_a_batch() -> list[Patch]:
    return [(session, "first_repeat", lambda records: None)]


def _producer_used_again() -> list[Patch]:
    return [(TransactionalWriter, "_renew", lambda writer: None)]


def _queue_full_is_ignored() -> list[Patch]:
    def careless(produce: Any, topic: str, values: Any, keys: Any, partitions: Any, start: int) -> int:
        for value, key, number in zip(values, keys, partitions, strict=True):
            with contextlib.suppress(BufferError):
                produce(topic, value, key, number)
        return len(values)

    return [(transactions, "produce_all", careless)]


def _waiting_is_kept() -> list[Patch]:
    """What was read from a partition that has gone is processed all the same."""
    return [(BatchPoller, "forget", lambda poller, numbers: None), *_learned_again()]


def _model_survives_a_rebalance() -> list[Patch]:
    """A model that went to another worker and came back is not restored."""
    drop = session._Session._drop
    restore = CheckpointManager.restore

    def kept(one: Any, units: Any) -> None:
        for unit in units:
            known = one._processors.get(unit)
            if known is not None:
                one._keeper.__dict__.setdefault("left", {})[unit] = known
        drop(one, units)

    def returned(keeper: Any, unit: Any) -> Any:
        fresh = restore(keeper, unit)
        known = keeper.__dict__.get("left", {}).pop(unit, None)
        if fresh is None or known is None:
            return fresh
        keeper._member.start(unit, known.next_offsets)
        return known

    return [(session._Session, "_drop", kept), (CheckpointManager, "restore", returned)]


def _trimmed_too_soon() -> list[Patch]:
    begin = CheckpointManager.begin

    def trimming(keeper: Any, processors: Any) -> None:
        begin(keeper, processors)
        for unit, kept in keeper._kept.items():
            if kept.running is not None:
                keeper._trim(unit, keeper._journal_end(unit))

    return [(CheckpointManager, "begin", trimming)]


def _version_forgotten() -> list[Patch]:
    restore = LearningProcessor.restore

    def forgetful(model: Any, state: bytes) -> None:
        restore(model, state)
        model.version = 0

    return [(LearningProcessor, "restore", forgetful)]


def _generation_of_now() -> list[Patch]:
    """The generation is that of the moment of the commit, and the member whoever is of the group."""

    def current(member: Any) -> Metadata:
        consumer: Any = getattr(member, "_lock", None) or member._consumer
        return _Unfenced(consumer._cluster.group)  # type: ignore[return-value]

    return [(ExclusiveMembership, "group_metadata", current), (SharedMembership, "group_metadata", current)]


class _Unfenced:
    """Metadata that are always right."""

    def __init__(self, group: Any) -> None:
        self._group = group

    @property
    def member(self) -> str:
        return next(iter(self._group.members), "nobody")

    @property
    def generation(self) -> int:
        generation: int = self._group.generation
        return generation


def _errors_are_retriable() -> list[Patch]:
    """Whatever goes wrong with a commit is tried again with the next batch, in the same producer."""

    def stubborn(call: Any, timeouts: Any) -> None:
        with contextlib.suppress(KafkaException):
            call(1.0)

    return [(transactions, "_insist", stubborn)]


_STATE = r"ended with 70|^state: |^journal: |^offsets: "
_OUTPUT = r"^(doubled|missing|reordered|invented)|differ from|^wrong tree"

BUGS: dict[str, Bug] = {
    "offsets-first": Bug("offsets are committed before the outputs", _offsets_first, (_STATE, _OUTPUT)),
    "no-fence": Bug("outputs are written without offsets, which fence", _no_offsets, (_STATE, _OUTPUT)),
    "any-generation": Bug("offsets are not fenced by the generation", _generation_of_now, (_STATE, _OUTPUT)),
    "model-kept": Bug("the model is kept after an abort", _model_kept, (_STATE, _OUTPUT)),
    "model-back": Bug(
        "a model that went and came back is not restored", _model_survives_a_rebalance, (_STATE, _OUTPUT)
    ),
    "stable-end": Bug("a restore reads up to the last stable offset", _last_stable_offset, (_STATE, _OUTPUT)),
    "unclear-done": Bug("an unclear commit is taken for done", _unclear_is_done, (_STATE, _OUTPUT)),
    "unclear-not-done": Bug(
        "an unclear commit is taken for not done", _unclear_is_not_done, (_STATE, _OUTPUT)
    ),
    "any-error": Bug("errors of a commit are ignored", _errors_are_retriable, (_STATE, _OUTPUT)),
    "error-skipped": Bug("records behind an error are dropped", _behind_an_error, ("^missing",)),
    "learned-again": Bug("records that come again are learned again", _learned_again, (_STATE, _OUTPUT)),
    "learned-twice": Bug("records twice in a batch are learned twice", _learned_again_in_a_batch, (_OUTPUT,)),
    "waiting-kept": Bug("what was read before a partition went is kept", _waiting_is_kept, (_STATE, _OUTPUT)),
    "producer-kept": Bug(
        "a producer is used again after a disturbed commit", _producer_used_again, (_STATE, _OUTPUT)
    ),
    "queue-full": Bug("a full queue loses a prediction", _queue_full_is_ignored, ("^missing",)),
    "trimmed-early": Bug("the journal is trimmed before the snapshot is there", _trimmed_too_soon, (_STATE,)),
    "version-lost": Bug("a snapshot does not keep the tree's version", _version_forgotten, (_OUTPUT,)),
}
"""By name."""
