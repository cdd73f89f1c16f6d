"""`espalier broker`, run as a person would: in a process of its own that ends, or is killed."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from stream.broker import Broker, BrokerError, BrokerNode
from stream.broker.process import wait_until
from stream.cli.broker import broker as command
from tests.paths import REPOSITORY

ESPALIER_BROKER = [sys.executable, "-c", "from stream.cli.broker import broker; broker()"]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
SECONDS = 120.0


def espalier_broker(*arguments: str, directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*ESPALIER_BROKER, *arguments],
        cwd=directory,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


@pytest.fixture
def clean(tmp_path: Path) -> Iterator[Path]:
    """An empty directory in which no broker is left, whatever the test did."""
    yield tmp_path
    with contextlib.suppress(BrokerError):
        Broker.find(tmp_path / ".espalier/broker").kill()


@contextlib.contextmanager
def in_foreground(directory: Path) -> Iterator[tuple[subprocess.Popen[str], BrokerNode]]:
    with subprocess.Popen(
        [*ESPALIER_BROKER, "start", "--foreground"],
        cwd=directory,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        try:
            assert parent.stdout is not None
            assert any("Ctrl-C stops it" in line for line in parent.stdout)
            yield parent, Broker.find(directory / ".espalier/broker").nodes[0]
        finally:
            parent.kill()


@pytest.mark.broker
def test_start_status_stop_and_start_again(clean: Path) -> None:
    started = espalier_broker("start", directory=clean)
    assert started.returncode == 0, started.stderr
    running = Broker.find(clean / ".espalier/broker")
    assert f"bootstrap_servers = {running.bootstrap_servers}\n" in started.stdout
    assert wait_until(running.nodes[0].answers, SECONDS), "it must outlive the command that started it"

    again = espalier_broker("start", directory=clean)
    assert (again.returncode, again.stdout) == (75, "")
    assert f"at {running.bootstrap_servers}. Use it, stop it" in again.stderr

    status = espalier_broker("status", "--json", directory=clean)
    assert status.returncode == 0
    assert json.loads(status.stdout)["bootstrap_servers"] == running.bootstrap_servers

    running.nodes[0].freeze()
    frozen = espalier_broker("status", directory=clean)
    assert frozen.returncode == 1
    assert "runs but does not answer" in frozen.stdout

    stopped = espalier_broker("stop", directory=clean)
    assert stopped.returncode == 0
    assert not running.is_running()


@pytest.mark.parametrize("what", ["stop", "status"])
def test_without_a_broker_stop_and_status_say_so(what: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(command, [what, "--directory", str(tmp_path / "none")])
    assert result.exit_code == 69
    assert "no broker runs in" in result.stderr
    assert "espalier broker start" in result.stderr
    assert not (tmp_path / "none").exists()


@pytest.mark.broker
def test_an_attached_broker_dies_with_its_killed_parent(clean: Path) -> None:
    with in_foreground(clean) as (parent, node):
        assert wait_until(node.answers, SECONDS)
        parent.kill()
        assert wait_until(lambda: not node.is_running(), SECONDS)


@pytest.mark.broker
def test_a_foreground_broker_is_shut_down_by_sigterm(clean: Path) -> None:
    with in_foreground(clean) as (parent, node):
        parent.send_signal(signal.SIGTERM)
        assert parent.wait(SECONDS) == 0
        assert not node.is_running()
        assert (node.directory / "data" / ".kafka_cleanshutdown").exists()


def test_a_jar_that_is_not_the_pinned_one_stops_the_start(tmp_path: Path) -> None:
    cache = tmp_path / "espalier" / "kafka-4.3.0"
    cache.mkdir(parents=True)
    (cache / "kafka-clients-4.3.0.jar").write_bytes(b"something else")
    result = CliRunner().invoke(
        command, ["start", "--directory", str(tmp_path / "broker"), "--cache", str(tmp_path)]
    )
    assert result.exit_code == 69
    assert "kafka-clients-4.3.0.jar" in result.stderr
    assert "Delete that file and start again" in result.stderr


def test_a_setting_without_a_value_is_refused_before_anything_starts(tmp_path: Path) -> None:
    result = CliRunner().invoke(command, ["start", "--directory", str(tmp_path / "b"), "--set", "nonsense"])
    assert result.exit_code == 2
    assert "NAME=VALUE" in result.stderr
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize("what", [[], ["start"], ["stop"], ["status"]])
def test_the_help_has_examples(what: list[str]) -> None:
    result = CliRunner().invoke(command, [*what, "--help"])
    assert result.exit_code == 0
    assert "Examples:\n    espalier broker" in result.stdout
