"""Strict UTF-8 first; every guess says so."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.reading.encodings import decode_text

ITALIAN = "Perché la città è più bella? «Già», costò 10 € al caffè, così sarà. " * 3
JAPANESE = "これは日本語のテストです。カタカナも漢字もあります。"
RUSSIAN = "Это длинный русский текст для проверки кодировки файла. " * 8
ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",)))


@given(ANY_TEXT)
def test_utf8_is_never_taken_for_anything_else(text: str) -> None:
    visible = text.replace("\0", "").replace("\x1b", "").lstrip("\ufeff\ufffe")
    assert decode_text(visible.encode()) == (visible, None)


@given(ANY_TEXT, st.sampled_from(["utf-8-sig", "utf-16", "utf-32"]))
def test_a_byte_order_mark_decides(text: str, encoding: str) -> None:
    plain = "x" + text  # a NUL right behind a UTF-16 mark would make it one of UTF-32
    assert decode_text(plain.encode(encoding)) == (plain, None)


@given(st.binary())
def test_any_bytes_become_text(data: bytes) -> None:
    text, _ = decode_text(data)
    text.encode()


@pytest.mark.parametrize(
    ("text", "encoding", "named"),
    [
        (ITALIAN, "cp1252", "Windows-1252"),
        ("perché", "latin-1", "Windows-1252"),
        ("A" * 4096 + "é", "cp1252", "Windows-1252"),
        ("Straße über Österreich, Äpfel", "cp1252", "Windows-1252"),
        (JAPANESE, "cp932", "CP932"),
        (ITALIAN, "utf-16-le", "UTF-16"),
        (ITALIAN, "utf-16-be", "UTF-16"),
        (RUSSIAN, "cp1251", "cp1251"),
    ],
)
def test_what_is_assumed_is_right_and_said(text: str, encoding: str, named: str) -> None:
    found, warning = decode_text(text.encode(encoding))
    assert found == text
    assert warning is not None
    assert named in warning
    assert "assumed" in warning


def test_ascii_and_then_an_accent_after_4096_bytes_is_utf8() -> None:
    text = "a" * 4096 + "é"
    assert decode_text(text.encode()) == (text, None)


def test_utf8_with_one_broken_byte_stays_utf8() -> None:
    found, warning = decode_text(ITALIAN.encode() + b"\xff end")
    assert found == ITALIAN + "\ufffd end"
    assert warning == "Read as UTF-8 although 1 places in it are not valid UTF-8."


def test_a_declared_encoding_is_believed_when_utf8_fails() -> None:
    assert decode_text("ąęłżź".encode("iso-8859-2"), "iso-8859-2") == ("ąęłżź", None)


def test_a_declared_encoding_that_does_not_exist_is_passed_over() -> None:
    text, warning = decode_text("è".encode("latin-1"), "x-unknown")
    assert text == "è"
    assert warning is not None


def test_iso_2022_jp_is_seen_by_its_escapes() -> None:
    assert decode_text(JAPANESE.encode("iso2022_jp")) == (JAPANESE, None)
