"""A small and a full configuration, learners that need not exist, and how tests read them."""

from types import SimpleNamespace
from typing import Annotated, Literal, cast

import msgspec
import pytest

from learners.learner import Learner, Options
from learners.tree_learner import TreeLearner
from stream.config import Loaded, parse
from stream.errors import ConfigError


class FakeOptions(Options, frozen=True):
    """Options of a learner that there is not.

    Attributes:
        significance: A level.
        window: A length.
        selection: A way.
        depth: A number that can be taken away.
    """

    significance: Annotated[float, msgspec.Meta(gt=0, lt=1)] | None = None
    window: Annotated[int, msgspec.Meta(ge=1)] | None = None
    selection: Literal["e-score", "gain-ratio"] = "e-score"
    depth: int | None = 5

    def __post_init__(self) -> None:
        if self.selection == "gain-ratio" and self.window:
            raise ValueError("gain-ratio and a window do not go together")


FAKES = {
    name: cast("type[Learner]", SimpleNamespace(options_type=FakeOptions, refusal=TreeLearner.refusal))
    for name in ("id5r", "id4", "nt")
}

SMALLEST = '[[agent]]\nname = "loans"\ninput = "applications"\n'

FULL = """\
engine = "confluent"
instance = "worker-1"

[kafka]
bootstrap_servers = "kafka-1:9092, kafka-2:9092"

[kafka.properties]
security.protocol = "sasl_ssl"
"sasl.username" = "espalier"
socket.keepalive.enable = true
fetch.min.bytes = 1

[batch]
max_batch = 500
linger_ms = 0

[limits]
max_classes = 8

[metrics]
port = 9500
enabled = false

[[agent]]
name = "loans"
input = "applications"
learner = "id5r"
label = "granted"
id = "number"
scope = "partition"
group = "loans-group"

[agent.topics]
predictions = "answers"
journal = "loans-journal"

[agent.options]
significance = 0.01
window = 9
depth = "none"

[agent.schema]
classes = ["yes", "no"]
open_classes = false
missing_values = ["?"]

[agent.schema.attributes]
income = { type = "numeric" }
housing = { values = ["own", "rent"], open = false }

[[agent]]
name = "loans-nt"
input = "applications"
learner = "nt"

[[agent.schema.attributes]]
name = "housing"
"""


def read_text(text: str, environ: dict[str, str] | None = None) -> Loaded:
    return parse(text, "espalier.toml", environ or {}, FAKES)


def problems_of(text: str, environ: dict[str, str] | None = None) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        read_text(text, environ)
    assert str(caught.value).splitlines() == [str(problem) for problem in caught.value.problems]
    return [str(problem) for problem in caught.value.problems]


def the_problem_of(text: str, environ: dict[str, str] | None = None) -> str:
    problems = problems_of(text, environ)
    assert len(problems) == 1, problems
    return problems[0]
