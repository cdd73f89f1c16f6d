"""An MDL tree never looks for counts of values for which it has no room yet."""

import pytest

from learners.laws.retiring_laws import retire
from learners.mdl.learner import MDL
from learners.mdl.options import CODES
from learners.outline import digest
from learners.registry import make_learner
from learners.schema import Instance, Schema


def made(code: str) -> MDL:
    learner = make_learner("mdl", Schema(), {"code": code})
    assert isinstance(learner, MDL)
    for place in range(40):
        values = {"user": f"u{place % 3}", "plan": f"p{place % 4}"}
        learner.learn_one(Instance(values, "no" if place % 4 == 1 else "yes"))
    return learner


@pytest.mark.parametrize("code", sorted(CODES))
def test_an_attribute_is_retired_while_a_batch_holds_values_that_are_not_learned_yet(code: str) -> None:
    learner, other = made(code), made(code)
    for place in range(20):
        learner.codes.encode({"user": "u1", "plan": f"new {place}"}, "yes")
    for one in (learner, other):
        retire(one, [one.codes.attributes.index("user")])
    tree = learner.tree
    for codes, room in zip(tree.sorted, tree.sizes, strict=True):
        assert max(codes, default=0) < room
    assert digest(learner.outline()) == digest(other.outline())
