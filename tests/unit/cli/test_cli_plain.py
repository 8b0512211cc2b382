"""What reaches a terminal holds nothing that it would obey."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.cli.plain import one_line, plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", r"\x1b[31mred"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("over\rwritten", r"over\rwritten"),
        ("back\x08space\x7f", r"back\x08space\x7f"),
        ("invoice\u202egpj.exe", r"invoice\u202egpj.exe"),
        ("\u2066isolated\u2069", r"\u2066isolated\u2069"),
        ("zero\u200bwidth\ufeff", r"zero\u200bwidth\ufeff"),
        ("line\u2028separator", r"line\u2028separator"),
        ("tag\U000e0041", r"tag\U000e0041"),
        ("byte\udcff", r"byte\udcff"),
        ("soft\u00adhyphen", r"soft\xadhyphen"),
        ("hangul\u061c", r"hangul\u061c"),
    ],
)
def test_what_a_terminal_obeys_is_shown(text: str, shown: str) -> None:
    assert plain(text) == shown
    assert one_line(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "perché",
        "e\u0301",
        "日本語",
        "שלום",
        "नमस्ते",
        "👩\u200d👩\u200d👧",
        "می\u200cخواهم",
        "€ ½ – ’",
    ],
)
def test_writing_stays_as_it_is(text: str) -> None:
    assert plain(text) == text


def test_lines() -> None:
    assert plain("a\r\nb\tc\n") == "a\nb    c\n"
    assert one_line("a\r\nb\tc\n") == r"a\r\nb\tc\n"


@given(st.text(st.characters()))
def test_no_control_character_ever_passes(text: str) -> None:
    allowed = {"\n", "\u200c", "\u200d"}
    for shown in (plain(text), one_line(text)):
        assert not [
            character
            for character in shown
            if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")
            and character not in allowed
        ]
    assert "\n" not in one_line(text)
