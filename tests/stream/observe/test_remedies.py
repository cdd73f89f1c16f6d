"""Every reason of a dead letter has a remedy."""

import pytest

from stream.events import IGNORED
from stream.records.remedies import IGNORED_FIELDS, REMEDIES, remedy
from tests.architecture.reasons import reasons_in_code


def test_every_reason_has_a_remedy_and_there_is_no_other() -> None:
    assert set(REMEDIES) == reasons_in_code()
    assert set(IGNORED_FIELDS) == set(IGNORED)


@pytest.mark.parametrize("reason", REMEDIES)
def test_a_remedy_is_a_sentence_that_names_the_field_or_none(reason: str) -> None:
    for text in (remedy(reason), remedy(reason, "user_id"), remedy(reason, "n" * 100)):
        assert text[0].isupper() and text.endswith(".")
        assert "{" not in text.replace('{"a": 1', "")
    assert ('"user_id"' in remedy(reason, "user_id")) == ("{name}" in REMEDIES[reason])


def test_the_name_of_a_field_is_written_as_its_producer_wrote_it() -> None:
    assert '"größe"' in remedy("missing_value", "größe")
