"""`espalier reproduce`: what it prints and writes, and how it ends."""

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from lab.cli import reproduce as module
from lab.cli.fidelity import PLACES, document
from lab.cli.reproduce import in_processes, perform, read_concept, reproduce
from lab.experiments import EXPERIMENTS
from lab.experiments.experiment import Experiment
from lab.experiments.report import Chart, Report, Series, check
from lab.plot import Scale, svg
from stream.files.csv_file import DataError
from tests.paths import REPOSITORY

SVG = "{http://www.w3.org/2000/svg}"
NAMES = [
    "utgoff-example",
    "utgoff-table6",
    "utgoff-table7",
    "utgoff-table8",
    "utgoff-table9",
    "utgoff-figures",
]


def run(*arguments: str) -> Result:
    """Run the command in this process."""
    return CliRunner().invoke(reproduce, list(arguments))


def test_the_list_has_every_table_of_the_paper() -> None:
    result = run("--list")
    assert result.exit_code == 0
    for name in NAMES:
        assert f"{name} " in result.output


def test_the_worked_example_prints_trees_and_passes() -> None:
    result = run("utgoff-example")
    assert result.exit_code == 0
    assert "blond [2,2]: eyes" in result.output
    assert "utgoff-example: 10 PASS" in result.output
    assert "Not told" in result.output


def test_figures_are_written_as_json_and_charts_as_svg(tmp_path: Path) -> None:
    figures, plot = tmp_path / "t.json", tmp_path / "t.svg"
    result = run("utgoff-parity", "--json", str(figures), "--plot", str(plot))
    assert result.exit_code == 0
    found = json.loads(figures.read_text())
    assert found["failed"] is False
    assert [one["name"] for one in found["reports"]] == ["utgoff-parity"]
    assert found["reports"][0]["checks"][0]["verdict"] == "PASS"
    root = ET.parse(plot).getroot()
    assert len(root.findall(f".//{SVG}polyline")) == 2


def test_without_charts_the_drawings_are_plotted(tmp_path: Path) -> None:
    plot = tmp_path / "t.svg"
    assert run("utgoff-example", "--plot", str(plot)).exit_code == 0
    texts = [text.text for text in ET.parse(plot).getroot().iter(f"{SVG}text")]
    assert "  blond: eyes" in texts


class Failing:
    """An experiment that refutes the paper."""

    name = "failing"
    title = "Failing"
    runs = 0
    files = ()
    tasks = EXPERIMENTS["utgoff-example"].tasks
    perform = EXPERIMENTS["utgoff-example"].perform

    def report(self, outcomes: object, data: object) -> Report:
        """Return a failure."""
        return Report("failing", "Failing", checks=[check("the sky is green", False, "it is blue")])


def test_a_figure_that_is_not_reproduced_is_an_exit_status_of_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EXPERIMENTS, "utgoff-example", Failing())
    result = run("utgoff-example")
    assert result.exit_code == 1
    assert "FAIL     the sky is green: it is blue" in result.output


def test_missing_data_are_named_with_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_loaded", {})
    result = run("utgoff-table8", "--data", str(tmp_path))
    assert result.exit_code == 2
    assert 'no data set "krkn-pin-lost2.csv.gz"' in result.output
    assert "ESPALIER_DATA" in result.output


def test_a_row_of_another_width_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "bad.csv"
    file.write_text("a,b,class\nx,y,+\nx,-\n")
    with pytest.raises(DataError, match="line 3"):
        read_concept(file)


def test_the_result_does_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    experiment: Experiment = EXPERIMENTS["utgoff-table7"]
    tasks = [task for task in experiment.tasks(3, 5) if task.subject.startswith("ID5R")]
    advanced: list[None] = []
    spread = in_processes(experiment, tasks, 2, tmp_path, lambda: advanced.append(None))
    assert spread == perform(experiment, tasks, 1, tmp_path)
    assert len(advanced) == len(tasks)


@pytest.mark.data
def test_table_8_closes_in_whole_numbers(data_dir: Path) -> None:
    experiment = EXPERIMENTS["utgoff-table8"]
    data = {file: read_concept(data_dir / file) for file in experiment.files}
    tasks = [task for task in experiment.tasks(8, 5) if task.run < 2 or task.subject == "ID3"]
    report = experiment.report([experiment.perform(task, data) for task in tasks], data)
    assert not report.failed
    assert "16 x 250 + 15 x 203" in report.checks[0].seen


@pytest.mark.data
def test_training_on_errors_ends_with_what_id3_builds_from_them(data_dir: Path) -> None:
    experiment = EXPERIMENTS["utgoff-table9"]
    data = {file: read_concept(data_dir / file) for file in experiment.files}
    task = next(one for one in experiment.tasks(1, 5) if one.subject == "gain ratio, in cycles, 551 drawn")
    measures = experiment.perform(task, data).measures
    assert measures["is ID3's"]
    assert measures["trained"] < measures["insts"] / 5


def test_the_document_names_every_table_and_figure_of_the_paper() -> None:
    experiment = EXPERIMENTS["utgoff-example"]
    text = document([experiment.report([], {})], "espalier reproduce all")
    for what in (*(f"Table {number}" for number in range(1, 10)), "Figures 1 and 2"):
        assert any(what in place[0] for place in PLACES)
    assert "| `utgoff-example` | 10 PASS |" in text
    for name in EXPERIMENTS:
        assert any(name == where for _, where, _ in PLACES)


def test_the_document_in_the_repository_is_of_these_experiments() -> None:
    text = (REPOSITORY / "docs" / "fidelity.md").read_text()
    for experiment in EXPERIMENTS.values():
        assert f"## {experiment.title}\n" in text
    assert "**FAIL**" not in text


def test_bars_on_a_logarithmic_scale_stand_where_their_numbers_are() -> None:
    series = Series("<a> & b", ((0, 10.0), (1, 1000.0)), (1.0, 0.0))
    root = ET.fromstring(svg([Chart("t", "", "y", (series,), categories=("p", "q"), logarithmic=True)]))
    bars = [bar for bar in root.iter(f"{SVG}rect") if bar.find(f"{SVG}title") is not None]
    low, high = (float(bar.attrib["height"]) for bar in bars)
    assert low == pytest.approx(0)
    assert high > 150
    assert len(root.findall(f".//{SVG}path[@class='error']")) == 1


def test_a_scale_keeps_to_its_ends() -> None:
    scale = Scale(0, 10, 100, 0)
    assert [scale(x) for x in (-5, 0, 5, 10, 50)] == [100, 100, 50, 0, 0]
    assert scale.ticks() == [0, 2, 4, 6, 8, 10]
    assert Scale(1, 2000, 0, 1, logarithmic=True).ticks() == [1, 10, 100, 1000]
