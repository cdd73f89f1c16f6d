"""Seeded bugs: the tests of the tests. Each is put into a worker from outside, and its suite must catch it.

The sixteen are the mistakes that programs of this kind are known to make. Three cannot do harm here, because
another mechanism would notice; a related one that can stands in their place, and its title says so.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from stream.kafka import checkpoints
from tests.faults.mistakes import (
    b1,
    b2,
    b3,
    b4,
    b5,
    b6,
    b7,
    b8,
    b11,
    b12,
    b13,
    b14,
    b15,
    b16,
    keep_state,
)


class Bug(NamedTuple):
    """A mistake, the suite that must catch it, and how it is put in.

    Attributes:
        title: What is wrong.
        suite: The suite that must catch it.
        install: Puts it into this process.
        findings: What the suite must find, as patterns, any of them. Whatever else goes wrong with a worker
            that has the bug (it does not start, it crashes where nothing was done to it) is no catch.
    """

    title: str
    suite: str
    install: Callable[[], None]
    findings: tuple[str, ...]

    def is_found_in(self, failure: str) -> bool:
        """Whether a suite has failed for the reason that this bug is."""
        return any(re.search(finding, failure, re.DOTALL) for finding in self.findings)


def _audit(*kinds: str) -> str:
    """A finding of the audit, of one of these kinds."""
    return rf"the audit found [^:]*\b({'|'.join(kinds)})\b"


def _refused(*sentences: str) -> str:
    """A worker refuses to go on (70) and says one of these sentences."""
    return rf"ended (by itself )?with 70: .*({'|'.join(sentences)})"


_BEHIND = "does not reach the committed offsets"
_AHEAD = "are behind those of the journal"
_GAP = "Part of the journal is missing"
_OTHER_TREE = "leads to tree"
_STILL = "stands? still"
BUGS: dict[str, Bug] = {
    "B1": Bug(
        "offsets are committed before the outputs",
        "kill",
        b1,
        (_refused(_BEHIND), _audit("missing")),
    ),
    "B2": Bug(
        "predictions are written outside of the transaction",
        "kill",
        b2,
        (_audit("doubled", "reordered"), "seen during the faults"),
    ),
    "B3": Bug(
        "no transactions at all: everything at least once",
        "kill",
        b3,
        (_audit("doubled"), _refused(_AHEAD, _GAP)),
    ),
    "B4": Bug(
        "a transactional id of chance, and offsets that no generation fences",
        "zombie",
        b4,
        (_refused(_AHEAD, _BEHIND, _GAP, _OTHER_TREE), _audit("doubled", "journal_fork", "chain_fork")),
    ),
    "B5": Bug(
        "the committed offset is where the consumer stands, not what was processed",
        "kill",
        b5,
        (_refused(_BEHIND), _audit("missing")),
    ),
    "B6": Bug(
        "the end of the journal is found by the offset of its last record",
        "kill",
        b6,
        (_STILL, _refused(_BEHIND)),
    ),
    "B7": Bug(
        "the journal is trimmed before the snapshot is committed (for: manifest before pieces)",
        "kill",
        b7,
        (_refused(_GAP),),
    ),
    "B8": Bug("one slot for snapshots instead of two", "kill", b8, (_refused(_GAP),)),
    "B9": Bug(
        "a model that went and came back is not restored (for: commit when lost)",
        "zombie",
        keep_state,
        (_refused(_AHEAD, _BEHIND, _GAP, _OTHER_TREE), _audit("doubled", "missing", "journal_fork", "torn")),
    ),
    "B10": Bug(
        "the model in memory is kept after an abort",
        "network",
        keep_state,
        (_refused(_AHEAD, _BEHIND, _GAP, _OTHER_TREE), _audit("doubled", "missing", "journal_gap", "torn")),
    ),
    "B11": Bug(
        "an exception of produce() is ignored",
        "kill",
        b11,
        (_STILL, _audit("missing", "journal_gap"), _refused(_GAP, _BEHIND)),
    ),
    "B12": Bug(
        "dead letters are written outside of the transaction",
        "kill",
        b12,
        (_audit("doubled", "ahead", "reordered"),),
    ),
    "B13": Bug(
        "the version of the tree is not in the snapshot (for: the ids already seen)",
        "kill",
        b13,
        (_audit("chain_fork", "chain_broken", "wrong_digest"),),
    ),
    "B14": Bug("the digest depends on the order of a hash table", "kill", b14, (_refused(_OTHER_TREE),)),
    "B15": Bug(
        "the producer is used again after a disturbed commit",
        "network",
        b15,
        (_STILL, _audit("missing", "doubled"), _refused(_AHEAD, _BEHIND, _GAP)),
    ),
    "B16": Bug(
        "the journal is read with its aborted records",
        "kill",
        b16,
        (_refused(_GAP, _AHEAD, _OTHER_TREE),),
    ),
}


def install(name: str) -> None:
    """Put a bug into this process; what has gone wrong is to be said soon."""
    # A worker that is refused its journal says so after this, and not after half a minute.
    checkpoints.JOURNAL_SECONDS = 4.0
    BUGS[name].install()
