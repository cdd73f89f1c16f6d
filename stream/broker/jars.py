"""The pinned jars of Apache Kafka: the list, the check, and the cache.

One list (`jars.lock`, beside this file so that an installed package has it too) serves both ways of
downloading. A jar is used only when its SHA-256 is the pinned one, and that is checked at every start, not
only after the download: 43 MB take a tenth of a second, and a cache is a place where files get damaged.
"""

import hashlib
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from importlib import resources
from pathlib import Path
from typing import NamedTuple

from stream.broker.errors import DownloadRefused, WrongHash


class Fetch(StrEnum):
    """How to download jars that are not in the cache."""

    AUTO = "auto"
    MAVEN = "maven"
    JGO = "jgo"


class InstallProgress(NamedTuple):
    """How far a step of the start is: `done` of `total` things."""

    step: str
    done: int
    total: int


Report = Callable[[InstallProgress], None]


@dataclass(frozen=True, slots=True)
class Jar:
    """One pinned jar: its Maven coordinate and the SHA-256 of its bytes.

    >>> Jar("org.apache.kafka", "kafka-raft", "4.3.0", "00").file_name
    'kafka-raft-4.3.0.jar'
    """

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def coordinate(self) -> str:
        """`group:artifact:version`."""
        return f"{self.group}:{self.artifact}:{self.version}"

    @property
    def file_name(self) -> str:
        """The name that Maven gives the file."""
        return f"{self.artifact}-{self.version}.jar"


def parse_lock(text: str) -> tuple[Jar, ...]:
    """Return the jars of a lock file: per line a coordinate and a SHA-256; `#` begins a comment."""
    jars = []
    for line in text.splitlines():
        entry = line.partition("#")[0].split()
        if entry:
            coordinate, sha256 = entry
            group, artifact, version = coordinate.split(":")
            jars.append(Jar(group, artifact, version, sha256))
    return tuple(jars)


def pinned_jars() -> tuple[Jar, ...]:
    """Return the jars that make this package's Apache Kafka."""
    return parse_lock(resources.files("stream.broker").joinpath("jars.lock").read_text("utf-8"))


def kafka_version(jars: Iterable[Jar]) -> str:
    """Return the version of Apache Kafka among `jars`."""
    return next(jar.version for jar in jars if jar.artifact.startswith("kafka_"))


def jar_directory(cache: Path | None, jars: Iterable[Jar]) -> Path:
    """Return where the jars are kept below the user's cache directory (`~/.cache` when not given)."""
    return (cache or Path.home() / ".cache") / "espalier" / f"kafka-{kafka_version(jars)}"


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def check(jar: Jar, path: Path, remedy: str) -> None:
    """Raise `WrongHash`, with `remedy` as what to do, unless the file at `path` is the pinned jar."""
    found = sha256_of(path)
    if found != jar.sha256:
        raise WrongHash(
            f'jar "{path}" is not the pinned {jar.coordinate}: '
            f"its SHA-256 is {found}, not {jar.sha256}. {remedy}"
        )


FetchJars = Callable[[tuple[Jar, ...], Path, Report], None]


def provide_jars(
    directory: Path, jars: tuple[Jar, ...], fetch: FetchJars, report: Report
) -> tuple[Path, ...]:
    """Return the paths of all `jars` in `directory`, each checked; what is missing is fetched first.

    1. Check what is there: a damaged jar is refused, never quietly replaced, for nobody knows who changed it.
    2. Fetch what is missing into a directory of its own: a half-written file is never taken for a jar.
    3. Move over, one by one, what has the pinned hash; two processes doing so at once do no harm.

    A download that broke off keeps what it had: the next start fetches the rest.
    """
    directory.mkdir(parents=True, exist_ok=True)
    paths = tuple(directory / jar.file_name for jar in jars)
    for jar, path in zip(jars, paths, strict=True):  # Step 1
        if path.exists():
            check(jar, path, "Delete that file and start again: it will be downloaded again.")
    missing = tuple(jar for jar, path in zip(jars, paths, strict=True) if not path.exists())
    if missing:
        with tempfile.TemporaryDirectory(prefix="fetching-", dir=directory) as staging:
            try:
                fetch(missing, Path(staging), report)  # Step 2
            finally:
                _adopt(missing, Path(staging), directory)  # Step 3
    absent = [jar.coordinate for jar, path in zip(jars, paths, strict=True) if not path.exists()]
    if absent:
        raise DownloadRefused(
            f"the download ended without {', '.join(absent)}. Start again to fetch the rest, "
            f'or put the files into "{directory}" yourself.'
        )
    return paths


def _adopt(jars: Iterable[Jar], staging: Path, directory: Path) -> None:
    """Move those of `jars` that lie anywhere below `staging` into `directory`, each checked."""
    fetched = {path.name: path for path in staging.rglob("*.jar")}
    wrong: WrongHash | None = None
    for jar in jars:
        path = fetched.get(jar.file_name)
        if path is None:
            continue
        try:
            check(
                jar,
                path,
                "It was not kept. Find out what stands between this machine and Maven Central (a mirror, a "
                "proxy, a local Maven repository with a damaged file), or fetch in the other way.",
            )
        except WrongHash as error:
            wrong = wrong or error
        else:
            path.replace(directory / jar.file_name)
    if wrong:
        raise wrong
