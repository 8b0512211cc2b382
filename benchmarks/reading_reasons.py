"""Why another reader is better on a file, where it is; the benchmark groups by it.

A reason belongs to files by the end of their path. What has none is shown as not explained.
"""

from __future__ import annotations

__all__ = ["REASONS", "reason_of"]

UNEXPLAINED = "Not explained"

REASONS: dict[str, tuple[str, ...]] = {
    "Emily is behind: text that she loses or has wrong": (
        "eml/fake-email-utf-16-be.eml",
        "eml/fake-email-utf-16-le.eml",
        "2023-half-year-analyses-by-segment.xlsx",
        "015-arabic/habibi.pdf",
    ),
    "Emily shows more than the text: labels, alternative texts, counted numbers, zones of times": (
        "unit_test_formatting.docx",
        "language-docs/eng_spa_mult.xml",
        "wiki_duck.html",
        "test_wikipedia.html",
        "xlsx_comments.xlsx",
        "test-iso-8601-date.eml",
        "rtf/footnote.rtf",
        "invalid_subject_characters.eml",
        "content_transfer_encoding_with_8bits.eml",
        "content_transfer_encoding_plain.eml",
        "pntd.0008301.nxml",
    ),
    "Cells: Emily shows a number as its sheet formats it, the truth has it raw": (
        "xlsx_07_gap_tolerance_.xlsx",
    ),
    "Formulas: Emily writes them on one line, the others leave them out": (
        "sources/equations.docx",
        "table_with_equations.docx",
        "omml_multi_equation_paragraph.docx",
    ),
    "Shapes of a slide: Emily reads them by their place, the truth has the order of the file": (
        "test_slides.pptx",
        "science-exploration-1p.pptx",
        "layouts/deleted.pptx",
        "layouts/moved.pptx",
        "comparison/one-column/output.pptx",
        "comparison/one-column/templated.pptx",
    ),
    "Emily leaves out on purpose: hidden text, navigation, what repeats": (
        "hiddenTextByStyle.odt",
        "test_rss.xml",
        "elife-56337.txt",
    ),
    "Records of JSON: Emily names the keys once above a table, each beside its like": (
        "arbitrary-records.json",
        "arbitrary-records.ndjson",
        "simple.json",
        "simple.ndjson",
    ),
    "XML: Emily orders title, authors, citations and tables, a dump leaves them where they stand": (
        "ipa20110039701.xml",
        "ipg07997973.xml",
        "ipg08672134.xml",
        "ipgD0701016.xml",
        "pa20010031492.xml",
        "pg06442728.xml",
        "grve_10q_htm.xml",
    ),
    "The truth is the other reader's own output, or its project's reading of the file": (
        "movie-theater-booking-2024.pdf",
        "test_files/test.pdf",
        "lists_multiple_initial.docx",
        "test/html-reader.html",
        "pptx_chart.pptx",
        "odt/referenceToText.odt",
        "html_code_snippets.html",
        "epub/wasteland.epub",
        "docx_rich_cells.docx",
        "mlac-20251231.xml",
    ),
    "A table in a cell of another: Markdown has no place for its cells": (
        "example-docs/docx-tables.docx",
    ),
    "PDF whose lines can be ordered in more ways than one, or with notes' marks at words": (
        "odf_presentation_01.odp.pdf",
        "text_document_03.odt.pdf",
        "code_and_formula.pdf",
        "multi_page.pdf",
        "normal_4pages.pdf",
        "redp5110_sampled.pdf",
        "right_to_left_03.pdf",
        "table_mislabeled_as_picture.pdf",
    ),
    "Mail whose bytes do not fit its charset, or whose head is broken: the truth is a guess": (
        "attachment_pdf_non_ascii.eml",
        "attachment_pdf_non_ascii_lf.eml",
        "content_transfer_encoding_7-bit.eml",
        "raw_email5.eml",
        "raw_email6.eml",
        "raw_email_incorrect_header.eml",
    ),
}


def reason_of(name: str) -> str:
    """The reason for a file, by its path in the folder of files."""
    for reason, ends in REASONS.items():
        if name.endswith(ends):
            return reason
    return UNEXPLAINED
