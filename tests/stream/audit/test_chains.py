"""The parts of an audit, one at a time: chains of changes and entries, offsets, and findings."""

import numpy as np
import pytest

from learners.vocabulary import Growth
from stream.audit.change_chain import EMPTY, ChangeChain
from stream.audit.findings import Findings, Kind
from stream.audit.journal_chain import JournalChain, TreeVersions
from stream.audit.partition_offsets import OffsetColumn, PartitionOffsets
from stream.records.journal import JournalEntry
from stream.records.published import Cause, TreeChange, TreeState
from stream.records.record import Partition, Record

PLACE = Partition("t", 2)
NOTHING_NEW = Growth((), (), (), (), "")


def found(findings: Findings) -> list[tuple[str, int, int]]:
    """Return what is wrong, and where: from which number to which."""
    assert all((one.topic, one.partition) == PLACE for one in findings)
    return [(str(one.kind), one.first, one.last) for one in findings]


# ---- findings


def test_numbers_that_follow_each_other_are_one_finding() -> None:
    findings = Findings()
    findings.add_each(Kind.MISSING, PLACE, [4, 7, 8, 9], "are gone")
    assert found(findings) == [("missing", 4, 4), ("missing", 7, 9)]
    assert [one.message for one in findings] == ["offset 4 are gone", "offsets 7 to 9 (3) are gone"]
    assert findings.counts == {Kind.MISSING: 4}


def test_so_many_of_a_kind_are_kept_and_the_rest_is_counted() -> None:
    findings = Findings(most=2)
    for number in range(5):
        findings.add(Kind.MISSING, PLACE, number, "gone")
    findings.add(Kind.DOUBLED, PLACE, 1, "twice", 3)
    assert found(findings) == [("missing", 0, 0), ("missing", 1, 1), ("doubled", 1, 3)]
    assert findings.counts == {Kind.MISSING: 5, Kind.DOUBLED: 3}


# ---- changes


def change(seq: int, before: str, after: str, version: int | None = None, offset: int = 0) -> TreeChange:
    tree = TreeState(seq if version is None else version, after, before, 1, 1, 0)
    return TreeChange("a", "m", "id5r", seq, Cause("in", 1, offset, 7), (), {}, tree)


def chained(*changes: TreeChange, repeats: bool = False, cut: bool = False) -> tuple[ChangeChain, Findings]:
    findings = Findings()
    chain = ChangeChain(findings, repeats=repeats, cut=cut)
    for one in changes:
        chain.take(one, Record(PLACE, one.seq, b""))
    return chain, findings


ONE, TWO, THREE = change(1, EMPTY, "A"), change(2, "A", "B"), change(3, "B", "C")


def test_a_chain_knows_its_trees() -> None:
    chain, findings = chained(ONE, TWO, THREE)
    assert found(findings) == []
    assert (chain.first, chain.last) == (1, 3)
    assert [chain.digest_of(version) for version in range(5)] == [EMPTY, "A", "B", "C", None]


def test_a_chain_that_was_cut_knows_the_tree_before_its_first_change() -> None:
    chain, findings = chained(TWO, THREE, cut=True)
    assert found(findings) == []
    assert [chain.digest_of(version) for version in range(4)] == [EMPTY, "A", "B", "C"]
    assert (chain.first, chain.last) == (2, 3)


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ((TWO, THREE), [("chain_gap", 1, 1)]),
        ((ONE, THREE), [("chain_gap", 2, 2)]),
        ((THREE,), [("chain_gap", 1, 2)]),
        ((ONE, TWO, TWO), [("doubled", 2, 2)]),
        ((ONE, TWO, change(2, "A", "X")), [("chain_fork", 2, 2)]),
        ((ONE, TWO, change(2, "A", "B", offset=5)), [("chain_fork", 2, 2)]),
        ((change(1, "A", "B"),), [("chain_broken", 1, 1)]),
        ((ONE, change(2, "X", "B")), [("chain_broken", 2, 2)]),
        ((ONE, change(2, "A", "B", version=3)), [("chain_broken", 2, 2)]),
        ((ONE, THREE, TWO), [("chain_gap", 2, 2), ("reordered", 2, 2)]),
    ],
)
def test_every_break_of_a_chain_is_named(
    changes: tuple[TreeChange, ...], expected: list[tuple[str, int, int]]
) -> None:
    assert found(chained(*changes)[1]) == expected


