"""`espalier worker` and `espalier tree`, on a real broker."""

import json
import re
import signal
import socket
import urllib.request
from pathlib import Path

import pytest

from stream.broker import Broker
from tests.stream.cli.sites import Site, records, run, succeed
from tests.workers import SECONDS, WorkerProcess, wait_until
from tests.workers import espalier as in_process


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
