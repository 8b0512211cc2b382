"""PDFs made for the purpose, through the worker."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from emily.errors import EmptyDocument, PasswordRequired, ReadingError
from emily.reading.pages import Reading
from emily.reading.reader import Reader

SENTENCE = "Il contratto dura quattro anni e si rinnova da solo se nessuno scrive prima di maggio."


@pytest.fixture(scope="module")
async def reader() -> AsyncIterator[Reader]:
    async with Reader(seconds=120, memory_mb=3072, file_mb=64, ocr=False, threads=1) as opened:
        yield opened


@pytest.fixture(scope="module")
async def with_ocr() -> AsyncIterator[Reader]:
    async with Reader(seconds=120, memory_mb=3072, file_mb=64, ocr=True, threads=2) as opened:
        yield opened


def pdf(path: Path, draw: Callable[[Any], None], **options: Any) -> Path:
    canvas = Canvas(str(path), pagesize=(595, 842), invariant=True, **options)
    draw(canvas)
    canvas.save()
    return path


def lines(canvas: Any, *texts: str, left: float = 72, top: float = 760) -> None:
    for at, text in enumerate(texts):
        canvas.drawString(left, top - 14 * at, text)


def picture(*texts: str) -> Image.Image:
    image = Image.new("RGB", (1190, 600), "white")
    font = ImageFont.load_default(40)
    for at, text in enumerate(texts):
        ImageDraw.Draw(image).text((80, 60 + 80 * at), text, fill="black", font=font)
    return image


def texts(reading: Reading) -> list[str]:
    return [page.text for page in reading.pages]


async def test_pages_paragraphs_and_title(reader: Reader, tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        canvas.setTitle("The contract")
        lines(
            canvas,
            "This agreement is made between the two parties that are named below, and its perfor-",
            "mance begins on the first of May. It may be ended by either of them with a notice in",
            "writing.",
            "The self-",
        )
        canvas.showPage()
        canvas.showPage()
        lines(canvas, SENTENCE)

    reading = await reader.read(pdf(tmp_path / "a.pdf", draw))
    assert (reading.kind, reading.citation, reading.title) == ("pdf", "pages", "The contract")
    first, second, third = reading.pages
    assert first.text.split("\n")[0] == (
        "This agreement is made between the two parties that are named below, and its performance "
        "begins on the first of May. It may be ended by either of them with a notice in writing."
    )
    assert (second.number, second.route, second.text) == (2, "blank", "")
    assert (third.number, third.route, third.text) == (3, "text", SENTENCE)


async def test_columns_are_read_in_the_order_written(reader: Reader, tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        lines(canvas, *[f"left column line {n} of text" for n in range(6)])
        lines(canvas, *[f"right column line {n} of text" for n in range(6)], left=320)

    text = texts(await reader.read(pdf(tmp_path / "a.pdf", draw)))[0]
    assert text.index("left column line 5") < text.index("right column line 0")


async def test_aligned_rows_are_a_table(reader: Reader, tmp_path: Path) -> None:
    rows = [
        ("Part", "Quantity", "Where it is packed"),
        ("Inlet hose, 1.5 m, with a valve", "1", "in the drum"),
        ("Blanking caps for transport bolts", "4", "taped to the back"),
        ("Spanner", "1", "taped to the back"),
        ("Sample of a liquid detergent", "1", "in the drawer"),
    ]

    def draw(canvas: Any) -> None:
        for at, cells in enumerate(rows):
            for left, cell in zip((72, 290, 370), cells, strict=True):
                canvas.drawString(left, 700 - 14 * at, cell)

    reading = await reader.read(pdf(tmp_path / "a.pdf", draw))
    lines_of = reading.pages[0].text.split("\n")
    assert lines_of == [f"| {' | '.join(row)} |" for row in rows[:1]] + [
        "| --- | --- | --- |",
        *(f"| {' | '.join(row)} |" for row in rows[1:]),
    ]
    (table,) = reading.pages[0].tables
    assert table.header == (0, 1)
    assert table.rows == ((2, 2), (3, 3), (4, 4), (5, 5))


async def test_what_is_filled_into_a_form_is_read(reader: Reader, tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        lines(canvas, "Application for a parking permit")
        canvas.acroForm.textfield(name="Plate", value="AB 123 CD", x=72, y=600)
        canvas.acroForm.textfield(name="Empty", x=72, y=500)

    (text,) = texts(await reader.read(pdf(tmp_path / "a.pdf", draw)))
    assert text == "Application for a parking permit\n\nPlate: AB 123 CD"


async def test_passwords(reader: Reader, tmp_path: Path) -> None:
    def draw(canvas: Any) -> None:
        lines(canvas, SENTENCE)

    user = StandardEncryption("user", ownerPassword="owner", strength=128)
    owner = StandardEncryption("", ownerPassword="owner", strength=128, canPrint=0)
    with pytest.raises(PasswordRequired, match="password"):
        await reader.read(pdf(tmp_path / "user.pdf", draw, encrypt=user))
    assert texts(await reader.read(pdf(tmp_path / "owner.pdf", draw, encrypt=owner))) == [SENTENCE]


async def test_truncated_and_broken_files(reader: Reader, tmp_path: Path) -> None:
    whole = pdf(tmp_path / "whole.pdf", lambda canvas: lines(canvas, SENTENCE)).read_bytes()
    broken = tmp_path / "broken.pdf"
    for length in (9, 60, len(whole) // 3):
        broken.write_bytes(whole[:length])
        with pytest.raises(ReadingError, match="truncated or broken"):
            await reader.read(broken)


async def test_one_broken_page_does_not_stop_the_others(reader: Reader, tmp_path: Path) -> None:
    path = tmp_path / "a.pdf"
    path.write_bytes(
        b"%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        b"2 0 obj<</Type/Pages/Count 3/Kids[3 0 R 9 0 R 4 0 R]>>endobj\n"
        b"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 5 0 R"
        b"/Resources<</Font<</F 6 0 R>>>>>>endobj\n"
        b"4 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 5 0 R"
        b"/Resources<</Font<</F 6 0 R>>>>>>endobj\n"
        b"5 0 obj<</Length 62>>stream\n"
        b"BT /F 12 Tf 72 700 Td (Sixteen characters and some more) Tj ET\nendstream endobj\n"
        b"6 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n"
        b"trailer<</Root 1 0 R>>\n%%EOF\n"
    )
    reading = await reader.read(path)
    assert [page.route for page in reading.pages] == ["text", "unread", "text"]
    assert "Page 2 is not read: broken" in (reading.pages[1].warning or "")


async def test_scanned_pages_without_ocr_are_named(reader: Reader, tmp_path: Path) -> None:
    scan = ImageReader(picture("Scanned words"))

    def draw(canvas: Any, *, typed: bool) -> None:
        canvas.drawImage(scan, 0, 400, 595, 300)
        canvas.showPage()
        if typed:
            lines(canvas, SENTENCE)

    reading = await reader.read(pdf(tmp_path / "a.pdf", lambda c: draw(c, typed=True)))
    assert [page.route for page in reading.pages] == ["unread", "text"]
    assert "Page 1 is not read: it is scanned and OCR is off" in (reading.pages[0].warning or "")
    with pytest.raises(ReadingError, match="scanned and OCR is off"):
        await reader.read(pdf(tmp_path / "b.pdf", lambda c: draw(c, typed=False)))
    with pytest.raises(EmptyDocument, match="it is blank"):
        await reader.read(pdf(tmp_path / "c.pdf", lambda c: c.showPage()))


async def test_scanned_and_garbled_pages_go_to_ocr(with_ocr: Reader, tmp_path: Path) -> None:
    scan = ImageReader(picture("Total amount due", "1234,50 euro"))

    def draw(canvas: Any) -> None:
        canvas.drawImage(scan, 0, 400, 595, 300)
        canvas.drawString(72, 100, "Page 1")
        canvas.showPage()
        canvas.drawImage(scan, 0, 400, 595, 300)
        hidden = canvas.beginText(72, 600)
        hidden.setTextRenderMode(3)
        hidden.textLine("(cid:12)(cid:7)(cid:88)(cid:3)(cid:12)(cid:7)(cid:88)(cid:3)")
        canvas.drawText(hidden)
        canvas.showPage()
        canvas.drawImage(scan, 0, 0, 595, 700)
        canvas.drawString(72, 820, "FAX 12.03.2026 p. 1")
        canvas.showPage()
        canvas.drawImage(ImageReader(picture("Few")), 0, 0, 595, 700)
        canvas.drawString(72, 820, "A caption that says all there is")

    reading = await with_ocr.read(pdf(tmp_path / "a.pdf", draw))
    assert [page.route for page in reading.pages] == ["ocr", "ocr", "ocr", "text"]
    assert "FAX 12.03.2026" in reading.pages[2].text
    assert reading.pages[3].text == "A caption that says all there is"
    for page in reading.pages[:3]:
        assert "Total amount due" in page.text
        assert "1234,50 euro" in page.text
        assert page.warning is None
    assert "Page 1" in reading.pages[0].text


async def test_a_picture_is_read_upright_or_not(with_ocr: Reader, tmp_path: Path) -> None:
    upright = picture("The invoice number is 4711", "and the amount is 99,90 euro")
    for name, image in (("a.png", upright), ("b.png", upright.rotate(90, expand=True))):
        image.save(tmp_path / name)
        reading = await with_ocr.read(tmp_path / name)
        assert (reading.kind, reading.pages[0].route) == ("image", "ocr")
        assert "invoice number is 4711" in reading.pages[0].text
        assert reading.pages[0].text.index("invoice") < reading.pages[0].text.index("99,90")


async def test_ocr_proves_itself(with_ocr: Reader, reader: Reader) -> None:
    assert await with_ocr.check_ocr() is None
    assert await reader.check_ocr() == (
        "OCR is off (setting ocr); scanned pages and pictures are not read"
    )


async def test_ocr_that_does_not_fit_into_memory_is_said(tmp_path: Path) -> None:
    data = io.BytesIO()
    picture("Some words on a page").save(data, "PNG")
    path = tmp_path / "a.png"
    path.write_bytes(data.getvalue())
    async with Reader(seconds=60, memory_mb=512, file_mb=64, ocr=True, threads=1) as small:
        with pytest.raises(ReadingError) as caught:
            await small.read(path)
        assert "OCR does not fit into the memory limit" in str(caught.value)
        note = tmp_path / "a.txt"
        note.write_text("still at work")
        assert texts(await small.read(note)) == ["still at work"]
