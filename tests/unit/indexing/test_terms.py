import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.indexing.stopwords import STOP_WORDS
from emily.indexing.terms import analyse, fold, prefix, words


def terms(text: str) -> list[str]:
    return [term.term for term in analyse(text)]


def both_find(query: str, text: str) -> set[str]:
    return set(terms(query)) & set(terms(text))


@given(
    st.text(alphabet=st.characters(exclude_categories=()))
    | st.text(alphabet="aà1.,-/_@' ABIT20:’º", max_size=60)
)
def test_no_input_fails(text: str) -> None:
    found = analyse(text)
    positions = [term.position for term in found]
    assert positions == sorted(positions)
    for term in found:
        assert term.term
        assert len(term.term) <= 66
        term.term.encode("utf-8")
        assert not any(sign.isspace() or sign == "\0" for sign in term.term)
    for word in words(text):
        assert len(word) >= 2
        assert prefix(word)


@given(st.text(), st.text())
def test_terms_of_a_text_are_those_of_its_lines(one: str, other: str) -> None:
    assert set(words(one)) | set(words(other)) <= set(words(f"{one} . {other}"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("contratto Contratti", ["contr", "contr"]),
        ("gas acqua", ["gas", "acqua"]),
        ("dell'acqua all’estero", ["acqua", "ester"]),
        ("John's contract isn't here", ["john", "contr"]),
        ("Quanto costa e quando scade?", ["costa", "scade"]),
        ("How many keys are there, and where?", ["keys"]),
        ("il lo la di che dove the of what", []),
        ("2026", ["2026"]),
        ("", []),
        ("@ # , = ' \\ [ ] ? % \" * ( ) : & | ! <-> NULL", ["null"]),
        ("vitamina C", ["vitam"]),
        ("electricity:meter", ["!electricitymeter", "elect", "meter"]),
        ("1.2.3", ["!123"]),
        (
            "2,5kg EUR1.200",
            ["2,5", "#2.5", "!25kg", "kg", "1.200", "1200", "#1.2", "!eur1200", "eur"],
        ),
        ("C# e C++", ["!c#", "c", "!c++", "c"]),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


@pytest.mark.parametrize("spelling", ["perché", "perche", "PERCHÉ", "perche\u0301", "Perche'"])
def test_accents_and_case_do_not_matter(spelling: str) -> None:
    assert both_find(spelling, "perché") >= {"perch"}
    assert both_find(spelling, "perche") >= {"perch"}


def test_the_exact_spelling_has_a_term_of_its_own() -> None:
    assert terms("città") == ["citta", "=città"]
    assert both_find("CITTÀ", "citta\u0300") == {"citta", "=città"}
    assert both_find("città", "citta") == {"citta"}


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("1234,56", "Totale 1.234,56 €"),
        ("1,234.56", "Totale 1.234,56 €"),
        ("1 234,56", "Totale 1.234,56"),
        ("1'234.56", "1234,56"),
        ("1234", "1.234 pezzi"),
        ("1.234.567", "1,234,567"),
        ("1200", "1.200,00"),
        ("12,5", "12.50"),
        ("26 giugno 2025", "80101911/26.06.2025"),
        ("2025-06-26", "June 26th, 2025"),
        ("26/6/2025", "the 26th of June 2025"),
        ("26/06/25", "2025-06-26"),
        ("26 juin 2025", "26. Juni 2025"),
        ("giugno 2025", "26/06/2025"),
        ("marzo 2024", "Fattura_2024-03.pdf"),
        ("03/2024", "March 2024"),
        ("2026", "٢٠٢٦"),
        ("26-giu-2025", "2025-06-26T10:30"),
        ("1º gennaio 2024", "1 gennaio 2024"),
        ("04/03/2025", "2025-03-04"),
        ("04/03/2025", "2025-04-03"),
    ],
)
def test_numbers_and_dates_meet_however_they_are_written(query: str, text: str) -> None:
    assert any(term[0] in "@#" or term.isdigit() for term in both_find(query, text))


@pytest.mark.parametrize("text", ["31/02/2025", "99/99/2025", "2025-13-01", "31 giugno 2025"])
def test_a_day_that_does_not_exist_is_no_date(text: str) -> None:
    assert not any(term.startswith("@") and len(term) > 8 for term in terms(text))


