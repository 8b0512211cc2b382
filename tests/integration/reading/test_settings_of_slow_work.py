"""The settings that bound slow work change what reading does, through the worker."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import docx
from PIL import Image, ImageDraw, ImageFont

from emily.parts import make_reader
from emily.reading.pages import Reading
from emily.settings import load_settings

SAYS = "The meter of the cellar stood at 4711"


def picture(text: str, size: tuple[int, int] = (1000, 160)) -> Image.Image:
    image = Image.new("RGB", size, "white")
    ImageDraw.Draw(image).text((20, 40), text, fill="black", font=ImageFont.load_default(40))
    return image


def scans(path: Path, count: int) -> Path:
    first, *others = [picture(f"{SAYS}, page {number}") for number in range(1, count + 1)]
    first.save(path, save_all=True, append_images=others)
    return path


def with_picture(path: Path) -> Path:
    document = docx.Document()
    document.add_paragraph("A letter about the meter.")
    stream = io.BytesIO()
    picture(SAYS).save(stream, "PNG")
    document.add_picture(stream)
    document.save(str(path))
    return path


class Seeing:
    """A vision model that reads the same in every picture, and counts them."""

    def __init__(self) -> None:
        self.asked = 0

    async def known(self, _: bytes) -> None:
        return None

    async def see(self, _: bytes) -> str:
        self.asked += 1
        return f"A tower, picture {self.asked}."


async def read(home: Path, path: Path, see: Any = None, **settings: Any) -> Reading:
    async with make_reader(load_settings(home, **settings)) as reader:
        return await reader.read(path, services=see, sees=see is not None)


async def test_scanned_pages(tmp_path: Path) -> None:
    path = scans(tmp_path / "scans.pdf", 3)
    bounded = await read(tmp_path, path, scanned_pages=2)
    assert [page.route for page in bounded.pages] == ["ocr", "ocr", "unread"]
    assert "OCR has read 2 pages of this file (setting scanned_pages)" in str(
        bounded.pages[2].warning
    )


async def test_vision_calls(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_paragraph("Two towers without a word.")
    for width in (300, 340):
        image = Image.new("RGB", (400, 400), "white")
        ImageDraw.Draw(image).polygon([(40, 380), (200, 20), (width, 380)], fill="black")
        stream = io.BytesIO()
        image.save(stream, "PNG")
        document.add_picture(stream)
    path = tmp_path / "towers.docx"
    document.save(str(path))
    for calls, asked in ((2, 2), (1, 1)):
        model = Seeing()
        reading = await read(tmp_path, path, model, vision_calls=calls, ocr=False)
        assert model.asked == asked
        text = "".join(page.text for page in reading.pages)
        assert text.count("A tower") == asked
        told = " ".join([*reading.warnings, *(page.warning or "" for page in reading.pages)])
        assert ("(setting vision_calls)" in told) is (asked < 2), told


async def test_picture_side(tmp_path: Path) -> None:
    path = with_picture(tmp_path / "letter.docx")  # 160 pixels high
    for side, asked in ((160, 1), (161, 0)):
        model = Seeing()
        await read(tmp_path, path, model, picture_side=side, ocr=False)
        assert model.asked == asked
