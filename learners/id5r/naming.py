"""What the compiled tree says in codes, in names."""

from collections.abc import Sequence

from learners.id5r.options import ANSWERERS
from learners.learner import Prediction, Step


def named_prediction(
    classes: Sequence[str],
    answer: int,
    counts: Sequence[int],
    path: tuple[Step, ...],
    flags: tuple[str, ...],
    by: int,
    shares: Sequence[float],
) -> Prediction:
    """Return an answer in names; `by` is one of `ANSWERERS`, where there is a choice, otherwise -1."""
    leaf = tuple(sorted((classes[code], int(n)) for code, n in enumerate(counts) if n))
    if answer < 0:
        return Prediction(None, leaf, path, flags)
    if by < 0:
        return Prediction(classes[answer], leaf, path, flags)
    likely = tuple(sorted((classes[code], share) for code, share in enumerate(shares) if share))
    return Prediction(classes[answer], leaf, path, flags, ANSWERERS[by], likely)
