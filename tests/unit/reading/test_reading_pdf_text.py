"""Words, lines, headings, columns and tables of PDF pages made for the purpose."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Table as Ruled
from reportlab.platypus import TableStyle

from emily.reading.pages import Page
from emily.reading.pdf.document import read_pdf
from emily.reading.source import Draft, Source

LEFT = [
    "The garden behind the old mill was laid out in",
    "the spring of the year in which the bridge was",
    "built, and its walls are of the same stone. Of",
    "the trees that stood there only two pears have",
    "been left; the others fell in a storm at night.",
    "Whoever comes by the river sees first the wall",
]
RIGHT = [
    "and then, above it, a roof of slate. The miller",
    "kept bees on the south side, where it was warm",
    "even in March, and sold the honey on Saturdays",
    "at the market. His books, which are in the town",
    "archive, name every buyer and every jar, and the",
    "weather of each day, in a small and even hand.",
]


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., list[Page]]:
    """The pages of a PDF that ``draw`` draws."""

    def run(draw: Callable[[Any], None], *passwords: str, **options: Any) -> list[Page]:
        return list(drafted(tmp_path, draw, *passwords, **options).pages)

    return run


def drafted(folder: Path, draw: Callable[[Any], None], *passwords: str, **options: Any) -> Draft:
    """The draft of a PDF that ``draw`` draws."""
    data = io.BytesIO()
    canvas = Canvas(data, pagesize=A4, invariant=True, **options)
    draw(canvas)
    canvas.save()
    path = folder / "a.pdf"
    path.write_bytes(data.getvalue())
    return read_pdf(Source(path, ocr=None, deadline=1e12, seconds=60, passwords=passwords))


def column(canvas: Any, texts: list[str], left: float, top: float, size: float = 10) -> None:
    canvas.setFont("Times-Roman", size)
    for at, text in enumerate(texts):
        canvas.drawString(left, top - 1.2 * size * at, text)


def follows(text: str, *parts: str) -> bool:
    """Whether the parts stand in a text in this order."""
    places = [text.find(part) for part in parts]
    return -1 not in places and places == sorted(places)


def by_columns(canvas: Any) -> None:
    column(canvas, LEFT, 60, 700)
    column(canvas, RIGHT, 310, 700)


def second_first(canvas: Any) -> None:
    column(canvas, RIGHT, 310, 700)
    column(canvas, LEFT, 60, 700)


def by_rows(canvas: Any) -> None:
    for at, (left, right) in enumerate(zip(LEFT, RIGHT, strict=True)):
        column(canvas, [left], 60, 700 - 12 * at)
        column(canvas, [right], 310, 700 - 12 * at)


@pytest.mark.parametrize("draw", [by_columns, second_first, by_rows])
def test_columns_are_read_one_after_the_other(
    read: Callable[..., list[Page]], draw: Callable[[Any], None]
) -> None:
    (page,) = read(draw)
    assert follows(page.text, "The garden", "only two pears", "first the wall", "and then, above")
    assert not page.tables


def test_a_title_over_columns_and_a_line_under_them_keep_their_places(
    read: Callable[..., list[Page]],
) -> None:
    def draw(canvas: Any) -> None:
        by_rows(canvas)
        column(canvas, ["The mill by the river and what is left of it, as told by its owners"],
               60, 740, 16)  # fmt: skip
        column(canvas, ["Drawn from the papers of the mill and from those of the town, 1890 to 1911"
                        ", with the help of many"], 60, 600)  # fmt: skip

    (page,) = read(draw)
    assert follows(
        page.text, "The mill by the river", "The garden", "and then, above", "Drawn from"
    )


def test_three_columns(read: Callable[..., list[Page]]) -> None:
    third = [line[:30] for line in RIGHT]

    def draw(canvas: Any) -> None:
        column(canvas, [line[:30] for line in LEFT], 50, 700)
        column(canvas, third, 220, 700)
        column(canvas, [f"entry {n} of the third column" for n in range(6)], 390, 700)

    (page,) = read(draw)
    assert follows(page.text, "The garden", "the trees that", "and then", "entry 0", "entry 5")


def test_a_letterhead_that_was_written_last_comes_first(read: Callable[..., list[Page]]) -> None:
    def draw(canvas: Any) -> None:
        column(canvas, LEFT, 60, 600)
        column(canvas, ["Mill and Garden, Lower Road 7"], 60, 780)

    (page,) = read(draw)
    assert follows(page.text, "Mill and Garden", "The garden behind")


def test_a_word_cut_between_two_columns_is_whole_and_the_footnote_comes_last(
    read: Callable[..., list[Page]],
) -> None:
    def draw(canvas: Any) -> None:
        column(canvas, [*LEFT, "and the gate, which is painted in a dark ver-"], 60, 700)
        column(canvas, ["1 The wall was measured in 1902."], 60, 600, 7)
        column(canvas, ["milion that has faded on the side of the sun.", *RIGHT], 310, 700)

    (page,) = read(draw)
    assert "vermilion that has faded" in page.text
    assert page.text.endswith("1 The wall was measured in 1902.")


def test_headings_by_size_and_by_weight(read: Callable[..., list[Page]]) -> None:
    def draw(canvas: Any) -> None:
        column(canvas, ["Annual report"], 60, 780, 22)
        column(canvas, ["Income and expenses"], 60, 740, 13)
        column(canvas, LEFT, 60, 715)
        canvas.setFont("Times-Bold", 10)
        canvas.drawString(60, 620, "What remains to be done")
        column(canvas, RIGHT, 60, 600)

    (page,) = read(draw)
    assert "# Annual report\n" in page.text
    assert "\n### Income and expenses\n" in page.text
    assert "\n#### What remains to be done\n" in page.text
    assert page.text.count("#") == 1 + 3 + 4


@pytest.mark.parametrize("big", ["1,204.50", "42 %", "A", "• first point", "one, two, three,"])
def test_what_is_large_but_no_heading(read: Callable[..., list[Page]], big: str) -> None:
    def draw(canvas: Any) -> None:
        column(canvas, LEFT, 60, 715)
        canvas.setFont("Helvetica", 24)
        canvas.drawString(60, 600, big)

    assert "#" not in read(draw)[0].text


ROWS = [
    ["Item", "Pieces", "Price"],
    ["Chair of beech", "4", "320.00"],
    ["Table, 180 cm", "1", "740.00"],
    ["Lamp", "2", "98.50"],
]


def ruled(canvas: Any, rows: list[list[str]], *style: Any, top: float = 700) -> None:
    table = Ruled(rows)
    table.setStyle(TableStyle([("GRID", (0, 0), (-1, -1), 0.5, colors.black), *style]))
    table.wrapOn(canvas, 400, 400)
    table.drawOn(canvas, 72, top - 20 * len(rows))


def markdown(rows: list[list[str]]) -> list[str]:
    shown = [f"| {' | '.join(row)} |" for row in rows]
    return [shown[0], f"|{' --- |' * len(rows[0])}", *shown[1:]]


def test_a_ruled_table(read: Callable[..., list[Page]]) -> None:
    (page,) = read(lambda canvas: ruled(canvas, ROWS))
    assert page.text.split("\n") == markdown(ROWS)
    (table,) = page.tables
    assert table.header == (0, 1)
    assert len(table.rows) == 3


def test_a_table_between_paragraphs_is_where_it_stands(read: Callable[..., list[Page]]) -> None:
    def draw(canvas: Any) -> None:
        column(canvas, LEFT, 60, 780)
        column(canvas, RIGHT, 60, 500)
        ruled(canvas, ROWS)

    (page,) = read(draw)
    assert follows(page.text, "The garden", "| Item |", "| Lamp |", "and then, above")
    (table,) = page.tables
    lines = page.text.split("\n")
    assert lines[table.rows[0][0]] == "| Chair of beech | 4 | 320.00 |"


def test_merged_cells_have_their_text_in_the_first(read: Callable[..., list[Page]]) -> None:
    rows = [["Goods of wood", "", "Sum"], ["Chairs", "4", "320"], ["Tables", "1", "740"]]
    (page,) = read(lambda canvas: ruled(canvas, rows, ("SPAN", (0, 0), (1, 0))))
    assert page.text.split("\n") == markdown(rows)


def test_a_cell_of_several_lines_is_one_cell(read: Callable[..., list[Page]]) -> None:
    rows = [["Part", "Remark"], ["Hinge", "of brass, to be\noiled every spring"], ["Lock", "none"]]
    (page,) = read(lambda canvas: ruled(canvas, rows))
    assert "| Hinge | of brass, to be oiled every spring |" in page.text


def aligned(canvas: Any, rows: list[list[str]], lefts: tuple[float, ...], top: float = 700) -> None:
    canvas.setFont("Helvetica", 10)
    for at, row in enumerate(rows):
        for left, cell in zip(lefts, row, strict=True):
            canvas.drawString(left, top - 14 * at, cell)


def test_aligned_columns_without_rules(read: Callable[..., list[Page]]) -> None:
    (page,) = read(lambda canvas: aligned(canvas, ROWS, (72, 220, 300)))
    assert page.text.split("\n") == markdown(ROWS)


def test_empty_cells_keep_their_columns(read: Callable[..., list[Page]]) -> None:
    rows = [["Day", "Came", "Left"], ["Mon", "8:00", ""], ["Tue", "", "17:30"], ["Wed", "9:15", ""],
            ["Thu", "8:10", "16:00"]]  # fmt: skip
    (page,) = read(lambda canvas: aligned(canvas, rows, (72, 160, 250)))
    assert page.text.split("\n") == markdown(rows)


def test_currency_signs_go_with_their_numbers(read: Callable[..., list[Page]]) -> None:
    rows = [["Rent", "$", "1,200"], ["Heat", "", "310"], ["Light", "", "95"], ["Sum", "$", "1,605"]]
    (page,) = read(lambda canvas: aligned(canvas, rows, (72, 200, 240)))
    assert "| Rent | $1,200 |" in page.text
    assert "| Heat | 310 |" in page.text


def sender_and_date(canvas: Any) -> None:
    column(canvas, ["Anna Example", "Lower Road 7", "12345 Milltown", "Phone 0123 456"], 60, 780)
    column(
        canvas, ["Date: 12 March 2026", "Our sign: A-17", "Your sign: none", "Pages: 2"], 350, 780
    )


@pytest.mark.parametrize("draw", [by_columns, by_rows, sender_and_date])
def test_what_stands_side_by_side_is_not_always_a_table(
    read: Callable[..., list[Page]], draw: Callable[[Any], None]
) -> None:
    assert "|" not in read(draw)[0].text


@pytest.mark.parametrize("turn", [90, 180, 270])
def test_turned_pages(read: Callable[..., list[Page]], turn: int) -> None:
    def draw(canvas: Any) -> None:
        canvas.setPageRotation(turn)
        by_columns(canvas)

    (page,) = read(draw)
    assert follows(
        page.text, "The garden behind the old mill was laid out in the spring", "and then"
    )


def test_text_on_its_side(read: Callable[..., list[Page]]) -> None:
    def draw(canvas: Any) -> None:
        canvas.translate(400, 60)
        canvas.rotate(90)
        aligned(canvas, ROWS, (72, 220, 300), top=200)

    (page,) = read(draw)
    assert page.text.split("\n") == markdown(ROWS)


@pytest.mark.parametrize("bullet", ["•", "–", "*"])
def test_items_of_a_list_stay_lines(read: Callable[..., list[Page]], bullet: str) -> None:
    def draw(canvas: Any) -> None:
        column(canvas, [f"{bullet} {line}" for line in LEFT], 60, 700)

    lines = read(draw)[0].text.split("\n")
    assert len(lines) == len(LEFT)
    if bullet == "•":
        assert lines[0].startswith("- The garden")
