"""A scan under a printed header: found whole or in strips, with a short header or a long one."""

from __future__ import annotations

import io
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from emily.reading.layout import TextLine
from emily.reading.ocr.lines import Line
from emily.reading.ocr.sight import Sight
from emily.reading.pages import Page
from emily.reading.pdf.cover import covers, in_a_band
from emily.reading.pdf.document import read_pdf
from emily.reading.pdf.rules import Placed
from emily.reading.source import Source

FAX = ["FAX 12.03.2026 14:05 p. 1 from the office of the notary"]
HEAD = [
    "From: Anna Example <anna@example.org>  To: Bruno Sample <bruno@example.org>",
    "Cc: office@example.org  Subject: Fwd: Scan of the signed contract of the house",
    "Date: Mon, 3 Mar 2025 10:12:13 +0100  Message-ID <1234567890abcdef@example.org>",
    "Printed by the mail program, page 1 of 1",
]
BODY = "The scanned contract between the two parties, as the engine reads it. " * 9
Draw = Callable[[Any], None]


class Engine:
    """OCR that reads the same words in every picture."""

    def __init__(self, text: str = BODY) -> None:
        self.text = text
        self.sizes: list[tuple[int, int]] = []

    def recognise(self, image: Image.Image) -> list[Line]:
        self.sizes.append(image.size)
        return [Line(self.text, 0.95, 10, 10, 600, 40)]


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., tuple[Page, Source]]:
    def run(draw: Draw, engine: Engine | None, sight: Sight | None = None) -> tuple[Page, Source]:
        data = io.BytesIO()
        canvas = Canvas(data, pagesize=A4, invariant=True)
        draw(canvas)
        canvas.save()
        path = tmp_path / "a.pdf"
        path.write_bytes(data.getvalue())
        ocr: Any = (lambda: engine) if engine is not None else None
        deadline = time.monotonic() + 60
        source = Source(path, ocr=ocr, deadline=deadline, seconds=60, sight=sight)
        (page,) = read_pdf(source).pages
        return page, source

    return run


def scan(lines: int = 30, size: tuple[int, int] = (620, 877)) -> Image.Image:
    image = Image.new("L", size, 255)
    pen, font = ImageDraw.Draw(image), ImageFont.load_default(15)
    for at in range(lines):
        words = f"Line {at} of the scanned contract of the two parties"
        pen.text((50, 75 + 25 * at), words, fill=0, font=font)
    return image


def jpeg(image: Image.Image) -> ImageReader:
    data = io.BytesIO()
    image.save(data, "JPEG")
    data.seek(0)
    return ImageReader(data)


def headed(header: Sequence[str], strips: int = 1) -> Draw:
    """A page that a scan fills, stored in strips, with a header in its upper margin."""

    def draw(canvas: Any) -> None:
        image = scan()
        step = image.height / strips
        for at in range(strips):
            part = image.crop((0, round(step * at), image.width, round(step * (at + 1))))
            place = A4[1] * (1 - (at + 1) / strips)
            canvas.drawImage(jpeg(part), 0, place, A4[0], A4[1] / strips)
        canvas.setFont("Helvetica", 7)
        for at, line in enumerate(header):
            canvas.drawString(40, 828 - 9 * at, line)

    return draw


@pytest.mark.parametrize("header", [FAX, HEAD, HEAD[:2]], ids=["a fax's", "a mail's", "short"])
@pytest.mark.parametrize("strips", [1, 4, 27, 110])
def test_a_scan_under_a_header_is_read(
    read: Callable[..., tuple[Page, Source]], header: Sequence[str], strips: int
) -> None:
    engine = Engine()
    page, _ = read(headed(header, strips), engine)
    assert (page.route, page.warning) == ("ocr", None)
    assert page.text.split() == BODY.split()
    assert len(engine.sizes) == 1


@pytest.mark.parametrize("header", [FAX, HEAD], ids=["a fax's", "a mail's"])
@pytest.mark.parametrize("strips", [1, 27, 110])
def test_without_ocr_it_is_said(
    read: Callable[..., tuple[Page, Source]], header: Sequence[str], strips: int
) -> None:
    page, _ = read(headed(header, strips), None)
    assert page.route == "text"
    assert header[0].split() == page.text.split()[: len(header[0].split())]
    assert "it is scanned and OCR is off (setting ocr)" in (page.warning or "")


