"""`espalier bench core`: the compiled learner beside its peers, from JSON, with a window; its memory."""

import contextlib
from collections.abc import Mapping
from typing import NamedTuple

from lab.bench.contenders import FACE, OURS, our_passes
from lab.bench.from_json import from_json
from lab.bench.measure import Pass, Passes, PeerFailed, Tell, in_turn, span
from lab.bench.memory import Held, hold_elsewhere
from lab.bench.peers import MAJORITY, MOA, RIVER, Peers
from lab.bench.report import Column, Goal, Report, Table, Value, at_least, at_most, turn_by_turn
from lab.bench.streams import Led, Multiplexer, Nominal, Source
from lab.bench.windows import window_steps
from lab.experiments.report import Chart, Series

CLEAN = "22 nominal attributes, no noise"
NOISY = "22 nominal attributes, 5 % noise"
LED = "LED, 24 bits, 10 % noise"
MULTIPLEXER = "multiplexer, 11 bits"
NOISELESS = (CLEAN, MULTIPLEXER)
MEGABYTE = 1_000_000
DISTINCT = 1_000_000
"""How many different records the goal for memory speaks of."""


class Sizes(NamedTuple):
    """How much is measured.

    Attributes:
        records: Records of the streams with 22 attributes.
        others: Records of the other streams, on which some peers are slow; 0: leave them out.
        repeats: How many turns each contender has.
        majority: Whether peers are measured with majority leaves too.
        windows: The windows.
        steps: Records that pass through each window.
        distinct: Different records whose memory is measured.
    """

    records: int
    others: int
    repeats: int
    majority: bool
    windows: tuple[int, ...]
    steps: int
    distinct: int


FULL = Sizes(200_000, 50_000, 3, True, (1_000, 10_000, 100_000), 50_000, DISTINCT)
QUICK = Sizes(20_000, 0, 2, False, (1_000, 10_000), 5_000, 200_000)

Speeds = dict[str, dict[str, Passes]]
"""For each stream the passes of each contender."""


def core(sizes: Sizes, peers: Peers, quick: bool, tell: Tell) -> Report:
    """Measure everything there is to say about the compiled learner."""
    notes = list(peers.notes)
    speeds = _speeds(sizes, peers, notes, tell)
    notes += _majority_notes(speeds)
    json_table, json_micros = from_json(sizes.records, sizes.repeats, tell)
    window_table, dearest, spread = window_steps(sizes.windows, sizes.steps, (0.0, 0.05), sizes.repeats, tell)
    held: dict[str, Held] = {}
    for name, noise in ((CLEAN, 0.0), (NOISY, 0.05)):
        tell(f"memory of {sizes.distinct:,} different records, {noise:.0%} noise")
        held[name] = hold_elsewhere(sizes.distinct, noise)
    goals = [
        *_speed_goals(speeds),
        at_most("from JSON bytes to learned, 22 attributes", 1.2, json_micros, " us"),
    ]
    goals += _memory_goals(held)
    goals.append(at_most("step of a full window against an insertion, the dearest", 2.5, dearest))
    # "Independent of the window": a longer one has a deeper tree, which is allowed for.
    goals.append(at_most("the dearest window's step against the cheapest's", 1.5, spread))
    return Report(
        "core",
        "The compiled learner",
        quick,
        goals=goals,
        tables=[_speed_table(name, best) for name, best in speeds.items()]
        + [json_table, window_table, _memory_table(held)],
        notes=notes,
        charts=[_chart(speeds)],
    )


# ---- speed


def _speeds(sizes: Sizes, peers: Peers, notes: list[str], tell: Tell) -> Speeds:
    streams: Mapping[str, tuple[Source, int]] = {
        CLEAN: (Nominal(), sizes.records),
        NOISY: (Nominal(0.05), sizes.records),
        LED: (Led(), sizes.others),
        MULTIPLEXER: (Multiplexer(), sizes.others),
    }
    speeds: Speeds = {}
    for name, (source, records) in streams.items():
        if not records:
            continue
        chunk = source.draw(records)
        with contextlib.ExitStack() as stack:
            ways: dict[str, Pass] = our_passes(source, chunk, bare=name in NOISELESS)
            for peer in peers.there.values():
                tell(f"{name}: getting ready")
                try:
                    ways |= stack.enter_context(peer.passes(source, chunk, majority=sizes.majority))
                except PeerFailed as error:
                    notes.append(f"{name}: {error}")
            speeds[name] = in_turn(ways, sizes.repeats, tell, name)
    return speeds


