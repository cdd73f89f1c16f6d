"""A real broker with TLS, SCRAM and ACLs: who may, works; who may not is told so, and ends."""

import secrets
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from confluent_kafka import Producer

from learners.id5r.options import CoreOptions
from stream.audit import Inspection
from stream.broker.install import Sources
from stream.config import Agent, Kafka, Limits
from stream.kafka.reading import read_to_end
from stream.kafka.topic_plan import plans_for
from stream.kafka.topics import TopicAdmin
from stream.records.record import Partition
from tests.faults.world import instance
from tests.security.fortress import Fortress, Right, rights_of
from tests.settings import agent_table, write_settings
from tests.workers import ENVIRONMENT, WorkerProcess, espalier

pytestmark = [pytest.mark.broker, pytest.mark.timeout(240)]

PASSWORD = "canary-" + secrets.token_hex(16)
SECONDS = 60.0


@pytest.fixture(scope="module")
def fortress(broker_sources: Sources, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fortress]:
    fortress = Fortress(tmp_path_factory.mktemp("fortress"), broker_sources)
    fortress.enrol(PASSWORD)
    yield fortress
    fortress.close()


class Post:
    """An agent on fresh topics, and a worker that comes by the gate."""

    def __init__(self, fortress: Fortress, directory: Path) -> None:
        name = f"g-{secrets.token_hex(4)}"
        self.fortress = fortress
        self.agent = Agent(name=name, input=f"{name}.in", options=CoreOptions(significance=None))
        self.inside = Kafka(fortress.inside)
        self.directory = directory
        self.file = directory / "espalier.toml"
        self.secret = directory / "password"
        self.secret.write_text(PASSWORD + "\n")
        TopicAdmin(self.inside).create(plans_for(self.agent, 1))
        self._fed = 0
        properties = dict(fortress.properties(self.secret)) | {
            "session.timeout.ms": "2000",
            "heartbeat.interval.ms": "500",
        }
        self.write(properties)

    def write(self, properties: dict[str, str], port: int | None = None) -> None:
        write_settings(
            self.directory,
            f"127.0.0.1:{port or self.fortress.port}",
            agent_table(self.agent, options={"significance": "none"}),
            kafka={"properties": properties},
            state={"snapshot_records": 20, "snapshot_seconds": 0.3},
        )

    def feed(self, count: int = 40) -> None:
        producer = Producer({"bootstrap.servers": self.fortress.inside})
        for _ in range(count):
            # One of them is a dead letter: that topic has to be written too.
            value = b"{" if self._fed % 10 == 9 else instance(self._fed)
            producer.produce(self.agent.input, value, partition=0)
            self._fed += 1
        assert producer.flush(30) == 0

    def environment(self) -> dict[str, str]:
        return {**ENVIRONMENT, "ESPALIER_KAFKA_PROPERTIES_SASL_PASSWORD_FILE": str(self.secret)}

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        return espalier(*words, directory=self.directory, environment=self.environment())

    def start(self, *words: str) -> WorkerProcess:
        return WorkerProcess(self.directory, *words, environment=self.environment())

    def predictions(self) -> int:
        return sum(1 for _ in read_to_end(self.inside, Partition(self.agent.topics.predictions, 0)))

    def works(self, worker: WorkerProcess) -> None:
        """Wait until everything has been answered."""
        wanted = self._fed - self._fed // 10
        deadline = time.monotonic() + SECONDS
        while self.predictions() < wanted:
            assert worker.process.poll() is None, worker.words()
            assert time.monotonic() < deadline, worker.words()
            time.sleep(0.2)

    def ended(self, worker: WorkerProcess, status: int) -> str:
        """A worker must end by itself, with this status; return what it said last."""
        came = worker.wait(SECONDS)
        if came is None:
            worker.kill()
            pytest.fail(f"it went on:\n{worker.words()}")
        said = [line for line in worker.words().splitlines() if line.startswith("espalier: ")]
        assert came == status, worker.words()
        assert said, worker.words()
        assert "Traceback" not in worker.words()
        return said[-1]


