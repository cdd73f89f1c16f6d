"""A wrong configuration is refused with every error, its line, what is allowed and the nearest right name."""

from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from stream.cli.main import espalier
from stream.config import load
from stream.errors import ConfigError
from tests.stream.config.samples import (
    SMALLEST,
    problems_of,
    read_text,
    the_problem_of,
)
from tests.stream.config.wrong_settings import WRONG, after_agent


@pytest.mark.parametrize(("text", "line", "message"), WRONG.values(), ids=WRONG.keys())
def test_what_is_wrong_is_said_with_its_line(text: str, line: int, message: str) -> None:
    problem = the_problem_of(text)
    assert problem.startswith(f"espalier.toml:{line}: ")
    assert message in problem


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("isolation.level", ["read_uncommitted"], ["read_committed"]),
        ("enable.auto.commit", [True, "true", 1, "T"], [False, "false", 0]),
        ("auto.commit.enable", [True], [False]),
        ("enable.idempotence", [False, "False", "0", "f"], [True, "true", 1]),
        ("acks", [0, 1, "1", True], ["all", -1, "-1"]),
        ("request.required.acks", [1], [-1]),
        ("auto.offset.reset", ["latest", "end", "largest"], ["earliest", "error"]),
        ("delivery.report.only.error", [True, False], []),
        ("enable.partition.eof", [True], []),
        ("transaction.timeout.ms", [1], [20_000, 60_000, "soon"]),
        ("enable.ssl.certificate.verification", [False], [True]),
        ("transactional.id", ["x"], []),
        ("group.id", ["x"], []),
        ("bootstrap.servers", ["x:1"], []),
        ("metadata.broker.list", ["x:1"], []),
    ],
)
def test_a_property_that_would_break_a_promise_is_refused(
    name: str, wrong: list[object], right: list[object]
) -> None:
    def text(value: object) -> str:
        return f'{SMALLEST}[kafka.properties]\n"{name}" = {msgspec.json.encode(value).decode()}'

    for value in wrong:
        problem = the_problem_of(text(value))
        assert problem.startswith("espalier.toml:5: kafka: properties: ")
        assert f'"{name}" ' in problem
    for value in right:
        assert read_text(text(value)).config.kafka.properties[name] == value


@pytest.mark.parametrize(
    "name", ["session.timeout.ms", "heartbeat.interval.ms", "partition.assignment.strategy"]
)
def test_what_the_broker_decides_with_the_newer_protocol_is_refused(name: str) -> None:
    both = f'{SMALLEST}[kafka.properties]\n"{name}" = "2000"\n"group.protocol" = '
    assert f'"{name}" cannot be set with' in the_problem_of(both + '"consumer"')
    assert read_text(both + '"classic"').config.kafka.properties[name] == "2000"


def test_a_missing_file_is_said_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(
        ConfigError, match=r"there is no such file\. Write one \(`espalier config docs` shows"
    ):
        load(tmp_path / "espalier.toml", {})
    shown = CliRunner().invoke(espalier, ["config", "docs"]).output
    (tmp_path / "espalier.toml").write_text(shown.partition("```toml\n")[2].partition("```")[0])
    assert load(tmp_path / "espalier.toml", {}).agents


def test_a_file_that_cannot_be_read_is_no_crash(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read the file: Is a directory"):
        load(tmp_path, {})
    (tmp_path / "binary.toml").write_bytes(b"# one\n# \xff")
    with pytest.raises(ConfigError, match=r"binary.toml:2: the file is not UTF-8 text"):
        load(tmp_path / "binary.toml", {})


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('[[agent]]\nname = "a\ninput = "b"', "espalier.toml:2: not valid TOML: illegal character"),
        ("a = 1\n\n[a]\n", "espalier.toml:3: not valid TOML: cannot"),
        ('a = 1\nb = """\n\n', "espalier.toml:2: not valid TOML: "),
        ("a = " + "9" * 5000, "espalier.toml: not valid TOML: "),
        ("a = " + "[" * 200_000, "espalier.toml: lists or tables are nested too deeply"),
    ],
)
def test_what_is_no_toml_is_said_with_the_parsers_line(text: str, place: str) -> None:
    assert the_problem_of(text).startswith(place)


def test_all_errors_are_reported_at_once_in_the_order_of_the_file_the_environment_last() -> None:
    text = """\
engin = "confluent"
[kafka]
bootstrap_servers = "a:99999"
[kafka.properties]
group.id = "x"
[metrics]
port = "abc"
[[agent]]
name = "loans"
input = "applications"
scope = "topics"
[agent.options]
signifcance = 0.1
window = 0
[agent.schema]
classes = ["a", "a"]
attributes = { class = {}, k = { values = ["b", "b"] } }
[[agent]]
name = "loans"
learner = "id5"
[[agent]]
input = "x y"
"""
    environ = {"ESPALIER_BATCH_MAX_BATCH": "many", "ESPALIER_METRIC_PORT": "1"}
    assert [problem.split(": ")[0] for problem in problems_of(text, environ)] == [
        *(f"espalier.toml:{line}" for line in (1, 3, 5, 7, 11, 13, 14, 16, 17, 17, 18, 19, 20, 21, 22)),
        "ESPALIER_BATCH_MAX_BATCH",
        "ESPALIER_METRIC_PORT",
    ]


def test_what_rests_on_a_wrong_value_is_not_blamed_as_well() -> None:
    assert "label" in the_problem_of(after_agent("label = 5\nschema.attributes.class = {}"))
    classes = [str(number) for number in range(300)]
    assert '"max_classes" must be' in the_problem_of(
        after_agent(f'schema.classes = {classes}\n[limits]\nmax_classes = "one"')
    )
    assert "name" in the_problem_of('[[agent]]\nname = 5\ninput = "a"\n' + SMALLEST)
