"""What the public files say: truth written down by their projects, else their own runs of text.

They lie in the folder ``files`` of ``EMILY_BENCH_DATA`` and are no part of the project. For a
file that somebody wrote the text of down, that is its truth: Docling's ground truth, Pandoc's
documents (``.native``, turned into Markdown by Pandoc), MarkItDown's expected outputs, the fields
of invoice2data, sources in TeX. A file that is the same document as another takes the other's
text; what is left takes its own runs of text (``reading_runs``).
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.reading_metrics import Truth, all_words, cells, normal, words
from benchmarks.reading_runs import Runs, runs

__all__ = ["FORMATS", "SOURCES", "Case", "Excluded", "cases", "files_folder", "format_of"]

SOURCES = {
    "docling": "ground truth of Docling (Markdown), merged cells once",
    "pandoc": "Pandoc's own document of the file (.native)",
    "markitdown": "expected output of MarkItDown",
    "tex": "the TeX source that it was made from, read by Pandoc",
    "sibling": "the same document in another format",
    "fields": "fields of invoice2data: recall only",
    "ocr": "text written down for OCR",
    "runs": "the file's own runs of text",
}

_FORMATS = {
    "docx": {".docx", ".docm"}, "pptx": {".pptx", ".pptm"}, "xlsx": {".xlsx", ".xlsm"},
    "doc": {".doc"}, "ppt": {".ppt"}, "xls": {".xls"}, "odt": {".odt"}, "ods": {".ods"},
    "odp": {".odp"}, "rtf": {".rtf"}, "epub": {".epub"}, "html": {".html", ".htm"},
    "pdf": {".pdf"}, "eml": {".eml"}, "msg": {".msg"}, "csv": {".csv", ".tsv"},
    "md": {".md", ".markdown"}, "xml": {".xml", ".nxml"}, "json": {".json", ".ndjson"},
    "ipynb": {".ipynb"}, "txt": {".txt"}, "image": {".png", ".jpg", ".jpeg", ".tif", ".tiff"},
}  # fmt: skip
_BY_SUFFIX = {suffix: name for name, suffixes in _FORMATS.items() for suffix in suffixes}
FORMATS = tuple(_FORMATS)
"""The formats that are compared."""

_DOCLING = "docling-project+docling"
_PANDOC = "jgm+pandoc"
_UNSTRUCTURED = "Unstructured-IO+unstructured"
_MARKITDOWN = "microsoft+markitdown"
# Not documents, but what tests expect, say or are set up with.
_NO_DOCUMENT = re.compile(
    r"/groundtruth/|/test_evaluate_files/|/expected_outputs/|/templates/|/compare/.*\.json$|"
    r"/custom/.*\.json$|/_SOURCE\.txt$|taxonomy/|/expanded_|/extracted-|/snippets/|"
    r"/test/(?:odt/markdown|fb2)/|\.source\.txt$|requirements\.txt$|tesseract-ocr\+test/.*\.txt$|"
    r"/resources/linn\.txt$"
)
# Why a truth is not the file's text; by the end of the path.
_EXCLUDED = {
    **dict.fromkeys(
        (
            "attachment_pdf_non_ascii.eml",
            "attachment_pdf_non_ascii_lf.eml",
            "content_transfer_encoding_7-bit.eml",
        ),
        "bytes beyond the charset that it declares: what they mean cannot be known",
    ),
    "026-latex-multicolumn/multicolumn.pdf": "its TeX makes the text by a command",
    "content_transfer_encoding_empty.eml": "broken encoding: what it says cannot be known",
}
# Files whose written truth is evidently not their text, so that their own runs are the truth.
_BY_RUNS = {
    "xlsx_comments.xlsx": "Docling writes labels and times of its own around comments",
    "powerpoint_comments.pptx": "Docling writes labels and times of its own around comments",
    "sources/wiki_duck.html": "Docling takes the site's navigation for its text",
    "sources/formatting.html": "Docling sets subscripts apart as words",
    "docx/comments.docx": "Pandoc was told to put comments into the text",
    "docx/golden/comments.docx": "Pandoc was told to put comments into the text",
    "omml_func_log.docx": "Docling's formula has names of XML elements in it",
    "omml_multi_equation_paragraph.docx": "Docling's formula has names of XML elements in it",
}
# The same document, by the end of the path: where its text stands.
_SAME = {
    **{
        f"language-docs/eng_spa_mult.{suffix}": "eng_spa_mult.txt"
        for suffix in ("doc", "docx", "eml", "epub", "html", "md", "odt", "ppt", "pptx", "rtf")
    },
    "example-docs/fake.doc": "fake.docx",
    "example-docs/simple.doc": "simple.docx",
    "example-docs/duplicate-paragraphs.doc": "duplicate-paragraphs.docx",
    "example-docs/fake-doc-emphasized-text.doc": "fake-doc-emphasized-text.docx",
    "example-docs/fake-power-point.ppt": "fake-power-point.pptx",
    "test_files/test.xls": "test.xlsx",
    "002-trivial-libre-office-writer/002-trivial-libre-office-writer.pdf": "source.odt",
    "odf/sources/odf_presentation_01.odp.pdf": "odf_presentation_01.odp",
    "odf/sources/odf_table_with_title_01.ods.pdf": "odf_table_with_title_01.ods",
    "odf/sources/text_document_01.odt.pdf": "text_document_01.odt",
    "odf/sources/text_document_03.odt.pdf": "text_document_03.odt",
    "012-libreoffice-form/libreoffice-form.pdf": "libreoffice-form.odt",
    "015-arabic/habibi.pdf": "habibi.html",
    "resources/tagged.pdf": "tagged.odt",
}
# Documents whose pages are pictures: only with OCR.
_SCANNED = re.compile(r"/resources/(?:linn|3small)\.(?:pdf|png)$|tesseract-ocr\+test/")

_SAME_WORDS = 0.98  # share above which the order of the file's own runs is right as well

ToMarkdown = Callable[[Path, str], str | None]
"""Pandoc: a file and its format in, GitHub's Markdown out; ``None`` where it cannot."""


