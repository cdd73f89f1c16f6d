"""The paper's figures: those that one computation settles exactly, the others in a few runs."""

import dataclasses
import statistics

import numpy as np
import pytest

from lab.experiments import EXPERIMENTS
from lab.experiments.concepts import multiplexor, parity, people
from lab.experiments.drawing import Pen
from lab.experiments.example import FINAL, TOLD, stages
from lab.experiments.experiment import Outcome, Task
from lab.experiments.nine import BATCH, HAT, figures, measure_batch, measure_incremental
from lab.experiments.printed import TABLE_7
from lab.experiments.report import Report, Verdict, check, compare
from lab.experiments.systems import ID5R, INCREMENTAL, classify, shape, size
from lab.experiments.table3 import PrintedID5R, disagreements, random_examples, scores_below, seven
from lab.experiments.table6 import CLOSED_FORMS, Costs, bound
from lab.experiments.table7 import ADDRESS_FIRST, DATA_FIRST
from lab.experiments.training import Examination, in_cycles, train, windowed_id3, with_replacement
from learners.ops import OpCounts
from learners.utgoff.id3 import id3
from learners.utgoff.selection import Selection

MULTIPLEXOR = multiplexor()


def measured_runs(name: str, runs: int) -> list[Outcome]:
    """Return some runs of an incremental system on the multiplexor."""
    order = MULTIPLEXOR.order(*ADDRESS_FIRST)
    examples = MULTIPLEXOR.examples
    tasks = [Task(name, run, 7) for run in range(runs)]
    return [Outcome(task, measure_incremental(name, order, examples, examples, task.rng())) for task in tasks]


# ---- Table 7


@pytest.mark.parametrize(
    ("names", "additions", "scores", "nodes"),
    [(DATA_FIRST, 1_176, 66, 51), (ADDRESS_FIRST, 1_136, 58, 35)],
)
def test_id3_on_the_multiplexor_costs_exactly_what_the_paper_says(
    names: tuple[str, ...], additions: int, scores: int, nodes: int
) -> None:
    examples = MULTIPLEXOR.examples
    row = measure_batch(MULTIPLEXOR.order(*names), examples, examples)
    assert row == {
        "insts": 64,
        "trained": 64,
        "icas": additions,
        "e_scores": scores,
        "nodes": nodes,
        "accuracy": 100,
    }


@pytest.mark.parametrize("name", [name for name in TABLE_7 if name not in (BATCH, "ID4", "ID4" + HAT)])
def test_a_row_of_table_7_agrees_in_thirty_runs(name: str) -> None:
    rows = figures(measured_runs(name, 30), name, TABLE_7[name], determined=True)
    assert [(one.column, one.verdict) for one in rows if one.verdict != Verdict.PASS] == []


@pytest.mark.parametrize(
    ("name", "additions", "scores"),
    [("ID5R", 33.0, 28.3), ("ID5", 31.6, 19.2), ("ID5R" + HAT, 46.3, 45.9), ("ID5" + HAT, 41.9, 17.2)],
)
def test_the_costs_of_an_instance_are_those_that_a_second_program_measured(
    name: str, additions: float, scores: float
) -> None:
    # Means of 200 runs of a program that was written from the article alone and shared no code with this one
    # (ID5R: 3,927 additions and 3,373 E-scores for 119 instances; ID5: 4,556 and 2,770 for 144; with the hat
    # 1,505 and 1,492 for 32.5, and 1,513 and 620 for 36.1). It is not kept here: they change only by hand.
    # How many instances a run takes varies by half, what one of them costs by a few per cent only: this
    # tells the conventions of counting apart where the rows of the table cannot.
    runs = [one.measures for one in measured_runs(name, 60)]
    trained = sum(run["trained"] for run in runs)
    assert sum(run["icas"] for run in runs) / trained == pytest.approx(additions, rel=0.04)
    assert sum(run["e_scores"] for run in runs) / trained == pytest.approx(scores, rel=0.04)


