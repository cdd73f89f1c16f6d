"""What happens to a model, as the events that metrics and logs are made from."""

from collections.abc import Sequence

from learners.canonical import is_number
from learners.codes import Codes
from learners.learner import Learner
from learners.outline import size
from stream.errors import RejectedRecord
from stream.events import AttributeRetired, FieldNoted, ModelMeasured, RecordRejected
from stream.model.predictions import ModelRoute
from stream.records.record import Record


def model_measured(route: ModelRoute, learner: Learner, changes: Sequence[bytes]) -> ModelMeasured:
    """Return how large a model is after a batch that published some changes."""
    return ModelMeasured(
        route.agent,
        route.model,
        size(learner.outline_lately),
        learner.retained,
        learner.model_bytes,
        list(changes),
        learner.description_bits,
        learner.past_drops,
    )


def record_rejected(route: ModelRoute, record: Record, error: RejectedRecord) -> RecordRejected:
    """Return that a record became a dead letter."""
    place = record.partition
    return RecordRejected(
        route.agent, error.reason, place.number, record.offset, place.topic, error.field, str(error)
    )


def field_noted(route: ModelRoute, record: Record, field: str, flag: str) -> FieldNoted:
    """Return that a field of a record was read as missing."""
    place = record.partition
    return FieldNoted(route.agent, route.model, field, flag, place.topic, place.number, record.offset)


def attribute_retired(route: ModelRoute, record: Record, codes: Codes, attribute: int) -> AttributeRetired:
    """Return that an attribute is left out from a record on."""
    place, values = record.partition, codes.values[attribute][1:]
    numeric = all(is_number(text) for text in values if text)
    return AttributeRetired(
        route.agent,
        route.model,
        codes.attributes[attribute],
        len(values),
        numeric,
        place.topic,
        place.number,
        record.offset,
    )
