"""What must hold between settings, beyond the type and range of each."""

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from learners.schema import AttributeType
from stream.config.collecting import Draft
from stream.config.messages import quoted
from stream.config.properties import objections
from stream.config.settings import DERIVED_NAMES, Agent, AgentTopics, Config, Limits
from stream.config.toml_positions import KeyPath

LONGEST_TOPIC = 249
_TOPIC = re.compile(r"[A-Za-z0-9._-]+")
_SERVER = re.compile(r"(?:[A-Za-z_]+://)?(?:\[[0-9A-Fa-f:.%]+\]|[^\s,:/\[\]]+)(?::(\d{1,5}))?")

SHORTEST_TOKEN = 16
_TOKEN = re.compile(rf"[A-Za-z0-9_-]{{{SHORTEST_TOKEN},}}")

Agents = Mapping[KeyPath, Agent]


def check(config: Config, agents: Agents, draft: Draft) -> None:
    """Note everything that is wrong with the configuration as a whole.

    Args:
        config: The configuration. Agents of which nothing could be made are not in it.
        agents: Its agents, and where each of them stands.
        draft: Where to note it.
    """
    if not agents and draft.is_sound(("agent",)):
        draft.blame(("agent",), "there is no agent. Add one: [[agent]] with a name and an input")
    _check_kafka(config, draft)
    _check_http(config, draft)
    _check_names(agents, draft)
    _check_topics(agents, draft)
    for path, agent in agents.items():
        _check_fields(agent, path, draft)
        _check_schema(agent, (*path, "schema"), config.limits, draft)


# ---- the broker


def _check_kafka(config: Config, draft: Draft) -> None:
    path: KeyPath = ("kafka", "bootstrap_servers")
    for server in config.kafka.bootstrap_servers.split(","):
        found = _SERVER.fullmatch(server.strip())
        if found is None or not 0 < int(found[1] or 9092) <= 65_535:
            draft.blame(
                path, f'"bootstrap_servers" must be host:port, several with commas, not {quoted(server)}'
            )
    for name, message in objections(config.kafka.properties):
        draft.blame(("kafka", "properties", name), message)


def _check_http(config: Config, draft: Draft) -> None:
    """The page shows the data: beyond this machine it is for those who know the token."""
    http = config.http
    if http.page and http.host is not None and not is_loopback(http.host) and http.token is None:
        draft.blame(
            ("http", "host"),
            f"{quoted(http.host)} can be reached from other machines, and there is no token. Set one "
            '(ESPALIER_HTTP_TOKEN_FILE names a file with it), keep to "127.0.0.1", or set page = false',
        )
    if http.token is not None and not _TOKEN.fullmatch(http.token):
        draft.blame(
            ("http", "token"),
            f'"token" must be {SHORTEST_TOKEN} or more letters, digits, "-" and "_". '
            '`python -c "import secrets; print(secrets.token_urlsafe())"` makes one',
        )


def is_loopback(host: str) -> bool:
    """Return whether only this machine can reach an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


# ---- names and topics


def _check_names(agents: Agents, draft: Draft) -> None:
    """No two agents may have one name or one consumer group."""
    names: dict[str, KeyPath] = {}
    groups: dict[str, KeyPath] = {}
    for path, agent in agents.items():
        if not draft.is_sound((*path, "name")):
            continue
        if not _is_topic_name(agent.name):
            draft.blame((*path, "name"), f"the name {_topic_rule(agent.name)}")
        first = names.setdefault(agent.name, path)
        if first != path:
            # Two of one name have one group as well: once is enough.
            draft.blame(
                (*path, "name"), f"the agent on line {draft.line(first)} has this name too. Rename one"
            )
            continue
        other = groups.setdefault(agent.group, path)
        if other != path:
            message = f"the group {quoted(agent.group)} is that of agent {quoted(agents[other].name)}"
            draft.blame(_where(path, "group", draft), f"{message}. Each agent needs its own", within=path)


class _Use(NamedTuple):
    """A topic, and what an agent has to do with it."""

    topic: str
    role: str
    agent: str
    path: KeyPath


def _check_topics(agents: Agents, draft: Draft) -> None:
    """Every topic must have a legal name and one purpose, and state must belong to one agent."""
    first: dict[str, _Use] = {}
    for path, agent in agents.items():
        for use in _uses(agent, path, draft):
            if not _is_topic_name(use.topic):
                draft.blame(use.path, f"the topic {quoted(use.topic)} {_topic_rule(use.topic)}", within=path)
                continue
            # To the broker "." and "_" are alike in a name, and it refuses the second of the two.
            other = first.setdefault(use.topic.replace(".", "_"), use)
            if other is not use:
                _check_pair(use, other, path, draft)


def _uses(agent: Agent, path: KeyPath, draft: Draft) -> Iterator[_Use]:
    """Yield the agent's topics, but for those that follow from a name which is wrong itself."""
    if draft.is_sound((*path, "input")):
        yield _Use(agent.input, "input", agent.name, (*path, "input"))
    bases = {(*path, "name"): agent.name, (*path, "input"): agent.input}
    for role in AgentTopics.__struct_fields__:
        where = _where(path, role, draft)
        if where not in bases or _is_topic_name(bases[where]):
            yield _Use(getattr(agent.topics, role), role, agent.name, where)


