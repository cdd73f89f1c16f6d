"""`espalier produce` and `espalier tail`, on a real broker."""

import json
import re
import signal
import subprocess
import sys
import time

import pytest

from tests.stream.cli.sites import Site, failure, records, run, succeed
from tests.workers import ENVIRONMENT, SECONDS, wait_until


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
