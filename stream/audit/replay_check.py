"""The tree recomputed: from the journal, and from the changes. Both must be the one that was written."""

from collections.abc import Callable, Iterable

from stream.audit.findings import Findings, Kind
from stream.client.replica import Replica
from stream.errors import StateError
from stream.model.ports import MakeProcessor, Unit
from stream.model.processing import Processor
from stream.records.record import Partition, Record
from stream.state.restore import restore
from stream.state.snapshots import Snapshots


class JournalProof:
    """Learns again what the journal holds, and compares the tree after every entry.

    Args:
        unit: The model.
        make: Makes a fresh processor of it.
        findings: What is wrong goes there.
    """

    def __init__(self, unit: Unit, make: MakeProcessor, findings: Findings) -> None:
        self.instances = 0
        self._unit = unit
        self._make = make
        self._processor: Processor | None = make(unit)
        self._findings = findings

    def take(self, record: Record) -> None:
        """Learn an entry again; after the first that is wrong there is nothing to compare any more."""
        if self._processor is None:
            return
        try:
            self.instances += self._processor.replay(record.value or b"")
        except StateError as error:
            self._findings.add(Kind.WRONG_TREE, record.partition, record.offset, str(error))
            self._processor = None

    def restore(
        self, place: Partition, snapshots: Snapshots, tail: Callable[[Partition, int], Iterable[Record]]
    ) -> None:
        """Make the tree from a snapshot and the journal behind it, where the journal alone is not whole."""
        try:
            restored = restore(
                lambda: self._make(self._unit),
                self._unit.model,
                snapshots,
                lambda processor, start: tail(place, start),
            )
            self.instances += restored.processor.retained
        except StateError as error:
            self._findings.add(Kind.WRONG_TREE, place, 0, str(error))


class ChangeProof:
    """Follows the changes, and compares the tree after every one.

    Args:
        agent: Whose changes.
        model: Of which model.
        findings: What is wrong goes there.
    """

    def __init__(self, agent: str, model: str, findings: Findings) -> None:
        self.replica = Replica(agent, model)
        self._findings = findings
        self._is_whole = True

    def take(self, record: Record) -> None:
        """Follow a change; after the first that is wrong there is nothing to compare any more."""
        if not self._is_whole:
            return
        try:
            self.replica.follow([record.value])
        except StateError as error:
            self._findings.add(Kind.WRONG_TREE, record.partition, record.offset, str(error))
            self._is_whole = False
