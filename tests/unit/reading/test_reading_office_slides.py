"""Presentations, written by python-pptx and by hand."""

from __future__ import annotations

import datetime as dt
import io
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw
from pptx import Presentation
from pptx.chart.data import CategoryChartData, XyChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from emily.errors import EmptyDocument, ReadingError
from emily.reading.office.reading_order import in_reading_order
from emily.reading.office.slides import read_pptx
from emily.reading.pages import Page, Table
from emily.reading.source import Draft, Source

Make = Callable[..., Source]
At = Callable[[Path], Source]
Pages = Callable[[Draft], list[Page]]

OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def saved(tmp_path: Path, deck: Any) -> Path:
    path = tmp_path / "a.pptx"
    deck.save(str(path))
    return path


def changed(path: Path, change: Callable[[str, bytes], bytes], more: dict[str, str]) -> None:
    """Rewrite the parts of a file in place."""
    data = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(data, "w") as new:
        for member in old.infolist():
            new.writestr(member.filename, change(member.filename, old.read(member)))
        for name, content in more.items():
            new.writestr(name, content)
    path.write_bytes(data.getvalue())


def box(shapes: Any, text: str, left: float = 0, top: float = 0) -> Any:
    shape = shapes.add_textbox(Inches(left), Inches(top), Inches(2), Inches(0.5))
    shape.text_frame.text = text
    return shape


def picture() -> io.BytesIO:
    data = io.BytesIO()
    image = Image.new("RGB", (90, 90), "white")
    ImageDraw.Draw(image).line((5, 5, 80, 80), "black", 4)
    image.save(data, "PNG")
    return data


def test_a_deck_with_everything(tmp_path: Path, at: At, pages: Pages) -> None:
    deck = Presentation()
    deck.core_properties.title = "Plan"
    deck.core_properties.author = "Ada Conti"
    deck.core_properties.modified = dt.datetime(2026, 5, 6)
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.placeholders[1].text = "up\ndown"
    slide.placeholders[1].text_frame.paragraphs[1].level = 1
    slide.shapes.title.text = "Results"
    group = slide.shapes.add_group_shape()
    box(group.shapes, "in a group", 0, 6.5)
    table = slide.shapes.add_table(2, 2, 0, Inches(7), Inches(2), Inches(1)).table
    for row, cells in enumerate([("Year", "Sum"), ("2026", "7")]):
        for column, value in enumerate(cells):
            table.cell(row, column).text = value
    data = CategoryChartData()
    data.categories = ["Q1", "Q2"]
    data.add_series("Sales", (1.5, 2))
    kind = XL_CHART_TYPE.COLUMN_CLUSTERED
    slide.shapes.add_chart(kind, 0, Inches(8.5), Inches(3), Inches(2), data)
    slide.notes_slide.notes_text_frame.text = "say hello"
    deck.slides.add_slide(deck.slide_layouts[6])
    last = deck.slides.add_slide(deck.slide_layouts[6])
    last.shapes.add_picture(picture(), 0, 0)
    draft = read_pptx(at(saved(tmp_path, deck)))
    first, second, third = pages(draft)
    assert draft.title == "Plan"
    assert (draft.facts.author, draft.facts.date) == ("Ada Conti", dt.date(2026, 5, 6))
    assert first.text == (
        "# Results\n\n- up\n  - down\n\nin a group\n\n"
        "| Year | Sum |\n| --- | --- |\n| 2026 | 7 |\n\n"
        "|  | Sales |\n| --- | --- |\n| Q1 | 1.5 |\n| Q2 | 2 |\n\nNotes: say hello"
    )
    assert first.tables == (Table((7, 8), ((9, 9),)), Table((11, 12), ((13, 13), (14, 14))))
    assert (second.route, second.text, second.warning) == ("blank", "", None)
    assert (third.route, third.text, third.pictures) == ("unread", "", 1)
    assert third.warning == "Slide 3: its pictures are not read."


