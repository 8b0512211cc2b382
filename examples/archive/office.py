"""Office files: DOCX, XLSX and PPTX, whose bytes depend on nothing but the source."""

from __future__ import annotations

import re
import zipfile
from datetime import date, datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any

import docx
import openpyxl
import pptx
from openpyxl.styles import Font, PatternFill
from pptx.util import Inches, Pt

if TYPE_CHECKING:
    from .source import Source

__all__ = ["docx_file", "pptx_file", "xlsx_file"]

WRITTEN = datetime(2024, 1, 15, 9, 30)
"""The date in the metadata of every file; a clock would change the bytes at every build."""


def docx_file(source: Source) -> bytes:
    """A Word document; the letterhead goes into the page header, where letterheads live."""
    document: Any = docx.Document()
    _stamp(document.core_properties, source)
    for section in document.sections:
        head = [str(line) for line in source.options.get("letterhead", [])]
        section.header.paragraphs[0].text = "\n".join(head)
        section.footer.paragraphs[0].text = str(source.options.get("footer", ""))
    for block in source.blocks:
        if block.kind == "heading":
            document.add_heading(block.lines[0], block.level)
        elif block.kind == "page":
            document.add_page_break()
        elif block.kind == "table":
            table = document.add_table(0, len(block.rows[0]), style="Light Grid Accent 1")
            for row in block.rows:
                for cell, text in zip(table.add_row().cells, row, strict=True):
                    _runs(cell.paragraphs[0], text)
            document.add_paragraph()
        elif block.kind == "bullets":
            for line in block.lines:
                _runs(document.add_paragraph(style="List Bullet"), line)
        else:
            paragraph = document.add_paragraph()
            for number, line in enumerate(block.lines):
                if number:
                    paragraph.add_run().add_break()
                _runs(paragraph, line)
    buffer = BytesIO()
    document.save(buffer)
    return settled(buffer.getvalue())


def xlsx_file(source: Source) -> bytes:
    """A workbook: every heading of level 2 opens a sheet, its table fills it."""
    book: Any = openpyxl.Workbook()
    book.remove(book.active)
    book.properties.creator, book.properties.title = "", source.title
    book.properties.created = WRITTEN
    sheet: Any = None
    for block in source.blocks:
        if block.kind == "heading":
            sheet = book.create_sheet(block.lines[0])
        elif block.kind == "table":
            for number, row in enumerate(block.rows):
                sheet.append([cell if not number else _typed(cell) for cell in row])
            for cell in sheet[1]:
                cell.font, cell.fill = Font(bold=True), PatternFill("solid", fgColor="DDE6F0")
            for column in sheet.columns:
                longest = max(len(str(cell.value or "")) for cell in column)
                sheet.column_dimensions[column[0].column_letter].width = min(52, longest + 3)
            sheet.freeze_panes = "A2"
        else:
            for line in block.lines:
                sheet.append([line])
    buffer = BytesIO()
    book.save(buffer)
    return settled(buffer.getvalue())


def pptx_file(source: Source) -> bytes:
    """Slides: every heading of level 1 opens one; quoted lines are what the speaker says."""
    deck = pptx.Presentation()
    _stamp(deck.core_properties, source)
    slide: Any = None
    for block in source.blocks:
        if block.kind == "heading" and block.level == 1:
            slide = deck.slides.add_slide(deck.slide_layouts[1])
            slide.shapes.title.text = block.lines[0]
            slide.placeholders[1].text_frame.clear()
        elif block.kind == "quote":
            slide.notes_slide.notes_text_frame.text = " ".join(block.lines)
        elif block.kind == "table":
            rows, columns = len(block.rows), len(block.rows[0])
            frame = slide.shapes.add_table(
                rows, columns, Inches(0.6), Inches(4.4), Inches(8.8), Inches(0.35 * rows)
            )
            for number, row in enumerate(block.rows):
                for index, text in enumerate(row):
                    cell = frame.table.cell(number, index)
                    cell.text = text
                    cell.text_frame.paragraphs[0].font.size = Pt(13)
        else:
            frame = slide.placeholders[1].text_frame
            for line in block.lines:
                fresh = frame.paragraphs[0]
                paragraph = frame.add_paragraph() if fresh.text else fresh
                paragraph.text = line
                paragraph.font.size = Pt(19)
    buffer = BytesIO()
    deck.save(buffer)
    return settled(buffer.getvalue())


def settled(archive: bytes) -> bytes:
    """Write a zip again with one date on all members and in the document's properties."""
    buffer = BytesIO()
    with (
        zipfile.ZipFile(BytesIO(archive)) as before,
        zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as after,
    ):
        for name in before.namelist():
            content = before.read(name)
            if name == "docProps/core.xml":
                content = re.sub(
                    rb"(<dcterms:modified[^>]*>)[^<]*",
                    rb"\g<1>" + WRITTEN.strftime("%Y-%m-%dT%H:%M:%SZ").encode(),
                    content,
                )
            member = zipfile.ZipInfo(name, WRITTEN.timetuple()[:6])
            member.compress_type = zipfile.ZIP_DEFLATED
            member.create_system = 3
            after.writestr(member, content)
    return buffer.getvalue()


def _stamp(properties: Any, source: Source) -> None:
    properties.title, properties.author = source.title, ""
    properties.created = properties.modified = WRITTEN
    properties.last_modified_by, properties.revision = "", 1
    properties.language = source.lang


def _runs(paragraph: Any, text: str) -> None:
    for number, part in enumerate(text.split("**")):
        if part:
            paragraph.add_run(part).bold = bool(number % 2)


def _typed(cell: str) -> str | int | float | date | None:
    """A cell as a spreadsheet keeps it: a number, a date, or text."""
    if not cell:
        return None
    if re.fullmatch(r"\d{4}-\d\d-\d\d", cell):
        return date.fromisoformat(cell)
    if re.fullmatch(r"-?\d+", cell):
        return int(cell)
    return float(cell) if re.fullmatch(r"-?\d+\.\d+", cell) else cell