def test_what_comes_again_the_same_is_passed_over_where_that_is_allowed() -> None:
    assert found(chained(ONE, ONE, TWO, repeats=True)[1]) == []
    assert found(chained(ONE, change(1, EMPTY, "X"), repeats=True)[1]) == [("chain_fork", 1, 1)]


# ---- entries


def entry(number: int, version: int, digest: str, **next_offsets: int) -> JournalEntry:
    offsets = {int(name[1:]): offset for name, offset in next_offsets.items()}
    return JournalEntry(1, "m", number, "id5r", "", offsets, NOTHING_NEW, [], version, digest)


def entered(
    *entries: JournalEntry, repeats: bool = False, cut: bool = False
) -> tuple[JournalChain, Findings, list[bool]]:
    findings = Findings()
    chain = JournalChain(findings, repeats=repeats, cut=cut)
    return chain, findings, [chain.take(one, Record(PLACE, 9, b"")) for one in entries]


FIRST, SECOND, THIRD = entry(0, 2, "A", p0=10), entry(1, 2, "A", p0=10, p1=4), entry(2, 5, "B", p0=20, p1=4)


def test_each_offset_belongs_to_the_transaction_that_took_it() -> None:
    chain, findings, taken = entered(FIRST, SECOND, THIRD)
    assert (found(findings), taken) == ([], [True, True, True])
    assert chain.transaction_of(0, 0) == chain.transaction_of(0, 9) == TreeVersions(0, 2, 0)
    assert chain.transaction_of(0, 10) == chain.transaction_of(0, 19) == TreeVersions(2, 5, 2)
    assert chain.transaction_of(1, 0) == chain.transaction_of(1, 3) == TreeVersions(2, 2, 1)
    assert [chain.transaction_of(*place) for place in ((0, 20), (1, 4), (7, 0))] == [None] * 3
    assert chain.trees == [(0, 2, "A"), (1, 2, "A"), (2, 5, "B")]
    assert (chain.version, chain.digest, chain.next_offsets) == (5, "B", {0: 20, 1: 4})


def test_of_a_journal_that_was_cut_the_first_entry_says_where_it_begins() -> None:
    chain, findings, taken = entered(SECOND, THIRD, cut=True)
    assert (found(findings), taken) == ([], [False, True])
    assert chain.known_from == {0: 10, 1: 4}
    assert chain.transaction_of(0, 9) is None
    assert chain.transaction_of(0, 10) == TreeVersions(2, 5, 2)
    # One that begins with its first entry has lost nothing.
    whole, _, taken = entered(FIRST, SECOND, cut=True)
    assert (whole.known_from, taken) == ({}, [True, True])


@pytest.mark.parametrize(
    ("entries", "expected", "taken"),
    [
        ((SECOND,), [("journal_gap", 0, 0)], [True]),
        ((FIRST, THIRD), [("journal_gap", 1, 1)], [True, True]),
        ((FIRST, FIRST), [("doubled", 0, 0)], [True, False]),
        ((FIRST, entry(0, 2, "X", p0=10)), [("journal_fork", 0, 0)], [True, False]),
        ((FIRST, entry(0, 3, "A", p0=10)), [("journal_fork", 0, 0)], [True, False]),
        ((FIRST, entry(0, 2, "A", p0=11)), [("journal_fork", 0, 0)], [True, False]),
        ((FIRST, THIRD, SECOND), [("journal_gap", 1, 1), ("reordered", 1, 1)], [True, True, True]),
        ((FIRST, entry(1, 2, "A", p0=9)), [("reordered", 1, 1)], [True, True]),
        ((FIRST, entry(1, 2, "A", p0=10)), [], [True, True]),
    ],
)
def test_every_break_of_a_journal_is_named(
    entries: tuple[JournalEntry, ...], expected: list[tuple[str, int, int]], taken: list[bool]
) -> None:
    _, findings, came = entered(*entries)
    assert (found(findings), came) == (expected, taken)


def test_an_entry_that_comes_again_the_same_is_passed_over_where_that_is_allowed() -> None:
    _, findings, taken = entered(FIRST, FIRST, SECOND, repeats=True)
    assert (found(findings), taken) == ([], [True, False, True])


