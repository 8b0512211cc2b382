"""One part that cannot be read: it is named, and everything around it is read."""

from __future__ import annotations

import base64
import io
import zipfile
from collections.abc import Callable
from typing import Any

import docx
import pptx
import pytest
from PIL import Image, ImageDraw
from pptx.util import Inches
from reportlab.lib.pagesizes import A4
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from emily.indexing.text import DocumentText
from emily.reading.formats import reader_of
from emily.reading.pages import Page, Reading
from emily.reading.pdf.document import read_pdf
from emily.reading.source import Draft, Source

Make = Callable[..., Source]
Pages = Callable[[Draft], list[Page]]
SENTENCE = "The lease runs for four years and goes on by itself."


def png(text: str = "Scanned words") -> bytes:
    image = Image.new("RGB", (400, 200), "white")
    ImageDraw.Draw(image).text((30, 80), text, fill="black", font_size=28)
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


# --- some pages of a file are scanned

SCAN = ImageReader(io.BytesIO(png()))


def draw_page(canvas: Any, kind: str) -> None:
    if kind == "t":
        canvas.drawString(72, 700, SENTENCE)
    elif kind == "s":
        canvas.drawImage(SCAN, 0, 0, *A4)
    elif kind == "g":
        canvas.drawString(72, 700, "(cid:12)(cid:7)(cid:88)(cid:3)(cid:9)(cid:41)")
        canvas.drawImage(SCAN, 0, 0, 595, 600)
    canvas.showPage()


@pytest.mark.parametrize("kinds", ["st", "ts", "tst", "sbts", "tgtg", "ttttttttts", "sssst"])
def test_no_page_vanishes_and_those_that_gave_nothing_are_named(
    source: Make, pages: Pages, kinds: str
) -> None:
    data = io.BytesIO()
    canvas = Canvas(data, pagesize=A4)
    for kind in kinds:
        draw_page(canvas, kind)
    canvas.save()
    found = pages(read_pdf(source(data.getvalue(), "a.pdf")))
    routes = {"t": "text", "s": "unread", "g": "unread", "b": "blank"}
    assert [page.number for page in found] == list(range(1, len(kinds) + 1))
    assert [page.route for page in found] == [routes[kind] for kind in kinds]
    for page, kind in zip(found, kinds, strict=True):
        assert page.text == (SENTENCE if kind == "t" else "")
        said = f"Page {page.number} is not read: it is scanned and OCR is off (setting ocr)."
        assert page.warning == (said if kind in "sg" else None)


# --- a page that is broken

HEAD = (
    "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
    "5 0 obj<</Length 90>>stream\n"
    f"BT /F 12 Tf 72 700 Td ({SENTENCE}) Tj ET\nendstream endobj\n"
    "6 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n"
)
LEAF = (
    "{} 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 5 0 R"
    "/Resources<</Font<</F 6 0 R>>>>>>endobj\n"
)


@pytest.mark.parametrize("broken", ["", "9 0 obj[1 2 3]endobj\n", "9 0 obj 7 endobj\n"])
@pytest.mark.parametrize("kids", ["3 9 4", "9 3 4", "3 4 9"])
def test_a_broken_page_is_named_and_the_others_are_read(
    source: Make, pages: Pages, broken: str, kids: str
) -> None:
    listed = " ".join(f"{kid} 0 R" for kid in kids.split())
    tree = f"2 0 obj<</Type/Pages/Count 3/Kids[{listed}]>>endobj\n"
    whole = HEAD + tree + LEAF.format(3) + LEAF.format(4) + broken
    data = (whole + "trailer<</Root 1 0 R>>\n%%EOF\n").encode()
    found = pages(read_pdf(source(data, "a.pdf")))
    bad = kids.split().index("9") + 1
    assert [page.number for page in found] == [1, 2, 3]
    for page in found:
        if page.number == bad:
            assert (page.route, page.text) == ("unread", "")
            assert f"Page {bad} is not read: broken" in (page.warning or "")
        else:
            assert (page.route, page.text, page.warning) == ("text", SENTENCE, None)


# --- a picture that is broken


def word(picture: bytes) -> bytes:
    document = docx.Document()
    document.add_paragraph("Before it.")
    document.add_picture(io.BytesIO(png()), width=Inches(2))
    document.add_paragraph("After it.")
    data = io.BytesIO()
    document.save(data)
    return with_media(data.getvalue(), picture)


def slides(picture: bytes) -> bytes:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    slide.shapes.add_textbox(0, 0, Inches(4), Inches(1)).text_frame.text = "Before it."
    slide.shapes.add_picture(io.BytesIO(png()), 0, Inches(2), Inches(2))
    slide.shapes.add_textbox(0, Inches(5), Inches(4), Inches(1)).text_frame.text = "After it."
    data = io.BytesIO()
    deck.save(data)
    return with_media(data.getvalue(), picture)


def with_media(data: bytes, picture: bytes) -> bytes:
    changed = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(changed, "w") as new:
        for name in old.namelist():
            new.writestr(name, picture if "/media/" in name else old.read(name))
    return changed.getvalue()


def web(picture: bytes) -> bytes:
    address = "data:image/png;base64," + base64.b64encode(picture).decode()
    return f'<html><p>Before it.</p><img src="{address}"><p>After it.</p></html>'.encode()


