"""A page without a stream: learners in the test's own hands, a hub, and a server on a free port."""

import contextlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple, cast

from learners.learner import Learner
from learners.outline import AttributeTest, Counts, Evidence, Leaf, Outline, Split, digest, size
from learners.registry import make_learner
from learners.schema import Instance, Value
from stream.config import Agent, Scope
from stream.events import BatchPredicted, ModelCreated, ModelMeasured, PartitionProgress, RestoreFinished
from stream.observe.health import Health
from stream.page.access_policy import AccessPolicy
from stream.page.feed import PageFeed
from stream.page.live_state import LiveState
from stream.page.routes import Site
from stream.page.server import listen
from stream.records.published import Cause, TreeChange, TreeState, change_record, encode


class Planted:
    """A learner that has learned, for a tree of any size in no time."""

    name = "planted"
    retained = 1_000

    def __init__(self, outline: Outline) -> None:
        self.outline_lately = outline

    def outline(self) -> Outline:
        """Return the tree."""
        return self.outline_lately


def full_tree(depth: int, branches: int = 3) -> Outline:
    """Return a tree that asks one attribute on each level."""
    level: list[Outline] = [
        Leaf("yes" if n % 3 else "no", (("no", n % 5), ("yes", n % 7))) for n in range(branches**depth)
    ]
    for above in reversed(range(depth)):
        evidence = Evidence(0.5, f"other{above}", 0.01 * above)
        level = [
            Split(
                AttributeTest(f"attribute{above}"),
                _summed(level[start : start + branches]),
                tuple((f"value{n}", child) for n, child in enumerate(level[start : start + branches])),
                evidence,
            )
            for start in range(0, len(level), branches)
        ]
    return level[0]


def _summed(nodes: list[Outline]) -> Counts:
    total: Counter[str] = Counter()
    for node in nodes:
        total.update(dict(node.counts))
    return tuple(sorted(total.items()))


class Bed:
    """One agent's tree: what a processor is to the hub, without records."""

    def __init__(
        self, hub: LiveState, agent: Agent, learner: Learner | Planted | None = None, model: str = ""
    ) -> None:
        # A planted tree only has what is looked at.
        self.learner = cast("Learner", learner or make_learner(agent.learner))
        self.version = 0
        self.digest = digest(None)
        self.agent = agent
        self.model = model or agent.input
        self.hub = hub
        self.records = 0
        hub.observe(ModelCreated(agent.name, self.model, self))

    def restored(self) -> None:
        """Tell that it has been restored; without this or a record the page knows no tree."""
        self.hub.observe(RestoreFinished(self.agent.name, self.model, 0, 0.0))

    def learn(self, values: Mapping[str, Value], label: Value, identity: str | int | None = None) -> bool:
        """Learn one record, as a batch of its own; return whether the tree changed."""
        return self.learn_all([(values, label)], identity) > 0

    def learn_all(
        self, instances: Iterable[tuple[Mapping[str, Value], Value]], identity: str | int | None = None
    ) -> int:
        """Learn some records as one batch; return how many of them changed the tree."""
        changes: list[bytes] = []
        hits: list[bool] = []
        for values, label in instances:
            hits.append(self.learner.predict_one(dict(values)).answer == label)
            made = self.learner.learn_one(Instance(dict(values), label))
            self.records += 1
            if made:
                outline = self.learner.outline_lately
                before, self.digest = self.digest, digest(outline)
                self.version += 1
                name = self.records if identity is None else identity
                cause = Cause(self.agent.input, 0, self.records - 1, name)
                state = TreeState(self.version, self.digest, before, *size(outline))
                record = TreeChange(
                    self.agent.name,
                    self.model,
                    self.learner.name,
                    self.version,
                    cause,
                    tuple(map(change_record, made)),
                    {},
                    state,
                )
                changes.append(encode(record))
        self.hub.observe(BatchPredicted(self.agent.name, hits, 0))
        grown = ModelMeasured(
            self.agent.name, self.model, size(self.learner.outline_lately), self.records, changes=changes
        )
        self.hub.observe(grown)
        self.hub.observe(PartitionProgress(self.agent.name, self.agent.input, 0, 0, self.records, 0))
        return len(changes)

    def learn_stream(self, stream: Iterable[Mapping[str, Value]], records: int, batch: int = 20) -> None:
        """Learn so many records of a generator."""
        taken = iter(stream)
        for start in range(0, records, batch):
            some = islice(taken, min(batch, records - start))
            self.learn_all([described(one) for one in some])


def described(one: Mapping[str, Value]) -> tuple[dict[str, Value], Value]:
    """Return the description and the class of a generated instance."""
    return {name: value for name, value in one.items() if name not in ("id", "class")}, one["class"]


class Garden(NamedTuple):
    """A page that is being served."""

    hub: LiveState
    presenter: PageFeed
    health: Health
    address: str
    beds: dict[str, Bed]

    @property
    def bed(self) -> Bed:
        """The first tree."""
        return next(iter(self.beds.values()))


@contextlib.contextmanager
def garden(
    *agents: Agent,
    token: str | None = None,
    host: str = "127.0.0.1",
    port: int = 0,
    learner: Learner | Planted | None = None,
) -> Iterator[Garden]:
    """Serve a page for some agents, for as long as the block takes."""
    chosen = agents or (Agent(name="loans", input="applications"),)
    hub = LiveState(chosen)
    presenter = PageFeed(hub)
    health = Health([(agent.name, agent.input, False) for agent in chosen])
    site = Site(hub, presenter, health, lambda accept: (b"espalier_up 1\n", "text/plain"))
    found, stop = listen(site, host, port, AccessPolicy(host, token))
    presenter.start()
    try:
        # A model for each partition is for the test to make.
        beds = {one.name: Bed(hub, one, learner) for one in chosen if one.scope != Scope.PARTITION}
        yield Garden(hub, presenter, health, f"http://{host}:{found}/", beds)
    finally:
        presenter.close()
        stop()
