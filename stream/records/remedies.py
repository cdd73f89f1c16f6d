"""What to do about each reason of a dead letter, and about fields that are read as missing.

The texts are shown by `espalier dead-letters` and by the worker's log; docs/runbook.md says
the same in its own words. `{name}` stands for the field as it is written in TOML.
"""

import json
from collections.abc import Mapping
from types import MappingProxyType

from stream.errors import MAX_FIELD

_IGNORE = "set ignore = [{name}] in [[agent]]"

REMEDIES: Mapping[str, str] = MappingProxyType(
    {
        # ---- what a record is
        "null_value": "It is a tombstone. Nothing can be learned from it: filter it out in the producer, or "
        "leave it where it is.",
        "empty": "Find the producer that writes empty values: the key and the headers may say which.",
        "too_large": "Send less, or raise max_record_bytes in [limits] and redrive. Letters without a value "
        "cannot be redriven: read the record from the input at its position.",
        "too_deep": "Send a flat object, or raise max_depth in [limits] and redrive.",
        "encoding": "Write UTF-8 without a byte-order mark in the producer.",
        "json_syntax": "Write JSON in the producer. Avro, Protobuf and JSON with a schema registry's prefix "
        "are not read.",
        "not_object": 'Send one JSON object per record, such as {"a": 1, "class": "yes"}, not an array or a '
        "plain value.",
        "duplicate_key": "Send the field {name} once. Which of its values is meant cannot be known.",
        # ---- what its fields hold
        "wrong_type": "Send a string, a number or a boolean in the field {name}; for a field that is neither "
        f"the label nor the id, {_IGNORE} and redrive.",
        "type_drift": f"Send the field {{name}} with one type. If it is not the label, {_IGNORE}, or declare "
        "its type in [agent.schema.attributes].",
        "non_finite": "Send null in place of NaN and infinite numbers.",
        "number_range": "Send the number as a string, or as a number of at most 64 bits.",
        "bad_label": "Send a label that is not empty, or none at all: a record without a label is predicted "
        "and not learned.",
        "bad_id": "Send a string or a number in the field {name}, or set id in [[agent]] to another field.",
        "bad_header": "Correct the name of the header in the producer. A redrive sends the record without "
        "its headers.",
        "unknown_op": 'Leave the header espalier.op out, or send "instance".',
        # ---- what a closed schema allows
        "unknown_attribute": f"Declare {{name}} in [agent.schema.attributes], {_IGNORE}, or set open = true "
        "in [agent.schema].",
        "unknown_value": "Add the value to values of {name} in [agent.schema.attributes], or set open = true "
        "for this attribute.",
        "unknown_class": "Add the class to classes in [agent.schema], or set open_classes = true.",
        "missing_value": 'Send a value in the field {name}, or take missing = "reject" out of '
        "[agent.options].",
        # ---- time
        "future_time": "Check the unit of {name} in the producer. If the time is right, raise max_time_jump "
        "in [agent.options]; of records in a row that agree, the tenth is learned.",
        # ---- limits
        "string_too_long": f"Send less text in the field {{name}}, {_IGNORE}, or raise max_text in [limits].",
        "too_many_classes": "Check that label in [[agent]] names the class and not an identifier; or raise "
        "max_classes in [limits].",
    }
)
"""For every reason of a dead letter what to do about it."""

IGNORED_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "nested": 'holds an object or an array. nested = "flatten" in [[agent]] reads the fields of objects; '
        f"arrays are always left out. To be rid of this warning, {_IGNORE}",
        "out_of_range": f"holds a number that is too large for a double. Send a smaller one, or {_IGNORE}",
        "too_long": f"is longer than max_text in [limits] allows. If it is free text, {_IGNORE}; otherwise "
        "raise max_text",
        "wrong_type": "has another type than it had before, or than was declared. Send one type, or declare "
        f"it in [agent.schema.attributes]; to leave it out, {_IGNORE}",
        "too_many_attributes": "is new, and there are max_attributes attributes already. Name the fields to "
        f"learn from: attributes = [...] in [[agent]]; or {_IGNORE}; or raise max_attributes in [limits]",
    }
)
"""For every flag of a field that is read as missing why, and what to do about it."""

RETIRED = (
    "If it is an identifier, a timestamp or free text, "
    f"{_IGNORE}. If its values are worth telling apart, raise max_values_per_attribute in [limits]"
)
NUMBERS_AS_TEXT = (
    'Declare it numeric, {name} = {type = "numeric"} in [agent.schema.attributes], or send JSON numbers: '
    "a test can then compare it with a threshold"
)
NO_THRESHOLDS = (
    "it compares values for equality, so that each distinct number is a value of its own, and an attribute "
    "with more than max_values_per_attribute of them is retired. id5r compares numbers with thresholds"
)
RETIRED_NUMBERS = f"All its values look like numbers: declare it numeric in [agent.schema], or {_IGNORE}"

NEW_NAME = (
    "A setting that changes what is learned does not fit the state that is there: give the agent another "
    "name with it, and it begins again with the whole input"
)


def remedy(reason: str, field: str = "") -> str:
    """Return what to do about dead letters with a reason, for one field or for fields in general."""
    text = REMEDIES.get(reason, "Read the message: this version does not know the reason.")
    return named(text, field)


def named(text: str, field: str) -> str:
    """Return a text with the name of a field as TOML has it; a name that was clipped is left out."""
    whole = field and len(field) < MAX_FIELD
    return text.replace("{name}", json.dumps(field, ensure_ascii=False) if whole else '"..."')
