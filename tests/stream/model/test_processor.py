"""What a batch of records comes to, however it is cut."""

import json
from collections import Counter
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from learners.outline import digest
from learners.registry import make_learner
from learners.schema import Instance, InstanceError
from stream.assembly import processor_factory
from stream.client.replica import Replica
from stream.config import Agent, Limits
from stream.errors import RejectedRecord
from stream.events import BatchPredicted, Event, Learned, ModelMeasured, RecordRejected
from stream.model.ports import unit_of
from stream.model.processor import LearningProcessor
from stream.records.journal import unpack
from stream.records.json_decoder import Decoder
from stream.records.record import Partition, Record
from tests.stream.model.journal_places import BARE, places_in, position
from tests.stream.stories import INPUT, Story, ignore, make, pieces, records_of, stories, told_by

# ---- what becomes of a record


@given(stories())
def test_every_offset_has_exactly_one_disposition(story: Story) -> None:
    events: list[Event] = []
    processor = make(story.agent, events.append)
    told = told_by(processor.process(story.records), story.agent)
    answered = [(p["source"]["partition"], p["source"]["offset"]) for p in told.predictions]
    dropped = [position(letter) for letter in told.letters]
    offsets = [(record.partition.number, record.offset) for record in story.records]
    assert Counter(answered + dropped) == Counter(offsets)
    # What is learned is in the journal once, in the order of arrival.
    (entry,) = map(unpack, told.journal)
    labelled = [(p["source"]["partition"], p["source"]["offset"]) for p in told.predictions if p.get("label")]
    assert places_in(entry) == labelled
    # Metrics see the same.
    hits = [hit for event in events if isinstance(event, BatchPredicted) for hit in event.hits]
    assert hits == [p["correct"] for p in told.predictions if "correct" in p]
    assert sum(e.unlabelled for e in events if isinstance(e, BatchPredicted)) == len(answered) - len(labelled)
    assert sum(event.records for event in events if isinstance(event, Learned)) == len(labelled)
    kinds = [kind for event in events if isinstance(event, Learned) for kind in event.kinds]
    assert kinds == [one["kind"] for change in told.changes for one in change["changes"]]
    assert [event.reason.encode() for event in events if isinstance(event, RecordRejected)] == [
        dict(letter.headers)["espalier.dlq.reason"] for letter in told.letters
    ]
    assert sum(isinstance(event, ModelMeasured) for event in events) == 1
    # And the order of arrival is the order of the outputs.
    assert [o for o in offsets if o in answered] == answered
    assert [o for o in offsets if o in dropped] == dropped


@given(stories())
def test_next_offsets_are_one_past_the_last_record_of_each_partition(story: Story) -> None:
    processor = make(story.agent)
    told = told_by(processor.process(story.records), story.agent)
    expected = {record.partition.number: record.offset + 1 for record in story.records}
    assert processor.next_offsets == expected
    assert unpack(told.journal[-1]).next_offsets == expected


@given(stories())
def test_a_rejected_record_leaves_everything_as_it_was(story: Story) -> None:
    processor = make(story.agent)
    for record in story.records:
        before = processor.learner.snapshot(), processor.digest, processor.version
        told = told_by(processor.process([record]), story.agent)
        if told.letters:
            assert (processor.learner.snapshot(), processor.digest, processor.version) == before
            assert not told.predictions
            assert not told.changes
            assert unpack(told.journal[0]).blocks == []
            assert told.letters[0].value == record.value
            assert told.letters[0].key == record.key


@given(stories())
def test_a_dead_letter_gives_the_reason_of_the_decoder_or_of_the_learner(story: Story) -> None:
    decoder = Decoder("class", "id", 262_144, 32)
    processor = make(story.agent)
    for record in story.records:
        expected: tuple[str, str] | None = None
        try:
            told = decoder.decode(record)
            if told.label is None:
                processor.learner.codes.look_up(told.values)
            else:
                make_copy(processor).codes.encode(told.values, told.label)
        except RejectedRecord as error:
            expected = error.reason, "decode"
        except InstanceError as error:
            expected = error.misfit.value, "learn"
        letters = told_by(processor.process([record]), story.agent).letters
        headers = [dict(letter.headers) for letter in letters]
        seen = [(h["espalier.dlq.reason"] or b"", h["espalier.dlq.stage"] or b"") for h in headers]
        assert [(r.decode(), s.decode()) for r, s in seen] == ([] if expected is None else [expected])


