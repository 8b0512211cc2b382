"""Pictures of pages that lie or stand on their head, without a flag that says so."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from emily.reading.reader import Reader

LINES = ("The invoice number is 4711", "dated the third of March", "and the sum is 99,90 euro")


@pytest.fixture(scope="module")
async def reader() -> AsyncIterator[Reader]:
    async with Reader(seconds=120, memory_mb=2048, file_mb=64, ocr=True, threads=2) as shared:
        yield shared


def page(*texts: str) -> Image.Image:
    image = Image.new("RGB", (900, 100 + 80 * len(texts)), "white")
    for at, text in enumerate(texts):
        ImageDraw.Draw(image).text(
            (60, 60 + 80 * at), text, fill="black", font=ImageFont.load_default(40)
        )
    return image


@pytest.mark.parametrize("turned", [90, 180, 270])
async def test_a_turned_picture_is_read_as_it_was_written(
    reader: Reader, tmp_path: Path, turned: int
) -> None:
    page(*LINES).rotate(turned, expand=True, fillcolor="white").save(tmp_path / "a.png")
    (found,) = (await reader.read(tmp_path / "a.png")).pages
    assert found.route == "ocr"
    places = [found.text.find(part) for part in ("4711", "March", "99,90")]
    assert -1 not in places, found.text
    assert places == sorted(places)


@pytest.mark.parametrize("text", ["HOX 96", "SOS", "NOON 818"])
async def test_what_reads_either_way_stays_as_it_is(
    reader: Reader, tmp_path: Path, text: str
) -> None:
    page(text).save(tmp_path / "a.png")
    (found,) = (await reader.read(tmp_path / "a.png")).pages
    assert found.text.split() == text.split()
