"""What the compiled module offers; documented in `predictions.pyx`."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from learners.learner import Step

class PredictionWriter:
    def __init__(
        self, agent: str, model: str, learner: str, topic: str, answerers: Sequence[str] = ()
    ) -> None: ...
    def name_classes(self, names: list[str], kind: str = ...) -> None: ...
    def write(
        self,
        ids: list[bytes],
        answers: NDArray[np.int32],
        counts: NDArray[np.uint32],
        paths: list[tuple[Step, ...]],
        places: NDArray[np.int64],
        labels: NDArray[np.int32],
        tree: bytes,
        start: int,
        end: int,
        by: NDArray[np.int8] | None = None,
        shares: NDArray[np.float64] | None = None,
        since: int = -1,
    ) -> list[bytes]: ...
