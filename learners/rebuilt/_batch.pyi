"""What the compiled module offers; documented in `_batch.pyx`."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]

def added_errors(n: float, errors: float, confidence: float, z: float) -> float: ...

class Coded:
    def __init__(
        self,
        labels: Ints,
        classes: int,
        arity: Ints,
        levels: Ints,
        values: Floats,
        value_start: Longs,
        codes: Ints | None = None,
        sparse: tuple[Longs | Ints, ...] | None = None,
        zero: int = 0,
    ) -> None: ...
    def grow(
        self,
        how: str,
        min_records: float,
        min_share: bool,
        mdl: bool,
        bins: int = 0,
        equal_width: bool = False,
        renormalise: bool = True,
        collapse: bool = True,
        confidence: float = 0.25,
        z: float = 0,
        raising: bool = True,
    ) -> tuple[Ints, Ints, Ints, Ints, Floats, int]: ...

def distributions(
    attribute: Ints,
    threshold: Floats,
    first: Ints,
    branches: Ints,
    numeric: NDArray[np.uint8],
    shares: Floats,
    totals: Floats,
    x: Floats | None = None,
    sparse: tuple[Longs, Ints, Floats] | None = None,
) -> Floats: ...
def stops(
    attribute: Ints,
    threshold: Floats,
    first: Ints,
    branches: Ints,
    numeric: NDArray[np.uint8],
    totals: Floats,
    x: Floats,
) -> Ints: ...
def normal_logs(x: Floats, mean: Floats, deviation: Floats, precision: Floats) -> Floats: ...
def sparse_normal_logs(
    row_start: Longs, row_cols: Ints, row_values: Floats, mean: Floats, deviation: Floats, precision: Floats
) -> Floats: ...
