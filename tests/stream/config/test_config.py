"""A configuration is read as it is meant, from the file and from the environment; its secrets stay secret."""

from pathlib import Path

import msgspec
import pytest

from learners.registry import LEARNERS
from learners.schema import Attribute, AttributeType
from stream.config import Agent, Properties, Scope, parse, read
from stream.config.environment import RESERVED, variables
from tests.stream.config.samples import (
    FAKES,
    FULL,
    SMALLEST,
    FakeOptions,
    problems_of,
    read_text,
    the_problem_of,
)

# ---- what is read


def test_the_smallest_file_leaves_every_setting_at_its_default() -> None:
    config = read_text(SMALLEST).config
    assert config.kafka.bootstrap_servers == "127.0.0.1:9092"
    assert dict(config.kafka.properties) == {}
    assert (config.engine, config.instance) == ("confluent", None)
    assert (config.batch.max_batch, config.batch.linger_ms) == (2000, 5)
    assert (config.metrics.enabled, config.metrics.host, config.metrics.port) == (True, "127.0.0.1", 9464)
    assert (config.limits.max_attributes, config.limits.max_values_per_attribute) == (1000, 1024)
    assert (config.limits.max_classes, config.limits.max_text) == (256, 1024)
    assert (config.limits.max_record_bytes, config.limits.max_depth) == (262_144, 32)
    (agent,) = config.agents
    assert (agent.learner, agent.label, agent.id, agent.scope) == ("id5r", "class", "id", Scope.TOPIC)
    assert (agent.group, agent.options, agent.schema.attributes) == ("loans", FakeOptions(), ())


def test_topics_follow_from_the_input_and_state_from_the_name_in_a_file_and_in_code() -> None:
    for agent in (read_text(SMALLEST).config.agents[0], Agent(name="loans", input="applications")):
        assert agent.topics.predictions == "applications.predictions"
        assert agent.topics.tree_changes == "applications.tree-changes"
        assert agent.topics.dead_letters == "applications.dead-letters"
        assert agent.topics.journal == "loans.journal"
        assert agent.topics.snapshots == "loans.snapshots"


def test_a_full_file_is_read_as_it_is_written() -> None:
    config = read_text(FULL).config
    assert config.instance == "worker-1"
    assert config.kafka.bootstrap_servers == "kafka-1:9092, kafka-2:9092"
    assert dict(config.kafka.properties) == {
        "security.protocol": "sasl_ssl",
        "sasl.username": "espalier",
        "socket.keepalive.enable": True,
        "fetch.min.bytes": 1,
    }
    assert (config.batch.max_batch, config.batch.linger_ms) == (500, 0)
    assert (config.limits.max_classes, config.limits.max_text) == (8, 1024)
    assert (config.metrics.port, config.metrics.enabled) == (9500, False)
    loans, nt = config.agents
    assert (loans.label, loans.id, loans.scope, loans.group) == (
        "granted",
        "number",
        "partition",
        "loans-group",
    )
    assert (loans.topics.predictions, loans.topics.journal) == ("answers", "loans-journal")
    assert loans.topics.snapshots == "loans.snapshots"
    assert loans.options == FakeOptions(significance=0.01, window=9, depth=None)
    assert loans.schema.attributes == (
        Attribute("income", AttributeType.NUMERIC),
        Attribute("housing", values=("own", "rent"), open=False),
    )
    assert (loans.schema.classes, loans.schema.open_classes) == (("yes", "no"), False)
    assert nt.schema.attributes == (Attribute("housing"),)


def test_attributes_mean_the_same_as_an_array_and_as_a_table() -> None:
    by_name = '[agent.schema.attributes]\nb = { type = "numeric" }\na = { values = ["x"] }\n'
    in_array = (
        '[[agent.schema.attributes]]\nname = "b"\ntype = "numeric"\n'
        '[[agent.schema.attributes]]\nname = "a"\nvalues = ["x"]\n'
    )
    assert (
        read_text(SMALLEST + by_name).config.agents[0].schema
        == read_text(SMALLEST + in_array).config.agents[0].schema
    )


def test_agents_on_one_input_share_the_output_topics() -> None:
    first, second = read_text(SMALLEST + '[[agent]]\nname = "b"\ninput = "applications"').config.agents
    assert first.topics.predictions == second.topics.predictions
    assert first.topics.journal != second.topics.journal


def test_a_configuration_does_not_change() -> None:
    config = read_text(SMALLEST).config
    with pytest.raises(AttributeError):
        config.instance = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        config.kafka.properties["acks"] = "0"  # type: ignore[index]
    values = {"client.id": "a"}
    properties = Properties(values)
    values["client.id"] = "b"
    assert properties["client.id"] == "a"


