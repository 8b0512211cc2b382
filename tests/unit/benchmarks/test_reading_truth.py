"""What files say, by their own runs of text and by the truth that others wrote down."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import docx
import openpyxl
import pptx
import pytest
from benchmarks.reading_metrics import words
from benchmarks.reading_runs import runs
from benchmarks.reading_truth import Case, Excluded, cases, format_of
from docx.oxml.ns import qn
from pptx.util import Inches

ODF = (
    '<office:document-content xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0"><office:body>{}'
    "</office:body></office:document-content>"
)


def test_a_word_file_gives_paragraphs_and_cells_and_keeps_headers_aside(tmp_path: Path) -> None:
    document = docx.Document()
    document.sections[0].header.paragraphs[0].text = "letterhead"
    document.add_paragraph("Dear Anna,")
    table = document.add_table(1, 2)
    table.cell(0, 0).text, table.cell(0, 1).text = "oak", "elm"
    document.save(str(tmp_path / "a.docx"))
    found = runs(tmp_path / "a.docx", "docx")
    assert found is not None
    assert words(found.text) == ["dear", "anna", "oak", "elm"]
    assert found.cells == ("oak", "elm")
    assert "letterhead" in found.beside


def test_slides_give_shapes_and_keep_notes_aside(tmp_path: Path) -> None:
    deck = pptx.Presentation()
    slide = deck.slides.add_slide(deck.slide_layouts[6])
    box = slide.shapes.add_textbox(Inches(1), Inches(1), Inches(2), Inches(1))
    box.text_frame.text = "shown"
    slide.notes_slide.notes_text_frame.text = "spoken"
    deck.save(str(tmp_path / "a.pptx"))
    found = runs(tmp_path / "a.pptx", "pptx")
    assert found is not None
    assert words(found.text) == ["shown"]
    assert any("spoken" in text for text in found.beside)


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("<text:p>one<text:s/>two</text:p><text:h>three</text:h>", "one two three"),
        (
            "<text:tracked-changes><text:p>gone</text:p></text:tracked-changes><text:p>x</text:p>",
            "x",
        ),
        ("<text:p>a<text:span>b</text:span>c</text:p>", "abc"),
    ],
)
def test_open_documents_give_their_paragraphs(tmp_path: Path, body: str, shown: str) -> None:
    with zipfile.ZipFile(tmp_path / "a.odt", "w") as package:
        package.writestr("content.xml", ODF.format(body))
    found = runs(tmp_path / "a.odt", "odt")
    assert found is not None
    assert words(found.text) == shown.split()


@pytest.mark.parametrize(
    ("name", "content", "shown"),
    [
        ("a.html", "<title>t</title><nav>menu</nav><p>o<b>n</b>e</p><p>two</p>", "one two"),
        ("a.html", "<p style='display: none'>unseen</p><script>x</script>seen", "seen"),
        ("a.xml", "<a><b>one</b><b>two</b><p>H<sub>2</sub>O</p></a>", "one two h2o"),
        ("a.json", '[{"k": "v", "n": 1}, {"k": "w"}]', "k v n 1 w"),
        ("a.csv", 'a;b\n"c";d\n', "a b c d"),
        ("a.eml", "Subject: s\nDate: 4 Mar 2026 10:00:00 +0000\n\nbody text\n", "body text"),
        ("a.txt", "plain words", "plain words"),
        ("a.txt", "MIME-Version: 1.0\nSubject: s\n\nbody", "body"),
    ],
)
def test_text_kinds_give_what_is_shown(tmp_path: Path, name: str, content: str, shown: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    found = runs(path, format_of(path) or "")
    assert found is not None
    assert words(found.text) == shown.split()


def test_a_title_above_a_table_is_none_of_its_cells(tmp_path: Path) -> None:
    for content, cells in (
        ("Cups,,\nteam,place\noak,1\n", ("team", "place", "oak", "1")),
        ("team\noak\n", ("team", "oak")),
        ("a,b\nc,\n", ("a", "b", "c", "")),
    ):
        (tmp_path / "a.csv").write_text(content)
        found = runs(tmp_path / "a.csv", "csv")
        assert found is not None
        assert found.cells == cells


def test_records_may_have_all_their_keys_first(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"k": 1, "m": {"n": 2}}, {"k": 3, "o": 4}]')
    found = runs(tmp_path / "a.json", "json")
    assert found is not None
    assert found.also is not None
    assert words(found.text) == ["k", "1", "m", "n", "2", "3", "o", "4"]
    assert words(found.also) == ["k", "m", "n", "o", "1", "2", "3", "4"]


def test_what_a_format_writes_beside_a_number_is_not_asked_for(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    sheet = book.active
    assert sheet is not None
    for row, pattern in enumerate(('0 "tons"', "\\n\\o0", "0.00"), 1):
        sheet.cell(row, 1, 7).number_format = pattern
    book.save(tmp_path / "a.xlsx")
    found = runs(tmp_path / "a.xlsx", "xlsx")
    assert found is not None
    assert words(found.text) == ["7", "7", "7"]
    assert {"tons", "no"} <= set(found.beside)


def test_what_stands_around_the_numbers_of_headings_is_not_asked_for(tmp_path: Path) -> None:
    document = docx.Document()
    document.add_heading("Scope")
    numbering = document.part.numbering_part.element
    numbering.find(f".//{qn('w:lvlText')}").set(qn("w:val"), "Section %1")
    document.save(str(tmp_path / "a.docx"))
    found = runs(tmp_path / "a.docx", "docx")
    assert found is not None
    assert words(found.text) == ["scope"]
    assert "section" in words("\n".join(found.beside))


def test_a_broken_file_has_no_runs(tmp_path: Path) -> None:
    (tmp_path / "a.docx").write_bytes(b"PK no archive")
    assert runs(tmp_path / "a.docx", "docx") is None
    assert runs(tmp_path / "a.doc", "doc") is None


def test_written_truth_has_merged_cells_once(tmp_path: Path) -> None:
    folder = tmp_path / "docling-project+docling" / "tests" / "html"
    (folder / "sources").mkdir(parents=True)
    (folder / "groundtruth").mkdir()
    (folder / "sources" / "a.html").write_text(
        "<table><tr><td colspan=2>wide</td></tr><tr><td>1</td><td>2</td></tr></table>"
    )
    (folder / "groundtruth" / "a.html.md").write_text("| wide | wide |\n| - | - |\n| 1 | 2 |\n")
    cell = {"start_row_offset_idx": 0, "end_row_offset_idx": 1, "start_col_offset_idx": 0}
    grid = {"num_rows": 2, "num_cols": 2}
    grid["table_cells"] = [{**cell, "end_col_offset_idx": 2, "text": "wide"}]
    (folder / "groundtruth" / "a.html.json").write_text(json.dumps({"tables": [{"data": grid}]}))
    (found,) = cases(tmp_path, lambda *_: None)
    assert isinstance(found, Case)
    assert found.truth.kind == "docling"
    assert words(found.truth.text) == ["wide", "1", "2"]
    assert found.truth.cells == ("wide", "1", "2")


def test_files_without_truth_are_named_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_bytes(b"%PDF-1.4")
    (tmp_path / "b.html").write_text("<p></p>")
    (tmp_path / "c.bin").write_bytes(b"\0")
    found = list(cases(tmp_path, lambda *_: None))
    assert [(one.name, type(one)) for one in found] == [("a.pdf", Excluded), ("b.html", Excluded)]
    assert all(isinstance(one, Excluded) and one.reason for one in found)
