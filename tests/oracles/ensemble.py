"""Who answers and what is dropped, from the definitions: batch trees, counts, rules of drift and blend."""

import math
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, cast

from tests.oracles.blend import Bits, Blend, Evidence
from tests.oracles.drift import DECAY, Judged, Monitor, Trial
from tests.oracles.id3 import Rules, Tree, _place, text_of
from tests.oracles.numeric import Batch, Record, _value

NAMES = ("root-bayes", "leaf-bayes", "leaf")
NEAR = 8
Scores = dict[str, dict[str, int]]
"""What speaks for each class, by attribute; without a name, how common the classes are."""


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
        answers[0] = self._best(_sum(self.scores(batch.kept, given)))
        answers[1] = self._best(_sum(self.scores(records, given)))
        chosen = self.judged.best()
        return answers, chosen, answers[chosen]

    def _best(self, scores: Mapping[str, int]) -> str:
        return min(scores, key=lambda c: (-scores[c], _place(c, self.batch.rules)))

    def leaves(self, values: Mapping[str, object]) -> list[dict[str, float]]:
        """Return what the root, the leaf and the leaf's classes say, in bits."""
        given = self.batch.given(values)
        _, records = self._leaf(self.batch.tree(), given)
        everything, here = (Counter(label for _, label in some) for some in (self.batch.kept, records))
        return [
            _bits(_sum(self.scores(self.batch.kept, given))),
            _bits(_sum(self.scores(records, given))),
            _bits({c: log_of(here[c] * len(self.batch.kept) + n) for c, n in everything.items()}),
        ]

    def positions(self, values: Mapping[str, object]) -> dict[str, float]:
        """Return where each number is among all."""
        given, cuts = self.batch.given(values), self.batch.cuts
        return {
            name: (2 * one.bin_of(cast(float, given[name])) - 1) / (len(one.at) + 1) - 1
            for name, one in cuts.items()
            if name in given
        }

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

    def scores(self, records: Sequence[Record], given: Any) -> Scores:
        """Return the evidence of naive Bayes from some records, part by part."""
        batch = self.batch
        classes = Counter(label for _, label in records)
        scores: Scores = {"": {c: log_of(n) for c, n in classes.items()}}
        for name in batch.attributes if len(classes) > 1 else ():
            met: Counter[str] = Counter()
            most = 1
            if name in batch.cuts:
                if name not in given:
                    continue
                bin_of, values = batch.cuts[name].bin_of, len(batch.cuts[name].at) + 1
                most = values // NEAR + 1
                for d, c in records:
                    if name in d:
                        met[c] += max(0, most - abs(bin_of(cast(float, d[name])) - bin_of(given[name])))
            else:
                values = len({d.get(name, "?") for d, _ in batch.kept})
                met.update(c for d, c in records if d.get(name, "?") == given.get(name, "?"))
            if values > 1:
                scores[name] = {
                    c: log_of(met[c] + most) - log_of(n * most + values) for c, n in classes.items()
                }
        return scores


def _sum(scores: Scores) -> dict[str, int]:
    return {c: sum(one[c] for one in scores.values()) for c in scores[""]}


def _bits(scores: Mapping[str, int]) -> dict[str, float]:
    return {c: score / 2**24 for c, score in scores.items()}


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

        def make(size: int | None) -> Voice:
            return Voice(Batch(rules, bins=bins, window=size), decay, adaptive=adaptive)

        self._make = make
        self.main = self._make(window)
        self.recent = None if recent is None else self._make(recent)
        self.drift = drift
        self.monitor = Monitor()
        self.candidate: Voice | None = None
        self.trial = Trial()
        self.drops = 0
        self.adaptive = adaptive
        self.blend = Blend()
        self.decay = decay
        self.only_answerer = self.only_blend = 0.0
        self._given: list[tuple[Mapping[str, object], object]] = []

    def _answerer(self, values: Mapping[str, object]) -> tuple[str | None, str]:
        """Return the answer of the answerer that is believed most, and its name."""
        _, chosen, answer = self.main.opinion(values)
        if self.recent is not None and self.recent.judged.beats(self.main.judged):
            _, whose, found = self.recent.opinion(values)
            if found is not None:
                return found, f"recent-{NAMES[whose]}"
        return answer, NAMES[chosen]

    def _evidence(self, values: Mapping[str, object]) -> Evidence | None:
        """Return all that can be said about a record; None where there is no blend."""
        main, recent = self.main, self.recent
        if not self.adaptive or not main.batch.kept:
            return None
        attributes = main.scores(main.batch.kept, main.batch.given(values))
        leaves: dict[Hashable, Bits] = dict(zip(("leaf-bayes", "leaf"), main.leaves(values)[1:], strict=True))
        classes = set(attributes[""])
        if recent is not None:
            told = recent.leaves(values)
            leaves |= dict(zip(("recent", "recent-leaf-bayes", "recent-leaf"), told, strict=True))
            classes |= set(told[0])
        parts: dict[Hashable, Bits] = {
            ("attribute", name): _bits(scores) for name, scores in attributes.items()
        }
        return Evidence(leaves, parts, main.positions(values), sorted(classes))

    def _blended(self, told: Evidence) -> str:
        shares = self.blend.shares(told)
        return min(shares, key=lambda c: (-shares[c], _place(c, self.main.batch.rules)))

    def answer(self, values: Mapping[str, object]) -> tuple[str | None, str, dict[str, float] | None]:
        """Return the answer, who gave it, and if that is the blend, how probable each class is."""
        told = self._evidence(values)
        wins, losses = self.only_answerer, self.only_blend
        clearly = wins + losses >= 10 and wins - losses > 3 * math.sqrt(wins + losses)
        if told is None or clearly:
            return *self._answerer(values), None
        return self._blended(told), "blend", self.blend.shares(told)

    def learn(self, values: Mapping[str, object], label: object) -> None:
        voices = [voice for voice in (self.main, self.recent, self.candidate) if voice is not None]
        told = {id(voice): voice.opinion(values) for voice in voices}
        text = text_of(label)
        evidence = self._evidence(values)
        if evidence is not None:
            answerer_right, blend_right = self._answerer(values)[0] == text, self._blended(evidence) == text
            self.only_answerer = self.decay * self.only_answerer + (answerer_right and not blend_right)
            self.only_blend = self.decay * self.only_blend + (blend_right and not answerer_right)
            self.blend.learn(evidence, text)
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