def _check_pair(use: _Use, other: _Use, path: KeyPath, draft: Draft) -> None:
    whose = "its own" if use.agent == other.agent else f"agent {quoted(other.agent)}'s"
    if use.topic != other.topic:
        problem = (
            f"to Kafka {quoted(use.topic)} is the same name as {quoted(other.topic)}, {whose} {other.role}"
        )
    elif use.role != other.role:
        problem = f"the topic {quoted(use.topic)} cannot be {use.role}: it is {whose} {other.role}"
    elif use.role in ("journal", "snapshots") and use.agent != other.agent:
        problem = f"the topic {quoted(use.topic)} cannot be shared: it is {whose} {other.role}"
    else:
        return
    draft.blame(use.path, f"{problem}. Rename one", within=path)


def _where(path: KeyPath, setting: str, draft: Draft) -> KeyPath:
    """Return the setting a name comes from: itself, or the one its default is made of."""
    own = (*path, setting) if setting == "group" else (*path, "topics", setting)
    if own in draft.sources:
        return own
    return (*path, "input" if "<input>" in DERIVED_NAMES[setting] else "name")


def _is_topic_name(name: str) -> bool:
    return bool(_TOPIC.fullmatch(name)) and len(name) <= LONGEST_TOPIC and name not in (".", "..")


def _topic_rule(name: str) -> str:
    if len(name) > LONGEST_TOPIC:
        return f"has {len(name)} characters. Kafka takes {LONGEST_TOPIC} at most"
    return 'must be made of letters, digits, ".", "_" and "-", and not be "." or ".."'


# ---- fields of the instances


def _check_fields(agent: Agent, path: KeyPath, draft: Draft) -> None:
    if agent.label == agent.id and draft.is_sound((*path, "label"), (*path, "id")):
        setting = (*path, "id") if (*path, "id") in draft.sources else (*path, "label")
        draft.blame(setting, f"{quoted(agent.label)} cannot be both the label and the id")
    for role, field in (("label", agent.label), ("id", agent.id)):
        if (*path, role) in draft.sources and agent.fields.is_ignored(field):
            message = f'{quoted(field)} is the agent\'s {role}. Take it out of "ignore"'
            draft.blame((*path, "ignore"), message, within=path)
    for number, attribute in enumerate(agent.schema.attributes):
        if attribute.name and not agent.fields.is_attribute(attribute.name):
            setting_name = "ignore" if agent.fields.is_ignored(attribute.name) else "attributes"
            message = f'{quoted(attribute.name)} is declared, but "{setting_name}" leaves it out. Change one'
            draft.blame((*path, "schema", "attributes", number, "name"), message, within=path)


def _check_schema(agent: Agent, path: KeyPath, limits: Limits, draft: Draft) -> None:
    schema = agent.schema
    if draft.is_sound((*path, "attributes")):
        _check_attributes(agent, (*path, "attributes"), limits, draft)
    _check_distinct(schema.classes, (*path, "classes"), draft)
    _check_count(schema.classes, limits.max_classes, "max_classes", (*path, "classes"), draft)
    _check_closed(schema.open, schema.attributes, (*path, "open"), "attributes", draft)
    _check_closed(schema.open_classes, schema.classes, (*path, "open_classes"), "classes", draft)


def _check_attributes(agent: Agent, path: KeyPath, limits: Limits, draft: Draft) -> None:
    attributes = agent.schema.attributes
    _check_count(attributes, limits.max_attributes, "max_attributes", path, draft)
    seen: dict[str, int] = {}
    for number, attribute in enumerate(attributes):
        here = (*path, number)
        first = seen.setdefault(attribute.name, number) if draft.is_sound((*here, "name")) else number
        if first != number:
            line = draft.line((*path, first))
            draft.blame((*here, "name"), f"the attribute on line {line} has this name too. Remove one")
        for role, field in (("label", agent.label), ("id", agent.id)):
            if attribute.name == field and draft.is_sound((*path[:2], role)):
                message = (
                    f"it is the agent's {role}, which is not learned from. Remove it, or set another {role}"
                )
                draft.blame((*here, "name"), message)
        if attribute.wrong_cuts is not None:
            draft.blame((*here, "cuts"), attribute.wrong_cuts)
        if attribute.type is AttributeType.NUMERIC and attribute.values:
            draft.blame(
                (*here, "values"), "a numeric attribute has no list of values. Remove it, or make it nominal"
            )
            continue
        _check_distinct(attribute.values, (*here, "values"), draft)
        _check_count(
            attribute.values,
            limits.max_values_per_attribute,
            "max_values_per_attribute",
            (*here, "values"),
            draft,
        )
        _check_closed(attribute.open, attribute.values, (*here, "open"), "values", draft)
        for value in attribute.values:
            if value in agent.schema.missing_values:
                draft.blame(
                    (*here, "values"), f"{quoted(value)} is one of the schema's missing_values. Remove one"
                )


def _check_distinct(names: Sequence[str], path: KeyPath, draft: Draft) -> None:
    for number, name in enumerate(names):
        if name in names[:number]:
            draft.blame(
                (*path, number), f'{quoted(name)} is in "{path[-1]}" twice. Remove one', within=path[:-1]
            )


def _check_count(names: Sequence[object], most: int, limit: str, path: KeyPath, draft: Draft) -> None:
    if len(names) > most and draft.is_sound(("limits", limit)):
        draft.blame(
            path, f'"{path[-1]}" has {len(names)} entries, more than {most}. Raise {limit} in [limits]'
        )


def _check_closed(is_open: bool, names: Sequence[object], path: KeyPath, what: str, draft: Draft) -> None:
    if not is_open and not names and draft.is_sound((*path[:-1], what)):
        draft.blame(path, f'"{path[-1]}" is false, but there are no {what}. List them, or leave it out')
