"""A cluster of three brokers of which one is killed, frozen or restarted while agents work."""

import random
import threading
import time

from confluent_kafka import ElectionType, KafkaException

from stream.broker import Broker, BrokerNode
from stream.config import Scope
from tests.faults.forkserver import wait_until
from tests.faults.ground import Plan, Result, Tally
from tests.faults.groups import Crew
from tests.faults.world import Failure, World, admin_of

KINDS = ("killed", "frozen", "restarted", "leaders moved")
PROPERTIES = {
    "socket.timeout.ms": 4_000,
    "reconnect.backoff.max.ms": 500,
    "session.timeout.ms": 6_000,
    "heartbeat.interval.ms": 1_000,
}


def run(plan: Plan) -> Result:
    """Hurt one broker after the other while two agents work, each with a supervisor; then check them."""
    result = Result("broker", what="brokers killed, frozen or restarted, or their leaders moved")
    tally = Tally(plan, result)
    cluster = plan.ground.broker("three", nodes=3)
    started = time.monotonic()
    rng = random.Random(plan.seed)
    try:
        while True:
            left = _one_world(plan, tally, cluster, rng, 25)
            if left or result.failure:
                break
    except (Failure, AssertionError) as error:
        tally.fail(str(error))
    result.seconds = time.monotonic() - started
    result.detail = ", ".join(f"{result.counts[kind]:,} {kind}" for kind in KINDS)
    # Two agents: whoever has no broker for a while may give up once with each fault.
    return result.conclude(plan, plan.repeat, most_ends=2 * result.done)


def _one_world(plan: Plan, tally: Tally, cluster: Broker, rng: random.Random, turns: int) -> int:
    """Let two agents live through some faults; return how many turns were left when there were enough."""
    crews = [
        Crew(
            World(
                cluster.bootstrap_servers,
                plan.ground.directory,
                plan.ground.workers,
                scope=scope,
                partitions=3,
                properties=PROPERTIES,
                seed=rng.randrange(10**6),
                bug=plan.bug,
                max_batch=20,
            ),
            tally,
        )
        for scope in (Scope.TOPIC, Scope.PARTITION)
    ]
    for crew in crews:
        crew.join("a")
        crew.world.feed(60)
    for crew in crews:
        crew.progress(30, max(90.0, plan.patience))
    feeding = _Feeding(crews, rng.randrange(10**6))
    try:
        while turns and tally.take():
            turns -= 1
            kind = rng.choice(KINDS)
            _hurt(cluster, rng.choice(cluster.nodes), kind, rng)
            _wait_for_all(cluster)
            for crew in crews:
                crew.progress(5, max(120.0, plan.patience))
            tally.count(kind)
    finally:
        feeding.stop()
    for crew in crews:
        crew.finish(180)
        tally.add_records(crew.world.produced)
    return turns


class _Feeding(threading.Thread):
    """Puts records into the inputs all the time."""

    def __init__(self, crews: list[Crew], seed: int) -> None:
        super().__init__(daemon=True)
        self._crews = crews
        self._ended = threading.Event()
        self.start()

    def run(self) -> None:
        while not self._ended.wait(0.1):
            for crew in self._crews:
                crew.world.feed(6)

    def stop(self) -> None:
        self._ended.set()
        self.join(90)


def _hurt(cluster: Broker, node: BrokerNode, kind: str, rng: random.Random) -> None:
    if kind == "killed":
        node.kill()
        time.sleep(rng.uniform(0, 3))
        node.start()
    elif kind == "frozen":
        node.freeze()
        time.sleep(rng.uniform(1, 7))
        node.thaw()
    elif kind == "restarted":
        node.stop()
        time.sleep(rng.uniform(0, 1))
        node.start()
    else:
        admin = admin_of(cluster.bootstrap_servers)
        try:
            admin.elect_leaders(ElectionType.PREFERRED, None).result(30)
        except KafkaException as error:
            raise Failure(f"leaders could not be moved: {error}") from error


def _wait_for_all(cluster: Broker) -> None:
    """Wait until every replica is in sync again: the next fault may then be any."""

    def in_sync() -> bool:
        try:
            told = admin_of(cluster.bootstrap_servers).list_topics(timeout=10)
        except KafkaException:
            return False
        return all(
            len(partition.isrs) == len(partition.replicas)
            for topic in told.topics.values()
            for partition in topic.partitions.values()
        )

    if not wait_until(in_sync, 120, pause=0.2):
        raise Failure("the cluster does not recover by itself")
