"""Section 5.3: ID5R on a substitute for Quinlan's chess task, two ways of selecting an attribute."""

import numpy as np

from lab.experiments.concepts import Concept, Example
from lab.experiments.systems import ID5R, classify, shape, size
from lab.experiments.training import Trained, Windowed, in_cycles, train, windowed_id3, with_replacement
from learners.ops import OpCounts
from learners.utgoff.id3 import id3
from learners.utgoff.node import collect
from learners.utgoff.selection import Selection, SelectionName

SUBSTITUTE = "kr-vs-kp.csv"
AVAILABLE = 551
"""How many instances Quinlan's set has."""
MOST_PRESENTED = 1_000_000
FIRST_WINDOW = 0.2

SELECTIONS: dict[str, SelectionName] = {"gain ratio": "gain-ratio", "E-score": "e-score"}
REPLACED = "with replacement"
CYCLES = "in cycles"

SUBSTITUTE_NOTE = (
    "Quinlan's set of 551 instances in 39 binary attributes is lost. Substitute: King and Rook against King "
    "and Pawn on a7 (Shapiro), 3,196 instances in 36 attributes, all but one binary, without contradictions. "
    "Another task, other instances: figures are not expected to agree and are not judged; the claims are."
)


class Recorder:
    """Notes the accuracy and the size of a system's tree after each update.

    Args:
        system: The system.
        examples: What it is asked.
    """

    def __init__(self, system: ID5R, examples: list[Example]) -> None:
        self._system = system
        self._examples = examples
        self.accuracy: list[float] = []
        self.nodes: list[float] = []

    def __call__(self) -> None:
        """Note them."""
        root = self._system.root
        right = sum(classify(root, row) == label for row, label in self._examples)
        self.accuracy.append(100 * right / len(self._examples))
        self.nodes.append(size(root))


def sample(concept: Concept, number: int, rng: np.random.Generator) -> list[Example]:
    """Return so many of the instances, drawn without replacement; all of them where there are not more."""
    if number >= len(concept.examples):
        return list(concept.examples)
    return [concept.examples[place] for place in rng.permutation(len(concept.examples))[:number]]


def train_on_errors(
    examples: list[Example],
    order: tuple[int, ...],
    selection: str,
    presentation: str,
    rng: np.random.Generator,
    *,
    recorded: bool = False,
) -> tuple[ID5R, Trained, Recorder]:
    """Train ID5R hat until it answers all instances rightly."""
    system = ID5R(order, Selection(SELECTIONS[selection]))
    recorder = Recorder(system, examples)
    presented = (with_replacement if presentation == REPLACED else in_cycles)(len(examples), rng)
    went = train(
        system,
        examples,
        presented,
        hat=True,
        most=MOST_PRESENTED,
        after_each=recorder if recorded else None,
    )
    return system, went, recorder


def complete_id3(
    examples: list[Example], order: tuple[int, ...], selection: str, rng: np.random.Generator
) -> Windowed:
    """Return what the complete ID3 builds: a first window of a fifth, to which all exceptions are added."""
    return windowed_id3(
        examples,
        order,
        Selection(SELECTIONS[selection]),
        rng,
        first=round(FIRST_WINDOW * len(examples)),
        step=len(examples),
    )


def is_what_id3_builds(system: ID5R) -> bool:
    """Return whether a tree is ID3's of the instances that it was trained on."""
    batch = id3(collect(system.root), system.order, system.selection, OpCounts())
    return shape(batch) == shape(system.root)
