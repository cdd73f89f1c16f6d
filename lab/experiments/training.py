"""How instances are chosen for training: with replacement, in cycles, or by a window that grows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from lab.experiments.concepts import Example
from lab.experiments.systems import System, classify
from learners.ops import OpCounts
from learners.utgoff.id3 import id3
from learners.utgoff.node import Node
from learners.utgoff.selection import Selection

MOST_PRESENTED = 30_000
"""Where the paper stops a run that has not ended by itself."""


@dataclass(frozen=True, slots=True)
class Trained:
    """How a run of training went.

    Attributes:
        presented: Instances presented.
        trained: Instances that the tree was updated with.
        finished: Whether the tree came to answer all of them rightly.
    """

    presented: int
    trained: int
    finished: bool


class Examination:
    """Whether a system answers all of some instances rightly.

    Args:
        system: The system.
        examples: The instances.
    """

    def __init__(self, system: System, examples: Sequence[Example]) -> None:
        self._system = system
        self._examples = list(examples)

    def is_passed(self) -> bool:
        """Return whether all answers are right.

        What was answered wrongly is asked first the next time: it is the likeliest to be wrong again. That
        saves a third of the time of ID4.
        """
        root = self._system.root
        for place, (row, label) in enumerate(self._examples):
            if classify(root, row) != label:
                self._examples.insert(0, self._examples.pop(place))
                return False
        return True


def with_replacement(count: int, rng: np.random.Generator) -> Iterator[int]:
    """Yield numbers below `count` at random for ever."""
    while True:
        yield from rng.integers(count, size=1024).tolist()


def in_cycles(count: int, rng: np.random.Generator) -> Iterator[int]:
    """Yield all numbers below `count` in a random order, again and again, each time in another one."""
    while True:
        yield from rng.permutation(count).tolist()


def train(
    system: System,
    examples: Sequence[Example],
    presentation: Iterator[int],
    *,
    hat: bool,
    most: int = MOST_PRESENTED,
    after_each: Callable[[], None] | None = None,
) -> Trained:
    """Present instances until the system answers all of them rightly.

    Args:
        system: The system.
        examples: The instances.
        presentation: Which one is presented next, for ever.
        hat: Whether an instance that is answered rightly is not learned.
        most: How many are presented at the most.
        after_each: Called whenever the tree has been updated.
    """
    examination = Examination(system, examples)
    trained = 0
    for presented, place in enumerate(presentation, 1):
        row, label = examples[place]
        if not (hat and system.answer(row) == label):
            system.learn(row, label)
            trained += 1
            if after_each is not None:
                after_each()
            if examination.is_passed():
                return Trained(presented, trained, finished=True)
        if presented == most:
            break
    return Trained(most, trained, finished=False)


@dataclass(frozen=True, slots=True)
class Windowed:
    """What the complete ID3 came to: its tree, the size of its last window, and the trees it built."""

    root: Node
    window: int
    trees: int
    ops: OpCounts


def windowed_id3(
    examples: Sequence[Example],
    order: tuple[int, ...],
    selection: Selection,
    rng: np.random.Generator,
    *,
    first: int,
    step: int,
) -> Windowed:
    """Return the tree of the complete ID3, which chooses its training instances itself (section 5.3).

    A tree is built from a window of instances; of those outside that it answers wrongly some are added to the
    window, until there are none.

    Args:
        examples: All instances. No two of them contradict each other.
        order: The attributes in the order in which ties are broken.
        selection: Which attribute is best.
        rng: Chooses the first window and what is added.
        first: The size of the first window.
        step: How many instances are added to it at the most.
    """
    places = rng.permutation(len(examples)).tolist()
    window, outside = places[:first], places[first:]
    ops = OpCounts()
    trees = 0
    while True:
        root = id3(((examples[place], 1) for place in window), order, selection, ops)
        trees += 1
        wrong = [place for place in outside if classify(root, examples[place][0]) != examples[place][1]]
        if not wrong:
            return Windowed(root, len(window), trees, ops)
        added = set(wrong[:step])
        window += wrong[:step]
        outside = [place for place in outside if place not in added]
