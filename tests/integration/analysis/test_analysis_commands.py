"""The commands about analysis, over a real database; the chat server is real HTTP."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from tests.contract.chat import ChatServer, Reply
from tests.fakes import WordsEmbedder
from tests.unit.analysis.prose import prose
from typer.testing import CliRunner

from emily.brain import Brain
from emily.cli.app import app
from emily.cli.session import Session
from emily.indexing.language import LanguageDetector
from emily.reading.reader import Reader
from emily.settings import Settings
from emily.store import Database

Write = Callable[[str, str], Path]


class Emily:
    """Runs commands."""

    def __init__(self, detector: LanguageDetector) -> None:
        self._detector = detector

    @asynccontextmanager
    async def _opened(self, settings: Settings, warm: bool) -> AsyncIterator[Brain]:
        # A reader of this command's own: it is bound to the loop that runs it.
        reader = Reader(seconds=60, memory_mb=1024, file_mb=64, ocr=False, threads=1)
        async with Database.open(settings) as database, reader:
            brain = Brain(settings, database, WordsEmbedder(), self._detector, reader)
            yield brain
            await brain.settle()

    def __call__(self, *arguments: str, code: int = 0) -> Result:
        result = CliRunner().invoke(app, list(arguments), obj=Session(open_brain=self._opened))
        assert result.exit_code == code, result.output
        return result

    def json(self, *arguments: str, code: int = 0) -> Any:
        """The JSON document of a command."""
        return json.loads(self(*arguments, "--json", code=code).stdout)


@pytest.fixture
def emily(
    database_url: str, home: Path, detector: LanguageDetector, monkeypatch: pytest.MonkeyPatch
) -> Emily:
    monkeypatch.setenv("EMILY_DATABASE_URL", database_url)
    return Emily(detector)


def test_from_adding_to_searching_in_a_category(emily: Emily, write: Write) -> None:
    path = write("minutes.txt", prose("en", 3_000))
    emily("add", str(path))
    before = emily("get", "minutes.txt").stdout
    assert "has no summary yet. emily analyse 1 makes it now; until then emily ask 1" in before
    assert emily.json("summary", "minutes.txt")["document"]["summary"] is None
    assert "is added" in emily("categories", "add", "Council", "--example", "the council").stdout
    assert "0 of 1; emily analyse, or a worker, does the rest" in emily("status").stdout
    done = emily("analyse")
    assert "1 document was analysed by their own sentences." in done.stdout
    assert "analysed" in done.stderr, "progress goes to stderr"
    assert "Nothing was waiting" in emily("analyse").stdout
    found = emily.json("get", "1")["document"]
    assert found["method"] == "extractive"
    assert found["summary"]
    assert found["description"].startswith("minutes") or "Minutes" in found["description"]
    text = path.read_text("utf-8")
    assert all(text[start:end].strip() for start, end in found["spans"])
    shown = emily("summary", "1").stdout
    assert shown.startswith("  | ")
    assert "sentences of the document itself" in shown
    assert emily("get", "1", "--summary").stdout == shown
    listed = emily.json("list")["documents"][0]
    assert listed["description"] == found["description"]
    assert listed["categories"] == [item["name"] for item in found["categories"]]
    assert emily.json("show", "1")["document"]["description"] == found["description"]
    assert emily.json("status")["analysis"] == {"analysed": 1, "stale": 0, "failed": 0}
    added = emily.json("categories", "add", "council", "--description", "meetings")
    assert (added["new"], added["stale"]) == (False, 1)
    assert added["category"]["examples"] == ["the council"]
    assert "It was made with other settings or categories" in emily("summary", "1").stdout
    assert [item["name"] for item in emily.json("categories", "list")["categories"]] == ["council"]
    wrong = emily("search", "pool", "--category", "Garden", code=1)
    assert "There is no category 'Garden'. Categories: council." in wrong.stderr
    assert emily.json("categories", "remove", "COUNCIL")["name"] == "COUNCIL"
    assert "There is no category. Add one" in emily("categories", "list").stdout


def test_a_chat_model_that_fails(
    emily: Emily, write: Write, chat: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMILY_CHAT", "ollama")
    monkeypatch.setenv("EMILY_CHAT_URL", chat.url)
    chat.reply = lambda *_: Reply("")
    emily("add", str(write("minutes.txt", prose("en", 900))))
    failed = emily.json("analyse", "minutes.txt", code=1)
    assert (failed["method"], failed["analysed"], failed["failed"]) == ("model", 0, 1)
    assert "answered nothing" in failed["documents"][0]["error"]
    told = emily("get", "1").stdout
    assert "Analysis failed:" in told
    assert "The analysis of 1 document failed." in emily("status").stdout
    assert "Traceback" not in emily("analyse", code=1).output
    monkeypatch.setenv("EMILY_CHAT_URL", "http://models.example:11434")
    away = emily("analyse", code=1)
    assert "allowed_servers" in away.output, "nothing is sent elsewhere without consent"


def test_the_memory_of_every_process(emily: Emily) -> None:
    found = emily.json("status", "--memory")
    assert found["bytes"] >= found["parts"][0]["bytes"] > 1_000_000
    assert found["notices"] == ["Your own database server is not measured."]
    shown = emily("status", "--memory").stdout
    assert "in all" in shown
