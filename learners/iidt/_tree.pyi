import numpy as np
from numpy.typing import NDArray

from learners.lookahead._lookahead import Job

class Node:
    test: int
    numeric: bool
    at_most: float
    key: int
    branches: dict[int, Node]
    counts: list[int]
    rows: list[int]
    n: int
    label: int
    last_r: int
    tried: int
    tests: int
    stuck: bool
    shape: object
    shown: int
    explained: object
    leaves: int
    nodes: int
    errors: float
    def become(self, other: Node) -> None: ...

class Made:
    job: Job
    ids: list[int]

class Forest:
    base: int
    first: int
    next: int
    width: int
    root: Node | None
    domain: list[int]
    known: list[int]
    lacking: list[bool]
    numeric: list[bool]
    ranks: list[int]
    def widen(self, width: int, declared: list[int], numeric: list[bool]) -> None: ...
    def put(self, row: list[int], label: int) -> int: ...
    def compact(self, base: int) -> None: ...
    def blank(self, attribute: int) -> bool: ...
    def dumped(self, start: int) -> tuple[bytes, bytes]: ...
    def load(self, x: NDArray[np.uint64], labels: NDArray[np.int32], base: int) -> None: ...
    def label_of(self, number: int) -> int: ...
    def majority(self, counts: list[int]) -> int: ...
    def branch(self, node: Node, number: int) -> int: ...
    def path_to_leaf(self, root: Node, number: int) -> list[Node]: ...
    def insert(self, root: Node, number: int) -> list[Node]: ...
    def remove(self, number: int) -> list[Node]: ...
    def rows_below(self, root: Node) -> list[int]: ...
    def find(self, root: Node, row: list[int]) -> tuple[Node, bool]: ...
    def alike(self, one: int, other: int) -> bool: ...
    def size(self, root: Node) -> int: ...
    def make(
        self,
        ids: list[int],
        repeats: int,
        seed: int,
        width: int | None = None,
        domain: list[int] | None = None,
    ) -> Made: ...
    def grown(self, made: Made, last_r: int) -> Node: ...

def between(low: int, high: int) -> tuple[float, int]: ...