@pytest.mark.parametrize("learner", sorted(LEARNERS))
def test_every_learner_of_this_installation_can_be_chosen(learner: str) -> None:
    loaded = parse(SMALLEST + f'learner = "{learner}"', environ={})
    assert type(loaded.config.agents[0].options) is LEARNERS[learner].options_type


def test_a_file_with_a_byte_order_mark_and_dos_line_ends_is_read(tmp_path: Path) -> None:
    file = tmp_path / "espalier.toml"
    file.write_bytes(b"\xef\xbb\xbf" + SMALLEST.replace("\n", "\r\n").encode())
    assert read(file, {}, FAKES).config == read_text(SMALLEST).config


# ---- the environment


def test_the_environment_goes_before_the_file_and_only_what_is_passed_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("ESPALIER_METRICS_PORT", "1")
    environ = {"ESPALIER_METRICS_PORT": "9999", "ESPALIER_METRICS_ENABLED": "true", "PATH": "x"}
    assert read_text(FULL, environ).config.metrics.port == 9999
    assert read_text(FULL, environ).config.metrics.enabled is True
    assert read_text(FULL).config.metrics.port == 9500


@pytest.mark.parametrize(("variable", "path"), sorted(variables().items()))
def test_every_setting_outside_the_agents_has_a_variable(variable: str, path: tuple[str, ...]) -> None:
    texts = {"port": "81", "enabled": "false", "host": "0.0.0.0", "bootstrap_servers": "b:1"}
    texts |= {"engine": "confluent", "instance": "me"}
    texts |= {"page": "false", "token": "a-token-of-enough-letters", "level": "debug", "format": "json"}
    texts |= {"max_batch_bytes": "2048", "snapshot_seconds": "7.5", "trim_journal": "true"}
    if path[0] == "http":
        texts["host"] = "127.0.0.2"
    loaded = read_text(SMALLEST, {variable: texts.get(path[-1], "77")})
    value: object = loaded.config
    for name in path:
        value = getattr(value, name)
    assert str(value).lower() == texts.get(path[-1], "77")
    assert loaded.sources[path] == variable


def test_there_is_a_variable_for_each_table() -> None:
    assert {path[0] for path in variables().values()} == set(
        msgspec.structs.asdict(read_text(FULL).config)
    ) - {"agents"}


def test_a_variable_sets_a_property_of_the_client_and_goes_before_either_spelling_in_the_file() -> None:
    environ = {"ESPALIER_KAFKA_PROPERTIES_SASL_PASSWORD": "from outside"}
    for spelling in ('sasl.password = "x"', '"sasl.password" = "x"', "sasl = { password = 'x' }", ""):
        loaded = read_text(f"{SMALLEST}[kafka.properties]\n{spelling}", environ)
        assert dict(loaded.config.kafka.properties) == {"sasl.password": "from outside"}
        assert set(loaded.sources.values()) >= {"ESPALIER_KAFKA_PROPERTIES_SASL_PASSWORD"}


