"""Between our settings and Faust's: where the broker is, and how one proves who one is."""

import ssl
from typing import Any

import faust
from faust.auth import SASLCredentials, SSLCredentials

from stream.config import Config, Kafka, Properties
from stream.errors import EngineError

_PASSWORDS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_OF_LIBRDKAFKA_ALONE = ("ssl.certificate.pem", "ssl.key.pem", "ssl.keystore.location", "ssl.engine.location")
_SAY_IT = "Give Faust its own: espalier_app(config, broker_credentials=...)"


def app_id(config: Config) -> str:
    """Return the id of the application that runs a configuration: also the name of Faust's own group."""
    return f"{config.agents[0].group}.faust"


def app_settings(config: Config) -> dict[str, Any]:
    """Return the settings of an application of ours.

    Faust's web server is where the metrics would be, on its own port, and open to no more than they are.
    """
    servers = [server.strip().rpartition("//")[2] for server in config.kafka.bootstrap_servers.split(",")]
    told: dict[str, Any] = {
        "broker": [f"kafka://{server}" for server in servers],
        "web_enabled": config.metrics.enabled,
        "web_bind": config.metrics.host,
    }
    credentials = _credentials(config.kafka.properties)
    if credentials is not None:
        told["broker_credentials"] = credentials
    return told


def default_web_port() -> int:
    """Return the port of Faust's web server where nothing else is said: WEB_PORT, or Faust's own default."""
    return int(faust.Settings("espalier").web_port)


def kafka_of(app: faust.App) -> Kafka:
    """Return the cluster that somebody's application talks to.

    Raises:
        EngineError: It proves who it is, in a way that cannot be carried over.
    """
    if app.conf.broker_credentials is not None:
        raise EngineError(
            "the application talks to its broker with credentials, which only Faust's client understands. "
            "Give ours as well: attach(app, agent, config) with [kafka.properties] in the configuration"
        )
    return Kafka(",".join(f"{url.host or '127.0.0.1'}:{url.port or 9092}" for url in app.conf.broker))


def _credentials(properties: Properties) -> SASLCredentials | SSLCredentials | None:
    """Return how Faust's client proves who it is, from what librdkafka is told.

    Raises:
        EngineError: It is told something that Faust's client has no word for.
    """
    protocol = str(properties.get("security.protocol", "plaintext")).upper()
    if protocol == "PLAINTEXT":
        return None
    context = _tls(properties) if protocol.endswith("SSL") else None
    if protocol == "SSL":
        return SSLCredentials(context)
    names = ("sasl.mechanism", "sasl.mechanisms")
    mechanism = next((str(properties[name]).upper() for name in names if name in properties), "GSSAPI")
    if mechanism not in _PASSWORDS:
        raise EngineError(f'"{mechanism}" cannot be carried over from [kafka.properties] to Faust. {_SAY_IT}')
    return SASLCredentials(
        username=str(properties.get("sasl.username", "")),
        password=str(properties.get("sasl.password", "")),
        ssl_context=context,
        mechanism=mechanism,
    )


def _tls(properties: Properties) -> ssl.SSLContext:
    strange = [name for name in _OF_LIBRDKAFKA_ALONE if name in properties]
    if strange:
        raise EngineError(f'"{strange[0]}" cannot be carried over to Faust. {_SAY_IT}')

    def text(name: str) -> str | None:
        return str(properties[name]) if name in properties else None

    try:
        context = ssl.create_default_context(cafile=text("ssl.ca.location"), cadata=text("ssl.ca.pem"))
        certificate = text("ssl.certificate.location")
        if certificate is not None:
            context.load_cert_chain(certificate, text("ssl.key.location"), text("ssl.key.password"))
    except (OSError, ssl.SSLError) as error:
        raise EngineError(f"the certificates in [kafka.properties] cannot be used: {error}") from error
    context.check_hostname = text("ssl.endpoint.identification.algorithm") != "none"
    return context
