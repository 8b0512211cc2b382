"""The order of recognised lines, and how pictures are prepared, with an engine that is told."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from emily.reading.ocr.engine import OcrUnavailable, recognise
from emily.reading.ocr.image import flatten, has_ink, ocr_page, read_image
from emily.reading.ocr.lines import Line, is_sparse, page_text
from emily.reading.ocr.sight import is_flattened_table
from emily.reading.source import Source


def line(
    text: str, left: float, top: float, width: float | None = None, score: float = 0.9
) -> Line:
    return Line(text, score, left, top, left + (width or 10 * len(text)), top + 20)


class Told:
    """Says what it is told, once per call; keeps the sizes of what it was shown."""

    def __init__(self, *answers: list[Line]) -> None:
        self.answers = list(answers)
        self.sizes: list[tuple[int, int]] = []

    def recognise(self, image: Image.Image) -> list[Line]:
        self.sizes.append(image.size)
        return self.answers.pop(0) if self.answers else []


def test_pieces_of_a_row_are_joined_whatever_their_order() -> None:
    lines = [line("9,90 €", 300, 103), line("Totale", 10, 100), line("Ditta", 10, 40)]
    assert page_text(lines) == "Ditta\n\nTotale   9,90 €"


def test_columns_of_running_text_are_read_one_after_the_other() -> None:
    left = [line(f"left {n}", 0, 100 + 22 * n, 440) for n in range(8)]
    right = [line(f"right {n}", 500, 103 + 22 * n, 440) for n in range(8)]
    heading = line("Heading", 100, 40, 700)
    mixed = [item for pair in zip(right, left, strict=True) for item in pair]
    text = page_text([*mixed, heading]).replace("\n\n", "\n").split("\n")
    assert text == ["Heading"] + [p.text for p in left] + [p.text for p in right]


def test_three_columns() -> None:
    columns = [
        [line(f"col{c} {n}", 340 * c, 100 + 22 * n, 310) for n in range(7)] for c in range(3)
    ]
    rows = [piece for row in zip(*columns, strict=True) for piece in row]
    text = page_text(rows).replace("\n\n", "\n").split("\n")
    assert text == [piece.text for column in columns for piece in column]


def test_a_foot_below_both_columns_comes_last() -> None:
    left = [line(f"left {n}", 0, 100 + 22 * n, 440) for n in range(8)]
    right = [line(f"right {n}", 500, 100 + 22 * n, 440) for n in range(7)]
    for foot in (line("page 3", 0, 340), line("page 3", 700, 340), line("Issue 4, May", 0, 310)):
        text = page_text([foot, *right, *left]).replace("\n\n", "\n").split("\n")
        assert text == [p.text for p in (*left, *right, foot)]


def test_no_line_beside_a_heading_is_lost() -> None:
    # A line as high as one that crosses the gutter: it fell out of both bands.
    left = [line(f"left {n}", 0, 100 + 22 * n, 440) for n in range(8)]
    right = [line(f"right {n}", 500, 100 + 22 * n, 440) for n in range(8)]
    for place in (0, 3, 7):
        wide = dataclasses.replace(left[place], text="wide", right=540)
        there = [*left[:place], wide, *left[place + 1 :], *right]
        found = page_text(there).replace("\n", "   ").split("   ")
        assert sorted(filter(None, found)) == sorted(p.text for p in there)


def test_wide_gaps_make_a_flattened_table_that_is_known_as_one() -> None:
    head = (line("Article", 0, 60), line("Count", 400, 60), line("Price", 800, 60))
    rows = [(line(f"item {n}", 0, 100 + 26 * n), line(f"{n}", 400, 101 + 26 * n),
             line(f"{n},50", 800, 99 + 26 * n)) for n in range(4)]  # fmt: skip
    text = page_text([cell for row in (head, *rows) for cell in row])
    assert is_flattened_table(text)
    assert "item 2   2   2,50" in text.split("\n")
    prose = [line("some words of a letter", 0, 60 + 26 * n, 300) for n in range(5)]
    ends = [line("and its end", 306, 60 + 26 * n, 200) for n in range(5)]
    assert not is_flattened_table(page_text([*prose, *ends]))


def test_cells_of_a_table_are_no_columns() -> None:
    rows = [(line(f"item {n}", 0, 100 + 22 * n), line(f"{n},00", 800, 100 + 22 * n))
            for n in range(8)]  # fmt: skip
    text = page_text([item for row in rows for item in row])
    assert text.split("\n") == [f"item {n}   {n},00" for n in range(8)]


@pytest.mark.parametrize("sum_", ["{n},90", "{n},90 A", "EUR {n}.90", "-{n},90 €"])
def test_the_sums_of_a_receipt_stand_beside_their_items(sum_: str) -> None:
    rows = [
        (line(f"an item with a name {n}", 0, 100 + 22 * n, 300), line(sum_.format(n=n), 330,
              100 + 22 * n, 60))
        for n in range(8)
    ]  # fmt: skip
    text = page_text([item for row in rows for item in row])
    assert len(text.split("\n")) == 8
    assert all(sum_.format(n=n) in text.split("\n")[n] for n in range(8))


@given(
    st.lists(
        st.builds(line, st.text("abc", min_size=1, max_size=9), st.floats(0, 900),
                  st.floats(0, 900)),
        max_size=30,
    )
)  # fmt: skip
def test_no_line_is_lost_or_doubled(lines: list[Line]) -> None:
    assert sorted(page_text(lines).split()) == sorted(piece.text for piece in lines)


def test_a_small_picture_is_doubled_and_a_large_one_shrunk() -> None:
    small, large = Told(), Told()
    recognise(small, Image.new("RGB", (400, 300)))
    recognise(large, Image.new("RGB", (6000, 4000)))
    assert small.sizes == [(800, 600)]
    assert large.sizes == [(2400, 1600)]


def test_a_tall_picture_is_cut_between_lines() -> None:
    image = Image.new("RGB", (1000, 6000), "white")
    pen = ImageDraw.Draw(image)
    for top in range(0, 6000, 40):
        pen.rectangle((50, top, 900, top + 25), fill="black")
    told = Told(*[[line(f"strip {n}", 50, 10)] for n in range(8)])
    found = recognise(told, image)
    assert sum(height for _, height in told.sizes) == 6000
    assert len(told.sizes) > 3
    cut = 0
    for _, height in told.sizes[:-1]:
        cut += height
        assert 26 <= cut % 40 <= 39
    assert [piece.top for piece in found] == sorted(piece.top for piece in found)


def test_a_page_on_its_side_is_turned_only_when_a_few_lines_read_better_so() -> None:
    lying = [dataclasses.replace(line("ab cd", 10, 10), right=30, bottom=200, score=0.6)] * 5
    upright = [line("a whole line of text", 10, 10, score=0.98)]
    image = Image.new("RGB", (1000, 1400))
    told = Told(lying, [], upright, upright)
    assert recognise(told, image) == upright
    # A part with these lines turned to the left and to the right; then the page.
    (whole, *parts, turned) = told.sizes
    assert (whole, turned) == ((1000, 1400), (1400, 1000))
    assert [max(size) < 300 for size in parts] == [True] * 2
    assert recognise(Told(lying, [], []), image) == lying


def test_a_page_on_its_head_is_turned_only_when_a_few_lines_read_better_so() -> None:
    doubtful = [line("uoou 1e sesolo", 100, 100 + 40 * n, score=0.6) for n in range(20)]
    sure = [line("closes at noon", 10, 10, score=0.98)]
    image = Image.new("RGB", (1000, 1400))
    for probe, better in ((sure * 5, True), (doubtful[:5], False), ([], False)):
        told = Told(doubtful, probe, sure)
        assert recognise(told, image) == (sure if better else doubtful)
        assert len(told.sizes) == (3 if better else 2)
        assert told.sizes[1][1] < 350


@pytest.mark.parametrize(
    ("text", "score", "calls"),
    [("7 D", 0.6, 1), ("", 0.3, 1), ("uoou 1e sesolo uoou 1e sesolo", 0.6, 2), ("7 D", 0.97, 1)],
)
def test_a_page_in_letters_that_are_not_known_is_not_turned(
    text: str, score: float, calls: int
) -> None:
    told = Told([line(text, 100, 100 + 40 * n, 600, score) for n in range(20)])
    recognise(told, Image.new("RGB", (1000, 1400)))
    assert len(told.sizes) == calls


@pytest.mark.parametrize(
    ("text", "width", "sparse"),
    [
        ("a line of words that is full", 340, False),
        ("契約書は四年", 130, False),
        ("7 D  7  u", 340, True),
        ("   ", 340, True),
        ("7", 40, False),  # too short to tell
        ("", 0, False),
    ],
)
def test_lines_whose_letters_are_not_known_are_told_by_their_width(
    text: str, width: float, sparse: bool
) -> None:
    assert is_sparse(Line(text, 0.9, 10, 10, 10 + width, 30)) is sparse


def test_sure_lines_are_read_once() -> None:
    told = Told([line("sure", 10, 10)])
    recognise(told, Image.new("RGB", (1000, 1400)))
    assert len(told.sizes) == 1


def test_transparency_and_depth_become_plain_colours() -> None:
    clear = Image.new("RGBA", (4, 4), (0, 0, 0, 0))
    assert flatten(clear).getpixel((0, 0)) == (255, 255, 255)
    deep = Image.new("I;16", (4, 4), 1000)
    deep.putpixel((1, 1), 40_000)
    flat = flatten(deep)
    assert (flat.getpixel((0, 0)), flat.getpixel((1, 1))) == ((0, 0, 0), (255, 255, 255))
    assert not has_ink(flatten(Image.new("RGB", (50, 50), (250, 250, 250))))


def page_of(image: Image.Image, ocr: Callable[[], Told] | None, *, late: bool = False) -> object:
    source = Source(Path("x"), ocr, time.monotonic() + (-1 if late else 60), 60)
    return ocr_page(3, lambda: image, source).page


def test_a_page_that_cannot_be_read_says_why() -> None:
    inked = Image.new("RGB", (100, 100), "white")
    inked.paste("black", (10, 10, 50, 50))

    def missing() -> Told:
        raise OcrUnavailable("OCR cannot be loaded: no model")

    for ocr, late, route, reason in (
        (None, False, "unread", "OCR is off (setting ocr)"),
        (missing, False, "unread", "OCR cannot be loaded: no model"),
        (Told, True, "unread", "used up its time of 60 s (setting reading_seconds)"),
        (Told, False, "ocr", "OCR found no text"),
        (lambda: Told(*[[line("????", 0, 0, score=0.6)]] * 2), False, "ocr", "confidence 0.60"),
    ):
        page = page_of(inked, ocr, late=late)
        assert (page.number, page.route) == (3, route)  # type: ignore[attr-defined]
        assert reason in page.warning  # type: ignore[attr-defined]
    blank = page_of(Image.new("RGB", (100, 100), "white"), None)
    assert (blank.route, blank.warning) == ("blank", None)  # type: ignore[attr-defined]


def test_a_tiff_has_a_page_per_frame_and_an_animation_one(tmp_path: Path) -> None:
    frames = [Image.new("L", (900, 900), 255) for _ in range(3)]
    for number, frame in enumerate(frames):
        frame.paste(0, (10, 10, 50 + number, 50))
    told = Told(*[[line(f"page {n}", 0, 0)] for n in (1, 2, 3)])
    for suffix, texts in ((".tiff", ["page 1", "page 2", "page 3"]), (".gif", ["page 1"])):
        path = tmp_path / f"a{suffix}"
        frames[0].save(path, save_all=True, append_images=frames[1:])
        told = Told(*[[line(f"page {n}", 0, 0)] for n in (1, 2, 3)])
        draft = read_image(Source(path, lambda told=told: told, time.monotonic() + 60, 60))  # type: ignore[misc]
        assert [page.text for page in draft.pages] == texts
        assert bool(draft.warnings) == (suffix == ".gif")


def test_the_exif_orientation_is_respected(tmp_path: Path) -> None:
    image = Image.new("RGB", (1000, 1400), "white")
    image.paste("black", (0, 0, 100, 100))
    exif = Image.Exif()
    exif[0x0112] = 6
    path = tmp_path / "a.jpg"
    image.save(path, exif=exif)
    told = Told([line("x", 0, 0)])
    list(read_image(Source(path, lambda: told, time.monotonic() + 60, 60)).pages)
    ((wide, high),) = told.sizes
    assert wide / high == pytest.approx(1.4, abs=0.01)


@pytest.mark.parametrize(
    ("first", "second", "read"),
    [
        ("it began with the perfor-", "mance of the contract", "performance"),
        ("they wrote a self-", "test for the mill", "self-test"),
        ("Vor-", "und Nachteile der Wohnung", "Vor- und Nachteile"),
    ],
)
def test_a_word_cut_at_the_end_of_a_line_is_made_whole(
    tmp_path: Path, first: str, second: str, read: str
) -> None:
    image = Image.new("RGB", (900, 700), "white")
    image.paste(0, (10, 10, 50, 50))
    path = tmp_path / "a.png"
    image.save(path)
    told = Told([line(first, 0, 0), line(second, 0, 25)])
    (page,) = read_image(Source(path, lambda: told, time.monotonic() + 60, 60)).pages
    assert read in " ".join(page.text.split())
