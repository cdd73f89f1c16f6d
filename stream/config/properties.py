"""Properties of the Kafka client: which are secret, and which would break what Espalier promises."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from types import MappingProxyType
from typing import NamedTuple

from stream.config.messages import quoted
from stream.config.timeouts import PropertyValue, contradictions

HIDDEN = "***"
"""What is shown in the place of a secret."""

_SECRETS = (
    "*password*",
    "*passphrase*",
    "*secret*",
    "*token*",
    "*.key.pem",
    "sasl.oauthbearer.config",
)
_NOT_SECRET = ("*.url", "*.location")

ENDING_IN_FILE = (
    "sasl.oauthbearer.assertion.file",
    "sasl.oauthbearer.assertion.jwt.template.file",
    "sasl.oauthbearer.assertion.private.key.file",
)
"""The properties whose own name ends like that of a variable which names a file."""


class Rule(NamedTuple):
    """The values a property may have, none where it may not be set at all, and why."""

    allowed: tuple[str, ...]
    reason: str


_COMMITTED = "offsets are committed in the transaction of the outputs and in no other way"
_DURABLE = "a transaction counts only when every replica in sync has it"
_WORKERS_OWN = "the worker sets it as it needs it"
_NO_GAPS = "records that are there already would be skipped without a trace"

RULES: Mapping[str, Rule] = MappingProxyType(
    {
        "acks": Rule(("all", "-1"), _DURABLE),
        "request.required.acks": Rule(("all", "-1"), _DURABLE),
        "auto.commit.enable": Rule(("false",), _COMMITTED),
        "auto.offset.reset": Rule(("earliest", "beginning", "smallest", "error"), _NO_GAPS),
        "bootstrap.servers": Rule((), 'it is given by "bootstrap_servers" in [kafka]'),
        "metadata.broker.list": Rule((), 'it is given by "bootstrap_servers" in [kafka]'),
        "delivery.report.only.error": Rule((), _WORKERS_OWN),
        "enable.auto.commit": Rule(("false",), _COMMITTED),
        "enable.idempotence": Rule(("true",), "a message that is sent again would be written twice"),
        "enable.partition.eof": Rule((), _WORKERS_OWN),
        "enable.ssl.certificate.verification": Rule(
            ("true",), 'anybody could pose as the broker; trust its certificate with "ssl.ca.location"'
        ),
        "group.id": Rule((), 'every agent has a group of its own; it is given by "group" in [[agent]]'),
        "isolation.level": Rule(("read_committed",), "aborted records would be learned from"),
        "transactional.id": Rule(
            (), "the worker makes it from the agent's name, so that it can fence others"
        ),
    }
)
"""The properties that are not free, because a promise or another setting depends on them."""


_BROKERS_OWN = (
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "partition.assignment.strategy",
    "group.protocol.type",
)
"""What a member of a group cannot say about itself with the protocol of KIP-848."""


class Properties(Mapping[str, PropertyValue]):
    """The properties of a client, by name. They do not change, and do not show their secrets."""

    def __init__(self, values: Mapping[str, PropertyValue] = MappingProxyType({})) -> None:
        self._values = dict(values)

    def __getitem__(self, name: str) -> PropertyValue:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Properties({self.shown()!r})"

    def shown(self) -> dict[str, PropertyValue]:
        """Return the properties with their secrets hidden."""
        return {name: HIDDEN if is_secret(name) else value for name, value in self.items()}


def is_secret(name: str) -> bool:
    """Return whether the value of a property must not be seen.

    >>> [is_secret(name) for name in ("sasl.password", "sasl.username", "ssl.key.location")]
    [True, False, False]
    """
    name = name.lower()
    return any(fnmatchcase(name, secret) for secret in _SECRETS) and not any(
        fnmatchcase(name, open_) for open_ in _NOT_SECRET
    )


def text_of(value: PropertyValue) -> str:
    """Return a value as librdkafka reads it.

    >>> [text_of(value) for value in (True, 5, "all")]
    ['true', '5', 'all']
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def objections(properties: Mapping[str, PropertyValue]) -> Iterator[tuple[str, str]]:
    """Yield the name of every property that is not allowed as it is, and what is wrong with it."""
    for name, value in properties.items():
        rule = RULES.get(name)
        if rule is None or not {text_of(value).lower(), _spelled_out(value)}.isdisjoint(rule.allowed):
            continue
        if rule.allowed:
            choice = " or ".join(f'"{allowed}"' for allowed in rule.allowed)
            yield name, f'"{name}" must be {choice}, not {quoted(text_of(value))}: {rule.reason}'
        else:
            yield name, f'"{name}" cannot be set here: {rule.reason}'
    yield from contradictions(properties)
    if properties.get("group.protocol") == "consumer":
        for name in _BROKERS_OWN:
            if name in properties:
                yield name, f'"{name}" cannot be set with "group.protocol" "consumer": the broker decides it'


def _spelled_out(value: PropertyValue) -> str | None:
    """Return the word for the other ways in which librdkafka takes a yes or a no."""
    return {"1": "true", "t": "true", "0": "false", "f": "false"}.get(text_of(value).lower())
