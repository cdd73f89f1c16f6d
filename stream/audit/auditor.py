"""Everything together: records of an agent's topics in, what is wrong with them out."""

import hashlib
from collections import Counter
from typing import NamedTuple

import msgspec

from stream.audit.change_chain import ChangeChain
from stream.audit.findings import Findings, Kind
from stream.audit.journal_chain import JournalChain, places_of
from stream.audit.partition_offsets import PartitionOffsets
from stream.config import Agent
from stream.errors import StateError
from stream.records.dead_letters import Mark, NotALetter, Tally, parse
from stream.records.journal import unpack
from stream.records.published import ClassName, Source, TreeChange, TreeName
from stream.records.record import Partition, Record


class _Prediction(msgspec.Struct, frozen=True):
    """What matters here of a prediction."""

    agent: str
    model: str
    tree: TreeName
    source: Source
    label: ClassName | msgspec.UnsetType = msgspec.UNSET


_prediction = msgspec.json.Decoder(_Prediction)
_change = msgspec.json.Decoder(TreeChange)
_UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Report(NamedTuple):
    """What an audit came to.

    `dispositions` says how many input offsets were predicted, learned from, rejected or passed over;
    `refused` has the dead letters by reason and field.
    """

    findings: Findings
    dispositions: dict[str, int]
    counts: dict[str, int]
    trees: dict[str, tuple[int, str]]
    refused: Tally

    @property
    def refused_percent(self) -> float:
        """How many of a hundred records became dead letters."""
        dead = self.dispositions["dead_letters"]
        return 100 * dead / max(1, dead + self.dispositions["predicted"])


