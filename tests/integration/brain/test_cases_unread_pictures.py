"""Pictures that were not read: the document is read in part, and says so."""

from __future__ import annotations

import io
from pathlib import Path

import docx
import pptx
import pytest
from PIL import Image, ImageDraw
from pptx.util import Inches
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from emily.brain import Brain


def picture() -> io.BytesIO:
    image = Image.new("RGB", (400, 200), "white")
    ImageDraw.Draw(image).text((30, 80), "Total 1234", fill="black", font_size=28)
    data = io.BytesIO()
    image.save(data, "PNG")
    data.seek(0)
    return data


def word(path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("La caldaia perde acqua.")
    document.add_picture(picture(), width=Inches(2))
    document.save(str(path))


def slides(path: Path) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    box = slide.shapes.add_textbox(0, 0, Inches(4), Inches(1))
    box.text_frame.text = "La caldaia perde acqua."
    slide.shapes.add_picture(picture(), 0, Inches(2), Inches(2))
    deck.save(str(path))


def pdf(path: Path) -> None:
    canvas = Canvas(str(path))
    canvas.drawString(72, 760, "La caldaia perde acqua dal tubo di sotto.")
    canvas.drawImage(ImageReader(picture()), 72, 400)
    canvas.save()


@pytest.mark.parametrize(("name", "write"), [("a.docx", word), ("a.pptx", slides), ("a.pdf", pdf)])
async def test_a_document_with_unread_pictures_is_read_in_part(
    brain: Brain, folder: Path, name: str, write: object
) -> None:
    assert callable(write)
    write(folder / name)
    (file,) = (await brain.add([folder / name])).files
    assert (file.outcome, file.state) == ("added", "in part")
    assert file.reason == "1 picture is not read: OCR is off (setting ocr)."
    assert (await brain.show(name)).info.warnings == (file.reason,)
    assert (await brain.search("caldaia")).results