def _speed_table(name: str, passes: dict[str, Passes]) -> Table:
    columns = (
        Column(f"learner, {passes[OURS].best.records:,} records"),
        Column("records per CPU second", ",.0f"),
        Column("us per record", ".2f"),
        Column("accuracy", ".4f"),
        Column(f"{OURS} against it", ",.1f", "x"),
        Column("turn by turn"),
    )
    rows: list[tuple[Value, ...]] = []
    for who, theirs in passes.items():
        best = theirs.best
        turns = None if who == OURS else span(passes[OURS].against(theirs))
        rows.append((who, best.rate, best.micros, best.accuracy, passes[OURS].best_against(theirs), turns))
    return Table(f"Answer, then learn: {name}", columns, rows)


def _ratio(speeds: Speeds, stream: str, peer: str) -> float | None:
    passes = speeds[stream]
    return passes[OURS].best_against(passes[peer]) if peer in passes else None


def _speed_goals(speeds: Speeds) -> list[Goal]:
    goals: list[Goal] = []
    for peer, stream, least, moonshot in (
        (RIVER, CLEAN, 100, None),
        (RIVER, NOISY, 60, None),
        (MOA, CLEAN, 5, 10),
        (MOA, NOISY, 3, 5),
    ):
        ratio = _ratio(speeds, stream, peer)
        goal = at_least(f"against {peer}, {stream}", least, ratio, moonshot=moonshot)
        if ratio is not None:
            goal = turn_by_turn(goal, (least, moonshot), speeds[stream][OURS].against(speeds[stream][peer]))
        goals.append(goal)
    for stream in (CLEAN, NOISY):
        passes = speeds[stream]
        ahead = None
        if MOA in passes:
            ahead = 100 * (passes[OURS].best.accuracy - passes[MOA].best.accuracy)
        goals.append(at_least(f"accuracy beyond that of {MOA}, {stream}", 0, ahead, " points", "+.2f"))
    return goals


def _majority_notes(speeds: Speeds) -> list[str]:
    """Say how it comes out with leaves that answer as ours do: goals take the peers as they come."""
    notes: list[str] = []
    for peer in (RIVER, MOA):
        told = [(stream, _ratio(speeds, stream, peer + MAJORITY)) for stream in (CLEAN, NOISY)]
        ratios = [f"{ratio:,.1f}x ({stream})" for stream, ratio in told if ratio is not None]
        if ratios:
            notes.append(
                f"Goals are judged against {peer} with its default leaves. Against majority leaves, which "
                f"are quicker and answer as ours do: {', '.join(ratios)}."
            )
    return notes


def _chart(speeds: Speeds) -> Chart:
    shown = [name for name in (OURS, FACE, MOA, RIVER) if all(name in best for best in speeds.values())]
    series = tuple(
        Series(
            name, tuple((float(place), best[name].best.rate) for place, best in enumerate(speeds.values()))
        )
        for name in shown
    )
    short = {
        CLEAN: "22 nominal, clean",
        NOISY: "22 nominal, 5 % noise",
        LED: "LED",
        MULTIPLEXER: "multiplexer",
    }
    return Chart(
        "Records answered and learned per CPU second",
        "stream",
        "records per CPU second",
        series,
        categories=tuple(short[name] for name in speeds),
        logarithmic=True,
    )


# ---- memory


def _memory_goals(held: dict[str, Held]) -> list[Goal]:
    figure = f"memory at {DISTINCT:,} distinct records of 22 attributes"
    largest = max((one.resident or one.reported for one in held.values()), default=0)
    full = all(one.records >= DISTINCT for one in held.values())
    off = [abs(1 - one.reported / one.resident) for one in held.values() if one.resident]
    return [
        at_most(figure, 64, largest / MEGABYTE if full else None, " MB", ",.1f"),
        at_most(
            "memory reported, off what the process takes",
            20,
            100 * max(off) if full and off else None,
            " %",
            ".1f",
        ),
    ]


def _memory_table(held: dict[str, Held]) -> Table:
    columns = (
        Column("stream"),
        Column("distinct records", ",d"),
        Column("reported, MB", ",.1f"),
        Column("process grew by, MB", ",.1f"),
        Column("bytes per record", ",.1f"),
    )
    rows: list[tuple[Value, ...]] = [
        (
            name,
            one.records,
            one.reported / MEGABYTE,
            one.resident / MEGABYTE if one.resident else None,
            (one.resident or one.reported) / one.records,
        )
        for name, one in held.items()
    ]
    return Table("Memory", columns, rows)
