"""Rules of the house that no linter knows, read from the source itself."""

import ast
import functools
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.architecture.program import FILES, PACKAGES, PROGRAM, command_at, commands, options_of
from tests.paths import REPOSITORY

MOST_LINES = 400
CODE_AS_DATA = {"pickle", "cPickle", "_pickle", "shelve", "marshal", "joblib", "dill", "cloudpickle"}
MAKES_CODE = {"eval", "exec", "compile", "__import__"}
EMPTY_NAMES = {"utils", "util", "common", "helpers", "helper", "base", "manager", "misc"}

CONTRACT: dict[str, tuple[str, ...]] = {
    "demo": ("--records", "--learner", "--generator", "--engine"),
    "audit": ("-c", "--engine", "--replay", "--max-refused", "--json"),
    "bench accuracy": ("--quick", "--json", "--write"),
    "bench core": ("--quick", "--json", "--write"),
    "bench drift": ("--quick", "--json", "--write"),
    "bench growth": ("--quick", "--json", "--write"),
    "bench idle": ("--quick", "--json", "--write"),
    "bench files": ("--quick", "--json", "--peers", "--records", "--write"),
    "bench mdl": ("--quick", "--json", "--write"),
    "bench metrics": ("--quick", "--json", "--write"),
    "bench nt": ("--quick", "--json", "--write"),
    "bench restore": ("--quick", "--json", "--write"),
    "bench stream": ("--engine", "--quick", "--json", "--write"),
    "broker start": ("--nodes", "--directory", "--port", "--set", "--foreground"),
    "broker stop": ("--directory",),
    "broker status": ("--directory", "--json"),
    "worker": ("-c", "--engine", "--log-level"),
    "topics create": ("-c", "--partitions", "--replicas"),
    "topics describe": ("-c",),
    "config check": ("-c",),
    "config docs": (),
    "config show": ("-c", "--json"),
    "metrics docs": (),
    "produce": ("--topic", "--label", "--id", "--rate", "--schema", "--text"),
    "schema": ("--output", "--label", "--id", "--text"),
    "dead-letters": ("-c", "--reason", "--examples", "--json"),
    "redrive": ("-c", "--reason", "--dry-run", "--yes", "--force", "--batch"),
    "tail": ("-c", "--from-beginning", "--until-end", "--records", "--headers"),
    "evaluate": (
        *("--learner", "--set", "--label", "--schema", "--shuffle", "--limit", "--json", "--tree", "--trace"),
        *("--id", "--text", "--ignore", "--attributes", "--nested"),
    ),
    "tree": ("-c", "--model", "--format", "--version", "--counts"),
    "reproduce": ("--list", "--runs", "--seed", "--jobs", "--json", "--plot"),
}
"""Every command, and the options of it that scripts rely on."""


@functools.cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


def imports(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yield the line and the full name of everything that is imported."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def dotted(node: ast.expr) -> str:
    """Return a name such as `os.environ` as text, or nothing where it is something else."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return ""


def calls(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            yield node.lineno, dotted(node.func)


def test_there_is_something_to_look_at() -> None:
    assert len(FILES) > 60
    assert {path.relative_to(REPOSITORY).parts[0] for path in FILES} == set(PACKAGES)


def found(look: Callable[[ast.Module], Iterable[int]], files: Iterable[Path] = FILES) -> list[str]:
    """Return where something stands, as `path:line`."""
    return [f"{path.relative_to(REPOSITORY)}:{line}" for path in files for line in look(tree_of(path))]


def test_only_the_configuration_reads_the_environment() -> None:
    words = ("environ", "environb", "getenv", "getenvb", "putenv")

    def look(tree: ast.Module) -> Iterator[int]:
        yield from (line for line, name in imports(tree) if name in {f"os.{word}" for word in words})
        yield from (
            node.lineno for node in ast.walk(tree) if isinstance(node, ast.Attribute) and node.attr in words
        )

    config = REPOSITORY / "stream" / "config"
    assert found(look, [path for path in FILES if config in path.parents]), "the rule looks for nothing"
    assert not found(look, [path for path in FILES if config not in path.parents])


def test_no_code_is_made_from_data() -> None:
    def look(tree: ast.Module) -> Iterator[int]:
        yield from (line for line, name in imports(tree) if name.split(".")[0] in CODE_AS_DATA)
        yield from (line for line, name in calls(tree) if name in MAKES_CODE)

    assert not found(look)


def test_a_module_is_named_after_its_subject() -> None:
    assert not [
        path for path in FILES if set(path.relative_to(REPOSITORY).with_suffix("").parts) & EMPTY_NAMES
    ]


def test_a_file_can_be_read_in_one_sitting() -> None:
    assert not [path for path in FILES if len(path.read_text().splitlines()) > MOST_LINES]


def test_a_module_says_what_it_is() -> None:
    assert not found(lambda tree: [] if ast.get_docstring(tree) else [1])


def test_learners_neither_log_nor_print_nor_open_files() -> None:
    def look(tree: ast.Module) -> Iterator[int]:
        yield from (line for line, name in imports(tree) if name.split(".")[0] in ("logging", "warnings"))
        yield from (line for line, name in calls(tree) if name in ("print", "input", "open"))

    assert not found(look, [path for path in FILES if REPOSITORY / "learners" in path.parents])


def test_nothing_is_imported_inside_of_a_function() -> None:
    def look(tree: ast.Module) -> Iterator[int]:
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from (
                    inner.lineno for inner in ast.walk(node) if isinstance(inner, ast.Import | ast.ImportFrom)
                )

    assert not found(look)


def test_no_exception_is_swallowed() -> None:
    """A bare `except:` is never right; one of everything must do something with what it caught."""

    def look(tree: ast.Module) -> Iterator[int]:
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler):
                everything = node.type is not None and dotted(node.type) in ("Exception", "BaseException")
                does_nothing = all(isinstance(inner, ast.Pass) for inner in node.body)
                if node.type is None or (everything and does_nothing):
                    yield node.lineno

    assert not found(look)


# ---- the command line


def test_the_contract_names_every_command() -> None:
    """A command that is taken out, or put in without a word here, is noticed."""
    assert set(CONTRACT) == set(commands())


@pytest.mark.parametrize("path", CONTRACT)
def test_a_command_keeps_the_contract(path: str) -> None:
    command = command_at(path)
    assert command is not None, f"espalier {path} is gone"
    assert set(CONTRACT[path]) <= options_of(command)
    told = CliRunner().invoke(PROGRAM, [*path.split(), "--help"])
    assert told.exit_code == 0
    assert "Example" in told.output


def test_no_test_module_is_imported_by_another_module() -> None:
    imported = [
        f"{path.relative_to(REPOSITORY)}:{node.lineno}"
        for path in sorted((REPOSITORY / "tests").rglob("*.py"))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Import | ast.ImportFrom)
        and any(part.startswith("test_") for name in _modules_of(node) for part in name.split("."))
    ]
    assert not imported, f"move what is shared to a module of its own: {imported}"


def _modules_of(node: ast.Import | ast.ImportFrom) -> list[str]:
    names = [alias.name for alias in node.names]
    return [node.module or "", *names] if isinstance(node, ast.ImportFrom) else names
