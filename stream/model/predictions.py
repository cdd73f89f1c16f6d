"""Predictions on their way to bytes."""

from collections.abc import Sequence
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from learners.canonical import as_sent
from learners.codes import Codes
from learners.id5r.batches import Answers
from learners.learner import Prediction as Answer
from stream.model.row_decoder import Segment
from stream.native.predictions import PredictionWriter
from stream.records.published import Cause, LeafCounts, Prediction, Source, TreeName, encode
from stream.records.record import Record


class ModelRoute(NamedTuple):
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


class PredictionBatch:
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
        writer.name_classes(codes.classes, codes.label_kind)

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

    def predictions(
        self, place: ModelRoute, name: TreeName, start: int, end: int, since: int = -1
    ) -> list[bytes]:
        """Return the predictions of some records.

        Args:
            place: Which model it is, and where its records go.
            name: The tree as it was last published.
            start: The first record.
            end: The one after the last.
            since: How many records the tree had seen since then, when it predicted the first of these; below
                0: it has predicted all of them as it was published.
        """
        first = start
        if not isinstance(self._answers, Answers):
            return [
                self._encoded(place, _since(name, since, index - first), index) for index in range(start, end)
            ]
        tree = b'{"version":%d,"digest":"%b"' % (name.version, name.digest.encode())
        answers, segment = self._answers, self.segment
        values: list[bytes] = []
        one_by_one = sorted({*answers.special, *segment.flags})
        for special in [*(i for i in one_by_one if start <= i < end), end]:
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
                -1 if since < 0 else since + start - first,
            )
            if special < end:
                values.append(self._encoded(place, _since(name, since, special - first), special))
            start = special + 1
        return values

    def _encoded(self, place: ModelRoute, name: TreeName, index: int) -> bytes:
        answer, record = self._answers[index], self.segment.records[index]
        label = int(self.segment.labels[index])
        known = msgspec.UNSET if label < 0 else self._codes.classes[label]
        kind = self._codes.label_kind
        return encode(
            Prediction(
                id=msgspec.json.decode(self.segment.ids[index]),
                agent=place.agent,
                model=place.model,
                learner=place.learner,
                prediction=None if answer.answer is None else as_sent(answer.answer, kind),
                probabilities=answer.probabilities,
                path=answer.path,
                leaf=LeafCounts(dict(answer.counts)),
                flags=(*answer.flags, *self.segment.flags.get(index, ())),
                tree=name,
                source=Source(record.partition.topic, record.partition.number, record.offset),
                answered_by=answer.by or msgspec.UNSET,
                label=msgspec.UNSET if label < 0 else as_sent(self._codes.classes[label], kind),
                correct=msgspec.UNSET if label < 0 else answer.answer == known,
            )
        )


def _since(name: TreeName, since: int, more: int) -> TreeName:
    """Return the name of a tree that has seen more records than when it was published."""
    return (
        name if since + more <= 0 or since < 0 else msgspec.structs.replace(name, records_since=since + more)
    )


def cause_of(record: Record, id_text: bytes) -> Cause:
    """Return what to call a record that changed a tree; `id_text` is its id in JSON."""
    where = record.partition
    return Cause(where.topic, where.number, record.offset, msgspec.json.decode(id_text))
