"""When a page goes on from OCR to the vision model, and what becomes of it."""

from __future__ import annotations

import io
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image, ImageDraw

from emily.errors import ReadingError
from emily.reading.limits import MOST_CALLS
from emily.reading.ocr.image import recognised
from emily.reading.ocr.lines import Line
from emily.reading.ocr.sight import Sight, is_flattened_table
from emily.reading.source import Source

TABLE = "item     price     sum\nnail     12     24\nscrew     3     9"


class FakeOcr:
    """Reads what it is told."""

    def __init__(self, text: str) -> None:
        self.text = text

    def recognise(self, image: Image.Image) -> list[Line]:
        return [
            Line(text, 0.95, 10, 10 + 40 * row, 10 + 12 * len(text), 40 + 40 * row)
            for row, text in enumerate(self.text.split("\n"))
            if text
        ]


@pytest.fixture
def inked() -> Image.Image:
    image = Image.new("RGB", (400, 300), "white")
    ImageDraw.Draw(image).rectangle((50, 50, 200, 200), fill="black")
    return image


@pytest.fixture
def make(tmp_path: Path) -> Callable[..., Source]:
    def source(text: str | None, see: Callable[[bytes], str] | None = None) -> Source:
        return Source(
            tmp_path / "page.png",
            ocr=None if text is None else lambda: FakeOcr(text),
            deadline=time.monotonic() + 60,
            seconds=60,
            sight=None if see is None else Sight(see),
        )

    return source


@pytest.mark.parametrize("text", ["A letter about the roof.", "one line     with a gap", "a\nb\nc"])
def test_what_ocr_reads_well_goes_no_further(
    make: Callable[..., Source], inked: Image.Image, text: str
) -> None:
    def see(_: bytes) -> str:
        raise AssertionError("the model was asked")

    found = recognised(inked, make(text, see))
    assert found.route == "ocr"
    assert found.text.split() == text.split()


@pytest.mark.parametrize("text", ["", None, TABLE, TABLE + "\nThe end."])
def test_nothing_or_a_flattened_table_goes_to_the_model(
    make: Callable[..., Source], inked: Image.Image, text: str | None
) -> None:
    asked = []

    def see(image: bytes) -> str:
        asked.append(Image.open(io.BytesIO(image)))
        return "| item | price |\n| --- | --- |\n| nail | 12 |"

    found = recognised(inked, make(text, see))
    assert (found.route, found.confidence, found.problem) == ("vision", None, None)
    assert "| nail | 12 |" in found.text
    assert [(image.format, image.size) for image in asked] == [("PNG", inked.size)]


@pytest.mark.parametrize("text", ["", TABLE])
def test_without_a_model_ocr_has_the_last_word(
    make: Callable[..., Source], inked: Image.Image, text: str
) -> None:
    assert recognised(inked, make(text)).route == "ocr"


def test_a_blank_page_costs_nothing(make: Callable[..., Source]) -> None:
    def see(_: bytes) -> str:
        raise AssertionError("the model was asked")

    source = make(None, see)
    source.ocr = lambda: (_ for _ in ()).throw(AssertionError("OCR was asked"))
    assert recognised(Image.new("RGB", (400, 300), "white"), source).route == "blank"


def test_a_model_that_fails_leaves_what_ocr_read(
    make: Callable[..., Source], inked: Image.Image
) -> None:
    def see(_: bytes) -> str:
        raise ReadingError("the vision model repeats itself without end")

    kept = recognised(inked, make(TABLE, see))
    assert (kept.route, kept.problem) == ("ocr", "the vision model repeats itself without end")
    assert "nail" in kept.text
    nothing = recognised(inked, make("", see))
    assert nothing.route == "unread"
    assert "repeats itself" in (nothing.problem or "")


def test_a_model_that_says_nothing_has_not_read(
    make: Callable[..., Source], inked: Image.Image
) -> None:
    found = recognised(inked, make("", lambda _: "  \n"))
    assert (found.route, found.text) == ("unread", "")


def test_pages_and_pictures_share_the_calls(
    make: Callable[..., Source], inked: Image.Image
) -> None:
    calls = []

    def see(image: bytes) -> str:
        calls.append(image)
        return "a roof"

    source = make("", see)
    for number in range(MOST_CALLS - 1):
        assert recognised(inked, source).route == "vision", number
    data = io.BytesIO()
    inked.save(data, "PNG")
    assert source.pictures.block(data.getvalue(), 1) == [
        "[picture, described by a model]",
        "a roof",
        "[/picture]",
    ]
    spent = recognised(inked, source)
    assert (spent.route, len(calls)) == ("unread", MOST_CALLS)
    assert "the 50 calls of the vision model for one document are used up" in (spent.problem or "")
    source.ocr = lambda: FakeOcr(TABLE)
    kept = recognised(inked, source)
    assert (kept.route, len(calls)) == ("ocr", MOST_CALLS)
    assert "nail" in kept.text


@pytest.mark.parametrize(
    ("text", "flattened"),
    [
        ("", False),
        ("a   b\nc   d", False),
        ("a   b\nc   d\ne   f", True),
        ("a   b\n\nc   d\n\ne   f\nx\ny\nz", True),
        ("a   b\nc   d\ne   f\nx\ny\nz\nw", False),
        ("a  b\nc  d\ne  f", False),
        ("   indented\n   lines\n   only", False),
    ],
)
def test_a_flattened_table_is_told_by_its_gaps(text: str, flattened: bool) -> None:
    assert is_flattened_table(text) is flattened
