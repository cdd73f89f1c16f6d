"""The parts behind the page: versions, curves, the drawing, answers, health, and what is logged."""

import gc
import json
import logging
import os
import signal
import time
from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from learners.change import ChangeKind
from learners.outline import AttributeTest, Leaf, Outline, Size, Split, size
from learners.registry import LEARNERS, make_learner
from learners.schema import Instance
from stream.assembly import processor_factory
from stream.config import Agent, Limits, Log, LogFormat, LogLevel
from stream.demo.generators import GENERATORS
from stream.events import Committed, ModelMeasured, PartitionProgress, Rebalanced, RestoreFinished
from stream.model.ports import unit_of
from stream.model.processor import LearningProcessor
from stream.observe import logs
from stream.observe.health import Health
from stream.observe.metrics import Metrics
from stream.page import tree_view
from stream.page.downsampling import Curve, CurvePoint
from stream.page.feed import KEPT_CHANGES, SHARE, TICK_SECONDS, PageFeed
from stream.page.http_app import HttpApp
from stream.page.live_state import RECENT, SHARE_UNWATCHED, SHARE_WATCHED, WAITING_BYTES, LiveState
from stream.page.routes import STATIC
from stream.page.server import REQUEST_SECONDS
from stream.page.tree_view import NodeView, in_words, nodes_of, told
from stream.page.versions import MOST, TreeHistory
from stream.page.what_if import answer
from stream.records.published import Change, NodeTest, PathStep
from stream.records.record import Partition, Record
from tests.paths import REPOSITORY
from tests.stream.page.garden import described

# ---- versions and curves


