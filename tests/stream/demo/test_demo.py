"""`espalier demo`: run as a person would, in a process of its own."""

import contextlib
import json
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from click.testing import CliRunner

from stream.broker.process import wait_until
from stream.cli.demo import METRICS_PORT
from stream.cli.demo import demo as command
from stream.demo.feeder import Feeder
from stream.demo.generators import GENERATORS, loans
from stream.demo.runtime import MemoryRuntime
from tests.stream.demo.running import (
    ENVIRONMENT,
    SECONDS,
    espalier_demo,
    expected_digest,
    is_refused,
    running_demo,
    summary,
)

# ---- in memory


def test_in_memory_it_ends_by_itself_after_the_last_record(tmp_path: Path) -> None:
    result = espalier_demo("--engine", "memory", "--records", "300", directory=tmp_path)
    assert result.returncode == 0, result.stderr
    told = summary(result.stdout)
    assert told["engine"] == "in memory, without Kafka"
    assert (told["records"], told["predictions"], told["dead letters"]) == ("300", "300", "0")
    assert told["digest"] == expected_digest("loans", 300)
    assert re.fullmatch(r"start \d+\.\d, records \d+\.\d, end \d+\.\d", told["seconds"])
    assert re.search(r"^\d+ of 300 records, ", result.stdout, re.MULTILINE), "there is no terminal"
    assert result.stderr == ""
    assert not (tmp_path / ".espalier").exists()


@pytest.mark.parametrize("generator", GENERATORS)
def test_every_generator_learner_seed_and_partition_count_can_be_shown(
    generator: str, tmp_path: Path
) -> None:
    arguments = ["--engine", "memory", "--records", "150", "--generator", generator, "--seed", "7"]
    result = espalier_demo(*arguments, "--partitions", "3", "--learner", "id3prime", directory=tmp_path)
    assert result.returncode == 0, result.stderr
    told = summary(result.stdout)
    assert told["learner"] == f"id3prime on {generator}"
    assert told["digest"] == expected_digest(generator, 150, seed=7, name="id3prime")


