"""ID3': ID3 built again from all instances after each of them.

In a stream, where a tree is wanted before every record, this is what ID3 is; `id3` is the same learner.
"""

from typing import ClassVar

from learners.utgoff.id3 import id3
from learners.utgoff.retaining import RetainingLearner
from learners.vocabulary import Row


class ID3Prime(RetainingLearner):
    """The batch tree of the retained instances, rebuilt after each: what exact learners are compared with."""

    name: ClassVar[str] = "id3prime"
    exact: ClassVar[bool] = True

    def _add(self, row: Row, label: int) -> None:
        self.ops.instances_stored += 1
        self._build()

    def _remove(self, row: Row, label: int) -> None:
        self.ops.instances_forgotten += 1
        self._build()

    def _retire(self) -> None:
        self._build()

    def _build(self) -> None:
        self.ops.rebuilds += 1
        instances = (((kept.stored, kept.label), 1) for kept in self._retention)
        self._root = id3(instances, self._ordered(), self._selection, self.ops)

    def _dump_tree(self) -> list[object]:
        return []

    def _load_tree(self, tree: list[object]) -> None:
        before = self.ops.copy()
        self._build()
        self._ops = before


class ID3(ID3Prime):
    """`ID3Prime` by its better known name."""

    name: ClassVar[str] = "id3"