def test_a_variable_with_file_at_its_end_names_the_file_that_holds_the_value(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(" geheim \n")
    environ = {"ESPALIER_KAFKA_PROPERTIES_SASL_PASSWORD_FILE": str(secret)}
    assert read_text(SMALLEST, environ).config.kafka.properties["sasl.password"] == " geheim "
    number = tmp_path / "number"
    number.write_text("9999\n")
    assert read_text(SMALLEST, {"ESPALIER_METRICS_PORT_FILE": str(number)}).config.metrics.port == 9999


def test_a_property_whose_own_name_ends_in_file_is_not_read_from_one() -> None:
    environ = {"ESPALIER_KAFKA_PROPERTIES_SASL_OAUTHBEARER_ASSERTION_PRIVATE_KEY_FILE": "/keys/one"}
    properties = read_text(SMALLEST, environ).config.kafka.properties
    assert dict(properties) == {"sasl.oauthbearer.assertion.private.key.file": "/keys/one"}


def test_a_file_that_a_variable_names_and_cannot_be_read_is_a_problem_of_the_variable(tmp_path: Path) -> None:
    missing = str(tmp_path / "missing")
    problem = the_problem_of(SMALLEST, {"ESPALIER_METRICS_PORT_FILE": missing})
    assert problem.startswith("ESPALIER_METRICS_PORT_FILE: cannot read the file")
    assert "No such file" in problem
    (tmp_path / "binary").write_bytes(b"\xff")
    problem = the_problem_of(SMALLEST, {"ESPALIER_METRICS_PORT_FILE": str(tmp_path / "binary")})
    assert "not UTF-8" in problem


def test_a_variable_and_its_file_cannot_both_be_given() -> None:
    environ = {"ESPALIER_METRICS_PORT": "1", "ESPALIER_METRICS_PORT_FILE": "/dev/null"}
    assert the_problem_of(SMALLEST, environ) == (
        'ESPALIER_METRICS_PORT_FILE: "ESPALIER_METRICS_PORT" is set as well. Keep one of them'
    )


def test_an_unknown_variable_is_refused_with_the_nearest_right_name() -> None:
    assert the_problem_of(SMALLEST, {"ESPALIER_METRIC_PORT": "9464"}) == (
        'ESPALIER_METRIC_PORT: no setting has this variable. Did you mean "ESPALIER_METRICS_PORT"?'
    )
    assert "espalier config docs" in the_problem_of(SMALLEST, {"ESPALIER_ZZZ": ""})
    assert "no setting" in the_problem_of(SMALLEST, {"ESPALIER_KAFKA_PROPERTIES_": "x"})


def test_a_wrong_variable_is_a_problem_of_the_variable() -> None:
    assert the_problem_of(SMALLEST, {"ESPALIER_METRICS_PORT": "http"}) == (
        'ESPALIER_METRICS_PORT: metrics: "port" must be a whole number from 0 to 65535, not "http"'
    )
    assert "aborted records" in the_problem_of(
        SMALLEST, {"ESPALIER_KAFKA_PROPERTIES_ISOLATION_LEVEL": "read_uncommitted"}
    )


def test_variables_of_the_tests_and_tools_are_not_settings() -> None:
    assert set(RESERVED) == {
        "ESPALIER_DATA",
        "ESPALIER_FAILPOINT",
        "ESPALIER_REQUIRE_BROKER",
        "ESPALIER_REQUIRE_DATA",
        "ESPALIER_REQUIRE_OBSERVE",
        "ESPALIER_REQUIRE_PEERS",
    }
    assert read_text(SMALLEST, dict.fromkeys(RESERVED, "1")).config == read_text(SMALLEST).config


def test_what_kubernetes_says_about_a_service_called_espalier_stops_nothing() -> None:
    environ = {
        "ESPALIER_SERVICE_HOST": "10.0.0.1",
        "ESPALIER_SERVICE_PORT": "9464",
        "ESPALIER_SERVICE_PORT_METRICS": "9464",
        "ESPALIER_PORT": "tcp://10.0.0.1:9464",
        "ESPALIER_METRICS_PORT": "tcp://10.0.0.1:9464",
        "ESPALIER_PORT_9464_TCP": "tcp://10.0.0.1:9464",
        "ESPALIER_PORT_9464_TCP_ADDR": "10.0.0.1",
    }
    assert read_text(SMALLEST, environ).config == read_text(SMALLEST).config


# ---- secrets


SECRETS = [
    "sasl.password",
    "sasl.oauthbearer.client.secret",
    "sasl.oauthbearer.client.credentials.client.secret",
    "sasl.oauthbearer.config",
    "sasl.oauthbearer.assertion.private.key.passphrase",
    "sasl.oauthbearer.assertion.private.key.pem",
    "ssl.key.password",
    "ssl.key.pem",
    "ssl.keystore.password",
    "my.token.of.trust",
]


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_passed_on_but_not_shown(name: str) -> None:
    config = read_text(f'{SMALLEST}[kafka.properties]\n"{name}" = "canary"').config
    assert config.kafka.properties[name] == "canary"
    for shown in (repr(config), str(config), repr(config.kafka.properties), f"{config.kafka.properties}"):
        assert "canary" not in shown
        assert "***" in shown
    assert "canary" not in repr(list(config.__rich_repr__()))


def test_what_is_no_secret_is_shown() -> None:
    text = f'{SMALLEST}[kafka.properties]\n"ssl.key.location" = "a"\n"sasl.username" = "b"'
    assert "'ssl.key.location': 'a', 'sasl.username': 'b'" in repr(read_text(text).config)


def test_an_error_does_not_show_a_secret(tmp_path: Path) -> None:
    text = f'{SMALLEST}[kafka.properties]\nsasl.password = ["canary"]\nssl.key.pem = {{ canary = [1] }}'
    file = tmp_path / "secret"
    file.write_text("canary")
    problems = "\n".join(problems_of(text, {"ESPALIER_METRICS_PORT_FILE": str(file)}))
    assert problems.count("\n") == 2
    assert "canary" not in problems.replace("ssl.key.pem.canary", "")
