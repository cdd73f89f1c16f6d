"""The settings of the production learner."""

from typing import Annotated, Literal

import msgspec

from learners.clock import Clock
from learners.learner import BY_BAYES, Options

RECENT = 500
"""How many records the second tree has with the preset."""
WINDOWS_AHEAD = 10
"""How many times `window_time` a record may be ahead of the latest one, unless it is set."""
ANSWERERS = (
    "root-bayes",
    "leaf-bayes",
    "leaf",
    "recent-root-bayes",
    "recent-leaf-bayes",
    "recent-leaf",
    "blend",
)
"""Who may answer."""
BAYES = ANSWERERS.index(BY_BAYES)
OUTLINE_BYTES = 600
"""What the outline of a node takes, which is kept from one publication to the next: measured, about."""
Positive = Annotated[int, msgspec.Meta(ge=1)]


class CoreOptions(Options, frozen=True):
    """Settings of the production learner.

    Attributes:
        selection: "e-score", the paper's and the fast one, or "gain-ratio" (section 5.3), which is worth
            trying where attributes have many values.
        significance: The level at which an attribute must depend on the class to be tested. It keeps noise
            out of the tree and its cost flat; none: the bare algorithm.
        significance_test: The statistic: "g", which comes almost free, or Pearson's "chi2", the paper's.
        min_records_per_value: How many instances for each value present a significant attribute needs, so
            that identifiers are not tested. 0: no such rule.
        bins: How many bins the numbers of an attribute are divided into, of about the same size. A test
            compares a number with the threshold above one of them.
        tie_order: Attributes in the order in which ties are broken; those not named follow in schema order.
        missing: What an instance to be learned without a value is given: a value of its own, or nothing: it
            is refused.
        window: How many instances are retained; unset: all. Exactly the last N count.
        time: The attribute that holds the time of an instance, a number in any unit. It is not tested.
        window_time: For how long an instance is retained, in the unit of `time`: what is older than the
            newest by more leaves, in order of arrival. What comes later than that, or without a time, is
            answered and not learned.
        max_time_jump: How far after the latest time learned a record may be, in the unit of `time`; unset:
            ten times `window_time`. What is later is refused, until ten records in a row agree.
        max_instances: A cap on the instances retained; the oldest leave. If there is a window, the smaller
            of the two holds.
        max_bytes: A cap on the memory of the tree; the oldest instances leave. What the tree takes is
            calculated from the records, so that the same ones leave after a restart and in any batches.
        answer: Who answers: "tree", the majority of the leaf, which is what the path says; or "adaptive": a
            blend of the leaf, naive Bayes and slopes of the numbers, weighted by what their errors teach,
            unless one of them alone has been right clearly more often; or "bayes": naive Bayes from the
            root's counts alone, for comparison.
        drift: When the past is dropped: "none", never; "ddm", when the answers get clearly worse than they
            were; "verified", when they do and a tree without the past turns out to be better.
        recent: Of how many of the last records a second tree is kept, which answers whenever it has been
            right more often lately; none: there is no such tree.
        preset: "adaptive": answer = "adaptive", drift = "ddm" and recent = 500, where they are not set.
        on_contradiction: What happens when a description comes again with another class: both are kept, or
            the newer replaces the older (section 6).
    """

    selection: Literal["e-score", "gain-ratio"] = "e-score"
    significance: Annotated[float, msgspec.Meta(gt=0, lt=1)] | None = 0.01
    significance_test: Literal["g", "chi2"] = "g"
    min_records_per_value: Annotated[int, msgspec.Meta(ge=0)] = 2
    bins: Annotated[int, msgspec.Meta(ge=2, le=100)] = 32
    tie_order: tuple[str, ...] = ()
    missing: Literal["own_value", "reject"] = "own_value"
    window: Positive | None = None
    time: str | None = None
    window_time: Annotated[float, msgspec.Meta(gt=0)] | None = None
    max_time_jump: Annotated[float, msgspec.Meta(gt=0)] | None = None
    max_instances: Positive | None = None
    max_bytes: Annotated[int, msgspec.Meta(ge=1_000_000)] | None = None
    on_contradiction: Literal["keep", "replace"] = "keep"
    answer: Literal["tree", "adaptive", "bayes"] = "tree"
    drift: Literal["ddm", "verified"] | None = None
    recent: Positive | None = None
    preset: Literal["adaptive"] | None = None

    def __post_init__(self) -> None:
        """Refuse a window by time where there is no time."""
        if self.window_time is not None and self.time is None:
            raise ValueError("window_time needs time: the attribute that holds the time of an instance")
        if self.max_time_jump is not None and self.window_time is None:
            raise ValueError("max_time_jump needs window_time: without one nothing is retained by its time")

    @property
    def refuses_missing(self) -> bool:
        """Whether an instance to be learned must have a value for every attribute."""
        return self.missing == "reject"

    @property
    def time_jump(self) -> float:
        """How far time may go forward at one record."""
        return self.max_time_jump or WINDOWS_AHEAD * (self.window_time or 0.0)

    def clock(self) -> Clock | None:
        """Return what refuses records from the future; None where nothing is retained by time."""
        if self.time is None or self.window_time is None:
            return None
        return Clock(self.time, self.window_time, self.time_jump)

    def in_effect(self) -> "CoreOptions":
        """Return the settings with those of the preset filled in."""
        if self.preset is None:
            return self
        return msgspec.structs.replace(
            self, answer="adaptive", drift=self.drift or "ddm", recent=self.recent or RECENT
        )

    def tree_settings(self) -> dict[str, object]:
        """Return the settings that decide the tree.

        Who answers is one of them only where answers decide what is learned or dropped.
        """
        effective = self.in_effect()
        settings = super(CoreOptions, effective).tree_settings()
        del settings["preset"]
        if effective.drift is None and effective.train == "all":
            del settings["answer"]
        return settings
