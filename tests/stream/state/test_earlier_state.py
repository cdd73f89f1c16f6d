"""Journals and snapshots that earlier versions wrote are restored, and go on as they would have."""

import base64
import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from learners.registry import LEARNERS, make_learner
from stream.errors import StateError
from stream.model.predictions import ModelRoute
from stream.model.processor import LearningProcessor
from stream.records.fields import Fields
from stream.records.journal import unpack
from stream.records.json_decoder import Decoder
from stream.records.record import Partition, Record


def sample_file(name: str) -> dict[str, Any]:
    samples: dict[str, Any] = json.loads(
        gzip.decompress((Path(__file__).parent / "samples" / name).read_bytes())
    )
    return samples


SAMPLES = sample_file("state-format-1.json.gz")
WITH_MIN_RECORDS = sample_file("lsid3-min-records.json.gz")


def processor(learner: str, options: dict[str, object], **decoding: Any) -> LearningProcessor:
    decoder = Decoder(decoding.get("label", "class"), "id", 262_144, 32, decoding.get("fields"))
    place = ModelRoute("old", "topic", learner, "in", 0, "p", "c", "d", "j")
    return LearningProcessor(make_learner(learner, None, options), decoder, place, lambda _: None)


def test_there_is_a_sample_of_every_learner() -> None:
    assert {sample["learner"] for sample in SAMPLES.values()} == set(LEARNERS)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_journal_and_a_snapshot_of_format_1_are_restored(name: str) -> None:
    expect_restored(SAMPLES[name])


@pytest.mark.parametrize("name", WITH_MIN_RECORDS)
def test_state_that_names_an_option_which_is_gone_is_restored_and_gone_on_with(name: str) -> None:
    replayed = expect_restored(WITH_MIN_RECORDS[name])
    record = Record(Partition("in", 0), 120, b'{"id": 120, "colour": "a", "size": 0.1, "class": "yes"}')
    described = json.loads(unpack(entry_of(replayed.process([record]).others)).described)
    assert described["options.repeats"] == 5
    assert "options.min_records" not in described


def test_other_options_are_guarded_in_state_that_names_one_which_is_gone() -> None:
    other = processor("lsid3", {"repeats": 2})
    with pytest.raises(StateError) as caught:
        other.restore(base64.b64decode(WITH_MIN_RECORDS["lsid3"]["snapshot"]))
    assert "other settings: options.repeats was 5 and is 2 now. Set" in str(caught.value)


def expect_restored(sample: Mapping[str, Any]) -> LearningProcessor:
    """Hold a journal, and a snapshot with the rest of it, to what they led to; return what was replayed."""
    journal = [base64.b64decode(entry) for entry in sample["journal"]]
    replayed = processor(sample["learner"], sample["options"])
    for entry in journal:
        replayed.replay(entry)
    assert (replayed.digest, replayed.version) == (sample["digest"], sample["version"])
    restored = processor(sample["learner"], sample["options"])
    restored.restore(base64.b64decode(sample["snapshot"]))
    for entry in journal[sample["snapshot_entries"] :]:
        restored.replay(entry)
    assert (restored.digest, restored.version) == (sample["digest"], sample["version"])
    return replayed


def entry_of(outputs: Any) -> bytes:
    (value,) = [output.value for output in outputs if output.topic == "j"]
    assert isinstance(value, bytes)
    return value


def test_the_first_entry_after_an_upgrade_describes_the_settings_and_guards_them() -> None:
    sample = SAMPLES["id5r"]
    journal = [base64.b64decode(entry) for entry in sample["journal"]]
    upgraded = processor("id5r", {})
    for entry in journal:
        upgraded.replay(entry)
    record = Record(Partition("in", 0), 120, b'{"id": 1, "colour": "a", "class": "yes"}')
    first = entry_of(upgraded.process([record]))
    assert json.loads(unpack(first).described)["label"] == "class"
    second = entry_of(upgraded.process([record._replace(offset=121)]))
    assert unpack(second).described == ""
    renamed = processor("id5r", {}, label="outcome", fields=Fields(ignore=("colour",)))
    for entry in journal:
        renamed.replay(entry)
    with pytest.raises(StateError) as caught:
        renamed.replay(first)
    assert 'ignore was [] and is ["colour"] now; label was "class" and is "outcome" now' in str(caught.value)


def test_settings_of_format_1_are_guarded() -> None:
    other = processor("id5r", {"window": 9})
    with pytest.raises(StateError, match="they were not written down then"):
        other.replay(base64.b64decode(SAMPLES["id5r"]["journal"][0]))
