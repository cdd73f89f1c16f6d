"""One typed, frozen configuration from `espalier.toml` and `ESPALIER_*` variables; all errors at once.

`settings` has what can be set. `reader` makes it from a file (`lines` knows where in it things stand) and
from the environment (`environment`), and notes in a `draft` all that is wrong; `rules` and `properties` have
what must hold beyond types, and `timeouts` computes every timeout. `show` and `docs` print what is in effect
and what there is. Nothing else in Espalier reads the environment.
"""

from stream.config.properties import Properties
from stream.config.reader import Loaded, load, parse, read
from stream.config.settings import (
    Agent,
    AgentTopics,
    Batch,
    Config,
    EngineName,
    Http,
    Kafka,
    Limits,
    Log,
    LogFormat,
    LogLevel,
    MetricsSettings,
    Scope,
    State,
    TreeChanges,
)
from stream.config.timeouts import PropertyValue, Timeouts

__all__ = [
    "Agent",
    "AgentTopics",
    "Batch",
    "Config",
    "EngineName",
    "Http",
    "Kafka",
    "Limits",
    "Loaded",
    "Log",
    "LogFormat",
    "LogLevel",
    "MetricsSettings",
    "Properties",
    "PropertyValue",
    "Scope",
    "State",
    "Timeouts",
    "TreeChanges",
    "load",
    "parse",
    "read",
]
