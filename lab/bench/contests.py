"""Learners side by side on the same records: each answers a record, then learns it.

Ours runs through `learn_batch`, as in a stream. River's are those of its package, MOA's run in a JVM; whoever
is not there is left out, and the report says so.
"""

import importlib
import math
import random
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from lab.bench.measure import CpuClock, PeerFailed, Timed
from lab.bench.peers import _PLACE, GET_MOA, GET_RIVER, WARM_SECONDS, has_river, moa_jars
from learners.id5r import _core
from learners.id5r.learner import ID5R
from learners.learner import make_options
from learners.schema import AttributeType, Instance, Limits, Schema, Value
from stream.model.row_decoder import as_array

BATCH = 1_000
PAUSE = 50
"""After how many records somebody who may be too slow is looked at."""
MOA_PROGRAM = "MixedBench.java"
MOA_SECONDS = 1_200.0
PATIENCE = 0.03
"""Seconds of CPU that a learner of River's may take for a record in the mean, or else it is left out."""


class Contest(NamedTuple):
    """Some records, in order, and what is known about them; `timed` says whether speed matters."""

    name: str
    schema: Schema
    rows: Sequence[Instance]
    limits: Limits | None = None
    timed: bool = False

    @property
    def numeric(self) -> set[str]:
        """The attributes that are numbers."""
        return {one.name for one in self.schema.attributes if one.type is AttributeType.NUMERIC}


Contender = Callable[[Contest], Timed]


# ---- ours


class Outcome(NamedTuple):
    """What a run of ours came to, and the learner at its end."""

    timed: Timed
    learner: ID5R


def run_ours(contest: Contest, **settings: object) -> Outcome:
    """Let our learner answer and learn the records of a contest."""
    options = make_options(ID5R.options_type, settings)
    learner = ID5R(contest.schema, options, contest.limits)
    clock, correct = CpuClock(), 0
    for start in range(0, len(contest.rows), BATCH):
        encoded = [learner.codes.encode(*row)[:2] for row in contest.rows[start : start + BATCH]]
        labels = np.array([label for _, label in encoded], dtype=np.int32)
        width = len(learner.codes.attributes)
        rows = [row + (0,) * (width - len(row)) for row, _ in encoded]
        with clock:
            result = learner.learn_batch(rows, labels)
        names = learner.codes.classes
        correct += sum(
            answer.answer == names[label]
            for answer, label in zip(result.predictions, labels.tolist(), strict=True)
        )
    return Outcome(Timed(len(contest.rows), clock.seconds, correct), learner)


def compiled(contest: Contest) -> Timed:
    """Let the compiled tree alone answer and learn: no explanations, no changes told, as in `bench core`."""
    learner = ID5R(contest.schema, None, contest.limits)
    encoded = [learner.codes.encode(*row)[:2] for row in contest.rows]
    learner.make_room(len(learner.codes.attributes))
    rows, labels = (
        as_array([row for row, _ in encoded]),
        np.array([one for _, one in encoded], dtype=np.int32),
    )
    wide = rows.astype(np.uint64) if contest.numeric else rows
    batch = _core.Batch(len(labels), len(learner.codes.classes))
    clock, start, extra = CpuClock(), 0, 0
    with clock:
        while start < len(labels):
            start, why = learner.tree.run(wide, labels, start, 0, batch)
            if why == _core.UNEXPLAINED:  # a value that nobody lacked before is missing
                row, label = encoded[start]
                extra += learner.answer(row).answer == learner.codes.classes[label]
                learner.tree.learn(row, label)
                start += 1
    return Timed(len(labels), clock.seconds, int((batch.arrays()[0] == labels).sum()) + extra)


def ours(**settings: object) -> Contender:
    """Return our learner with some settings."""
    return lambda contest: run_ours(contest, **settings).timed


# ---- River


def river(kind: str, **settings: object) -> Contender:
    """Return a classifier of River's, by the name it has in its modules `tree` and `forest`."""

    def run(contest: Contest) -> Timed:
        module = importlib.import_module("river.forest" if kind.startswith("ARF") else "river.tree")
        nominal = [one.name for one in contest.schema.attributes if one.name not in contest.numeric]
        extra = {} if kind.startswith("ARF") else {"nominal_attributes": nominal}
        model = getattr(module, kind)(**extra, **settings)
        records = [(_known(row.values), str(row.label)) for row in contest.rows]
        clock, correct = CpuClock(), 0
        for start in range(0, len(records), PAUSE):
            with clock:
                for values, label in records[start : start + PAUSE]:
                    correct += model.predict_one(values) == label
                    model.learn_one(values, label)
            if clock.seconds > PATIENCE * len(records):
                raise PeerFailed(
                    f"River's {kind} took {clock.seconds:,.0f} s for {start + PAUSE:,} of {len(records):,} "
                    f"records of {contest.name} and was left out there."
                )
        return Timed(len(records), clock.seconds, correct)

    return run


