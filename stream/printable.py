"""Text from records, made safe to show: anybody who writes a record would write to a terminal or a log."""


def printable(text: str) -> str:
    """Return text on one line; what could move a terminal's cursor is escaped."""
    if text.isprintable():
        return text
    return "".join(sign if sign.isprintable() else _escaped(sign) for sign in text)


def readable(data: bytes) -> str:
    """Return bytes as text on one line; what is not UTF-8 is escaped too."""
    return printable(data.decode(errors="backslashreplace"))


def clipped(text: str, most: int) -> str:
    """Return the beginning of a text, at most so many characters, with three dots where it goes on."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def _escaped(sign: str) -> str:
    return sign.encode("unicode_escape").decode()