@pytest.mark.parametrize("odd", ["empty frame", "empty group", "broken chart", "missing picture"])
def test_an_odd_shape_does_not_stop_the_others(
    tmp_path: Path, at: At, pages: Pages, odd: str
) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    box(slide.shapes, "before")
    if odd == "empty frame":
        box(slide.shapes, "", 0, 1)
    elif odd == "empty group":
        slide.shapes.add_group_shape()
    elif odd == "broken chart":
        data = XyChartData()
        data.add_series("s").add_data_point(1, 2)
        slide.shapes.add_chart(XL_CHART_TYPE.XY_SCATTER, 0, Inches(1), Inches(3), Inches(1), data)
    else:
        slide.shapes.add_picture(picture(), 0, Inches(1))
    box(slide.shapes, "after", 0, 3)
    path = saved(tmp_path, deck)

    def change(name: str, content: bytes) -> bytes:
        return b"\0" if re.match(r"ppt/(charts/chart|media/)", name) else content

    changed(path, change, {})
    (page,) = pages(read_pptx(at(path)))
    assert page.text.startswith("before")
    assert page.text.endswith("after")
    assert ("chart" in (page.warning or "")) == (odd == "broken chart")


@pytest.mark.parametrize(
    ("boxes", "order"),
    [
        # two columns, each of a heading and its text, drawn row by row
        ([(0, 0, 4, 1), (6, 0, 10, 1), (0, 1.5, 4, 6), (6, 1.5, 10, 6)], [0, 2, 1, 3]),
        # a line across, then two columns
        ([(5.5, 2, 10, 6), (0, 2, 4.5, 6), (0, 0, 10, 1)], [2, 1, 0]),
        # from top to bottom, drawn from bottom to top
        ([(0, 4, 5, 5), (0, 2, 5, 3), (0, 0, 5, 1)], [2, 1, 0]),
        # frames that overlap a little
        ([(0, 1.9, 5, 4), (0, 0, 5, 2)], [1, 0]),
        # one on the other
        ([(0, 0, 5, 5), (0, 0, 5, 5)], [0, 1]),
    ],
)
def test_reading_order(boxes: list[tuple[float, ...]], order: list[int]) -> None:
    scaled = [tuple(int(side * 914_400) for side in sides) for sides in boxes]
    assert in_reading_order(scaled) == order  # type: ignore[arg-type]


SIDE = st.integers(-(10**6), 10**7)


@given(st.lists(st.tuples(SIDE, SIDE, SIDE, SIDE), max_size=30))
def test_reading_order_loses_nothing(boxes: list[tuple[int, int, int, int]]) -> None:
    assert sorted(in_reading_order(boxes)) == list(range(len(boxes)))


def test_shapes_are_read_by_their_place(tmp_path: Path, at: At, pages: Pages) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    box(slide.shapes, "third", 0, 5)
    box(slide.shapes, "second", 5, 2)
    box(slide.shapes, "first", 0, 2)
    slide.shapes.title.text = "Title"
    (page,) = pages(read_pptx(at(saved(tmp_path, deck))))
    assert page.text == "# Title\n\nfirst\n\nsecond\n\nthird"


