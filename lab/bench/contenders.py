"""Our own learner in the ways it is measured: the compiled tree alone, and the face that the stream uses."""

from functools import partial

from lab.bench.measure import CpuClock, Pass, Timed
from lab.bench.streams import Chunk, Source, schema_of
from learners.id5r import _core
from learners.id5r.learner import ID5R
from learners.id5r.options import CoreOptions

BATCH = 2_000
"""Records in a call, as many as a worker polls at once."""

OURS = "id5r"
BARE = "id5r, bare (significance = none)"
FACE = "id5r, with explanations and changes (learn_batch)"


def fresh(source: Source, **settings: object) -> ID5R:
    """Return a learner that knows the names of a stream."""
    return ID5R(schema_of(source), CoreOptions(**settings))  # type: ignore[arg-type]


def learn(learner: ID5R, chunk: Chunk, clock: CpuClock) -> int:
    """Answer and learn some records with the compiled tree alone; return how many answers were right."""
    tree, classes = learner.tree, len(learner.codes.classes)
    correct = 0
    for start in range(0, len(chunk), BATCH):
        rows, labels = chunk.rows[start : start + BATCH], chunk.labels[start : start + BATCH]
        with clock:
            batch = _core.Batch(len(labels), classes)
            tree.run(rows, labels, 0, 0, batch)
        correct += int((batch.arrays()[0] == labels).sum())
    return correct


def _bare_pass(source: Source, chunk: Chunk, settings: dict[str, object]) -> Timed:
    learner, clock = fresh(source, **settings), CpuClock()
    return Timed(len(chunk), correct=learn(learner, chunk, clock), seconds=clock.seconds)


def _face_pass(source: Source, chunk: Chunk) -> Timed:
    learner, clock = fresh(source), CpuClock()
    correct = 0
    for start in range(0, len(chunk), BATCH):
        rows, labels = chunk.rows[start : start + BATCH], chunk.labels[start : start + BATCH]
        with clock:
            told = learner.learn_batch(rows, labels)
        names = learner.codes.classes
        correct += sum(
            one.answer == names[label] for one, label in zip(told.predictions, labels.tolist(), strict=True)
        )
    return Timed(len(chunk), clock.seconds, correct)


def our_passes(source: Source, chunk: Chunk, *, bare: bool) -> dict[str, Pass]:
    """Return the ways in which our learner is measured over some records, by name."""
    ways: dict[str, Pass] = {OURS: partial(_bare_pass, source, chunk, {})}
    if bare:
        ways[BARE] = partial(_bare_pass, source, chunk, {"significance": None})
    ways[FACE] = partial(_face_pass, source, chunk)
    return ways
