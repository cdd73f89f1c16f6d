"""What the log says about numbers that a learner cannot compare: each thing once."""

from collections.abc import Callable

from learners.canonical import is_number
from learners.learner import Learner
from stream.events import Event, NumbersAsText, NumbersAsValues
from stream.model.predictions import ModelRoute
from stream.records.record import Record

Observe = Callable[[Event], None]
ENOUGH_TEXTS = 32
"""How many texts an attribute must have before the log says that all of them are numbers."""


class NumberHints:
    """Notices numbers that are sent as text, and numbers that a learner without thresholds is given.

    Args:
        place: Which model it is about.
        observe: Called with each thing that is noticed.
    """

    def __init__(self, place: ModelRoute, observe: Observe) -> None:
        self._place = place
        self._observe = observe
        self._grown = 0
        self._seen: set[int] = set()

    def look(self, learner: Learner, record: Record) -> None:
        """Look at names that are new since the last time; `record` is the one that came last."""
        codes, place = learner.codes, self._place
        if codes.grown == self._grown:
            return
        self._grown = codes.grown
        position = (record.partition.topic, record.partition.number, record.offset)
        if not codes.numbers:
            if "number" in codes.kinds and not self._seen:
                first = codes.kinds.index("number")
                self._seen.add(first)
                name = codes.attributes[first]
                self._observe(NumbersAsValues(place.agent, place.model, name, learner.name, *position))
            return
        for attribute, values in enumerate(codes.values):
            known = attribute in self._seen or codes.kinds[attribute] != "string"
            if known or len(values) <= ENOUGH_TEXTS:
                continue
            self._seen.add(attribute)
            if all(is_number(text) for text in values[1:] if text):
                name, count = codes.attributes[attribute], len(values) - 1
                self._observe(NumbersAsText(place.agent, place.model, name, count, *position))
