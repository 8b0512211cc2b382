"""Numbers of spreadsheets as the text that stands for them."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.reading.office.number_formats import BUILT_IN, shown_number


@pytest.mark.parametrize(
    ("number", "code", "text"),
    [
        (46205, "dd/mm/yyyy", "2026-07-02"),
        (46205, "d. mmmm yyyy", "2026-07-02"),
        (46205, '[$-407]d/\\ mmmm\\ yyyy;@', "2026-07-02"),
        (46205, "yyyy年m月d日", "2026-07-02"),
        (46205, "mmm-yy", "2026-07-02"),
        (46205, BUILT_IN[14], "2026-07-02"),
        (46205.4375, "dd.mm.yyyy hh:mm", "2026-07-02 10:30:00"),
        (46205.4375, "h:mm AM/PM", "10:30:00"),
        (0.354166666666667, "hh:mm", "08:30:00"),
        (1.5, "[h]:mm:ss", "36:00:00"),
        (60, "yyyy-mm-dd", "1900-02-28"),  # a day that never was
        (1, "yyyy-mm-dd", "1900-01-01"),
        (61, "yyyy-mm-dd", "1900-03-01"),
        (-5, "yyyy-mm-dd", "-5"),
        (9e9, "yyyy-mm-dd", "9000000000"),
    ],
)  # fmt: skip
def test_dates_are_iso(number: float, code: str, text: str) -> None:
    assert shown_number(number, code) == text


@pytest.mark.parametrize(
    ("number", "code", "text"),
    [
        (0.25, "0%", "25%"),
        (0.1234, "0.00%", "12.34%"),
        (0.125, "0%", "12.50%"),
        (-0.5, "0%;[Red]-0%", "-50%"),
        (1234.5, '#,##0.00 "€"', "1234.50 €"),
        (1234.5, '#,##0.00\\ [$€-407]', "1234.50 €"),
        (1234.5, '[$$-409]#,##0', "$1234.50"),
        (3, '"$"#,##0.00_);("$"#,##0.00)', "$3.00"),
        (-3, '"$"#,##0.00_);("$"#,##0.00)', "($3.00)"),
        (-3.5, "£#,##0.00", "-£3.50"),
        (0, '_-* #,##0.00\\ "€"_-;-* #,##0.00\\ "€"_-;_-* "-"??\\ "€"_-', "- €"),
        (5, '0" kg"', "5 kg"),
        (5, '"Nr. "0000', "Nr. 0005"),
        (1067, "00000", "01067"),
        (7, "General", "7"),
        (0, "General", "0"),
        (0, "0;-0;;@", "0"),
        (5551234, "000-0000", "555-1234"),
        (123456789, "000\\-00\\-0000", "123-45-6789"),
        (12000, '#,##0, "k"', "12000 k"),
        (7, '"Week" 0', "Week 7"),
        (-7, "0;(0)", "(7)"),
        (0.1 + 0.2, "", "0.3"),
        (1e21, "", "1e+21"),
        (1234567, "#,##0", "1234567"),
        (3.14159, "0.00", "3.14159"),
        (12345, "0.00E+00", "1.2345E+04"),
        (0.5, "# ?/?", "0.5"),
        (5, "[>10]0;0", "5"),
    ],
)  # fmt: skip
def test_numbers_keep_what_their_format_says(number: float, code: str, text: str) -> None:
    assert shown_number(number, code) == text


def test_days_counted_from_1904() -> None:
    assert shown_number(0, "yyyy-mm-dd", from_1904=True) == "1904-01-01"
    assert shown_number(44743, "yyyy-mm-dd", from_1904=True) == "2026-07-02"
    assert shown_number(2_958_465, "yyyy-mm-dd", from_1904=True) == "9999-12-31"


@given(st.dates(min_value=dt.date(1900, 3, 1), max_value=dt.date(9999, 12, 31)))
def test_every_date_comes_back(day: dt.date) -> None:
    serial = (day - dt.date(1899, 12, 30)).days
    assert shown_number(serial, "dd/mm/yy") == day.isoformat()


@given(st.floats(), st.text(max_size=20))
def test_no_format_fails(number: float, code: str) -> None:
    assert isinstance(shown_number(number, code), str)


@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.text('0#?.,%yMdhs E+-/;@"\\_*[]€$', max_size=14),
)
def test_no_likely_format_fails(number: float, code: str) -> None:
    shown_number(number, code)
    shown_number(number, code, from_1904=True)
