"""A thread that makes of what the hub holds what a page shows, at its own pace."""

import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import NamedTuple

import msgspec

from learners.outline import Outline, size
from stream.page.downsampling import Curve, CurvePoint
from stream.page.live_state import AgentBoard, LiveState, ModelBoard, Shown, Step
from stream.page.tree_view import ChangeView, NodeView, nodes_of, told
from stream.page.versions import HistoryEntry, TreeHistory

TICK_SECONDS = 0.1
IDLE_TICK_SECONDS = 0.5
SHARE = 20
"""The thread may compute one part in so many of the time; a large tree is shown less often."""
KEPT_CHANGES = 100
STEPS_AT_ONCE = 8
NODES_AT_ONCE = 2_000
"""Versions that are kept of one tick, and their nodes together; of more, the last."""
STALE_SECONDS = 1.0
"""How long counts may be behind before a newer tree is shown with older counts."""
RATE_SECONDS = 3.0
CURVE_SECONDS = 1.0

_encode = msgspec.json.Encoder().encode

Place = tuple[str, str]
"""An agent and one of its models; "": the first it has."""
Message = tuple[str, bytes]
"""The name of an event, and its JSON."""


class Tree(msgspec.Struct, frozen=True):
    """A tree as a page gets it."""

    agent: str
    model: str
    version: int
    digest: str
    at: float
    retained: int
    nodes: list[NodeView]


class _Numbered(NamedTuple):
    number: int
    body: bytes


class PageView:
    """What is shown of one model. Belongs to the presenter's thread, and is read under its lock."""

    def __init__(self, board: ModelBoard) -> None:
        self.board = board
        self.shown: Shown | None = None
        self.tree = b""
        self.tree_number = 0
        self.tree_at = 0.0
        self.versions = TreeHistory()
        self.stops_number = 0
        self.changes: deque[_Numbered] = deque(maxlen=KEPT_CHANGES)
        self.changes_number = 0


