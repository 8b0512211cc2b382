"""Workbooks, written by openpyxl and by hand."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from openpyxl.chart import BarChart, Reference
from openpyxl.comments import Comment
from openpyxl.drawing.image import Image as SheetImage
from PIL import Image, ImageDraw

from emily.errors import EmptyDocument, LimitExceeded, ReadingError
from emily.reading.office import sheet_blocks, sheets
from emily.reading.office.sheet_blocks import block_lines, blocks_of
from emily.reading.office.sheet_cells import Row
from emily.reading.office.sheets import read_xlsx
from emily.reading.pages import Page, Table
from emily.reading.source import Draft, Source

Make = Callable[..., Source]
At = Callable[[Path], Source]
Pages = Callable[[Draft], list[Page]]

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"


def workbook(tmp_path: Path, fill: Callable[[Any], None]) -> Path:
    book = openpyxl.Workbook()
    fill(book)
    path = tmp_path / "a.xlsx"
    book.save(path)
    return path


def by_hand(rows: str, **others: str) -> bytes:
    """A workbook of one sheet with rows as XML, and further parts by path."""
    parts = {
        "xl/workbook.xml": f'<workbook xmlns="{MAIN}" xmlns:r="{OFFICE}"><sheets>'
        '<sheet name="One" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": "<Relationships>"
        f'<Relationship Id="r1" Type="{OFFICE}/worksheet" Target="worksheets/sheet1.xml"/>'
        f'<Relationship Id="r2" Type="{OFFICE}/sharedStrings" Target="sharedStrings.xml"/>'
        "</Relationships>",
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData>'
        "</worksheet>",
        **others,
    }
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return data.getvalue()


def test_sheets_are_pages(tmp_path: Path, at: At, pages: Pages) -> None:
    def fill(book: Any) -> None:
        book.properties.creator = "Ada Conti"
        book.properties.title = "Costs"
        book.properties.modified = dt.datetime(2026, 7, 9)
        sheet = book.active
        sheet.title = "Spese 2026"
        sheet.append(["Data", "Voce", "Euro", "Ora", "Pagata"])
        sheet.append([dt.date(2026, 7, 1), "Pane\ne latte", 3.5, dt.time(8, 30), True])
        sheet.append([dt.datetime(2026, 7, 2, 10, 5), "Affitto", 800, None, None])
        sheet["B9"] = "Totale"
        sheet["C9"] = 0.1 + 0.2
        sheet["C10"] = "=SUM(C2:C3)"
        book.create_sheet("Vuoto")
        book.create_sheet("Segreto").append(["x", "y"])
        book["Segreto"].sheet_state = "hidden"

    draft = read_xlsx(at(workbook(tmp_path, fill)))
    first, second, third = pages(draft)
    assert first.text == (
        "# Spese 2026\n\n| Data | Voce | Euro | Ora | Pagata |\n| --- | --- | --- | --- | --- |\n"
        "| 2026-07-01 | Pane e latte | 3.5 | 08:30:00 | TRUE |\n"
        "| 2026-07-02 10:05:00 | Affitto | 800 |  |  |\n\n| Totale | 0.3 |"
    )
    assert first.tables == (Table((2, 3), ((4, 4), (5, 5))),)
    assert (second.number, second.text, second.route) == (2, "", "blank")
    assert third.text == "# Segreto\n\n| x | y |"
    assert (draft.title, draft.facts.author) == ("Costs", "Ada Conti")
    assert draft.facts.date is not None  # openpyxl writes the time of saving
    assert draft.warnings[0] == "Sheet 3 (Segreto) is hidden; it is read."
    assert "formulas without a stored value" in draft.warnings[1]


@pytest.mark.parametrize("declared", ["A1:I1048561", "A1:XFD1048576", "B2:B1000000"])
def test_a_declared_range_of_a_million_rows_costs_nothing(
    tmp_path: Path, at: At, pages: Pages, declared: str
) -> None:
    path = workbook(tmp_path, lambda book: book.active.append(["a", "b"]))
    data = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(data, "w") as new:
        for member in old.infolist():
            content = old.read(member)
            if member.filename == "xl/worksheets/sheet1.xml":
                content = content.replace(b'ref="A1:B1"', f'ref="{declared}"'.encode())
                assert declared.encode() in content
            new.writestr(member, content)
    path.write_bytes(data.getvalue())
    assert pages(read_xlsx(at(path)))[0].text == "# Sheet\n\n| a | b |"


@pytest.mark.parametrize(
    "rows",
    [
        "".join(f'<row r="{n}"/>' for n in range(1, 2000)) + '<row r="1048561"><c r="A1048561">'
        "<v>7</v></c></row>",
        '<row r="5" s="1"><c r="A5" s="1"/><c r="B5"/><c r="C5"><v>7</v></c></row>',
        '<row><c><v/></c><c><v>7</v></c></row>',
    ],
)  # fmt: skip
def test_empty_cells_are_not_read(source: Make, pages: Pages, rows: str) -> None:
    assert pages(read_xlsx(source(by_hand(rows))))[0].text == "# One\n\n| 7 |"


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        ('<c r="A1" t="s"><v>0</v></c>', "shared text"),
        ('<c r="A1" t="s"><v>1</v></c>', "rich text"),
        ('<c r="A1" t="s"><v>9</v></c>', ""),
        ('<c r="A1" t="inlineStr"><is><t>inline</t></is></c>', "inline"),
        ('<c r="A1" t="str"><f>A2</f><v>by formula</v></c>', "by formula"),
        ('<c r="A1" t="b"><v>0</v></c>', "FALSE"),
        ('<c r="A1" t="e"><v>#N/A</v></c>', "#N/A"),
        ('<c r="A1" t="d"><v>2026-07-02T00:00:00</v></c>', "2026-07-02"),
        ('<c r="A1" t="str"><v>nul_x0000_in _x0041_</v></c>', "nulin A"),
        ('<c r="A1"><v>not a number</v></c>', "not a number"),
        ('<c r="A1" s="77"><v>1.50</v></c>', "1.5"),
    ],
)  # fmt: skip
def test_kinds_of_cells(source: Make, pages: Pages, cell: str, text: str) -> None:
    strings = {
        "xl/sharedStrings.xml": f'<sst xmlns="{MAIN}"><si><t>shared\ntext</t></si><si><r>'
        "<t>rich </t></r><r><t>text</t></r><rPh><t>read so</t></rPh></si></sst>"
    }
    (page,) = pages(read_xlsx(source(by_hand(f'<row r="1">{cell}</row>', **strings))))
    assert page.text.replace("\0", "") == (f"# One\n\n| {text} |" if text else "")


def test_number_formats_of_a_workbook(tmp_path: Path, at: At, pages: Pages) -> None:
    def fill(book: Any) -> None:
        sheet = book.active
        for row, (value, code) in enumerate(
            [(0.25, "0%"), (9.9, '#,##0.00 "€"'), (46205, "dd/mm/yyyy"), (46205, "General")], 1
        ):
            sheet.cell(row, 1, "row")
            sheet.cell(row, 2, value).number_format = code

    (page,) = pages(read_xlsx(at(workbook(tmp_path, fill))))
    cells = [line.split(" | ")[1].rstrip(" |") for line in page.text.split("\n") if "row" in line]
    assert cells == ["25%", "9.90 €", "2026-07-02", "46205"]


def test_days_from_1904(tmp_path: Path, at: At, pages: Pages) -> None:
    def fill(book: Any) -> None:
        book.epoch = openpyxl.utils.datetime.CALENDAR_MAC_1904
        book.active.append([dt.date(2026, 7, 2)])

    (page,) = pages(read_xlsx(at(workbook(tmp_path, fill))))
    assert page.text == "# Sheet\n\n| 2026-07-02 |"


@pytest.mark.parametrize(
    ("rows", "lines"),
    [
        # two tables with headers of their own, side by side
        ([["a", "b", None, "c", "d"], [1, 2, None, 3, 4]],
         ["| a | b |", "| --- | --- |", "| 1 | 2 |", "",
          "| c | d |", "| --- | --- |", "| 3 | 4 |"]),
        # labels, a narrow empty column, values: one table
        ([["Weight", "kg", None, 7, 8], ["Height", "m", None, 2, 3]],
         ["| Weight | kg | 7 | 8 |", "| --- | --- | --- | --- |", "| Height | m | 2 | 3 |"]),
        # a title above
        ([["Costs of the year"], ["what", "sum"], ["bread", 3]],
         ["| Costs of the year |", "", "| what | sum |", "| --- | --- |", "| bread | 3 |"]),
        # an empty row between
        ([["a", "b"], ["c", "d"], [], ["e", "f"], ["g", "h"]],
         ["| a | b |", "| --- | --- |", "| c | d |", "",
          "| e | f |", "| --- | --- |", "| g | h |"]),
        # one column is text
        ([["a note"], ["on two lines"]], ["| a note |", "| on two lines |"]),
    ],
)  # fmt: skip
def test_blocks_of_a_sheet(
    tmp_path: Path, at: At, pages: Pages, rows: list[list[Any]], lines: list[str]
) -> None:
    def fill(book: Any) -> None:
        for row in rows:
            book.active.append(row)

    (page,) = pages(read_xlsx(at(workbook(tmp_path, fill))))
    assert page.text.split("\n")[2:] == lines
    for table in page.tables:
        assert all(page.text.split("\n")[begin].startswith("|") for begin, _ in table.rows)


def test_a_wide_sparse_sheet_is_short(tmp_path: Path, at: At, pages: Pages) -> None:
    def fill(book: Any) -> None:
        for row in range(1, 101):
            book.active.cell(row, 1 + 100 * row, f"left {row}")
            book.active.cell(row, 16_000, f"right {row}")

    (page,) = pages(read_xlsx(at(workbook(tmp_path, fill))))
    assert len(page.text) < 100 * 40
    assert all(f"| left {row} | right {row} |" in page.text for row in range(1, 101))


def test_merged_cells_leave_their_columns(tmp_path: Path, at: At, pages: Pages) -> None:
    def fill(book: Any) -> None:
        sheet = book.active
        for row in (["2026", None, "2027"], ["a", "b", "c"], ["d", "e", "f"]):
            sheet.append(row)
        sheet.merge_cells("A1:B1")

    (page,) = pages(read_xlsx(at(workbook(tmp_path, fill))))
    assert "| 2026 |  | 2027 |" in page.text
    assert "| d | e | f |" in page.text


def test_remarks_charts_and_pictures_are_read(tmp_path: Path, at: At, pages: Pages) -> None:
    def fill(book: Any) -> None:
        sheet = book.active
        for row in (["month", "rain"], ["May", 30], ["June", 20]):
            sheet.append(row)
        sheet["A20"] = "below"
        sheet["B2"].comment = Comment("Bea:\nmeasured twice", "Bea")
        sheet["A2"].comment = Comment("first", "")
        chart = BarChart()
        chart.title = "Rain"
        chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=3), titles_from_data=True)
        sheet.add_chart(chart, "D5")
        picture = Image.new("RGB", (90, 90), "white")
        ImageDraw.Draw(picture).line((5, 5, 80, 80), "black", 4)
        data = io.BytesIO()
        picture.save(data, "PNG")
        sheet.add_image(SheetImage(data), "D30")

    (page,) = pages(read_xlsx(at(workbook(tmp_path, fill))))
    blocks = page.text.split("\n\n")
    assert blocks[1].startswith("| month | rain |")
    assert "Rain" in blocks[2]
    assert blocks[3] == "| below |"
    assert blocks[4] == "[picture, not read]"
    assert blocks[5] == "Comment on A2: first\nComment (Bea) on B2: measured twice"
    assert page.pictures == 1


def test_threads_of_comments_stand_once(source: Make, pages: Pages) -> None:
    parts = {
        "xl/worksheets/_rels/sheet1.xml.rels": "<Relationships>"
        f'<Relationship Id="a" Type="{OFFICE}/comments" Target="../comments1.xml"/>'
        '<Relationship Id="b" Type="http://schemas.microsoft.com/office/2017/10/relationships/'
        'threadedComment" Target="../threadedComments/t1.xml"/></Relationships>',
        "xl/comments1.xml": f'<comments xmlns="{MAIN}"><authors><author>tc=1</author></authors>'
        '<commentList><comment ref="B2" authorId="0"><text><t>[Threaded comment] Your version '
        "allows … Comment: is this right?</t></text></comment></commentList></comments>",
        "xl/threadedComments/t1.xml": '<ThreadedComments xmlns="x"><threadedComment ref="B2" '
        'personId="p1"><text>is this right?</text></threadedComment><threadedComment ref="B2" '
        'personId="p2"><text>yes</text></threadedComment></ThreadedComments>',
        "xl/persons/person.xml": '<personList xmlns="x"><person displayName="Ada" id="p1"/>'
        "</personList>",
    }
    (page,) = pages(read_xlsx(source(by_hand("<row><c><v>1</v></c></row>", **parts))))
    assert page.text == (
        "# One\n\n| 1 |\n\nComment (Ada) on B2: is this right?\nComment on B2: yes"
    )


def test_a_sheet_of_a_chart_is_read(tmp_path: Path, at: At, pages: Pages) -> None:
    def fill(book: Any) -> None:
        sheet = book.active
        sheet.append(["x", "y"])
        chart = BarChart()
        chart.title = "Alone"
        chart.add_data(Reference(sheet, min_col=2, min_row=1, max_row=1), titles_from_data=True)
        book.create_chartsheet("Picture").add_chart(chart)

    _, second = pages(read_xlsx(at(workbook(tmp_path, fill))))
    assert second.text.startswith("# Picture\n\nAlone")


@pytest.mark.parametrize(("cap", "rows", "said"), [(3, 5, True), (3, 3, False), (1, 2, True)])
def test_the_row_cap_is_stated(
    tmp_path: Path, at: At, pages: Pages, monkeypatch: pytest.MonkeyPatch,
    cap: int, rows: int, said: bool,
) -> None:  # fmt: skip
    monkeypatch.setattr(sheets, "MOST_ROWS", cap)

    def fill(book: Any) -> None:
        for number in range(rows):
            book.active.append([f"r{number}", number])

    (page,) = pages(read_xlsx(at(workbook(tmp_path, fill))))
    assert page.text.count("| r") == min(cap, rows)
    stated = f"Sheet 1 (Sheet): it has more than {cap} rows; only the first {cap} are read."
    assert page.warning == (stated if said else None)


def test_too_much_text_is_refused(
    tmp_path: Path, at: At, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheet_blocks, "MOST_CHARACTERS", 10)
    path = workbook(tmp_path, lambda book: book.active.append(["words " * 9]))
    with pytest.raises(LimitExceeded, match="more than 10 characters"):
        pages(read_xlsx(at(path)))


def test_a_broken_sheet_does_not_stop_the_others(tmp_path: Path, at: At, pages: Pages) -> None:
    def fill(book: Any) -> None:
        book.active.append(["one"])
        book.create_sheet("Two").append(["two"])

    path = workbook(tmp_path, fill)
    data = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(data, "w") as new:
        for member in old.infolist():
            if member.filename != "xl/worksheets/sheet1.xml":
                new.writestr(member, old.read(member))
    path.write_bytes(data.getvalue())
    first, second = pages(read_xlsx(at(path)))
    assert first.route == "unread"
    assert "Sheet 1 (Sheet) is not read: the part" in (first.warning or "")
    assert second.text == "# Two\n\n| two |"


@pytest.mark.parametrize(
    "declaration",
    [
        '<!DOCTYPE x [<!ENTITY a "b">]>',
        '<!DOCTYPE x [<!ENTITY a SYSTEM "file:///etc/hostname">]>',
        '<!DOCTYPE x [<!ENTITY a "bbbbbbbb"><!ENTITY c "&a;&a;&a;&a;">]>',
    ],
)
def test_entities_are_refused(source: Make, pages: Pages, declaration: str) -> None:
    sheet = f'{declaration}<worksheet xmlns="{MAIN}"><sheetData><row><c t="str"><v>&a;</v></c>'
    parts = {"xl/worksheets/sheet1.xml": f"{sheet}</row></sheetData></worksheet>"}
    (page,) = pages(read_xlsx(source(by_hand("", **parts))))
    assert (page.text, page.route) == ("", "unread")
    assert "declares entities" in (page.warning or "")


@pytest.mark.parametrize(
    ("parts", "error", "reason"),
    [
        ({"xl/other.xml": "<x/>"}, ReadingError, "missing"),
        ({"xl/workbook.xml": f'<workbook xmlns="{MAIN}"/>'}, EmptyDocument, "no sheets"),
        ({"xl/workbook.xml": "garbage"}, ReadingError, "is not XML"),
    ],
)
def test_what_is_no_workbook_is_refused(
    source: Make, parts: dict[str, str], error: type[Exception], reason: str
) -> None:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    with pytest.raises(error, match=reason):
        read_xlsx(source(data.getvalue()))


PLACES = st.tuples(st.integers(1, 12), st.integers(0, 60))
WORDS = st.integers(0, 99).map(lambda number: f"w{number}")


@settings(deadline=None)
@given(st.dictionaries(PLACES, WORDS, min_size=1, max_size=40))
def test_no_cell_is_lost_between_blocks(cells: dict[tuple[int, int], str]) -> None:
    rows: dict[int, Row] = {}
    for (number, column), text in sorted(cells.items()):
        rows.setdefault(number, Row(number, {})).cells[column] = text
    found = []
    for block in blocks_of(rows.values()):
        lines, table = block_lines(block)
        found += " ".join(lines).replace("|", " ").replace("---", " ").split()
        for begin, end in table.rows if table else ():
            assert 0 <= begin <= end < len(lines)
    assert sorted(found) == sorted(cells.values())