def test_id4_learns_the_multiplexor_and_its_hat_never_does() -> None:
    plain = measured_runs("ID4", 3)
    assert all(one.measures["finished"] for one in plain)
    hat = measured_runs("ID4" + HAT, 1)[0].measures
    assert (hat["insts"], hat["finished"]) == (30_000, 0)
    printed = TABLE_7["ID4" + HAT]
    assert hat["trained"] == pytest.approx(printed.trained, rel=0.05)
    assert hat["icas"] == pytest.approx(printed.icas, rel=0.05)
    assert hat["e_scores"] == pytest.approx(printed.e_scores, rel=0.05)


def test_systems_of_one_run_see_the_same_instances() -> None:
    exact = [measured_runs(name, 3) for name in ("ID3'", "ID5R")]
    for batch, incremental in zip(*exact, strict=True):
        for measure in ("insts", "trained", "nodes"):
            assert batch.measures[measure] == incremental.measures[measure]


# ---- section 3.3 and Table 3


def test_the_worked_example_costs_what_its_ledger_says() -> None:
    steps, root = stages(people())
    additions = np.cumsum([step.spent.instance_count_additions for step in steps])
    assert additions.tolist() == [0, 0, 15, 23, 31, 34, 40, 46]
    assert np.cumsum([step.spent.pull_ups for step in steps]).tolist() == [0, 0, 1, 2, 3, 3, 3, 3]
    assert np.cumsum([step.spent.transpositions for step in steps]).tolist() == [0, 0, 1, 2, 4, 4, 4, 4]
    assert [step.tests for step in steps] == [told.tree for told in TOLD]
    assert all(step.equal for step in steps)
    assert Pen(people()).contracted(root) == FINAL


def test_the_tree_after_the_third_person_is_the_one_drawn() -> None:
    steps, _ = stages(people())
    assert steps[2].drawn.splitlines() == [
        "eyes  (height: short [0,1], tall [1,1]; hair: blond [1,1], dark [0,1])",
        "  blue [1,0]: +  {height=tall, hair=blond}",
        "  brown [0,2]: height  (hair: blond [0,1], dark [0,1])",
        "    short [0,1]: -  {hair=blond}",
        "    tall [0,1]: -  {hair=dark}",
    ]


def test_table_3_as_printed_differs_from_id3_on_seven_instances_and_corrected_does_not() -> None:
    concept = seven()
    assert len(concept.examples) == 7
    assert disagreements(ID5R(concept.order()), concept) == 0
    literal = PrintedID5R(concept.order())
    assert disagreements(literal, concept) == 1
    assert scores_below(literal.root, concept) == (1.0, 0.0)


def test_the_corrected_table_equals_id3_on_random_problems_and_the_printed_one_does_not() -> None:
    concepts = [random_examples(Task("", run, 5)) for run in range(60)]
    assert sum(disagreements(ID5R(one.order()), one) for one in concepts) == 0
    assert sum(disagreements(PrintedID5R(one.order()), one) > 0 for one in concepts) > 0


# ---- section 4


def test_id3_meets_its_bounds_exactly_on_parity() -> None:
    assert bound("ID3", 64, 6, 2) == Costs(1_344, 88)
    for bits in range(2, 8):
        concept = parity(bits)
        ops = OpCounts()
        id3(((example, 1) for example in concept.examples), concept.order(), Selection(), ops)
        counted = Costs(ops.instance_count_additions, ops.e_scores)
        assert counted == bound("ID3", 1 << bits, bits, 2)


def test_closed_forms_are_their_sums() -> None:
    for total, closed in CLOSED_FORMS.values():
        assert all(total(d, b) == closed(d, b) for d in range(2, 9) for b in (2, 3, 4))


def test_systems_that_keep_instances_learn_parity_by_seeing_it_once() -> None:
    for name, kind in INCREMENTAL.items():
        if name != "ID4":
            system = kind(tuple(range(3)), Selection(rounding=False))
            for row, label in parity(3).examples:
                system.learn(row, label)
            assert all(system.answer(row) == label for row, label in parity(3).examples)


# ---- training


