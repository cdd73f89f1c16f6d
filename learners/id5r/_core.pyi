"""What the compiled module offers; documented in `_core.pyx`."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from learners.codes import Codes
from learners.learner import Step
from learners.outline import Outline, Path
from learners.vocabulary import Row

PLAIN: int
UNSEEN: int
MISSING: int
CHANGED: int
UNEXPLAINED: int
STOP_AT_CHANGES: int
STOP_AT_UNEXPLAINED: int
OPERATIONS: tuple[str, ...]

Dump = tuple[
    NDArray[np.uint16],
    NDArray[np.uint64],
    NDArray[np.uint16],
    NDArray[np.uint32],
    NDArray[np.uint32],
    NDArray[np.int64],
    tuple[int, ...],
]

def logs_of(x: int) -> tuple[int, int]: ...
def critical_values(level: float, degrees: int) -> tuple[int, float]: ...
def fail_allocation(number: int) -> int: ...
def cuts_of(numbers: Sequence[int], bins: int) -> list[int]: ...

class Batch:
    def __init__(self, rows: int, classes: int, voices: bool = False) -> None: ...
    def voices(self) -> tuple[NDArray[np.int8], NDArray[np.float64]]: ...
    def scores_of(self, row: int) -> list[int]: ...
    def arrays(
        self,
    ) -> tuple[
        NDArray[np.int32], NDArray[np.int32], NDArray[np.uint64], NDArray[np.uint32], NDArray[np.uint64]
    ]: ...

class CoreTree:
    def __init__(
        self,
        *,
        gain_ratio: bool = False,
        significance: float = 0.0,
        pearson: bool = False,
        records_per_value: int = 0,
        hat: bool = False,
        replace: bool = False,
        window: int = 0,
        max_bytes: int = 0,
        small: int = 256,
        bins: int = 32,
        ordered: bool = False,
        window_time: float = 0.0,
        max_time_jump: float = 0.0,
        outline_bytes: int = 0,
    ) -> None: ...
    def reserve(
        self,
        values: Sequence[int],
        order: Sequence[int],
        class_rank: Sequence[int],
        numbers: Sequence[int] | None = None,
        retired: Sequence[int] = (),
    ) -> None: ...
    def set_cuts(self, attribute: int, cuts: Sequence[int], median: int, fixed: bool) -> None: ...
    def cuts(self, attribute: int) -> tuple[list[int], int]: ...
    cut_age: tuple[int, bool]
    newest: float
    confirmed: bool
    def set_time(self, attribute: int) -> None: ...
    def take_recut(self) -> bool: ...
    def take_dropped(self) -> bool: ...
    def learn(self, row: Row, label: int) -> None: ...
    def forget(self, row: Row, label: int) -> bool: ...
    def answer(
        self, row: Row, codes: Codes
    ) -> tuple[int, int, list[int], tuple[Step, ...], list[int] | None]: ...
    def explain(self, codes: Codes) -> tuple[Step, ...] | None: ...
    def run(
        self,
        codes: NDArray[np.uint32] | NDArray[np.uint64],
        labels: NDArray[np.int32],
        start: int,
        stop: int,
        batch: Batch,
    ) -> tuple[int, int]: ...
    def unexplain(self) -> None: ...
    def settle(self) -> None: ...
    def outline(self, codes: Codes, fresh: bool = True) -> Outline | None: ...
    def subtree(self, path: Path, codes: Codes) -> Outline: ...
    def operations(self) -> tuple[int, ...]: ...
    def check(self) -> str | None: ...
    @property
    def failed(self) -> bool: ...
    def dump(self, let_go: bool = True) -> Dump: ...
    def load(
        self,
        rows: NDArray[np.uint16],
        numbers: NDArray[np.uint64],
        labels: NDArray[np.uint16],
        times: NDArray[np.uint32],
        ring: NDArray[np.uint32],
        form: NDArray[np.int64] | None,
        operations: tuple[int, ...],
    ) -> None: ...
    @property
    def changed(self) -> bool: ...
    @property
    def retained(self) -> int: ...
    @property
    def distinct(self) -> int: ...
    @property
    def brought_back(self) -> int: ...
    @property
    def walks(self) -> tuple[int, int, int, int]: ...
    @property
    def outlines_made(self) -> int: ...
    @property
    def outlines_kept(self) -> int: ...
    @property
    def nodes(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def weight(self) -> int: ...
    def weigh(self, beside: CoreTree) -> int: ...
    def note(self, row: Sequence[int], label: int) -> None: ...
    def forget_outlines(self) -> None: ...
    def count_known_names(self) -> None: ...
    @property
    def budget(self) -> tuple[int, int, list[int], int] | None: ...
    @budget.setter
    def budget(self, found: tuple[int, int, list[int], int]) -> None: ...

class Voices:
    def __init__(
        self,
        main: CoreTree,
        recent: CoreTree | None,
        candidate: CoreTree | None,
        answer: str,
        drift: str,
        decay: float,
    ) -> None: ...
    def learn(self, row: Row, label: int) -> None: ...
    def forget(self, row: Row, label: int) -> bool: ...
    def answer(self, row: Row) -> tuple[int, int, list[float]]: ...
    def run(
        self,
        codes: NDArray[np.uint32] | NDArray[np.uint64],
        labels: NDArray[np.int32],
        start: int,
        stop: int,
        batch: Batch,
    ) -> tuple[int, int]: ...
    @property
    def drops(self) -> int: ...
    state: tuple[list[list[float]], list[int], list[float], list[int]]
    blend: tuple[list[tuple[float, float]], list[tuple[float, float]], tuple[float, float]]
    main: CoreTree
    recent: CoreTree | None
    candidate: CoreTree | None