def test_without_a_broker_to_be_had_it_says_so_and_goes_on_in_memory(tmp_path: Path) -> None:
    result = espalier_demo("--java", str(tmp_path / "none"), "--records", "50", directory=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "no broker to be had: no Java 17 or newer" in result.stderr
    assert "going on in memory" in result.stderr
    assert summary(result.stdout)["predictions"] == "50"


def test_metrics_are_served_on_another_port_if_the_usual_one_is_taken(tmp_path: Path) -> None:
    with socket.socket() as taken:
        with contextlib.suppress(OSError):  # somebody else has it: just as well
            taken.bind(("127.0.0.1", METRICS_PORT))
            taken.listen()
        with running_demo("--engine", "memory", directory=tmp_path) as (process, lines):
            address = re.search(r"metrics at (http://127\.0\.0\.1:(\d+)/metrics)", "".join(lines))
            assert address is not None and int(address[2]) != METRICS_PORT

            def learned() -> bool:
                with urllib.request.urlopen(address[1], timeout=30) as page:
                    return b'espalier_records_total{agent="loans",outcome="learned"}' in page.read()

            assert wait_until(learned, SECONDS)
            process.send_signal(signal.SIGTERM)
            assert process.wait(SECONDS) == 0


def test_the_page_is_linked_and_with_stay_it_outlives_the_records(tmp_path: Path) -> None:
    with running_demo("--engine", "memory", "--records", "200", "--stay", directory=tmp_path) as (
        process,
        lines,
    ):
        page = re.search(r"page: (http://127\.0\.0\.1:\d+/)", "".join(lines))
        assert page is not None

        def answered() -> int:
            with urllib.request.urlopen(f"{page[1]}api/state", timeout=30) as state:
                return int(json.load(state)["agents"][0]["answered"])

        assert wait_until(lambda: answered() == 200, SECONDS)
        with urllib.request.urlopen(page[1], timeout=30) as html:
            assert b"<title>Espalier</title>" in html.read()
        assert process.poll() is None
        process.send_signal(signal.SIGINT)
        rest, _ = process.communicate(timeout=SECONDS)
        assert process.returncode == 0
        assert summary(rest)["digest"] == expected_digest("loans", 200)


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_with_a_summary(which: signal.Signals, tmp_path: Path) -> None:
    with running_demo("--engine", "memory", directory=tmp_path) as (process, _):
        process.send_signal(which)
        rest, errors = process.communicate(timeout=SECONDS)
        assert process.returncode == 0
        assert "digest" in summary(rest)
        assert errors == "ending ...\n"


def test_ended_before_all_records_were_read_back_it_has_failed(tmp_path: Path) -> None:
    arguments = ["--engine", "memory", "--records", "100000", "--rate", "20"]
    with running_demo(*arguments, directory=tmp_path) as (process, _):
        process.send_signal(signal.SIGTERM)
        assert process.wait(SECONDS) == 1


# ---- on a real broker


@pytest.mark.broker
def test_on_a_real_broker_every_record_is_read_back_and_nothing_is_left(tmp_path: Path) -> None:
    of_a_killed_one = tmp_path / ".espalier/demo/999999999"
    of_a_killed_one.mkdir(parents=True)
    result = espalier_demo("--records", "500", directory=tmp_path)
    assert result.returncode == 0, result.stderr
    told = summary(result.stdout)
    assert told["engine"].startswith("Apache Kafka at 127.0.0.1:"), result.stderr
    assert (told["records"], told["predictions"], told["dead letters"]) == ("500", "500", "0")
    assert told["digest"] == expected_digest("loans", 500)
    assert "espalier tail loans.predictions -c .espalier/demo/" in result.stdout
    assert is_refused(told["engine"].removeprefix("Apache Kafka at "))
    assert list((tmp_path / ".espalier/demo").iterdir()) == []
    assert "FAIL" not in result.stderr, "clients must end before their broker"


@pytest.mark.broker
def test_others_can_look_at_a_running_demonstration(tmp_path: Path) -> None:
    with running_demo(directory=tmp_path) as (process, lines):
        command_line = next(line for line in lines if "espalier tail" in line).split("espalier ")[1].split()
        seen = subprocess.run(
            [sys.executable, "-m", "stream", *command_line, "--records", "3"],
            cwd=tmp_path,
            env=ENVIRONMENT,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert seen.returncode == 0, seen.stderr
        assert len(re.findall(r'"agent":"loans"', seen.stdout)) == 3
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, errors
        assert is_refused(summary(rest)["engine"].removeprefix("Apache Kafka at "))


@pytest.mark.broker
def test_the_broker_of_a_killed_demonstration_dies_with_it(tmp_path: Path) -> None:
    with running_demo(directory=tmp_path) as (process, lines):
        address = re.search(r"Apache Kafka at ([\d.:]+)", "".join(lines))
        assert address is not None and not is_refused(address[1])
        process.kill()
        assert wait_until(lambda: is_refused(address[1]), 30)


# ---- rate and command line


def test_a_rate_is_kept() -> None:
    class Counting(MemoryRuntime):
        def __init__(self) -> None:
            self.values: list[bytes] = []

        def send(self, number: int, value: bytes) -> None:
            self.values.append(value)

    stage = Counting()
    feed = Feeder(stage, loans(1), 20, 100.0)
    began = time.monotonic()
    feed.start()
    assert wait_until(lambda: len(stage.values) == 20, SECONDS)
    assert time.monotonic() - began >= 0.19
    feed.stop()
    feed.check()


def test_a_wrong_command_line_is_explained() -> None:
    for arguments, said in (
        (["--learner", "id3prim"], 'Did you mean "id3prime"?'),
        (["--generator", "lones"], "'loans'"),
        (["--records", "0"], "--records"),
        (["--rate", "0"], "--rate"),
    ):
        result = CliRunner().invoke(command, arguments)
        assert result.exit_code == 2
        assert said in result.stderr


def test_the_help_has_examples() -> None:
    result = CliRunner().invoke(command, ["--help"])
    assert "Examples:\n    espalier demo" in result.stdout
