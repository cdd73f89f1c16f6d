"""ID4: Table 2 step by step, how its tree is read, and what it cannot learn."""

import itertools

import msgspec
import pytest

from lab.experiments import systems
from lab.experiments.concepts import parity
from lab.experiments.parity import first_cycles
from learners.capabilities import Forgetful
from learners.change import ChangeKind, fold
from learners.learner import FLAG_MISSING, FLAG_NO_ANSWER, FLAG_UNSEEN
from learners.outline import Leaf, Split, digest
from learners.registry import make_learner, restore_learner
from learners.schema import Instance
from learners.snapshot import SnapshotError, pack, unpack
from learners.utgoff.family import FamilyOptions, State
from learners.utgoff.id4 import ID4
from learners.utgoff.selection import Selection

Description = dict[str, str | None]


def described(text: str) -> Description:
    """Return the description that a word of one letter for each of a, b, c stands for; "?" is missing."""
    return {name: None if letter == "?" else letter for name, letter in zip("abc", text, strict=False)}


def taught(text: str, **options: object) -> ID4:
    """Return an ID4 that has learned some instances, such as "xy+ xz-"."""
    learner = ID4(options=msgspec.convert(options, FamilyOptions))
    for word in text.split():
        learner.learn_one(Instance(described(word[:-1]), word[-1]))
    return learner


def test_step_1_counts_every_attribute_at_every_node_visited_answer_nodes_too() -> None:
    learner = taught("xy+ xy+")
    assert learner.ops.instance_count_additions == 2 + 2
    assert learner.ops.e_scores == 0


def test_step_2_a_node_of_one_class_is_an_answer() -> None:
    outline = taught("xy+ zw+").outline()
    assert outline == Leaf("+", (("+", 2),))


def test_step_3a_an_answer_node_gets_the_best_test_and_the_instance_goes_on() -> None:
    learner = taught("xy+ xz-")
    outline = learner.outline()
    assert isinstance(outline, Split)
    assert outline.test.attribute == "b"
    # Two at the root for each of the two, one below b = z for the second alone.
    assert learner.ops.instance_count_additions == 2 + 2 + 1
    # The root is mixed once; the node below has one class and one attribute.
    assert learner.ops.e_scores == 2
    assert learner.ops.expansions == 1
    assert learner.ops.discards == 0


def test_a_single_attribute_is_not_scored() -> None:
    assert taught("x+ x- y+ y-").ops.e_scores == 0


def test_step_3b_another_test_discards_all_subtrees() -> None:
    learner = taught("xy+ xz-")
    changes = [*learner.learn_one(Instance(described("wz"), "+"))]
    # a: x [1,1], w [1,0]; b: y [1,0], z [1,1]: a tie, which the order of attributes gives to a.
    assert [change.kind for change in changes] == [ChangeKind.REPLACED]
    assert learner.ops.discards == 1
    outline = learner.outline()
    assert isinstance(outline, Split)
    assert outline.test.attribute == "a"


def test_a_branch_with_nothing_below_answers_if_its_counts_are_of_one_class() -> None:
    learner = taught("xy+ xz- wz+")
    assert learner.predict_one(described("w?")).answer == "+"
    silent = learner.predict_one(described("xy"))
    assert silent.answer is None
    assert silent.flags == (FLAG_NO_ANSWER,)
    assert silent.counts == (("+", 1), ("-", 1))
    outline = learner.outline()
    assert isinstance(outline, Split)
    assert outline.branches == (("w", Leaf("+", (("+", 1),))), ("x", Leaf(None, (("+", 1), ("-", 1)))))


def test_an_unseen_value_is_flagged_and_answered_by_the_majority() -> None:
    answered = taught("xy+ xz- xz-").predict_one(described("xq"))
    assert (answered.answer, answered.flags) == ("-", (FLAG_UNSEEN,))


def test_a_missing_value_is_answered_by_the_best_known_attribute_from_the_nodes_own_counts() -> None:
    learner = taught("xy+ xz- wz-")
    answered = learner.predict_one(described("w?"))
    assert (answered.answer, answered.flags) == ("-", (FLAG_MISSING,))
    assert [(step.attribute, step.value) for step in answered.path] == [("a", "w")]


@pytest.mark.parametrize("selection", ["e-score", "gain-ratio"])
def test_with_every_value_missing_the_majority_answers(selection: str) -> None:
    answered = taught("xy+ xz- wz-", selection=selection).predict_one(described("??"))
    assert (answered.answer, answered.flags) == ("-", (FLAG_MISSING,))


def test_with_no_attribute_left_the_majority_answers() -> None:
    learner = taught("x+ x- x-")
    assert learner.predict_one(described("x")).answer == "-"
    assert learner.predict_one(described("x")).flags == ()


