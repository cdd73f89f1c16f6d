"""How a model's state comes back from the topics: the newest whole snapshot, then the rest of the journal.

Every engine restores in this way, and a running model of one engine can go on in another.
"""

import logging
from collections.abc import Callable, Iterable
from typing import NamedTuple

from stream.errors import NewerFormat, StateError
from stream.model.processing import Processor
from stream.records.record import Record
from stream.state.snapshot_format import Snapshot
from stream.state.snapshots import Snapshots

log = logging.getLogger(__name__)

ReadJournal = Callable[[Processor, int], Iterable[Record]]
"""Yields the journal's committed messages from an offset on, for a processor that replays them."""


class RestoredModel(NamedTuple):
    """A processor that stands where the topics do.

    Attributes:
        processor: The processor.
        replayed: How many instances came from the journal.
        snapshot: The number of the snapshot it was made from; 0: none.
    """

    processor: Processor
    replayed: int
    snapshot: int


def restore(
    make: Callable[[], Processor], model: str, snapshots: Snapshots, journal: ReadJournal
) -> RestoredModel:
    """Return a processor made from the newest whole snapshot and what the journal has after it.

    A snapshot that does not lead to where the journal stands is passed over, aloud; without any the journal
    has to reach back to its first entry.

    Args:
        make: Makes a fresh processor.
        model: The model's name.
        snapshots: What the snapshot topic holds of it.
        journal: Reads the journal.

    Raises:
        StateError: The journal does not reach back, or is damaged.
        NewerFormat: A later version has written the state.
    """
    passed: list[StateError] = []
    for snapshot in snapshots.whole():
        try:
            return _from(snapshot, make(), model, journal)
        except NewerFormat:
            raise
        except StateError as error:
            number = snapshot.manifest.number
            log.warning("snapshot %d of %s is passed over: %s", number, model, error)
            passed.append(error)
    try:
        processor = make()
        return RestoredModel(processor, _replay(processor, journal), 0)
    except NewerFormat:
        raise
    except StateError as error:
        # What was wrong with the newest snapshot says more than that the journal's beginning is gone.
        raise passed[0] if passed else error from error


def _from(snapshot: Snapshot, processor: Processor, model: str, journal: ReadJournal) -> RestoredModel:
    manifest = snapshot.manifest
    processor.restore(snapshot.state)
    log.info("model %s: snapshot %d holds %d bytes", model, manifest.number, manifest.size)
    return RestoredModel(processor, _replay(processor, journal, manifest.journal_offset), manifest.number)


def _replay(processor: Processor, journal: ReadJournal, start: int = 0) -> int:
    return sum(processor.replay(record.value or b"") for record in journal(processor, start))
