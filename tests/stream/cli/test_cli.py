"""The commands that work with a broker, on a real one, as a person would use them."""

import json
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import click
import pytest
from click.testing import CliRunner, Result

from stream.broker import Broker
from stream.cli.main import espalier
from stream.errors import StreamError
from tests.architecture.program import PROGRAM
from tests.settings import write_settings
from tests.workers import ENVIRONMENT, SECONDS, WorkerProcess, wait_until
from tests.workers import espalier as in_process

NOBODY = "127.0.0.1:1"
CSV = """number,income,history,approved
a1,high,good,yes
a2,low,bad,no
a3,low,good,yes
a4,,bad,no
a5,high,bad,no
"""


def run(*arguments: str) -> Result:
    """Run a command in this process; an error of ours is what it ends with."""
    return CliRunner().invoke(espalier, arguments)


def succeed(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def failure(result: Result) -> StreamError:
    assert isinstance(result.exception, StreamError), (result.output, result.exception)
    return result.exception


class Site(NamedTuple):
    """A directory with an `espalier.toml`, and the names in it."""

    directory: Path
    agent: str
    input: str

    @property
    def config(self) -> str:
        return str(self.directory / "espalier.toml")

    @property
    def table(self) -> dict[str, object]:
        return {"name": self.agent, "input": self.input}

    def write(self, broker: str, **more: object) -> None:
        write_settings(self.directory, broker, {**self.table, **more})


@pytest.fixture
def site(topics: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A site for which there is no broker yet."""
    monkeypatch.chdir(tmp_path)
    place = Site(tmp_path, topics("loans"), topics("applications"))
    place.write(NOBODY)
    (tmp_path / "loans.csv").write_text(CSV)
    return place


@pytest.fixture
def live(site: Site, broker: Broker) -> Site:
    """A site on the session's broker, with its topics."""
    site.write(broker.bootstrap_servers)
    succeed("topics", "create")
    return site


# ---- help


def commands(command: click.Command = PROGRAM, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if path:
        yield path
    if isinstance(command, click.Group):
        for name, part in command.commands.items():
            yield from commands(part, (*path, name))


@pytest.mark.parametrize("path", list(commands()), ids=" ".join)
def test_the_help_of_every_command_has_examples_that_begin_with_it(path: tuple[str, ...]) -> None:
    text = CliRunner().invoke(PROGRAM, [*path, "--help"], prog_name="espalier").stdout
    found = re.search(r"Examples?:\n(.+?)(\n\n|\n\Z)", text, re.DOTALL)
    assert found, text
    lines = found[1].splitlines()
    command = " ".join(("espalier", *path))
    assert any(re.search(rf"(^| ){command}( |$)", line) for line in lines), text
    assert all(len(line) <= 110 for line in text.splitlines())


def test_the_help_of_espalier_names_the_commands_to_begin_with() -> None:
    text = succeed("--help")
    for line in re.findall(r"^ +espalier (\w+)", text, re.MULTILINE):
        assert line in espalier.commands


def test_the_module_is_the_command(tmp_path: Path) -> None:
    told = in_process("--help", directory=tmp_path)
    assert told.returncode == 0
    assert told.stdout.startswith("Usage: espalier ")


# ---- no broker, no topic


@pytest.mark.parametrize(
    "arguments",
    [
        ["topics", "create"],
        ["topics", "describe"],
        ["tail", "somewhere"],
        ["tree"],
        ["produce", "loans.csv", "--topic", "somewhere"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_without_a_broker_a_command_says_where_it_looked_and_ends_with_69(
    site: Site, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stream.kafka.topics.REQUEST_SECONDS", 0.5)
    monkeypatch.setattr("stream.kafka.topics.TopicAdmin.describe.__defaults__", (None, 0.5))
    error = failure(run(*arguments))
    assert error.exit_code == 69
    assert str(error).startswith(f'no broker answers at "{NOBODY}"')
    assert "espalier broker start" in str(error)


@pytest.mark.broker
@pytest.mark.parametrize(
    "arguments", [["tail"], ["produce", "loans.csv", "--topic"]], ids=["tail", "produce"]
)
def test_a_topic_that_is_not_there_is_not_made(live: Site, arguments: list[str]) -> None:
    error = failure(run(*arguments, f"{live.input}s"))
    assert (error.exit_code, f'there is no topic "{live.input}s"' in str(error)) == (74, True)
    assert f"{live.input}s " not in succeed("topics", "describe")


# ---- topics


@pytest.mark.broker
def test_topics_are_made_once_with_the_partitions_that_were_asked_for(site: Site, broker: Broker) -> None:
    site.write(broker.bootstrap_servers, scope="partition")
    made = succeed("topics", "create", "--partitions", "3", "--replicas", "1")
    suffixes = ("", ".predictions", ".tree-changes", ".dead-letters")
    names = [site.input + suffix for suffix in suffixes] + [
        f"{site.agent}.journal",
        f"{site.agent}.snapshots",
    ]
    assert sorted(made.splitlines()) == sorted(f"created {name} (3 partitions)" for name in names)
    assert succeed("topics", "create", "--partitions", "5") == "nothing to do: all topics exist\n"


@pytest.mark.broker
def test_the_topics_of_a_second_agent_follow_the_input_that_is_there(live: Site, broker: Broker) -> None:
    other = {"name": f"{live.agent}2", "input": live.input, "scope": "partition"}
    agents: list[dict[str, object]] = [live.table, {**other, "topics": {"predictions": f"{live.input}.p2"}}]
    write_settings(live.directory, broker.bootstrap_servers, agents)
    made = succeed("topics", "create", "--partitions", "7")
    assert f"created {live.input}.p2 (1 partitions)" in made
    assert f"created {live.agent}2.journal (1 partitions)" in made
    assert live.input + ".tree-changes" not in made


@pytest.mark.broker
def test_describe_shows_which_topics_are_there(site: Site, broker: Broker) -> None:
    site.write(broker.bootstrap_servers)
    lines = [line for line in succeed("topics", "describe").splitlines() if site.input in line]
    assert len(lines) == 4
    assert all("missing" in line for line in lines)
    succeed("topics", "create", "--partitions", "2")
    told = succeed("topics", "describe")
    assert "missing" not in told
    row = next(line for line in told.splitlines() if f"{site.input} " in line)
    assert re.search(r"input\W+2\W+1\b", row)
    assert any(f"{site.agent}.journal" in line for line in told.splitlines())


# ---- produce and tail


@pytest.mark.broker
def test_rows_become_instances_that_tail_shows(live: Site) -> None:
    out = succeed("produce", "loans.csv", "--topic", live.input, "--id", "number")
    assert out == f"5 instances in {live.input}\n"
    lines = succeed("tail", live.input, "--from-beginning", "--until-end").splitlines()
    assert list(map(json.loads, lines)) == [
        {"id": "a1", "income": "high", "history": "good", "class": "yes"},
        {"id": "a2", "income": "low", "history": "bad", "class": "no"},
        {"id": "a3", "income": "low", "history": "good", "class": "yes"},
        {"id": "a4", "income": None, "history": "bad", "class": "no"},
        {"id": "a5", "income": "high", "history": "bad", "class": "no"},
    ]
    assert succeed("tail", live.input, "--from-beginning", "-n", "2").splitlines() == lines[:2]
    assert succeed("tail", live.input, "--until-end") == ""


@pytest.mark.broker
def test_label_schema_and_rate_of_produce_are_kept_to(live: Site) -> None:
    (live.directory / "ages.csv").write_text("kind,age\nold,71\nyoung,7.5\nnone,\n")
    (live.directory / "schema.json").write_text(
        '{"ages": {"columns": [{"name": "age", "type": "numeric"}], "class_values": []}}'
    )
    started = time.monotonic()
    arguments = ("--label", "kind", "--schema", "schema.json", "--rate", "10")
    succeed("produce", "ages.csv", "--topic", live.input, *arguments)
    assert time.monotonic() - started > 0.25
    told = succeed("tail", live.input, "--from-beginning", "--until-end").splitlines()
    assert list(map(json.loads, told)) == [
        {"id": 0, "age": 71, "class": "old"},
        {"id": 1, "age": 7.5, "class": "young"},
        {"id": 2, "age": None, "class": "none"},
    ]


@pytest.mark.broker
def test_columns_of_numbers_are_sent_as_numbers_and_that_is_said(live: Site) -> None:
    rows = "7,0.10,02134,,1\n8,+5,10115,2,0\n9,,1,x,\n"
    (live.directory / "shops.csv").write_text(f"shop,share,zip,mixed,class\n{rows}")
    result = run("produce", "shops.csv", "--topic", live.input, "--text", "shop")
    assert result.exit_code == 0
    assert "note: 1 column is read as numbers: share; --text COL keeps one as text\n" in result.stderr
    assert 'column "zip" is read as text: "02134" on line 2 begins with 0' in result.stderr
    assert records(live.input) == [
        '{"id":0,"shop":"7","share":0.10,"zip":"02134","mixed":null,"class":"1"}',
        '{"id":1,"shop":"8","share":5,"zip":"10115","mixed":"2","class":"0"}',
        '{"id":2,"shop":"9","share":null,"zip":"1","mixed":"x","class":null}',
    ]


@pytest.mark.broker
def test_an_interrupted_produce_says_how_much_was_sent(live: Site) -> None:
    (live.directory / "many.csv").write_text("x,class\n" + "1,a\n" * 1_000)
    with subprocess.Popen(
        [sys.executable, "-m", "stream", "produce", "many.csv", "--topic", live.input, "--rate", "20"],
        cwd=live.directory,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as produce:
        assert wait_until(lambda: len(records(live.input)) > 10), "nothing is sent"
        produce.send_signal(signal.SIGINT)
        out, said = produce.communicate(timeout=SECONDS)
    assert (produce.returncode, out) == (130, "")
    found = re.search(
        rf"^interrupted: (\d+) of 1000 instances in {re.escape(live.input)}$", said, re.MULTILINE
    )
    assert found, said
    assert int(found[1]) == len(records(live.input)) < 1_000


@pytest.mark.parametrize(
    ("header", "arguments", "message"),
    [
        ("number,income,y", ["--id", "numbr"], 'no column "numbr" beside the label. Did you mean "number"?'),
        ("number,income,y", ["--id", "y"], 'no column "y" beside the label'),
        ("class,income,y", [], 'a column "class" that would be taken for the class of a row'),
        ("id,number,y", ["--id", "number"], 'a column "id" that would be taken for the id of a row'),
    ],
    ids=["unknown", "label", "class", "id"],
)
def test_produce_refuses_columns_that_would_be_lost_or_mistaken(
    site: Site, header: str, arguments: list[str], message: str
) -> None:
    (site.directory / "odd.csv").write_text(f"{header}\n1,2,3\n")
    error = failure(run("produce", "odd.csv", "--topic", "t", *arguments))
    assert message in str(error)


@pytest.mark.broker
def test_tail_waits_for_what_comes(live: Site) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "stream", "tail", live.input, "-n", "5", "--from-beginning"],
        cwd=live.directory,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        text=True,
    ) as tail:
        succeed("produce", "loans.csv", "--topic", live.input)
        out, _ = tail.communicate(timeout=SECONDS)
    assert tail.returncode == 0
    assert [json.loads(line)["id"] for line in out.splitlines()] == [0, 1, 2, 3, 4]


# ---- worker and tree


def records(topic: str) -> list[str]:
    return succeed("tail", topic, "--from-beginning", "--until-end").splitlines()


@pytest.mark.broker
def test_a_worker_answers_learns_and_ends_in_good_order(live: Site) -> None:
    (live.directory / "bad.csv").write_text("income,approved\nhigh," + "x" * 2_000 + "\n")
    with WorkerProcess(live.directory, "--log-level", "info") as worker:
        address = worker.wait_for(r"metrics on (http://127\.0\.0\.1:\d+/metrics)")[1]
        succeed("produce", "loans.csv", "--topic", live.input, "--id", "number")
        succeed("produce", "bad.csv", "--topic", live.input)
        assert wait_until(lambda: len(records(f"{live.input}.dead-letters")) == 1), worker.words()
        with urllib.request.urlopen(address, timeout=30) as answer:
            metrics = answer.read().decode()
        assert f'espalier_records_total{{agent="{live.agent}",outcome="learned"}} 5.0' in metrics
        worker.process.send_signal(signal.SIGTERM)
        assert worker.process.wait(SECONDS) == 0, worker.words()
        assert worker.said("SIGTERM: finishing the batch at hand")
        assert worker.said("stopped")
    predictions = list(map(json.loads, records(f"{live.input}.predictions")))
    assert [p["id"] for p in predictions] == ["a1", "a2", "a3", "a4", "a5"]
    assert predictions[0]["prediction"] is None
    assert [p["label"] for p in predictions] == ["yes", "no", "yes", "no", "no"]
    arguments = ("--from-beginning", "--until-end", "--headers")
    letter = succeed("tail", f"{live.input}.dead-letters", *arguments)
    assert letter.startswith(f"{live.input}.dead-letters/0@0 ")
    assert "espalier.dlq.reason=string_too_long" in letter

    # The tree, from the change topic alone.
    shown = run("tree")
    assert shown.stdout == "history\n  bad: no\n  good: yes\n"
    assert shown.stderr.startswith(f"\n{live.agent}: version ")
    assert "3 nodes, 2 leaves, depth 1, digest " in shown.stderr
    assert re.search(r"bad: no  \(no:\d\)", succeed("tree", live.agent, "--counts"))
    told = json.loads(succeed("tree", live.agent, "--format", "json"))
    assert told["test"] == {"attribute": "history"}
    assert {value: branch["answer"] for value, branch in told["branches"].items()} == {
        "bad": "no",
        "good": "yes",
    }
    assert succeed("tree", "--format", "dot").startswith("digraph tree {")
    assert succeed("tree", "--version", "0") == "(no tree yet)\n"
    assert succeed("tree", "--version", "1") == "yes\n"
    assert run("tree", "nobody").exit_code == 2


@pytest.mark.broker
def test_the_tree_of_one_partition_can_be_asked_for(site: Site, broker: Broker) -> None:
    site.write(broker.bootstrap_servers, scope="partition")
    succeed("topics", "create", "--partitions", "2")
    with WorkerProcess(site.directory) as worker:
        # Without a key, rows go to partitions by chance; enough of them reach both.
        rows = "".join(f"v{n % 3},c{n % 3}\n" for n in range(600))
        (site.directory / "many.csv").write_text(f"x,class\n{rows}")
        succeed("produce", "many.csv", "--topic", site.input)
        succeed("produce", "many.csv", "--topic", site.input)
        assert wait_until(lambda: len(records(f"{site.input}.predictions")) == 1_200), worker.words()
    seen = {json.loads(line)["model"] for line in records(f"{site.input}.tree-changes")}
    assert seen == {f"{site.input}/0", f"{site.input}/1"}
    for model in seen:
        assert succeed("tree", "--model", model) == "x\n  v0: c0\n  v1: c1\n  v2: c2\n"
    assert succeed("tree", "--model", "nothing") == "(no tree yet)\n"


@pytest.mark.broker
def test_a_worker_without_its_topics_says_which_and_what_to_do(site: Site, broker: Broker) -> None:
    site.write(broker.bootstrap_servers)
    told = in_process("worker", directory=site.directory)
    assert told.returncode == 74
    last = told.stderr.splitlines()[-1]
    assert last.startswith(f'espalier: agent "{site.agent}": missing topics: {site.input}, ')
    assert last.endswith('Make them with "espalier topics create"')
    assert "Traceback" not in told.stderr


@pytest.mark.broker
def test_a_worker_whose_metrics_port_is_taken_says_so(live: Site) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        text = Path(live.config).read_text().replace("port = 0", f"port = {port}")
        Path(live.config).write_text(text)
        told = in_process("worker", directory=live.directory)
    assert told.returncode == 74
    assert f"metrics cannot be served on 127.0.0.1:{port}" in told.stderr


def test_a_worker_with_a_wrong_configuration_ends_with_78_and_all_errors(tmp_path: Path) -> None:
    (tmp_path / "espalier.toml").write_text('[[agent]]\nname = "a"\nlerner = "id5r"\n[metrics]\nport = -1\n')
    told = in_process("worker", directory=tmp_path)
    assert told.returncode == 78
    assert len(told.stderr.splitlines()) == 3
    assert "Traceback" not in told.stderr


@pytest.mark.broker
def test_of_two_workers_one_works_and_the_other_takes_over_when_it_is_told_to_go(live: Site) -> None:
    with WorkerProcess(live.directory) as first:
        first.wait_for("restored, 0 instances from the journal")
        second_site = live._replace(directory=live.directory / "second")
        second_site.directory.mkdir()
        Path(second_site.config).write_text(Path(live.config).read_text())
        with WorkerProcess(second_site.directory) as second:
            second.wait_for("metrics on")
            succeed("produce", "loans.csv", "--topic", live.input)
            assert wait_until(lambda: len(records(f"{live.input}.predictions")) == 5), first.words()
            first.process.terminate()
            assert first.process.wait(SECONDS) == 0
            second.wait_for("restored, 5 instances from the journal")
            succeed("produce", "loans.csv", "--topic", live.input)
            assert wait_until(lambda: len(records(f"{live.input}.predictions")) == 10), second.words()
    ids = [json.loads(line)["source"]["offset"] for line in records(f"{live.input}.predictions")]
    assert ids == list(range(10))
