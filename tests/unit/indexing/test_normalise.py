import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.indexing.normalise import bound_marks, fingerprint_text, normalise

any_text = st.text(alphabet=st.characters(exclude_categories=())) | st.text(
    alphabet="aé e\u0300\u0338\u200d\u200c\u0915\u093c\u094d\u0600\u1100\u1161👍\ufe0f\u212a"
    "\u00ad \t\n\r\u2028\ufb01\ud800-\u2014"
)


@given(any_text)
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once


@given(any_text)
def test_line_breaks_are_neither_added_nor_removed(text: str) -> None:
    assert normalise(text).count("\n") == text.count("\n")


@given(any_text)
def test_result_can_be_stored_and_holds_nothing_invisible(text: str) -> None:
    result = normalise(text)
    result.encode("utf-8")
    assert unicodedata.is_normalized("NFC", result)
    assert not any(unicodedata.category(sign) == "Cc" for sign in result if sign not in "\n\t")
    assert not any(line.endswith((" ", "\t")) for line in result.split("\n"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("speci\0cation", "specication"),
        ("ﬁne del ﬂusso, eﬀetto, eﬃcace, baﬄe", "fine del flusso, effetto, efficace, baffle"),
        ("con\u00adtrat\u00adto", "contratto"),
        ("\ufeffzero\u200bwidth\u2060", "zerowidth"),
        ("12\u00a0450,00\u202f€", "12 450,00 €"),
        ("perche\u0301", "perché"),
        ("a\u2028b\u2029c\x85d\ve\ff\rg", "a b c d e f g"),
        ("riga  \naltra\t\n", "riga\naltra\n"),
        ("metà \ud83d di un segno", "metà \ufffd di un segno"),
        ("\u202eabc\u202c", "abc"),
        ("a\tb", "a\tb"),
    ],
)
def test_form(text: str, expected: str) -> None:
    assert normalise(text) == expected


def test_a_joiner_stays_where_it_shapes_what_is_seen() -> None:
    family = "👩\u200d👧"
    persian = "می\u200cخواهم"
    hindi = "क्\u200dष"
    shaped = f"{family} {persian} {hindi}"
    assert normalise(f"{shaped} con\u200dtratto") == f"{shaped} contratto"


def test_a_million_combining_marks_take_no_time() -> None:
    assert len(bound_marks("e" + "\u0301\u0316" * 500_000)) == 31


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Il contratto\nscade domani.", "Il  contratto scade\n\ndomani. "),
        ("un con-\ntratto", "un contratto"),
        ("l’“acqua” – ecc…", 'l\'"acqua" - ecc...'),
        ("ﬁne\u00a0qui", "fine qui"),
    ],
)
def test_cosmetic_changes_keep_the_fingerprint(one: str, other: str) -> None:
    assert fingerprint_text(one) == fingerprint_text(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Fattura n. 12 del 2025", "Fattura n. 13 del 2025"),
        ("Totale 1.234,56", "Totale 1.234,65"),
        ("Totale 12 34", "Totale 1234"),
        ("saldo -5", "saldo 5"),
        ("10 €", "10 $"),
        ("meta", "metà"),
        ("Rosa", "rosa"),
        ("2025-\n06", "202506"),
    ],
)
def test_a_differing_letter_digit_or_sign_keeps_documents_apart(one: str, other: str) -> None:
    assert fingerprint_text(one) != fingerprint_text(other)
