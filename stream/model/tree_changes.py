"""A change of the tree as the record that is published."""

import msgspec

from learners.learner import Learned
from stream.model.predictions import ModelRoute
from stream.records.published import Cause, TreeChange, TreeState, change_record, encode
from stream.records.record import Output


def change_output(
    route: ModelRoute,
    learner: str,
    version: int,
    before: str,
    cause: Cause | None,
    learned: Learned,
    net_of: int | msgspec.UnsetType = msgspec.UNSET,
) -> Output:
    """Return the record of a change, for the topic of tree changes.

    Args:
        route: Which model it is of, and where its records go.
        learner: The learner's name.
        version: How many changes the tree has seen, this one among them.
        before: The digest of the tree before it.
        cause: The record that changed the tree; None: spare time did.
        learned: The changes, and the digest and size of the tree after them.
        net_of: How many records made them, where they are the net change of a transaction.
    """
    assert learned.digest is not None
    assert learned.size is not None
    nodes, leaves, depth = learned.size
    change = TreeChange(
        agent=route.agent,
        model=route.model,
        learner=learner,
        seq=version,
        cause=cause,
        changes=tuple(map(change_record, learned.changes)),
        operations=learned.spent.spent(),
        tree=TreeState(version, learned.digest, before, nodes, leaves, depth),
        net_of=net_of,
    )
    return Output(route.tree_changes, encode(change), route.model.encode(), route.partition)
