"""What one file must not do to the others, and what a second add makes up for."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.fakes import WordsEmbedder

from emily.brain import Brain

OpenBrain = Callable[..., Awaitable[Brain]]
Write = Callable[[str, str], Path]


async def test_a_path_longer_than_an_index_row(brain: Brain, folder: Path, write: Write) -> None:
    deep = "/".join(f"{number:02}" + "cartella" * 25 for number in range(15))
    assert len(str(folder / deep)) > 2800
    long = write(f"{deep}/nota.txt", "Il cancello verde si chiude alle otto.")
    report = await brain.add([long, write("dopo.txt", "Il tavolo rotondo è in cantina.")])
    assert [file.outcome for file in report.files] == ["added", "added"]
    assert [file.outcome for file in (await brain.add([long])).files] == ["unchanged"]
    assert (await brain.show(str(long))).info.path == str(long)


async def test_a_passage_without_a_vector_gets_one_with_the_next_add(
    open_brain: OpenBrain, write: Write
) -> None:
    embedder = WordsEmbedder()
    embedder.broken = ["cancello"]
    brain = await open_brain(embedder)
    path = write("nota.txt", "Il cancello verde si chiude alle otto.")
    (first,) = (await brain.add([path])).files
    assert first.outcome == "added"
    assert "no vector" in (first.reason or "")
    assert "no vector" in " ".join((await brain.status()).problems)
    embedder.broken = []
    (second,) = (await brain.add([path])).files
    assert (second.outcome, second.document) == ("replaced", first.document)
    assert second.reason == "It was not read or indexed whole before."
    assert (await brain.status()).problems == ()


async def test_pages_left_out_while_ocr_was_off_are_named(
    open_brain: OpenBrain, folder: Path, write: Write
) -> None:
    from reportlab.pdfgen.canvas import Canvas

    path = folder / "mista.pdf"
    canvas = Canvas(str(path))
    canvas.drawString(72, 700, "La prima pagina ha un testo che si legge da sé.")
    canvas.showPage()
    canvas.rect(100, 100, 300, 400, fill=1)
    canvas.showPage()
    canvas.save()
    brain = await open_brain(ocr=False)
    (added,) = (await brain.add([path])).files
    assert added.outcome == "added"
    assert "page 2 of 2" in (added.reason or "")
    (problem,) = (await brain.status()).problems
    assert problem.startswith("1 pages were not read (OCR is off by the setting 'ocr')")
    (again,) = (await brain.add([path])).files
    assert again.outcome == "replaced", "what was not read whole is read again"


async def test_a_short_document_is_not_shown_whole_by_ask(
    open_brain: OpenBrain, write: Write, rows: Callable[..., list[tuple[Any, ...]]]
) -> None:
    brain = await open_brain(chunk_tokens=64, chunk_overlap=0)
    lines = [f"Riga {number} del registro: il fornitore {number} paga." for number in range(12)]
    lines[9] = "Riga 9 del registro: la caldaia nuova costa 1.180 euro."
    text = "\n\n".join(lines)
    await brain.add([write("registro.txt", text)])
    assert rows("SELECT count(*) > 1 FROM chunk") == [(True,)]
    answer = await brain.ask("registro.txt", "quanto costa la caldaia nuova?")
    shown = [passage for result in answer.results for passage in result.passages]
    assert sum(len(passage.text) for passage in shown) <= len(text) // 2
    assert any("caldaia nuova" in passage.text for passage in shown)
    for passage in shown:
        assert passage.text == text[passage.start : passage.end]


async def test_emilys_own_folder_is_not_added(brain: Brain, folder: Path, write: Write) -> None:
    home = brain.settings.home
    (home / "settings.txt").write_text("la parola segreta")
    (folder / "casa").symlink_to(home)
    write("nota.txt", "Il cancello verde si chiude alle otto.")
    report = await brain.add([folder, home / "settings.txt"])
    assert report.counts() == {"added": 1, "ignored": 1, "failed": 1}
    assert {file.reason for file in report.files if file.outcome != "added"} == {"Emily's own data"}


async def test_a_text_longer_than_the_limit(open_brain: OpenBrain, write: Write) -> None:
    brain = await open_brain(document_characters=1000)
    (file,) = (await brain.add([write("libro.txt", "parola " * 200)])).files
    assert file.outcome == "failed"
    assert "1,399 characters, and at most 1,000" in (file.reason or "")
    assert "document_characters" in (file.reason or "")


async def test_an_add_that_is_cancelled_ends_soon(open_brain: OpenBrain, write: Write) -> None:
    embedder = WordsEmbedder()
    brain = await open_brain(embedder, chunk_tokens=64, chunk_overlap=0)
    long = write(
        "lungo.txt", "\n\n".join(f"Frase numero {n} del libro lungo." for n in range(20_000))
    )
    adding = asyncio.create_task(brain.add([long]))
    while not embedder.calls:
        await asyncio.sleep(0.01)
    adding.cancel()
    await asyncio.gather(adding, return_exceptions=True)
    await asyncio.sleep(0.5)
    calls = len(embedder.calls)
    await asyncio.sleep(0.5)
    assert len(embedder.calls) == calls, "nothing goes on behind it"
    assert await brain.list() == []