class PageFeed:
    """Looks at the hub, and wakes whoever waits for something new.

    Args:
        hub: What the agents tell.
    """

    def __init__(self, hub: LiveState) -> None:
        self._hub = hub
        self._views: dict[Place, PageView] = {}
        self._curves = {name: Curve(seconds=CURVE_SECONDS) for name in hub.agents}
        self._rates: dict[str, deque[tuple[float, int]]] = {name: deque() for name in hub.agents}
        self._state = b"{}"
        self._curves_number = 0
        self._number = 0
        self._changed = threading.Condition()
        self._closing = threading.Event()
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._run, name="page", daemon=True)

    def start(self) -> None:
        """Begin, in a thread of its own."""
        self._thread.start()

    def close(self) -> None:
        """End, and send everybody home who waits."""
        self._closing.set()
        self._wake.set()
        with self._changed:
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(5)

    @property
    def is_running(self) -> bool:
        """Whether it has begun."""
        return self._thread.is_alive()

    @property
    def is_closed(self) -> bool:
        """Whether it has been told to end."""
        return self._closing.is_set()

    def _run(self) -> None:
        while not self._closing.is_set():
            began = time.thread_time()
            self.tick()
            spent = time.thread_time() - began
            pause = TICK_SECONDS if self._hub.viewers else IDLE_TICK_SECONDS
            self._wake.wait(max(pause, SHARE * spent))
            self._wake.clear()

    # ---- what is new

    def tick(self) -> None:
        """Look at everything once."""
        now = time.time()
        made: list[tuple[PageView, _Made]] = []
        views: dict[Place, PageView] = {}
        for agent in self._hub.agents.values():
            for model in agent.models.values():
                place = (agent.name, model.model)
                view = views[place] = self._views.get(place) or PageView(model)
                if view.board is not model:
                    # It was restored, by the same worker: what was seen before stays.
                    view.board, view.shown = model, None
                made.append((view, _make(view, now)))
        points = {name: _point(board, now) for name, board in self._hub.agents.items()}
        with self._changed:
            self._views = views
            for view, new in made:
                _publish(view, new, now)
            if [name for name, point in points.items() if self._curves[name].add(point)]:
                self._curves_number += 1
            self._state = _encode(self._summary(now))
            self._number += 1
            self._changed.notify_all()

    def _summary(self, now: float) -> dict[str, object]:
        return {"now": now, "agents": [self._agent(board) for board in self._hub.agents.values()]}

    def _agent(self, board: AgentBoard) -> dict[str, object]:
        return {
            "name": board.name,
            "learner": board.learner,
            "input": board.input,
            "answered": board.answered,
            "accuracy": board.right / board.labelled if board.labelled else None,
            "recent": board.recent,
            "rate": self._rate(board),
            "lag": board.lag,
            "dead_letters": board.dead_letters,
            "models": [_model(model) for model in board.models.values()],
        }

    def _rate(self, board: AgentBoard) -> float:
        now, rate = time.monotonic(), self._rates[board.name]
        rate.append((now, board.answered))
        while len(rate) > 2 and rate[1][0] < now - RATE_SECONDS:
            rate.popleft()
        (began, before), (_, after) = rate[0], rate[-1]
        return (after - before) / (now - began) if now > began else 0.0

    # ---- readers

    def reader(self, place: Place) -> "Reader":
        """Return what tells the news of one model, beginning with everything."""
        self._wake.set()
        return Reader(self, place)

    def _view(self, place: Place) -> PageView | None:
        agent, model = place
        if model:
            return self._views.get(place)
        return next((view for (name, _), view in self._views.items() if name == agent), None)

    def state(self) -> bytes:
        """Return what all agents have come to."""
        with self._changed:
            return self._state

    def tree(self, place: Place, version: int | None = None) -> bytes | None:
        """Return a tree as JSON, the latest or an older one; None where there is none."""
        with self._changed:
            view = self._view(place)
            if view is None:
                return None
            return (view.tree or None) if version is None else view.versions.body(version)

    def outline(self, place: Place) -> tuple[int, Outline | None] | None:
        """Return the tree that is shown, with its version."""
        with self._changed:
            view = self._view(place)
            return None if view is None or view.shown is None else (view.shown.version, view.shown.outline)

    def news(self, place: Place, seen: "_Seen", seconds: float) -> list[Message]:
        """Wait for something new; return it. Used by `Reader`."""
        with self._changed:
            self._changed.wait_for(lambda: self._number > seen.number or self.is_closed, seconds)
            if self._number == seen.number:
                return []
            seen.number = self._number
            messages: list[Message] = [("state", self._state)]
            if seen.curves != self._curves_number:
                seen.curves = self._curves_number
                messages.append(("curves", self._curves_body()))
            view = self._view(place)
            if view is None:
                return messages
            if seen.view is not view:
                seen.view, seen.tree, seen.stops, seen.changes = view, 0, 0, 0
            if seen.tree != view.tree_number:
                seen.tree = view.tree_number
                messages.append(("tree", view.tree))
            if seen.changes != view.changes_number:
                fresh = [one.body for one in view.changes if one.number > seen.changes]
                skipped = view.changes_number - seen.changes - len(fresh)
                seen.changes = view.changes_number
                body = b'{"skipped":%d,"changes":[%b]}' % (skipped, b",".join(fresh))
                messages.append(("changes", body))
            if seen.stops != view.stops_number:
                seen.stops = view.stops_number
                messages.append(("versions", _encode([_told_stop(stop) for stop in view.versions.stops])))
            return messages

    def _curves_body(self) -> bytes:
        return _encode({name: curve.points for name, curve in self._curves.items()})

    def viewer_came(self) -> None:
        """Count a page that was opened."""
        with self._changed:
            self._hub.viewers += 1

    def viewer_left(self) -> None:
        """Count a page that was closed."""
        with self._changed:
            self._hub.viewers -= 1


class _Seen:
    """How far a reader has come."""

    def __init__(self) -> None:
        self.number = 0
        self.view: PageView | None = None
        self.tree = self.stops = self.changes = self.curves = 0


