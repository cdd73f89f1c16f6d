"""A CSV file in a topic and the same file under `evaluate`: one tree, with nothing declared in either."""

import gzip
import json
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from learners.registry import LEARNERS
from stream.broker import Broker
from stream.cli.main import espalier
from stream.config import Agent
from stream.files.columns import look_at
from stream.files.records import ID_FIELD, LABEL_FIELD, RowEncoder, csv_records
from tests.contract.records import decoded
from tests.contract.rigs import KafkaRig, MemoryRig

Names = Callable[[str], str]
SETS = ("anneal", "autos", "colic", "credit-a", "hepatitis", "sick", "zoo")
ROWS = 150
REBUILT = {"id3": 110, "id3prime": 110, "lsid3": 100}
"""How many rows of each; fewer for learners that build every tree from the beginning."""


def run(*arguments: str | Path) -> str:
    result = CliRunner().invoke(espalier, [str(one) for one in arguments])
    assert result.exit_code == 0, (result.output, result.exception)
    return result.stdout


def evaluated(*arguments: str | Path) -> dict[str, Any]:
    answer = json.loads(run("evaluate", *arguments, "--json"))
    assert isinstance(answer, dict)
    return answer


def lines_of(path: Path) -> Iterator[str]:
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as file:
        yield from file


def first_rows(source: Path, count: int, target: Path) -> Path:
    """Copy the header and the first rows of a file."""
    target.write_text("".join(islice(lines_of(source), count + 1)))
    return target


def fill(rig: MemoryRig, topic: str, path: Path) -> None:
    """Put into a topic what `espalier produce` sends."""
    columns = look_at(path)
    for record in csv_records(path, columns, RowEncoder(columns, LABEL_FIELD, ID_FIELD)):
        rig.produce(topic, record.value)


def same_as_worker(path: Path, learner: str, batch: int) -> dict[str, Any]:
    """Fail unless an agent and `evaluate` agree about a file; return what they say."""
    rig, agent = MemoryRig(), Agent(name="a", input="in", learner=learner)
    rig.create([agent], partitions=1)
    fill(rig, agent.input, path)
    rig.run([agent], {}, max_batch=batch)
    result = evaluated(path, "--learner", learner)
    predictions = decoded(rig, agent.topics.predictions)
    assert result["digest"] == decoded(rig, agent.topics.tree_changes)[-1]["tree"]["digest"]
    assert result["correct"] == sum(bool(one.get("correct")) for one in predictions)
    assert sum(result.get("dead_letters", {}).values()) == len(rig.read(agent.topics.dead_letters))
    return result


@pytest.mark.data
@pytest.mark.parametrize("learner", sorted(LEARNERS))
@pytest.mark.parametrize("name", SETS)
def test_every_learner_finds_one_tree_in_a_file_and_in_its_topic(
    name: str, learner: str, data_dir: Path, tmp_path: Path
) -> None:
    rows = REBUILT.get(learner, ROWS)
    path = first_rows(data_dir / f"{name}.csv", rows, tmp_path / f"{name}.csv")
    assert same_as_worker(path, learner, batch=41)["records"] > 90


@pytest.mark.parametrize("learner", sorted(LEARNERS))
def test_odd_spellings_of_numbers_are_the_same_numbers_in_both(learner: str, tmp_path: Path) -> None:
    """Numbers in every spelling, codes, ids, cells that come late, a label of digits and rows without one."""
    path = tmp_path / "odd.csv"
    spellings = ("{}", "+{}", "{}.", "{}.0", "{}e0", " {}", "{}.50", "-{}", "-.{}", "{}E-3", "")
    rows = []
    for n in range(120):
        number = spellings[n % len(spellings)].format(n * 37 % 100)
        late = str(n % 7) if n > 40 else ""
        label = "" if n % 17 == 3 else str(int(n * 37 % 100 > 50) + (n % 5 == 0))
        rows.append(f"r{n % 100},{number},0{n % 5},{late},{n % 3}{'?' * (n % 11 == 0)},?,{label}")
    path.write_text("id,number,code,late,mixed,never,class\n" + "\n".join(rows) + "\n")
    result = same_as_worker(path, learner, batch=17)
    assert (result["records"], result["unlabelled"]) == (113, 7)


@pytest.mark.data
@pytest.mark.broker
@pytest.mark.parametrize(("name", "rows"), [("electricity.csv.gz", 5_000), ("sick.csv", 3_772)])
def test_a_file_sent_by_produce_gives_a_worker_the_tree_of_evaluate(
    name: str, rows: int, broker: Broker, topics: Names, data_dir: Path, tmp_path: Path
) -> None:
    path = first_rows(data_dir / name, rows, tmp_path / "some.csv")
    rig, agent = KafkaRig(broker.bootstrap_servers), Agent(name=topics("a"), input=topics("in"))
    rig.create([agent], partitions=1)
    servers = ("--bootstrap-servers", broker.bootstrap_servers)
    assert run("produce", path, "--topic", agent.input, *servers) == f"{rows} instances in {agent.input}\n"
    rig.run([agent], {agent.topics.predictions: rows}, max_batch=500)
    result = evaluated(path)
    predictions = decoded(rig, agent.topics.predictions)
    assert result["records"] == len(predictions) == rows
    assert result["correct"] == sum(one["correct"] for one in predictions)
    digest = decoded(rig, agent.topics.tree_changes)[-1]["tree"]["digest"]
    assert result["digest"] == digest
    assert rig.read(agent.topics.dead_letters) == []
    # And a dump of the topic gives it once more.
    dump = tmp_path / "dump.jsonl"
    dump.write_text(run("tail", agent.input, "--from-beginning", "--until-end", *servers))
    assert evaluated(dump)["digest"] == digest
