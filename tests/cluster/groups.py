"""A consumer group: generations, cooperative rebalances, offsets, and those of open transactions."""

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from confluent_kafka import KafkaError

from tests.cluster.broker import Brokers, Place, Refused, Transaction
from tests.cluster.scheduler import Process

if TYPE_CHECKING:
    from tests.cluster.consumer import FakeConsumer

JOIN_SECONDS = 0.01


class Metadata(NamedTuple):
    """What a transaction's offsets are fenced with."""

    group: str
    generation: int
    member: str


class Member:
    """One of a group, and what its client has not been told yet."""

    def __init__(self, name: str, consumer: "FakeConsumer", topic: str, process: Process) -> None:
        self.name = name
        self.consumer = consumer
        self.topic = topic
        self.process = process
        self.owned: set[int] = set()
        self.is_ready = True
        """Whether its client has served all changes: it joins again only then."""


class Group:
    """The coordinator of one group."""

    def __init__(self, brokers: Brokers, rng: random.Random, session_seconds: float) -> None:
        self.generation = 0
        self.members: dict[str, Member] = {}
        self.offsets: dict[Place, int] = {}
        self._pending: dict[Place, list[tuple[Transaction, int]]] = {}
        self._brokers = brokers
        self._rng = rng
        self._session_seconds = session_seconds
        self._named = 0
        self._is_due = False
        self._shuffled = False

    # ---- members

    def join(self, consumer: "FakeConsumer", topic: str, process: Process) -> Member:
        """Take in a member; it gets partitions with the next generation."""
        self._named += 1
        member = Member(f"{process.name}-{self._named}", consumer, topic, process)
        self.members[member.name] = member
        process.on_silence.append(lambda: self._miss(member))
        self.rebalance()
        return member

    def leave(self, name: str) -> None:
        """Take out a member."""
        if self.members.pop(name, None) is not None:
            self.rebalance()

    def _miss(self, member: Member) -> None:
        """Give a member that is silent the time of its session."""
        self._brokers.scheduler.call_in(self._session_seconds, lambda: self._expel(member))

    def _expel(self, member: Member) -> None:
        is_silent = member.process.is_dead or member.process.frozen_until > self._brokers.scheduler.now
        if is_silent and member.name in self.members:
            self.leave(member.name)
            member.consumer.was_expelled()

    def shuffle(self) -> None:
        """Spread the partitions in another way."""
        self._shuffled = True
        self.rebalance()

    # ---- generations

    def rebalance(self) -> None:
        """Begin the next generation as soon as all members have joined again."""
        self._is_due = True
        self._brokers.scheduler.call_in(JOIN_SECONDS, self._begin)

    def served(self) -> None:
        """Note that a client has served a change."""
        if self._is_due:
            self._brokers.scheduler.call_in(JOIN_SECONDS, self._begin)

    def _begin(self) -> None:
        if not self._is_due or not self.members:
            return
        now = self._brokers.scheduler.now
        for member in self.members.values():
            process = member.process
            if not member.is_ready or process.is_dead or process.frozen_until > now:
                if process.frozen_until > now:
                    self._brokers.scheduler.call_in(process.frozen_until - now + JOIN_SECONDS, self._begin)
                return
        self._is_due = False
        self.generation += 1
        owners = self._spread()
        held = {number for member in self.members.values() for number in member.owned}
        moved = False
        for member in self.members.values():
            mine = {number for number, owner in owners.items() if owner is member}
            revoked = member.owned - mine
            # What another still holds comes with the generation after it has been given back; who gives
            # something back gets nothing before that.
            added = set() if revoked else mine - held
            moved = moved or bool(revoked)
            member.owned = (member.owned & mine) | added
            if revoked:
                member.consumer.change("revoke", sorted(revoked))
            else:
                member.consumer.change("assign", sorted(added))
        if moved:
            self.rebalance()
        self._brokers.scheduler.wake()

    def _spread(self) -> dict[int, Member]:
        """Return who is to have which partition: as even as can be, and as much as before as can be."""
        members = list(self.members.values())
        numbers = list(range(self._brokers.partitions[members[0].topic]))
        if self._shuffled:
            self._shuffled = False
            self._rng.shuffle(members)
            return {number: members[number % len(members)] for number in numbers}
        most = -(-len(numbers) // len(members))
        owners: dict[int, Member] = {}
        counts = dict.fromkeys((member.name for member in members), 0)
        for member in members:
            for number in sorted(member.owned)[:most]:
                owners[number] = member
                counts[member.name] += 1
        for number in numbers:
            if number not in owners:
                owner = min(members, key=lambda one: counts[one.name])
                owners[number] = owner
                counts[owner.name] += 1
        return owners

    # ---- offsets

    def commit(
        self, transaction: Transaction, offsets: Sequence[tuple[Place, int]], metadata: Metadata
    ) -> None:
        """Take the offsets of a transaction, to count once it is committed.

        Raises:
            Refused: The member is not of the group, or not of its generation.
        """
        if metadata.member not in self.members:
            raise Refused(KafkaError.UNKNOWN_MEMBER_ID)
        if metadata.generation != self.generation:
            raise Refused(KafkaError.ILLEGAL_GENERATION)
        for place, offset in offsets:
            self._pending.setdefault(place, []).append((transaction, offset))

        def decided(commit: bool) -> None:
            for place in list(self._pending):
                for pending in [one for one in self._pending[place] if one[0] is transaction]:
                    self._pending[place].remove(pending)
                    if commit:
                        self.offsets[place] = pending[1]
                if not self._pending[place]:
                    del self._pending[place]

        transaction.offsets.append(decided)

    def is_stable(self, place: Place) -> bool:
        """Whether no open transaction has an offset of a partition."""
        return place not in self._pending

    def delete_offsets(self) -> None:
        """Delete all offsets, also those of open transactions, as expiry and operators do."""
        self.offsets.clear()
        self._pending.clear()