class Reader:
    """The news of one model, for one page: what it has missed is told together, and only as it is now."""

    def __init__(self, presenter: PageFeed, place: Place) -> None:
        self._presenter = presenter
        self._place = place
        self._seen = _Seen()

    def next(self, seconds: float) -> list[Message]:
        """Return what is new, or nothing if nothing was for so long."""
        return self._presenter.news(self._place, self._seen, seconds)


class _Made(NamedTuple):
    """What a tick has made of a model, before it is published."""

    shown: Shown | None
    tree: bytes | None
    stops: Sequence[tuple[Shown, str, int, bytes]]
    changes: Sequence[ChangeView]
    passed: int


def _make(view: PageView, now: float) -> _Made:
    """Do the work of a tick, without the lock."""
    model = view.board
    steps: list[Step] = []
    while model.steps:
        steps.append(model.steps.popleft())
    shown = _chosen(model, now)
    tree = None
    if shown is not None and _is_new(shown, view, now):
        tree = _tree_body(model, shown)
    stops: list[tuple[Shown, str, int, bytes]] = []
    nodes = size(steps[-1].shown.outline).nodes if steps else 1
    kept = max(1, min(STEPS_AT_ONCE, NODES_AT_ONCE // max(1, nodes)))
    for step in steps[-kept:]:
        kind = told(step.changes[-1], step.shown.at)[-1].kind
        body = tree if tree is not None and step.shown is shown else _tree_body(model, step.shown)
        stops.append((step.shown, kind, step.passed + len(step.changes), body))
    if not steps and tree is not None and shown is not None and not view.versions.stops:
        stops.append((shown, "", 0, tree))
    changes: list[ChangeView] = []
    values = [(value, step.shown.at) for step in steps for value in step.changes]
    for value, at in values[-KEPT_CHANGES:]:
        changes += told(value, at)
    passed = sum(step.passed for step in steps) + len(values) - len(values[-KEPT_CHANGES:])
    return _Made(shown, tree, stops, changes, passed)


def _chosen(model: ModelBoard, now: float) -> Shown | None:
    """Return the tree to show: one whose counts are of its moment, unless it is too far behind."""
    latest, counted = model.latest, model.counted
    if latest is None or counted is None or counted.version == latest.version:
        return counted or latest
    return counted if now - counted.at < STALE_SECONDS else latest


def _is_new(shown: Shown, view: PageView, now: float) -> bool:
    before = view.shown
    if before is None or before.digest != shown.digest or before.version != shown.version:
        return True
    return shown is not before and now - view.tree_at >= STALE_SECONDS


def _tree_body(model: ModelBoard, shown: Shown) -> bytes:
    return _encode(
        Tree(
            model.agent,
            model.model,
            shown.version,
            shown.digest,
            shown.at,
            shown.retained,
            nodes_of(shown.outline),
        )
    )


def _publish(view: PageView, new: _Made, now: float) -> None:
    if new.tree is not None:
        view.shown, view.tree, view.tree_at = new.shown, new.tree, now
        view.tree_number += 1
    for shown, kind, changes, body in new.stops:
        view.versions.add(shown.version, shown.at, size(shown.outline).nodes, kind, changes, body)
        view.stops_number += 1
    view.changes_number += new.passed
    for change in new.changes:
        view.changes_number += 1
        view.changes.append(_Numbered(view.changes_number, _encode(change._asdict())))


def _model(model: ModelBoard) -> dict[str, object]:
    latest = model.latest
    if latest is None:
        return {"model": model.model, "version": None}
    nodes, leaves, depth = size(latest.outline)
    return {
        "model": model.model,
        "version": latest.version,
        "digest": latest.digest,
        "nodes": nodes,
        "leaves": leaves,
        "depth": depth,
        "retained": latest.retained,
    }


def _point(board: AgentBoard, now: float) -> CurvePoint:
    latest = [model.latest for model in board.models.values()]
    nodes = sum(size(one.outline).nodes for one in latest if one is not None)
    return CurvePoint(now, board.recent, board.lag, board.answered, nodes)


def _told_stop(stop: HistoryEntry) -> tuple[int, float, int, str, int]:
    return stop.version, stop.at, stop.nodes, stop.kind, stop.changes