def test_two_numbers_that_differ_do_not_meet() -> None:
    assert not both_find("1.234,56", "1.234,65")


@pytest.mark.parametrize(
    ("query", "text", "whole"),
    [
        ("DEC-0054", "see DEC-0054.", "!dec0054"),
        ("dec0054", "see DEC-0054.", "!dec0054"),
        ("TMX2004", "(TM-X200/4)", "!tmx2004"),
        ("multi-agent", "A multi-agent system", "!multiagent"),
        ("camelCase", "camelCase()", "!camelcase"),
        ("snake_case", "def snake_case:", "!snakecase"),
        ("v2.1", "Versione v2.1,", "!v21"),
        ("mario.rossi@example.com", "<Mario.Rossi@example.com>", "!mariorossiexamplecom"),
        ("GB82WEST12345698765432", "IBAN GB82 WEST 1234 5698 7654 32", "!gb82west12345698765432"),
        ("gb82 west 1234 5698 7654 32", "GB82WEST12345698765432", "!gb82west12345698765432"),
        ("IT01234567890", "P.IVA IT01234567890", "!it01234567890"),
        ("report_finale.pdf", "/home/x/report_finale.pdf report_finale.pdf", "!reportfinalepdf"),
        ("TM-X200/4", "型号TM-X200/4的电池", "!tmx2004"),
    ],
)
def test_identifiers_are_found_whole(query: str, text: str, whole: str) -> None:
    assert whole in both_find(query, text)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("0054", "DEC-0054"),
        ("x200", "TM-X200/4"),
        ("agent", "multi-agent"),
        ("case", "camelCase"),
        ("iphone", "iPhone"),
        ("snake", "snake_case"),
        ("rossi", "mario.rossi@example.com"),
        ("01234567890", "IT01234567890"),
        ("email", "e-mail"),
        ("250", "250g"),
        ("电池", "型号TM-X200/4的电池"),
        ("東京", "東京タワー"),
        ("タワー", "東京タワー"),
        ("กรุงเทพ", "อยู่ที่กรุงเทพมหานคร"),
    ],
)
def test_identifiers_and_unspaced_text_are_found_by_part(query: str, text: str) -> None:
    assert both_find(query, text)


def test_an_iban_with_wrong_check_digits_is_not_joined() -> None:
    assert "!gb83west12345698765432" not in terms("GB83 WEST 1234 5698 7654 32")


def test_a_surface_and_a_position_come_with_each_term() -> None:
    assert [tuple(term) for term in analyse("Il contratto DEC-0054")] == [
        ("contr", "contratto", 1),
        ("!dec0054", "DEC-0054", 2),
        ("dec", "DEC-0054", 2),
        ("0054", "DEC-0054", 2),
        ("54", "DEC-0054", 2),
    ]


def test_very_long_tokens_are_shortened_and_stay_distinct() -> None:
    one, other = "x" * 500, "x" * 499 + "9"
    assert terms(one) == ["xxxxx"]
    assert all(len(term) <= 66 for term in terms(other))
    assert terms(other)[0] != terms("x" * 498 + "99")[0]


def test_time_grows_with_the_length_only() -> None:
    for hostile in ("a-" * 200_000, "1," * 200_000, "." * 400_000, "a'" * 200_000, "aB" * 200_000):
        begin = time.process_time()
        analyse(hostile)
        assert time.process_time() - begin < 20  # seconds of CPU: hours if it were quadratic


def test_words_of_the_vocabulary() -> None:
    text = "Il contratto dell'acqua, la città e DEC-0054: John's keys; X200 東京 di té"
    assert words(text) == ["contratto", "acqua", "città", "dec", "john", "keys"]


def test_stop_words_of_other_languages_are_dropped_when_indexed() -> None:
    assert [t.term for t in analyse("der Vertrag und die Wohnung", ("de",))] == ["vertr", "wohnu"]
    assert terms("man and war") == ["man", "war"]


def test_lists_of_function_words_are_in_the_form_they_are_compared_in() -> None:
    for language, listed in STOP_WORDS.items():
        assert len(listed) > 120, language
        assert all(fold(word) == word for word in listed), language


def test_words_that_carry_a_question_are_no_function_words() -> None:
    for word in ("due", "fare", "perche", "tre", "scadenza", "costo"):
        assert word not in STOP_WORDS["it"] | STOP_WORDS["en"]
