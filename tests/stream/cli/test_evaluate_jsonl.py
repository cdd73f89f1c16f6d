"""`espalier evaluate` on a dump of a topic: what a worker would make of it, dead letters included."""

import gzip
import json
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from learners.registry import LEARNERS
from stream.cli.main import espalier
from stream.config import Agent
from stream.records.fields import Nested
from tests.contract.records import decoded
from tests.contract.rigs import MemoryRig

UGLY = [
    b"{not json",
    b"[1]",
    b'{"x": 1, "x": 2, "class": "p"}',
    b'{"x": 1e999, "class": "p"}',
    b'{"x": 1, "class": ""}',
    b'{"x": true, "class": "p"}',
    b'{"id": true, "x": 1, "class": "p"}',
    b"\xff\xfe",
    b"",
]
REBUILT = ("id3", "id3prime", "lsid3")


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(espalier, [str(one) for one in arguments])


def evaluated(*arguments: str | Path) -> dict[str, Any]:
    result = run("evaluate", *arguments, "--json")
    assert result.exit_code == 0, (result.output, result.exception)
    answer = json.loads(result.stdout)
    assert isinstance(answer, dict)
    return answer


def stream(seed: int, count: int = 400) -> list[bytes]:
    """Return records with numbers, words, missing values, missing labels and dead letters among them."""
    rng = random.Random(seed)
    lines = []
    for number in range(count):
        x, word = round(rng.gauss(0, 3), 2), rng.choice("abc")
        record: dict[str, object] = {"id": number, "x": x, "w": word, "b": rng.random() < 0.5}
        record["class"] = ("p" if x > 0.5 else "n") if word != "c" else "q"
        for name in ("x", "w", "class"):
            if number > 5 and rng.random() < 0.05:
                record[name] = None
        if rng.random() < 0.1:
            del record["b"]
        lines.append(json.dumps(record).encode())
        if rng.random() < 0.05:
            lines.append(rng.choice(UGLY))
    return lines


@pytest.mark.parametrize("learner", sorted(LEARNERS))
def test_a_dump_of_a_topic_gives_what_a_worker_gives(learner: str, tmp_path: Path) -> None:
    for seed in range(3):
        # What builds every tree from the beginning takes four times as long for twice as many.
        lines = stream(seed, 200 if learner in REBUILT else 400)
        path = tmp_path / "topic.jsonl"
        path.write_bytes(b"\n".join(lines) + b"\n")
        rig, agent = MemoryRig(), Agent(name="a", input="in", learner=learner)
        rig.create([agent], partitions=1)
        for line in lines:
            rig.produce("in", line)
        rig.run([agent], {}, max_batch=37)
        predictions = decoded(rig, agent.topics.predictions)
        letters = Counter(
            (dict(letter.headers)["espalier.dlq.reason"] or b"").decode()
            for letter in rig.read(agent.topics.dead_letters)
        )
        result = evaluated(path, "--learner", learner, "--trace", tmp_path / "trace")
        assert len(letters) > 3
        assert result["dead_letters"] == letters
        assert result["digest"] == decoded(rig, agent.topics.tree_changes)[-1]["tree"]["digest"]
        labelled = [one for one in predictions if "label" in one]
        assert result["records"] == len(labelled)
        assert result["unlabelled"] == len(predictions) - len(labelled) > 0
        assert result["correct"] == sum(one["correct"] for one in labelled)
        traced = [json.loads(line) for line in (tmp_path / "trace").read_text().splitlines()]
        # Offsets count from 0, records from 1.
        assert [(one["n"] - 1, one["prediction"]) for one in traced] == [
            (one["source"]["offset"], one["prediction"]) for one in labelled
        ]


FIELDS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "ignore": (["--ignore", "w", "--ignore", "geo.*"], {"ignore": ("w", "geo.*")}),
    "attributes": (["--attributes", "x, user, b"], {"attributes": ("x", "user", "b")}),
    "flatten": (["--nested", "flatten"], {"nested": Nested.FLATTEN}),
    "reject": (["--nested", "reject"], {"nested": Nested.REJECT}),
    "ignored": ([], {}),
}


