import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.indexing.figures import dates_in, iban_at, month_at, spaced_number_at, values_of


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("1.234,56", ["1234.56"]),
        ("1,234.56", ["1234.56"]),
        ("1'234.50", ["1234.5"]),
        ("1.234.567,00", ["1234567"]),
        ("1.234", ["1234", "1.234"]),
        ("12,50", ["12.5"]),
        ("0.123", ["0.123"]),
        ("007,0", ["7"]),
        ("1.2.3", []),
        ("192.168.1.10", []),
        ("1.234.56", []),
        ("1.23,456.7", []),
        ("10,20,30", []),
    ],
)
def test_values(written: str, values: list[str]) -> None:
    assert values_of(written) == values


@given(st.integers(0, 10**9), st.integers(0, 99))
def test_both_ways_of_writing_have_one_value(whole: int, cents: int) -> None:
    english = f"{whole:,}.{cents:02}"
    italian = english.translate(str.maketrans(",.", ".,"))
    plain = f"{whole}.{cents:02}"
    assert values_of(english) == values_of(italian) == values_of(plain)
    assert float(values_of(plain)[0]) == float(plain)


@pytest.mark.parametrize(
    ("token", "dates"),
    [
        ("80101911/26.06.2025", ["2025-06-26", "2025-06"]),
        ("2025-06-26t10:30", ["2025-06-26", "2025-06"]),
        ("03/04/2025", ["2025-04-03", "2025-04", "2025-03-04", "2025-03"]),
        ("26/06/68", ["2068-06-26", "2068-06"]),
        ("26/06/69", ["1969-06-26", "1969-06"]),
        ("26-giu-2025", ["2025-06-26", "2025-06"]),
        ("06/2025", ["2025-06"]),
        ("2025-06", ["2025-06"]),
        ("30/02/2025", []),
        ("13/2025", []),
        ("26.06/2025", []),
        ("1.234,56", []),
        ("126.06.2025", []),
    ],
)
def test_dates_in_a_token(token: str, dates: list[str]) -> None:
    assert dates_in(token) == dates


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("26 giugno 2025", ["2025-06-26", "2025-06"]),
        ("26th of June 2025", ["2025-06-26", "2025-06"]),
        ("June 26 2025", ["2025-06-26", "2025-06"]),
        ("June the 26th 2025", ["2025-06-26", "2025-06"]),
        ("26 de junio de 2025", ["2025-06-26", "2025-06"]),
        ("giugno 2025", ["2025-06"]),
        ("31 giugno 2025", ["2025-06"]),
        ("giugno scorso", []),
        ("giugno", []),
    ],
)
def test_dates_with_the_name_of_a_month(text: str, dates: list[str]) -> None:
    tokens = text.split()
    at = next(at for at, token in enumerate(tokens) if token[:2].lower() in ("gi", "ju"))
    assert month_at(tokens, at, str.lower) == dates


def test_an_iban_is_known_by_its_check_digits() -> None:
    tokens = ["IBAN", "GB82", "WEST", "1234", "5698", "7654", "32", "grazie"]
    assert iban_at(tokens, 1) == "gb82west12345698765432"
    tokens[1] = "GB83"
    assert iban_at(tokens, 1) is None
    assert iban_at(["GB82"], 0) is None


def test_numbers_with_spaces_need_decimals() -> None:
    assert spaced_number_at(["1", "234", "567,80"], 0) == "1234567.8"
    assert spaced_number_at(["12", "345"], 0) is None
    assert spaced_number_at(["12", "34,5"], 0) is None
