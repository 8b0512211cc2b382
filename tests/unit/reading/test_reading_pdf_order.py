"""Whatever lines a page holds, each is kept once: in its order, its tables, its furniture."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emily.reading.furniture import Furniture, edges
from emily.reading.layout import TextLine
from emily.reading.pdf.aligned import aligned_tables
from emily.reading.pdf.columns import regions
from emily.reading.pdf.document import read_pdf
from emily.reading.pdf.headings import Fonts
from emily.reading.pdf.page import lay_out
from emily.reading.pdf.rules import Drawn
from emily.reading.pdf.text import Segments, turned
from emily.reading.source import Source

WORD = st.text(st.sampled_from("abcxyz0123456789$%().,-•"), min_size=1, max_size=9)
SIDES = st.sampled_from([72.0, 73.5, 150.0, 220.0, 300.0, 310.0, 420.0])


@st.composite
def stretches(draw: st.DrawFn) -> list[TextLine]:
    """Stretches of lines that often stand in rows and columns, as those of pages do."""
    found = []
    for _ in range(draw(st.integers(0, 30))):
        text = " ".join(draw(st.lists(WORD, min_size=1, max_size=6)))
        left = draw(SIDES)
        base = 700.0 - 12 * draw(st.integers(0, 20))
        height = draw(st.sampled_from([0.0, 9.0, 11.0, 18.0]))
        bold = draw(st.booleans())
        found.append(TextLine(text, left, left + 5 * len(text), base, height, size=10, bold=bold))
    return found


def segments(lines: list[TextLine]) -> Segments:
    """Lines with the words that they are made of."""
    words: list[str] = []
    boxes: list[tuple[float, float, float, float]] = []
    first = [0]
    for line in lines:
        at = line.left
        for word in line.text.split(" "):
            words.append(word)
            boxes.append((at, line.base, at + 5 * len(word), line.base + line.height))
            at += 5 * len(word) + 5
        first.append(len(words))
    places = np.array(boxes, np.float32).reshape(-1, 4)
    return Segments(words, places, lines, first, 0, (595, 842))


def solid(text: str) -> list[str]:
    """The characters of a text in order of the alphabet, but for the marks that are put in."""
    return sorted(char for char in text if not char.isspace() and char not in "|-#•\\")


@given(stretches())
def test_every_line_has_one_place_in_the_order(lines: list[TextLine]) -> None:
    parts = regions(lines)
    assert sorted(at for part in parts for at in part) == list(range(len(lines)))


@given(stretches())
def test_tables_are_even_and_hold_what_their_lines_hold(lines: list[TextLine]) -> None:
    taken: list[int] = []
    for grid in aligned_tables(lines, range(len(lines))):
        assert len({len(row) for row in grid.rows}) == 1
        assert solid("".join("".join(row) for row in grid.rows)) == solid(
            "".join(lines[at].text for at in grid.lines)
        )
        taken += grid.lines
    assert len(taken) == len(set(taken))


LEVELS = st.lists(st.tuples(st.integers(450, 720), SIDES, SIDES), max_size=12)
UPRIGHTS = st.lists(st.tuples(SIDES, st.integers(450, 600), st.integers(600, 720)), max_size=12)


@given(stretches(), LEVELS, UPRIGHTS)
def test_nothing_of_a_page_is_lost(
    lines: list[TextLine],
    level: list[tuple[int, float, float]],
    upright: list[tuple[float, int, int]],
) -> None:
    on_page = Drawn(
        np.array([(y, min(a, b), max(a, b)) for y, a, b in level], float).reshape(-1, 3),
        np.array(upright, float).reshape(-1, 3),
    )
    laid = lay_out(segments(lines), on_page)
    fonts = Fonts()
    fonts.learn(lines)
    text, tables = laid.text(fonts, ())
    assert solid(text) == solid("".join(line.text for line in lines))
    shown = text.split("\n")
    for table in tables:
        spans = [span for span in (table.header, *table.rows) if span is not None]
        assert all(shown[a].startswith("| ") for a, _ in spans)


@settings(max_examples=30, deadline=None)
@given(st.lists(stretches(), min_size=1, max_size=8))
def test_what_is_left_out_stood_on_an_earlier_page(pages: list[list[TextLine]]) -> None:
    furniture = Furniture()
    found = [edges(lines, set(), 842) for lines in pages]
    for number, held in enumerate(found, 1):
        furniture.learn(number, held)
    before: set[str] = set()
    for number, (lines, held) in enumerate(zip(pages, found, strict=True), 1):
        left_out = furniture.repeated(number, held)
        assert number > 1 or not left_out
        assert all(0 <= at < len(lines) for at in left_out)
        for edge in held:
            if left_out.intersection(edge.lines):
                assert edge.shape in before
        before |= {edge.shape for edge in held}


@given(
    st.lists(st.tuples(*[st.floats(0, 400, width=32)] * 4), min_size=1, max_size=5),
    st.integers(0, 3),
)
def test_four_turns_are_none(corners: list[tuple[float, float, float, float]], turn: int) -> None:
    boxes = np.array(
        [(min(a, c), min(b, d), max(a, c), max(b, d)) for a, b, c, d in corners], np.float32
    )
    size = (595.0, 842.0)
    there = turned(boxes, turn, size)
    back = turned(there, -turn % 4, size[::-1] if turn % 2 else size)
    assert np.allclose(back, boxes, atol=1e-3)
    assert (there[:, 0] <= there[:, 2]).all()
    assert (there[:, 1] <= there[:, 3]).all()


def test_files_that_a_pdf_carries_are_handed_on(tmp_path: Path) -> None:
    text = "BT /F 12 Tf 72 700 Td (The invoice and its data as a file) Tj ET"
    data = "<Invoice><Total>119.00</Total></Invoice>"
    path = tmp_path / "a.pdf"
    path.write_bytes(
        (
            "%PDF-1.7\n1 0 obj<</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles"
            "<</Names[(factur-x.xml) 6 0 R (empty) 8 0 R]>>>>>>endobj\n"
            "2 0 obj<</Type/Pages/Count 1/Kids[3 0 R]>>endobj\n"
            "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
            "/Resources<</Font<</F 5 0 R>>>>>>endobj\n"
            f"4 0 obj<</Length {len(text)}>>stream\n{text}\nendstream endobj\n"
            "5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\n"
            "6 0 obj<</Type/Filespec/F(factur-x.xml)/UF(factur-x.xml)/EF<</F 7 0 R>>>>endobj\n"
            f"7 0 obj<</Type/EmbeddedFile/Length {len(data)}>>stream\n{data}\nendstream endobj\n"
            "8 0 obj<</Type/Filespec/F(empty)/UF(empty)>>endobj\n"
            "trailer<</Root 1 0 R>>\n%%EOF\n"
        ).encode()
    )
    draft = read_pdf(Source(path, ocr=None, deadline=1e12, seconds=60))
    assert [page.text for page in draft.pages] == ["The invoice and its data as a file"]
    carried = [(item.name, b"".join(item.data)) for item in draft.enclosed]
    assert carried == [("factur-x.xml", data.encode())]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("count", [250, 1_900, 20_000])
def test_a_drawing_full_of_words_takes_no_time(count: int) -> None:
    chance = random.Random(count)
    lines = [
        TextLine("word", left, left + 8, chance.random() * 1900, 4, size=4)
        for left in (chance.random() * 1900 for _ in range(count))
    ]
    laid = lay_out(segments(lines), Drawn())
    assert laid.characters == 4 * count
