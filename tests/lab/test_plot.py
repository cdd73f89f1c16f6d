"""Where numbers and names are on a chart."""

import pytest

from lab.plot import Scale


@pytest.mark.parametrize(
    ("number", "place"), [(10.0, 100.0), (20.0, 200.0), (12.5, 125.0), (5.0, 100.0), (99.0, 200.0)]
)
def test_a_number_is_between_the_ends_in_proportion(number: float, place: float) -> None:
    assert Scale(10, 20, 100, 200)(number) == pytest.approx(place)
    assert Scale(10, 20, 200, 100)(number) == pytest.approx(300 - place)


def test_equal_ratios_are_equal_lengths_where_that_is_asked_for() -> None:
    scale = Scale(1, 1_000, 0, 300, logarithmic=True)
    assert [scale(number) for number in (1, 10, 100, 1_000, 0)] == pytest.approx([0, 100, 200, 300, 0])
    assert scale.ticks() == [1, 10, 100, 1_000]