@pytest.fixture
def post(fortress: Fortress, tmp_path: Path) -> Post:
    return Post(fortress, tmp_path)


def test_a_worker_with_the_least_rights_does_all_its_work_and_tells_nobody_its_secret(post: Post) -> None:
    post.fortress.grant(rights_of(post.agent))
    post.feed()
    worker = post.start("--log-level", "debug")
    try:
        post.works(worker)
        # Enough for snapshots, which have a topic of their own.
        post.feed()
        post.works(worker)
        where = worker.said(r"http://127\.0\.0\.1:\d+")
        assert where is not None, worker.words()
        with urllib.request.urlopen(f"{where[0]}/metrics", timeout=30) as answer:
            metrics = answer.read().decode()
    finally:
        assert worker.stop() == 0, worker.words()
    report = Inspection(post.inside, post.agent, Limits(), repeats=False, tell=lambda progress: None).run(
        replay=True
    )
    assert not list(report.findings)
    shown = post.command("config", "show")
    assert shown.returncode == 0
    assert "sasl.password" in shown.stdout
    for artefact in (worker.words(), metrics, shown.stdout, shown.stderr, post.file.read_text()):
        assert PASSWORD not in artefact
    for topic in (post.agent.topics.predictions, post.agent.topics.dead_letters, post.agent.topics.journal):
        for record in read_to_end(post.inside, Partition(topic, 0)):
            assert PASSWORD.encode() not in (record.value or b"") + repr(record.headers).encode()


def test_a_worker_without_one_of_its_rights_is_told_so_and_ends(fortress: Fortress, tmp_path: Path) -> None:
    """Every right is left out once; the workers run side by side.

    It was never granted: one that is taken away may still be good for a moment, in which all is done.
    """
    posts: list[tuple[Post, Right]] = []
    for number in range(10):
        directory = tmp_path / str(number)
        directory.mkdir()
        post = Post(fortress, directory)
        rights = rights_of(post.agent)
        assert len(rights) == 10
        fortress.grant([right for right in rights if right is not rights[number]])
        post.feed()
        posts.append((post, rights[number]))
    words = {"GROUP": "Group authorization failed", "TRANSACTIONAL_ID": "Transactional Id authorization"}
    with ExitStack() as at_work:
        started = [(post, right, at_work.enter_context(post.start())) for post, right in posts]
        for post, right, worker in started:
            said = post.ended(worker, 74)
            # What is refused is said, and a topic by its name.
            assert words.get(right.kind.name, right.name) in said, (right, said)


def test_a_worker_that_is_not_let_in_says_why_and_ends(fortress: Fortress, tmp_path: Path) -> None:
    """A wrong password, and a broker that cannot be trusted; side by side, since each is waited for."""
    wrong = "canary-" + secrets.token_hex(16)
    stranger, spy = (tmp_path / name for name in ("stranger", "spy"))
    for directory in (stranger, spy):
        directory.mkdir()
    unknown, untrusted = Post(fortress, stranger), Post(fortress, spy)
    unknown.secret.write_text(wrong)
    properties = dict(fortress.properties(untrusted.secret))
    untrusted.write({**properties, "ssl.ca.location": str(fortress.directory / "other.pem")})
    with unknown.start() as refused, untrusted.start() as careful:
        # What the client says in the log tells these from a port where nobody listens.
        assert "no broker answers" in unknown.ended(refused, 69)
        assert refused.said(r"SASL .*uthentication"), refused.words()
        assert "no broker answers" in untrusted.ended(careful, 69)
        assert careful.said(r"certificate verify failed"), careful.words()
    assert wrong not in refused.words()
    untrusted.write({**properties, "enable.ssl.certificate.verification": "false"})
    told = untrusted.command("config", "check")
    assert told.returncode == 78
    assert "anybody could pose as the broker" in told.stdout + told.stderr
