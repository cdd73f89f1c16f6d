"""The helpers that tests share do what they say."""

import tomllib
from pathlib import Path

from stream.config import Agent, Scope, load
from tests.settings import agent_table, settings_of, write_settings


def test_a_configuration_is_written_as_it_was_asked_for(tmp_path: Path) -> None:
    agent = Agent(name="a.b", input="in", scope=Scope.PARTITION)
    file = write_settings(
        tmp_path,
        "host:1",
        [agent_table(agent, options={"significance": "none", "window": 5}), {"name": "c", "input": "d"}],
        instance="me",
        kafka={"properties": {"session.timeout.ms": 6_000, "sasl.username": 'with "quotes"'}},
        metrics={"enabled": False},
        state={"trim_journal": True, "snapshot_seconds": 0.5},
    )
    config = load(file, {})
    assert (config.instance, config.kafka.bootstrap_servers) == ("me", "host:1")
    assert dict(config.kafka.properties) == {"session.timeout.ms": 6_000, "sasl.username": 'with "quotes"'}
    assert not config.metrics.enabled
    assert (config.state.trim_journal, config.state.snapshot_seconds) == (True, 0.5)
    first, second = config.agents
    assert (first.name, first.scope, first.options.window) == ("a.b", Scope.PARTITION, 5)  # type: ignore[union-attr]
    assert (second.name, second.input, second.learner) == ("c", "d", "id5r")


def test_the_metrics_of_a_test_are_on_a_free_port_unless_it_says_otherwise() -> None:
    agent = {"name": "a", "input": "b"}
    assert tomllib.loads(settings_of("h:1", agent))["metrics"] == {"port": 0}
    assert tomllib.loads(settings_of("h:1", agent, metrics={"port": 7}))["metrics"] == {"port": 7}
