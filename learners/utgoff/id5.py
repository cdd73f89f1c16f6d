"""ID5 (Utgoff 1988): ID5R without step 3(c)ii of Table 3.

A best test is found where the instance passes and nowhere else, so that the tree is consistent with the
instances and cheaper to keep, but not always the one ID3 builds.
"""

from typing import ClassVar

from learners.utgoff.id5r import ID5R, downdate, update
from learners.vocabulary import Row


class ID5(ID5R):
    """A tree restructured only along the path of each instance."""

    name: ClassVar[str] = "id5"
    exact: ClassVar[bool] = False

    def _add(self, row: Row, label: int) -> None:
        update(self._root, row, label, self._selection, self.ops, reestablish=False)

    def _remove(self, row: Row, label: int) -> None:
        downdate(self._root, row, label, self._selection, self.ops, reestablish=False)

    def _widened(self) -> None:
        """Leave every test as it is: a better one is found where the next instance passes."""
