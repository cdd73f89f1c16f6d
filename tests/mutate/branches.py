"""Which share of the branches of each package the tests take: `make coverage`.

It uses the recording of `make mutate`, and makes one if there is none of the present sources.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

import coverage

from tests.mutate.mutants import LEFT_OUT, package_of
from tests.mutate.record import SCRATCH, Recording


def measured(recording: Recording) -> dict[str, tuple[int, int]]:
    """Return how many branches each file has, and how many of them the tests take."""
    with tempfile.TemporaryDirectory() as directory:
        together = coverage.CoverageData(str(Path(directory) / "data"))
        for part in sorted(recording.data.iterdir()):
            if part.suffix not in (".json", ".log"):
                data = coverage.CoverageData(str(part))
                data.read()
                together.add_arcs({file: data.arcs(file) or () for file in data.measured_files()})
        together.write()
        report = Path(directory) / "report.json"
        reporter = coverage.Coverage(together.data_filename(), config_file=False, branch=True)
        reporter.load()
        reporter.json_report(outfile=str(report), ignore_errors=True)
        files = json.loads(report.read_text())["files"]
    return {
        path: (file["summary"]["num_branches"], file["summary"]["covered_branches"])
        for name, file in files.items()
        if (path := _inside(name, recording.tree)) is not None and not path.startswith(LEFT_OUT)
    }


def _inside(name: str, tree: Path) -> str | None:
    path = Path(name).absolute()
    return path.relative_to(tree).as_posix() if path.is_relative_to(tree) else None


def table(files: Mapping[str, tuple[int, int]]) -> tuple[str, float]:
    """Return the branches taken in each package and altogether, and that share."""
    branches: Counter[str] = Counter()
    taken: Counter[str] = Counter()
    for path, (all_of_them, covered) in files.items():
        branches[package_of(path)] += all_of_them
        taken[package_of(path)] += covered
    rows = [(package, taken[package], branches[package]) for package in sorted(branches) if branches[package]]
    rows.append(("all", taken.total(), branches.total()))
    lines = [
        f"{name:24} {some:5} of {many:5} branches, {some / max(1, many):.1%}" for name, some, many in rows
    ]
    return "\n".join(lines), taken.total() / max(1, branches.total())


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.mutate.branches", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--least", type=float, default=0.0, help="fail where a smaller share is taken")
    parser.add_argument("--record", action="store_true", help="record again even if the sources are the same")
    parser.add_argument("--scratch", type=Path, default=SCRATCH)
    args = parser.parse_args()
    recording = Recording(args.scratch)
    if args.record or not recording.is_current():
        for name in recording.make():
            print(f"does not pass: {name}")
    text, share = table(measured(recording))
    print(text)
    if share < args.least:
        print(f"fewer than {args.least:.1%} of the branches are taken: add tests for what is new")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
