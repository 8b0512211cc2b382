"""Descriptions without a chat model: the facts first, then what is nearest to the centre."""

from __future__ import annotations

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes import WordsEmbedder

from emily.analysis.amounts import total_amount
from emily.analysis.describing import DescribedDocument, described, facts_line
from emily.analysis.extractive import extract
from emily.analysis.papers import paper_of, paper_words
from emily.analysis.sentences import embedded_sentences
from emily.reading.pages import Correspondent


def paper(text: str, language: str = "en", **given: object) -> DescribedDocument:
    values: dict[str, object] = {
        "name": "scan.pdf", "kind": "pdf", "title": None, "author": None, "date": None,
        "correspondents": (),
    }  # fmt: skip
    return DescribedDocument(text=text, language=language, **{**values, **given})  # type: ignore[arg-type]


def describe(document: DescribedDocument, tokens: int = 300) -> str:
    embedder = WordsEmbedder()
    sentences = embedded_sentences(document.text, embedder)
    summary = extract(
        sentences,
        document.text,
        language=document.language,
        size=14_784,
        group_words=200,
        words=400,
    )
    return described(document, summary.sentences, sentences, embedder.count, tokens)


@pytest.mark.parametrize(
    ("document", "line"),
    [
        (
            paper("ACME Ltd\nInvoice 7\nTotal: € 120.00", date=dt.date(2025, 6, 26)),
            "Invoice, ACME Ltd, 2025-06-26, € 120.00",
        ),
        (
            paper("Fattura n. 7\nTotale documento 1.204,50 €", "it", kind="docx"),
            "Fattura, 1.204,50 €",
        ),
        (
            paper("Dear Sir,\nyour letter.", correspondents=(Correspondent("from", "Ada"),)),
            "Ada, scan",
        ),
        (paper("Ciao", kind="eml", name="r.eml", author="Bea"), "Mail, Bea"),
        (paper("a | b\n1 | 2", kind="csv", name="car_log.csv"), "car log"),
        (paper("Mietvertrag\nüber die Wohnung", "de"), "Mietvertrag, scan"),
        (paper("Long walks.", title="On walking"), "On walking"),
    ],
)
def test_the_facts(document: DescribedDocument, line: str) -> None:
    if line == "Ada, scan":
        assert facts_line(document) in ("scan, Ada", "Ada, scan", "Letter, Ada")
    else:
        assert facts_line(document) == line


@pytest.mark.parametrize(
    ("text", "title", "name", "kind", "expected"),
    [
        ("Ricevuta di pagamento del canone", None, "x.pdf", "pdf", "receipt"),
        ("Contratto di locazione ad uso abitativo", None, "x.pdf", "pdf", "lease"),
        ("Garanzia convenzionale\nConservi lo scontrino", None, "x.pdf", "pdf", "warranty"),
        ("Norvane W740", "User manual", "x.pdf", "pdf", "manual"),
        ("anything", None, "2024_fattura_luce.pdf", "pdf", "invoice"),
        ("Rose and Crown\nWe reported on it", None, "x.txt", "text", None),
        ("name,warranty\nsaw,yes", None, "tools.csv", "csv", None),
        ("x", None, "x.xml", "invoice", "invoice"),
        ("", None, "", "text", None),
    ],
)
def test_what_sort_of_paper_it_is(
    text: str, title: str | None, name: str, kind: str, expected: str | None
) -> None:
    assert paper_of(text, title, name, kind) == expected


def test_a_sort_without_a_name_in_a_language_has_the_english_one() -> None:
    assert paper_words("invoice", "sv") == "Invoice"
    assert paper_words("invoice", None) == "Invoice"
    assert paper_words("bill", "it") == "Bolletta"


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("Subtotal £80.00\nVAT £16.00\nTotal £96.00", "£96.00"),
        ("Totale imponibile 100,00\nTotale fattura 122,00 €", "122,00 €"),
        ("Amount due:\nEUR 1,204.50\nThank you", "EUR 1,204.50"),
        ("It cost € 5 and then € 1.200,00 in all.", "€ 1.200,00"),
        ("Total number of pages: 12", None),
        ("nothing", None),
    ],
)
def test_the_amount(text: str, amount: str | None) -> None:
    assert total_amount(text, without_label=True) == amount


@given(st.text(alphabet="12.,' €$total:\nA", max_size=200))
def test_any_text_has_an_amount_of_its_own_or_none(text: str) -> None:
    found = total_amount(text, without_label=True)
    assert found is None or "".join(found.split()) in "".join(text.split())


def test_sentences_that_name_the_paper_come_first() -> None:
    other = " ".join(f"The weather of day {day} was mild and dry again." for day in range(12))
    text = f"Lease\n\n{other}\n\nThis lease covers the flat in Mill Lane and its cellar.\n\n{other}"
    made = describe(paper(text))
    assert made.startswith("Lease, scan.")
    assert "This lease covers the flat in Mill Lane and its cellar." in made


def test_it_is_never_longer_than_allowed() -> None:
    text = "Invoice\n\n" + " ".join(f"Word {n} stands here with some others." for n in range(90))
    for tokens in (50, 9, 1):
        assert WordsEmbedder().count(describe(paper(text), tokens)) <= tokens


@given(st.text(alphabet="ab. A\n|#-1€", max_size=300))
def test_any_text_is_described(text: str) -> None:
    assert describe(paper(text)), "the name of its file at least"
