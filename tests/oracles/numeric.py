"""The batch tree of records with numbers and holes, written from the definition alone: lists and recursion.

Only the rule for cuts is shared with the product, in its readable form (`learners.numbers`).
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from learners.numbers import OVERFULL, SHARE, YOUNG, YOUNG_SHARE, Cuts, make_cuts, with_median
from tests.oracles.id3 import Rules, Tree, _disorder, _p_value, _place, _ratio, _rounded, text_of

Description = dict[str, str | float]
Record = tuple[Description, str]
Table = dict[str, Counter[str]]


def _grow(records: Sequence[Record], left: list[str], cuts: Mapping[str, Cuts], rules: Rules) -> Tree:
    classes = Counter(label for _, label in records)
    best = _best(records, classes, left, cuts, rules) if len(classes) > 1 else None
    if best is None:
        answer = min(classes, key=lambda c: (-classes[c], _place(c, rules)))
        return {"answer": answer, "counts": dict(classes)}
    name, cut = best
    rest = left if name in cuts else [a for a in left if a != name]
    parts: dict[str, list[Record]] = {}
    for record in records:
        parts.setdefault(_value(record[0], name, cut, cuts), []).append(record)
    branches = {value: _grow(part, rest, cuts, rules) for value, part in parts.items()}
    test: dict[str, object] = {"attribute": name}
    if name in cuts:
        test["at_most"] = cuts[name].at[cut - 1]
    return {"test": test, "counts": dict(classes), "branches": branches}


def _value(description: Description, name: str, cut: int, cuts: Mapping[str, Cuts]) -> str:
    if name not in cuts:
        return str(description.get(name, "?"))
    number = description.get(name)
    return "true" if cuts[name].bin_of(number) <= cut else "false"  # type: ignore[arg-type]


def _table(values: Iterable[tuple[str, str]]) -> Table:
    """Count the classes of each value."""
    table: Table = defaultdict(Counter)
    for value, label in values:
        table[value][label] += 1
    return table


def _best(
    records: Sequence[Record],
    classes: Counter[str],
    left: list[str],
    cuts: Mapping[str, Cuts],
    rules: Rules,
) -> tuple[str, int] | None:
    whole = len(records) << 24
    tests: dict[str, tuple[int, Table, int, int]] = {}  # what is left, the table, the cut, out of how many
    for name in left:
        if name not in cuts:
            table = _table((_value(d, name, 0, cuts), label) for d, label in records)
            tests[name] = sum(map(_disorder, table.values())), table, 0, 1
            continue
        bins = [cuts[name].bin_of(d.get(name)) for d, _ in records]  # type: ignore[arg-type]
        labels = [label for _, label in records]
        found = [
            (cut, _table(zip(("true" if one <= cut else "false" for one in bins), labels, strict=True)))
            for cut in sorted(set(bins))[:-1]
        ]
        if found:
            scored = [(sum(map(_disorder, table.values())), cut, table) for cut, table in found]
            score, cut, table = min(scored, key=lambda one: one[:2])
            tests[name] = score, table, cut, len(found)
    if rules.selection == "gain-ratio":
        gains = {a: _disorder(classes) - one[0] for a, one in tests.items()}
        mean = _rounded(sum(gains.values()), whole * len(gains)) if gains else 0
        merits = {a: -_ratio(g, tests[a][1]) for a, g in gains.items() if _rounded(g, whole) >= mean}
    else:
        merits = {a: _rounded(one[0], whole) for a, one in tests.items()}
    usable = [a for a in merits if _may_be_used(a, tests[a][1], tests[a][3], classes, cuts, rules)]
    best = min(usable, key=lambda a: (merits[a], left.index(a)), default=None)
    return None if best is None else (best, tests[best][2])


def _may_be_used(
    name: str, table: Table, tests: int, classes: Counter[str], cuts: Mapping[str, Cuts], rules: Rules
) -> bool:
    if rules.significance is None:
        return True
    if name not in cuts and classes.total() < rules.min_records_per_value * len(table):
        return False
    return _p_value(table, classes, rules) < rules.significance / tests


@dataclass
class Batch:
    """The records that a learner retains, and the cuts it has: told what happens, it knows the tree."""

    rules: Rules
    bins: int = 32
    window: int | None = None
    nominal: frozenset[str] = frozenset()
    declared: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    sentinels: tuple[str, ...] = ()
    kept: list[Record] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    cuts: dict[str, Cuts] = field(default_factory=dict)
    since: int = 0
    aged: bool = False
    known: Tree | None = None  # the tree, as long as nothing has happened

    def learn(self, values: Mapping[str, object], label: object) -> None:
        """Take a record in."""
        self.learn_and_drop(values, label, 0)

    def learn_and_drop(self, values: Mapping[str, object], label: object, gone: int) -> None:
        """Take a record in and let so many of the oldest go."""
        self.known = None
        given: Description = {}
        for name, value in values.items():
            if name not in self.attributes:
                self.attributes.append(name)
            if value is None or value == "?" or text_of(value) in self.sentinels:
                continue
            if isinstance(value, (int, float)) and not isinstance(value, bool) and name not in self.nominal:
                given[name] = float(value)
                self.cuts.setdefault(name, Cuts(self.declared.get(name, ())))
            else:
                given[name] = text_of(value)
        self.kept.append((given, text_of(label)))
        self.since += 1
        if self.window is not None and len(self.kept) > self.window:
            gone = len(self.kept) - self.window
        if gone:
            del self.kept[:gone]
            self.aged = True
        self.recut()

    def has(self, values: Mapping[str, object], label: object) -> bool:
        """Whether such a record is kept."""
        return (self._as_kept(values), text_of(label)) in self.kept

    def forget(self, values: Mapping[str, object], label: object) -> None:
        """Let the oldest such record go."""
        self.known = None
        self.kept.remove((self._as_kept(values), text_of(label)))
        self.aged = True

    def _as_kept(self, values: Mapping[str, object]) -> Description:
        return {
            name: float(value)
            if name in self.cuts and isinstance(value, (int, float)) and not isinstance(value, bool)
            else text_of(value)
            for name, value in values.items()
            if value is not None and value != "?" and text_of(value) not in self.sentinels
        }

    def drop(self, keep: int) -> None:
        """Let all but the last go."""
        self.known = None
        if keep < len(self.kept):
            self.kept = self.kept[len(self.kept) - keep :]
            self.aged = True
            self.since = min(self.since, keep)

    def given(self, values: Mapping[str, object]) -> Description:
        """Return a description as the tree sees it."""
        found: Description = {}
        for name, value in values.items():
            if value is None or value == "?" or text_of(value) in self.sentinels:
                continue
            if name in self.cuts:
                found[name] = float(value)  # type: ignore[arg-type]
            else:
                found[name] = text_of(value)
        return found

    def recut(self) -> None:
        """Make the cuts again if it is time to."""
        self.known = None
        count = len(self.kept)
        young = count <= YOUNG
        if self.since * (YOUNG_SHARE if young else SHARE) < count or not self.cuts:
            return
        for name, cuts in self.cuts.items():
            numbers = [float(d[name]) for d, _ in self.kept if name in d]
            if young or self.aged or _is_overfull(cuts, numbers):
                declared = self.declared.get(name)
                self.cuts[name] = (
                    make_cuts(numbers, self.bins) if declared is None else with_median(declared, numbers)
                )
        self.since = 0
        self.aged = False

    def tree(self) -> Tree | None:
        """Return the tree."""
        if not self.kept:
            return None
        rank = {name: place for place, name in enumerate(self.rules.tie_order)}
        order = sorted(self.attributes, key=lambda name: rank.get(name, len(rank)))
        if self.known is None:
            self.known = _grow(self.kept, order, self.cuts, self.rules)
        return self.known


def _is_overfull(cuts: Cuts, numbers: Sequence[float]) -> bool:
    held: dict[int, list[float]] = {}
    for number in numbers:
        held.setdefault(cuts.bin_of(number), []).append(number)
    most = OVERFULL * len(numbers)
    return any(len(h) * (len(cuts.at) + 1) > most and min(h) < max(h) for h in held.values())
