"""Batch ID3 written a second time, from the definition alone, so that mistakes have no twin here.

Instances are plain dictionaries, trees are what the outline's JSON parses to, everything is recursion over
names. Only the definition is shared: x log2 x in 24-bit fixed point, scores rounded to 1e-5 with halves up,
ties by a fixed order of the attributes, majorities by the declared order of the classes and then by name.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache

Description = dict[str, str]
Record = tuple[Description, str]
Tree = dict[str, object]


@dataclass(frozen=True)
class Rules:
    """What decides which tree it is, beside the instances."""

    tie_order: tuple[str, ...] = ()
    classes: tuple[str, ...] = ()
    selection: str = "e-score"
    significance: float | None = None
    significance_test: str = "chi2"
    min_records_per_value: int = 0
    rounding: bool = True


def id3(records: Sequence[Record], attributes: Sequence[str], rules: Rules) -> Tree | None:
    """Return the tree of some records; `attributes` are all that have been met, in the order they were."""
    rank = {name: place for place, name in enumerate(rules.tie_order)}
    return (
        _grow(records, sorted(attributes, key=lambda name: rank.get(name, len(rank))), rules)
        if records
        else None
    )


def _grow(records: Sequence[Record], attributes: list[str], rules: Rules) -> Tree:
    classes = Counter(label for _, label in records)
    best = _best(records, classes, attributes, rules) if len(classes) > 1 else None
    if best is None:
        return {
            "answer": min(classes, key=lambda c: (-classes[c], _place(c, rules))),
            "counts": dict(classes),
        }
    left = [name for name in attributes if name != best]
    values = {description.get(best, "?") for description, _ in records}
    branches = {v: _grow([r for r in records if r[0].get(best, "?") == v], left, rules) for v in values}
    return {"test": {"attribute": best}, "counts": dict(classes), "branches": branches}


def _place(name: str, rules: Rules) -> tuple[int, str]:
    return (rules.classes.index(name), "") if name in rules.classes else (len(rules.classes), name)


def _best(
    records: Sequence[Record], classes: Counter[str], attributes: list[str], rules: Rules
) -> str | None:
    tables = {a: _table(records, a) for a in attributes}
    whole = len(records) << 24
    left = {a: sum(map(_disorder, table.values())) for a, table in tables.items()}
    if rules.selection == "gain-ratio":
        gains = {a: _disorder(classes) - s for a, s in left.items()}
        mean = _rounded(sum(gains.values()), whole * len(gains)) if gains else 0
        merits = {a: -_ratio(g, tables[a]) for a, g in gains.items() if _rounded(g, whole) >= mean}
    else:
        merits = {a: _rounded(s, whole) if rules.rounding else s for a, s in left.items()}
    usable = [a for a in merits if _may_be_used(tables[a], classes, rules)]
    return min(usable, key=lambda a: (merits[a], attributes.index(a)), default=None)


def _may_be_used(table: dict[str, Counter[str]], classes: Counter[str], rules: Rules) -> bool:
    if rules.significance is None:
        return True
    enough = classes.total() >= rules.min_records_per_value * len(table)
    return enough and _p_value(table, classes, rules) < rules.significance


def _table(records: Sequence[Record], attribute: str) -> dict[str, Counter[str]]:
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for description, label in records:
        table[description.get(attribute, "?")][label] += 1
    return table


@cache
def x_log_x(x: int) -> int:
    with localcontext(prec=60):
        return (
            int((Decimal(x) * Decimal(x).ln() / Decimal(2).ln() * 2**24).to_integral_value()) if x > 1 else 0
        )


def _disorder(tally: Counter[str]) -> int:
    return x_log_x(tally.total()) - sum(x_log_x(n) for n in tally.values())


def _rounded(numerator: int, denominator: int) -> int:
    return math.floor(Fraction(numerator * 100_000, denominator) + Fraction(1, 2))


def _ratio(gain: int, table: dict[str, Counter[str]]) -> int:
    spread = _disorder(Counter({value: tally.total() for value, tally in table.items()}))
    return _rounded(gain, spread) if spread else 0


def _p_value(table: dict[str, Counter[str]], classes: Counter[str], rules: Rules) -> float:
    """Return how likely so strong a dependence is by chance, by the closed forms of the chi-square tail."""
    degrees = (len(table) - 1) * (len(classes) - 1)
    if degrees < 1:
        return 1.0
    if rules.significance_test == "g":
        left = sum(map(_disorder, table.values()))
        half = math.log(2) * (_disorder(classes) - left) / 2**24
    else:
        shares = sum(
            Fraction(n * n, tally.total() * classes[c]) for tally in table.values() for c, n in tally.items()
        )
        half = float(classes.total() * (shares - 1) / 2)
    half = max(half, 0.0)
    if degrees % 2:
        terms = [half ** (i - 0.5) / math.gamma(i + 0.5) for i in range(1, (degrees + 1) // 2)]
        return math.erfc(math.sqrt(half)) + math.exp(-half) * math.fsum(terms)
    return math.exp(-half) * math.fsum(half**i / math.factorial(i) for i in range(degrees // 2))


def text_of(value: object) -> str:
    """Return the text of a value as it stands on a branch."""
    if value is None:
        return "?"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:.15g}" if isinstance(value, float) else str(value)


@dataclass
class Batch:
    """What a learner with these settings should stand for; its tree is built again each time."""

    rules: Rules
    attributes: list[str] = field(default_factory=list)
    window: int | None = None
    missing: str = "own_value"
    on_contradiction: str = "keep"
    kept: list[tuple[Description, Description, str]] = field(default_factory=list)  # given, as stored, class

    def learn(self, values: Mapping[str, object], label: object) -> None:
        """Take a record in, unless it is refused or loses against what it contradicts."""
        names = [*self.attributes, *(name for name in values if name not in self.attributes)]
        given = {name: text_of(values.get(name)) for name in names if values.get(name) is not None}
        if self.missing == "reject" and len(given) < len(names):
            return
        self.attributes = names
        stored = self._filled_in(given) if self.missing == "most_common" else given
        new = (given, stored, text_of(label))
        stays = [one for one in self.kept if one[0] != given or one[2] == new[2]]
        if self.on_contradiction == "keep" or len(stays) == len(self.kept):
            self.kept.append(new)
        elif self.on_contradiction == "replace" or self._nodes([*stays, new]) < self._nodes(self.kept):
            self.kept = [*stays, new]
        if self.window is not None:
            del self.kept[: -self.window]

    def forget(self, values: Mapping[str, object], label: object) -> None:
        """Let the oldest such record go."""
        given = {name: text_of(value) for name, value in values.items() if value is not None}
        self.kept.remove(next(one for one in self.kept if (one[0], one[2]) == (given, text_of(label))))

    def tree(self) -> Tree | None:
        """Return the tree."""
        return id3([(stored, label) for _, stored, label in self.kept], self.attributes, self.rules)

    def _filled_in(self, given: Description) -> Description:
        filled = dict(given)
        for name in self.attributes:
            seen = Counter(stored[name] for _, stored, _ in self.kept if name in stored)
            if name not in given and seen:
                filled[name] = min(seen, key=lambda text: (-seen[text], text))
        return filled

    def _nodes(self, kept: list[tuple[Description, Description, str]]) -> int:
        tree = id3([(stored, label) for _, stored, label in kept], self.attributes, self.rules)
        return 0 if tree is None else _size(tree)


def _size(tree: Tree) -> int:
    branches = tree.get("branches", {})
    assert isinstance(branches, dict)
    return 1 + sum(map(_size, branches.values()))
