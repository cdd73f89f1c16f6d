"""The settings of the MDL tree."""

from typing import Annotated, Literal

import msgspec

from learners.learner import Options
from learners.mdl.judging import ADDITIVE, DATA, PAPER, ROOT

CODES = {"additive": ADDITIVE, "paper": PAPER, "paper-data": DATA, "paper-root": ROOT}
Positive = Annotated[int, msgspec.Meta(ge=1)]


class MDLOptions(Options, frozen=True):
    """Settings of the MDL tree.

    Attributes:
        code: How bits are counted. "additive": a bit a node, the tests, and the classes of each leaf by an
            estimator, for any number of classes; see `learners.mdl.bits`. "paper": as Bhatia and Schuch
            have it, for two classes; "paper-data": of these only the exceptions; "paper-root": with the
            exceptions of all leaves as one set.
        tree_weight: How much a bit for the tree counts against one for the exceptions, in the additive code.
            Trees are described wastefully: with 1, many that would answer better are too dear.
        deep: Whether a test is judged by the whole subtree that could grow below it, and not by its leaves:
            finds what two tests show only together, at a price.
        retry: How many times as many records there must be before a test that did not pay is tried again;
            1: it is tried with every record, as in the paper.
        restructure: How a test is exchanged: by pulling it up, or by building the subtree again. The tree is
            the same.
        bins: How many bins the numbers of an attribute are divided into.
        tie_order: Attributes in the order in which ties are broken; those not named follow in schema order.
        missing: What an instance to be learned without a value is given: a value of its own (a number goes
            where the median goes), or nothing: it is refused.
        window: How many instances are retained; unset: all. Exactly the last N count.
    """

    code: Literal["additive", "paper", "paper-data", "paper-root"] = "additive"
    tree_weight: Annotated[float, msgspec.Meta(ge=0, le=16)] = 0.25
    deep: bool = False
    retry: Annotated[float, msgspec.Meta(ge=1, le=100)] = 1.25
    restructure: Literal["pull-up", "rebuild"] = "pull-up"
    bins: Annotated[int, msgspec.Meta(ge=2, le=100)] = 32
    tie_order: tuple[str, ...] = ()
    missing: Literal["own_value", "reject"] = "own_value"
    window: Positive | None = None

    @property
    def refuses_missing(self) -> bool:
        """Whether an instance to be learned must have a value for every attribute."""
        return self.missing == "reject"
