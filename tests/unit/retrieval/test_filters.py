"""Filters as people write them."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.errors import InputError
from emily.reading.kind import KINDS
from emily.retrieval.filters import FAMILIES, Filters, parse_filters


@pytest.mark.parametrize(
    ("given_day", "first", "last"),
    [
        ("2024", dt.date(2024, 1, 1), dt.date(2024, 12, 31)),
        ("2024-2", dt.date(2024, 2, 1), dt.date(2024, 2, 29)),
        (" 2023-02 ", dt.date(2023, 2, 1), dt.date(2023, 2, 28)),
        ("2024-03-15", dt.date(2024, 3, 15), dt.date(2024, 3, 15)),
        (dt.date(2024, 3, 15), dt.date(2024, 3, 15), dt.date(2024, 3, 15)),
    ],
)
def test_a_year_and_a_month_stand_for_all_their_days(
    given_day: str | dt.date, first: dt.date, last: dt.date
) -> None:
    found = parse_filters(since=given_day, until=given_day)
    assert (found.since, found.until) == (first, last)


@pytest.mark.parametrize("day", ["24", "2024-13", "2023-02-29", "15/03/2024", "0000", "2024-00"])
def test_what_is_no_date_is_refused(day: str) -> None:
    for name in ("since", "until"):
        with pytest.raises(InputError, match="2024-03-15"):
            parse_filters(**{name: day})  # type: ignore[arg-type]


@given(st.text())
def test_any_text_is_a_date_or_an_input_error(text: str) -> None:
    try:
        found = parse_filters(since=text)
    except InputError:
        return
    assert found.since is not None


@pytest.mark.parametrize("empty", ["", " ", ",", " , "])
def test_an_empty_type_or_language_is_no_lack_of_a_filter(empty: str) -> None:
    with pytest.raises(InputError, match="The type to search for is empty"):
        parse_filters(kinds=[empty])
    with pytest.raises(InputError, match="The language to search for is empty"):
        parse_filters(languages=["it", empty])


@pytest.mark.parametrize("empty", ["", " ", "%", "--", "\0"])
def test_a_name_without_a_word_is_no_lack_of_a_filter(empty: str) -> None:
    for name, what in (("authors", "author"), ("parties", "party"), ("titles", "title")):
        with pytest.raises(InputError, match=f"The {what} to search for has no word"):
            parse_filters(**{name: ["Ada", empty]})  # type: ignore[arg-type]


def test_people_and_titles_stand_on_one_line_each_once() -> None:
    found = parse_filters(authors=["Ada\n Conti", "Ada Conti"], titles=["x\0y"])
    assert (found.authors, found.titles) == (("Ada Conti",), ("x y",))
    assert found.as_json() == {"author": ["Ada Conti"], "title": ["x y"]}
    assert found.active
    assert not Filters().as_json()


def test_families_are_of_known_kinds() -> None:
    assert {kind for kinds in FAMILIES.values() for kind in kinds} <= set(KINDS)
    assert not set(FAMILIES) & set(KINDS)


def test_no_filter_is_not_active() -> None:
    assert parse_filters() == Filters()
    assert not parse_filters().active
    assert parse_filters(folder=".").folder == str(Path.cwd())
    assert parse_filters(folder=".").active
