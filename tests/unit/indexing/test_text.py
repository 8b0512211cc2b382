import pytest

from emily.indexing.text import PAGE_BREAK, DocumentText
from emily.reading.pages import Page, Reading, Table


def document(*texts: str, **page: object) -> DocumentText:
    pages = tuple(Page(at, text, **page) for at, text in enumerate(texts, start=1))  # type: ignore[arg-type]
    return DocumentText.from_reading(Reading("text", pages, "pages"))


def test_pages_are_joined_and_keep_their_spans() -> None:
    text = document("uno  ", "", "tre")
    assert text.text == "uno" + PAGE_BREAK + PAGE_BREAK + "tre"
    assert [text.text[page.start : page.end] for page in text.pages] == ["uno", "", "tre"]
    assert [page.number for page in text.pages] == [1, 2, 3]


def test_route_and_warning_are_kept() -> None:
    pages = (Page(1, "", "unread", warning="Page 1 could not be read."),)
    text = DocumentText.from_reading(Reading("pdf", pages, "pages"))
    assert (text.pages[0].route, text.pages[0].warning) == ("unread", "Page 1 could not be read.")
    assert text.citation == "pages"


def test_pages_of_a_span() -> None:
    text = document("uno", "due", "tre")
    at = text.text.index
    assert text.pages_of(at("due"), at("due") + 3) == (2, 2)
    assert text.pages_of(0, len(text.text)) == (1, 3)
    assert text.pages_of(3, 5) == (1, 1)
    assert text.pages_of(at("tre"), at("tre")) == (3, 3)


def test_lines_of_a_span_count_from_one() -> None:
    text = document("a\nb\n\nd\ne")
    at = text.text.index
    assert text.lines_of(0, 1) == (1, 1)
    assert text.lines_of(at("b"), at("d") + 1) == (2, 4)
    assert text.lines_of(at("b"), at("b") + 2) == (2, 2)


def test_tables_become_offsets_in_the_whole_text() -> None:
    table = Table(header=(1, 1), rows=((2, 2), (3, 4)))
    pages = (Page(1, "prima"), Page(2, "titolo \nA | B\n1 | 2\n3 | 4\n  segue", tables=(table,)))
    text = DocumentText.from_reading(Reading("docx", pages, "pages"))
    (span,) = text.tables
    assert span.header is not None
    assert text.text[slice(*span.header)] == "A | B"
    assert [text.text[slice(*row)] for row in span.rows] == ["1 | 2", "3 | 4\n  segue"]
    assert text.text[span.start : span.end] == "A | B\n1 | 2\n3 | 4\n  segue"


def test_a_table_outside_its_page_is_an_error() -> None:
    pages = (Page(1, "una riga", tables=(Table(None, ((0, 3),)),)),)
    with pytest.raises(ValueError, match="lines 0 to 0, but a table row is at lines 0 to 3"):
        DocumentText.from_reading(Reading("docx", pages, "pages"))
