"""Snapshots and journals are read by whichever engine comes next."""

from collections.abc import Callable

import pytest

from stream.broker import Broker
from stream.config import EngineName
from stream.events import RestoreFinished
from tests.contract.site import Site

pytestmark = pytest.mark.broker

MOVES = (EngineName.FAUST, EngineName.CONFLUENT, EngineName.FAUST)


def test_a_snapshot_and_a_trimmed_journal_of_one_engine_are_gone_on_from_by_the_other(
    broker: Broker, topics: Callable[[str], str]
) -> None:
    site = Site(broker, topics)
    for turn, engine in enumerate(MOVES):
        site.rig.engine = engine
        before = site.produced
        # More than the last snapshot can have held, so that another is due.
        site.feed(200 * 2**turn)
        site.work(until_snapshots=1)
        [restored] = site.seen(RestoreFinished)
        assert isinstance(restored, RestoreFinished)
        assert turn == 0 or restored.records < before
    assert site.journal_begins_at() > 0
    site.expect_every_record_answered_once()