@dataclass(frozen=True, slots=True)
class Case:
    """A file and what it says.

    Attributes:
        path: the file.
        name: its path in the folder of files.
        format: one of ``FORMATS``.
        truth: what it says.
    """

    path: Path
    name: str
    format: str
    truth: Truth


@dataclass(frozen=True, slots=True)
class Excluded:
    """A file that is not compared, and why."""

    name: str
    format: str
    reason: str


def files_folder() -> Path:
    """The folder of the public files.

    Raises:
        SystemExit: it is not there.
    """
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("EMILY_BENCH_DATA", root.parent / "shared" / "data")) / "files"
    if not folder.is_dir():
        raise SystemExit(
            f"The public files are not in {folder}. Set EMILY_BENCH_DATA to the folder that holds "
            "their folder 'files'."
        )
    return folder


def format_of(path: Path) -> str | None:
    """The format of a file by its suffix, if it is one that is compared."""
    return _BY_SUFFIX.get(path.suffix.lower())


def cases(
    folder: Path, to_markdown: ToMarkdown, *, ocr: bool = False, only: str | None = None
) -> Iterator[Case | Excluded]:
    """The files of the comparison, in order.

    Args:
        folder: of the files.
        to_markdown: turns Pandoc's documents and TeX into Markdown.
        ocr: whether pictures and scanned pages are compared.
        only: a format, for those alone.
    """
    for path in sorted(item for item in folder.rglob("*") if item.is_file()):
        name = path.relative_to(folder).as_posix()
        form = format_of(path)
        if form is None or _NO_DOCUMENT.search(name) or (only and form != only):
            continue
        scanned = form == "image" or _SCANNED.search(name) is not None
        if scanned and not ocr:
            continue
        if reason := next((text for end, text in _EXCLUDED.items() if name.endswith(end)), None):
            yield Excluded(name, form, reason)
            continue
        own = runs(path, form)
        found = _truth(path, name, form, own, to_markdown)
        if found is None:
            yield Excluded(name, form, "no truth: nobody wrote its text down")
        elif "\ufffd" in found.text:
            yield Excluded(name, form, "its truth has characters that could not be decoded")
        elif not words(found.text):
            yield Excluded(name, form, "its truth has no word")
        else:
            yield Case(path, name, form, found)


def _truth(
    path: Path, name: str, form: str, own: Runs | None, to_markdown: ToMarkdown
) -> Truth | None:
    by_runs = any(name.endswith(end) for end in _BY_RUNS)
    written = None if by_runs else _written_down(path, name, form, to_markdown)
    if written is None:
        return _of_runs(own, "runs") if own else None
    if own is None or not written.whole:
        return written
    # What the file holds and the truth lacks (page headers, notes) is not held against a tool.
    asked, held = Counter(words(written.text)), Counter(all_words(own.text))
    beside = (*written.beside, *own.beside, " ".join((held - asked).elements()))
    same = (asked & held).total() >= _SAME_WORDS * asked.total()
    also = own.text if same and held.total() <= asked.total() / _SAME_WORDS else None
    return dataclasses.replace(written, beside=beside, also=also)


def _of_runs(own: Runs, kind: str) -> Truth:
    return Truth(own.text, own.cells or None, own.beside, kind, own.also)


def _written_down(path: Path, name: str, form: str, to_markdown: ToMarkdown) -> Truth | None:
    for end, sibling in _SAME.items():
        if name.endswith(end):
            other = path.with_name(sibling)
            own = runs(other, format_of(other) or "")
            return _of_runs(own, "sibling") if own else None
    if name.startswith(_DOCLING):
        return _docling(path)
    if name.startswith(_PANDOC) and form != "txt":  # there it is a sample of Markdown
        native = _native(path)
        text = native and to_markdown(native, "native")
        return _markdown(text, "pandoc") if text else None
    if name.startswith(_MARKITDOWN):
        return _markitdown(path, form)
    if name.startswith("invoice-x+invoice2data") and form in ("pdf", "txt", "image"):
        return _fields(path.with_suffix(".json")) if form != "txt" else None
    if form == "pdf" and path.with_suffix(".tex").is_file():
        text = to_markdown(path.with_suffix(".tex"), "tex")
        return dataclasses.replace(_markdown(text, "tex"), cells=None) if text else None
    if _SCANNED.search(name):
        return _for_ocr(path)
    return None


