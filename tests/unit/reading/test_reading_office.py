"""Word, Excel and PowerPoint, written by the format libraries and by hand."""

from __future__ import annotations

import datetime as dt
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from docx import Document
from docx.oxml import OxmlElement
from PIL import Image
from pptx import Presentation
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from pptx.util import Inches

from emily.errors import EmptyDocument, LimitExceeded, ReadingError
from emily.reading import sheets
from emily.reading.pages import Page, Table
from emily.reading.sheets import read_xlsx
from emily.reading.slides import read_pptx
from emily.reading.source import Draft, Source
from emily.reading.word import read_docx

Make = Callable[..., Source]
At = Callable[[Path], Source]
Pages = Callable[[Draft], list[Page]]

WORD = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    "<w:body>{}</w:body></w:document>"
)


def packed(parts: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return data.getvalue()


def word(body: str) -> bytes:
    return packed({"word/document.xml": WORD.format(body)})


def test_word_in_body_order(tmp_path: Path, at: At, pages: Pages) -> None:
    document = Document()
    document.core_properties.title = "A title"
    section = document.sections[0]
    section.header.paragraphs[0].text = "Studio Rossi"
    section.footer.paragraphs[0].text = "VAT 01234567890"
    document.add_heading("Contract", 1)
    paragraph = document.add_paragraph("Between us. ")
    paragraph.add_run().add_break()
    paragraph.add_run("Second line.")
    link = OxmlElement("w:hyperlink")
    run = OxmlElement("w:r")
    text = OxmlElement("w:t")
    text.text = " our site"
    run.append(text)
    link.append(run)
    paragraph._p.append(link)
    document.add_paragraph("apples", style="List Bullet")
    table = document.add_table(3, 2)
    for row, cells in enumerate([("Item", "Price"), ("Bread", "1,50"), ("Box", "")]):
        for column, value in enumerate(cells):
            table.cell(row, column).text = value
    nested = table.cell(2, 1).add_table(2, 2)
    for row in range(2):
        for column in range(2):
            nested.cell(row, column).text = f"n{row}{column}"
    after = document.add_paragraph("After the table.")
    document.add_comment(after.runs, text="Check this", author="Ada")
    path = tmp_path / "a.docx"
    document.save(str(path))
    draft = read_docx(at(path))
    (page,) = pages(draft)
    assert draft.title == "A title"
    assert draft.citation == "none"
    assert page.text == (
        "Studio Rossi\n\nContract\n\nBetween us.\nSecond line. our site\n\napples\n\n"
        "Item | Price\nBread | 1,50\nBox | n00, n01; n10, n11\n\nAfter the table.\n\n"
        "VAT 01234567890\n\nComment (Ada): Check this"
    )
    lines = page.text.split("\n")
    (table_found,) = page.tables
    assert table_found.header is not None
    assert lines[table_found.header[0]] == "Item | Price"
    assert [lines[begin] for begin, _ in table_found.rows] == lines[10:12]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<w:p><w:del><w:r><w:delText>old</w:delText></w:r></w:del><w:ins><w:r><w:t>new</w:t>"
         "</w:r></w:ins></w:p>", "new"),
        ("<w:p><w:r><w:t>self</w:t><w:noBreakHyphen/><w:t>test</w:t><w:tab/><w:t>x</w:t></w:r>"
         "</w:p>", "self-test\tx"),
        ("<w:sdt><w:sdtPr/><w:sdtContent><w:p><w:r><w:t>in a control</w:t></w:r></w:p>"
         "</w:sdtContent></w:sdt>", "in a control"),
        ("<w:p><w:r><w:instrText>PAGE</w:instrText></w:r><w:r><w:t>7</w:t></w:r></w:p>", "7"),
        ("<w:p><w:r><w:pict><w:txbxContent><w:p><w:r><w:t>in a box</w:t></w:r></w:p>"
         "</w:txbxContent></w:pict><w:t>beside</w:t></w:r></w:p>", "beside\n\nin a box"),
        ("<w:tbl><w:tr><w:tc><w:p><w:r><w:t>a frame</w:t></w:r></w:p><w:p><w:r><w:t>of text</w:t>"
         "</w:r></w:p></w:tc></w:tr></w:tbl>", "a frame\n\nof text"),
    ],
)  # fmt: skip
def test_word_pieces(source: Make, pages: Pages, body: str, text: str) -> None:
    assert pages(read_docx(source(word(body))))[0].text == text


