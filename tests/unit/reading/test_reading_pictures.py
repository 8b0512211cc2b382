"""Pictures inside documents: read once, set apart, counted."""

from __future__ import annotations

import hashlib
import io
import time
from pathlib import Path

import pytest
from PIL import Image, ImageDraw
from tests.unit.reading.test_reading_sight import FakeOcr

from emily.errors import ReadingError
from emily.reading.ocr.sight import Sight
from emily.reading.pages import PictureReading
from emily.reading.source import Source


def picture(size: tuple[int, int] = (120, 90), shade: int = 0, kind: str = "PNG") -> bytes:
    image = Image.new("RGB", size, "white")
    ImageDraw.Draw(image).text((12, 20), "Total 12", fill=(shade, 0, 0))
    data = io.BytesIO()
    image.save(data, kind)
    return data.getvalue()


@pytest.fixture
def source(tmp_path: Path) -> Source:
    return Source(
        tmp_path / "x.docx",
        ocr=lambda: FakeOcr("Total 12\neuro"),
        deadline=time.monotonic() + 60,
        seconds=60,
    )


def test_what_is_read_stands_between_marks_that_say_how(source: Source) -> None:
    assert source.pictures.block(picture(), 3) == [
        "[picture, read by OCR]",
        "Total 12",
        "euro",
        "[/picture]",
    ]
    (found,) = source.pictures.readings
    assert found == PictureReading(
        hashlib.sha256(picture()).digest(), 3, "ocr", "Total 12\neuro", 0.95
    )


def test_a_logo_on_every_page_is_read_once_and_counted_each_time(source: Source) -> None:
    assert source.pictures.block(picture(), 1)
    for page in range(2, 6):
        assert source.pictures.block(picture(), page) == []
    assert [source.pictures.on_page(page) for page in range(1, 7)] == [1, 1, 1, 1, 1, 0]
    assert len(source.pictures.readings) == 1


@pytest.mark.parametrize("size", [(63, 500), (500, 63), (1, 1)])
def test_icons_and_rules_are_passed_over(source: Source, size: tuple[int, int]) -> None:
    assert source.pictures.block(picture(size), 1) == []
    assert source.pictures.on_page(1) == 0
    assert source.pictures.readings == ()


def test_the_least_side_is_read(source: Source) -> None:
    assert source.pictures.block(picture((64, 64)), 1)


@pytest.mark.parametrize(
    "data",
    [b"", b"\x01\0\0\0 not a picture", picture()[:60], b"\xd7\xcd\xc6\x9a" + bytes(80)],
)
def test_what_is_no_picture_that_can_be_read_says_so(source: Source, data: bytes) -> None:
    assert source.pictures.block(data, 1) == ["[picture, not read]"]
    assert source.pictures.readings[0].route == "unread"
    assert source.pictures.on_page(1) == 1


def test_a_bomb_is_not_read(source: Source) -> None:
    bomb = io.BytesIO()
    Image.new("1", (40_000, 40_000)).save(bomb, "PNG")
    assert source.pictures.block(bomb.getvalue(), 1) == ["[picture, not read]"]


def test_a_picture_without_ink_leaves_no_mark(source: Source) -> None:
    blank = io.BytesIO()
    Image.new("RGB", (100, 100), "white").save(blank, "PNG")
    assert source.pictures.block(blank.getvalue(), 1) == []
    assert [item.route for item in source.pictures.readings] == ["blank"]


def test_a_picture_in_which_ocr_finds_nothing_leaves_no_mark(source: Source) -> None:
    source.ocr = lambda: FakeOcr("")
    assert source.pictures.block(picture(), 1) == []
    assert [item.route for item in source.pictures.readings] == ["blank"]


def test_what_the_archive_knows_is_not_read_again(source: Source) -> None:
    def refuse() -> FakeOcr:
        raise AssertionError("OCR was asked")

    source.ocr = refuse
    digest = hashlib.sha256(picture()).digest()
    source.pictures.known = lambda asked: (
        PictureReading(digest, 1, "vision", "a red square") if asked == digest else None
    )
    assert source.pictures.block(picture(), 9) == [
        "[picture, described by a model]",
        "a red square",
        "[/picture]",
    ]
    assert source.pictures.readings[0].page == 9


def test_without_ocr_it_is_not_read(source: Source) -> None:
    source.ocr = None
    assert source.pictures.block(picture(), 1) == ["[picture, not read]"]
    assert source.pictures.warnings == ["1 picture is not read: OCR is off (setting ocr)."]


def bomb(side: int) -> bytes:
    made = io.BytesIO()
    Image.new("1", (side, side)).save(made, "PNG")
    return made.getvalue()


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ([b"no picture"], "1 picture is not read: it is broken, or of a kind that is not read."),
        (
            [picture()[:60], b"\xd7\xcd\xc6\x9a" + bytes(80)],
            "2 pictures are not read: it is broken, or of a kind that is not read.",
        ),
        ([bytes((64 << 20) + 1)], "1 picture is not read: its file has more than 64 MiB."),
        ([bomb(40_000)], "40,000 x 40,000 pixels"),
    ],
)
def test_pictures_that_are_not_read_are_counted_with_the_reason(
    source: Source, data: list[bytes], said: str
) -> None:
    assert source.pictures.block(picture(), 1)
    assert source.pictures.warnings == []
    for one in data:
        source.pictures.block(one, 1)
        source.pictures.block(one, 2)
    (warning,) = source.pictures.warnings
    assert said in warning


def test_ocr_that_the_model_could_not_better_is_said(source: Source) -> None:
    def see(_: bytes) -> str:
        raise ReadingError("the server sleeps")

    source.sight = Sight(see)
    source.ocr = lambda: FakeOcr("item     price\nnail     12\nscrew     3")
    assert source.pictures.block(picture(), 1)[0] == "[picture, read by OCR]"
    source.ocr = lambda: FakeOcr("")
    assert source.pictures.block(picture(shade=90), 1) == ["[picture, not read]"]
    assert source.pictures.warnings == [
        "1 picture is not read: OCR found no text, and the server sleeps.",
        "1 picture is read by OCR alone, or with doubt: the server sleeps.",
    ]


def test_what_needs_no_word_gets_none(source: Source) -> None:
    blank = io.BytesIO()
    Image.new("RGB", (100, 100), "white").save(blank, "PNG")
    for data in (blank.getvalue(), picture((20, 20)), picture()):
        source.pictures.block(data, 1)
    source.ocr = lambda: FakeOcr("")
    source.pictures.block(picture(shade=90), 1)  # nothing to read in it
    assert source.pictures.warnings == []
