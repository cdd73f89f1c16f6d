"""Configuration files for tests: `espalier.toml` from what is different in it."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from stream.config import Agent

Table = Mapping[str, Any]


def _key(name: str) -> str:
    return name if re.fullmatch(r"[\w-]+", name, re.ASCII) else json.dumps(name)


def _lines(table: Table, path: str) -> Iterator[str]:
    """Yield a table as TOML: its values first, then the tables in it."""
    for name, value in table.items():
        if not isinstance(value, Mapping):
            # Texts, numbers, truth values and lists of them are written as in JSON.
            yield f"{_key(name)} = {json.dumps(value)}"
    for name, value in table.items():
        if isinstance(value, Mapping):
            inner = f"{path}.{_key(name)}" if path else _key(name)
            yield f"[{inner}]"
            yield from _lines(value, inner)


def agent_table(agent: Agent, **more: Any) -> dict[str, Any]:
    """Return the table of an agent: its name, input, scope and learner, and what else is said of it."""
    return {
        "name": agent.name,
        "input": agent.input,
        "scope": str(agent.scope),
        "learner": agent.learner,
        **more,
    }


def settings_of(servers: str, *agents: Table, **tables: Any) -> str:
    """Return a configuration: where the broker is, other tables or values by name, then the agents.

    The metrics are on any free port unless `metrics` says otherwise; `kafka` may hold more of that table.
    """
    plain = {name: value for name, value in tables.items() if not isinstance(value, Mapping)}
    kafka = {"bootstrap_servers": servers, **tables.pop("kafka", {})}
    named = {name: value for name, value in tables.items() if isinstance(value, Mapping)}
    lines = list(_lines({**plain, "kafka": kafka, "metrics": {"port": 0}, **named}, ""))
    for agent in agents:
        lines += ["[[agent]]", *_lines(agent, "agent")]
    return "\n".join(lines) + "\n"


def write_settings(directory: Path, servers: str, agents: Table | Sequence[Table], **tables: Any) -> Path:
    """Write `espalier.toml` into a directory, and return the file."""
    file = directory / "espalier.toml"
    file.write_text(settings_of(servers, *([agents] if isinstance(agents, Mapping) else agents), **tables))
    return file
