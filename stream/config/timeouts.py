"""Every timeout of the Kafka engine, computed from a few: the client's properties and one request.

The properties are those of librdkafka, in milliseconds; what is derived from them is in seconds. A property
that the user does not set follows those that are set, so that one of them can be changed alone.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

PropertyValue = str | int | float | bool

REQUEST_SECONDS = 15.0
"""How long one request to a broker may take, with all its retries. librdkafka's own limit is minutes."""

LINGER_MS = 5
"""`linger.ms`: how long a producer waits for more messages before it sends some."""

_COMMIT_SECONDS = 10.0
_MESSAGE_MS = 15_000
_HEARTBEAT_MS = 2_000
_MAX_POLL_MS = 300_000
_LEAST_TRANSACTION_MS = 1_000
_SOCKET_MARGIN_MS = 100
"""How much longer than the transaction librdkafka lets a transactional producer's request take."""

_ALIASES = {"message.timeout.ms": "delivery.timeout.ms", "linger.ms": "queue.buffering.max.ms"}
"""Properties that have two names in librdkafka. The second wins where both are set."""
_NUMBER = re.compile(r"\s*([0-9]{1,12})(?:\.[0-9]*)?\s*")


@dataclass(frozen=True)
class Timeouts:
    """The timeouts of one cluster's clients, and what follows from them."""

    transaction_ms: int = 15_000
    """`transaction.timeout.ms`: the broker aborts a transaction that is open for longer."""
    message_ms: int = _MESSAGE_MS
    """`message.timeout.ms`: at most `transaction_ms`; 0: no limit."""
    session_ms: int = 6_000
    """`session.timeout.ms`: how soon a dead worker is noticed. Brokers allow no less than 6 s by default."""
    heartbeat_ms: int = _HEARTBEAT_MS
    """`heartbeat.interval.ms`: below `session_ms`."""
    max_poll_ms: int = _MAX_POLL_MS
    """`max.poll.interval.ms`: how long a worker may go without polling before it loses its partitions."""

    @classmethod
    def of(cls, properties: Mapping[str, PropertyValue]) -> "Timeouts":
        """Return the timeouts that the properties of a client lead to."""
        transaction = _of(properties, "transaction.timeout.ms", cls.transaction_ms)
        session = _of(properties, "session.timeout.ms", cls.session_ms)
        return cls(
            transaction,
            _of(properties, "message.timeout.ms", min(_MESSAGE_MS, transaction)),
            session,
            _of(properties, "heartbeat.interval.ms", min(_HEARTBEAT_MS, session // 3)),
            _of(
                properties,
                "max.poll.interval.ms",
                max(_MAX_POLL_MS, session, cls(transaction).least_max_poll_ms),
            ),
        )

    @property
    def commit_seconds(self) -> float:
        """One attempt to commit: shorter than the transaction, so that an attempt can be repeated in it."""
        return min(_COMMIT_SECONDS, self.transaction_ms / 1_500)

    @property
    def insist_seconds(self) -> float:
        """All attempts of one call of a commit together; the offsets and the commit are one call each."""
        return 2 * self.commit_seconds

    @property
    def settle_seconds(self) -> float:
        """A whole commit. A client that has not returned by then never will."""
        return 2 * self.insist_seconds + self.commit_seconds

    @property
    def open_transaction_seconds(self) -> float:
        """How long a transaction can stay open after its producer has died.

        The broker looks for transactions that have timed out every ten seconds by default
        (`transaction.abort.timed.out.transaction.cleanup.interval.ms`), and then writes markers.
        """
        return self.transaction_ms / 1_000 + 2 * REQUEST_SECONDS

    @property
    def least_max_poll_ms(self) -> int:
        """What a worker may wait for between two polls: a commit, or somebody's open transaction."""
        return round(1_000 * max(self.settle_seconds, self.open_transaction_seconds))

    @property
    def init_seconds(self) -> float:
        """`init_transactions`, which aborts what the producer before it has left open."""
        return 2 * REQUEST_SECONDS

    @property
    def read_seconds(self) -> float:
        """How long a reader waits for the next record before the end of a partition."""
        return 2 * REQUEST_SECONDS

    @property
    def marker_seconds(self) -> float:
        """How long a restore waits for journal and committed offsets to agree, once both can be read.

        The broker writes the markers of a decided transaction to one partition after another.
        """
        return 2 * REQUEST_SECONDS

    @property
    def leave_seconds(self) -> float:
        """How long leaving a group may take. The broker removes a member that is slower by its session."""
        return REQUEST_SECONDS / 5

    @property
    def sender_ms(self) -> int:
        """`message.timeout.ms` of a producer without transactions."""
        return max(self.message_ms, round(2_000 * REQUEST_SECONDS))


def contradictions(properties: Mapping[str, PropertyValue]) -> Iterator[tuple[str, str]]:
    """Yield the timeouts that contradict others: the property to blame, and what is wrong."""
    for first, second in _ALIASES.items():
        one, other = _milliseconds(properties.get(first)), _milliseconds(properties.get(second))
        if one is not None and other is not None and one != other:
            yield second, f'"{second}" is another name of "{first}": {other} and {one}. Remove one'
    timeouts = Timeouts.of(properties)
    if timeouts.transaction_ms < _LEAST_TRANSACTION_MS:
        yield (
            "transaction.timeout.ms",
            f'"transaction.timeout.ms" is {timeouts.transaction_ms}. '
            f"Set it to at least {_LEAST_TRANSACTION_MS}",
        )
        return
    pairs = [
        _Pair("message.timeout.ms", timeouts.message_ms, "transaction.timeout.ms", timeouts.transaction_ms),
        _Pair(
            "socket.timeout.ms",
            _of(properties, "socket.timeout.ms", 0),
            "transaction.timeout.ms",
            timeouts.transaction_ms,
            _SOCKET_MARGIN_MS,
        ),
    ]
    if timeouts.message_ms:
        linger = _of(properties, "linger.ms", LINGER_MS)
        pairs.append(_Pair("linger.ms", linger, "message.timeout.ms", timeouts.message_ms, -1))
    if properties.get("group.protocol") != "consumer":
        session = "session.timeout.ms"
        pairs += [
            _Pair("heartbeat.interval.ms", timeouts.heartbeat_ms, session, timeouts.session_ms, -1),
            _Pair(session, timeouts.session_ms, "max.poll.interval.ms", timeouts.max_poll_ms),
        ]
    for pair in pairs:
        yield from pair.objections(properties)
    if timeouts.max_poll_ms < timeouts.least_max_poll_ms:
        yield (
            "max.poll.interval.ms",
            f'"max.poll.interval.ms" is {timeouts.max_poll_ms}, but between two polls a worker may wait '
            f"{timeouts.least_max_poll_ms} ms for a commit or an open transaction, because "
            f"{_stated(properties, 'transaction.timeout.ms', timeouts.transaction_ms)}. "
            f'Set "max.poll.interval.ms" to at least {timeouts.least_max_poll_ms}',
        )


@dataclass(frozen=True)
class _Pair:
    """Two properties of which the first must not exceed the second by more than a margin."""

    shorter: str
    short_ms: int
    longer: str
    long_ms: int
    margin_ms: int = 0

    def objections(self, properties: Mapping[str, PropertyValue]) -> Iterator[tuple[str, str]]:
        if self.short_ms <= self.long_ms + self.margin_ms:
            return
        shorter, longer = _spelled(properties, self.shorter), _spelled(properties, self.longer)
        yield (
            shorter if shorter in properties else longer,
            f"{_stated(properties, self.shorter, self.short_ms)}, but "
            f"{_stated(properties, self.longer, self.long_ms)}. "
            f'Set "{shorter}" to at most {max(0, self.long_ms + self.margin_ms)}, or "{longer}" to at least '
            f"{self.short_ms - self.margin_ms}",
        )


def _spelled(properties: Mapping[str, PropertyValue], name: str) -> str:
    """Return the name under which a property is set, or its first."""
    alias = _ALIASES.get(name)
    return alias if alias is not None and alias in properties else name


def _stated(properties: Mapping[str, PropertyValue], name: str, milliseconds: int) -> str:
    spelled = _spelled(properties, name)
    default = "" if _milliseconds(properties.get(spelled)) is not None else " (the default)"
    return f'"{spelled}" is {milliseconds}{default}'


def _of(properties: Mapping[str, PropertyValue], name: str, default: int) -> int:
    milliseconds = _milliseconds(properties.get(_spelled(properties, name)))
    return default if milliseconds is None else milliseconds


def _milliseconds(value: PropertyValue | None) -> int | None:
    """Return a number as librdkafka reads it; None: it is none, which the client refuses itself."""
    if value is None or isinstance(value, bool):
        return None
    match = _NUMBER.fullmatch(str(value))
    return None if match is None else int(match[1])
