"""Names: what documents and docstrings point at exists, one name means one thing, and no private words."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.architecture.program import FILES
from tests.paths import REPOSITORY

ARCHITECTURE = (REPOSITORY / "docs" / "architecture.md").read_text()
BANNED = ("anew", "worked off", "at the most", "photograph")
"""Words of a private dialect, which users would have to guess."""
TEXTS = [
    REPOSITORY / "README.md",
    *sorted(path for path in (REPOSITORY / "docs").glob("*.md") if path.name != "fidelity.md"),
    *sorted((REPOSITORY / "deploy" / "grafana" / "source").glob("*.py")),
    *sorted((REPOSITORY / "stream" / "cli").glob("*.py")),
    *sorted((REPOSITORY / "stream" / "config").glob("*.py")),
    REPOSITORY / "stream" / "observe" / "metrics" / "catalog.py",
]
"""What users read: documents, dashboards, the help of commands, settings and metrics."""


def walk() -> list[tuple[str, str]]:
    """Return the hops of one record: a file, and the functions named beside it."""
    part = ARCHITECTURE.partition("## The path of one record")[2].partition("\n## ")[0]
    hops = re.split(r"\n(?=\d+\. )", part.partition("\n\nOn assignment")[0].strip())
    return [
        (match[1], match[2])
        for hop in hops
        if (match := re.match(r"\d+\. `([^`]+)` ((?:`[\w.]+`,? ?)+)", hop))
    ]


def test_the_path_of_a_record_has_at_most_twelve_hops() -> None:
    assert 8 <= len(walk()) <= 12


@pytest.mark.parametrize(("file", "functions"), walk())
def test_every_hop_is_a_function_of_a_file(file: str, functions: str) -> None:
    text = (REPOSITORY / file).read_text()
    for name in re.findall(r"`([\w.]+)`", functions):
        for part in name.split("."):
            assert re.search(rf"^ *(def|class) {part}\b", text, re.MULTILINE), f"{file} has no {name}"


def test_files_that_a_docstring_names_exist() -> None:
    roots = [REPOSITORY, REPOSITORY / "stream", REPOSITORY / "learners"]
    lost = [
        f"{path.relative_to(REPOSITORY)}: {name}"
        for path in FILES
        for name in re.findall(r"`([\w/]+\.(?:py|c|h|pyx))`", path.read_text())
        if not any((root / name).exists() for root in (path.parent, *roots))
    ]
    assert lost == []


def classes_in(package: str) -> Counter[str]:
    return Counter(
        node.name
        for path in (REPOSITORY / package).rglob("*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef)
    )


def test_no_two_classes_of_the_stream_have_one_name() -> None:
    found = classes_in("stream")
    assert len(found) > 200
    assert [name for name, count in found.items() if count > 1] == []


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_users_read_no_private_words(path: Path) -> None:
    found = [
        word for word in BANNED if re.search(rf"\b{word}\b(?! talkative)", path.read_text(), re.IGNORECASE)
    ]
    assert found == []
