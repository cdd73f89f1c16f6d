"""What the experiments of Bhatia and Schuch 2008 have in common: the learners, and how they are tried."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lab.experiments.concepts import Concept
from learners.learner import Learner
from learners.mdl.learner import MDL
from learners.outline import Size, size
from learners.registry import make_learner
from learners.schema import Attribute, Instance, Schema

POINTS = 20
"""Of a curve."""
PAPER = {"code": "paper", "retry": 1}
DATA = {"code": "paper-data", "retry": 1}
DEEP = {"code": "paper-data", "retry": 1, "deep": True}
BARE = {"significance": None, "min_records_per_value": 0}
SYSTEMS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "mdl": ("mdl", {}),
    "mdl, weight 0.125": ("mdl", {"tree_weight": 0.125}),
    "mdl, weight 0.5": ("mdl", {"tree_weight": 0.5}),
    "mdl, weight 1": ("mdl", {"tree_weight": 1}),
    "mdl, paper's code": ("mdl", PAPER),
    "mdl, exceptions alone": ("mdl", DATA),
    "mdl, exceptions alone, deep": ("mdl", DEEP),
    "id5r, bare": ("id5r", BARE),
    "id5r": ("id5r", {}),
    "nt": ("nt", {}),
    "c45": ("c45", {}),
}
"""By the names in the reports: the learner and its settings. Bare ID5R has the tree of ID3."""


class Course(NamedTuple):
    """How a learner did along a stream, at some points: percent right so far, leaves, bits."""

    at: list[float]
    accuracy: list[float]
    leaves: list[float]
    bits: list[float]


def instances_of(concept: Concept, *, without: Sequence[str] = ()) -> list[Instance]:
    """Return the instances of a data set in its own words."""
    kept = [a for a, name in enumerate(concept.attributes) if name not in without]
    return [
        Instance({concept.attributes[a]: concept.values[a][row[a]] for a in kept}, concept.classes[label])
        for row, label in concept.examples
    ]


def made(system: str, instances: Sequence[Instance]) -> Learner:
    """Return a learner that is to get some instances; every attribute is nominal."""
    name, settings = SYSTEMS[system]
    attributes = tuple(Attribute(one) for one in instances[0].values)
    return make_learner(name, Schema(attributes), settings)


def bits_of(learner: Learner) -> float:
    """Return the description length where a learner knows it, and 0 elsewhere."""
    return sum(learner.description_bits) if isinstance(learner, MDL) else 0.0


def follow(learner: Learner, stream: Sequence[Instance], truth: Sequence[object]) -> Course:
    """Let a learner answer each instance and learn it; what is right is said apart, for labels with noise."""
    right = 0
    course = Course([], [], [], [])
    every = max(1, len(stream) // POINTS)
    for number, (instance, true) in enumerate(zip(stream, truth, strict=True), 1):
        right += learner.predict_one(instance.values).answer == true
        learner.learn_one(instance)
        if number % every == 0 or number == len(stream):
            course.at.append(number)
            course.accuracy.append(100 * right / number)
            course.leaves.append(tree_size(learner).leaves)
            course.bits.append(bits_of(learner))
    return course


def tree_size(learner: Learner) -> Size:
    """Return the size of a learner's tree."""
    return size(learner.outline())


def share_right(learner: Learner, instances: Sequence[Instance]) -> float:
    """Return the percentage of instances that are answered rightly."""
    right = sum(learner.predict_one(one.values).answer == one.label for one in instances)
    return 100 * right / len(instances)


def shuffled(instances: Sequence[Instance], rng: np.random.Generator) -> list[Instance]:
    """Return instances in a random order."""
    return [instances[place] for place in rng.permutation(len(instances)).tolist()]
