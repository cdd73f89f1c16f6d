"""The application of the document works as written."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from stream.broker import Broker
from stream.kafka.sender import Sender
from stream.kafka.topics import TopicAdmin
from tests.architecture.documents import blocks
from tests.contract.rigs import KafkaRig
from tests.paths import REPOSITORY
from tests.stream.faust.applications import ADDRESS, DOCUMENT, SECONDS


@pytest.fixture
def shop(broker: Broker, tmp_path: Path) -> Iterator[Path]:
    """The document's application as written, but for the address of the broker; returns its log."""
    (config,), (application,) = blocks(DOCUMENT, "toml"), blocks(DOCUMENT, "python")
    for name, text in (("espalier.toml", config), ("shop.py", application)):
        assert ADDRESS in text
        (tmp_path / name).write_text(text.replace(ADDRESS, broker.bootstrap_servers))
    commands = [line for block in blocks(DOCUMENT, "sh") for line in block.splitlines()]
    assert commands == ["espalier topics create -c espalier.toml", "faust -A shop worker"]
    binaries = Path(sys.executable).parent
    subprocess.run([str(binaries / "espalier"), *commands[0].split()[1:]], cwd=tmp_path, check=True)
    log = tmp_path / "log"
    arguments = [str(binaries / "faust"), *commands[1].split()[1:], "--without-web", "-l", "warn"]
    with log.open("wb") as file:
        process = subprocess.Popen(
            arguments,
            cwd=tmp_path,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={"PYTHONPATH": str(REPOSITORY)},
        )
        try:
            yield log
        finally:
            process.terminate()
            try:
                process.wait(SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(SECONDS)
                pytest.fail(f"the application did not stop:\n{log.read_text()}")


@pytest.mark.broker
def test_the_application_of_the_document_works_as_written(broker: Broker, shop: Path) -> None:
    """Large orders abroad come back; once this has been learned there are warnings, one for each."""
    rig = KafkaRig(broker.bootstrap_servers)
    sender = Sender(rig.kafka)
    for number in range(60):
        large, abroad = number % 2, number // 2 % 2
        order = {"id": f"o{number}", "amount": 200 if large else 20, "country": "there" if abroad else "here"}
        if number < 40:
            order["returned"] = "yes" if large and abroad else "no"
        sender.send("orders", msgspec.json.encode(order))
    sender.flush()
    expected = {f"o{number}" for number in range(40, 60) if number % 4 == 3}

    def warned() -> list[str]:
        records = rig.read("warnings") if TopicAdmin(rig.kafka).describe(["warnings"]) else []
        return [msgspec.json.decode(record.value or b"")["order"] for record in records]

    deadline = time.monotonic() + 2 * SECONDS
    while not expected <= set(warned()):
        assert time.monotonic() < deadline, shop.read_text()
        time.sleep(0.2)
    told = warned()
    assert len(told) == len(set(told))
    assert {name for name in told if int(name[1:]) >= 40} == expected
