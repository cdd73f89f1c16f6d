"""Timeouts: what can be loaded is what the Kafka clients accept, and derived timeouts follow the user's."""

import logging

import pytest
from confluent_kafka import Consumer, Producer
from hypothesis import given, settings
from hypothesis import strategies as st

from stream.config import Kafka, Properties
from stream.config.properties import objections
from stream.config.timeouts import REQUEST_SECONDS, Timeouts
from stream.kafka.clients import client, consumer_settings, producer_settings
from stream.kafka.membership import group_settings
from stream.kafka.sender import Sender
from tests.stream.config.samples import SMALLEST, read_text, the_problem_of

SILENT = logging.Logger("silent", logging.CRITICAL)
NAMES = (
    "transaction.timeout.ms",
    "message.timeout.ms",
    "delivery.timeout.ms",
    "socket.timeout.ms",
    "linger.ms",
    "queue.buffering.max.ms",
    "session.timeout.ms",
    "heartbeat.interval.ms",
    "max.poll.interval.ms",
)


def make_clients(properties: Properties) -> None:
    """Make every kind of client that the engine and the commands make; none of them needs a broker."""
    kafka = Kafka("127.0.0.1:1", properties)
    client(Producer, {**producer_settings(kafka, "t"), "log_level": 0}, logger=SILENT)
    Sender(kafka)
    for consumer in (consumer_settings(kafka, "g"), group_settings(kafka, "g")):
        client(Consumer, {**consumer, "log_level": 0}, logger=SILENT).close()


@pytest.mark.parametrize(
    "properties",
    [
        {"transaction.timeout.ms": 20_000},
        {"transaction.timeout.ms": 4_000},
        {"transaction.timeout.ms": 60_000, "linger.ms": 40_000, "message.timeout.ms": 50_000},
        {"transaction.timeout.ms": 600_000},
        {"transaction.timeout.ms": "20000.0", "delivery.timeout.ms": 20_000},
        {"message.timeout.ms": 0},
        {"session.timeout.ms": 1_000},
        {"session.timeout.ms": 400_000},
        {"max.poll.interval.ms": 50_000},
        {"transaction.timeout.ms": 4_000, "max.poll.interval.ms": 40_000},
        {"group.protocol": "consumer", "max.poll.interval.ms": 60_000},
    ],
    ids=str,
)
def test_timeouts_that_agree_are_accepted_by_the_clients_too(
    properties: dict[str, str | int | float | bool],
) -> None:
    assert list(objections(properties)) == []
    make_clients(Properties(properties))


@settings(max_examples=40, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(NAMES),
        st.sampled_from([1, 900, 1_000, 2_000, 6_000, 10_000, 15_000, 15_001, 20_000, 60_000, 400_000]),
        max_size=3,
    )
)
def test_the_clients_accept_whatever_the_configuration_does(
    properties: dict[str, str | int | float | bool],
) -> None:
    if not list(objections(properties)):
        make_clients(Properties(properties))


@pytest.mark.parametrize(
    ("properties", "first", "second", "advice"),
    [
        (
            {"message.timeout.ms": 20_000},
            '"message.timeout.ms" is 20000',
            '"transaction.timeout.ms" is 15000 (the default)',
            'Set "message.timeout.ms" to at most 15000, or "transaction.timeout.ms" to at least 20000',
        ),
        (
            {"transaction.timeout.ms": 9_000, "delivery.timeout.ms": 9_001},
            '"delivery.timeout.ms" is 9001',
            '"transaction.timeout.ms" is 9000.',
            'Set "delivery.timeout.ms" to at most 9000',
        ),
        (
            {"transaction.timeout.ms": 9_000, "socket.timeout.ms": 60_000},
            '"socket.timeout.ms" is 60000',
            '"transaction.timeout.ms" is 9000.',
            'Set "socket.timeout.ms" to at most 9100, or "transaction.timeout.ms" to at least 59900',
        ),
        (
            {"linger.ms": 15_000},
            '"linger.ms" is 15000',
            '"message.timeout.ms" is 15000 (the default)',
            'Set "linger.ms" to at most 14999, or "message.timeout.ms" to at least 15001',
        ),
        (
            {"session.timeout.ms": 90_000, "max.poll.interval.ms": 60_000},
            '"session.timeout.ms" is 90000',
            '"max.poll.interval.ms" is 60000.',
            'Set "session.timeout.ms" to at most 60000, or "max.poll.interval.ms" to at least 90000',
        ),
        (
            {"heartbeat.interval.ms": 6_000},
            '"heartbeat.interval.ms" is 6000',
            '"session.timeout.ms" is 6000 (the default)',
            'Set "heartbeat.interval.ms" to at most 5999, or "session.timeout.ms" to at least 6001',
        ),
        (
            {"max.poll.interval.ms": 49_999},
            '"max.poll.interval.ms" is 49999',
            '"transaction.timeout.ms" is 15000 (the default)',
            'Set "max.poll.interval.ms" to at least 50000',
        ),
        (
            {"transaction.timeout.ms": 60_000, "max.poll.interval.ms": 80_000},
            '"max.poll.interval.ms" is 80000',
            '"transaction.timeout.ms" is 60000.',
            'Set "max.poll.interval.ms" to at least 90000',
        ),
    ],
)
def test_timeouts_that_contradict_each_other_are_refused_with_both_and_the_remedy(
    properties: dict[str, int], first: str, second: str, advice: str
) -> None:
    lines = "\n".join(f'"{name}" = {value}' for name, value in properties.items())
    problem = the_problem_of(f"{SMALLEST}[kafka.properties]\n{lines}")
    assert first in problem
    assert second in problem
    assert advice in problem


def test_two_names_of_one_setting_with_different_values_are_refused() -> None:
    text = f'{SMALLEST}[kafka.properties]\n"message.timeout.ms" = 5000\n"delivery.timeout.ms" = 6000'
    assert '"delivery.timeout.ms" is another name of "message.timeout.ms"' in the_problem_of(text)
    assert read_text(text.replace("6000", "5000")).config.kafka.properties["delivery.timeout.ms"] == 5_000


def test_a_session_is_no_subject_where_the_broker_decides_it() -> None:
    assert list(objections({"group.protocol": "consumer", "max.poll.interval.ms": 60_000})) == []


def test_the_defaults_are_those_of_the_documents() -> None:
    timeouts = Timeouts()
    assert timeouts == Timeouts.of({})
    assert (timeouts.transaction_ms, timeouts.message_ms) == (15_000, 15_000)
    assert (timeouts.session_ms, timeouts.heartbeat_ms, timeouts.max_poll_ms) == (6_000, 2_000, 300_000)
    assert (timeouts.commit_seconds, timeouts.settle_seconds) == (10.0, 50.0)
    assert timeouts.open_transaction_seconds == 15.0 + 2 * REQUEST_SECONDS


@pytest.mark.parametrize("milliseconds", [1_000, 4_000, 15_000, 60_000, 900_000])
def test_what_is_derived_agrees_whatever_the_transaction_timeout(milliseconds: int) -> None:
    timeouts = Timeouts.of({"transaction.timeout.ms": milliseconds})
    assert timeouts.commit_seconds < milliseconds / 1_000
    assert timeouts.message_ms <= timeouts.transaction_ms
    assert timeouts.open_transaction_seconds > milliseconds / 1_000
    assert timeouts.max_poll_ms >= 1_000 * max(timeouts.settle_seconds, timeouts.open_transaction_seconds)


def test_values_that_are_no_number_are_left_to_the_client() -> None:
    assert Timeouts.of({"transaction.timeout.ms": "soon", "session.timeout.ms": True}) == Timeouts()
