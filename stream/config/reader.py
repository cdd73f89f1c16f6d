"""From a TOML file and the environment to the configuration, or to everything that is wrong with them."""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import msgspec

from learners.learner import Learner, Options, make_options
from learners.registry import LEARNERS
from learners.schema import Attribute, Schema
from stream.config.collecting import Draft, Read, Unusable
from stream.config.environment import Given, from_environment
from stream.config.messages import alternatives, choice, quoted, type_in_words, value_in_words
from stream.config.properties import Properties
from stream.config.rules import check
from stream.config.settings import DEFAULT_LEARNER, Agent, Config, Kafka
from stream.config.timeouts import PropertyValue
from stream.config.toml_positions import KeyPath, locate
from stream.errors import ConfigError, Problem

Registry = Mapping[str, type[Learner]]
"""The learners to choose from, by name."""

_SYNTAX_LINE = re.compile(r"(.*) \(at (?:line (\d+), column \d+|end of document)\)", re.DOTALL)
_OPTION = re.compile(r".* - at `\$\.(\w+)", re.DOTALL)


class Loaded(NamedTuple):
    """A configuration and where each setting came from that is not a default."""

    config: Config
    sources: Mapping[KeyPath, str]


def load(path: Path, environ: Mapping[str, str] = os.environ) -> Config:
    """Return the configuration in a file and in the environment.

    Raises:
        ConfigError: Something is wrong with it.
    """
    return read(path, environ).config


