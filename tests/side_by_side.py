"""All tests, several processes of pytest side by side: `python -m tests.side_by_side`.

Most of the time of a test on a broker is waiting: half of the lanes begin with jobs that wait, the others
with jobs that compute, and whoever has none left takes of the others. `--lanes 4` is faster on two cores, but
the fault suites then meet a busier machine than they are made for. The longest jobs are the first. All jobs
share one broker, and their output appears when they end.
"""

import argparse
import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from stream.broker import QUICK_START, Broker, BrokerError, Fetch, Sources
from tests.paths import REPOSITORY

LOGS = REPOSITORY / "build" / "tests"
JAVA_OPTIONS = "JDK_JAVA_OPTIONS"
DUMP_SECONDS = 120.0
SLOWEST = 8
"""How many tests of each job are named with their seconds."""


class Job(NamedTuple):
    """Tests that run one after the other.

    Attributes:
        name: What it is called.
        paths: Directories and files of tests; a file belongs to the job that names it most exactly.
        waits: Whether it waits for others more than it computes.
    """

    name: str
    paths: tuple[str, ...]
    waits: bool = False


JOBS = (
    Job("fault-suites", ("tests/faults/test_suites.py",), waits=True),
    Job("fault-clusters", ("tests/faults/test_clusters.py",), waits=True),
    Job("faults", ("tests/faults",), waits=True),
    Job("faust", ("tests/faults/test_faust.py", "tests/stream/faust"), waits=True),
    Job("brokers", ("tests/stream/broker", "tests/stream/cli/test_broker_cli.py"), waits=True),
    Job("demo", ("tests/stream/demo",), waits=True),
    Job("engines", ("tests/contract", "tests/stream/kafka"), waits=True),
    Job("security", ("tests/security",), waits=True),
    Job("page", ("tests/stream/page", "tests/stream/observe"), waits=True),
    Job("id5r", ("tests/learners/id5r",)),
    Job("lives", ("tests/lives",)),
    Job("schedules", ("tests/cluster",)),
    Job("data", ("tests/contract/test_files.py", "tests/contract/test_ordinary_data.py")),
    Job(
        "evaluate",
        (
            "tests/stream/cli/test_evaluate.py",
            "tests/stream/cli/test_evaluate_jsonl.py",
            "tests/stream/cli/test_evaluate_refused.py",
            "tests/stream/cli/test_evaluation.py",
        ),
    ),
    Job("learners", ("tests/learners",)),
    Job("laws", ("tests/learners/laws",)),
    Job("lab", ("tests/lab",)),
    Job("stream", ("tests/stream",)),
    Job("documents", ("tests/architecture", "tests/deploy", "tests/espalier")),
)


class Ended(NamedTuple):
    """What a job came to."""

    job: Job
    status: int
    seconds: float


def job_of(file: Path) -> Job:
    """Return the job that runs a file of tests.

    Raises:
        LookupError: None does.
    """
    named = file.as_posix()
    found = [
        (len(path), job)
        for job in JOBS
        for path in job.paths
        if named == path or named.startswith(f"{path}/")
    ]
    if not found:
        raise LookupError(f"{named} belongs to no job of {Path(__file__).name}")
    return max(found, key=lambda one: one[0])[1]


def files() -> dict[str, list[str]]:
    """Return the files of every job; each file of tests is in one of them."""
    shared: dict[str, list[str]] = {job.name: [] for job in JOBS}
    for file in sorted((REPOSITORY / "tests").rglob("test_*.py")):
        path = file.relative_to(REPOSITORY)
        shared[job_of(path).name].append(path.as_posix())
    return shared