def test_word_without_text_is_empty(source: Make) -> None:
    with pytest.raises(EmptyDocument):
        read_docx(source(word("<w:p/>")))


def test_an_entity_bomb_is_refused(source: Make) -> None:
    entities = "".join(
        f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' if n else '<!ENTITY l0 "lol">' for n in range(9)
    )
    body = WORD.format("<w:p><w:r><w:t>&l8;</w:t></w:r></w:p>")
    bomb = packed({"word/document.xml": f"<!DOCTYPE x [{entities}]>{body}"})
    with pytest.raises(ReadingError, match="declares entities"):
        read_docx(source(bomb))


def test_no_file_of_the_machine_is_read_through_an_entity(source: Make, tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("the owner's secret")
    body = WORD.format("<w:p><w:r><w:t>&x;</w:t></w:r></w:p>")
    doctype = f'<!DOCTYPE x [<!ENTITY x SYSTEM "{secret.as_uri()}">]>'
    with pytest.raises(ReadingError, match="declares entities"):
        read_docx(source(packed({"word/document.xml": doctype + body})))


def test_a_workbook_with_entities_is_refused(tmp_path: Path, at: At, pages: Pages) -> None:
    path = workbook(tmp_path, lambda book: book.active.append(["a", "b"]))
    data = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(data, "w") as new:
        for member in old.infolist():
            content = old.read(member)
            if member.filename == "xl/worksheets/sheet1.xml":
                content = (
                    b'<!DOCTYPE x [<!ENTITY a "b">]>' + content[content.index(b"<worksheet") :]
                )
            new.writestr(member, content)
    path.write_bytes(data.getvalue())
    with pytest.raises(ReadingError, match="entities"):
        pages(read_xlsx(at(path)))


def test_a_zip_bomb_is_refused_unopened(source: Make) -> None:
    bomb = packed({"word/document.xml": " " * (40 << 20)})
    assert len(bomb) < 100_000
    with pytest.raises(LimitExceeded, match="decompression bomb"):
        read_docx(source(bomb))


def test_a_part_that_lies_about_its_size_is_damaged(source: Make) -> None:
    data = bytearray(word("<w:p><w:r><w:t>" + "x" * 5000 + "</w:t></w:r></w:p>"))
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = (100).to_bytes(4, "little")
    with pytest.raises(ReadingError, match="damaged"):
        read_docx(source(bytes(data)))


def workbook(tmp_path: Path, fill: Callable[[Any], None]) -> Path:
    book = openpyxl.Workbook()
    fill(book)
    path = tmp_path / "a.xlsx"
    book.save(path)
    return path


def test_sheets_are_pages(tmp_path: Path, at: At, pages: Pages) -> None:
    def fill(book: Any) -> None:
        sheet = book.active
        sheet.title = "Spese 2026"
        sheet.append(["Data", "Voce", "Euro", "Ora", "Pagata"])
        sheet.append([dt.date(2026, 7, 1), "Pane\ne latte", 3.5, dt.time(8, 30), True])
        sheet.append([dt.datetime(2026, 7, 2, 10, 5), "Affitto", 800, None, None])
        sheet["B9"] = "Totale"
        sheet["C9"] = 0.1 + 0.2
        sheet["C10"] = "=SUM(C2:C3)"
        book.create_sheet("Vuoto")

    path = workbook(tmp_path, fill)
    draft = read_xlsx(at(path))
    first, second = pages(draft)
    assert first.text == (
        "Spese 2026\n\nData | Voce | Euro | Ora | Pagata\n"
        "2026-07-01 | Pane e latte | 3.5 | 08:30:00 | TRUE\n"
        "2026-07-02 10:05:00 | Affitto | 800\n\n | Totale | 0.3"
    )
    assert first.tables == (Table((2, 2), ((3, 3), (4, 4))),)
    assert (second.number, second.text, second.route) == (2, "", "blank")
    assert "formulas without a stored value" in draft.warnings[0]


def test_a_declared_range_of_a_million_rows_costs_nothing(
    tmp_path: Path, at: At, pages: Pages
) -> None:
    path = workbook(tmp_path, lambda book: book.active.append(["a", "b"]))
    data = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(data, "w") as new:
        for member in old.infolist():
            content = old.read(member)
            if member.filename == "xl/worksheets/sheet1.xml":
                content = content.replace(b'ref="A1:B1"', b'ref="A1:I1048561"')
                assert b"I1048561" in content
            new.writestr(member, content)
    path.write_bytes(data.getvalue())
    assert pages(read_xlsx(at(path)))[0].text == "Sheet\n\na | b"


def test_the_row_cap_is_stated(
    tmp_path: Path, at: At, pages: Pages, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sheets, "MOST_ROWS", 3)

    def fill(book: Any) -> None:
        for number in range(5):
            book.active.append([f"r{number}", number])

    (page,) = pages(read_xlsx(at(workbook(tmp_path, fill))))
    assert page.text.count("\n") == 4
    assert page.warning == "Sheet 1 (Sheet) has more than 3 rows; only the first 3 are read."


def test_slides_with_groups_tables_charts_and_notes(tmp_path: Path, at: At, pages: Pages) -> None:
    deck = Presentation()
    deck.core_properties.title = "Plan"
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    slide.shapes.title.text = "Results"
    slide.placeholders[1].text = "up\ndown"
    group = slide.shapes.add_group_shape()
    box = group.shapes.add_textbox(0, 0, Inches(1), Inches(1))
    box.text_frame.text = "in a group"
    table = slide.shapes.add_table(2, 2, 0, 0, Inches(2), Inches(1)).table
    for row, cells in enumerate([("Year", "Sum"), ("2026", "7")]):
        for column, value in enumerate(cells):
            table.cell(row, column).text = value
    data = CategoryChartData()
    data.categories = ["Q1", "Q2"]
    data.add_series("Sales", (1.5, 2))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 0, 0, Inches(3), Inches(2), data)
    slide.notes_slide.notes_text_frame.text = "say hello"
    picture = io.BytesIO()
    Image.new("RGB", (4, 4), "red").save(picture, "PNG")
    deck.slides.add_slide(deck.slide_layouts[6])
    last = deck.slides.add_slide(deck.slide_layouts[6])
    last.shapes.add_picture(picture, 0, 0)
    path = tmp_path / "a.pptx"
    deck.save(str(path))
    draft = read_pptx(at(path))
    first, second, third = pages(draft)
    assert draft.title == "Plan"
    assert first.text == (
        "Results\n\nup\ndown\n\nin a group\n\nYear | Sum\n2026 | 7\n\n"
        "Sales: Q1 1.5, Q2 2\n\nNotes: say hello"
    )
    assert first.tables == (Table((7, 7), ((8, 8),)),)
    assert (second.route, second.text, second.warning) == ("blank", "", None)
    assert third.route == "unread"
    assert third.warning == "Slide 3: 1 pictures are not read."


def test_a_broken_slide_does_not_stop_the_others(tmp_path: Path, at: At, pages: Pages) -> None:
    deck = Presentation()
    for number in range(3):
        deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = f"slide {number}"
    whole = io.BytesIO()
    deck.save(whole)
    path = tmp_path / "a.pptx"
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(path, "w") as new:
        for member in old.infolist():
            broken = member.filename == "ppt/slides/slide2.xml"
            new.writestr(member.filename, b"\0\0" if broken else old.read(member))
    read = pages(read_pptx(at(path)))
    assert [page.text for page in read] == ["slide 0", "", "slide 2"]
    assert read[1].route == "unread"
    assert "Slide 2 is not read" in (read[1].warning or "")


def test_parts_that_are_missing_are_named(source: Make) -> None:
    with pytest.raises(ReadingError, match="presentation"):
        read_pptx(source(packed({"ppt/other.xml": "<x/>"})))
    with pytest.raises(ReadingError, match="workbook is broken"):
        read_xlsx(source(packed({"xl/other.xml": "<x/>"})))
