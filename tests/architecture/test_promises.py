"""docs/promises.md: every promise has tests, which exist, and no promise of the README has none."""

import ast
import functools
import re

import pytest

from tests.architecture.documents import in_code
from tests.paths import REPOSITORY

PROMISES = (REPOSITORY / "docs" / "promises.md").read_text()
COLUMNS = ("| promise | tests |", "| promise | why not |")


def rows(columns: str) -> list[tuple[str, str]]:
    """Return promise and second cell of every row of the tables with these columns."""
    found: list[tuple[str, str]] = []
    inside = False
    for line in PROMISES.splitlines():
        if line == columns:
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside and not set(line) <= set("|- "):
            promise, second = (cell.strip() for cell in line.strip("|").split("|"))
            found.append((promise, second))
    return found


def plain(text: str) -> str:
    """Return a text without marks of emphasis, code and links, and with single blanks."""
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    return re.sub(r"\s+", " ", re.sub(r"[*`]", "", text)).strip()


def sentences(document: str, heading: str, bullet: str) -> list[str]:
    """Return the sentences of the bullets under a heading; the bold name of one goes with its first."""
    _, _, section = (REPOSITORY / document).read_text().partition(f"\n## {heading}\n")
    section = section.partition("\n## ")[0]
    bullets = re.findall(rf"^{bullet} (.+?)(?=^{bullet} |^\S|^$|\Z)", section, re.MULTILINE | re.DOTALL)
    found = []
    for text in map(plain, bullets):
        first, *others = re.split(r"(?<=\.) (?=\w)", text)
        found += [f"{first} {others[0]}", *others[1:]]
    return found


@functools.cache
def functions(path: str) -> frozenset[str]:
    tree = ast.parse((REPOSITORY / path).read_text())
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize(
    ("document", "heading", "bullet", "least"),
    [("README.md", "What it promises", r"\*", 7), ("docs/reliability.md", "The promises", r"\d\.", 3)],
    ids=["README", "reliability"],
)
def test_every_sentence_that_promises_has_a_row(document: str, heading: str, bullet: str, least: int) -> None:
    promised = sentences(document, heading, bullet)
    assert len(promised) >= least
    kept = {plain(promise) for promise, _ in rows(COLUMNS[0])}
    assert [sentence for sentence in promised if sentence not in kept] == []


def test_every_promise_names_tests_and_nothing_else() -> None:
    found = rows(COLUMNS[0])
    assert len(found) > 50
    for promise, tests in found:
        named = in_code(tests)
        assert named, promise
        assert tests == ", ".join(f"`{name}`" for name in named), promise
        assert len(named) == len(set(named)), promise


@pytest.mark.parametrize("name", sorted({name for _, tests in rows(COLUMNS[0]) for name in in_code(tests)}))
def test_a_test_that_is_named_exists(name: str) -> None:
    path, _, function = name.partition("::")
    assert function.startswith("test_"), name
    assert (REPOSITORY / path).is_file(), name
    assert function in functions(path), name


def test_what_is_not_tested_says_why() -> None:
    assert all(len(why) > 10 for _, why in rows(COLUMNS[1]))
