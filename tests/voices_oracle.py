"""Who answers and what is dropped, from the definitions: batch trees, counting, the rules of drift."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from learners.drift import DECAY, Judged, Monitor, Trial
from tests.numeric_oracle import Batch, Record, _value
from tests.oracle import Rules, Tree, _place, text_of

NAMES = ("root-bayes", "leaf-bayes", "leaf")
GROUPS = 8


def log_of(x: int) -> int:
    return round(math.log2(x) * 2**24)


class Voice:
    """A batch tree that answers in three ways."""

    def __init__(self, batch: Batch, decay: float, *, adaptive: bool) -> None:
        self.batch = batch
        self.adaptive = adaptive
        self.judged = Judged([0.0] * 3, decay=decay)

    def opinion(self, values: Mapping[str, object]) -> tuple[list[str | None], int, str | None]:
        """Return the three answers, whose is taken, and which it is."""
        batch = self.batch
        if not batch.kept:
            return [None] * 3, 2, None
        given = batch.given(values)
        node, records = self._leaf(batch.tree(), given)
        answers: list[str | None] = [None, None, str(node)]
        if not self.adaptive:
            return answers, 2, answers[2]
        answers[0] = self._bayes(batch.kept, given)
        answers[1] = self._bayes(records, given)
        chosen = self.judged.best()
        return answers, chosen, answers[chosen]

    def _leaf(self, tree: Tree | None, given: Any) -> tuple[str, list[Record]]:
        records = self.batch.kept
        node: Any = tree
        while "test" in node:
            name = node["test"]["attribute"]
            cut = 0
            if "at_most" in node["test"]:
                cut = self.batch.cuts[name].at.index(node["test"]["at_most"]) + 1
            value = _value(given, name, cut, self.batch.cuts)
            if value not in node["branches"]:
                break
            records = [r for r in records if _value(r[0], name, cut, self.batch.cuts) == value]
            node = node["branches"][value]
        return self._majority(node["counts"]), records

    def _majority(self, classes: Mapping[str, int]) -> str:
        return min(classes, key=lambda c: (-classes[c], _place(c, self.batch.rules)))

    def _bayes(self, records: Sequence[Record], given: Any) -> str:
        batch = self.batch
        classes = Counter(label for _, label in records)
        scores = {c: log_of(n) for c, n in classes.items()}
        rooted = len({label for _, label in batch.kept}) > 1
        for name in batch.attributes if len(classes) > 1 else ():
            if name in batch.cuts:
                if name not in given:
                    continue
                bins = len(batch.cuts[name].at) + 1

                def group(number: float, name: str = name, bins: int = bins) -> int:
                    place = batch.cuts[name].bin_of(number) - 1
                    return place * GROUPS // bins if bins > GROUPS else place

                here = group(given[name])
                values = min(bins, GROUPS)
                alike = [(d, c) for d, c in records if name in d and group(float(d[name])) == here]
            else:
                assert rooted
                values = len({d.get(name, "?") for d, _ in batch.kept})
                alike = [(d, c) for d, c in records if d.get(name, "?") == given.get(name, "?")]
            if values < 2:
                continue
            counts = Counter(c for _, c in alike)
            for c, n in classes.items():
                scores[c] += log_of(counts[c] + 1) - log_of(n + values)
        return min(scores, key=lambda c: (-scores[c], _place(c, batch.rules)))


class Voices:
    """All voices of a learner."""

    def __init__(
        self,
        rules: Rules,
        *,
        bins: int,
        window: int | None,
        adaptive: bool,
        drift: str | None,
        recent: int | None,
    ) -> None:
        decay = DECAY if drift or recent else 1.0
        self._make = lambda size: Voice(Batch(rules, bins=bins, window=size), decay, adaptive=adaptive)
        self.main = self._make(window)
        self.recent = None if recent is None else self._make(recent)
        self.drift = drift
        self.monitor = Monitor()
        self.candidate: Voice | None = None
        self.trial = Trial()
        self.drops = 0
        self._given: list[tuple[Mapping[str, object], object]] = []

    def answer(self, values: Mapping[str, object]) -> tuple[str | None, str]:
        _, chosen, answer = self.main.opinion(values)
        if self.recent is not None and self.recent.judged.beats(self.main.judged):
            _, whose, found = self.recent.opinion(values)
            if found is not None:
                return found, f"recent-{NAMES[whose]}"
        return answer, NAMES[chosen]

    def learn(self, values: Mapping[str, object], label: object) -> None:
        voices = [voice for voice in (self.main, self.recent, self.candidate) if voice is not None]
        told = {id(voice): voice.opinion(values) for voice in voices}
        text = text_of(label)
        for voice in voices:
            answers, _, answer = told[id(voice)]
            voice.judged.judge(answers, answer, text)
            voice.batch.learn(values, label)
        self._given.append((values, label))
        self.monitor.learned()
        if self.drift is None:
            return
        main_right = told[id(self.main)][2] == text
        if self.candidate is not None:
            won = self.trial.is_over(
                candidate_right=told[id(self.candidate)][2] == text, main_right=main_right
            )
            if won is None:
                return
            keep = len(self.candidate.batch.kept)
            self.candidate = None
            if won:
                self._drop(keep)
            self.monitor = Monitor()
        elif self.monitor.is_drift(not main_right):
            keep = self.monitor.keep
            if self.drift == "verified":
                self.candidate = self._make(None)
                self.candidate.judged = Judged(
                    list(self.main.judged.answerers), self.main.judged.tree, self.main.judged.decay
                )
                for one in self._given[-min(keep, len(self.main.batch.kept)) :]:
                    self.candidate.batch.learn(*one)
                self.trial = Trial()
            else:
                self._drop(keep)
            self.monitor = Monitor()

    def _drop(self, keep: int) -> None:
        self.main.batch.drop(keep)
        self.main.batch.recut()
        self.drops += 1
