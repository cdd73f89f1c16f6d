"""The learning loop waits for no reader, and no reader holds up another."""

import json
import socket
import threading
import time
import urllib.error
import urllib.request

import pytest

from learners.outline import Size
from stream.broker.process import wait_until
from stream.demo.generators import loans
from stream.events import BatchPredicted, ModelMeasured
from stream.page import feed as presenting
from stream.page import server as serving
from stream.page.routes import MOST_PAGES
from tests.stream.page.agents import AGENT
from tests.stream.page.asking import SECONDS, ask
from tests.stream.page.garden import Garden, Planted, full_tree, garden


def watching(address: str) -> socket.socket:
    """A connection that follows the news."""
    host, port = address.removeprefix("http://").rstrip("/").split(":")
    connection = socket.create_connection((host, int(port)), timeout=SECONDS)
    connection.sendall(f"GET /api/events HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    return connection


def test_news_come_as_events_and_what_was_missed_comes_together(one: Garden) -> None:
    with watching(one.address) as connection:
        text = b""
        while b"event: versions" not in text:
            text += connection.recv(65_536)
        names = [line.split()[1] for line in text.splitlines() if line.startswith(b"event: ")]
        assert names[:2] == [b"state", b"curves"]
        assert {b"tree", b"changes", b"versions"} <= set(names)
        assert b"text/event-stream" in text


def test_a_reader_who_goes_away_is_forgotten(one: Garden) -> None:
    connection = watching(one.address)
    assert wait_until(lambda: one.hub.viewers == 1, SECONDS)
    connection.close()
    assert wait_until(lambda: one.hub.viewers == 0, SECONDS)


def test_a_reader_who_is_stuck_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    assert serving._Handler.timeout == serving.REQUEST_SECONDS
    monkeypatch.setattr(serving._Handler, "timeout", 0.3)
    with garden(learner=Planted(full_tree(6))) as one, watching(one.address):
        assert wait_until(lambda: one.hub.viewers == 1, SECONDS)
        # It reads nothing: once the system's buffers are full, sending to it takes too long.
        deadline = time.monotonic() + SECONDS
        while one.hub.viewers and time.monotonic() < deadline:
            one.bed.version += 1
            one.bed.restored()
            one.presenter.tick()
        assert one.hub.viewers == 0


def test_there_is_an_end_to_how_many_are_served() -> None:
    with garden() as one:
        readers = [watching(one.address) for _ in range(MOST_PAGES)]
        try:
            assert wait_until(lambda: one.hub.viewers == MOST_PAGES, SECONDS)
            assert ask(one.address, "api/events").status == 503
            assert ask(one.address, "healthz").status == 200
        finally:
            for reader in readers:
                reader.close()


def test_the_learning_loop_never_waits_for_a_reader_or_the_presenter(one: Garden) -> None:
    done = threading.Event()

    def learn() -> None:
        one.bed.learn_stream(loans(2), 200)
        done.set()

    with one.presenter._changed:  # as if the presenter or a reader held it for ever
        threading.Thread(target=learn, daemon=True).start()
        assert done.wait(SECONDS)


def test_a_thousand_changes_a_second_are_a_handful_of_updates() -> None:
    """However many changes there are between two ticks, a reader is sent one tree; and ticks are rare."""
    assert presenting.TICK_SECONDS >= 0.1
    with garden(learner=Planted(full_tree(6))) as one:
        one.presenter.close()
        reader = one.presenter.reader(("loans", "applications"))
        one.presenter.tick()
        reader.next(0)
        for _ in range(10):
            for _ in range(100):
                one.bed.version += 1
                one.bed.restored()
            assert not reader.next(0), "nothing is sent before it is time"
            one.presenter.tick()
            news = reader.next(0)
            trees = [json.loads(text) for name, text in news if name == "tree"]
            assert [tree["version"] for tree in trees] == [one.bed.version]
        assert one.bed.version == 1_000


def test_a_tree_that_may_not_be_counted_now_is_shown_with_older_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with garden() as one:
        one.presenter.close()
        one.bed.learn_stream(loans(1), 60)
        model = one.hub.agents["loans"].models["applications"]
        model._credit = -1e9  # as if counting had taken very long
        counted = model.counted
        one.bed.learn_stream(loans(2), 200)
        assert model.counted is counted is not None and counted.version < one.bed.version

        def version() -> int:
            one.presenter.tick()
            return int(json.loads(one.presenter.tree(("loans", "applications")) or b"")["version"])

        monkeypatch.setattr(presenting, "STALE_SECONDS", 1e9)
        assert version() == counted.version
        monkeypatch.setattr(presenting, "STALE_SECONDS", 0.0)
        assert version() == one.bed.version


def test_the_queues_of_the_hub_are_bounded_when_nobody_looks() -> None:
    agent = AGENT
    with garden(agent) as one:
        one.presenter.close()
        for _ in range(300):
            one.hub.observe(ModelMeasured("loans", "applications", Size(1, 1, 0), 1, None, [b"{}"] * 3))
            one.hub.observe(BatchPredicted("loans", [True] * 700, 0))
        model = one.hub.agents["loans"].models["applications"]
        assert len(model.steps) == 64
        assert len(one.hub.agents["loans"]._batches) <= 4


def test_a_garbled_request_ends_that_connection_and_no_other(one: Garden) -> None:
    host, port = one.address.removeprefix("http://").rstrip("/").split(":")
    for garbage in (
        b"\x00\xff\r\n\r\n",
        b"GET\r\n\r\n",
        b"POST /api/answer HTTP/1.1\r\n\r\n",
        b"GET //[ HTTP/1.1\r\n\r\n",
    ):
        with socket.create_connection((host, int(port)), timeout=SECONDS) as connection:
            connection.sendall(garbage + b"\r\n\r\n")
            connection.recv(100)
    with pytest.raises(urllib.error.HTTPError, match="404"):
        urllib.request.urlopen(f"{one.address}nothing", timeout=SECONDS)
    assert ask(one.address, "healthz").status == 200