# ---- offsets


def test_counts_by_offset_grow_and_stop_at_255() -> None:
    column = OffsetColumn()
    assert column.ends() == 0
    assert [column.add(5_000) for _ in range(300)][253:257] == [254, 255, 255, 255]
    column.add_all(np.array([1, 1, 7_000]))
    column.add_all(np.array([], dtype=np.int64))
    assert column.ends() == 7_001
    assert column.upto(3).tolist() == [0, 2, 0]
    assert len(column.upto(9_999)) == 9_999


class Offsets(PartitionOffsets):
    """A partition of ten records, all of them learned from and answered, but for what a test changes."""

    def __init__(self, end: int = 10) -> None:
        super().__init__(*PLACE)
        for column in (self.there, self.predicted, self.labelled, self.learned):
            column.add_all(np.arange(end))

    def checked(self, *, reach: int = 10, known_from: int = 0) -> list[tuple[str, int, int]]:
        findings = Findings()
        self.came = self.check(10, reach, known_from, findings)
        return found(findings)


def without(column: OffsetColumn, *offsets: int) -> None:
    column.upto(10)[list(offsets)] = 0


def test_ten_records_with_nothing_wrong() -> None:
    offsets = Offsets()
    assert offsets.checked() == []
    assert offsets.came == {"predicted": 10, "learned": 10, "dead_letters": 0, "other": 0}


def test_a_record_without_an_answer_is_missing_unless_outputs_were_deleted() -> None:
    offsets = Offsets()
    without(offsets.predicted, 3, 4)
    without(offsets.learned, 4)
    assert offsets.checked() == [("missing", 3, 3), ("missing", 4, 4)]
    offsets.told_from = 4
    assert offsets.checked() == [("missing", 4, 4)]
    offsets.told_from = 5
    assert offsets.checked() == []
    assert offsets.came["predicted"] == 8


@pytest.mark.parametrize(
    ("column", "expected"),
    [
        ("predicted", ["of the input: predicted more than once"]),
        ("learned", ["of the input: learned from more than once"]),
        ("dead", ["of the input: predicted, and rejected or passed over too"]),
        ("other", ["of the input: predicted, and rejected or passed over too"]),
    ],
)
def test_what_came_twice_is_named(column: str, expected: list[str]) -> None:
    offsets, findings = Offsets(), Findings()
    getattr(offsets, column).add(6)
    offsets.check(10, 10, 0, findings)
    assert [one.message for one in findings] == [f"offset 6 {message}" for message in expected]
    assert findings.counts == {Kind.DOUBLED: 1}


def test_two_dead_letters_of_a_record_are_one_too_many() -> None:
    offsets = Offsets()
    for column in (offsets.predicted, offsets.labelled, offsets.learned):
        without(column, 6)
    offsets.dead.add(6)
    assert offsets.checked() == []
    assert offsets.came == {"predicted": 9, "learned": 9, "dead_letters": 1, "other": 0}
    offsets.dead.add(6)
    assert offsets.checked() == [("doubled", 6, 6)]


def test_an_answer_to_nothing_is_invented_unless_the_input_was_deleted() -> None:
    offsets = Offsets()
    without(offsets.there, 2)
    assert offsets.checked() == [("invented", 2, 2)]
    offsets.begin = 2
    assert offsets.checked() == [("invented", 2, 2)]
    offsets.begin = 3
    assert offsets.checked() == []


@pytest.mark.parametrize(("known_from", "expected"), [(0, [5]), (5, [5]), (6, [])])
@pytest.mark.parametrize("column", ["learned", "labelled"])
def test_the_journal_and_the_labels_agree_from_where_the_journal_begins(
    known_from: int, expected: list[int], column: str
) -> None:
    offsets = Offsets()
    without(getattr(offsets, column), 5)
    assert [first for _, first, _ in offsets.checked(known_from=known_from)] == expected


@pytest.mark.parametrize("column", ["predicted", "dead"])
def test_what_is_told_beyond_the_journal_is_ahead(column: str) -> None:
    offsets = Offsets()
    getattr(offsets, column).add(12)
    assert offsets.checked() == [("ahead", 12, 12)]
    assert offsets.checked(reach=12) == [("ahead", 12, 12)]
    assert offsets.checked(reach=13) == []
