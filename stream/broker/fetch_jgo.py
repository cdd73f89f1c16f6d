"""Download pinned jars with `jgo`, the way that needs no Maven.

Run as a script: `python fetch_jgo.py DIRECTORY`, coordinates on standard input, one per line. It writes the
file name of each jar as it arrives, and on failure one line that says why. A process of its own, so that it
can be given a time limit, and so that the package works without `jgo` where there is Maven.

Each jar is asked for by itself. `jgo` resolves the dependencies of Kafka 4.3 wrongly (it picks kafka-clients
3.8.0, with which the broker does not start); with a list of every jar there is nothing left to resolve.
"""

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from jgo.config import GlobalSettings
from jgo.constants import MAVEN_CENTRAL_URL
from jgo.maven import MavenContext

SOCKET_SECONDS = 30
AT_ONCE = 4


def main(directory: Path, coordinates: list[str]) -> int:
    """Fetch all `coordinates` into `directory`; return the exit status."""
    # People behind a mirror have told jgo so in its own settings file.
    repositories = {"central": MAVEN_CENTRAL_URL} | GlobalSettings.load().repositories
    maven = MavenContext(repo_cache=directory, remote_repos=repositories, timeout=SOCKET_SECONDS)

    def fetch(coordinate: str) -> Path:
        group, artifact, version = coordinate.split(":")
        path: Path = maven.project(group, artifact).at_version(version).artifact().resolve()
        return path

    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            for path in pool.map(fetch, coordinates):
                sys.stdout.write(f"{path.name}\n")
                sys.stdout.flush()
        except (OSError, RuntimeError) as error:  # what requests and jgo raise
            pool.shutdown(cancel_futures=True)
            sys.stdout.write(f"ERROR {' '.join(str(error).split())}\n")
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.stdin.read().split()))
