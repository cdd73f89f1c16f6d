"""Predictions on their way to bytes."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from learners.codes import Codes
from learners.core.batches import Answers
from learners.learner import Prediction as Answer
from stream.codec import encode
from stream.events import Cause, LeafCounts, Prediction, Source, TreeName
from stream.fast.predictions import PredictionWriter
from stream.intake import Segment
from stream.record import Record


class Place(NamedTuple):
    """Which model a processor keeps and where its records go.

    `topic` is the input; `partition` that of the journal and of the tree changes, which keeps them in order.
    """

    agent: str
    model: str
    learner: str
    topic: str
    partition: int
    predictions: str
    tree_changes: str
    dead_letters: str
    journal: str


class Telling:
    """The predictions of a segment.

    Answers that come as arrays are written straight to bytes; the others, one by one.
    """

    def __init__(
        self,
        segment: Segment,
        places: NDArray[np.int64],
        answers: Sequence[Answer],
        writer: PredictionWriter,
        codes: Codes,
    ) -> None:
        self.segment = segment
        self.places = places
        self._answers = answers
        self._writer = writer
        self._codes = codes
        writer.name_classes(codes.classes)

    def answered(self) -> NDArray[np.int32]:
        """Return the class answered to each record, as a code; -1: none."""
        if not isinstance(self._answers, Answers):
            return np.array([self._code(answer.answer) for answer in self._answers], dtype=np.int32)
        told = self._answers.classes
        if self._answers.special:
            told = told.copy()
            for index, special in self._answers.special.items():
                told[index] = self._code(special.answer)
        return told

    def _code(self, name: str | None) -> int:
        return -1 if name is None else self._codes.class_code(name)

    def predictions(self, place: Place, tree: bytes, name: TreeName, start: int, end: int) -> list[bytes]:
        """Return the predictions of some records, which one tree has answered."""
        if not isinstance(self._answers, Answers):
            return [self._encoded(place, name, index) for index in range(start, end)]
        answers, segment = self._answers, self.segment
        values: list[bytes] = []
        for special in [*(i for i in answers.special if start <= i < end), end]:
            values += self._writer.write(
                segment.ids,
                answers.classes,
                answers.counts,
                answers.paths,
                self.places,
                segment.labels,
                tree,
                start,
                special,
                answers.by,
                answers.shares,
            )
            if special < end:
                values.append(self._encoded(place, name, special))
            start = special + 1
        return values

    def _encoded(self, place: Place, name: TreeName, index: int) -> bytes:
        answer, record = self._answers[index], self.segment.records[index]
        label = int(self.segment.labels[index])
        known = msgspec.UNSET if label < 0 else self._codes.classes[label]
        return encode(
            Prediction(
                id=msgspec.json.decode(self.segment.ids[index]),
                agent=place.agent,
                model=place.model,
                learner=place.learner,
                prediction=answer.answer,
                probabilities=answer.probabilities,
                path=answer.path,
                leaf=LeafCounts(dict(answer.counts)),
                flags=answer.flags,
                tree=name,
                source=Source(record.partition.topic, record.partition.number, record.offset),
                answered_by=answer.by or msgspec.UNSET,
                label=known,
                correct=msgspec.UNSET if label < 0 else answer.answer == known,
            )
        )


def cause_of(record: Record, id_text: bytes) -> Cause:
    """Return what to call a record that changed a tree; `id_text` is its id in JSON."""
    where = record.partition
    return Cause(where.topic, where.number, record.offset, msgspec.json.decode(id_text))