def book(picture: bytes) -> bytes:
    page = "<html><body><p>Before it.</p><img src='a.png'/><p>After it.</p></body></html>"
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="c.opf"/></rootfiles></container>',
        )
        archive.writestr(
            "c.opf",
            '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
            '<item id="a" href="a.xhtml" media-type="application/xhtml+xml"/>'
            '<item id="b" href="a.png" media-type="image/png"/></manifest>'
            '<spine><itemref idref="a"/></spine></package>',
        )
        archive.writestr("a.xhtml", page)
        archive.writestr("a.png", picture)
    return data.getvalue()


def rich(picture: bytes) -> bytes:
    shown = r"{\pict\pngblip\picw400\pich200 " + picture.hex() + "}"
    return (r"{\rtf1\ansi Before it.\par " + shown + r"\par After it.\par}").encode()


def portable(picture: bytes) -> bytes:
    said = "BT /F 12 Tf 72 700 Td (Before it.) Tj ET q 300 0 0 150 72 500 cm /I Do Q "
    said += "BT /F 12 Tf 72 400 Td (After it.) Tj ET"
    parts = (
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        "2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n"
        "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        "/Resources<</Font<</F 5 0 R>>/XObject<</I 6 0 R>>>>>>endobj\n"
        f"4 0 obj<</Length {len(said)}>>stream\n{said}\nendstream endobj\n"
        "5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n"
        "6 0 obj<</Type/XObject/Subtype/Image/Width 400/Height 200/BitsPerComponent 8"
        f"/ColorSpace/DeviceRGB/Filter/DCTDecode/Length {len(picture)}>>stream\n"
    )
    return parts.encode() + picture + b"\nendstream endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"


FORMATS = {
    "docx": word, "pptx": slides, "html": web, "epub": book, "rtf": rich, "pdf": portable,
}  # fmt: skip
FAULTS = {"cut off": png()[:60], "another thing": b"no picture at all" * 9, "nothing in it": b"\0"}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("kind", FORMATS)
def test_a_broken_picture_takes_nothing_with_it(
    source: Make, pages: Pages, kind: str, fault: str
) -> None:
    asked = source(FORMATS[kind](FAULTS[fault]), f"a.{kind}")
    (page,) = pages(reader_of(kind)(asked))
    assert page.route == "text"
    before, after = page.text.index("Before it."), page.text.index("After it.")
    assert before < page.text.find("[picture, not read]") < after
    assert [found.route for found in asked.pictures.readings] == ["unread"]


# --- ligatures are letters


@pytest.mark.parametrize("kind", ["docx", "html", "rtf", "text", "csv"])
def test_ligatures_are_stored_as_letters(source: Make, pages: Pages, kind: str) -> None:
    said = "The oﬃce ﬁle of the ﬂat, in eﬀect."
    document = docx.Document()
    document.add_paragraph(said)
    held = io.BytesIO()
    document.save(held)
    escaped = "".join(c if c.isascii() else rf"\u{ord(c)}?" for c in said)
    data = {
        "docx": held.getvalue(),
        "html": f"<html><meta charset=utf-8><p>{said}</p></html>".encode(),
        "rtf": (r"{\rtf1\ansi " + escaped + r"\par}").encode(),
        "text": said.encode(),
        "csv": f"a;b\n{said};2\n3;4\n".encode(),
    }[kind]
    draft = reader_of(kind)(source(data, f"a.{kind}"))
    found = DocumentText.from_reading(Reading(kind, tuple(pages(draft)), draft.citation))
    assert "The office file of the flat, in effect." in found.text


@pytest.mark.parametrize(
    ("codes", "read"),
    [
        ("fb01 fb02", "xfix yfly xfiy yflx"),
        ("fb03 fb04", "xffix yffly xffiy yfflx"),
        ("fb00 fb06", "xffx ysty xffy ystx"),
    ],
)
def test_ligatures_of_a_text_layer(source: Make, pages: Pages, codes: str, read: str) -> None:
    first, second = codes.split()
    cmap = (
        "/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapName /X def "
        "1 begincodespacerange <00> <FF> endcodespacerange "
        f"2 beginbfchar\n<41> <{first}>\n<42> <{second}>\nendbfchar endcmap end end"
    )
    text = "BT /F 12 Tf 72 700 Td (xAx yBy xAy yBx) Tj ET"
    data = (
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n"
        "2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n"
        "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        "/Resources<</Font<</F 5 0 R>>>>>>endobj\n"
        f"4 0 obj<</Length {len(text)}>>stream\n{text}\nendstream endobj\n"
        "5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode 6 0 R>>endobj\n"
        f"6 0 obj<</Length {len(cmap)}>>stream\n{cmap}\nendstream endobj\n"
        "trailer<</Root 1 0 R>>\n%%EOF\n"
    ).encode()
    (page,) = pages(read_pdf(source(data, "a.pdf")))
    assert (page.route, page.text) == ("text", read)


# --- CSV of a Japanese program


@pytest.mark.parametrize(
    "text",
    [
        "名前;金額\nりんご;100\nなし;200\n",
        "名前\t金額\nりんごの箱\t100\nなしの箱\t200\n",
        '品名,説明\nりんご,"赤い\nくだもの"\nなし,"みずみずしい"\n',
    ],
)
def test_a_csv_in_cp932(source: Make, pages: Pages, text: str) -> None:
    draft = reader_of("csv")(source(text.encode("cp932"), "a.csv"))
    (page,) = pages(draft)
    assert page.text.replace(", ", ",") == text  # a comma that separates gets a blank
    (table,) = page.tables
    assert table.header == (0, 0)
    assert len(table.rows) == 2
    assert any("CP932" in warning for warning in draft.warnings)
