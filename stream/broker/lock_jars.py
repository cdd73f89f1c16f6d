"""Make `jars.lock` from a Maven project: `python -m stream.broker.lock_jars deploy/kafka/pom.xml`.

Maven resolves what the project depends on; every jar it brings is written down with its SHA-256. Whoever
raises a version edits the pom, runs this, starts a broker with the result, and commits both files.
"""

import shutil
import sys
import tempfile
from pathlib import Path

from stream.broker.errors import BrokerError
from stream.broker.fetch import DOWNLOAD_SECONDS, LOCK
from stream.broker.jars import Jar, sha256_of
from stream.broker.process import run

HEAD = """\
# The jars of Apache Kafka for the development broker: group:artifact:version and the SHA-256 of each file.
# Made by `python -m stream.broker.lock_jars deploy/kafka/pom.xml`; do not edit.
# It lies in the package, not beside the pom: an installed package checks its downloads against it.
"""


def jars_below(repository: Path) -> list[Jar]:
    """Return the jars in a directory with the layout of a Maven repository, by coordinate."""
    jars = []
    for path in repository.rglob("*.jar"):
        *group, artifact, version, _name = path.relative_to(repository).parts
        jars.append(Jar(".".join(group), artifact, version, sha256_of(path)))
    return sorted(jars, key=lambda jar: jar.coordinate)


def lock_text(jars: list[Jar]) -> str:
    """Return the content of a lock file for `jars`."""
    return HEAD + "".join(f"{jar.coordinate} {jar.sha256}\n" for jar in jars)


def main(pom: Path) -> int:
    """Write the lock of the project `pom`; return the exit status."""
    maven = shutil.which("mvn")
    if maven is None:
        raise BrokerError('cannot resolve the project without "mvn" on PATH. Install Maven.')
    with tempfile.TemporaryDirectory() as scratch:
        goal = ["dependency:copy-dependencies", "-DincludeScope=runtime", "-Dmdep.useRepositoryLayout=true"]
        command = [
            maven,
            "--batch-mode",
            "--file",
            str(pom.absolute()),
            *goal,
            f"-DoutputDirectory={scratch}",
        ]
        result = run(command, directory=Path(scratch), seconds=DOWNLOAD_SECONDS)
        if result.returncode != 0:
            sys.stderr.write(result.stdout)
            return result.returncode
        jars = jars_below(Path(scratch))
    LOCK.write_text(lock_text(jars), encoding="utf-8")
    sys.stdout.write(f"{len(jars)} jars in {LOCK}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
