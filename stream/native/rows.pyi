"""What the compiled module offers; documented in `rows.pyx`."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from learners.codes import Codes

class Rows:
    def __init__(
        self,
        codes: NDArray[np.uint32],
        labels: NDArray[np.int32],
        ids: list[bytes | None],
        understood: NDArray[np.uint8],
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def codes(self) -> NDArray[np.uint32]: ...
    @property
    def labels(self) -> NDArray[np.int32]: ...
    @property
    def ids(self) -> list[bytes | None]: ...
    @property
    def understood(self) -> NDArray[np.uint8]: ...

class RowReader:
    def __init__(
        self, codes: Codes, label: str, id_field: str, max_bytes: int, max_depth: int = 1
    ) -> None: ...
    def read(self, values: list[bytes | None]) -> Rows: ...
    def skip(self, names: Iterable[str], *, plain: bool, nested: bool) -> None: ...