def _known(values: Mapping[str, Value]) -> dict[str, Value]:
    """Return a description as River wants it, which has no word for a missing value."""
    return {name: value for name, value in values.items() if value is not None}


# ---- MOA


class MoaRunner:
    """MOA's learners over the records of a contest, each in a JVM of its own; it is warm where speed matters.

    Args:
        jars: Where its jars are.

    Raises:
        PeerFailed: The program that runs them cannot be compiled.
    """

    def __init__(self, jars: Path) -> None:
        self._home = tempfile.TemporaryDirectory(prefix="espalier-bench-")
        self._classpath = f"{jars}/*:{self._home.name}"
        compiler = shutil.which("javac") or "javac"
        command = [compiler, "-cp", f"{jars}/*", "-d", self._home.name, str(_PLACE / MOA_PROGRAM)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise PeerFailed(f"MOA was not measured: its program was not compiled: {done.stderr.strip()}")

    def contender(self, kind: str) -> Contender:
        """Return a learner of MOA's, by the name of its class."""
        return partial(self._run, kind)

    def _run(self, kind: str, contest: Contest) -> Timed:
        java = shutil.which("java")
        assert java is not None
        with tempfile.TemporaryDirectory(prefix="espalier-bench-") as directory:
            file = Path(directory) / "records"
            file.write_bytes(b"".join(_as_bytes(contest)))
            warm = str(WARM_SECONDS if contest.timed else 0)
            command = [java, "-Xmx2g", "-cp", self._classpath, Path(MOA_PROGRAM).stem, str(file), kind, warm]
            try:
                done = subprocess.run(
                    command, capture_output=True, text=True, timeout=MOA_SECONDS, check=False
                )
            except subprocess.TimeoutExpired:
                raise PeerFailed(f"MOA's {kind} did not finish {contest.name}") from None
        told = done.stdout.split()
        if done.returncode or len(told) != 3:
            said = done.stderr.strip().splitlines() or ["nothing"]
            raise PeerFailed(f"MOA's {kind} failed on {contest.name} and said: {said[0]}")
        return Timed(int(told[0]), float(told[1]), int(told[2]))


def _as_bytes(contest: Contest) -> Iterator[bytes]:
    """Yield the form that the program reads: big-endian numbers, NaN for what is missing."""
    numeric = contest.numeric
    attributes = [one.name for one in contest.schema.attributes]
    texts: dict[str, dict[str, int]] = {name: {} for name in attributes}
    classes: dict[str, int] = {}
    body: list[bytes] = []
    pack = struct.Struct(f">{len(attributes) + 1}d").pack
    for values, label in contest.rows:
        row: list[float] = []
        for name in attributes:
            value: Any = values.get(name)
            if value is None or value == "?":
                row.append(math.nan)
            elif name in numeric:
                row.append(float(value))
            else:
                row.append(float(texts[name].setdefault(str(value), len(texts[name]))))
        body.append(pack(*row, float(classes.setdefault(str(label), len(classes)))))
    sizes = [0 if name in numeric else max(1, len(texts[name])) for name in attributes]
    yield struct.pack(f">{3 + len(sizes)}i", len(body), len(attributes), len(classes), *sizes)
    yield from body


# ---- who is there


class Contenders(NamedTuple):
    """Those that can be measured, and what is to be said about those that cannot."""

    there: dict[str, Contender]
    notes: list[str]


def find_contenders(
    wanted: Sequence[str],
    rivers: Mapping[str, Contender],
    moas: Sequence[str],
    cache: Path | None,
    tell: Callable[[str], None],
) -> Contenders:
    """Return the peers that are there; MOA's jars are fetched into the cache if they are not."""
    there: dict[str, Contender] = {}
    notes: list[str] = []
    if "river" in wanted:
        if has_river():
            there |= rivers
        else:
            notes.append(GET_RIVER)
    if "moa" in wanted:
        try:
            jars = moa_jars(cache, tell)
            if not (_PLACE / MOA_PROGRAM).is_file():
                raise PeerFailed(GET_MOA)
            runner = MoaRunner(jars)
            there |= {f"MOA {kind}": runner.contender(kind) for kind in moas}
        except PeerFailed as error:
            notes.append(str(error))
    return Contenders(there, notes)


def shuffled(rows: Sequence[Instance], seed: int) -> list[Instance]:
    """Return the rows in another order, the same for the same seed."""
    mixed = list(rows)
    random.Random(seed).shuffle(mixed)
    return mixed
