"""Programs of others that come as jars: Maven fetches them once, into the cache."""

import shutil
from collections.abc import Callable
from pathlib import Path

from stream.broker.fetch import has_maven
from stream.broker.process import follow

FETCH_SECONDS = 600.0


class NoJarsError(Exception):
    """The jars cannot be had here; the message says what Maven said."""


def can_build(program: Path) -> bool:
    """Whether a Java program of ours and what is needed to build and feed it are there."""
    return has_maven() and shutil.which("javac") is not None and program.is_file()


def jars_of(pom: Path, home: Path, tell: Callable[[], object]) -> Path:
    """Return the directory of the jars that a project file names; Maven fills it the first time.

    Args:
        pom: The project file.
        home: Where they are kept.
        tell: Called before they are fetched, which takes a while.

    Raises:
        NoJarsError: They could not be fetched.
    """
    wanted, done = pom.read_bytes(), home / "pom.xml"
    if done.is_file() and done.read_bytes() == wanted:
        return home / "jars"
    tell()
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    lines: list[str] = []
    ending = follow(
        [
            shutil.which("mvn") or "mvn",
            "--batch-mode",
            f"--file={pom}",
            "dependency:copy-dependencies",
            "-DincludeScope=runtime",
            f"-DoutputDirectory={home / 'jars'}",
        ],
        lines.append,
        directory=home,
        seconds=FETCH_SECONDS,
    )
    if ending.status != 0:
        said = [line for line in lines if line.startswith("[ERROR]")] or lines or ["nothing"]
        raise NoJarsError(f"Maven could not fetch it and said: {said[0]}")
    # Last: a directory without this is one where something broke off.
    done.write_bytes(wanted)
    return home / "jars"