@pytest.mark.parametrize("header", [FAX, HEAD, HEAD[:2]], ids=["a fax's", "a mail's", "short"])
def test_without_ocr_the_model_reads_it(
    read: Callable[..., tuple[Page, Source]], header: Sequence[str]
) -> None:
    page, _ = read(headed(header), None, Sight(lambda _: BODY))
    assert page.route == "vision"
    assert page.text.split() == BODY.split()


@pytest.mark.parametrize("text", ["Read already.", "", "x"])
def test_a_layer_that_has_it_all_is_kept(
    read: Callable[..., tuple[Page, Source]], text: str
) -> None:
    page, source = read(headed(FAX), Engine(text))
    assert (page.route, page.text, page.pictures) == ("text", FAX[0], 0)
    assert not source.pictures.readings


@pytest.mark.parametrize("ground", ["lightyellow", "navy", "gray"])
@pytest.mark.parametrize("lines", [FAX, HEAD])
def test_a_plain_ground_under_a_title_needs_no_ocr(
    read: Callable[..., tuple[Page, Source]], lines: Sequence[str], ground: str
) -> None:
    def draw(canvas: Any) -> None:
        canvas.drawImage(jpeg(Image.new("RGB", (600, 800), ground)), 0, 0, *A4)
        canvas.setFont("Helvetica", 12)
        for at, line in enumerate(lines):
            canvas.drawString(40, 500 - 14 * at, line)

    engine = Engine()
    page, _ = read(draw, engine)
    assert (page.route, page.warning, engine.sizes) == ("text", None, [])
    page, _ = read(draw, None)
    assert (page.route, page.warning) == ("text", None)


@pytest.mark.parametrize("height", [260, 300, 420])
def test_a_poster_with_a_caption_on_it_is_read(
    read: Callable[..., tuple[Page, Source]], height: int
) -> None:
    def draw(canvas: Any) -> None:
        poster = scan(6, (900, 500))
        canvas.drawImage(jpeg(poster), 30, 300, 540, height)
        canvas.drawString(60, 320, "Our new price list for the whole season")

    engine = Engine("PRICE LIST 12.50")
    page, source = read(draw, engine)
    assert page.route == "text"
    assert page.text.startswith("Our new price list") or page.text.endswith("whole season")
    assert "[picture, read by OCR]\nPRICE LIST 12.50\n[/picture]" in page.text
    assert [found.route for found in source.pictures.readings] == ["ocr"]


def test_a_figure_that_fills_the_page_above_its_caption_stays_a_picture(
    read: Callable[..., tuple[Page, Source]],
) -> None:
    caption = [*HEAD, "Figure 7. The four parts of the mill and what each of them is for."]

    def draw(canvas: Any) -> None:
        canvas.drawImage(jpeg(scan()), 30, 150, 540, 680)
        for at, line in enumerate(caption):
            canvas.drawString(30, 120 - 14 * at, line)

    page, _ = read(draw, Engine())
    assert page.route == "text"
    assert page.text.startswith("[picture, read by OCR]")
    assert page.text.endswith(caption[-1])


def placed(left: float, base: float, right: float, top: float) -> Placed:
    return Placed(0, left, base, right, top)


@pytest.mark.parametrize(
    ("pictures", "covered"),
    [
        ([], False),
        ([placed(0, 0, 100, 51)], True),
        ([placed(0, 0, 100, 49)], False),
        ([placed(0, 0, 100, 49)] * 9, False),  # one upon the other
        ([placed(0, n, 100, n + 1) for n in range(60)], True),
        ([placed(0, n, 100, n + 1) for n in range(0, 100, 2)], False),
        ([placed(-500, -500, 40, 40)], False),
        ([placed(0, 0, 48, 100), placed(52, 0, 100, 100)], True),
    ],
)
def test_what_covers_a_page(pictures: list[Placed], covered: bool) -> None:
    assert covers(pictures, (100, 100)) is covered


def row(base: float, height: float = 10) -> TextLine:
    return TextLine("some words", 0, 100, base, height)


@pytest.mark.parametrize(
    ("lines", "band"),
    [
        ([], True),
        ([row(800)], True),
        ([row(800), row(20)], True),
        ([row(800 - 12 * n) for n in range(13)], True),
        ([row(800 - 12 * n) for n in range(20)], False),
        ([row(60 * n) for n in range(14)], False),
    ],
)
def test_text_in_one_place(lines: list[TextLine], band: bool) -> None:
    assert in_a_band(lines, 0, 842) is band