def _markdown(text: str, kind: str) -> Truth:
    return Truth(text, tuple(cells(text)) or None, (), kind)


def _native(path: Path) -> Path | None:
    """Pandoc's document of a file, in the places where its tests keep them."""
    stem = path.stem
    folders = [path.parent, path.parent.parent, path.parent.parent / "native"]
    for folder in folders if path.suffix != ".pptx" else []:
        for end in ("", "_accept", "_minus", "_writer"):
            if (found := folder / f"{stem}{end}.native").is_file():
                return found
    if path.name in ("output.pptx", "templated.pptx"):
        found = path.with_name("input.native")
        return found if found.is_file() else None
    return None


def _markitdown(path: Path, form: str) -> Truth | None:
    expected = path.parent / "expected_outputs" / f"{path.stem}.md"
    if form != "pdf" or not expected.is_file():
        return None
    return _markdown(expected.read_text(encoding="utf-8"), "markitdown")


def _fields(path: Path) -> Truth | None:
    """What invoice2data reads in an invoice: what stands in it as it is given."""
    if not path.is_file():
        return None
    found = [
        value
        for record in json.loads(path.read_text(encoding="utf-8"))
        for key, value in record.items()
        if key in ("invoice_number", "vat", "partner_name", "iban") and isinstance(value, str)
    ]
    return Truth("\n".join(found), kind="fields", whole=False) if found else None


def _for_ocr(path: Path) -> Truth | None:
    stem = "phototest" if path.stem.startswith("phototest") else path.stem
    text = path.with_name(f"{stem}.txt")
    if not text.is_file():
        return None
    return Truth(text.read_text(encoding="utf-8", errors="replace"), kind="ocr")


# Docling


def _docling(path: Path) -> Truth | None:
    folder = path.parent.parent / "groundtruth"
    for name in (path.name, path.stem):
        if (found := folder / f"{name}.md").is_file():
            text = found.read_text(encoding="utf-8")
            record = folder / f"{name}.json"
            break
    else:
        return None
    data = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}
    once, repeats = _merged_once(text, data)
    beside = [" ".join(repeats)]
    for item in data.get("texts", ()):
        if item.get("content_layer", "body") != "body":  # page headers and the like
            beside.append(str(item.get("text", "")))
    return Truth(once, tuple(cells(once)) or None, tuple(beside), "docling")


def _merged_once(text: str, data: dict[str, Any]) -> tuple[str, list[str]]:
    """Docling's Markdown with the text of merged cells at their first place only.

    Returns:
        The text, and the repetitions that were taken out.
    """
    grids = defaultdict(list)
    for table in data.get("tables", ()):
        grid = table.get("data", {})
        grids[grid.get("num_rows"), grid.get("num_cols")].append(grid)
    lines = text.split("\n")
    repeats: list[str] = []
    start = 0
    while start < len(lines):
        if not lines[start].startswith("|"):
            start += 1
            continue
        end = start
        while end < len(lines) and lines[end].startswith("|"):
            end += 1
        rows = [at for at in range(start, end) if at != start + 1]
        table = [re.split(r"(?<!\\)\|", lines[at])[1:-1] for at in rows]
        for grid in grids[len(table), len(table[0])]:
            if _fits(grid, table):
                for row, column in _covered(grid):
                    if row >= len(table) or column >= len(table[row]):
                        continue  # a span beyond the table, as some files have
                    repeats.append(table[row][column])
                    table[row][column] = " "
                for at, row_cells in zip(rows, table, strict=True):
                    lines[at] = f"|{'|'.join(row_cells)}|"
                break
        start = end
    return "\n".join(lines), repeats


def _fits(grid: dict[str, Any], table: list[list[str]]) -> bool:
    return all(
        len(table) > cell["start_row_offset_idx"]
        and len(table[cell["start_row_offset_idx"]]) > cell["start_col_offset_idx"]
        and normal(table[cell["start_row_offset_idx"]][cell["start_col_offset_idx"]])
        == normal(cell["text"])
        for cell in grid.get("table_cells", ())
    )


def _covered(grid: dict[str, Any]) -> Iterator[tuple[int, int]]:
    for cell in grid.get("table_cells", ()):
        top, left = cell["start_row_offset_idx"], cell["start_col_offset_idx"]
        for row in range(top, cell["end_row_offset_idx"]):
            for column in range(left, cell["end_col_offset_idx"]):
                if (row, column) != (top, left):
                    yield row, column