@pytest.mark.parametrize(
    ("merge", "lines"),
    [
        (((0, 0), (0, 1)), ["| a |  | c |", "| --- | --- | --- |", "| d | e | f |"]),
        (((0, 0), (1, 0)), ["| a | b | c |", "| --- | --- | --- |", "|  | e | f |"]),
        (((0, 1), (1, 2)), ["| a | b |  |", "| --- | --- | --- |", "| d |  |  |"]),
    ],
)
def test_merged_cells_leave_their_columns(
    tmp_path: Path, at: At, pages: Pages, merge: Any, lines: list[str]
) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    table = slide.shapes.add_table(2, 3, 0, 0, Inches(3), Inches(1)).table
    table.cell(*merge[0]).merge(table.cell(*merge[1]))
    for at_cell, text in enumerate("abcdef"):
        if not table.cell(at_cell // 3, at_cell % 3).is_spanned:
            table.cell(at_cell // 3, at_cell % 3).text = text
    (page,) = pages(read_pptx(at(saved(tmp_path, deck))))
    assert page.text.split("\n") == lines


@pytest.mark.parametrize(
    ("bullet", "text"),
    [
        ('<a:buChar char="•"/>', "- one\n- two"),
        ('<a:buAutoNum type="arabicPeriod"/>', "1. one\n2. two"),
        ('<a:buAutoNum type="arabicPeriod" startAt="4"/>', "4. one\n5. two"),
        ("<a:buNone/>", "one\ntwo"),
        ("", "one\ntwo"),
    ],
)
def test_lists_by_their_bullets(
    tmp_path: Path, at: At, pages: Pages, bullet: str, text: str
) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    box(slide.shapes, "one\ntwo")
    path = saved(tmp_path, deck)
    space = b' xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
    inner = f"<a:pPr>{bullet}</a:pPr>".encode()

    def change(name: str, content: bytes) -> bytes:
        if name != "ppt/slides/slide1.xml":
            return content
        assert space[:-1].strip() in content
        return content.replace(b"<a:p>", b"<a:p>" + inner)

    changed(path, change, {})
    (page,) = pages(read_pptx(at(path)))
    assert page.text == text


@pytest.mark.parametrize(
    ("more", "relation", "line"),
    [
        ({"ppt/comments/c.xml": '<p:cmLst xmlns:p="p"><p:cm authorId="0"><p:text>look</p:text>'
          "</p:cm></p:cmLst>",
          "ppt/commentAuthors.xml": '<p:cmAuthorLst xmlns:p="p"><p:cmAuthor id="0" name="Ada"/>'
          "</p:cmAuthorLst>"}, "comments", "Comment (Ada): look"),
        ({"ppt/comments/c.xml": '<p:cmLst xmlns:p="p" xmlns:a="a"><p:cm authorId="{x}">'
          '<p:replyLst><p:reply authorId="?"><p:txBody><a:p><a:r><a:t>sure</a:t></a:r></a:p>'
          "</p:txBody></p:reply></p:replyLst><p:txBody><a:p><a:r><a:t>true?</a:t></a:r></a:p>"
          "</p:txBody></p:cm></p:cmLst>",
          "ppt/commentAuthors.xml": '<p:authorLst xmlns:p="p"><p:author id="{x}" name="Bea"/>'
          "</p:authorLst>"}, "comments", "Comment (Bea): true?\nComment: sure"),
        ({"ppt/comments/c.xml": '<p:cmLst xmlns:p="p"><p:cm authorId="3"><p:text>anon</p:text>'
          "</p:cm></p:cmLst>"}, "comments", "Comment: anon"),
    ],
)  # fmt: skip
def test_comments_are_marked(
    tmp_path: Path, at: At, pages: Pages, more: dict[str, str], relation: str, line: str
) -> None:
    deck = Presentation()
    box(deck.slides.add_slide(deck.slide_layouts[6]).shapes, "words")
    path = saved(tmp_path, deck)
    ends = {
        "ppt/slides/_rels/slide1.xml.rels": (relation, "../comments/c.xml"),
        "ppt/_rels/presentation.xml.rels": ("commentAuthors", "commentAuthors.xml"),
    }

    def change(name: str, content: bytes) -> bytes:
        if name not in ends:
            return content
        kind, target = ends[name]
        entry = f'<Relationship Id="rX" Type="{OFFICE}/{kind}" Target="{target}"/></Relationships>'
        return content.replace(b"</Relationships>", entry.encode())

    changed(path, change, more)
    (page,) = pages(read_pptx(at(path)))
    assert page.text == f"words\n\n{line}"


def test_hidden_slides_are_read_and_said(tmp_path: Path, at: At, pages: Pages) -> None:
    deck = Presentation()
    for text in ("one", "two"):
        box(deck.slides.add_slide(deck.slide_layouts[6]).shapes, text)
    deck.slides[1]._element.set("show", "0")
    draft = read_pptx(at(saved(tmp_path, deck)))
    assert [page.text for page in pages(draft)] == ["one", "two"]
    assert draft.warnings == ["Slide 2 is hidden; it is read."]


@pytest.mark.parametrize(
    ("description", "text"),
    [
        ("A cat on a wall", "A cat on a wall\n\n[picture, not read]\n\nbelow"),
        ("cat.PNG", "[picture, not read]\n\nbelow"),
        ("C:\\me\\cat.jpg", "[picture, not read]\n\nbelow"),
        ("Picture 3", "[picture, not read]\n\nbelow"),
        ("", "[picture, not read]\n\nbelow"),
    ],
)
def test_pictures_and_what_they_are_said_to_show(
    tmp_path: Path, at: At, pages: Pages, description: str, text: str
) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    shape = slide.shapes.add_picture(picture(), 0, 0)
    shape._element.nvPicPr.cNvPr.set("descr", description)
    box(slide.shapes, "below", 0, 5)
    (page,) = pages(read_pptx(at(saved(tmp_path, deck))))
    assert page.text == text


def test_a_footer_stands_once(tmp_path: Path, at: At, pages: Pages) -> None:
    deck = Presentation()
    for text in ("one", "two"):
        slide = deck.slides.add_slide(deck.slide_layouts[6])
        box(slide.shapes, text)
        foot = box(slide.shapes, "Studio Verdi", 0, 7)
        holder = foot._element.nvSpPr.nvPr
        holder.append(holder.makeelement(
            "{http://schemas.openxmlformats.org/presentationml/2006/main}ph", {"type": "ftr"}
        ))  # fmt: skip
    read = pages(read_pptx(at(saved(tmp_path, deck))))
    assert [page.text for page in read] == ["one\n\nStudio Verdi", "two"]


@pytest.mark.parametrize("content", [b"\0\0", b"", b"<!DOCTYPE x [<!ENTITY a 'b'>]><x>&a;</x>"])
def test_a_broken_slide_does_not_stop_the_others(
    tmp_path: Path, at: At, pages: Pages, content: bytes
) -> None:
    deck = Presentation()
    for number in range(3):
        deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = f"slide {number}"
    path = saved(tmp_path, deck)
    changed(path, lambda name, old: content if name.endswith("slides/slide2.xml") else old, {})
    read = pages(read_pptx(at(path)))
    assert [page.text for page in read] == ["# slide 0", "", "# slide 2"]
    assert read[1].route == "unread"
    assert "Slide 2 is not read" in (read[1].warning or "")


def test_an_embedded_file_becomes_a_document(tmp_path: Path, at: At, pages: Pages) -> None:
    deck = Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    inner = io.BytesIO(b"PK\5\6" + bytes(18))
    slide.shapes.add_ole_object(inner, "Excel.Sheet.12", 0, 0, icon_file=picture())
    box(slide.shapes, "words", 0, 5)
    draft = read_pptx(at(saved(tmp_path, deck)))
    (page,) = pages(draft)
    assert page.text.endswith("words")
    (enclosed,) = draft.enclosed
    assert b"".join(enclosed.data) == inner.getvalue()


def test_no_slides_and_no_presentation(tmp_path: Path, at: At, source: Make) -> None:
    with pytest.raises(EmptyDocument, match="no slides"):
        read_pptx(at(saved(tmp_path, Presentation())))
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("ppt/other.xml", "<x/>")
    with pytest.raises(ReadingError, match="presentation"):
        read_pptx(source(data.getvalue()))
