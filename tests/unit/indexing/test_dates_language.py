"""Whose rule for dates a text is read by when its language is not an indexed one."""

from __future__ import annotations

import datetime as dt
from functools import lru_cache

import pytest

from emily.indexing.facts import document_facts
from emily.indexing.language import LanguageDetector
from emily.reading.pages import Facts

LETTERS = {
    "de": "Der Mietvertrag läuft vier Jahre und verlängert sich von selbst, wenn niemand vorher "
    "kündigt. Mit freundlichen Grüßen. Datum: 03/04/2025",
    "nl": "Het huurcontract loopt vier jaar en wordt vanzelf verlengd als niemand voor mei "
    "opzegt. Met vriendelijke groet. Datum: 03/04/2025",
    "fr": "Le contrat de location dure quatre ans et se renouvelle tout seul si personne n'écrit "
    "avant le mois de mai. Cordialement. Date : 03/04/2025",
    "es": "El contrato de alquiler dura cuatro años y se renueva solo si nadie escribe antes del "
    "mes de mayo. Un cordial saludo. Fecha: 03/04/2025",
    "sv": "Hyresavtalet gäller i fyra år och förlängs av sig självt om ingen säger upp det före "
    "maj månad. Med vänliga hälsningar. Datum: 03/04/2025",
}
ENGLISH = (
    "Date: 03/04/2025\nThe lease contract runs for four years and goes on by itself.",
    "Invoice of the office. Date: 03/04/2025. Total due in thirty days.",
    "Dear Anna, thank you for the books that you sent us. Yours, Bruno. Date: 03/04/2025",
)


@lru_cache(maxsize=1)
def detector() -> LanguageDetector:
    return LanguageDetector(("it", "en"))


def dated(text: str) -> dt.date | None:
    language = detector().document_language(text, 0.6)
    return document_facts(Facts(), text, detector().dates_language(text, language), "a.txt").date


@pytest.mark.parametrize("text", LETTERS.values(), ids=LETTERS)
def test_the_day_comes_first_in_languages_that_are_not_indexed(text: str) -> None:
    assert dated(text) == dt.date(2025, 4, 3)


@pytest.mark.parametrize("text", ENGLISH)
def test_the_month_comes_first_in_english(text: str) -> None:
    assert dated(text) == dt.date(2025, 3, 4)


@pytest.mark.parametrize("language", ["it", "en", None])
def test_without_a_date_in_question_nothing_is_asked(language: str | None) -> None:
    found = LanguageDetector(("it", "en"))
    assert found.dates_language("Der Vertrag vom 3.4.2025 läuft weiter.", language) == language
    assert found._wide is None
