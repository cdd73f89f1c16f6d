"""The configuration as data: every setting there is, its type, its range and its default.

A setting exists only where something depends on it. What the docstrings say about a field is printed by
`espalier config docs`, and is what an error message quotes when the field is missing.
"""

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType
from typing import Annotated

import msgspec

import learners.schema
from learners.learner import Options
from learners.schema import Schema
from stream.config.properties import HIDDEN, Properties
from stream.records.fields import Fields, Nested

DEFAULT_LEARNER = "id5r"

Text = Annotated[str, msgspec.Meta(min_length=1)]
Count = Annotated[int, msgspec.Meta(ge=1)]

DERIVED_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "group": "<name>",
        "predictions": "<input>.predictions",
        "tree_changes": "<input>.tree-changes",
        "dead_letters": "<input>.dead-letters",
        "journal": "<name>.journal",
        "snapshots": "<name>.snapshots",
    }
)
"""The defaults that follow from an agent's name and input."""


class EngineName(StrEnum):
    """What drives the agents."""

    CONFLUENT = "confluent"
    FAUST = "faust"


class Scope(StrEnum):
    """How much of the input one model learns from."""

    TOPIC = "topic"
    PARTITION = "partition"


class TreeChanges(StrEnum):
    """Which changes of the tree are published."""

    EACH = "each"
    COMMIT = "commit"


