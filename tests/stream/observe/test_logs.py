"""What is logged, as text and as JSON, and how to switch it."""

import json
import logging
import os
import signal

import pytest

from stream.config import Log, LogFormat, LogLevel
from stream.events import PartitionProgress
from stream.observe import logs


def test_a_line_of_json_says_when_what_and_about_what(
    root: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.start(Log(LogLevel.DEBUG, LogFormat.JSON))
    logs.observe(PartitionProgress("loans", "in", 3, 0, 17, 4))
    logging.getLogger("stream.x").warning('"%s"\n%s', "quoted", {"a": 1})
    first, second = map(json.loads, capsys.readouterr().err.splitlines())
    assert (first["agent"], first["partition"], first["offset"]) == ("loans", "in/3", 17)
    assert (first["level"], first["logger"]) == ("debug", "espalier")
    assert first["time"].endswith("Z")
    assert second["message"] == "\"quoted\"\n{'a': 1}"
    assert "agent" not in second


def test_a_line_of_text_is_one_line_whatever_is_in_it(
    root: logging.Logger, capsys: pytest.CaptureFixture[str]
) -> None:
    logs.start(Log())
    logging.getLogger("espalier").info("a\nb\rc", extra={"agent": "loans", "offset": 3})
    logs.observe(PartitionProgress("loans", "in", 3, 0, 17, 4))
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith("INFO a\\nb\\rc [agent=loans offset=3]")


def test_a_signal_switches_debug_on_and_off(root: logging.Logger, capsys: pytest.CaptureFixture[str]) -> None:
    logs.start(Log())
    assert root.level == logging.INFO
    os.kill(os.getpid(), signal.SIGUSR1)
    assert root.level == logging.DEBUG
    logs.observe(PartitionProgress("loans", "in", 3, 0, 17, 4))
    os.kill(os.getpid(), signal.SIGUSR1)
    assert root.level == logging.INFO
    logs.observe(PartitionProgress("loans", "in", 3, 0, 18, 4))
    said = capsys.readouterr().err
    assert "from now on debug" in said and "from now on info" in said
    assert said.count("to go") == 1


def test_the_thread_of_an_agent_names_it(root: logging.Logger, capsys: pytest.CaptureFixture[str]) -> None:
    logs.start(Log(format=LogFormat.JSON))
    record = logging.makeLogRecord({"msg": "x", "levelname": "INFO", "threadName": "agent-loans"})
    assert json.loads(logs.JsonLines().format(record))["agent"] == "loans"
    assert logs.TextLines().format(record).endswith("x [agent=loans]")
