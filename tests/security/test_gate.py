"""A real broker with TLS, SCRAM and ACLs: who may, works; who may not is told so, and ends."""

import json
import os
import re
import secrets
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer

from learners.core.options import CoreOptions
from stream.audit import Inspection
from stream.broker.install import Sources
from stream.config import Agent, Kafka, Limits
from stream.engines.kafka import Topics, read_to_end
from stream.record import Partition
from stream.topics import plans_for
from tests.faults.world import instance
from tests.security.fortress import Fortress, Right, rights_of

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
        self.log = directory / "worker.log"
        self.file = directory / "espalier.toml"
        self.secret = directory / "password"
        self.secret.write_text(PASSWORD + "\n")
        Topics(self.inside).create(plans_for(self.agent, 1))
        self._fed = 0
        properties = dict(fortress.properties(self.secret)) | {
            "session.timeout.ms": "2000",
            "heartbeat.interval.ms": "500",
        }
        self.write(properties)

    def write(self, properties: dict[str, str]) -> None:
        lines = "\n".join(f'"{name}" = {json.dumps(value)}' for name, value in properties.items())
        self.file.write_text(
            f"""
[kafka]
bootstrap_servers = "127.0.0.1:{self.fortress.port}"
[kafka.properties]
{lines}
[metrics]
port = 0
[state]
snapshot_records = 20
snapshot_seconds = 0.3
[[agent]]
name = "{self.agent.name}"
input = "{self.agent.input}"
[agent.options]
significance = "none"
"""
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
        return {**os.environ, "ESPALIER_KAFKA_PROPERTIES_SASL_PASSWORD_FILE": str(self.secret)}

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        told = [sys.executable, "-m", "stream", *words, "-c", str(self.file)]
        return subprocess.run(told, env=self.environment(), capture_output=True, text=True, timeout=SECONDS)

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        with self.log.open("wb") as log:
            command = [sys.executable, "-m", "stream", "worker", "-c", str(self.file), *words]
            return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=self.environment())

    def predictions(self) -> int:
        return sum(1 for _ in read_to_end(self.inside, Partition(self.agent.topics.predictions, 0)))

    def works(self, worker: subprocess.Popen[bytes]) -> None:
        """Wait until everything has been answered."""
        wanted = self._fed - self._fed // 10
        deadline = time.monotonic() + SECONDS
        while self.predictions() < wanted:
            assert worker.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.2)

    def refused(self, *words: str) -> str:
        """A worker that is started now must end by itself, and not with 0; return what it said last."""
        return self.ended(self.start(*words))

    def ended(self, worker: subprocess.Popen[bytes]) -> str:
        try:
            status = worker.wait(SECONDS)
        except subprocess.TimeoutExpired:
            worker.kill()
            worker.wait()
            pytest.fail(f"it went on:\n{self.log.read_text()}")
        said = [line for line in self.log.read_text().splitlines() if line.startswith("espalier: ")]
        assert status in (69, 74), self.log.read_text()
        assert said, self.log.read_text()
        assert "Traceback" not in self.log.read_text()
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
        where = re.search(r"http://127\.0\.0\.1:\d+", post.log.read_text())
        assert where is not None, post.log.read_text()
        with urllib.request.urlopen(f"{where[0]}/metrics", timeout=10) as answer:
            metrics = answer.read().decode()
    finally:
        worker.send_signal(signal.SIGTERM)
        assert worker.wait(SECONDS) == 0, post.log.read_text()
    report = Inspection(post.inside, post.agent, Limits(), repeats=False, tell=lambda progress: None).run(
        replay=True
    )
    assert not list(report.findings)
    shown = post.command("config", "show")
    assert shown.returncode == 0
    assert "sasl.password" in shown.stdout
    for artefact in (post.log.read_text(), metrics, shown.stdout, shown.stderr, post.file.read_text()):
        assert PASSWORD not in artefact
    for topic in (post.agent.topics.predictions, post.agent.topics.dead_letters, post.agent.topics.journal):
        for record in read_to_end(post.inside, Partition(topic, 0)):
            assert PASSWORD.encode() not in (record.value or b"") + repr(record.headers).encode()


def test_a_worker_without_one_of_its_rights_is_told_so_and_ends(fortress: Fortress, tmp_path: Path) -> None:
    """Every right is taken away once; the workers run side by side."""
    posts: list[tuple[Post, Right, subprocess.Popen[bytes]]] = []
    for number in range(10):
        directory = tmp_path / str(number)
        directory.mkdir()
        post = Post(fortress, directory)
        rights = rights_of(post.agent)
        assert len(rights) == 10
        fortress.grant(rights)
        fortress.revoke(rights[number])
        post.feed()
        posts.append((post, rights[number], post.start()))
    for post, right, worker in posts:
        said = post.ended(worker)
        # What is refused is said: a topic by its name, as far as the client tells it.
        words = {"GROUP": "roup", "TRANSACTIONAL_ID": "ransactional"}.get(right.kind.name, right.name)
        assert words in said or "Topic authorization failed" in said, (right, said)


def test_a_worker_with_a_wrong_password_is_told_so_and_ends(post: Post) -> None:
    wrong = "canary-" + secrets.token_hex(16)
    post.secret.write_text(wrong)
    said = post.refused()
    assert wrong not in post.log.read_text()
    assert "uthentication" in said or "no broker answers" in said


def test_a_worker_does_not_speak_with_a_broker_that_it_cannot_trust(post: Post) -> None:
    properties = dict(post.fortress.properties(post.secret))
    post.write({**properties, "ssl.ca.location": str(post.fortress.directory / "other.pem")})
    said = post.refused()
    assert "certificate" in said or "SSL" in said or "no broker answers" in said
    post.write({**properties, "enable.ssl.certificate.verification": "false"})
    told = post.command("config", "check")
    assert told.returncode == 78
    assert "anybody could pose as the broker" in told.stdout + told.stderr