def test_without_a_significant_attribute_step_3_is_not_done() -> None:
    learner = taught("xy+ xz-", significance=0.01)
    assert isinstance(learner.outline(), Leaf)
    assert learner.ops.e_scores == 2
    for _ in range(20):
        learner.learn_one(Instance(described("xy"), "+"))
        learner.learn_one(Instance(described("xz"), "-"))
    outline = learner.outline()
    assert isinstance(outline, Split)
    assert outline.test.attribute == "b"


def test_the_most_common_value_fills_in_for_a_missing_one() -> None:
    learner = taught("xy+ xy+ wz-", missing="most_common")
    learner.learn_one(Instance(described("?z"), "-"))
    outline = learner.outline()
    assert isinstance(outline, Split)
    assert outline.test.attribute == "b"
    counts = learner._root.counts
    assert counts is not None
    assert sum(counts[0][learner.codes.look_up(described("x")).row[0]].values()) == 3


def test_it_keeps_no_instances_and_so_has_no_window_and_cannot_forget() -> None:
    assert not isinstance(taught("xy+"), Forgetful)
    with pytest.raises(msgspec.ValidationError, match="window"):
        make_learner("id4", settings={"window": 10})


def stream() -> list[Instance]:
    """Return instances that make ID4 grow, discard and meet late attributes, values and classes."""
    rows = itertools.cycle(itertools.product("xyz", "pq", "01"))
    made = []
    for number, (a, b, c) in enumerate(itertools.islice(rows, 60)):
        values: Description = (
            {"a": a, "b": b} if number < 9 else {"a": a, "b": b, "c": c, "d": "?x"[number % 2]}
        )
        label = "+" if (a == "x") ^ (b == "p") ^ (c == "1") else ("late" if number > 40 and a == "z" else "-")
        made.append(Instance(values, label))
    return made


def test_a_restored_one_goes_on_as_if_nothing_had_happened() -> None:
    whole = make_learner("id4")
    for cut, instance in enumerate(stream()):
        resumed = restore_learner(whole.snapshot())
        assert resumed.snapshot() == whole.snapshot()
        for later in stream()[cut:]:
            resumed.learn_one(later)
        whole.learn_one(instance)
        if cut % 12 == 0:
            finished = make_learner("id4")
            for one in stream():
                finished.learn_one(one)
            assert resumed.snapshot() == finished.snapshot()
    assert whole.ops.discards > 0


def test_changes_fold_to_the_outline() -> None:
    learner = make_learner("id4")
    outline = None
    for instance in stream():
        outline = fold(learner.learn_one(instance), outline)
        assert digest(outline) == digest(learner.outline())


@pytest.mark.parametrize(
    "node",
    [
        [7, {0: 1}, {}, []],
        [None, {0: 1}, {}, []],
        [None, {5: 1}, {0: {1: {5: 1}}, 1: {1: {5: 1}}}, []],
        [None, {0: 1}, {0: {1: {0: 1}}, 1: {1: {0: 1}}}, [1]],
        ["no", {}, {}, []],
    ],
)
def test_a_snapshot_that_makes_no_tree_is_refused(node: list[object]) -> None:
    learner = taught("xy+ xz-")
    state = unpack(learner.snapshot(), "id4", State)
    state.tree = [node]
    with pytest.raises(SnapshotError):
        ID4.restore(pack("id4", state))


def test_a_snapshot_with_nodes_left_over_is_refused() -> None:
    learner = taught("xy+ xz-")
    state = unpack(learner.snapshot(), "id4", State)
    state.tree.append(state.tree[-1])
    with pytest.raises(SnapshotError, match="more nodes"):
        ID4.restore(pack("id4", state))


def test_parity_in_a_fixed_order_is_never_learned_with_scores_as_they_are() -> None:
    order = tuple(range(3))
    since, changes = first_cycles(systems.ID4(order, Selection(rounding=False)), 400)
    assert since is None
    assert sum(changes[-50:]) > 50


def test_parity_is_learned_after_all_once_rounding_makes_the_scores_tie() -> None:
    since, changes = first_cycles(systems.ID4(tuple(range(3)), Selection(rounding=True)), 400)
    assert since is not None
    assert 280 * 8 < since < 290 * 8
    assert sum(changes[-50:]) == 0


def test_the_learner_and_the_bare_algorithm_count_and_build_the_same() -> None:
    concept = parity(3)
    bare = systems.ID4(concept.order())
    learner = ID4()
    for row, label in concept.examples * 5:
        bare.learn(row, label)
        named = {name: concept.values[a][row[a]] for a, name in enumerate(concept.attributes)}
        learner.learn_one(Instance(named, concept.classes[label]))
    assert learner.ops == bare.ops
