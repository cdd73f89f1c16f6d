"""Notices as they are written: lines of text and JSON, and in a Faust application."""

import json
import logging
import threading
from collections.abc import Callable

import pytest

from stream.broker import Broker
from stream.config import Agent, Config, Kafka, Log, LogFormat, LogLevel, MetricsSettings
from stream.faust.agent import espalier_app
from stream.observe import logs
from stream.observe.notices import Notices
from tests.contract.rigs import KafkaRig
from tests.stream.observe.rejected_records import dropped, extra

# ---- as they are written


def test_a_line_of_json_has_reason_field_and_position(
    root: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.start(Log(LogLevel.WARNING, LogFormat.JSON))
    Notices().observe(dropped(field="t\x1b[2J"))
    (line,) = capsys.readouterr().err.splitlines()
    told = json.loads(line)
    assert (told["agent"], told["partition"], told["offset"]) == ("a", "in/3", 17)
    assert (told["reason"], told["field"], told["level"]) == ("wrong_type", "t\x1b[2J", "warning")


def test_a_name_in_a_record_cannot_move_the_cursor(
    root: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.start(Log())
    Notices().observe(dropped(field="t\x1b[2J\u202e\nx"))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isprintable()
    assert "t\\x1b[2J\\u202e\\nx" in line
    assert line.endswith("[agent=a partition=in/3 offset=17]")


# ---- in the engines


@pytest.mark.broker
def test_faust_agents_in_an_application_of_ones_own_log_dead_letters(
    broker: Broker, topics: Callable[[str], str], caplog: pytest.LogCaptureFixture
) -> None:
    agent = Agent(name=topics("a"), input=topics("in"))
    config = Config(
        agents=(agent,), kafka=Kafka(broker.bootstrap_servers), metrics=MetricsSettings(enabled=False)
    )
    app = espalier_app(config)
    (carrier,) = [one.fun.__self__ for name, one in app.agents.items() if name == agent.name]
    rig = KafkaRig(broker.bootstrap_servers)
    rig.create([agent], 1)
    for value in (b"{", b'{"class": ""}', b"{", b"{"):
        rig.produce(agent.input, value)
    rig.flush()
    stop = threading.Event()
    thread = threading.Thread(target=carrier._work, args=(stop,), daemon=True)
    carrier._in_loop = lambda coroutine: coroutine.close()
    thread.start()
    rig.wait_for({agent.topics.dead_letters: 4})
    stop.set()
    thread.join(30)
    warned = [record for record in caplog.records if record.name == "espalier"]
    assert [record.getMessage().split(":")[0] for record in warned] == [
        "dead letter (json_syntax)",
        "dead letter (bad_label)",
        "4 dead letters in 1 s",
    ]
    assert [extra(record, "offset") for record in warned[:2]] == [(0,), (1,)]
