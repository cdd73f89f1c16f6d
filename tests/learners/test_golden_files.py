"""The golden files say where their values come from, and what a formula gives is what they hold."""

import pytest

from tests.golden.make import FILES, HERE, alike, golden, remade


def test_every_golden_file_says_where_it_comes_from_and_how_to_make_it_again() -> None:
    assert len(FILES) >= 7
    listed = (HERE / "README.md").read_text()
    for file in FILES:
        told = golden(file.stem)
        assert len(told["source"]) > 40, file.name
        assert len(told["remake"]) > 40, file.name
        assert f"`{file.name}`" in listed


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, told in remade().items() for value in told]
)
def test_what_a_formula_gives_is_what_the_file_holds(name: str, value: str) -> None:
    assert alike(remade()[name][value], golden(name)[value])
    assert value in golden(name)["remake"], "the file says that it can be made again"


def test_values_that_differ_are_told_apart() -> None:
    assert not alike({"a": [1.0, 2.0]}, {"a": [1.0, 2.1]})
    assert not alike([1.0], [1.0, 2.0])
    assert not alike({"a": 1}, {"b": 1})
    assert alike({"a": [0.1 + 0.2]}, {"a": [0.3]})
