"""A life without a stream: the learner alone, evaluated over the same records."""

import json
from typing import Any

from learners.canonical import text_of
from learners.capabilities import Anytime
from learners.outline import digest
from learners.registry import make_learner
from learners.schema import Instance, InstanceError
from stream.errors import RejectedRecord
from stream.evaluation import Judged, evaluate
from stream.records.json_decoder import Decoder
from stream.records.record import Output
from tests.lives.agents import Life
from tests.lives.generator import Step
from tests.lives.same import Told, same, same_list


class _Bare:
    """A learner with no stream around it, and what it says."""

    def __init__(self, life: Life) -> None:
        agent, limits = life.agent, life.limits
        self.learner = make_learner(agent.learner, agent.schema, agent.options, limits)
        self._decoder = Decoder(
            agent.label, agent.id, limits.max_record_bytes, limits.max_depth, agent.fields
        )
        self.answers: list[tuple[str | None, str | None]] = []
        self.refused: list[str] = []
        self._waiting: list[Instance] = []

    def take(self, step: Step) -> None:
        """Answer a record, and learn it if it has a label."""
        if step.units:
            self.finish()
            if isinstance(self.learner, Anytime) and self.learner.can_improve:
                self.learner.improve(step.units)
        try:
            decoded = self._decoder.decode(step.record)
            values, label = decoded.values, decoded.label
        except RejectedRecord as error:
            self.finish()
            self.refused.append(error.reason)
            return
        if label is not None:
            self._waiting.append(Instance(values, label))
            return
        self.finish()
        try:
            self.answers.append((self.learner.predict_one(values).answer, None))
        except InstanceError as error:
            self.refused.append(error.misfit.value)

    def finish(self) -> None:
        """Evaluate the records with a label that wait."""
        if self._waiting:
            evaluate(self._waiting, self.learner, each=self._judged, refused=self._refused)
            self._waiting = []

    def _judged(self, judged: Judged) -> None:
        self.answers.append((judged.prediction, judged.label))

    def _refused(self, number: int, error: InstanceError) -> None:
        self.refused.append(error.misfit.value)


def live_alone(life: Life, single: Told) -> None:
    bare = _Bare(life)
    for step in life.steps:
        bare.take(step)
    bare.finish()
    told = [json.loads(one.value or b"") for one in single.predictions]
    # A prediction has the JSON type of its label; a learner knows classes by their text alone.
    answers = [(_text(one["prediction"]), _text(one.get("label"))) for one in told]
    same_list("f predictions", answers, bare.answers)
    same_list("f dead letters", [reason_of(letter) for letter in single.letters], bare.refused)
    same("f digest", single.processor.digest, digest(bare.learner.outline()))
    same("f tree", single.processor.learner.outline(), bare.learner.outline())
    same("f operations", single.processor.learner.ops, bare.learner.ops)


def _text(label: Any) -> str | None:
    return None if label is None else text_of(label)


def reason_of(letter: Output) -> str:
    return (dict(letter.headers)["espalier.dlq.reason"] or b"").decode()