def make_copy(processor: LearningProcessor) -> Any:
    return type(processor.learner).restore(processor.learner.snapshot())


@given(stories(bad=False))
def test_each_record_is_answered_before_it_is_learned(story: Story) -> None:
    """The answers are those of a learner that is asked and then told, record by record."""
    agent = story.agent
    alone = make_learner(agent.learner, agent.schema, agent.options)
    told = told_by(make(agent).process(story.records), agent)
    answers = iter(told.predictions)
    changes = iter(told.changes)
    version = 0
    for record in story.records:
        values = json.loads(record.value or b"")
        label = values.pop("class", None)
        name = values.pop("id")
        try:
            expected = alone.predict_one(values)
            before = digest(alone.outline())
            done = [] if label is None else alone.learn_one(Instance(values, label))
        except InstanceError:
            continue
        answer = next(answers)
        assert answer["id"] == name
        assert answer["prediction"] == expected.answer
        assert answer["probabilities"] == expected.probabilities
        assert answer["leaf"]["counts"] == dict(expected.counts)
        assert answer["flags"] == list(expected.flags)
        assert [step["attribute"] for step in answer["path"]] == [step.attribute for step in expected.path]
        assert answer["tree"] == {"version": version, "digest": before}
        assert answer.get("label") == (None if label is None else str(label))
        assert answer.get("correct") == (None if label is None else expected.answer == str(label))
        if done:
            version += 1
            change = next(changes)
            assert change["seq"] == change["tree"]["version"] == version
            assert change["tree"]["previous_digest"] == before
            assert change["tree"]["digest"] == digest(alone.outline())
            assert change["cause"]["id"] == name
            assert [one["kind"] for one in change["changes"]] == [one.kind.value for one in done]
    assert next(answers, None) is None
    assert next(changes, None) is None


@given(stories())
def test_the_changes_alone_lead_to_the_tree(story: Story) -> None:
    processor = make(story.agent)
    outputs = processor.process(story.records)
    replica = Replica(story.agent.name)
    replica.follow(o.value for o in outputs if o.topic == story.agent.topics.tree_changes)
    assert digest(replica.outline) == processor.digest == digest(processor.learner.outline())
    assert replica.version == processor.version


def test_a_question_mark_and_a_missing_value_can_meet() -> None:
    """The branch of a missing value is called "?", so that a text "?" can only mean the same."""
    agent = Agent(name="a", input=INPUT, options=BARE)
    values = [
        b'{"a": "?", "class": "p"}',
        b'{"a": null, "class": "n"}',
        b'{"a": "x", "class": "n"}',
        b'{"a": "?", "class": "p"}',
    ]
    processor = make(agent)
    outputs = processor.process(records_of(values))
    replica = Replica(agent.name)
    replica.follow(o.value for o in outputs if o.topic == agent.topics.tree_changes)
    assert digest(replica.outline) == processor.digest


def test_outputs_go_where_order_is_kept() -> None:
    agent = Agent(name="a", input=INPUT)
    processor = processor_factory(agent, Limits(), ignore)(unit_of(INPUT, 2))
    records = [
        Record(Partition(INPUT, 2), 5, b'{"x": "1", "class": "p"}', b"key"),
        Record(Partition(INPUT, 2), 6, b"?", b"other"),
    ]
    prediction, change, letter, journal = sorted(
        processor.process(records),
        key=lambda o: (
            agent.topics.predictions,
            agent.topics.tree_changes,
            agent.topics.dead_letters,
            agent.topics.journal,
        ).index(o.topic),
    )
    assert (prediction.partition, prediction.key) == (2, b"key")
    assert (change.partition, change.key) == (2, b"in/2")
    assert (letter.partition, letter.key) == (2, b"other")
    assert (journal.partition, journal.key) == (2, b"in/2")
    assert json.loads(prediction.value or b"")["model"] == "in/2"


