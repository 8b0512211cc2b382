"""Facts of a document, joined from its file, its text and its name."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emily.indexing.facts import correspondents_in, document_facts
from emily.reading.pages import Correspondent, Facts

HEADER = Facts(date=dt.date(2020, 1, 1), date_source="header")
SAVED = Facts(author="Anna Prova", date=dt.date(2020, 2, 2), date_source="metadata")


@pytest.mark.parametrize(
    ("facts", "text", "name", "day", "source"),
    [
        (HEADER, "Data: 26/06/2025", "2024-03-15 x.pdf", "2020-01-01", "header"),
        (SAVED, "Data: 26/06/2025", "2024-03-15 x.pdf", "2025-06-26", "text"),
        (SAVED, "Fattura n. 3 del 26/06/2025", "2024-03-15 x.pdf", "2025-06-26", "text"),
        (SAVED, "26/06/2025\n\nCiao", "2024-03-15 x.pdf", "2024-03-15", "name"),
        (SAVED, "niente", "2024-03-15 x.pdf", "2024-03-15", "name"),
        (SAVED, "26/06/2025\n\nCiao", "x.pdf", "2025-06-26", "text"),
        (SAVED, "niente", "x.pdf", "2020-02-02", "metadata"),
        (SAVED, "Scadenza: 26/06/2025", "x.pdf", "2020-02-02", "metadata"),
        (Facts(), "niente", "2024-03-15.pdf", "2024-03-15", "name"),
        (Facts(), "Milano, 3 marzo 2024", "x.pdf", "2024-03-03", "text"),
        (Facts(), "niente", "x.pdf", "None", None),
        (Facts(), "Data: 31/02/2025", "31-02-2025.pdf", "None", None),
        (Facts(), "", "", "None", None),
    ],
)
def test_order_of_the_dates(facts: Facts, text: str, name: str, day: str, source: str) -> None:
    found = document_facts(facts, text, "it", name)
    assert (str(found.date), found.date_source) == (day, source)
    assert found.author == facts.author


@pytest.mark.parametrize(("language", "day"), [("it", 3), ("de", 3), (None, 3), ("en", 4)])
def test_the_language_counts(language: str | None, day: int) -> None:
    found = document_facts(Facts(), "Date: 03/04/2025", language, "x.txt")
    assert found.date is not None
    assert found.date.day == day


def test_correspondents_of_the_header_stay() -> None:
    seller = Correspondent("seller", "Officina Prova", "IT01234567890")
    facts = Facts(correspondents=(seller,))
    text = "Da: Bruno Esempio\nA: Anna Prova\n"
    assert document_facts(facts, text, "it", "x").correspondents == (seller,)


ANNA = Correspondent("to", "Anna Prova")
BRUNO = Correspondent("from", "Bruno Esempio")


@pytest.mark.parametrize(
    ("text", "people"),
    [
        ("Da: Bruno Esempio\nA: Anna Prova\nOggetto: x", (BRUNO, ANNA)),
        ("From: Bruno Esempio\nTo: Anna Prova\nSent: Monday", (BRUNO, ANNA)),
        ("Von: Bruno Esempio\nAn: Anna Prova\nBetreff: x", (BRUNO, ANNA)),
        ("De : Bruno Esempio\nÀ : Anna Prova\nObjet : x", (BRUNO, ANNA)),
        ("De: Bruno Esempio\nPara: Anna Prova\nAsunto: x", (BRUNO, ANNA)),
        ("> Da: Bruno Esempio\n> A: Anna Prova", (BRUNO, ANNA)),
        ("Mittente: Bruno Esempio", (BRUNO,)),
        ("Absender:\nBruno Esempio", (BRUNO,)),
        ("Destinatario:\n\nAnna Prova\nVia X", (ANNA,)),
        ("A: Anna Prova; Carlo Finto\nOggetto: x", (ANNA, Correspondent("to", "Carlo Finto"))),
        (
            "From: Bruno Esempio <bruno@example.it>\nTo: anna@example.it, carlo@example.it\n"
            "Cc: dora@example.it",
            (
                Correspondent("from", "Bruno Esempio", "bruno@example.it"),
                Correspondent("to", "", "anna@example.it"),
                Correspondent("to", "", "carlo@example.it"),
                Correspondent("cc", "", "dora@example.it"),
            ),
        ),
        ("Spett.le Bar Finto S.r.l.\nVia X 1", (Correspondent("to", "Bar Finto S.r.l"),)),
        ("        Spett.le\n        Bar Finto\n", (Correspondent("to", "Bar Finto"),)),
        ("Spettabile Bar Finto", (Correspondent("to", "Bar Finto"),)),
        ("Egr. Sig. Mario Finto,", (Correspondent("to", "Sig. Mario Finto"),)),
        ("Gent.ma Dott.ssa Anna Prova", (Correspondent("to", "Dott.ssa Anna Prova"),)),
        ("Alla c.a. di Anna Prova", (ANNA,)),
        ("Attn: Anna Prova", (ANNA,)),
        ("z. Hd. Anna Prova", (ANNA,)),
        ("À l'attention de Anna Prova", (ANNA,)),
        ("Sold By : Officina Prova Ltd.,", (Correspondent("seller", "Officina Prova Ltd"),)),
        ("Bill To:\nAnna Prova\nanna@example.it", (Correspondent("buyer", "Anna Prova"),)),
        ("Fornitore: Officina Prova", (Correspondent("seller", "Officina Prova"),)),
    ],
)
def test_people_named_at_the_top(text: str, people: tuple[Correspondent, ...]) -> None:
    assert correspondents_in(text) == people
    assert correspondents_in("parola\n" * 100 + text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "", "A: 12", "A: una mela\nB: una pera", "De: la casa", "Da: ", "An: den See",
        "Il fornitore: chi è?", "Gentile cliente,", "Mittente: 12345", "Cc: 50\nA: 30",
        "Spett.le", "Attenzione: pericolo", "To: do\nthe rest", "Destinatario:\nData: 1/1/2025",
        "Nota: Da leggere", "Seller: " + "x" * 200, "Spettacolo di sera",
    ],
)  # fmt: skip
def test_nothing_where_no_rule_is_sure(text: str) -> None:
    assert correspondents_in(text) == ()


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["Da:", "A:", "To: ", "Spett.le ", "\n", "x@y.it", "<", ">", ",", ";", "Anna Prova",
             "Data: 1/2/2025", "@", '"', "(", "\\", "|", "é", "=?utf-8?q?x?="]
        ),
        max_size=30,
    ).map("".join)
    | st.text(max_size=200),
    st.sampled_from(["it", "en", None]),
)  # fmt: skip
def test_nothing_fails(text: str, language: str | None) -> None:
    facts = document_facts(SAVED, text, language, text[:40])
    assert facts.author == SAVED.author
    for person in facts.correspondents:
        assert person.name or person.address
        assert "\n" not in person.name


@pytest.mark.parametrize("addressed", ["To: Mr Peter Collins", "Attn: Ada Conti", "A: Paolo Blu"])
def test_whom_a_letter_is_to_does_not_hide_its_date(addressed: str) -> None:
    text = f"Marlow Solicitors\n22 Harbour Lane\n\n{addressed}\n\n3 September 2023\n\nDear all,"
    found = document_facts(Facts(), text, "en", "letter.txt")
    assert (found.date, found.date_source) == (dt.date(2023, 9, 3), "text")
