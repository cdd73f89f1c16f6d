"""The tables of docs/reliability.md, written by the commands whose figures they show."""

from collections.abc import Mapping
from pathlib import Path

HEADS = {
    "faults": ("suite", "what is done", "survived", "records", "minutes", "seed"),
    "control": ("bug", "what is wrong", "suite", "caught after", "by what"),
}


def write(document: Path, table: str, rows: Mapping[str, tuple[str, ...]]) -> None:
    """Put rows into a table of a document; rows of other names stay as they are."""
    begin, end = f"<!-- {table}: begin -->", f"<!-- {table}: end -->"
    text = document.read_text()
    before, _, rest = text.partition(begin)
    old, _, after = rest.partition(end)
    known = {}
    for line in old.splitlines():
        cells = tuple(cell.strip() for cell in line.strip().strip("|").split("|"))
        if len(cells) == len(HEADS[table]) and cells != HEADS[table] and set(cells[0]) - set("-"):
            known[cells[0].strip("`")] = cells
    known |= {name: (f"`{name}`", *cells) for name, cells in rows.items()}
    lines = ["| " + " | ".join(HEADS[table]) + " |", "|" + "---|" * len(HEADS[table])]
    ordered = sorted(known, key=lambda name: (len(name), name)) if table == "control" else known
    lines += ["| " + " | ".join(known[name]) + " |" for name in ordered]
    document.write_text("\n".join([before + begin, *lines, end + after]))
