"""What a broker that ended said, in the few lines that matter."""

import pytest

from stream.broker.node import _KEPT_LINES, _gist


def test_errors_are_quoted_without_the_stack_and_without_what_is_no_error() -> None:
    words = ["INFO starting", "java.io.IOException: disk full", "\tat a.b.C(D.java:1)", "", "FATAL the end"]
    assert _gist(words) == "java.io.IOException: disk full / FATAL the end"


@pytest.mark.parametrize("count", [1, _KEPT_LINES, _KEPT_LINES + 5])
def test_without_an_error_the_last_lines_are(count: int) -> None:
    words = [f"line {number}" for number in range(count)]
    assert _gist(words) == " / ".join(words[-_KEPT_LINES:])


def test_silence_is_said() -> None:
    assert _gist(["", "\tat a.b.C(D.java:1)"]) == "it said nothing"