@given(st.lists(st.integers(1, 40), max_size=300), st.integers(4, 20))
def test_versions_are_bounded_in_order_and_the_newest_and_the_first_are_kept(
    gaps: list[int], most: int
) -> None:
    versions = TreeHistory(most)
    given_versions: list[int] = []
    for gap in gaps:
        given_versions.append((given_versions[-1] if given_versions else 0) + gap)
        versions.add(given_versions[-1], 0.0, 1, "grew", 1, str(given_versions[-1]).encode())
        kept = [stop.version for stop in versions.stops]
        assert len(kept) <= most
        assert kept == sorted(set(kept))
        assert kept[0] == given_versions[0] and kept[-1] == given_versions[-1]
        # What is recent is kept whole.
        assert kept[-(most // 2) :] == given_versions[-(most // 2) :]
        for wanted in (0, *given_versions, given_versions[-1] + 9):
            before = [version for version in kept if version <= wanted] or kept[:1]
            assert versions.body(wanted) == str(before[-1]).encode()


def test_a_model_that_begins_again_leaves_no_version_of_the_future() -> None:
    versions = TreeHistory()
    for version in (1, 2, 3, 4, 3):
        versions.add(version, 0.0, 1, "", 1, b"x")
    assert [stop.version for stop in versions.stops] == [1, 2, 3]
    assert TreeHistory().body(5) is None


@given(st.lists(st.floats(0.5, 50), max_size=400), st.integers(2, 30))
def test_a_curve_covers_the_whole_run_in_so_many_points(gaps: list[float], most: int) -> None:
    curve = Curve(most, seconds=1.0)
    now = 0.0
    for gap in gaps:
        now += gap
        curve.add(CurvePoint(now, None, None, 0, 0))
        times = [point.at for point in curve.points]
        assert len(times) <= most
        assert times == sorted(times)
        assert times[0] == gaps[0]


# ---- the drawing


def rebuilt(nodes: list[NodeView]) -> Outline | None:
    """The tree of a list of nodes."""
    built: dict[int, Outline] = {}
    for place, node in reversed(list(enumerate(nodes))):
        counts = tuple(sorted(node.counts.items()))
        if node.test is None:
            built[place] = Leaf(node.answer, counts)
        else:
            below = [(one.value, built[n]) for n, one in enumerate(nodes) if one.parent == place]
            test = AttributeTest(node.test.attribute, node.test.at_most)
            built[place] = Split(test, counts, tuple(sorted(below)))
    return built.get(0)


values = st.sampled_from(["x", "y", "?", "<b>"])
leaves = st.builds(Leaf, st.sampled_from(["P", "N", None]), st.just((("N", 1), ("P", 2))))
tests = st.builds(AttributeTest, st.sampled_from("abc"), st.sampled_from([None, 1.5]))


def split_of(test: AttributeTest, below: dict[str, Outline]) -> Split:
    return Split(test, (("P", 3),), tuple(sorted(below.items(), key=lambda pair: pair[0])))


outlines = st.recursive(
    leaves,
    lambda below: st.builds(split_of, tests, st.dictionaries(values, below, min_size=1, max_size=3)),
    max_leaves=20,
)


@given(outlines)
def test_the_list_of_nodes_is_the_tree(outline: Outline) -> None:
    nodes = nodes_of(outline)
    assert rebuilt(nodes) == outline
    assert len(nodes) == size(outline).nodes


@given(outlines, st.integers(1, 30))
def test_of_a_tree_too_large_to_be_sent_the_rest_is_counted(outline: Outline, most: int) -> None:
    nodes = nodes_of(outline, most)
    assert len(nodes) <= max(most, 1)
    assert len(nodes) + sum(node.hidden for node in nodes) == size(outline).nodes


def test_of_very_many_classes_most_are_counted_together() -> None:
    counts = tuple((f"c{n:03}", n) for n in range(1, 101))
    (node,) = nodes_of(Leaf("c100", counts))
    assert len(node.counts) == 12 and "c100" in node.counts
    assert sum(node.counts.values()) + node.others == sum(n for _, n in counts)


@pytest.mark.parametrize("kind", list(ChangeKind))
def test_every_kind_of_change_is_put_into_words(kind: ChangeKind) -> None:
    subtree = msgspec.Raw(b'{"answer": "yes", "counts": {}}')
    change = Change(kind, (PathStep("a", "x"),), NodeTest("old"), NodeTest("new", 1.5), None, None, subtree)
    if kind is ChangeKind.RETIRED:
        change = msgspec.structs.replace(change, attribute="user id")
    words = in_words(change)
    assert ("user id" in words) == (kind is ChangeKind.RETIRED)
    assert "None" not in words and "UNSET" not in words
    assert ("new <= 1.5" in words) == (kind in ("grew", "pulled_up", "replaced"))
    assert ("yes" in words) == (kind in ("folded", "relabelled"))


# ---- answers


@pytest.mark.parametrize("generator", GENERATORS)
@pytest.mark.parametrize("name", ["id5r", "id4"])
def test_a_tree_that_is_only_looked_at_answers_as_its_learner(generator: str, name: str) -> None:
    learner = make_learner(name)
    stream = map(described, GENERATORS[generator](1))
    for one, label in islice(stream, 300):
        learner.learn_one(Instance(one, label))
    nodes = nodes_of(learner.outline())
    for one, _ in islice(map(described, GENERATORS[generator](2)), 200):
        said, asked = answer(nodes, one), learner.predict_one(one)
        if asked.flags and "missing" in asked.flags:
            continue
        assert said.answer == asked.answer
        assert [step.attribute for step in said.path] == [step.attribute for step in asked.path]
        assert set(said.flags) == set(asked.flags)
        assert nodes[said.places[-1]].counts == dict(asked.counts)


@pytest.mark.parametrize(
    ("value", "branch", "flags"),
    [
        (41.5, "low", ()),
        ("41.5", "low", ()),
        (42, "high", ()),
        ("1e3", "high", ()),
        (None, None, ("missing",)),
        ("", None, ("missing",)),
        ("old", None, ("missing",)),
        ("nan", None, ("missing",)),
    ],
)
def test_a_number_goes_by_its_threshold(value: object, branch: str | None, flags: tuple[str, ...]) -> None:
    outline = Split(
        AttributeTest("age", 41.5),
        (("high", 1), ("low", 2)),
        (("false", Leaf("high", ())), ("true", Leaf("low", ()))),
    )
    said = answer(nodes_of(outline), {"age": value})  # type: ignore[dict-item]
    assert said.flags == flags
    assert said.answer == (branch or "low"), "the majority where there is no value"


# ---- what the agents tell


def test_the_page_is_told_the_changes_that_are_published() -> None:
    agent = Agent(name="loans", input="in")
    front = HttpApp([agent], Metrics())
    processor = processor_factory(agent, Limits(), front.observe)(unit_of("in", None))
    published: list[bytes] = []
    everything: list[Record] = []
    for start in range(0, 200, 20):
        records = [
            Record(Partition("in", 0), start + n, json.dumps(one).encode())
            for n, one in enumerate(islice(GENERATORS["loans"](start), 20))
        ]
        everything += records
        outputs = processor.process(records)
        published += [one.value or b"" for one in outputs.others if one.topic == agent.topics.tree_changes]
    board = front.hub.agents["loans"]
    model = board.models["in"]
    assert [value for step in model.steps for value in step.changes] == published
    assert model.latest is not None and model.latest.version == len(published) > 5
    assert (board.answered, board.labelled) == (200, 200)
    last = told(published[-1], 0.0)
    cause = last[-1].cause
    assert cause is not None
    assert last[-1].version == len(published) and cause["topic"] == "in"
    by_offset: dict[object, object] = {
        record.offset: json.loads(record.value or b"")["id"] for record in everything
    }
    assert cause["id"] == by_offset[cause["offset"]]


@pytest.mark.parametrize("learner", LEARNERS)
def test_every_learner_can_be_shown(learner: str) -> None:
    agent = Agent(name="loans", input="in", learner=learner)
    hub = LiveState([agent])
    presenter = PageFeed(hub)
    processor = processor_factory(agent, Limits(), hub.observe)(unit_of("in", None))
    for number, one in enumerate(islice(GENERATORS["loans"](1), 120)):
        processor.process([Record(Partition("in", 0), number, json.dumps(one).encode())])
        if number % 20 == 19:
            presenter.tick()
    assert isinstance(processor, LearningProcessor)
    deadline = time.monotonic() + 45
    shown: dict[str, Any] = {}
    while shown.get("version") != processor.version:  # on a busy machine it is drawn a little later
        assert time.monotonic() < deadline
        presenter.tick()
        shown = json.loads(presenter.tree(("loans", "in")) or b"{}")
    assert shown["digest"] == processor.digest
    tree = processor.learner.outline_lately
    assert len(shown["nodes"]) == size(tree).nodes


@given(st.lists(st.integers(1, 40_000), min_size=1, max_size=12))
def test_of_many_large_changes_the_last_wait_and_the_others_are_counted(sizes: list[int]) -> None:
    agent = Agent(name="loans", input="in")
    front = HttpApp([agent], Metrics())
    processor = processor_factory(agent, Limits(), front.observe)(unit_of("in", None))
    changes = [b"x" * size for size in sizes]
    front.hub.observe(ModelMeasured("loans", "in", Size(1, 1, 0), 1, None, changes))
    (step,) = front.hub.agents["loans"].models["in"].steps
    assert step.changes == changes[step.passed :]
    assert len(step.changes) == 1 or sum(map(len, step.changes)) <= WAITING_BYTES
    assert step.passed == 0 or sum(map(len, changes[step.passed - 1 :])) > WAITING_BYTES
    assert processor.next_offsets == {}


def test_the_lag_of_partitions_goes_before_what_somebody_says_of_all() -> None:
    hub = HttpApp([Agent(name="loans", input="in")], Metrics()).hub
    board = hub.agents["loans"]
    unknown = board.lag
    assert unknown is None
    hub.set_lag("loans", 7)
    hub.set_lag("loans", 9)
    assert board.lag == 9
    hub.observe(PartitionProgress("loans", "in", 0, 0, 5, 3))
    hub.observe(PartitionProgress("loans", "in", 1, 0, 5, 4))
    hub.set_lag("loans", 100)
    assert board.lag == 7
    hub.observe(Rebalanced("loans", (), (("in", 1),)))
    assert board.lag == 3


def test_a_model_that_is_kept_elsewhere_now_is_no_longer_shown() -> None:
    agent = Agent(name="loans", input="in", scope="partition")  # type: ignore[arg-type]
    front = HttpApp([agent], Metrics())
    make = processor_factory(agent, Limits(), front.observe)
    kept = [make(unit_of("in", number)) for number in range(3)]
    assert set(front.hub.agents["loans"].models) == {"in/0", "in/1", "in/2"}
    front.observe(Rebalanced("loans", (), (("in", 1),)))
    assert set(front.hub.agents["loans"].models) == {"in/0", "in/2"}
    del kept
    gc.collect()
    front.observe(RestoreFinished("loans", "in/0", 1, 0.1))
    assert front.hub.agents["loans"].models["in/0"].latest is None, "a processor that is gone is not asked"


# ---- health


def lines(health: Health) -> list[str]:
    return [*health.ready().lines]


def test_ready_means_started_assigned_and_restored() -> None:
    health = Health([("a", "in", False), ("b", "in", True)])
    assert not health.started().is_good and not health.ready().is_good and health.alive().is_good
    health.has_started = True
    assert health.started().is_good and not health.ready().is_good
    assert health.ready(standby=True).is_good
    health.observe(Rebalanced("a", (("in", 0), ("in", 1)), ()))
    assert "a: restoring" in lines(health) and not health.ready(standby=True).is_good
    health.observe(RestoreFinished("a", "in", 5, 0.1))
    assert "a: ready" in lines(health) and not health.ready().is_good
    health.observe(Rebalanced("b", (("in", 0), ("in", 1)), ()))
    health.observe(RestoreFinished("b", "in/0", 5, 0.1))
    assert not health.ready().is_good
    health.observe(RestoreFinished("b", "in/1", 5, 0.1))
    assert health.ready().is_good
    health.observe(Rebalanced("b", (), (("in", 0),)))
    assert health.ready().is_good, "one partition is enough"
    health.observe(Committed("a", "aborted", 0.0))
    assert "a: restoring" in lines(health)
    health.observe(RestoreFinished("a", "in", 5, 0.1))
    assert health.ready().is_good
    health.observe(Rebalanced("a", (), (("in", 0), ("in", 1))))
    assert not health.ready().is_good and health.ready(standby=True).is_good
    health.failure = ValueError("x")
    assert not health.alive().is_good and not health.ready(standby=True).is_good


@pytest.mark.parametrize("per_partition", [False, True])
def test_a_model_that_went_and_came_back_is_not_ready_before_it_is_restored_again(
    per_partition: bool,
) -> None:
    model = "in/0" if per_partition else "in"
    health = Health([("a", "in", per_partition)])
    health.has_started = True
    for _ in range(3):
        health.observe(Rebalanced("a", (("in", 0),), ()))
        assert lines(health) == ["a: restoring"]
        assert not health.ready().is_good and not health.ready(standby=True).is_good
        health.observe(RestoreFinished("a", model, 5, 0.1))
        assert health.ready().is_good
        health.observe(Rebalanced("a", (), (("in", 0),)))
        assert not health.ready().is_good and health.ready(standby=True).is_good


def test_a_partition_that_comes_while_another_is_ready_is_waited_for() -> None:
    health = Health([("a", "in", True)])
    health.has_started = True
    health.observe(Rebalanced("a", (("in", 0),), ()))
    health.observe(RestoreFinished("a", "in/0", 5, 0.1))
    assert health.ready().is_good
    health.observe(Rebalanced("a", (("in", 1),), ()))
    assert not health.ready().is_good
    health.observe(RestoreFinished("a", "in/1", 5, 0.1))
    assert health.ready().is_good


# ---- what is logged


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    """The root logger, and what was logged put back as it was."""
    logger = logging.getLogger()
    before, level, switch = logger.handlers[:], logger.level, signal.getsignal(signal.SIGUSR1)
    yield logger
    logger.handlers[:] = before
    logger.setLevel(level)
    signal.signal(signal.SIGUSR1, switch)


def test_a_line_of_json_says_when_what_and_about_what(
    root: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.start(Log(LogLevel.DEBUG, LogFormat.JSON))
    logs.observe(PartitionProgress("loans", "in", 3, 0, 17, 4))
    logging.getLogger("stream.x").warning('"%s"\n%s', "quoted", {"a": 1})
    first, second = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["agent"], first["partition"], first["offset"]) == ("loans", "in/3", 17)
    assert (first["level"], first["logger"]) == ("debug", "espalier")
    assert first["time"].endswith("Z")
    assert second["message"] == "\"quoted\"\n{'a': 1}"
    assert "agent" not in second


def test_a_line_of_text_is_one_line_whatever_is_in_it(
    root: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.start(Log())
    logging.getLogger("espalier").info("a\nb\rc", extra={"agent": "loans", "offset": 3})
    logs.observe(PartitionProgress("loans", "in", 3, 0, 17, 4))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("INFO a\\nb\\rc [agent=loans offset=3]")


def test_a_signal_switches_debug_on_and_off(root: logging.Logger, capsys: pytest.CaptureFixture[str]) -> None:
    logs.start(Log())
    assert root.level == logging.INFO
    os.kill(os.getpid(), signal.SIGUSR1)
    assert root.level == logging.DEBUG
    logs.observe(PartitionProgress("loans", "in", 3, 0, 17, 4))
    os.kill(os.getpid(), signal.SIGUSR1)
    assert root.level == logging.INFO
    logs.observe(PartitionProgress("loans", "in", 3, 0, 18, 4))
    said = capsys.readouterr().err
    assert "from now on debug" in said and "from now on info" in said
    assert said.count("to go") == 1


def test_the_thread_of_an_agent_names_it(root: logging.Logger, capsys: pytest.CaptureFixture[str]) -> None:
    logs.start(Log(format=LogFormat.JSON))
    record = logging.makeLogRecord({"msg": "x", "levelname": "INFO", "threadName": "agent-loans"})
    assert json.loads(logs.JsonLines().format(record))["agent"] == "loans"
    assert logs.TextLines().format(record).endswith("x [agent=loans]")


# ---- what is written about it


def test_the_figures_in_the_document_are_those_of_the_program() -> None:
    text = " ".join((REPOSITORY / "docs" / "page.md").read_text().split())
    assert f"more than {tree_view.MOST_NODES:,} nodes" in text
    assert f"the last {RECENT:,} records" in text
    assert f"The last {MOST // 2} are kept one by one, the {MOST // 2} before them" in text
    assert f"takes nothing for {REQUEST_SECONDS:.0f} seconds is dropped" in text
    assert f"the screen, {KEPT_CHANGES} changes and 20 older trees" in text
    shares = {20: "a twentieth of the time", 100: "one hundredth of", 1_000: "a thousandth while nobody"}
    for share in (SHARE, SHARE_WATCHED, SHARE_UNWATCHED):
        assert shares[share] in text
    assert TICK_SECONDS == 0.1 and "at most ten times a second" in text
    script = (STATIC / "app.js").read_text()
    assert "const MOST_OLD = 20;" in script
    assert f"const MOST = {KEPT_CHANGES};" in (STATIC / "changes.js").read_text()