class Lanes:
    """Jobs that are run, so many at a time.

    Args:
        jobs: All of them, the longest first.
        lanes: How many run at a time.
        environment: Of their processes.
    """

    def __init__(self, jobs: Sequence[Job], lanes: int, environment: dict[str, str]) -> None:
        self._waiting = deque(job for job in jobs if job.waits)
        self._computing = deque(job for job in jobs if not job.waits)
        self._lanes = lanes
        self._environment = environment
        self._files = files()
        self._lock = threading.Lock()
        self._ended: list[Ended] = []

    def run(self) -> list[Ended]:
        """Run all jobs; return what they came to."""
        threads = [threading.Thread(target=self._lane, args=(number,)) for number in range(self._lanes)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return self._ended

    def _lane(self, number: int) -> None:
        while True:
            with self._lock:
                first, second = (
                    (self._computing, self._waiting) if number % 2 else (self._waiting, self._computing)
                )
                if not first and not second:
                    return
                job = (first or second).popleft()
            self._run(job)

    def _environment_of(self, job: Job) -> dict[str, str]:
        """Return the environment of a job: only those that wait start so many brokers.

        Other programs in Java say on standard output that an archive does not fit them.
        """
        environment = self._environment
        return {name: environment[name] for name in environment if job.waits or name != JAVA_OPTIONS}

    def _run(self, job: Job) -> None:
        started = time.monotonic()
        command = [sys.executable, "-m", "pytest", f"--durations={SLOWEST}", "--durations-min=5"]
        # By default only three runs are kept, and each job is one: what a failed test wrote would be gone.
        command += ["-o", f"tmp_path_retention_count={2 * len(JOBS)}"]
        # One cache for all: the job that ends last would say which tests failed.
        command += ["-o", f"cache_dir=.pytest_cache/{job.name}", *self._files[job.name]]
        log = LOGS / f"{job.name}.log"
        with log.open("wb") as file:
            status = subprocess.run(
                command,
                cwd=REPOSITORY,
                env=self._environment_of(job),
                stdout=file,
                stderr=subprocess.STDOUT,
                check=False,
            ).returncode
        with self._lock:
            ended = Ended(job, status, time.monotonic() - started)
            self._ended.append(ended)
            print(f"==== {job.name}, {ended.seconds:.0f} s", flush=True)
            sys.stdout.buffer.write(log.read_bytes())
            sys.stdout.flush()


def classes_of_kafka(directory: Path, sources: Sources) -> Path:
    """Return an archive of the classes that a broker loads: with it, a start takes half the CPU time.

    The tests start some thirty brokers. Java takes no notice of an archive that does not fit.
    """
    archive = directory / "kafka.jsa"
    options = (*QUICK_START, f"-XX:ArchiveClassesAtExit={archive}")
    Broker.start(directory / "first", sources=sources, java_options=options).stop(DUMP_SECONDS)
    return archive


@contextlib.contextmanager
def one_broker() -> Iterator[dict[str, str]]:
    """Start a broker for all jobs; where there is none to be had, each test says so by itself."""
    environment = dict(os.environ)
    if "RUNNING_BROKER" in environment:
        yield environment
        return
    cache, java = (os.environ.get(name) for name in ("XDG_CACHE_HOME", "ESPALIER_BROKER_JAVA"))
    sources = Sources(
        cache=Path(cache) if cache else None,
        fetch=Fetch(os.environ.get("ESPALIER_BROKER_FETCH", Fetch.AUTO)),
        java=Path(java) if java else None,
    )
    with tempfile.TemporaryDirectory(prefix="espalier-tests-") as scratch:
        try:
            archive = classes_of_kafka(Path(scratch), sources)
            if archive.exists():
                os.environ[JAVA_OPTIONS] = environment[JAVA_OPTIONS] = f"-XX:SharedArchiveFile={archive}"
            broker = Broker.start(Path(scratch) / "broker", sources=sources, java_options=QUICK_START)
        except BrokerError as error:
            print(f"there is no broker for the tests: {error}", file=sys.stderr)
            yield environment
            return
        with broker:
            yield {**environment, "RUNNING_BROKER": str(broker.directory)}


def main() -> int:
    """Run all jobs, or those that are named; return 1 where a test failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.side_by_side", description=__doc__)
    parser.add_argument("jobs", nargs="*", help=f"which; all where none is named: {', '.join(files())}")
    parser.add_argument("--lanes", type=int, default=max(2, os.cpu_count() or 1), help="how many at a time")
    args = parser.parse_args()
    unknown = set(args.jobs) - {job.name for job in JOBS}
    if unknown:
        parser.error(f"there is no job {', '.join(sorted(unknown))}")
    LOGS.mkdir(parents=True, exist_ok=True)
    started = time.monotonic()
    with one_broker() as environment:
        chosen = [job for job in JOBS if not args.jobs or job.name in args.jobs]
        ended = Lanes(chosen, args.lanes, environment).run()
    print(f"==== all, {time.monotonic() - started:.0f} s")
    for one in sorted(ended, key=lambda one: -one.seconds):
        print(f"{one.seconds:6.0f} s  {one.job.name}{f': FAILED with {one.status}' if one.status else ''}")
    return 1 if any(one.status for one in ended) else 0


if __name__ == "__main__":
    sys.exit(main())
