"""What forgetting costs: a step of a full window, which learns one record and forgets another.

Compared with learning the same records into a tree that keeps everything, on which the same records have been
learned before.
"""

from functools import partial

from stream.bench.contenders import fresh, learn
from stream.bench.measure import CpuClock, Pass, Tell, Timed, best_in_turn
from stream.bench.report import Column, Table
from stream.bench.streams import Chunk, Nominal


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
            best = best_in_turn(ways, repeats, tell, f"window of {window:,}, {noise:.0%} noise")
            insertion, step = best["insertion"], best["step"]
            costs.append(step.micros)
            ratio = step.seconds / insertion.seconds
            rows.append((f"{noise:.0%}", window, insertion.micros, step.micros, ratio))
        spread = max(spread, max(costs) / min(costs))
    columns = (
        Column("noise"),
        Column("window", ",d"),
        Column("insertion, us", ".2f"),
        Column("window step, us", ".2f"),
        Column("ratio", ".2f", "x"),
    )
    dearest = max(row[-1] for row in rows if isinstance(row[-1], float))
    return Table("A step of a full window: one record learned, one forgotten", columns, rows), dearest, spread


def _steps(source: Nominal, before: Chunk, after: Chunk, window: int | None) -> Timed:
    learner = fresh(source, window=window)
    learn(learner, before, CpuClock())
    clock = CpuClock()
    correct = learn(learner, after, clock)
    return Timed(len(after), clock.seconds, correct)
