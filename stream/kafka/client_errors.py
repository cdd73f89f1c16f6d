"""What a client's error means for us: try again from the topics, give way, or stop."""

from collections.abc import Collection

from confluent_kafka import KafkaError, KafkaException

from stream.errors import Abortable, EngineError, Fatal, Fenced

_FENCED = frozenset(
    {
        KafkaError._FENCED,
        KafkaError.PRODUCER_FENCED,
        KafkaError.INVALID_PRODUCER_EPOCH,
        KafkaError.FENCED_INSTANCE_ID,
        KafkaError.ILLEGAL_GENERATION,
        KafkaError.UNKNOWN_MEMBER_ID,
        KafkaError.REBALANCE_IN_PROGRESS,
    }
)
# What the client itself does not know any more. What a broker does not know may be a moment's matter: a fresh
# session looks again, and says which topic it is.
_GONE = frozenset({KafkaError._UNKNOWN_PARTITION, KafkaError._UNKNOWN_TOPIC})
_PASSING = frozenset({KafkaError._TIMED_OUT, KafkaError._STATE})
_REFUSED = frozenset(
    {
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError._AUTHENTICATION,
    }
)


def classify(error: KafkaException | BufferError, writing: Collection[str] = ()) -> EngineError:
    """Return what to do about an error inside a transaction.

    A session that ends with `Abortable` or `Fenced` is followed by a fresh one. An error that says neither
    that it may be retried nor that the transaction is to be aborted is fatal.

    Args:
        error: What the client says.
        writing: The topics that were being written, which the client does not always name.
    """
    if isinstance(error, BufferError):
        return Abortable("the client's queue stayed full")
    told: KafkaError = error.args[0]
    if told.code() in _REFUSED:
        where = f" It was writing {', '.join(sorted(writing))}." if writing else ""
        return Fatal(
            f"the broker refuses: {told.str()}.{where} Check the credentials and the rights of this worker"
        )
    if told.code() in _GONE:
        return Fatal(
            f"a topic that this agent writes, or a partition of it, does not exist any more: {told.str()}. "
            'See which with "espalier topics describe", and make it again with "espalier topics create"'
        )
    if told.code() in _FENCED:
        return Fenced(f"another worker took over: {told.str()}")
    # A producer whose transaction has failed meanwhile, fenced or not, says of the next message that its
    # state is wrong and not why: the next session finds out.
    if told.txn_requires_abort() or told.retriable() or told.code() in _PASSING:
        return Abortable(told.str())
    return Fatal(f"the client cannot go on: {told.str()}")
