"""The reference of all settings, from the settings themselves: what `espalier config docs` prints."""

import json
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from learners.schema import Attribute, Schema
from stream.config.environment import PREFIX, variables
from stream.config.messages import field_docs, type_in_words
from stream.config.properties import RULES
from stream.config.reader import Registry
from stream.config.settings import (
    DERIVED_NAMES,
    Agent,
    AgentTopics,
    Batch,
    Config,
    Http,
    Kafka,
    Limits,
    Log,
    MetricsSettings,
    State,
)
from stream.config.toml_positions import KeyPath
from stream.errors import EXIT_CODES

_OPENING = """\
# Configuration

<!-- Written by `espalier config docs`. Change the settings' own descriptions, not this file. -->

Espalier reads one file, `espalier.toml` (another with `-c`), and environment variables, which go before the
file. `espalier config check` lists everything that is wrong with them, `espalier config show` every setting
in effect and where it came from. A worker does not start with a setting it does not know.

The smallest file that does something:

```toml
[[agent]]
name = "loans"
input = "applications"
```
"""

_VARIABLES = f"""\
## Environment variables

Every setting outside the agents has a variable, named in the tables. The client's properties have theirs
too, with `_` for each dot: `{PREFIX}KAFKA_PROPERTIES_SASL_PASSWORD` is `sasl.password`. With `_FILE` at its
end, a variable names a file that holds the value:
`{PREFIX}KAFKA_PROPERTIES_SASL_PASSWORD_FILE=/run/secrets/kafka`.
Secrets belong there rather than into the file; wherever settings are shown they appear as `***`. A variable
that begins with `{PREFIX}` and is not a setting stops the start.
"""

_ATTRIBUTES = """\
Attributes are an array of tables, or a table in which each has its name as the key. They may be left out
altogether: then texts and booleans become nominal attributes and numbers numeric ones, as they are met.

```toml
[agent.schema]
classes = ["yes", "no"]
[agent.schema.attributes]
income = { type = "numeric" }
housing = { values = ["own", "rent", "free"], open = false }
```
"""

_TABLES: Sequence[tuple[str, type[msgspec.Struct], KeyPath]] = (
    ("`[kafka]`", Kafka, ("kafka",)),
    ("`[[agent]]`", Agent, ("agent",)),
    ("`[agent.topics]`", AgentTopics, ("agent", "topics")),
    ("`[agent.schema]`", Schema, ("agent", "schema")),
    ("`[agent.schema.attributes]`", Attribute, ("agent", "schema", "attributes")),
    ("`[batch]`", Batch, ("batch",)),
    ("`[state]`", State, ("state",)),
    ("`[limits]`", Limits, ("limits",)),
    ("`[metrics]`", MetricsSettings, ("metrics",)),
    ("`[http]`", Http, ("http",)),
    ("`[log]`", Log, ("log",)),
)


def reference(registry: Registry) -> str:
    """Return the reference of all settings as a Markdown document.

    Args:
        registry: The learners whose options to describe.
    """
    parts = [_OPENING, _section("At the top of the file", Config, ())]
    for heading, kind, path in _TABLES:
        parts.append(_section(heading, kind, path))
        match heading:
            case "`[kafka]`":
                parts.append(_properties())
            case "`[agent.schema.attributes]`":
                parts += [_ATTRIBUTES, _options(registry)]
    return "\n".join([*parts, _VARIABLES, _exit_codes()])


def _section(heading: str, kind: type[msgspec.Struct], path: KeyPath) -> str:
    lines = [f"## {heading}", ""]
    if kind is not Config:
        lines += [_summary(kind), ""]
    return "\n".join([*lines, *_table(kind, path)])


def _summary(kind: type[msgspec.Struct]) -> str:
    """Return the first paragraph of a docstring, as one line."""
    paragraph, _, _ = (kind.__doc__ or "").partition("\n\n")
    return " ".join(paragraph.split())


def _table(kind: type[msgspec.Struct], path: KeyPath) -> Iterator[str]:
    """Yield the lines of a table of settings, with the variables of those that have one."""
    by_path: Mapping[KeyPath, str] = {path: name for name, path in variables().items()}
    has_variables = any(variable[:-1] == path for variable in by_path)
    columns = ["setting", "may be", "default", "what it is", *(["variable"] if has_variables else [])]
    yield f"| {' | '.join(columns)} |"
    yield "|---" * len(columns) + "|"
    docs = field_docs(kind)
    for field in msgspec.structs.fields(kind):
        if _is_table(field.type):
            continue
        name = field.encode_name
        cells = [f"`{name}`", type_in_words(field.type), _default(field), docs[field.name]]
        if has_variables:
            cells.append(f"`{by_path[(*path, name)]}`")
        yield f"| {' | '.join(cells)} |"
    yield ""


def _is_table(kind: object) -> bool:
    """Return whether a setting is described in a section of its own."""
    return type_in_words(kind) in ("a table", "an array of tables")


def _default(field: msgspec.structs.FieldInfo) -> str:
    if field.required:
        return "must be given"
    if field.default == "" and field.name in DERIVED_NAMES:
        return f"`{DERIVED_NAMES[field.name]}`"
    if field.default is None or field.default == ():
        return "none"
    return f"`{json.dumps(msgspec.to_builtins(field.default))}`"


def _properties() -> str:
    lines = [
        "### `[kafka.properties]`",
        "",
        "Any property of librdkafka, with or without quotes round its name. These are not free:",
        "",
        "| property | may be | because |",
        "|---|---|---|",
    ]
    for name, rule in RULES.items():
        allowed = ", ".join(f"`{value}`" for value in rule.allowed) or "not set"
        lines.append(f"| `{name}` | {allowed} | {rule.reason} |")
    return "\n".join([*lines, ""])


def _options(registry: Registry) -> str:
    """Return the options of every learner; learners that take the same ones share a table."""
    sharing: dict[type[msgspec.Struct], list[str]] = {}
    for name, learner in registry.items():
        sharing.setdefault(learner.options_type, []).append(name)
    lines = [
        "## `[agent.options]`",
        "",
        'What can be set depends on the learner. Where the default is none, "none" sets it back to that.',
        "",
    ]
    for options, names in sharing.items():
        lines += [f"### {', '.join(f'`{name}`' for name in names)}", ""]
        lines += _table(options, ("agent", "options"))
    return "\n".join(lines)


def _exit_codes() -> str:
    lines = ["## How a process ends", "", "| exit status | meaning |", "|---|---|"]
    return "\n".join([*lines, *(f"| {code} | {meaning} |" for code, meaning in EXIT_CODES.items()), ""])
