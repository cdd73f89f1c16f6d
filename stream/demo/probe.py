"""How right a tree is about instances that it has never seen: what spare time does, while nothing arrives."""

from collections.abc import Iterable
from itertools import islice

from learners.canonical import text_of
from learners.outline import Outline, Split
from stream.demo.generators import Generated

PROBES = 1_000
"""How many instances it is asked about."""
UNSEEN_SEED = 1_000_000
"""They are those of a seed that is so much higher."""


class Probe:
    """Instances with labels that are never sent.

    Args:
        instances: Those of another seed.
    """

    def __init__(self, instances: Iterable[Generated]) -> None:
        self._instances = list(islice(instances, PROBES))

    def accuracy(self, outline: Outline | None) -> float:
        """Return the share that a tree answers rightly."""
        right = sum(_answer(outline, one) == one["class"] for one in self._instances)
        return right / max(1, len(self._instances))


def _answer(node: Outline | None, instance: Generated) -> str | None:
    while isinstance(node, Split):
        value = instance.get(node.test.attribute)
        if node.test.at_most is not None:
            text = "true" if isinstance(value, int | float) and value <= node.test.at_most else "false"
        else:
            text = "?" if value is None else text_of(value)
        below = dict(node.branches).get(text)
        if below is None:
            return max(node.counts, key=lambda one: one[1])[0] if node.counts else None
        node = below
    return None if node is None else node.answer