def test_a_run_ends_when_all_answers_are_right_and_not_before() -> None:
    system = ID5R(MULTIPLEXOR.order())
    went = train(
        system, MULTIPLEXOR.examples, with_replacement(64, np.random.default_rng(1)), hat=True, most=5_000
    )
    assert went.finished
    assert all(system.answer(row) == label for row, label in MULTIPLEXOR.examples)
    shorter = ID5R(MULTIPLEXOR.order())
    rng = np.random.default_rng(1)
    cut = train(shorter, MULTIPLEXOR.examples, with_replacement(64, rng), hat=True, most=went.presented - 1)
    assert not cut.finished
    assert cut.presented == went.presented - 1
    assert not Examination(shorter, MULTIPLEXOR.examples).is_passed()


def test_a_cycle_presents_every_instance_once() -> None:
    places = in_cycles(10, np.random.default_rng(0))
    first, second = ([next(places) for _ in range(10)] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(10))
    assert first != second


def test_the_complete_id3_with_a_window_grown_by_one_builds_the_tree_of_its_window() -> None:
    order = MULTIPLEXOR.order()
    rng = np.random.default_rng(2)
    built = windowed_id3(MULTIPLEXOR.examples, order, Selection(), rng, first=1, step=1)
    assert built.trees == built.window
    assert all(classify(built.root, row) == label for row, label in MULTIPLEXOR.examples)
    at_once = windowed_id3(
        MULTIPLEXOR.examples, order, Selection(), np.random.default_rng(2), first=64, step=1
    )
    whole = id3(((one, 1) for one in MULTIPLEXOR.examples), order, Selection(), OpCounts())
    assert at_once.trees == 1
    assert shape(at_once.root) == shape(whole)
    assert size(built.root) <= size(whole)


# ---- verdicts


def test_a_mean_passes_within_three_standard_errors_of_twenty_runs_however_many_are_made() -> None:
    spread = [90.0, 110.0] * 10
    error = statistics.stdev(spread) / 20**0.5
    for many in (spread, spread * 20):
        assert compare("", "", 100 + 2.9 * error, many).verdict == Verdict.PASS
        assert compare("", "", 100 + 3.1 * error, many).verdict == Verdict.FAIL
    few = compare("", "", 150, spread[:4])
    assert (few.verdict, compare("", "", 101, spread[:4]).verdict) == (Verdict.DIFFERS, Verdict.AGREES)


def test_where_all_runs_agree_only_the_printed_figure_passes() -> None:
    assert compare("", "", 33.3, [33.33, 33.33], digits=1).verdict == Verdict.PASS
    assert compare("", "", 33.4, [33.33, 33.33], digits=1).verdict == Verdict.FAIL
    assert compare("", "", 64, [64]).verdict == Verdict.PASS


def test_what_the_paper_does_not_determine_cannot_fail() -> None:
    assert compare("", "", 10, [1, 2, 3] * 10, determined=False).verdict == Verdict.DIFFERS
    assert compare("", "", 10, [1, 2, 3] * 10, determined=None).verdict == Verdict.NOTED
    assert compare("", "", None, [1, 2, 3] * 10).verdict == Verdict.NOTED
    report = Report("x", "X", checks=[check("so", False, "", determined=False)])
    assert not report.failed
    report.checks.append(check("so", False, ""))
    assert report.failed


# ---- whole experiments


@pytest.mark.parametrize("name", ["utgoff-parity", "utgoff-table3", "utgoff-example", "utgoff-table6"])
def test_an_experiment_without_data_passes(name: str) -> None:
    experiment = EXPERIMENTS[name]
    tasks = experiment.tasks(2, 3)
    report = experiment.report([experiment.perform(task, {}) for task in tasks], {})
    assert not report.failed
    assert Verdict.PASS in report.verdicts()
    assert report.notes


def test_a_task_done_again_comes_to_the_same() -> None:
    experiment = EXPERIMENTS["utgoff-table7"]
    task = next(one for one in experiment.tasks(1, 11) if one.subject == "ID5R")
    assert experiment.perform(task, {}) == experiment.perform(task, {})
    other = dataclasses.replace(task, run=1)
    assert experiment.perform(other, {}).measures != experiment.perform(task, {}).measures