class Kafka(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The broker and how to talk to it.

    Args:
        bootstrap_servers: Where to find the brokers: `host:port`, several with commas between them.
        properties: Any property of librdkafka, passed on as it is.
    """

    bootstrap_servers: Text = "127.0.0.1:9092"
    properties: Properties = Properties()


class AgentTopics(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The topics an agent writes. Agents on one input may share all but the last two.

    Args:
        predictions: An answer for every record.
        tree_changes: Every change of the tree, in order.
        dead_letters: Records that could not be used, and why.
        journal: What the agent has learned from; its state is restored from it. Its own alone.
        snapshots: Its state as a whole. Its own alone.
    """

    predictions: Text = ""
    tree_changes: Text = ""
    dead_letters: Text = ""
    journal: Text = ""
    snapshots: Text = ""


class Agent(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One learner with its parameters on one input topic.

    Args:
        name: What the agent is called in records, metrics and topics.
        input: The topic to learn from.
        learner: Which learner: one of those under `[agent.options]`.
        label: The field that holds the class. A record without it is only answered.
        id: The field that names a record. It is not learned from.
        ignore: Fields that are not learned from, such as identifiers and timestamps. `*` stands for any
            characters, and a name covers the fields below it.
        attributes: The only fields that are learned from, written like those of `ignore`; empty: all.
        nested: What becomes of a field with an object or an array. "ignore": it is left out. "flatten": the
            fields of an object get dotted names (`user.country`); arrays are left out. "reject": the record
            is a dead letter.
        scope: "topic": one model learns from all partitions. "partition": a model for each of them.
        tree_changes: "each": every change of the tree is published, with the record that caused it. "commit":
            only the net change of each transaction, which is several times faster where a tree changes often.
        group: The consumer group, which no other agent may use.
        topics: The topics it writes.
        idle_share: The most of the time, while no record waits, that a learner which can use it spends on a
            better tree; 0: none.
        options: The learner's own settings, those of `espalier evaluate --set`.
        schema: What is known about the instances in advance. Without it attributes are met as they come.
    """

    name: Text
    input: Text
    learner: Text = DEFAULT_LEARNER
    label: Text = "class"
    id: Text = "id"
    ignore: tuple[Text, ...] = ()
    attributes: tuple[Text, ...] = ()
    nested: Nested = Nested.IGNORE
    scope: Scope = Scope.TOPIC
    tree_changes: TreeChanges = TreeChanges.EACH
    group: Text = ""
    topics: AgentTopics = AgentTopics()
    idle_share: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.5
    options: Options | None = None
    schema: Schema = Schema()

    def __post_init__(self) -> None:
        topics = {
            name: getattr(self.topics, name) or self.derived(name) for name in AgentTopics.__struct_fields__
        }
        msgspec.structs.force_setattr(self, "topics", AgentTopics(**topics))
        msgspec.structs.force_setattr(self, "group", self.group or self.derived("group"))

    @property
    def fields(self) -> Fields:
        """Which fields of a record are attributes."""
        return Fields(self.ignore, self.attributes, self.nested)

    def derived(self, setting: str) -> str:
        """Return the default of a setting that follows from the agent's name and input."""
        return DERIVED_NAMES[setting].replace("<name>", self.name).replace("<input>", self.input)


class Batch(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How many records are processed in one transaction.

    Args:
        max_batch: At most N records.
        max_batch_bytes: At most N bytes of keys and values, though a record of more goes alone.
        linger_ms: How long to wait, in milliseconds, for more records before a smaller batch is processed.
    """

    max_batch: Annotated[int, msgspec.Meta(ge=1, le=1_000_000)] = 2_000
    max_batch_bytes: Annotated[int, msgspec.Meta(ge=1_024)] = 16_777_216
    linger_ms: Annotated[int, msgspec.Meta(ge=0, le=60_000)] = 5


class State(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How the state of a model is kept in its topics.

    Args:
        snapshot_records: A snapshot is made after N records, or as many as the last one held if that
            is more.
        snapshot_seconds: A snapshot is made after N seconds too, if there are new records: at least an
            eighth of what the last one held.
        trim_journal: Whether the journal is deleted up to the older of the two snapshots. It is also the
            record of everything that was learned: "espalier audit" needs the whole of it.
    """

    snapshot_records: Count = 100_000
    snapshot_seconds: Annotated[float, msgspec.Meta(gt=0)] = 300.0
    trim_journal: bool = False


_LEARNERS_LIMITS = learners.schema.Limits()


class Limits(learners.schema.Limits, frozen=True, forbid_unknown_fields=True):
    """How much a record may hold, and how much a model may be made to remember by what is in its input.

    Args:
        max_attributes: Attributes of one model.
        max_values_per_attribute: Values of one nominal attribute.
        max_classes: Classes of one model.
        max_text: Characters of a name or a value.
        max_record_bytes: Bytes of a record's value.
        max_depth: How deep the JSON of a record may be nested.
    """

    max_attributes: Count = _LEARNERS_LIMITS.max_attributes
    max_values_per_attribute: Annotated[int, msgspec.Meta(ge=1, le=learners.schema.MOST_VALUES)] = (
        _LEARNERS_LIMITS.max_values_per_attribute
    )
    max_classes: Annotated[int, msgspec.Meta(ge=1, le=learners.schema.MOST_CLASSES)] = (
        _LEARNERS_LIMITS.max_classes
    )
    max_text: Count = _LEARNERS_LIMITS.max_text
    max_record_bytes: Count = 262_144
    max_depth: Count = 32


class MetricsSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where Prometheus finds the metrics.

    Args:
        enabled: Whether they are served.
        host: The address to listen on. `0.0.0.0` is every one of the machine's.
        port: The port to listen on. 0 takes a free one.
    """

    enabled: bool = True
    host: Text = "127.0.0.1"
    port: Annotated[int, msgspec.Meta(ge=0, le=65_535)] = 9464


Port = Annotated[int, msgspec.Meta(ge=0, le=65_535)]


class Http(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Where the live page is served. The metrics and the health checks are on the same port.

    Args:
        page: Whether the page is served.
        host: The address to listen on, if not that of `[metrics]`. Beyond this machine a token is needed.
        port: The port to listen on, if not that of `[metrics]`. 0 takes a free one.
        token: What whoever opens the page must know. A secret: give it by its variable, or in a file.
    """

    page: bool = True
    host: Text | None = None
    port: Port | None = None
    token: Text | None = None

    def __repr__(self) -> str:
        token = None if self.token is None else HIDDEN
        return f"Http(page={self.page!r}, host={self.host!r}, port={self.port!r}, token={token!r})"


class LogLevel(StrEnum):
    """What is worth a line."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"


class LogFormat(StrEnum):
    """What a line looks like."""

    TEXT = "text"
    JSON = "json"


class Log(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the worker says about its work, on standard error.

    Args:
        level: How much. While a worker runs, the signal SIGUSR1 switches debug on and off.
        format: Lines for people, or an object of JSON in each line.
    """

    level: LogLevel = LogLevel.INFO
    format: LogFormat = LogFormat.TEXT


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Everything that can be set.

    Args:
        agents: The agents to run; at least one.
        engine: What drives them.
        instance: The name of this worker among its peers. If there is none, it is made from host and process.
        kafka: The broker.
        batch: The size of a transaction.
        state: How models are kept.
        limits: How much is accepted.
        metrics: Where metrics are served.
        http: Where the live page is served.
        log: What is logged.
    """

    agents: tuple[Agent, ...] = msgspec.field(name="agent")
    engine: EngineName = EngineName.CONFLUENT
    instance: Text | None = None
    kafka: Kafka = Kafka()
    batch: Batch = Batch()
    state: State = State()
    limits: Limits = Limits()
    metrics: MetricsSettings = MetricsSettings()
    http: Http = Http()
    log: Log = Log()
