"""Which versions of Faust work, and how our settings become those of Faust."""

import ssl
import subprocess
import sys
from importlib.metadata import version
from typing import Any

import pytest
from faust.auth import SASLCredentials, SSLCredentials

from stream.config import Agent, Config, Kafka, Properties
from stream.errors import EngineError
from stream.faust.settings import app_settings, kafka_of
from stream.faust.versions import KNOWN, check_versions
from tests.architecture.documents import table
from tests.paths import REPOSITORY
from tests.stream.faust.applications import DOCUMENT, app_named

# ---- versions


@pytest.mark.parametrize("name", KNOWN)
def test_a_version_that_is_known_not_to_work_is_refused_by_name_with_one_that_does(name: str) -> None:
    with pytest.raises(EngineError) as caught:
        check_versions(lambda asked: {"faust": None, name: "0.4.1"}.get(asked, "99.0.0"))
    said = str(caught.value)
    assert f'"{name}" 0.4.1 does not work' in said
    assert f"pip install {name}=={KNOWN[name].tested}" in said
    assert not any(other in said for other in KNOWN if other != name)


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(EngineError) as caught:
        check_versions({"faust": "1.10.4"}.get)
    assert all(name in str(caught.value) for name in ("pip uninstall faust", "cramjam", *KNOWN))


def test_a_version_is_compared_by_its_numbers() -> None:
    check_versions(lambda name: None if name == "faust" else "0.100.0rc1")


def test_what_is_called_tested_is_what_is_tested_and_what_the_document_says() -> None:
    check_versions()
    assert {name: version(name) for name in KNOWN} == {name: known.tested for name, known in KNOWN.items()}
    rows = table(DOCUMENT, "package", "works from", "tested")
    assert rows == [[f"`{name}`", known.first, known.tested] for name, known in KNOWN.items()]


def test_who_does_not_use_faust_does_not_import_it() -> None:
    code = "import sys, stream.cli.main, stream.worker; sys.exit('faust' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, check=False).returncode == 0


# ---- settings


def settings_with(**properties: str) -> dict[str, Any]:
    told = {name.replace("_", "."): value for name, value in properties.items()}
    kafka = Kafka("one:1,SASL_SSL://two:2", Properties(told))
    return app_settings(Config(agents=(Agent(name="a", input="in"),), kafka=kafka))


def test_faust_finds_the_brokers_that_we_do() -> None:
    told = settings_with()
    assert told["broker"] == ["kafka://one:1", "kafka://two:2"]
    assert "broker_credentials" not in told
    app = app_named("theirs", broker=["kafka://one:1", "kafka://two"])
    assert kafka_of(app) == Kafka("one:1,two:9092")


def test_passwords_and_certificates_are_carried_over() -> None:
    plain = settings_with(
        security_protocol="sasl_plaintext",
        sasl_mechanism="SCRAM-SHA-512",
        sasl_username="u",
        sasl_password="p",
    )["broker_credentials"]
    assert isinstance(plain, SASLCredentials)
    assert (plain.username, plain.password, plain.mechanism.value) == ("u", "p", "SCRAM-SHA-512")
    assert plain.ssl_context is None
    assert isinstance(settings_with(security_protocol="SSL")["broker_credentials"], SSLCredentials)


def tls_of(settings: dict[str, Any]) -> ssl.SSLContext:
    """Return what the client of an application is given for TLS."""
    credentials = settings["broker_credentials"]
    context = credentials.context if isinstance(credentials, SSLCredentials) else credentials.ssl_context
    assert isinstance(context, ssl.SSLContext)
    return context


@pytest.mark.parametrize(
    "more", [{}, {"ssl_endpoint_identification_algorithm": "https"}], ids=["by default", "asked for"]
)
@pytest.mark.parametrize(
    "how",
    [
        {"security_protocol": "SSL"},
        {"security_protocol": "ssl"},
        {"security_protocol": "SASL_SSL", "sasl_mechanism": "PLAIN"},
    ],
)
def test_tls_checks_the_brokers_certificate_and_its_name(how: dict[str, str], more: dict[str, str]) -> None:
    context = tls_of(settings_with(**how, **more))
    assert context.verify_mode is ssl.CERT_REQUIRED
    assert context.check_hostname


def test_the_name_is_left_unchecked_only_where_that_is_asked_for() -> None:
    told = settings_with(security_protocol="SSL", ssl_endpoint_identification_algorithm="none")
    context = tls_of(told)
    assert not context.check_hostname
    assert context.verify_mode is ssl.CERT_REQUIRED


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ({"security_protocol": "SASL_SSL"}, "GSSAPI"),
        ({"security_protocol": "SSL", "ssl_key_pem": "..."}, "ssl.key.pem"),
        ({"security_protocol": "SSL", "ssl_ca_location": "/nowhere"}, "certificates"),
    ],
)
def test_what_cannot_be_carried_over_is_said(properties: dict[str, str], said: str) -> None:
    with pytest.raises(EngineError, match=said):
        settings_with(**properties)


def test_credentials_that_only_faust_knows_must_be_given_to_us_as_well() -> None:
    app = app_named("theirs", broker_credentials=SASLCredentials(username="u", password="p"))
    with pytest.raises(EngineError, match=r"kafka\.properties"):
        kafka_of(app)
