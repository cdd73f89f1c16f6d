"""A tree rebuilt from the change topic alone."""

from collections.abc import Iterable

import msgspec

from learners.change import ChangeKind, TreeChange, fold
from learners.outline import AttributeTest, Outline, digest, from_dict
from stream.errors import StateError
from stream.records import published

_decoder = msgspec.json.Decoder(published.TreeChange)


class Replica:
    """The tree of one model of one agent, as far as its changes have been followed.

    Args:
        agent: Whose changes to follow; others on the same topic are passed over.
        model: Which of its models; None: the first that appears.
    """

    def __init__(self, agent: str, model: str | None = None) -> None:
        self.agent = agent
        self.model = model
        self.outline: Outline | None = None
        self.version = 0
        self._digest = digest(None)

    def follow(self, values: Iterable[bytes | None], until: int | None = None) -> None:
        """Take over some records of the change topic, up to a version.

        Raises:
            StateError: A record is no change, or one is missing, came twice, or does not lead to the tree it
                names. The replica stands where it stood before that record.
        """
        for value in values:
            if value is None or (until is not None and self.version >= until):
                continue
            record = _decoded(value)
            if record.agent == self.agent and self.model in (None, record.model):
                self.model = record.model
                self._take(record)

    def _take(self, record: published.TreeChange) -> None:
        where = f"change {record.seq} of {record.agent} ({record.model})"
        if record.seq != self.version + 1:
            raise StateError(f"{where} follows change {self.version}. Part of the change topic is missing")
        if record.tree.previous_digest != self._digest:
            raise StateError(f"{where} was made to another tree than the one before it")
        try:
            outline = fold(map(_change_of, record.changes), self.outline)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise StateError(f"{where} cannot be applied: {error}") from error
        if digest(outline) != record.tree.digest:
            raise StateError(f"{where} does not lead to the tree it names")
        self.outline, self._digest, self.version = outline, record.tree.digest, record.seq


def _decoded(value: bytes) -> published.TreeChange:
    try:
        return _decoder.decode(value)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise StateError(f"the change topic holds a record that is not a tree change: {error}") from error


def _change_of(record: published.Change) -> TreeChange:
    return TreeChange(
        ChangeKind(record.kind),
        tuple((_test_of(step), step.value) for step in record.path),
        None if record.old_test is None else _test_of(record.old_test),
        None if record.new_test is None else _test_of(record.new_test),
        from_dict(msgspec.json.decode(record.subtree)),
    )


def _test_of(told: published.NodeTest | published.PathStep) -> AttributeTest:
    return AttributeTest(told.attribute, None if told.at_most is msgspec.UNSET else told.at_most)
