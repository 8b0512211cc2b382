"""Analysis end to end, on a real database: without a chat model and with one over HTTP."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.contract.chat import ChatServer, Reply
from tests.integration.brain.conftest import OpenBrain
from tests.unit.analysis.prose import prose

from emily.analysis.phase import AnalysisPhase
from emily.brain import Brain, parse_filters
from emily.errors import AnswerError, InputError, ModelUnavailable, UnknownDocument
from emily.measure.health import examine_chat
from emily.parts import make_chat
from emily.work.phases import Failed, Transient

Write = Callable[[str, str], Path]
Rows = Callable[..., list[tuple[Any, ...]]]

INVOICE = (
    "Ferramenta Prova S.r.l.\n\nFattura n. 12 del 26/06/2025\n\n"
    "La fattura riguarda la riparazione della pompa in giardino.\n\n"
    "Totale da pagare: € 120,00\n"
)


def scripted(_system: str, prompt: str, number: int) -> str:
    """Does as it is asked, in Italian."""
    if '{"description"' in prompt:
        return json.dumps({"description": f"Un verbale del comune, versione {number}: " + SAID})
    if '{"categories"' in prompt:
        return json.dumps({"categories": [{"name": "Casa", "reason": SAID}]})
    return f"Riassunto numero {number}. {SAID}"


SAID = "Il comune ha approvato il bilancio della piscina e rinviato la riparazione del tetto."


async def added(brain: Brain, path: Path) -> int:
    report = await brain.add([path])
    (outcome,) = report.files
    assert outcome.document is not None, outcome
    return outcome.document


async def test_without_a_chat_model(brain: Brain, write: Write) -> None:
    document = await added(brain, write("verbale.txt", prose("it", 20_000)))
    before = await brain.analysis.of(document)
    assert (before.summary, before.method, before.description) == (None, None, None)
    assert [item.document for item in await brain.analysis.waiting()] == [document]
    made = await brain.analysis.analyse(document)
    assert made.method == "extractive"
    assert made.language == "it"
    text = prose("it", 20_000)
    assert made.summary is not None
    whole = " ".join(text.split())
    assert all(" ".join(text[a:b].split()) in whole for a, b in made.spans)
    assert {min(2, a * 3 // len(text)) for a, _ in made.spans} == {0, 1, 2}
    assert made.description
    assert (await brain.list())[0].description == made.description
    assert not made.stale
    assert await brain.analysis.waiting() == []


async def test_the_description_begins_with_the_facts(brain: Brain, write: Write) -> None:
    document = await added(brain, write("scansione.txt", INVOICE))
    made = await brain.analysis.analyse(document)
    assert made.description is not None
    assert made.description.startswith("Fattura, Ferramenta Prova S.r.l., 2025-06-26, € 120,00.")
    assert "La fattura riguarda la riparazione della pompa in giardino." in made.description


async def test_a_changed_document_has_no_summary_of_its_old_text(
    brain: Brain, write: Write
) -> None:
    path = write("verbale.txt", prose("it", 6_000))
    document = await added(brain, path)
    old = await brain.analysis.analyse(document)
    path.write_text(prose("it", 9_000, 5), "utf-8")
    assert await added(brain, path) == document
    now = await brain.analysis.of(document)
    assert now.summary is None
    assert (await brain.show(document)).info.description is None
    assert [item.document for item in await brain.analysis.waiting()] == [document]
    assert (await brain.analysis.analyse(document)).summary != old.summary


async def test_a_removed_document_takes_its_analysis_along(
    brain: Brain, write: Write, rows: Rows
) -> None:
    await brain.analysis.categories.add("Casa", "fatture e riparazioni")
    document = await added(brain, write("a.txt", INVOICE))
    await brain.analysis.analyse(document)
    await brain.remove(document)
    for table in ("analysis", "analysis_failure", "document_category"):
        assert rows(f"SELECT count(*) FROM {table}") == [(0,)]
    with pytest.raises(UnknownDocument):
        await brain.analysis.analyse(document)


async def test_with_a_chat_model(open_brain: OpenBrain, chat: ChatServer, write: Write) -> None:
    chat.reply = scripted
    brain = await open_brain(chat="ollama", chat_url=chat.url, chat_model="terse:1b")
    await brain.analysis.categories.add("Casa", "la casa", ["la riparazione del tetto"])
    document = await added(brain, write("verbale.txt", prose("it", 34_023)))
    made = await brain.analysis.analyse(document)
    assert (made.method, made.language, made.calls) == ("model", "it", 6)
    assert made.summary == f"Riassunto numero 4. {SAID}"
    assert made.description is not None
    assert made.description.startswith("Un verbale del comune, versione 5")
    (category,) = made.categories
    assert (category.name, category.probability, category.reason) == ("Casa", None, SAID)
    assert (await brain.list())[0].categories == ("Casa",)
    # Another list of categories is no reason to summarise anew.
    await brain.analysis.categories.add("Salute")
    assert (await brain.analysis.of(document)).stale
    again = await brain.analysis.analyse(document)
    assert len(chat.requests) == 7
    assert again.summary == made.summary
    # Another length of descriptions is one to describe anew.
    other = await open_brain(
        chat="ollama", chat_url=chat.url, chat_model="terse:1b", description_characters=80
    )
    await other.analysis.analyse(document)
    assert len(chat.requests) == 8
    # Another context is one to do it all.
    wide = await open_brain(
        chat="ollama", chat_url=chat.url, chat_model="terse:1b", chat_context=32_768
    )
    await wide.analysis.analyse(document)
    assert len(chat.requests) == 11


async def test_a_summary_with_a_missing_group_is_not_saved(
    open_brain: OpenBrain, chat: ChatServer, write: Write, rows: Rows
) -> None:
    chat.reply = lambda *given: Reply("") if given[2] == 2 else scripted(*given)
    brain = await open_brain(chat="ollama", chat_url=chat.url)
    document = await added(brain, write("verbale.txt", prose("it", 34_023)))
    with pytest.raises(AnswerError):
        await brain.analysis.analyse(document)
    assert rows("SELECT count(*) FROM analysis") == [(0,)]
    found = await brain.analysis.of(document)
    assert found.summary is None
    assert (found.failure or "").endswith("answered nothing.")
    assert (found.transient, found.attempts) == (False, 1)
    assert (await brain.analysis.counts()).failed == 1
    chat.reply = scripted
    made = await brain.analysis.analyse(document)
    assert (made.failure, made.attempts) == (None, 0)


async def test_a_failed_description_leaves_the_summary(
    open_brain: OpenBrain, chat: ChatServer, write: Write
) -> None:
    chat.reply = lambda *given: "no JSON" if '{"desc' in given[1] else scripted(*given)
    brain = await open_brain(chat="ollama", chat_url=chat.url)
    document = await added(brain, write("verbale.txt", prose("it", 9_000)))
    with pytest.raises(AnswerError, match="description"):
        await brain.analysis.analyse(document)
    found = await brain.analysis.of(document)
    assert found.summary == f"Riassunto numero 1. {SAID}"
    assert found.description is None
    assert "description" in (found.failure or "")
    assert len(await brain.analysis.waiting()) == 1
    chat.reply = scripted
    assert (await brain.analysis.analyse(document)).description
    assert len(chat.requests) == 4, "the summary was not asked for again"


async def test_a_server_that_is_away(open_brain: OpenBrain, write: Write) -> None:
    brain = await open_brain(chat="ollama", chat_url="http://127.0.0.1:9")
    document = await added(brain, write("verbale.txt", prose("it", 3_000)))
    with pytest.raises(ModelUnavailable):
        await brain.analysis.analyse(document)
    found = await brain.analysis.of(document)
    assert found.transient
    with pytest.raises(ModelUnavailable):
        await brain.analysis.analyse_all(stop=1)


async def test_one_that_fails_stops_no_other(
    open_brain: OpenBrain, chat: ChatServer, write: Write
) -> None:
    def reply(system: str, prompt: str, number: int) -> Reply | str:
        return Reply("") if "garden" in prompt else scripted(system, prompt, number)

    chat.reply = reply
    brain = await open_brain(chat="openai", chat_url=chat.url)
    await added(brain, write("a.txt", f"garden {prose('it', 500)}"))
    await added(brain, write("b.txt", prose("it", 800, 4)))
    told: list[tuple[int, int]] = []
    outcomes = await brain.analysis.analyse_all(progress=lambda _, *step: told.append(step))
    assert [item.error is None for item in outcomes] == [False, True]
    assert told == [(0, 2), (1, 2), (2, 2)]


async def test_the_phase_of_the_worker(
    open_brain: OpenBrain, chat: ChatServer, write: Write
) -> None:
    chat.reply = lambda *_: Reply("")
    brain = await open_brain(chat="ollama", chat_url=chat.url)
    document = await added(brain, write("a.txt", prose("it", 800)))
    phase = AnalysisPhase(brain.analysis)
    (due,) = await phase.due()
    assert due.document == document
    with pytest.raises(Failed):
        await phase.perform(document)
    assert await phase.due() == [due], "the same state: a worker leaves it alone"
    chat.reply = lambda *_: Reply("busy", status=503)
    with pytest.raises(Transient):
        await phase.perform(document)
    chat.reply = scripted
    assert (await phase.perform(document)).document == document
    assert await phase.due() == []
    with pytest.raises(Failed):
        await phase.perform(999)


async def test_the_owners_categories(brain: Brain) -> None:
    categories = brain.analysis.categories
    item, new = await categories.add(" Casa  mia ", "", ["un tetto"])
    assert (item.name, new) == ("Casa mia", True)
    item, new = await categories.add("casa MIA", "la casa", ["un tetto", "una caldaia"])
    assert (item.name, item.description, new) == ("casa MIA", "la casa", False)
    assert item.examples == ("un tetto", "una caldaia")
    with pytest.raises(InputError, match="is empty"):
        await categories.add(" ")
    with pytest.raises(InputError, match="Categories: casa MIA"):
        await categories.remove("Salute")
    await categories.remove("Casa Mia")
    assert await categories.all() == []


async def test_a_search_says_which_of_its_documents_are_described_by_other_settings(
    brain: Brain, write: Write
) -> None:
    for name in ("casa", "tetto"):
        document = await added(brain, write(f"{name}.txt", f"La riparazione del {name} costa."))
        await brain.analysis.analyse(document)
    told = "of 2 documents shown here were described and classified with other settings"
    assert told not in (await brain.search("riparazione")).text
    await brain.analysis.categories.add("Lavori", "riparazioni")
    answer = await brain.search("riparazione")
    assert f"2 {told}" in answer.text
    assert sum(told in notice for notice in answer.notices) == 1
    await brain.analysis.analyse(document)
    assert f"1 {told}" in (await brain.search("riparazione")).text
    assert "described" not in (await brain.ask(document, "riparazione")).text
    other = await brain.ask("casa.txt", "riparazione")
    assert "The document shown here was described" in other.text
    await brain.analysis.analyse_all()
    assert told not in (await brain.search("riparazione")).text
    # What was never analysed is told of by status alone: nothing of it is shown here.
    await added(brain, write("nuovo.txt", "La riparazione nuova."))
    assert "described" not in (await brain.search("riparazione")).text


async def test_a_search_in_a_category(brain: Brain, write: Write, rows: Rows) -> None:
    garden = await added(brain, write("pump.txt", "The pump of the garden was repaired in June."))
    await added(brain, write("boat.txt", "The pump of the boat was repaired in July."))
    await brain.analysis.categories.add("Garden")
    await brain.analysis.categories.add("Empty")
    await brain.analysis.analyse_all()
    rows("DELETE FROM document_category")  # which it is does not matter here
    rows(
        "INSERT INTO document_category SELECT %s, id, 0.9, '' FROM category WHERE name = 'Garden'",
        garden,
    )
    assert {item.id for item in await brain.list() if item.categories == ("Garden",)} == {garden}
    answer = await brain.search("pump repaired", filters=parse_filters(categories=["garden"]))
    assert [item.document.id for item in answer.results] == [garden]
    assert not any("not analysed yet" in notice for notice in answer.notices)
    await added(brain, write("new.txt", "The pump of the well was repaired in May."))
    answer = await brain.search("pump repaired", filters=parse_filters(categories=["garden"]))
    assert any("1 document is not analysed yet" in notice for notice in answer.notices)
    nothing = await brain.search("pump repaired", filters=parse_filters(categories=["Empty"]))
    assert nothing.results == ()
    assert any("--category Empty" in notice for notice in nothing.notices)


async def test_notes_and_the_trash_wait_for_nothing(brain: Brain, write: Write, rows: Rows) -> None:
    document = await added(brain, write("a.txt", INVOICE))
    rows("UPDATE document SET trashed_at = now() WHERE id = %s", document)
    assert await brain.analysis.waiting() == []
    rows("UPDATE document SET trashed_at = NULL, note_of = id WHERE id = %s", document)
    assert await brain.analysis.waiting() == []
    assert (await brain.analysis.counts()).documents == 0


async def test_status_and_doctor_tell_of_analysis(
    open_brain: OpenBrain, chat: ChatServer, write: Write
) -> None:
    brain = await open_brain()
    await added(brain, write("a.txt", prose("it", 900)))
    assert (await brain.status()).analysis == {"analysed": 0, "stale": 0, "failed": 0}
    await brain.analysis.analyse_all()
    assert (await brain.status()).analysis == {"analysed": 1, "stale": 0, "failed": 0}
    chat.models = ["terse:1b"]
    values = {"chat": "ollama", "chat_url": chat.url, "chat_model": "terse:1b"}
    model = await open_brain(**values)
    found = await model.status()
    assert found.analysis["stale"] == 1
    assert any("analysed with other settings" in problem for problem in found.problems)
    check = await examine_chat(make_chat(model.settings))
    assert check.ok, check
    missing = await examine_chat(
        make_chat(model.settings.model_copy(update={"chat_model": "other:7b"}))
    )
    assert not missing.ok
    assert "ollama pull other:7b" in missing.detail
    assert not (await examine_chat(None)).judged


async def test_a_note_of_a_vault_is_a_document_too(brain: Brain, write: Write) -> None:
    path = write(
        "harbour.md", "# Harbour\n\nThe ferry leaves at seven.\n\n## Tides\n\nLow at two.\n"
    )
    await brain.vaults.add(path.parent, name="notes")
    outcomes = await brain.analysis.analyse_all()
    assert [item.error for item in outcomes] == [None]
    (made,) = [item.analysis for item in outcomes]
    assert "The ferry leaves at seven." in (made.summary or "")
    path.write_text("# Harbour\n\nThe ferry leaves at eight.\n", "utf-8")
    await brain.vaults.sync()
    assert (await brain.list())[0].description is None, "what was said of another text is gone"
    (again,) = await brain.analysis.analyse_all()
    assert "at eight" in (again.analysis.summary or "")


async def test_sentences_whose_vectors_are_of_no_use_are_embedded_anew(
    brain: Brain, write: Write, rows: Rows
) -> None:
    document = await added(brain, write("a.txt", prose("it", 6_000)))
    rows("UPDATE chunk SET sentences = '\\x0102' WHERE document_id = %s AND ordinal = 0", document)
    made = await brain.analysis.analyse(document)
    assert made.summary
    assert made.spans[0][0] < 3_000
