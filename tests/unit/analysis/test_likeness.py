"""Categories by likeness to names, descriptions and examples, with the bundled embedder."""

from __future__ import annotations

import pytest
from tests.fakes import bundled_embedder

from emily.analysis.categories import Category
from emily.analysis.likeness import Likeness

LIST = [
    Category(1, "Recipes", "", (), 0),
    Category(2, "Salute", "visite, esami, medicine", (), 0),
    Category(3, "Beekeeping", "hives and honey", ("Inspection of the hives",), 0),
]
BAR = 0.3


@pytest.mark.parametrize(
    ("description", "expected"),
    [
        ("Recipe. Bake the cake for forty minutes and cool it on a rack.", ["Recipes"]),
        ("Referto. Il medico consiglia una visita di controllo e un esame del sangue.", ["Salute"]),
        ("Notes. The queen was seen in the second hive; the honey is ready.", ["Beekeeping"]),
        ("Rules of the chess tournament: seven rounds, fifteen minutes each.", []),
        ("", []),
    ],
)
def test_what_fits_and_nothing_else(description: str, expected: list[str]) -> None:
    matches = Likeness(bundled_embedder(), LIST).matches(description, BAR)
    assert [match.category.name for match in matches][:1] == expected
    assert all(BAR <= match.probability <= 1 for match in matches)
    assert all(match.reason.startswith("It is like") for match in matches)


def test_the_surest_comes_first_and_the_bar_counts() -> None:
    likeness = Likeness(bundled_embedder(), LIST)
    text = "Honey cake: a recipe from the beekeeper. Bake it with honey of your own hives."
    matches = likeness.matches(text, 0.0)
    assert len(matches) == 3
    chances = [match.probability for match in matches]
    assert chances == sorted(chances, reverse=True)
    assert likeness.matches(text, 1.0) == []


def test_without_categories_nothing_is_asked() -> None:
    assert Likeness(bundled_embedder(), []).matches("A letter.", 0.0) == []