def test_nothing_comes_of_nothing() -> None:
    assert list(make(Agent(name="a", input=INPUT)).process([])) == []


def test_a_limit_of_the_model_is_kept_for_ever() -> None:
    agent = Agent(name="a", input=INPUT, options=BARE)
    processor = make(agent, limits=Limits(max_attributes=3, max_values_per_attribute=4, max_classes=2))
    values = [json.dumps({"x": f"v{n}", "class": f"c{n % 2}"}).encode() for n in range(4)]
    values += [
        b'{"x": "v9", "class": "c0"}',
        b'{"x": "v0", "class": "c9"}',
        b'{"a": "1", "b": "1", "c": "1", "class": "c0"}',
        b'{"x": "v9"}',
    ]
    told = told_by(processor.process(records_of(values)), agent)
    reasons = [dict(letter.headers)["espalier.dlq.reason"] for letter in told.letters]
    assert reasons == [b"too_many_classes"]
    codes = processor.learner.codes
    assert (codes.attributes, codes.retired, len(codes.values[0])) == (["x", "a", "b"], {0}, 5)


def test_a_long_key_is_refused_whether_or_not_the_names_in_the_value_are_known() -> None:
    agent = Agent(name="a", input=INPUT)
    value = b'{"x": "1", "class": "p"}'
    place = Partition(INPUT, 0)
    long = b"k" * Limits().max_record_bytes
    records = [Record(place, 0, value, long), Record(place, 1, value), Record(place, 2, value, long)]
    one, other = make(agent), make(agent)
    whole = told_by(one.process(records), agent)
    apart = told_by([output for record in records for output in other.process([record])], agent)
    for told in (whole, apart):
        assert [position(letter) for letter in told.letters] == [(0, 0), (0, 2)]
        assert len(told.predictions) == 1


# ---- batches


@given(st.data(), stories())
def test_outputs_do_not_depend_on_how_records_are_cut_into_batches(data: st.DataObject, story: Story) -> None:
    together, apart = make(story.agent), make(story.agent)
    batches = pieces(data.draw, story.records)
    whole = list(together.process(story.records))
    cut = [output for batch in batches for output in apart.process(batch)]
    journal = story.agent.topics.journal
    # The topics are apart, so that only the order within each of them can be seen.
    for topic in {output.topic for output in whole} - {journal}:
        assert [o for o in whole if o.topic == topic] == [o for o in cut if o.topic == topic]
    assert sum(o.topic == journal for o in cut) == len([batch for batch in batches if batch])
    assert together.learner.snapshot() == apart.learner.snapshot()
    assert together.digest == apart.digest
    assert together.version == apart.version
    assert together.next_offsets == apart.next_offsets


def test_an_attribute_that_appears_in_the_middle_of_a_batch_changes_no_answer() -> None:
    agent = Agent(name="a", input=INPUT, options=BARE)
    values = [
        b'{"a": "x", "class": "p"}',
        b'{"a": "y", "class": "n"}',
        b'{"a": "x", "b": "1", "class": "n"}',
        b'{"a": "x", "b": "2", "class": "p"}',
        b'{"a": "x"}',
        b'{"a": "x", "c": 3, "b": "1", "class": "n"}',
        b'{"b": "1", "d": true}',
    ]
    whole = told_by(make(agent).process(records_of(values)), agent)
    alone = make(agent)
    single = [told_by(alone.process([record]), agent) for record in records_of(values)]
    assert whole.predictions == [p for told in single for p in told.predictions]
    assert whole.changes == [c for told in single for c in told.changes]
    assert len(whole.predictions) == len(values)
    assert len(whole.changes) >= 4
