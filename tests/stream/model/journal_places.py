"""A tree that grows from the first records on, and the positions in letters and journal entries."""

import numpy as np

from learners.learner import make_options
from learners.registry import LEARNERS
from stream.records.journal import JournalEntry
from stream.records.record import Output

BARE = make_options(LEARNERS["id5r"].options_type, {"significance": "none"})
"""Without a test of significance a tree grows from the first records on."""


def position(letter: Output) -> tuple[int, int]:
    headers = dict(letter.headers)
    return int(headers["espalier.dlq.partition"] or -1), int(headers["espalier.dlq.offset"] or -1)


def places_in(entry: JournalEntry) -> list[tuple[int, int]]:
    """Return the partition and offset of each instance in an entry; everything in a block is as long."""
    places: list[tuple[int, int]] = []
    for block in entry.blocks:
        some = np.frombuffer(block.places, dtype="<i8").reshape(-1, 2).tolist()
        rows, labels = block.unpack()
        assert len(some) == len(rows) == len(labels)
        places += [(partition, offset) for partition, offset in some]
    return places
