"""The reader that tests share: it has read everything when it says so, however transactions end."""

from collections.abc import Callable

import pytest
from confluent_kafka import KafkaError, Message, Producer
from confluent_kafka.admin import AdminClient, ClusterMetadata, NewTopic, PartitionMetadata, TopicMetadata

from stream.broker import Broker
from tests import readers
from tests.readers import PlainReader

pytestmark = [pytest.mark.broker, pytest.mark.timeout(120)]


def text(message: Message) -> str:
    return (message.value() or b"").decode()


def test_a_reader_that_has_finished_has_all_that_was_committed_and_nothing_else(
    broker: Broker, topics: Callable[[str], str]
) -> None:
    topic = topics("in")
    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    admin.create_topics([NewTopic(topic, 3, 1)])[topic].result(30)
    reader = PlainReader(broker.bootstrap_servers, topic, text)
    reader.start()
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": topic})
    producer.init_transactions(30)
    expected = []
    for number in range(6):
        producer.begin_transaction()
        # The last partition stays empty, and the last transaction is given up.
        producer.produce(topic, str(number).encode(), partition=number % 2)
        if number in (2, 5):
            producer.abort_transaction(30)
        else:
            producer.commit_transaction(30)
            expected.append(str(number))
    reader.finish()
    assert sorted(reader.records) == expected
    assert reader.failure is None


class SlowBroker:
    """Hears of a topic only when it has been asked a few times, as a broker of a new cluster does."""

    def __init__(self, topic: str, times: int) -> None:
        self._topic = topic
        self.left = times

    def list_topics(self, timeout: float) -> ClusterMetadata:
        self.left -= 1
        metadata = ClusterMetadata()
        known = metadata.topics = {}
        if self.left < 0:
            known[self._topic] = TopicMetadata()
            known[self._topic].partitions = {0: PartitionMetadata(), 1: PartitionMetadata()}
        elif self.left < 2:
            # A broker that makes a topic, or that knows its name alone.
            known[self._topic] = TopicMetadata()
            known[self._topic].error = KafkaError(KafkaError.UNKNOWN_TOPIC_OR_PART) if self.left else None
        return metadata


def test_a_reader_waits_until_a_broker_knows_the_topic(monkeypatch: pytest.MonkeyPatch) -> None:
    broker = SlowBroker("t", 4)
    monkeypatch.setattr(readers, "AdminClient", lambda settings: broker)
    assert readers.partitions_of("nobody", "t") == [0, 1]
    assert broker.left == -1
