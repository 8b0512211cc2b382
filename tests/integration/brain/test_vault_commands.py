"""The commands about vaults, over a real database and real folders."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from tests.fakes import WordsEmbedder
from typer.testing import CliRunner

from emily.brain import Brain
from emily.cli.app import app
from emily.cli.session import Session
from emily.indexing.language import LanguageDetector
from emily.reading.reader import Reader
from emily.settings import Settings
from emily.store import Database

Emily = Callable[..., str]
Write = Callable[[str, str], Path]


@pytest.fixture
def emily(
    database_url: str, home: Path, detector: LanguageDetector, monkeypatch: pytest.MonkeyPatch
) -> Emily:
    """Runs a command; gives what it prints on stdout."""
    monkeypatch.setenv("EMILY_DATABASE_URL", database_url)

    @asynccontextmanager
    async def opened(settings: Settings, warm: bool) -> AsyncIterator[Brain]:
        # A reader of this command's own: it is bound to the loop that runs it.
        reader = Reader(seconds=60, memory_mb=1024, file_mb=64, ocr=False, threads=1)
        async with Database.open(settings) as database, reader:
            brain = Brain(settings, database, WordsEmbedder(), detector, reader)
            yield brain
            await brain.settle()

    def run(*arguments: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, list(arguments), obj=Session(open_brain=opened))
        assert result.exit_code == code, result.output
        return result.stdout

    return run


@pytest.fixture
def notes(folder: Path, write: Write) -> Path:
    write("harbour.md", "# Harbour\n\nThe ferry leaves at seven.\n\nSee [[Skipper]], [[Nobody]].\n")
    write("people/Skipper.md", "---\naliases: [Anna]\n---\n# Skipper\n\nAnna knows the harbour.\n")
    write("alone.md", "# Alone\n\nNothing links this.\n")
    write("broken.md", "---\ntitle: [unclosed\n---\n\nStill read.\n")
    return folder


def test_a_vault_from_adding_to_forgetting(emily: Emily, notes: Path, home: Path) -> None:
    added = json.loads(emily("vault", "add", str(notes), "--name", "notes", "--json"))
    assert len(added["vaults"][0]["added"]) == 4
    (home.parent / "letter.txt").write_text("A letter about a ferry.", encoding="utf-8")
    emily("add", str(home.parent / "letter.txt"))
    everywhere = json.loads(emily("search", "ferry", "--threshold", "0", "--json"))
    names = {item["document"]["name"] for item in everywhere["results"]}
    assert {"harbour.md", "letter.txt"} <= names
    vault = json.loads(emily("search", "ferry", "--in", "notes", "--threshold", "0", "--json"))
    assert {item["document"]["vault"] for item in vault["results"]} == {"notes"}
    assert vault["results"][0]["passages"][0]["citation"].startswith(f"{notes}/harbour.md:")
    rest = json.loads(emily("search", "ferry", "--in", "archive", "--threshold", "0", "--json"))
    assert {item["document"]["name"] for item in rest["results"]} == {"letter.txt"}
    listed = json.loads(emily("vault", "status", "notes", "--json"))["vaults"][0]
    assert listed["notes"] == 4
    assert listed["broken"] == 1
    assert "broken.md" in listed["problems"]
    assert "4" in emily("vault", "list")
    synced = json.loads(emily("vault", "sync", "--json"))["vaults"][0]
    assert synced["unchanged"] == 4
    emily("vault", "remove", "notes")
    assert json.loads(emily("vault", "list", "--json"))["vaults"] == []
    assert (notes / "harbour.md").exists()


def test_links_of_a_note_and_of_a_vault(emily: Emily, notes: Path) -> None:
    emily("vault", "add", str(notes), "--name", "notes")
    found = json.loads(emily("links", "Anna", "--json"))
    assert found["note"] == "people/Skipper.md"
    assert [item["path"] for item in found["backlinks"]] == ["harbour.md"]
    assert json.loads(emily("links", str(notes / "harbour.md"), "--json"))["mentions"]
    whole = json.loads(emily("links", "--json"))
    assert [item["target"] for item in whole["broken"]] == ["Nobody"]
    assert "alone.md" in whole["orphans"]
    assert "Backlinks: 1" in emily("links", "Skipper")
    emily("links", "no such note", code=1)


def test_a_map_and_an_index_of_words(emily: Emily, notes: Path) -> None:
    emily("vault", "add", str(notes), "--name", "notes")
    assert json.loads(emily("vault", "map", "--json"))["notes"] == 4
    terms = json.loads(emily("vault", "map", "--terms", "ferr", "--json"))["terms"]
    assert [item["word"] for item in terms] == ["ferry"]


def test_without_a_database_the_folders_are_searched(
    emily: Emily, notes: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    emily("vault", "add", str(notes), "--name", "notes")
    monkeypatch.setenv("EMILY_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    found = json.loads(emily("search", "ferry", "--json"))
    assert found["results"][0]["document"]["name"] == "harbour.md"
    said = " ".join(found["notices"])
    assert "Only the vaults were looked in" in said
    assert "words and links only" in said
    emily("vault", "list", code=1)


def test_without_a_database_and_a_vault_the_error_stands(
    emily: Emily, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EMILY_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    emily("search", "ferry", code=1)


def test_lite_needs_no_database(emily: Emily, notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMILY_DATABASE_URL", "postgresql://nobody@127.0.0.1:1/none")
    assert "harbour.md" in emily("lite", str(notes), "ferry")
    assert json.loads(emily("lite", str(notes), "ferry", "--json"))["results"]
    emily("lite", str(notes), code=1)


def test_open_starts_the_editor_at_the_line(
    emily: Emily, notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = tmp_path / "told"
    editor = tmp_path / "code"
    editor.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {told}\n', encoding="utf-8")
    editor.chmod(0o700)
    emily("vault", "add", str(notes), "--name", "notes")
    monkeypatch.setenv("VISUAL", str(editor))
    emily("vault", "open", "people/Skipper.md:6")
    assert told.read_text("utf-8").split() == ["-g", f"{notes}/people/Skipper.md:6"]
    emily("vault", "open", "nowhere.md:1", code=1)
