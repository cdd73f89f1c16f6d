"""What forgetting costs: a step of a full window, which learns one record and forgets another.

Compared with learning the same records into a tree that keeps everything, on which the same records have been
learned before.
"""

from functools import partial

from lab.bench.contenders import fresh, learn
from lab.bench.measure import CpuClock, Pass, Tell, Timed, in_turn, span
from lab.bench.report import Column, Table
from lab.bench.streams import Chunk, Nominal


def window_steps(
    windows: tuple[int, ...], steps: int, noises: tuple[float, ...], repeats: int, tell: Tell
) -> tuple[Table, float, float]:
    """Return the cost of steps, the dearest in insertions, and the dearest window over the cheapest.

    Args:
        windows: How many records each window holds.
        steps: How many records are learned, and forgotten, in the measured part.
        noises: The share of wrong classes in each stream that is measured.
        repeats: How many times each is measured.
        tell: Told how far it is.
    """
    rows: list[tuple[str | int | float | None, ...]] = []
    ratios: list[float] = []
    spread = 0.0
    for noise in noises:
        costs: list[float] = []
        for window in windows:
            source = Nominal(noise)
            before, after = source.draw(window), source.draw(steps)
            ways: dict[str, Pass] = {
                "insertion": partial(_steps, source, before, after, None),
                "step": partial(_steps, source, before, after, window),
            }
            passes = in_turn(ways, repeats, tell, f"window of {window:,}, {noise:.0%} noise")
            insertion, step = passes["insertion"].best, passes["step"].best
            costs.append(step.micros)
            ratios.append(step.seconds / insertion.seconds)
            turns = span(passes["insertion"].against(passes["step"]), ".2f")
            rows.append((f"{noise:.0%}", window, insertion.micros, step.micros, ratios[-1], turns))
        spread = max(spread, max(costs) / min(costs))
    columns = (
        Column("noise"),
        Column("window", ",d"),
        Column("insertion, us", ".2f"),
        Column("window step, us", ".2f"),
        Column("ratio", ".2f", "x"),
        Column("turn by turn"),
    )
    table = Table("A step of a full window: one record learned, one forgotten", columns, rows)
    return table, max(ratios), spread


def _steps(source: Nominal, before: Chunk, after: Chunk, window: int | None) -> Timed:
    learner = fresh(source, window=window)
    learn(learner, before, CpuClock())
    clock = CpuClock()
    correct = learn(learner, after, clock)
    return Timed(len(after), clock.seconds, correct)
