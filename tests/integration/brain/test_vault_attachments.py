"""PDFs and other files of a vault: read, found, linked to, and never served stale."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from reportlab.pdfgen.canvas import Canvas
from tests.fakes import WordsEmbedder

from emily.brain import Brain

Write = Callable[[str, str], Path]


def pdf(path: Path, *pages: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    canvas = Canvas(str(path))
    for text in pages:
        canvas.drawString(72, 720, text)
        canvas.showPage()
    canvas.save()
    return path


@pytest.fixture
def embedder() -> WordsEmbedder:
    return WordsEmbedder(dimension=512)


@pytest.fixture
async def brain(open_brain: Callable[..., Awaitable[Brain]], embedder: WordsEmbedder) -> Brain:
    return await open_brain(embedder, threshold=0.2, arm_size=1, pool_size=1)


@pytest.fixture
async def vault(brain: Brain, folder: Path, write: Write) -> Path:
    write("boiler.md", "# Boiler\n\nIt was replaced in spring; the bill is in [[bill.pdf]].\n")
    write("garden.md", "# Garden\n\nThe hedge is cut in autumn.\n")
    pdf(folder / "files/bill.pdf", "Heating Ltd, invoice", "Total due: 4711 crowns")
    report = await brain.vaults.add(folder, name="notes")
    assert not report.failed
    return folder


async def test_a_pdf_of_a_vault_is_found_with_its_page(brain: Brain, vault: Path) -> None:
    answer = await brain.search("total due 4711 crowns")
    result = answer.results[0]
    assert result.document.name == "bill.pdf"
    assert result.document.vault == "notes"
    assert result.passages[0].pages is not None


async def test_a_question_crosses_from_a_note_to_the_pdf_it_links_to(
    brain: Brain, vault: Path
) -> None:
    answer = await brain.search("boiler replaced in spring", limit=8)
    assert answer.results[0].document.name == "boiler.md"
    bill = next(item for item in answer.results if item.document.name == "bill.pdf")
    assert bill.via is not None
    assert bill.via.text == "linked from boiler.md, line 3: [[bill.pdf]]"


async def test_a_changed_pdf_is_not_served_as_it_was(brain: Brain, vault: Path) -> None:
    pdf(vault / "files/bill.pdf", "Quite another text about tulips")
    answer = await brain.search("total due 4711 crowns", threshold=0)
    assert "bill.pdf" not in {item.document.name for item in answer.results}
    assert any("waits to be read" in notice for notice in answer.notices)
    await brain.vaults.sync()
    answer = await brain.search("text about tulips")
    assert answer.results[0].document.name == "bill.pdf"
    assert not any("waits to be read" in notice for notice in answer.notices)


async def test_a_moved_pdf_keeps_its_identity_and_is_not_read_again(
    brain: Brain, embedder: WordsEmbedder, vault: Path
) -> None:
    before = {info.name: info.id for info in await brain.list()}
    embedder.calls.clear()
    (vault / "files/bill.pdf").rename(vault / "invoice of the boiler.pdf")
    answer = await brain.search("total due 4711 crowns")
    assert answer.results[0].document.name == "invoice of the boiler.pdf"
    assert answer.results[0].document.id == before["bill.pdf"]
    assert embedder.calls == []


async def test_a_pdf_that_the_archive_holds_is_read_once(
    brain: Brain, folder: Path, write: Write, tmp_path: Path
) -> None:
    source = pdf(tmp_path / "elsewhere/bill.pdf", "Total due: 4711 crowns")
    await brain.add([source])
    (folder / "bill.pdf").write_bytes(source.read_bytes())
    write("boiler.md", "# Boiler\n\nThe bill is in [[bill.pdf]].\n")
    await brain.vaults.add(folder, name="notes")
    names = [info.name for info in await brain.list()]
    assert sorted(names) == ["bill.pdf", "boiler.md"]
    await brain.remove("bill.pdf")
    await brain.vaults.sync()
    answer = await brain.search("total due 4711 crowns")
    assert answer.results[0].document.vault == "notes"


async def test_what_holds_no_text_can_be_linked_to(
    brain: Brain, folder: Path, write: Write, rows: Callable[..., list[tuple[object, ...]]]
) -> None:
    (folder / "board.canvas").write_text('{"nodes": []}', encoding="utf-8")
    (folder / "film.mkv").write_bytes(b"\x1aE\xdf\xa3" + bytes(200))
    write("a.md", "See [[film.mkv]] and ![[board.canvas]].\n")
    report = await brain.vaults.add(folder)
    assert not report.failed
    assert rows("SELECT count(*) FROM vault_link WHERE target_id IS NULL") == [(0,)]
    again = await brain.vaults.sync()
    assert again[0].waiting == ()
