"""`espalier config`: check says what is wrong, show what is in effect, docs what there is."""

import json
import tomllib
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result

from learners.registry import LEARNERS
from stream.cli.config import config
from stream.config import Config, parse
from stream.config.docs import reference
from stream.config.effective import as_toml, rows
from stream.config.environment import variables
from stream.config.messages import field_docs
from tests.paths import REPOSITORY
from tests.stream.config.samples import FAKES, FULL, SMALLEST, read_text

CHOSEN = SMALLEST + 'learner = "id3"\n'


def run(*arguments: str, environ: dict[str, str] | None = None) -> Result:
    return CliRunner().invoke(config, arguments, env=environ)


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An `espalier.toml` in the working directory."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "espalier.toml"
    path.write_text(CHOSEN)
    return path


# ---- check


def test_check_says_ok_and_which_agents_there_are(file: Path) -> None:
    file.write_text(f'{CHOSEN}[[agent]]\nname = "b"\ninput = "applications"\nlearner = "id4"')
    result = run("check")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == "ok: 2 agents (loans, b) on 1 topic (applications)\n"


def test_check_lists_every_error_and_ends_with_78(file: Path) -> None:
    file.write_text(f"{CHOSEN}lable = 'x'\n[metrics]\nport = -1")
    result = run("check", environ={"ESPALIER_INSTANZ": "a"})
    assert (result.exit_code, result.stdout) == (78, "")
    first, second, third = result.stderr.splitlines()
    assert first.startswith('espalier.toml:5: agent "loans": unknown setting "lable". Did you mean "label"?')
    assert second.startswith('espalier.toml:7: metrics: "port" must be')
    assert third.startswith("ESPALIER_INSTANZ: ")
    assert "ESPALIER_INSTANCE" in third


def test_another_file_can_be_named_and_must_be_there(file: Path) -> None:
    file.rename(file.with_name("other.toml"))
    assert run("check", "-c", "other.toml").exit_code == 0
    for command in ("check", "show"):
        result = run(command)
        assert result.exit_code == 78
        assert result.stderr.startswith("espalier.toml: there is no such file.")


# ---- show


def test_show_has_every_setting_with_its_value_and_source(file: Path) -> None:
    file.write_text(f'{CHOSEN}[metrics]\nhost = "0.0.0.0"')
    result = run("show", "--json", environ={"ESPALIER_METRICS_PORT": "81"})
    shown = {row["setting"]: (row["value"], row["source"]) for row in json.loads(result.stdout)}
    assert shown["metrics.enabled"] == (True, "default")
    assert shown["metrics.host"] == ("0.0.0.0", "espalier.toml:6")
    assert shown["metrics.port"] == (81, "ESPALIER_METRICS_PORT")
    assert shown["agent.0.name"] == ("loans", "espalier.toml:2")
    assert shown["agent.0.topics.journal"] == ("loans.journal", "default")
    assert shown["agent.0.options.significance"] == (None, "default")
    assert shown["instance"] == (None, "default")
    assert {".".join(map(str, path)) for path in variables().values()} < set(shown)


def test_show_prints_toml_with_the_source_beside_each_setting(file: Path) -> None:
    shown = run("show", "-c", file.name, environ={"ESPALIER_METRICS_PORT": "81"}).stdout
    assert tomllib.loads(shown)["metrics"] == {"enabled": True, "host": "127.0.0.1", "port": 81}
    lines = [line.split() for line in shown.splitlines()]
    assert ["port", "=", "81", "#", "ESPALIER_METRICS_PORT"] in lines
    assert ["learner", "=", '"id3"', "#", "espalier.toml:4"] in lines
    assert ["label", "=", '"class"', "#", "default"] in lines


def test_what_show_prints_is_the_same_configuration_again() -> None:
    odd = (
        '[kafka.properties]\nclient.id = "\\u007f \\" \\\\ ü 🌳"\n[agent.schema.attributes]\n"a b\\n" = {}\n'
    )
    for text in (SMALLEST, FULL, SMALLEST + odd):
        loaded = read_text(text)
        again = read_text(as_toml(rows(loaded)))
        assert again.config == loaded.config


def test_an_attribute_is_shown_with_the_line_of_its_key() -> None:
    sources = {row.path: row.source for row in rows(read_text(FULL))}
    line = FULL[: FULL.index("housing =")].count("\n") + 1
    assert sources["agent", 0, "schema", "attributes", 1, "values"] == f"espalier.toml:{line}"
    assert sources["agent", 0, "schema", "attributes", 1, "type"] == "default"


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_show_hides_secrets_wherever_they_come_from(file: Path, form: list[str]) -> None:
    file.write_text(f'{CHOSEN}[kafka.properties]\nssl.key.pem = "canary"\nsasl.username = "me"')
    file.with_name("secret").write_text("canary")
    environ = {
        "ESPALIER_KAFKA_PROPERTIES_SASL_PASSWORD": "canary",
        "ESPALIER_KAFKA_PROPERTIES_SSL_KEY_PASSWORD_FILE": "secret",
    }
    shown = run("show", *form, environ=environ).stdout
    assert "canary" not in shown
    assert shown.count("***") == 3
    assert "ESPALIER_KAFKA_PROPERTIES_SASL_PASSWORD" in shown
    assert '"me"' in shown


# ---- docs


def test_the_reference_in_the_repository_is_what_the_command_prints() -> None:
    written = (REPOSITORY / "docs" / "configuration.md").read_text(encoding="utf-8")
    assert written == run("docs").stdout, "run `espalier config docs > docs/configuration.md`"


def test_the_reference_names_every_setting_and_variable() -> None:
    text = reference(FAKES)
    for variable in variables():
        assert f"`{variable}`" in text
    for row in rows(read_text(FULL)):
        name = row.path[-1]
        assert f"| `{name}` |" in text or row.path[:2] == ("kafka", "properties"), row.path


def test_every_setting_is_described() -> None:
    for learner in LEARNERS.values():
        for field in msgspec.structs.fields(learner.options_type):
            assert field_docs(learner.options_type).get(field.name), (learner.name, field.name)
    for field in msgspec.structs.fields(Config):
        assert field_docs(Config).get(field.name), field.name


def test_the_examples_in_the_reference_can_be_used() -> None:
    smallest, schema = (part.split("```")[0] for part in reference(FAKES).split("```toml\n")[1:])
    assert parse(smallest + schema, environ={}, registry=FAKES).config.agents[0].schema.classes == (
        "yes",
        "no",
    )
    assert tomllib.loads(smallest)


# ---- help


@pytest.mark.parametrize("command", [[], ["check"], ["show"], ["docs"]])
def test_help_has_examples_on_lines_of_their_own(command: list[str]) -> None:
    help_text = run(*command, "--help").stdout
    assert "Example" in help_text
    assert any(line.strip().startswith("espalier config") for line in help_text.splitlines())
