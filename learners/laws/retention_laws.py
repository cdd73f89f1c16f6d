"""The laws of learners that can forget, and of those whose tree depends on the retained instances alone."""

from collections.abc import Callable

from learners.laws.story import Law, Make, Stream, forget, learn, must, same
from learners.learner import Learner
from learners.outline import Outline, to_json
from learners.schema import Instance, InstanceError

# ---- forgetting


def forgetting_everything_leaves_nothing(make: Make, stream: Stream) -> None:
    """When every instance has been forgotten there is no tree and no answer."""
    learner = make()
    for instance in stream:
        learn(learner, instance)
    for instance in (*stream[1:], *stream[:1]):
        forget(learner, instance)
    same("what is retained", 0, learner.retained)
    same("the outlines", None, learner.outline())
    for instance in stream[:1]:
        same("the answers", None, learner.predict_one(instance.values).answer)


def strangers_are_not_forgotten(make: Make, stream: Stream) -> None:
    """Forgetting what was never learned raises an error, and nothing changes."""
    learner = make()
    learned: list[Instance] = []
    for instance in stream:
        if learn(learner, instance).refusal:
            continue
        learned.append(instance)
        before = learner.snapshot()
        strangers = [
            Instance(instance.values, f"not {instance.label}"),
            Instance({**instance.values, "stranger": "x"}, instance.label),
            *(
                Instance({**instance.values, name: f"not {value}"}, instance.label)
                for name, value in instance.values.items()
            ),
        ]
        for stranger in strangers:
            if any(_is_the_same(learner, stranger, one) for one in learned):
                continue  # what is no number is a missing one, too
            must(bool(forget(learner, stranger).refusal), f"{stranger} was forgotten")
        same("the snapshots", before, learner.snapshot())


def _is_the_same(learner: Learner, one: Instance, other: Instance) -> bool:
    """Whether two instances are one to a learner that has learned the other."""
    try:
        return one.label == other.label and learner.codes.recall(one.values) == learner.codes.recall(
            other.values
        )
    except InstanceError:
        return False


# ---- exactness


def forgetting_undoes_learning(make: Make, stream: Stream) -> None:
    """An instance that is learned and forgotten again leaves the tree it found, counts and all.

    The law is for learners that retain every instance as it was given. An attribute that the instance was the
    first to have is known from then on, and so are thresholds that were found with its help.
    """
    learner = make()
    for instance in stream:
        known, kept = len(learner.codes.attributes), learner.retained
        before = to_json(learner.outline())
        learn(learner, instance)
        if _finds_thresholds(learner):
            return
        if learner.retained == kept + 1 and len(learner.codes.attributes) == known:
            forget(learner, instance)
            same("the trees", before, to_json(learner.outline()))
            learn(learner, instance)


def order_does_not_matter(make: Make, stream: Stream) -> None:
    """The tree of some instances is the same in whatever order they came.

    The law is for learners that retain every instance. Where no attributes are declared, their order is that
    of their appearance and decides ties, and the type of a field is that of its first value: orders of
    arrival are compared that agree on both. Thresholds that are not declared are found in what has come so
    far: the law is not for them.
    """
    turn = len(stream) // 2
    trees: dict[tuple[tuple[str, ...], tuple[str, ...]], str] = {}
    for order in (stream, stream[::-1], [*stream[turn:], *stream[:turn]], sorted(stream, key=repr)):
        learner = make()
        for instance in order:
            learn(learner, instance)
        if learner.retained == len(stream) and not _finds_thresholds(learner):
            tree = to_json(learner.outline())
            met = tuple(learner.codes.attributes), tuple(learner.codes.kinds)
            same("the trees", trees.setdefault(met, tree), tree)


def _finds_thresholds(learner: Learner) -> bool:
    """Whether a learner has met numbers whose thresholds are not declared."""
    codes = learner.codes
    declared = {attribute.name for attribute in codes.schema.attributes if attribute.cuts}
    return any(codes.is_numeric(a) and name not in declared for a, name in enumerate(codes.attributes))


def equals_batch(oracle: Callable[[Stream], Outline | None]) -> Law:
    """Return the law that after every record the tree is the one a batch learner builds from all of them.

    Args:
        oracle: Returns the tree of some instances.
    """

    def equals_the_batch_tree(make: Make, stream: Stream) -> None:
        """After every record the tree is that of the batch learner, counts and all."""
        learner = make()
        for place, instance in enumerate(stream):
            learner.learn_one(instance)
            same(f"the trees after record {place}", oracle(stream[: place + 1]), learner.outline())

    return equals_the_batch_tree


FORGETFUL_LAWS: list[Law] = [forgetting_everything_leaves_nothing, strangers_are_not_forgotten]
EXACT_LAWS: list[Law] = [order_does_not_matter]
UNDOING_LAWS: list[Law] = [forgetting_undoes_learning]
