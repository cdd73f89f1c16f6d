"""`espalier schema`: what it writes is what `evaluate` and `produce` find by themselves."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from learners.registry import LEARNERS
from stream.cli.main import espalier
from stream.errors import StreamError
from stream.files.declaration import read_declaration

LOANS = "id,income,zip,history,age,approved\n1,3.5,02134,good,41,1\n2,,10115,bad,,0\n3,1,99999,good,7,1\n"
REAL = ("hepatitis", "credit-a", "iris", "zoo")


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(espalier, [str(one) for one in arguments])


def succeed(*arguments: str | Path) -> Result:
    result = run(*arguments)
    assert result.exit_code == 0, (result.output, result.exception)
    return result


@pytest.fixture
def loans(tmp_path: Path) -> Path:
    path = tmp_path / "loans.csv"
    path.write_text(LOANS)
    return path


def types(text: str) -> dict[str, str]:
    return {column["name"]: column["type"] for column in json.loads(text)["loans"]["columns"]}


def test_it_writes_the_attributes_in_the_order_of_the_file(loans: Path) -> None:
    result = succeed("schema", loans)
    written = types(result.stdout)
    assert list(written) == ["income", "zip", "history", "age"]
    assert [name for name in written if written[name] == "numeric"] == ["income", "age"]
    assert '"02134" on line 2 begins with 0' in result.stderr


def test_one_line_for_each_column_to_be_edited(loans: Path) -> None:
    assert '      {"name": "zip", "type": "nominal"},\n' in succeed("schema", loans).stdout


def test_label_id_and_text_are_kept_to(loans: Path) -> None:
    more = ("--label", "history", "--id", "zip", "--text", "age")
    written = types(succeed("schema", loans, *more).stdout)
    assert written == {"id": "numeric", "income": "numeric", "age": "nominal", "approved": "numeric"}


def test_entries_of_other_files_are_kept(loans: Path, tmp_path: Path) -> None:
    out = tmp_path / "SCHEMA.json"
    out.write_text('{"zoo": {"columns": [], "class_values": ["a"], "source": "x"}, "loans": {"columns": []}}')
    result = succeed("schema", loans, "-o", out)
    assert result.stdout == f'entry "loans" in {out}: 2 numeric and 2 nominal columns\n'
    entries = json.loads(out.read_text())
    assert entries["zoo"] == {"columns": [], "class_values": ["a"], "source": "x"}
    assert len(entries["loans"]["columns"]) == 4
    succeed("schema", loans, "-o", out)
    assert json.loads(out.read_text()) == entries


def test_a_file_that_is_no_schema_is_not_overwritten(loans: Path) -> None:
    result = run("schema", loans, "-o", loans)
    assert isinstance(result.exception, StreamError)
    assert "is there and not a schema" in str(result.exception)
    assert result.exception.exit_code == 65
    assert loans.read_text() == LOANS


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["-o", "none/SCHEMA.json"], '"none/SCHEMA.json" cannot be written: No such file or directory'),
        (["-o", "/"], '"/" cannot be written'),
        (["--label", "aproved"], 'no column "aproved". Did you mean "approved"?'),
        (["--text", "zipp"], 'no column "zipp". Did you mean "zip"?'),
    ],
)
def test_what_is_wrong_with_the_command_line_is_said(arguments: list[str], said: str, loans: Path) -> None:
    result = run("schema", loans, *arguments)
    assert said in result.output + str(result.exception)
    status = result.exception.exit_code if isinstance(result.exception, StreamError) else result.exit_code
    assert status == 2


def test_a_name_of_any_characters_comes_back(tmp_path: Path) -> None:
    path, out = tmp_path / 'sch"ön.csv', tmp_path / "S.json"
    path.write_text('"größe ""x""",class\n1,a\n', "utf-8")
    succeed("schema", path, "-o", out)
    assert read_declaration(out, 'sch"ön').columns[0].name == 'größe "x"'


@pytest.mark.data
@pytest.mark.parametrize("learner", sorted(LEARNERS))
@pytest.mark.parametrize("name", REAL)
def test_a_written_schema_changes_nothing(name: str, learner: str, data_dir: Path, tmp_path: Path) -> None:
    """With the schema that `schema` writes, `evaluate` finds the tree that it finds without one."""
    path = data_dir / f"{name}.csv"
    out = tmp_path / "SCHEMA.json"
    succeed("schema", path, "-o", out)
    arguments = ("evaluate", path, "--learner", learner, "--limit", "150", "--shuffle", "3", "--json")
    plain, declared = (json.loads(succeed(*arguments, *more).stdout) for more in ((), ("--schema", out)))
    del plain["seconds"], declared["seconds"]
    assert declared == plain
    assert plain["records"] > 50


def test_a_written_schema_of_a_compressed_file_fits_it(tmp_path: Path) -> None:
    path, out = tmp_path / "loans.csv.gz", tmp_path / "SCHEMA.json"
    path.write_bytes(gzip.compress(LOANS.encode()))
    succeed("schema", path, "-o", out)
    assert "read as numbers" not in succeed("evaluate", path, "--schema", out).stderr
