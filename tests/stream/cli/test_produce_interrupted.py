"""Ctrl-C while `espalier produce` sends: what it says was sent is what was sent, wherever it comes."""

import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

from stream.cli import produce
from stream.cli.main import espalier

ROWS = 8


class Interrupted:
    """Takes records instead of a broker, and is interrupted at a step of one of them."""

    def __init__(self, step: str, number: int) -> None:
        self.sent: list[bytes | None] = []
        self.flushed = 0
        self._step, self._number = step, number

    def at(self, step: str) -> None:
        if step == self._step and len(self.sent) == self._number:
            self._step = ""
            signal.raise_signal(signal.SIGINT)

    def send(self, topic: str, value: bytes | None) -> None:
        self.at("before")
        self.sent.append(value)
        self.at("after")

    def flush(self) -> None:
        self.flushed = len(self.sent)
        self.at("flush")


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[Interrupted, bool], tuple[int, str]]:
    """Produce a file of some rows, with or without a pace; return the status and the last line."""
    (tmp_path / "some.csv").write_text("x,class\n" + "1,a\n" * ROWS)
    monkeypatch.chdir(tmp_path)

    class Known:
        def __init__(self, kafka: object) -> None: ...

        def describe(self, names: list[str]) -> list[str]:
            return names

    def run(sender: Interrupted, paced: bool) -> tuple[int, str]:
        monkeypatch.setattr(produce, "Sender", lambda kafka: sender)
        monkeypatch.setattr(produce, "TopicAdmin", Known)
        monkeypatch.setattr("stream.cli.produce.time.sleep", lambda seconds: sender.at("wait"))
        pace = ("--rate", "1000") if paced else ()
        arguments = ["produce", "some.csv", "--topic", "t", "--bootstrap-servers", "127.0.0.1:1", *pace]
        result = CliRunner().invoke(espalier, arguments)
        return result.exit_code, result.output.splitlines()[-1]

    return run


@pytest.mark.parametrize("number", [1, 3, ROWS - 1])
@pytest.mark.parametrize(
    ("step", "paced"),
    [("before", False), ("after", False), ("before", True), ("after", True), ("wait", True)],
)
def test_each_record_that_was_sent_is_counted(
    run: Callable[[Interrupted, bool], tuple[int, str]], step: str, number: int, paced: bool
) -> None:
    handler = signal.getsignal(signal.SIGINT)
    sender = Interrupted(step, number)
    status, line = run(sender, paced)
    # The record at hand is sent and counted; none follows it.
    assert len(sender.sent) == number + (step == "before") == sender.flushed
    assert (status, line) == (130, f"interrupted: {sender.flushed} of {ROWS} instances in t")
    assert signal.getsignal(signal.SIGINT) is handler


def test_who_has_sent_everything_is_not_interrupted(
    run: Callable[[Interrupted, bool], tuple[int, str]],
) -> None:
    sender = Interrupted("flush", ROWS)
    assert run(sender, False) == (0, f"{ROWS} instances in t")
    assert sender.flushed == ROWS
