"""What stands in a Markdown document: tables, code in a sentence, blocks of code."""

import re


def table(text: str, *columns: str) -> list[list[str]]:
    """Return the rows of the table with these columns."""
    rows: list[list[str]] = []
    inside = False
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and cells == list(columns):
            inside = True
        elif inside and not line.startswith("|"):
            break
        elif inside and not set(line) <= set("|- "):
            rows.append(cells)
    assert rows, f"there is no table with the columns {columns}"
    return rows


def in_code(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