def read(path: Path, environ: Mapping[str, str] = os.environ, registry: Registry | None = None) -> Loaded:
    """Return the configuration in a file and in the environment, and where its settings came from.

    Args:
        path: The file.
        environ: The environment.
        registry: The learners to choose from; those of this installation if not given.

    Raises:
        ConfigError: Something is wrong with it.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError:
        hint = "Write one (`espalier config docs` shows the smallest), or name another with -c"
        raise ConfigError([Problem(str(path), f"there is no such file. {hint}")]) from None
    except OSError as error:
        raise ConfigError([Problem(str(path), f"cannot read the file: {error.strerror or error}")]) from None
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise ConfigError([Problem(f"{path}:{line}", "the file is not UTF-8 text")]) from None
    return parse(text, str(path), environ, registry)


def parse(
    text: str,
    file: str = "espalier.toml",
    environ: Mapping[str, str] = os.environ,
    registry: Registry | None = None,
) -> Loaded:
    """Return the configuration in a text and in the environment, and where its settings came from.

    Raises:
        ConfigError: Something is wrong with it.
    """
    given, problems = from_environment(environ)
    try:
        raw = tomllib.loads(text)
        draft = Draft(file, locate(text), given)
    except RecursionError:
        raise ConfigError([Problem(file, "lists or tables are nested too deeply"), *problems]) from None
    except ValueError as error:
        raise ConfigError([_syntax_problem(file, text, error), *problems]) from None
    _overlay(raw, given)
    config = _Reading(draft, LEARNERS if registry is None else registry).config(raw)
    problems = [*draft.problems(), *problems]
    if problems:
        raise ConfigError(problems)
    return Loaded(config, draft.sources)


def _syntax_problem(file: str, text: str, error: ValueError) -> Problem:
    """Return what the parser objects to, with the line it names."""
    found = _SYNTAX_LINE.fullmatch(str(error))
    if found is None:
        return Problem(file, f"not valid TOML: {error}")
    line = found[2] or text.count("\n", 0, len(text.rstrip())) + 1
    return Problem(f"{file}:{line}", f"not valid TOML: {found[1][:1].lower()}{found[1][1:]}")


def _overlay(raw: dict[str, object], given: Mapping[KeyPath, Given]) -> None:
    """Put the environment's settings in the place of the file's."""
    for path, setting in given.items():
        table: object = raw
        for name in path[:-1]:
            table = table.setdefault(str(name), {}) if isinstance(table, dict) else None
        if isinstance(table, dict):  # if it is not, that will be noticed
            table[str(path[-1])] = setting.text


class _Reading:
    """The parts of a configuration that take more than their types to be read."""

    def __init__(self, draft: Draft, registry: Registry) -> None:
        self._draft = draft
        self._registry = registry
        self._agents: dict[KeyPath, Agent] = {}

    def config(self, raw: dict[str, object]) -> Config:
        """Return the configuration, as far as one can be made; what is wrong is in the draft."""
        raw.setdefault("agent", [])
        readers: dict[str, Read] = {
            "agent": lambda one, path: self._draft.elements(one, path, self._agent),
            "kafka": lambda one, path: self._draft.table(Kafka, one, path, {"properties": self._properties}),
        }
        config = self._draft.table(Config, raw, (), readers, {"agents": ()})
        check(config, self._agents, self._draft)
        return config

    def _agent(self, raw: object, path: KeyPath) -> Agent:
        learner: object = None
        if isinstance(raw, dict):
            learner = raw.get("learner", DEFAULT_LEARNER)
            raw.setdefault("options", {})
        options = (
            self._registry[learner].options_type
            if isinstance(learner, str) and learner in self._registry
            else None
        )
        if isinstance(learner, str) and options is None:
            self._draft.blame((*path, "learner"), f"unknown learner {choice(learner, self._registry)}")
        readers: dict[str, Read] = {
            "options": lambda one, here: self._options(str(learner), options, one, here),
            "schema": lambda one, here: self._draft.table(
                Schema, one, here, {"attributes": self._attributes}
            ),
        }
        agent = self._agents[path] = self._draft.table(Agent, raw, path, readers, {"name": "", "input": ""})
        # Some settings do not go with some schemas; the learner knows.
        known = self._registry.get(str(learner))
        if known is None or agent.options is None:
            return agent
        message = known.refusal(agent.schema, agent.options)
        if message is not None:
            self._draft.blame((*path, "schema", "classes"), message, within=path)
        return agent

    def _options(self, learner: str, kind: type[Options] | None, raw: object, path: KeyPath) -> Options:
        """Return the learner's own settings, judged by the learner's own types."""
        if not isinstance(raw, dict):
            self._draft.wrong_type(path, "a table", raw)
        if kind is None:
            raise Unusable
        fields = {field.encode_name: field for field in msgspec.structs.fields(kind)}
        for name in [name for name in raw if name not in fields]:
            message = f"the learner {quoted(learner)} has no option {choice(name, fields)}"
            self._draft.blame((*path, name), message, within=path[:-1])
        settings = {name: value for name, value in raw.items() if name in fields}
        for name in settings:
            self._draft.sources[(*path, name)] = self._draft.place((*path, name))
        while True:
            try:
                return make_options(kind, settings)
            except msgspec.ValidationError as error:
                found = _OPTION.match(str(error))
                if found is None or found[1] not in settings:
                    # Not one of them is wrong but all together, or one that must be given is not.
                    self._draft.blame(path, f"{str(error)[:1].lower()}{str(error)[1:]}", within=path)
                    raise Unusable from None
                # Without it there may be a next one to complain about.
                name, kind_of_it = found[1], fields[found[1]].type
                expected = type_in_words(kind_of_it) + (' or "none"' if fields[name].default is None else "")
                with suppress(Unusable):
                    self._draft.wrong_type(
                        (*path, name), expected, settings.pop(name), alternatives(kind_of_it)
                    )

    def _attributes(self, raw: object, path: KeyPath) -> tuple[object, ...]:
        """Return the attributes, whether they are an array of tables or a table by their names."""
        if not isinstance(raw, dict):
            return self._draft.elements(raw, path, self._attribute)
        for number, (name, one) in enumerate(raw.items()):
            self._draft.write_as((*path, number), (*path, name))
            self._draft.label((*path, number), name)
            if isinstance(one, dict) and one.get("name", name) != name:
                self._draft.blame((*path, number, "name"), f'"name" must be {quoted(name)}, like its key')
        return self._draft.elements(
            [{**one, "name": name} if isinstance(one, dict) else one for name, one in raw.items()],
            path,
            self._attribute,
        )

    def _attribute(self, raw: object, path: KeyPath) -> Attribute:
        return self._draft.table(Attribute, raw, path, stand_ins={"name": ""})

    def _properties(self, raw: object, path: KeyPath) -> Properties:
        """Return the client's properties. `sasl.password = ...` without quotes is a table within a table."""
        if not isinstance(raw, dict):
            self._draft.wrong_type(path, "a table", raw)
        values: dict[str, PropertyValue] = {}
        for written, value in _leaves(raw, path):
            name = ".".join(map(str, written[len(path) :]))
            here = (*path, name)
            if written != here and self._draft.is_given(here):
                continue
            self._draft.write_as(here, written)
            if name in values:
                self._draft.blame(here, f"{quoted(name)} is set twice. Keep one of them")
            elif isinstance(value, str | int | float | bool):
                values[name] = value
                self._draft.sources[here] = self._draft.place(here)
            else:
                expected = "a string, a number, true or false"
                self._draft.blame(here, f"{quoted(name)} must be {expected}, not {value_in_words(value)}")
        return Properties(values)


def _leaves(table: dict[str, object], path: KeyPath) -> Iterator[tuple[KeyPath, object]]:
    """Yield every value in a table and the tables within it. Not by recursion: dots may go deep."""
    open_tables = [(path, iter(table.items()))]
    while open_tables:
        above, items = open_tables[-1]
        for name, value in items:
            if isinstance(value, dict):
                open_tables.append(((*above, name), iter(value.items())))
                break
            yield (*above, name), value
        else:
            open_tables.pop()