@pytest.mark.parametrize("learner", ["id4", "id5r", "mdl"])
@pytest.mark.parametrize("name", FIELDS)
def test_the_settings_of_fields_are_those_of_an_agent(name: str, learner: str, tmp_path: Path) -> None:
    """Objects, arrays, and a user id with more values than an agent takes, which is retired.

    What fields are is known before any learner sees them: the slowest one retires the id in one case alone.
    """
    options, settings = FIELDS[name]
    lines = []
    for number, line in enumerate(stream(7, 300 if learner == "id4" and name != "attributes" else 1_150)):
        if line in UGLY:
            continue
        record = json.loads(line) | {"user": f"u{number}", "tags": ["a"]}
        if number % 3:
            record["geo"] = {"city": "xyz"[number % 5 % 3], "at": [1, 2]}
        if number % 2 or name != "reject":
            lines.append(json.dumps(record).encode())
        else:
            lines.append(json.dumps({**record, "tags": None, "geo": None}).encode())
    path = tmp_path / "topic.jsonl"
    path.write_bytes(b"\n".join(lines))
    rig, agent = MemoryRig(), Agent(name="a", input="in", learner=learner, **settings)
    rig.create([agent], partitions=1)
    for line in lines:
        rig.produce("in", line)
    rig.run([agent], {}, max_batch=200)
    result = evaluated(path, "--learner", learner, *options)
    predictions = decoded(rig, agent.topics.predictions)
    assert result["digest"] == decoded(rig, agent.topics.tree_changes)[-1]["tree"]["digest"]
    assert result["correct"] == sum(bool(one.get("correct")) for one in predictions)
    refused = result.get("dead_letters", {})
    assert refused == ({"wrong_type": len(lines) - len(predictions)} if name == "reject" else {})


def test_refused_lines_are_reported_by_reason_with_the_first_of_them(tmp_path: Path) -> None:
    path = tmp_path / "topic.jsonl"
    path.write_bytes(b'{"x": 1, "class": "p"}\n{"x": 2}\n' + b"[]\n" * 7 + b"\n")
    shown = run("evaluate", path).stderr.splitlines()
    assert shown[0] == "1 of 10 records have no label: predicted, not learned from"
    assert shown[1] == "8 of 10 records rejected (not_object: 7, empty: 1): dead letters of an agent"
    assert shown[2].startswith("  line 3: not_object: ")
    assert shown[-1] == "  and 3 more"


def test_compressed_shuffled_and_limited(tmp_path: Path) -> None:
    lines = [line for line in stream(1) if line not in UGLY]
    plain, packed = tmp_path / "topic.ndjson", tmp_path / "topic.jsonl.gz"
    plain.write_bytes(b"\r\n".join(lines))
    packed.write_bytes(gzip.compress(b"\n".join(lines)))
    for more in ((), ("--limit", "99"), ("--shuffle", "1"), ("--shuffle", "1", "--limit", "99")):
        one, two = evaluated(plain, *more), evaluated(packed, *more)
        del one["seconds"], two["seconds"]
        assert one == two
    assert evaluated(plain, "--shuffle", "1")["digest"] != evaluated(plain)["digest"]


def test_label_and_id_are_other_fields_where_that_is_said(tmp_path: Path) -> None:
    path = tmp_path / "topic.jsonl"
    path.write_text("".join(f'{{"n": "n{n}", "x": {n % 2}, "y": "c{n % 2}"}}\n' for n in range(40)))
    result = evaluated(path, "--label", "y", "--id", "n", "--tree", tmp_path / "tree")
    assert result["records"] == 40
    assert json.loads((tmp_path / "tree").read_text())["test"]["attribute"] == "x"


def test_a_schema_declares_attributes_of_a_topic(tmp_path: Path) -> None:
    path, schema = tmp_path / "topic.jsonl", tmp_path / "SCHEMA.json"
    path.write_text("".join(f'{{"x": {n % 2}, "class": "c{n % 2}"}}\n' for n in range(40)))
    schema.write_text('{"topic": {"columns": [{"name": "x"}], "class_values": ["c1", "c0"]}}')
    evaluated(path, "--schema", schema, "--tree", tmp_path / "tree")
    assert json.loads((tmp_path / "tree").read_text())["test"] == {"attribute": "x"}


@pytest.mark.parametrize(
    ("name", "content", "more", "status", "said"),
    [
        ("topic.jsonl", b"{}\n", ["--text", "x"], 2, "only the columns of a CSV file need it"),
        ("topic.jsonl.gz", b"{}\n", [], 65, "is damaged or not compressed with gzip"),
        ("other.jsonl", None, [], 2, "there is no file"),
    ],
)
def test_what_is_wrong_is_said(
    name: str, content: bytes | None, more: list[str], status: int, said: str, tmp_path: Path
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    result = run("evaluate", tmp_path / name, *more)
    assert said in result.output + str(result.exception)
    assert getattr(result.exception, "exit_code", result.exit_code) == status
