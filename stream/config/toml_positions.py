"""On which line of a TOML text a setting stands. The standard library's parser does not say.

The text has already been accepted by that parser, so this reader only follows the structure and never
judges: it knows headers, dotted and quoted keys, arrays over several lines, inline tables and every sort of
string, and looks at no value.
"""

import re
import tomllib
from collections.abc import Mapping

KeyPath = tuple[str | int, ...]
"""The way to a setting: names of tables and keys, and numbers from 0 within arrays."""

_BLANK = re.compile(r"[ \t]*")
_BLANK_AND_COMMENTS = re.compile(r"(?:[ \t\r\n]|#[^\n]*)*")
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_SCALAR = re.compile(r"[^,\]}#\n]*")
# Longest quotes first. Up to two quotes may stand directly before the three that close a multi-line string.
_STRING = re.compile(
    r'"""(?:\\.|[^\\])*?"""(?:"{0,2})'
    r"|'''.*?'''(?:'{0,2})"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)


def locate(text: str) -> Mapping[KeyPath, int]:
    r"""Return the line, counted from 1, of every table, key and array element of a valid TOML text.

    A table that is opened several times, or only by the tables within it, is where it was first mentioned.

    >>> locate('[kafka]\nproperties.acks = "all"\n\n[[agent]]\nname = "a"\n')[("agent", 0, "name")]
    5
    """
    return _Reader(text).read()


class _Reader:
    """One pass over one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._lines: dict[KeyPath, int] = {}
        self._lengths: dict[
            KeyPath, int
        ] = {}  # of arrays of tables: the last one is meant by a header below it
        self._counted_to = 0
        self._line = 1

    def read(self) -> dict[KeyPath, int]:
        table: KeyPath = ()
        self._skip(_BLANK_AND_COMMENTS)
        while self._at < len(self._text):
            if self._text.startswith("[", self._at):
                table = self._header()
            else:
                self._pair(table)
            self._skip(_BLANK_AND_COMMENTS)
        return self._lines

    def _header(self) -> KeyPath:
        """Read `[a.b]` or `[[a.b]]` and return the path of the table that begins."""
        is_array = self._text.startswith("[[", self._at)
        line = self._line_here()
        self._at += 2 if is_array else 1
        *above, last = self._key()
        self._at += 2 if is_array else 1
        path: KeyPath = ()
        for name in above:
            path = self._latest((*path, name), line)
        path = (*path, last)
        if not is_array:
            return self._latest(path, line)
        self._lines.setdefault(path, line)
        number = self._lengths[path] = self._lengths.get(path, -1) + 1
        self._lines[(*path, number)] = line
        return (*path, number)

    def _latest(self, path: KeyPath, line: int) -> KeyPath:
        """Note a table's line if it is new; of an array of tables the last one is meant."""
        self._lines.setdefault(path, line)
        return (*path, self._lengths[path]) if path in self._lengths else path

    def _pair(self, table: KeyPath) -> None:
        """Read `key = value`."""
        line = self._line_here()
        path = table
        for name in self._key():
            path = (*path, name)
            self._lines.setdefault(path, line)
        self._at += 1  # the equals sign
        self._skip(_BLANK)
        self._value(path)

    def _key(self) -> list[str]:
        """Read a key with its dots, and the blanks after it."""
        names = []
        while True:
            self._skip(_BLANK)
            if self._text.startswith(('"', "'"), self._at):
                names.append(_unquote(self._take(_STRING)))
            else:
                names.append(self._take(_BARE_KEY))
            self._skip(_BLANK)
            if not self._text.startswith(".", self._at):
                return names
            self._at += 1

    def _value(self, path: KeyPath) -> None:
        """Pass over a value, noting what is within it."""
        match self._text[self._at : self._at + 1]:
            case "[":
                self._array(path)
            case "{":
                self._inline_table(path)
            case '"' | "'":
                self._skip(_STRING)
            case _:
                self._skip(_SCALAR)

    def _array(self, path: KeyPath) -> None:
        self._at += 1
        number = 0
        while True:
            self._skip(_BLANK_AND_COMMENTS)
            if self._text.startswith("]", self._at):
                self._at += 1
                return
            self._lines[(*path, number)] = self._line_here()
            self._value((*path, number))
            number += 1
            self._separator()

    def _inline_table(self, path: KeyPath) -> None:
        self._at += 1
        while True:
            self._skip(_BLANK_AND_COMMENTS)
            if self._text.startswith("}", self._at):
                self._at += 1
                return
            self._pair(path)
            self._separator()

    def _separator(self) -> None:
        self._skip(_BLANK_AND_COMMENTS)
        if self._text.startswith(",", self._at):
            self._at += 1

    def _skip(self, pattern: re.Pattern[str]) -> None:
        self._take(pattern)

    def _take(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        assert found is not None, f"not TOML at character {self._at}"
        self._at = found.end()
        return found.group()

    def _line_here(self) -> int:
        # Counted on from the last place: counting from the start each time would be quadratic.
        self._line += self._text.count("\n", self._counted_to, self._at)
        self._counted_to = self._at
        return self._line


def _unquote(key: str) -> str:
    """Return what a quoted key says."""
    return next(iter(tomllib.loads(f"{key} = 0")))
