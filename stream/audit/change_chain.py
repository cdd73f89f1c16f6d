"""The tree changes of one model: a chain of which anybody can see that no link is missing or was changed."""

from typing import NamedTuple

from learners.outline import digest
from stream.audit.findings import Findings, Kind
from stream.records.published import TreeChange
from stream.records.record import Record

EMPTY = digest(None)


class Link(NamedTuple):
    """What a tree change says about the chain."""

    digest: str
    previous: str
    partition: int
    offset: int


class ChangeChain:
    """The changes of one model in the order of the topic.

    Args:
        findings: What is wrong goes there.
        repeats: Whether a change that comes again, the same, is passed over: at-least-once engines do that.
        cut: Whether the oldest changes have been deleted: then the chain begins with what is left.
    """

    def __init__(self, findings: Findings, *, repeats: bool, cut: bool) -> None:
        self.links: dict[int, Link] = {}
        self.first: int | None = None
        self.last = 0
        self._findings = findings
        self._repeats = repeats
        self._cut = cut
        self._digest: str | None = None

    def take(self, change: TreeChange, record: Record) -> None:
        """Look at the next change."""
        seq, tree = change.seq, change.tree
        place = record.partition
        # What spare time has changed has no cause, and may be in any transaction.
        at = (-1, -1) if change.cause is None else (change.cause.partition, change.cause.offset)
        link = Link(tree.digest, tree.previous_digest, *at)
        known = self.links.get(seq)
        if known is not None:
            if known != link:
                told = f"change {seq} is there twice and leads to two trees: the chain forks"
                self._findings.add(Kind.CHAIN_FORK, place, seq, told)
            elif not self._repeats:
                self._findings.add(Kind.DOUBLED, place, seq, f"tree change {seq} is there twice")
            return
        self.links[seq] = link
        if self.first is None:
            self.first = seq
            expected, self._digest = (seq, tree.previous_digest) if self._cut else (1, EMPTY)
        else:
            expected = self.last + 1
        if seq < expected:
            told = f"tree change {seq} stands behind change {self.last}"
            self._findings.add(Kind.REORDERED, place, seq, told)
            return
        if seq > expected:
            told = f"tree changes {expected} to {seq - 1} are missing"
            self._findings.add(Kind.CHAIN_GAP, place, expected, told, seq - 1)
        elif tree.previous_digest != self._digest:
            told = (
                f"tree change {seq} follows on tree {tree.previous_digest[:12]}, but {self._text()} was there"
            )
            self._findings.add(Kind.CHAIN_BROKEN, place, seq, told)
        if tree.version != seq:
            told = f"tree change {seq} names version {tree.version}"
            self._findings.add(Kind.CHAIN_BROKEN, place, seq, told)
        self.last, self._digest = seq, tree.digest

    def _text(self) -> str:
        return (self._digest or EMPTY)[:12]

    def digest_of(self, version: int) -> str | None:
        """Return the digest of the tree at a version; None where it is not known."""
        if version == 0:
            return EMPTY
        link = self.links.get(version)
        if link is not None:
            return link.digest
        after = self.links.get(version + 1)
        return None if after is None else after.previous
