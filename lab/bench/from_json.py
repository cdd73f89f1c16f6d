"""From the bytes of a record to a tree that has learned it: the general way, and the fast one."""

from functools import partial

from lab.bench.contenders import BATCH, fresh
from lab.bench.measure import CpuClock, Tell, Timed, in_turn
from lab.bench.report import Column, Table
from lab.bench.streams import Nominal, as_json
from learners.id5r import _core
from stream.config import Limits
from stream.native.rows import RowReader
from stream.records.json_decoder import Decoder
from stream.records.record import Partition, Record

GENERAL = "general: msgspec, names to codes, learn_batch"
FAST = "fast: straight to codes, the compiled tree alone"
FAST_READ = "  of which reading"
_LIMITS = Limits()


def from_json(records: int, repeats: int, tell: Tell) -> tuple[Table, float]:
    """Return what a record costs from bytes to learned, and the microseconds of the fast way."""
    source = Nominal()
    texts = as_json(source, source.draw(records))
    spent_reading: list[float] = []
    ways = {
        GENERAL: partial(_general, source, texts),
        FAST: partial(_fast, source, texts, spent_reading),
    }
    best = {name: passes.best for name, passes in in_turn(ways, repeats, tell, "from JSON").items()}
    reading = Timed(records, min(spent_reading))
    rows = [(name, timed.micros, timed.rate) for name, timed in [*best.items(), (FAST_READ, reading)]]
    size = sum(map(len, texts)) / len(texts)
    table = Table(
        f"From JSON bytes to learned: {len(source.sizes)} attributes, {size:.0f} bytes, no noise",
        (Column("way"), Column("us per record", ".2f"), Column("records per CPU second", ",.0f")),
        list(rows),
    )
    return table, best[FAST].micros


def _general(source: Nominal, texts: list[bytes]) -> Timed:
    learner = fresh(source)
    decoder = Decoder("class", "id", _LIMITS.max_record_bytes, _LIMITS.max_depth)
    place = Partition("bench", 0)
    records = [Record(place, number, text) for number, text in enumerate(texts)]
    clock = CpuClock()
    for start in range(0, len(records), BATCH):
        with clock:
            decoded = [decoder.decode(record) for record in records[start : start + BATCH]]
            coded = [learner.codes.encode(one.values, one.label) for one in decoded]
            learner.learn_batch([one.row for one in coded], [one.label for one in coded])
    return Timed(len(texts), clock.seconds)


def _fast(source: Nominal, texts: list[bytes], spent_reading: list[float]) -> Timed:
    learner = fresh(source)
    reader = RowReader(learner.codes, "class", "id", _LIMITS.max_record_bytes)
    classes = len(learner.codes.classes)
    clock, reading = CpuClock(), CpuClock()
    for start in range(0, len(texts), BATCH):
        values: list[bytes | None] = [*texts[start : start + BATCH]]
        with clock:
            with reading:
                rows = reader.read(values)
            learner.tree.run(rows.codes, rows.labels, 0, 0, _core.Batch(len(rows), classes))
        assert rows.understood.all()
    spent_reading.append(reading.seconds)
    return Timed(len(texts), clock.seconds)
