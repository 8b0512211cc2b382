"""Each row of the table in docs/degradation.md: the part is taken away, the sentence is read."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfgen.canvas import Canvas
from tests.fakes import WordsEmbedder
from tests.integration.brain.conftest import OpenBrain

from emily.brain import Brain
from emily.errors import EmilyError, ModelMismatch, ModelUnavailable, StoreError, StoreUnavailable
from emily.reading.reader import Reader
from emily.settings import load_settings

Write = Callable[[str, str], Path]
Rows = Callable[..., list[tuple[Any, ...]]]

PAGE = Path(__file__).parents[3] / "docs" / "degradation.md"


def table() -> dict[str, str]:
    """The part that is down, and what the user reads then."""
    lines = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| ")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]
    return {row[0]: row[4] for row in cells}


def sentences(part: str) -> list[re.Pattern[str]]:
    """The sentences of a row; ``…`` in them stands for anything."""
    quoted = re.findall("“(.*?)”", table()[part])
    assert quoted, f"the row of {part} quotes no sentence"
    return [
        re.compile(".*?".join(re.escape(piece) for piece in text.split("…")), re.DOTALL)
        for text in quoted
    ]


def reads(part: str, *said: object) -> None:
    """That each sentence of the row stands in what was said, in its order."""
    for pattern, text in zip(sentences(part), said, strict=True):
        shown = "\n".join(text) if isinstance(text, (list, tuple)) else str(text)
        assert pattern.search(shown), f"{pattern.pattern!r} is not in {shown!r}"


@pytest.fixture
def embedder() -> WordsEmbedder:
    return WordsEmbedder()


@pytest.fixture
async def filled(open_brain: OpenBrain, embedder: WordsEmbedder, write: Write) -> Brain:
    """Two documents, indexed while all was well."""
    brain = await open_brain(embedder)
    await brain.add(
        [
            write("boiler.txt", "La caldaia K014 perde acqua e va riparata."),
            write("cake.txt", "Torta di mele con uova e zucchero. Acqua quanto basta."),
        ]
    )
    return brain


async def lists_work(brain: Brain) -> None:
    assert {info.name for info in await brain.list()} >= {"boiler.txt", "cake.txt"}
    assert (await brain.show("boiler.txt")).pages
    assert (await brain.remove("cake.txt")).document.name == "cake.txt"


async def refuse(brain: Brain, error: type[EmilyError], part: str) -> None:
    with pytest.raises(error) as raised:
        await brain.search("caldaia")
    reads(part, raised.value)
    with pytest.raises(error) as raised:
        await brain.ask("boiler.txt", "caldaia")
    reads(part, raised.value)


async def test_embedder(filled: Brain, embedder: WordsEmbedder, write: Write, rows: Rows) -> None:
    embedder.down = True
    answer = await filled.search("acqua della caldaia K014")
    reads("embedder", answer.notices)
    assert [result.document.name for result in answer.results] == ["boiler.txt", "cake.txt"]
    lexical = [item["lexical"] for item in answer.trace["second_stage"]["candidates"]]
    assert lexical == sorted(lexical, reverse=True)
    assert lexical[0] > 0
    for result in answer.results:
        assert result.score is None
        assert all(passage.score is None for passage in result.passages)
    assert answer.trace["vector_arm"]["empty_because"] == "the embedder is down"
    assert "is not there" in answer.trace["embed"]["down"]
    inside = await filled.ask("cake.txt", "uova")
    reads("embedder", inside.notices)
    assert inside.results[0].passages[0].score is None
    with pytest.raises(ModelUnavailable):
        await filled.add([write("new.txt", "Una nota nuova.")])
    assert rows("SELECT count(*) FROM document") == [(2,)]
    checks = {check.name: check for check in await filled.doctor()}
    assert not checks["embedder"].ok
    assert (await filled.status()).documents == 2
    await lists_work(filled)
    embedder.down = False
    assert (await filled.search("caldaia")).results[0].score is not None, "it is back by itself"


async def test_lexical_arm(filled: Brain, write: Write, rows: Rows) -> None:
    rows("DROP TABLE posting")
    answer = await filled.search("la caldaia perde acqua")
    status = await filled.status()
    reads("lexical arm", answer.notices, status.problems)
    assert answer.results[0].document.name == "boiler.txt"
    assert answer.results[0].score > 0
    assert "posting" in answer.trace["lexical_arm"]["empty_because"]
    assert (await filled.ask("boiler.txt", "caldaia")).results
    index = next(check for check in await filled.doctor() if check.name == "index")
    assert not index.ok
    with pytest.raises(StoreError, match="posting"):
        await filled.add([write("new.txt", "Una nota nuova.")])
    assert rows("SELECT count(*) FROM document") == [(2,)]
    assert len(await filled.list()) == 2


async def test_an_empty_lexical_arm_is_told(filled: Brain, rows: Rows) -> None:
    rows("DELETE FROM posting")
    assert "the index of words is empty" in " ".join((await filled.status()).problems)


async def test_embedder_and_lexical_arm(
    filled: Brain, embedder: WordsEmbedder, write: Write, rows: Rows
) -> None:
    embedder.down = True
    rows("DROP TABLE posting")
    await refuse(filled, StoreError, "embedder and lexical arm")
    with pytest.raises(EmilyError):
        await filled.add([write("new.txt", "Una nota nuova.")])
    assert (await filled.status()).problems
    assert len(await filled.list()) == 2


@pytest.mark.parametrize(
    ("part", "name"), [("vectors", "chunk_vector"), ("vocabulary", "word")], ids=str
)
async def test_vectors_and_vocabulary(
    filled: Brain, write: Write, rows: Rows, part: str, name: str
) -> None:
    rows(f"DROP TABLE {name} CASCADE")
    await refuse(filled, StoreError, part)
    with pytest.raises(StoreError) as raised:
        await filled.add([write("new.txt", "Una nota nuova.")])
    reads(part, raised.value)
    with pytest.raises(StoreError) as raised:
        await filled.status()
    reads(part, raised.value)
    checks = {check.name: check for check in await filled.doctor()}
    assert not checks["index"].ok
    assert rows("SELECT count(*) FROM document") == [(2,)]
    assert len(await filled.list()) == 2


async def test_vector_of_one_passage(filled: Brain, embedder: WordsEmbedder, write: Write) -> None:
    embedder.broken.add("xilofono")
    (file,) = (await filled.add([write("music.txt", "Lo xilofono va accordato.")])).files
    assert file.outcome == "added"
    reads("vector of one passage", file.reason, (await filled.status()).problems)
    answer = await filled.search("accordato")
    found = answer.trace["second_stage"]["candidates"]
    assert "music.txt" in [item["name"] for item in found]
    assert (await filled.search("caldaia")).results[0].document.name == "boiler.txt"


async def test_index_of_the_present_model(
    filled: Brain, open_brain: OpenBrain, folder: Path
) -> None:
    other = await open_brain(WordsEmbedder("other"))
    await refuse(other, ModelMismatch, "index of the present model")
    assert "emily reindex" in " ".join((await other.status()).problems)
    (file,) = (await other.add([folder / "boiler.txt"])).files
    assert file.outcome == "replaced"
    assert (await other.status()).stale == 1
    await lists_work(other)
    assert (await other.search("caldaia")).results, "none of the other model is left"


async def test_index_of_the_present_settings(
    filled: Brain, open_brain: OpenBrain, folder: Path
) -> None:
    other = await open_brain(chunk_overlap=0)
    answer = await other.search("caldaia")
    reads("index of the present settings", answer.notices)
    assert answer.results
    reads("index of the present settings", (await other.ask("boiler.txt", "caldaia")).notices)
    assert (await other.status()).stale == 2
    (file,) = (await other.add([folder / "boiler.txt"])).files
    assert file.outcome == "replaced"
    assert (await other.status()).stale == 1


async def test_database(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    url = f"postgresql://emily@/archive?host={tmp_path}"
    with pytest.raises(StoreUnavailable) as raised:
        async with Brain.open(load_settings(home, database_url=url), embedder=WordsEmbedder()):
            pytest.fail("it opened without a database")
    reads("database", raised.value)


def scanned_page() -> Image.Image:
    image = Image.new("RGB", (600, 300), "white")
    ImageDraw.Draw(image).text((40, 100), "SCANNED WORDS ON A PAGE", fill="black", font_size=32)
    return image


async def test_ocr(filled: Brain, open_brain: OpenBrain, folder: Path, tmp_path: Path) -> None:
    without = await open_brain(ocr=False)
    picture = tmp_path / "scan.png"
    scanned_page().save(picture)
    canvas = Canvas(str(folder / "half.pdf"), pagesize=(600, 300))
    canvas.drawString(40, 200, "Il contatore del gas si legge ogni due mesi.")
    canvas.showPage()
    canvas.drawImage(str(picture), 0, 0, 600, 300)
    canvas.save()
    scanned_page().save(folder / "scan.png")
    report = await without.add([folder / "half.pdf", folder / "scan.png"])
    half, scan = report.files
    assert (half.outcome, scan.outcome) == ("added", "failed")
    reads("OCR", half.reason, scan.reason)
    routes = [page.route for page in (await without.show("half.pdf")).pages]
    assert routes == ["text", "unread"]
    answer = await without.search("contatore gas")
    assert answer.results[0].document.name == "half.pdf"
    assert answer.results[0].passages[0].pages == (1, 1)
    checks = {check.name: check for check in await without.doctor()}
    assert "scanned pages stay unread" in checks["ocr"].detail
    assert len((await filled.search("caldaia")).results) >= 1


async def test_an_ocr_engine_that_does_not_load(brain: Brain, folder: Path) -> None:
    scanned_page().save(folder / "scan.png")
    without = (
        "import runpy, sys; sys.modules['rapidocr'] = None; "
        "runpy.run_module('emily.reading.worker', run_name='__main__', alter_sys=True)"
    )
    async with Reader(
        seconds=60,
        memory_mb=1024,
        file_mb=64,
        ocr=True,
        threads=1,
        languages=("it",),
        command=[sys.executable, "-c", without],
    ) as reader:
        brain._reader = reader
        (file,) = (await brain.add([folder / "scan.png"])).files
        assert file.outcome == "failed"
        reads("OCR engine", file.reason)
        checks = {check.name: check for check in await brain.doctor()}
        assert not checks["ocr"].ok
        assert checks["ocr"].help


@pytest.mark.parametrize(
    ("part", "url"),
    [
        ("vision model", "http://127.0.0.1:9"),
        ("consent to a server elsewhere", "http://vision.example.org:9"),
    ],
)
async def test_vision(
    open_brain: OpenBrain, write: Write, folder: Path, part: str, url: str
) -> None:
    brain = await open_brain(ocr=False, vision="ollama", vision_url=url)
    scanned_page().save(folder / "scan.png")
    note = write("note.txt", "La caldaia perde acqua.")
    scan, added = (await brain.add([folder / "scan.png", note])).files
    assert (scan.outcome, added.outcome) == ("failed", "added")
    reads(part, scan.reason)
    check = next(check for check in await brain.doctor() if check.name == "vision")
    assert not check.ok
    assert check.help
    assert (await brain.search("caldaia")).results


@pytest.mark.parametrize(
    ("part", "url"),
    [
        ("reranker", "http://127.0.0.1:9"),
        ("consent to a reranker elsewhere", "http://ranker.example.org:9"),
    ],
)
async def test_reranker(open_brain: OpenBrain, write: Write, part: str, url: str) -> None:
    brain = await open_brain(reranker="http", reranker_url=url)
    (added,) = (await brain.add([write("note.txt", "La caldaia perde acqua.")])).files
    assert added.outcome == "added"
    answer = await brain.search("caldaia")
    assert answer.results[0].score is not None
    reads(part, answer.notices)
    assert [(alert.name, alert.level) for alert in (await brain.status()).alerts] == [
        ("reranker", "critical")
    ]
    check = next(check for check in await brain.doctor() if check.name == "reranker")
    assert not check.ok
    assert check.help


async def test_password(brain: Brain, folder: Path, write: Write) -> None:
    path = folder / "closed.pdf"
    canvas = Canvas(str(path), encrypt=StandardEncryption("s3cret", "owner", strength=128))
    canvas.drawString(72, 700, "Il canone è di 950 euro al mese.")
    canvas.save()
    note = write("note.txt", "La caldaia perde acqua.")
    closed, added = (await brain.add([path, note])).files
    assert (closed.outcome, closed.state, added.outcome) == ("failed", "needs a password", "added")
    reads("password of a file", closed.reason)
    (opened,) = (await brain.add([path], passwords=["wrong", "s3cret"])).files
    assert (opened.outcome, opened.state) == ("added", "read")
    assert (await brain.search("canone euro")).results[0].document.name == "closed.pdf"


async def test_original_files(brain: Brain, write: Write) -> None:
    await brain.add([write("boiler.txt", "La caldaia perde acqua.")])
    (kept,) = (brain.settings.home / "originals").glob("??/*")
    kept.unlink()
    check = next(check for check in await brain.doctor() if check.name == "originals")
    assert not check.ok
    reads("original files", check.detail)
    assert (await brain.search("caldaia")).results
    (added,) = (await brain.add([write("new.txt", "Una nota nuova.")])).files
    assert added.outcome == "added"
    kept.write_text("La caldaia perde acqua.")
    kept.with_name("0" * 64 + ".txt").write_text("left by an add that was cut off")
    check = next(check for check in await brain.doctor() if check.name == "originals")
    assert check.ok
    assert "1 left by an add that was cut off" in check.detail


def test_every_row_has_its_test() -> None:
    tested = Path(__file__).read_text("utf-8")
    for part in table():
        quoted = f'"{part}"'
        assert quoted in tested, f"no test takes away: {part}"


async def test_log_of_questions(filled: Brain, rows: Rows) -> None:
    rows("ALTER TABLE query_log RENAME TO hidden")
    assert (await filled.search("caldaia")).results
    await filled.settle()
    reads("log of questions", [alert.text for alert in (await filled.status()).alerts])
