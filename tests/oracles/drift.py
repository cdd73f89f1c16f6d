"""When the past is dropped, and which tree is believed: the rules, in plain Python.

The compiled core has them in C (`learners/id5r/voices.c`), in the same order and with the same doubles, so
that a replay gives the same tree; they are tested to be the same. Other learners can use these.

For each record: every tree answers, and the recent one is believed if it has been right clearly more often;
every tree and every answerer is judged; all learn; then the errors of the main tree are looked at.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

DECAY = 0.998
CLEARLY = 1e-9
FEW = 30
"""The errors of fewer records say nothing."""
TRIAL = 2_000
"""A candidate that has not won by then is given up."""
TRIAL_LEAST = 10


@dataclass
class Judged:
    """How often some answerers, and a tree that follows the best of them, were right lately."""

    answerers: list[float]
    tree: float = 0.0
    decay: float = DECAY

    def best(self) -> int:
        """Return the answerer that was right most often, the first among equals."""
        return max(range(len(self.answerers)), key=lambda i: (self.answerers[i], -i))

    def judge(self, answers: Sequence[object], answer: object, label: object) -> None:
        """Take note of who was right."""
        for i, one in enumerate(answers):
            self.answerers[i] = self.decay * self.answerers[i] + (1 if one == label else 0)
        self.tree = self.decay * self.tree + (1 if answer == label else 0)

    def beats(self, other: "Judged") -> bool:
        """Return whether this tree has been right clearly more often than another."""
        return self.tree > other.tree + CLEARLY


@dataclass
class Monitor:
    """The errors of a tree, by the rule of DDM with a smoothed share of errors.

    The smoothing matters: after a perfect start the plain rule would drop everything at the first error.
    """

    n: int = 0
    errors: int = 0
    lowest_p: float = math.inf
    lowest_s: float = math.inf
    since_warning: int | None = None
    """How many records were learned since the warning; None: there is none."""

    def learned(self) -> None:
        """Note that a record was learned."""
        if self.since_warning is not None:
            self.since_warning += 1

    def is_drift(self, is_error: bool) -> bool:
        """Take note of an answer; return whether answers have become so much worse that it is no chance."""
        self.n += 1
        self.errors += is_error
        if self.n < FEW:
            return False
        p = (self.errors + 1) / (self.n + 2)
        s = math.sqrt(p * (1 - p) / self.n)
        if p + s <= self.lowest_p + self.lowest_s:
            self.lowest_p, self.lowest_s = p, s
        if p + s > self.lowest_p + 3.0 * self.lowest_s:
            return True
        if p + s > self.lowest_p + 2.0 * self.lowest_s:
            self.since_warning = 1 if self.since_warning is None else self.since_warning
        else:
            self.since_warning = None
        return False

    @property
    def keep(self) -> int:
        """How many of the last records are kept when the past is dropped now: those since the warning."""
        return 1 if self.since_warning is None else self.since_warning


@dataclass
class Trial:
    """Whether a tree without the past is better: by the records that only one of the two answered rightly."""

    only_candidate: int = 0
    only_main: int = 0
    age: int = field(default=1)

    def is_over(self, *, candidate_right: bool, main_right: bool) -> bool | None:
        """Take note of two answers; return whether the candidate has won, None while that is open."""
        self.only_candidate += candidate_right and not main_right
        self.only_main += main_right and not candidate_right
        if _is_clear(self.only_candidate, self.only_main):
            return True
        self.age += 1
        if _is_clear(self.only_main, self.only_candidate) or self.age > TRIAL:
            return False
        return None


def _is_clear(wins: int, losses: int) -> bool:
    return wins + losses >= TRIAL_LEAST and wins - losses > 3.0 * math.sqrt(wins + losses)