class Auditor:
    """Looks at the records of one agent's topics.

    They must come topic after topic in the order of the methods `take_...` below, each partition in its own
    order; between journal and the rest comes `mark`. While an agent is at work, all that its journal had come
    to at the mark must be in the topics that are read later, and the tail of the journal is read again at the
    end.

    Args:
        agent: The agent.
        repeats: Whether what comes again, the same, is passed over, as it does from at-least-once engines.
    """

    def __init__(self, agent: Agent, *, repeats: bool = False) -> None:
        self.findings = Findings()
        self._agent = agent
        self._repeats = repeats
        self._begins: dict[Partition, int] = {}
        self._chains: dict[str, ChangeChain] = {}
        self._ledgers: dict[str, JournalChain] = {}
        self._lanes: dict[int, PartitionOffsets] = {}
        self._ledger_of: dict[int, JournalChain] = {}
        self._bounds: dict[int, int] = {}
        self._marked_versions: dict[str, int] = {}
        self._latest: dict[Partition, dict[int, int]] = {}
        self._dead: dict[tuple[int, int], str] = {}
        self._first_told: dict[tuple[str, int], int] = {}
        self._counts: Counter[str] = Counter()
        self._refused = Tally()

    def begin(self, partition: Partition, offset: int) -> None:
        """Be told where a partition begins: above 0, records have been deleted."""
        self._begins[partition] = offset
        if partition.topic == self._agent.input:
            self._lane(partition.number).begin = offset

    def _is_cut(self, partition: Partition) -> bool:
        return self._begins.get(partition, 0) > 0

    def _lane(self, number: int) -> PartitionOffsets:
        return self._lanes.setdefault(number, PartitionOffsets(self._agent.input, number))

    # ---- 1 the journal

    def take_journal(self, record: Record) -> None:
        """Look at a journal entry."""
        try:
            entry = unpack(record.value or b"")
        except StateError as error:
            self._unreadable(record, str(error))
            return
        self._counts["journal"] += 1
        ledger = self._ledgers.get(entry.model)
        if ledger is None:
            cut = self._is_cut(record.partition)
            ledger = self._ledgers[entry.model] = JournalChain(self.findings, repeats=self._repeats, cut=cut)
        if ledger.take(entry, record):
            for number, offsets in places_of(entry):
                self._lane(number).learned.add_all(offsets)
        for number in entry.next_offsets:
            self._ledger_of[number] = ledger

    def mark(self) -> None:
        """What the journal has come to so far is what the other topics are measured by."""
        self._bounds = self._reach()
        self._marked_versions = {model: ledger.version for model, ledger in self._ledgers.items()}

    def _reach(self) -> dict[int, int]:
        reach: dict[int, int] = {}
        for ledger in self._ledgers.values():
            for number, offset in ledger.next_offsets.items():
                reach[number] = max(offset, reach.get(number, 0))
        return reach

    # ---- 2 the tree changes

    def take_change(self, record: Record) -> None:
        """Look at a tree change."""
        try:
            change = _change.decode(record.value or b"")
        except _UNREADABLE as error:
            self._unreadable(record, str(error))
            return
        if change.agent != self._agent.name:
            return
        self._counts["tree_changes"] += 1
        chain = self._chains.get(change.model)
        if chain is None:
            cut = self._is_cut(record.partition)
            chain = self._chains[change.model] = ChangeChain(self.findings, repeats=self._repeats, cut=cut)
        chain.take(change, record)

    # ---- 3 the predictions

    def take_prediction(self, record: Record) -> None:
        """Look at a prediction."""
        try:
            told = _prediction.decode(record.value or b"")
        except _UNREADABLE as error:
            self._unreadable(record, str(error))
            return
        source = told.source
        if told.agent != self._agent.name or source.topic != self._agent.input:
            return
        lane = self._lane(source.partition)
        if self._repeats and lane.predicted.upto(source.offset + 1)[source.offset]:
            return
        self._counts["predictions"] += 1
        lane.predicted.add(source.offset)
        if told.label is not msgspec.UNSET:
            lane.labelled.add(source.offset)
        self._in_order(record, source.partition, source.offset, "prediction")
        if source.offset < self._bounds.get(source.partition, 0):
            self._check_tree(record, told)

    def _check_tree(self, record: Record, told: _Prediction) -> None:
        """A prediction names a tree of the chain, and one of those that its own transaction had."""
        source, tree = told.source, told.tree
        chain = self._chains.get(told.model)
        known = chain.digest_of(tree.version) if chain else None
        if known is not None and known != tree.digest:
            message = (
                f"the prediction of offset {source.offset} of input partition {source.partition} names tree "
                f"{tree.digest[:12]} at version {tree.version}, which was {known[:12]}"
            )
            self.findings.add(Kind.WRONG_DIGEST, record.partition, record.offset, message)
        ledger = self._ledgers.get(told.model)
        taken = ledger.transaction_of(source.partition, source.offset) if ledger else None
        if taken is not None and not taken.first <= tree.version <= taken.last:
            message = (
                f"the prediction of offset {source.offset} of input partition {source.partition} names "
                f"version {tree.version}, but its transaction (entry {taken.entry}) had {taken.first} "
                f"to {taken.last}"
            )
            self.findings.add(Kind.TORN, record.partition, record.offset, message)

    def _in_order(self, record: Record, partition: int, offset: int, what: str) -> None:
        latest = self._latest.setdefault(record.partition, {})
        before = latest.get(partition, -1)
        self._first_told.setdefault((record.partition.topic, partition), offset)
        if offset < before:
            message = (
                f"the {what} of offset {offset} of input partition {partition} stands behind that of {before}"
            )
            self.findings.add(Kind.REORDERED, record.partition, record.offset, message)
        latest[partition] = max(offset, before)

    # ---- 4 the dead letters

    def take_dead_letter(self, record: Record) -> None:
        """Look at a dead letter."""
        try:
            letter = parse(record)
        except NotALetter as error:
            self._unreadable(record, str(error))
            return
        if isinstance(letter, Mark):
            return
        (topic, partition), offset = letter.source, letter.offset
        if topic != self._agent.input or letter.agent != self._agent.name:
            return
        lane = self._lane(partition)
        if self._repeats and lane.dead.upto(offset + 1)[offset]:
            return
        self._counts["dead_letters"] += 1
        self._refused.add(letter.reason, letter.field)
        lane.dead.add(offset)
        self._in_order(record, partition, offset, "dead letter")
        self._dead[partition, offset] = letter.sha256 or _hash(record.value)

    # ---- 5 the input

    def take_input(self, record: Record) -> None:
        """Look at a record of the input."""
        number, offset = record.partition.number, record.offset
        if offset >= self._bounds.get(number, 0):
            return
        self._counts["input"] += 1
        self._lane(number).there.add(offset)
        dead = self._dead.get((number, offset))
        if dead is not None and dead != _hash(record.value):
            message = f"the dead letter of offset {offset} does not hold what is there"
            self.findings.add(Kind.ALTERED, record.partition, offset, message)

    # ---- at the end

    def is_ahead(self) -> bool:
        """Whether something tells of offsets that the journal has not reached: its tail is to be read."""
        reach = self._reach()
        return any(
            max(lane.predicted.ends(), lane.dead.ends()) > reach.get(n, 0) for n, lane in self._lanes.items()
        )

    def finish(self) -> Report:
        """Compare what all topics say, and return what came of it."""
        for model, ledger in self._ledgers.items():
            self._compare(model, ledger, self._chains.get(model))
        reach = self._reach()
        dispositions: Counter[str] = Counter(predicted=0, learned=0, dead_letters=0, other=0)
        for number, lane in sorted(self._lanes.items()):
            lane.told_from = self._told_from(number)
            ledger_of = self._ledger_of.get(number)
            known_from = ledger_of.known_from.get(number, 0) if ledger_of else 0
            dispositions.update(
                lane.check(self._bounds.get(number, 0), reach.get(number, 0), known_from, self.findings)
            )
        trees = {model: (ledger.version, ledger.digest) for model, ledger in sorted(self._ledgers.items())}
        return Report(self.findings, dict(dispositions), dict(self._counts), trees, self._refused)

    def _compare(self, model: str, ledger: JournalChain, chain: ChangeChain | None) -> None:
        """Compare the trees that the journal names with those of the chain."""
        topics = self._agent.topics
        version = self._marked_versions.get(model, 0)
        last = chain.last if chain else 0
        if last < version:
            message = f'tree changes {last + 1} to {version} of model "{model}" are missing'
            self.findings.add(Kind.CHAIN_GAP, (topics.tree_changes, 0), last + 1, message, version)
        if chain is None:
            return
        for number, at, digest in ledger.trees:
            known = chain.digest_of(at) if at <= last else None
            if known is not None and known != digest:
                message = f"entry {number} names tree {digest[:12]} at version {at}, which was {known[:12]}"
                self.findings.add(Kind.WRONG_DIGEST, (topics.journal, 0), number, message)
        for seq, link in chain.links.items():
            taken = ledger.transaction_of(link.partition, link.offset)
            if taken is not None and not taken.first < seq <= taken.last and seq <= version:
                message = (
                    f"tree change {seq} was caused by offset {link.offset} of input partition "
                    f"{link.partition}, but its transaction (entry {taken.entry}) had changes "
                    f"{taken.first + 1} to {taken.last}"
                )
                self.findings.add(Kind.TORN, (topics.tree_changes, 0), seq, message)

    def _told_from(self, number: int) -> int:
        """Return the input offset below which outputs may have been deleted by age or size."""
        told_from = 0
        for topic in (self._agent.topics.predictions, self._agent.topics.dead_letters):
            if any(p.topic == topic and begin > 0 for p, begin in self._begins.items()):
                told_from = max(told_from, self._first_told.get((topic, number), self._bounds.get(number, 0)))
        return told_from

    def _unreadable(self, record: Record, message: str) -> None:
        told = f"offset {record.offset} is not what it should be: {message}"
        self.findings.add(Kind.UNREADABLE, record.partition, record.offset, told)


def _hash(value: bytes | None) -> str:
    return "" if value is None else hashlib.sha256(value).hexdigest()
