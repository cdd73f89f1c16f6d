"""Commits that are retried, late or never end are noticed."""

import logging
import threading

import pytest
from confluent_kafka import KafkaError, KafkaException

from stream.config import Timeouts
from stream.errors import Abortable, Fatal
from stream.kafka import transactions
from stream.kafka.transactions import SLOW_SECONDS, EndTxnRetryDetector


def said(listener: EndTxnRetryDetector, line: str, level: int = logging.DEBUG) -> None:
    listener.handle(logging.LogRecord("rdkafka", level, "", 0, line, (), None))


def test_a_commit_that_was_tried_twice_is_noticed_in_the_clients_log() -> None:
    listener = EndTxnRetryDetector()
    said(listener, "ENDTXN [rdkafka#producer-1]: EndTxn returned NO_ERROR in state CommittingTransaction")
    said(listener, "something else that returned _TRANSPORT")
    assert not listener.seen
    said(listener, "ENDTXN: EndTxn returned _TRANSPORT in state CommittingTransaction (may retry)")
    assert "_TRANSPORT" in listener.seen


def test_a_client_that_does_not_come_back_from_a_commit_is_given_up() -> None:
    for_ever = threading.Event()

    class Stuck:
        def commit_transaction(self, seconds: float) -> None:
            for_ever.wait()

    commit = transactions._PendingCommit(
        Stuck(),  # type: ignore[arg-type]
        [],
        None,
        set(),
        lambda seconds: None,
        Timeouts(transaction_ms=15),
    )
    with pytest.raises(Fatal, match="does not come back"):
        commit.settle()
    for_ever.set()


class Late:
    """A client that uses all the time it is given, and succeeds at the last moment or not at all."""

    def __init__(self, clock: list[float], offsets_at: int) -> None:
        self.clock = clock
        self._left = offsets_at

    def _spend(self, seconds: float) -> None:
        # A little less: a clock that shows the very end must not buy another attempt.
        self.clock[0] += 0.999 * seconds
        raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "late", retriable=True))

    def send_offsets_to_transaction(self, offsets: object, group: object, seconds: float) -> None:
        self._left -= 1
        if self._left:
            self._spend(seconds)

    def commit_transaction(self, seconds: float) -> None:
        self._spend(seconds)


@pytest.mark.parametrize("offsets_at", [0, 1, 2, 3])
def test_a_commit_is_over_before_its_client_is_given_up(
    monkeypatch: pytest.MonkeyPatch, offsets_at: int
) -> None:
    """A broker that is away for a while must not look like a client that hangs."""
    clock = [0.0]
    monkeypatch.setattr("stream.kafka.transactions.time.monotonic", lambda: clock[0])
    late = Late(clock, offsets_at)
    timeouts = Timeouts()
    commit = transactions._PendingCommit(
        late,  # type: ignore[arg-type]
        [object()],  # type: ignore[list-item]
        None,
        set(),
        lambda seconds: None,
        timeouts,
    )
    with pytest.raises(Abortable, match="late"):
        commit.settle()
    assert clock[0] < timeouts.settle_seconds


def test_a_commit_that_took_much_longer_than_usual_is_suspected() -> None:
    listener = EndTxnRetryDetector()
    for _ in range(20):
        listener.took(0.01)
    assert not listener.seen
    listener.took(SLOW_SECONDS / 2)
    assert not listener.seen
    listener.took(2 * SLOW_SECONDS)
    assert "took" in listener.seen


def test_the_first_commits_are_slow_for_other_reasons() -> None:
    listener = EndTxnRetryDetector()
    for _ in range(8):
        listener.took(9.0)
    assert not listener.seen
