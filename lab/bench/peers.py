"""The learners that ours is measured beside: River's Hoeffding tree, in Python, and MOA's, in a JVM.

Neither is needed. A peer that is not there is left out, and the report says how to get it.
"""

import contextlib
import importlib
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np

from lab.bench.measure import CpuClock, Pass, PeerFailed, Tell, Timed
from lab.bench.streams import Chunk, Source, described, names_of
from lab.maven import NoJarsError, can_build, jars_of
from stream.broker.process import tethered

RIVER = "River HoeffdingTree"
MOA = "MOA HoeffdingTree"
MAJORITY = ", majority leaves"
"""What is added to a peer's name where its leaves answer as ours do, which costs it less."""
NAMES: Mapping[str, str] = {"river": RIVER, "moa": MOA}

GET_RIVER = 'River was not measured: it is not installed. Run `pip install "espalier-kafka[river]"`'
GET_MOA = (
    "MOA was not measured: it needs Maven, a JDK (17 or newer) and the directory deploy/bench of a checkout"
)
PASS_SECONDS = 300.0
WARM_SECONDS = 1.5
"""How long a JVM learns before it is measured: by then what matters has been compiled."""
_PLACE = Path(__file__).resolve().parents[2] / "deploy" / "bench"
_PROGRAM = "HoeffdingBench.java"


class Peer(Protocol):
    """Somebody else's learner."""

    def passes(
        self, source: Source, chunk: Chunk, *, majority: bool
    ) -> contextlib.AbstractContextManager[dict[str, Pass]]:
        """Give the ways in which it is measured over some records, by name.

        Args:
            source: Where the records are from.
            chunk: The records.
            majority: Whether to measure it with majority leaves as well.
        """
        ...


class RiverTree(Protocol):
    """What we use of a classifier of River's."""

    def predict_one(self, x: Mapping[str, str]) -> str | None:
        """Return the class of a description."""
        ...

    def learn_one(self, x: Mapping[str, str], y: str) -> None:
        """Learn a class."""
        ...


def has_river() -> bool:
    """Whether River is installed."""
    return find_spec("river") is not None


def river_tree(attributes: Sequence[str], leaves: str = "nba") -> RiverTree:
    """Return a fresh Hoeffding tree of River's; `leaves` is "nba", its default, or "mc", the majority."""
    trees = importlib.import_module("river.tree")
    tree: RiverTree = trees.HoeffdingTreeClassifier(
        nominal_attributes=list(attributes), leaf_prediction=leaves
    )
    return tree


class River:
    """River, in this process, on dictionaries that are made beforehand."""

    @contextlib.contextmanager
    def passes(self, source: Source, chunk: Chunk, *, majority: bool) -> Iterator[dict[str, Pass]]:
        """Give the ways in which it is measured."""
        records = list(described(source, chunk))
        names = names_of(source)

        def run(leaves: str) -> Timed:
            tree = river_tree(names, leaves)
            predict, learn = tree.predict_one, tree.learn_one
            clock, correct = CpuClock(), 0
            with clock:
                for values, label in records:
                    correct += predict(values) == label
                    learn(values, label)
            return Timed(len(records), clock.seconds, correct)

        ways: dict[str, Pass] = {RIVER: lambda: run("nba")}
        if majority:
            ways[RIVER + MAJORITY] = lambda: run("mc")
        yield ways


class Moa:
    """MOA, in a JVM of its own that stays warm while contenders take turns.

    Args:
        jars: Where its jars are.
    """

    def __init__(self, jars: Path) -> None:
        self._jars = jars

    @contextlib.contextmanager
    def passes(self, source: Source, chunk: Chunk, *, majority: bool) -> Iterator[dict[str, Pass]]:
        """Give the ways in which it is measured."""
        with tempfile.TemporaryDirectory(prefix="espalier-bench-") as directory:
            file = Path(directory) / "stream"
            file.write_bytes(_as_bytes(source, chunk))
            with _Jvm(self._jars, file) as jvm:
                leaves = {MOA: "NBAdaptive"}
                if majority:
                    leaves[MOA + MAJORITY] = "MC"
                for kind in leaves.values():
                    warm = 0.0
                    while warm < WARM_SECONDS:
                        warm += jvm.run(kind).seconds
                yield {name: partial(jvm.run, kind) for name, kind in leaves.items()}


class _Jvm:
    """The program in deploy/bench, running."""

    def __init__(self, jars: Path, file: Path) -> None:
        java = shutil.which("java")
        assert java is not None
        command = [java, "-Xms1g", "-Xmx2g", "-cp", f"{jars}/*", str(_PLACE / _PROGRAM), str(file)]
        self._errors = file.with_name("errors")
        with self._errors.open("wb") as sink:
            self._child = subprocess.Popen(
                tethered(command),
                cwd=file.parent,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                text=True,
            )

    def __enter__(self) -> "_Jvm":
        return self

    def __exit__(self, *_: object) -> None:
        self._child.kill()
        self._child.communicate()

    def run(self, leaves: str) -> Timed:
        """Let it do one pass.

        Raises:
            PeerFailed: It ended, or took too long.
        """
        assert self._child.stdin is not None and self._child.stdout is not None
        guard = threading.Timer(PASS_SECONDS, self._child.kill)
        guard.daemon = True
        guard.start()
        try:
            self._child.stdin.write(f"{leaves}\n")
            self._child.stdin.flush()
            told = self._child.stdout.readline().split()
        except BrokenPipeError:
            told = []
        finally:
            guard.cancel()
        if len(told) != 3:
            said = self._errors.read_text(errors="replace").strip().splitlines()
            raise PeerFailed(f"MOA did not finish a pass: {said[0] if said else 'it said nothing'}")
        return Timed(int(told[0]), float(told[1]), int(told[2]))


def _as_bytes(source: Source, chunk: Chunk) -> bytes:
    """Return records in the form that the program reads; its codes count from 0."""
    head = np.array([len(chunk), len(source.sizes), source.classes, *source.sizes], dtype=">i4")
    body = np.column_stack([chunk.rows - 1, chunk.labels]).astype(np.uint8)
    return head.tobytes() + body.tobytes()


# ---- what there is


class Peers(NamedTuple):
    """Those that can be measured, and what is to be said about those that cannot."""

    there: dict[str, Peer]
    notes: list[str]


def find_peers(wanted: Sequence[str], cache: Path | None, tell: Tell) -> Peers:
    """Return those of the peers that are there; MOA's jars are fetched into the cache if they are not."""
    there: dict[str, Peer] = {}
    notes: list[str] = []
    if "river" in wanted:
        if has_river():
            there[RIVER] = River()
        else:
            notes.append(GET_RIVER)
    if "moa" in wanted:
        try:
            there[MOA] = Moa(moa_jars(cache, tell))
        except PeerFailed as error:
            notes.append(str(error))
    return Peers(there, notes)


def moa_jars(cache: Path | None, tell: Tell) -> Path:
    """Return the directory of MOA's jars; Maven fills it the first time.

    Raises:
        PeerFailed: There is no way to get them here.
    """
    if not can_build(_PLACE / _PROGRAM):
        raise PeerFailed(GET_MOA)
    home = (cache or Path.home() / ".cache") / "espalier" / "moa"
    try:
        return jars_of(_PLACE / "pom.xml", home, lambda: tell("fetching MOA with Maven (once)"))
    except NoJarsError as error:
        raise PeerFailed(f"MOA was not measured: {error}") from error
