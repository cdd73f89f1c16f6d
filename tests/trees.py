"""Trees of oracles and of learners in one form, to compare them."""

import json

from learners.learner import Learner
from learners.outline import to_json


def plain(tree: object) -> object:
    """Return a tree of the oracle or of a learner in one form."""
    if isinstance(tree, dict) and "branches" in tree:
        branches = {str(value): plain(below) for value, below in sorted(tree["branches"].items())}
        return {**tree, "counts": dict(sorted(tree["counts"].items())), "branches": branches}
    return {**tree, "counts": dict(sorted(tree["counts"].items()))} if isinstance(tree, dict) else tree


def tree_of(learner: Learner) -> object:
    return plain(json.loads(to_json(learner.outline())))
