"""Where a worker begins to read and to write, whatever is still under way when it starts."""

from collections.abc import Iterator

import pytest
from confluent_kafka import KafkaException

from stream.broker.install import Sources
from stream.config import Scope
from tests.faults.failpoints import STOP
from tests.faults.forkserver import wait_until
from tests.faults.ground import Ground
from tests.faults.proxy import Api, Fault, Proxy, Request
from tests.faults.world import World, admin_of

pytestmark = [pytest.mark.broker, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def ground(broker_sources: Sources, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    """A broker of our own, which ends transactions that nobody finishes soon."""
    with Ground(tmp_path_factory.mktemp("start"), sources=broker_sources) as ground:
        yield ground


def delete_group(world: World) -> None:
    """Let the broker forget the group of an agent, as after a week of silence."""

    def is_deleted() -> bool:
        asked = admin_of(world.servers).delete_consumer_groups([world.agent.group])
        try:
            asked[world.agent.group].result(30)
        except KafkaException:
            # Its last worker is not given up yet.
            return False
        return True

    assert wait_until(is_deleted, 60, pause=0.2), "the group cannot be deleted"


@pytest.mark.parametrize("scope", list(Scope))
def test_a_late_answer_about_the_beginning_does_not_lead_back_to_it(ground: Ground, scope: Scope) -> None:
    """The client asks where the input begins; the model is restored before the answer comes."""
    broker, behind, port = ground.proxied()
    with Proxy(behind, port) as proxy:
        world = World(
            broker.bootstrap_servers,
            ground.directory,
            ground.workers,
            scope=scope,
            partitions=2,
            worker_servers=f"127.0.0.1:{port}",
        )
        world.feed(100)
        world.settle(world.start())
        delete_group(world)

        def late(request: Request) -> Fault | None:
            about_input = world.agent.input.encode() in request.frame
            return Fault.DELAY if request.api == Api.LIST_OFFSETS and about_input else None

        proxy.delay, proxy.choose = 1.5, late
        world.feed(40)
        world.settle(world.start())
        world.check()
        # The client was never sent there, so that nothing had to be restored again.
        assert "begins again" not in world.log.read_text()


@pytest.mark.parametrize("scope", list(Scope))
@pytest.mark.parametrize("forgotten", [True, False], ids=["without offsets", "with offsets"])
def test_what_a_predecessor_may_still_commit_is_waited_for(
    ground: Ground, scope: Scope, forgotten: bool
) -> None:
    """A worker stops in front of its commit; another takes over, then the first goes on.

    In scope "partition" the two have different transactional ids, so that the second does not end the
    transaction of the first. While the group has its offsets, they are not told before that transaction is
    decided; without them, only the high watermark of the journal shows that there is one.
    """
    world = World(ground.servers, ground.directory, ground.workers, scope=scope, partitions=2)
    world.feed(60)
    first = world.start({f"commit.flushed{STOP}": 3}, "first")
    assert wait_until(lambda: first.is_stopped, 60), world.last_words()
    if forgotten:
        delete_group(world)
    told = len(world.log.read_text())
    second = world.start(instance_name="second")

    def has_decided() -> bool:
        said = world.log.read_text(errors="replace")[told:]
        return "a transaction is open" in said or "restored, " in said

    # Where offsets are waited for nothing is said: the client asks the broker again by itself.
    wait_until(has_decided, 60 if forgotten or scope is Scope.TOPIC else 5)
    first.go_on()
    assert first.stop() in (0, 69, 74, 75), world.last_words()
    world.feed(40)
    world.settle(second)
    world.check()
