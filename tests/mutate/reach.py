"""Which tests run a line: read from the recordings of `tests.mutate.recording`, and kept as one JSON file."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from coverage import CoverageData


class Reach:
    """The tests of every line.

    Args:
        tests: Name, seconds, and whether it needs a broker, of every test that passed.
        lines: For each file and line, the numbers of the tests that run it.
    """

    def __init__(
        self, tests: list[tuple[str, float, bool]], lines: dict[str, dict[int, frozenset[int]]]
    ) -> None:
        self.seconds = {name: seconds for name, seconds, _ in tests}
        self.broker = frozenset(name for name, _, broker in tests if broker)
        self._names = [name for name, _, _ in tests]
        self._lines = lines

    def of_lines(self, path: str, first: int, last: int) -> set[str]:
        """Return the tests that run one of some lines of a file."""
        known = self._lines.get(path, {})
        return self._named(set().union(*(known.get(line, ()) for line in range(first, last + 1))))

    def of_file(self, path: str) -> set[str]:
        """Return the tests that run anything in a file."""
        return self._named(set().union(*self._lines.get(path, {}).values()))

    def of_modules(self, names: Iterable[str]) -> set[str]:
        """Return all tests of the modules in which some tests are."""
        modules = {module_of(name) for name in names}
        return {name for name in self.seconds if module_of(name) in modules}

    def _named(self, numbers: Iterable[int]) -> set[str]:
        return {self._names[number] for number in numbers}


def module_of(name: str) -> str:
    return name.partition("::")[0]


def load(file: Path) -> Reach:
    kept = json.loads(file.read_text())
    return Reach(
        [tuple(test) for test in kept["tests"]],
        {
            path: {int(line): frozenset(numbers) for line, numbers in lines.items()}
            for path, lines in kept["lines"].items()
        },
    )


def gather(recorded: Path, tree: Path, file: Path) -> list[str]:
    """Write what the recordings of a folder say to one file; return the tests that did not pass.

    Args:
        recorded: Where the recordings are: `NAME.json`, and beside it the data of coverage, `NAME.*`.
        tree: Where the recorded sources were.
        file: What is written.
    """
    told: dict[str, dict[str, Any]] = {}
    for part in sorted(recorded.glob("*.json")):
        told.update(json.loads(part.read_text()))
    passed = [name for name, test in told.items() if test["passed"]]
    numbers = {name: number for number, name in enumerate(passed)}
    modules: dict[str, list[int]] = {}
    for name, number in numbers.items():
        modules.setdefault(module_of(name), []).append(number)
    lines: dict[str, dict[int, set[int]]] = {}
    for part in sorted(recorded.iterdir()):
        if part.suffix in (".json", ".log"):
            continue
        data = CoverageData(str(part))
        data.read()
        for measured in data.measured_files():
            if not Path(measured).is_relative_to(tree):
                continue
            of_file = lines.setdefault(Path(measured).relative_to(tree).as_posix(), {})
            for line, contexts in data.contexts_by_lineno(measured).items():
                of_line = of_file.setdefault(line, set())
                for context in contexts:
                    if context in numbers:
                        of_line.add(numbers[context])
                    else:
                        of_line.update(modules.get(context, ()))
    kept = {
        "tests": [(name, told[name]["seconds"], told[name]["broker"]) for name in passed],
        "lines": {
            path: {line: sorted(tests) for line, tests in of_file.items() if tests}
            for path, of_file in lines.items()
        },
    }
    file.write_text(json.dumps(kept))
    return [name for name, test in told.items() if not test["passed"]]
