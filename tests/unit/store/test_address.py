"""Addresses of databases never show a password."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.errors import StoreError
from emily.store.address import check_address, redacted


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://ada:s3cret@db.example:5433/brain", "postgresql://ada@db.example:5433/brain"),
        (
            "postgresql://db.example/brain?user=ada&password=s3cret",
            "postgresql://ada@db.example/brain",
        ),
        (
            "host=db.example user=ada password='s3 cret' dbname=brain",
            "postgresql://ada@db.example/brain",
        ),
        ("postgresql:///brain?host=/run/pg&sslpassword=s3cret", "postgresql:///run/pg/brain"),
        ("s3cret", "(unreadable address)"),
        ("", "postgresql:///"),
    ],
)
def test_address_is_shown_without_password(address: str, shown: str) -> None:
    assert redacted(address) == shown


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=30))
def test_no_password_is_ever_shown(word: str) -> None:
    password = f"<{word}>"  # cannot occur in the rest of the address
    address = f"postgresql://ada:{quote(password, safe='')}@db.example/brain"
    assert redacted(address) == "postgresql://ada@db.example/brain"


@pytest.mark.parametrize("address", ["s3cret", "postgresql://ada:s3cret@[db/x", "pass=s3cret"])
def test_malformed_address_is_refused_without_repeating_it(address: str) -> None:
    with pytest.raises(StoreError, match="must look like postgresql://user") as error:
        check_address(address)
    assert "s3cret" not in str(error.value)
    assert error.value.__suppress_context__


def test_good_address_is_accepted() -> None:
    check_address("postgresql://ada:a%40b@localhost:5432/brain")
