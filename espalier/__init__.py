"""The public surface of Espalier. Only these names, and those of `espalier.faust`, are kept stable.

Everything else, in `learners` and `stream`, may change without notice.

Examples:
    A tree that grows one instance at a time, without Kafka:

    >>> from espalier import Instance, make_learner
    >>> learner = make_learner("id5r", settings={"significance": None})
    >>> for colour, label in [("red", "stop"), ("green", "go"), ("red", "stop")]:
    ...     _ = learner.learn_one(Instance({"light": colour}, label))
    >>> learner.predict_one({"light": "green"}).answer
    'go'
"""

from learners.learner import Learner
from learners.outline import Outline
from learners.registry import LEARNERS, make_learner, restore_learner
from learners.schema import Attribute, AttributeType, Instance, Limits, Schema
from stream.client.replica import Replica
from stream.config import Config
from stream.config import load as load_config
from stream.errors import ConfigError, StreamError
from stream.records.published import Prediction, TreeChange
from stream.worker import run

__all__ = [
    "LEARNERS",
    "Attribute",
    "AttributeType",
    "Config",
    "ConfigError",
    "Instance",
    "Learner",
    "Limits",
    "Outline",
    "Prediction",
    "Replica",
    "Schema",
    "StreamError",
    "TreeChange",
    "load_config",
    "make_learner",
    "restore_learner",
    "run",
]
