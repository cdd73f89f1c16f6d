"""The streams that benches draw their records from."""

import json

import numpy as np
import pytest

from lab.bench.contenders import fresh, learn
from lab.bench.measure import CpuClock
from lab.bench.streams import Led, Multiplexer, Nominal, Source, as_json, described

SOURCES = pytest.mark.parametrize(
    "make", [Nominal, lambda: Nominal(0.05), lambda: Nominal(attributes=8), Led, Multiplexer]
)


@SOURCES
def test_a_source_draws_the_same_records_again(make: type[Source]) -> None:
    first, second = make(), make()
    for size in (300, 200):
        one, other = first.draw(size), second.draw(size)
        assert np.array_equal(one.rows, other.rows)
        assert np.array_equal(one.labels, other.labels)
        assert len(one) == size
    assert not np.array_equal(first.draw(200).rows, other.rows)


@SOURCES
def test_every_value_and_class_of_a_source_has_a_code_that_is_declared(make: type[Source]) -> None:
    source = make()
    chunk = source.draw(5_000)
    assert chunk.rows.dtype == np.uint32
    assert chunk.labels.dtype == np.int32
    assert chunk.rows.min() == 1
    assert (chunk.rows.max(axis=0) <= np.array(source.sizes)).all()
    assert set(chunk.labels.tolist()) == set(range(source.classes))


def test_noise_changes_so_many_classes_and_nothing_else() -> None:
    clean, noisy = Nominal().draw(20_000), Nominal(0.05).draw(20_000)
    assert np.array_equal(clean.rows, noisy.rows)
    assert 0.04 < (clean.labels != noisy.labels).mean() < 0.06


def test_the_class_of_a_multiplexer_is_the_bit_at_the_address() -> None:
    chunk = Multiplexer(address=2).draw(200)
    for row, label in zip(chunk.rows - 1, chunk.labels, strict=True):
        assert label == row[2 + 2 * row[0] + row[1]]


def test_a_digit_without_noise_is_told_by_its_segments() -> None:
    chunk = Led(noise=0.0).draw(1_000)
    shapes = {tuple(row[:7].tolist()) for row in chunk.rows}
    assert len(shapes) == 10
    assert (
        len({(tuple(row[:7].tolist()), label) for row, label in zip(chunk.rows, chunk.labels, strict=True)})
        == 10
    )


def test_the_json_of_a_record_says_what_its_codes_say() -> None:
    source = Nominal(attributes=8)
    chunk = source.draw(50)
    learner = fresh(source)
    for number, text in enumerate(as_json(source, chunk, first=7)):
        record = json.loads(text)
        assert record.pop("id") == number + 7
        label = record.pop("class")
        assert learner.codes.encode(record, label)[:2] == (
            tuple(chunk.rows[number].tolist()),
            chunk.labels[number],
        )
        assert (record, label) == list(described(source, chunk))[number]
    assert learner.codes.grown == fresh(source).codes.grown


def test_the_rule_of_a_nominal_stream_can_be_learned() -> None:
    source = Nominal()
    learner = fresh(source)
    learn(learner, source.draw(10_000), CpuClock())
    assert learn(learner, source.draw(2_000), CpuClock()) > 1_950
