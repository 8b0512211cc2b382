"""The kind of fact that a question asks for, and the texts that have one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.retrieval.asked import asked_kind, has_kind, tokens

QUESTIONS = {
    "How much does the mooring cost in winter?": "sum",
    "What is the annual fee of the rowing club?": "sum",
    "Quanto paghiamo di canone per il posto barca?": "sum",
    "Qual è l'importo della cauzione?": "sum",
    "How many oars are in the shed?": "number",
    "Quanti remi ci sono nel capanno?": "number",
    "What percentage of members voted?": "number",
    "When does the licence run out?": "date",
    "In che anno è stato costruito il molo?": "date",
    "What time does the ferry leave?": "time",
    "A che ora parte il traghetto?": "time",
    "Who repaired the outboard motor?": "person",
    "Chi ha riparato il fuoribordo?": "person",
    "Come si chiama il custode?": "person",
    "Where is the spare anchor kept?": "place",
    "Dov'è l'ancora di scorta?": "place",
    "What is the harbour master's phone number?": "telephone",
    "Qual è il numero di telefono della capitaneria?": "telephone",
    "Which e-mail address do I write to?": "email",
    "A quale indirizzo e-mail devo scrivere?": "email",
    "Why was the regatta put off?": None,
    "Perché hanno rinviato la regata?": None,
}

FACTS = [
    ("sum", "Il posto barca costa 1.240,00 euro l'anno.", True),
    ("sum", "The mooring is £310 a season.", True),
    ("sum", "The mooring is by the old pier.", False),
    ("sum", "There are 14 moorings.", False),
    ("number", "There are fourteen moorings, three of them free.", True),
    ("number", "The moorings are by the old pier.", False),
    ("date", "It runs out on 3 May.", True),
    ("date", "Scade mercoledì.", True),
    ("date", "It runs out soon.", False),
    ("time", "The ferry leaves at 7:40.", True),
    ("time", "Il traghetto parte alle 7.", True),
    ("time", "The ferry leaves early.", False),
    ("telephone", "Chiamare lo 0187 555 012.", True),
    ("telephone", "Chiamare la capitaneria.", False),
    ("email", "Scrivere a molo@example.org.", True),
    ("email", "Scrivere alla capitaneria.", False),
    ("person", "The motor was mended by Orla Fenwick.", True),
    ("person", "The motor was mended last week.", False),
    ("place", "It hangs in the shed at Porto Vesco.", True),
    ("place", "Si trova in via dei Calafati 4.", True),
    ("place", "It hangs in the shed.", False),
]


@pytest.mark.parametrize(("question", "kind"), QUESTIONS.items())
def test_a_question_asks_for_one_kind_of_fact_or_none(question: str, kind: str | None) -> None:
    assert asked_kind(question) == kind


@pytest.mark.parametrize(("kind", "sentence", "there"), FACTS)
def test_a_sentence_has_a_fact_of_a_kind_or_not(kind: str, sentence: str, there: bool) -> None:
    assert has_kind(kind, sentence, frozenset()) is there  # type: ignore[arg-type]


def test_what_the_question_brings_itself_is_no_answer() -> None:
    question = "When in 1987 did Orla Fenwick mend the motor?"
    assert not has_kind("date", "In 1987 the motor was mended.", tokens(question))
    assert has_kind("date", "In 1987, on 4 June, the motor was mended.", tokens(question))
    assert not has_kind("person", "The motor was mended by Orla Fenwick.", tokens(question))


@given(st.text())
def test_any_text_can_be_looked_at(text: str) -> None:
    asked_kind(text)
    for kind in ("email", "telephone", "time", "sum", "date", "number", "person", "place"):
        has_kind(kind, text, tokens(text))  # type: ignore[arg-type]
