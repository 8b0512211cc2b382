"""Text, Markdown and CSV keep their lines; tables are found in them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.errors import EmptyDocument, LimitExceeded
from emily.reading import source as source_module
from emily.reading.pages import Page, Table
from emily.reading.source import Draft, Source
from emily.reading.text import csv_tables, markdown_tables, read_csv, read_markdown, read_text

Make = Callable[..., Source]
Pages = Callable[[Draft], list[Page]]


def test_text_is_kept_line_by_line(source: Make, pages: Pages) -> None:
    draft = read_text(source(b"one\r\n\r\n  two\rthree \n"))
    assert pages(draft)[0].text == "one\n\n  two\nthree \n"
    assert draft.citation == "lines"


def test_blanks_are_empty(source: Make) -> None:
    with pytest.raises(EmptyDocument):
        read_text(source(" \n\ufeff\u200b".encode()))


def test_too_much_text_is_refused(source: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_module, "MOST_CHARACTERS", 10)
    with pytest.raises(LimitExceeded, match="11 characters of text or more; at most 10 are read"):
        read_text(source(b"x" * 11))


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("---\ntitle: 2024-06-01\n---\n# Other", "2024-06-01"),
        ("---\ntitle: 'Quoted'\n---\n", "Quoted"),
        ("---\na rule, no front matter\n# Heading #\n", "Heading"),
        ("```\n# no heading\n```\n\n## C#\n# C#\n", "C#"),
        ("words", None),
    ],
)
def test_markdown_title(source: Make, text: str, title: str | None) -> None:
    assert read_markdown(source(text.encode())).title == title


def test_markdown_tables_are_found_outside_of_fences() -> None:
    text = (
        "| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | x \\| y |\n\n"
        "````\n| c | d |\n|---|---|\n```\n| 1 | 2 |\n````\n"
        "e | f\n--- | ---\n5 | 6\nwords\n"
        "one\n---\n"
    )
    assert markdown_tables(text) == (
        Table((0, 1), ((2, 2), (3, 3))),
        Table((11, 12), ((13, 13),)),
    )


CELL = st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1, max_size=8).map(
    lambda cell: "w" + cell.replace("|", "/").replace("\\", "/").replace("`", "'")
)


@given(st.lists(st.lists(CELL, min_size=3, max_size=3), min_size=1, max_size=8), st.integers(0, 3))
def test_every_row_of_a_pipe_table_has_its_line(rows: list[list[str]], before: int) -> None:
    lines = ["words"] * before + [""]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(before + 2, "| --- | --- | --- |")
    (table,) = markdown_tables("\n".join(lines))
    assert table.header == (before + 1, before + 2)
    assert len(table.rows) == len(rows) - 1
    for (begin, end), row in zip(table.rows, rows[1:], strict=True):
        assert begin == end
        assert lines[begin] == "| " + " | ".join(row) + " |"


FIELD = st.text(st.sampled_from('abcè ,;"\n'), max_size=12).map(lambda field: "x" + field)


@given(
    st.lists(st.lists(FIELD, min_size=2, max_size=2), min_size=2, max_size=12),
    st.sampled_from([",", ";", "\t", "|"]),
)
def test_csv_spans_cover_every_row_whole(rows: list[list[str]], delimiter: str) -> None:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n", quoting=csv.QUOTE_ALL)
    writer.writerows(rows)
    text = out.getvalue()
    lines = text.split("\n")
    (table,) = csv_tables(text)
    spans = ([table.header] if table.header else []) + list(table.rows)
    parsed = []
    for begin, end in spans:
        row = "\n".join(lines[begin : end + 1]) + "\n"
        parsed += list(csv.reader(io.StringIO(row, newline=""), delimiter=delimiter))
    assert parsed == rows


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiters_are_told_apart(delimiter: str) -> None:
    rows = [["name", "price, net"], ["apple", "1"], ["pear", "2"]]
    text = "\n".join(delimiter.join(f'"{c}"' if delimiter in c else c for c in row) for row in rows)
    (table,) = csv_tables(text)
    assert table == Table((0, 0), ((1, 1), (2, 2)))


def test_a_decimal_comma_is_no_delimiter() -> None:
    (table,) = csv_tables("voce;importo\npane;1,50\nlatte;2,30\n")
    assert table == Table((0, 0), ((1, 1), (2, 2)))


def test_a_preamble_is_text_above_the_table() -> None:
    text = "Conto 123\nEstratto;;;\n\nData;Valuta;Importo;Causale\n2026-01-02;x;3,00;y\n"
    (table,) = csv_tables(text)
    assert table == Table((3, 3), ((4, 4),))


def test_rows_of_numbers_have_no_header() -> None:
    (table,) = csv_tables("1,2\n3,4\n")
    assert table == Table(None, ((0, 0), (1, 1)))


def test_a_stray_quotation_mark_swallows_no_rows() -> None:
    text = 'a,b\n"x,1\n' + "y,2\n" * 300
    (table,) = csv_tables(text)
    assert len(table.rows) == 301


def test_a_csv_of_one_column_or_one_row_has_no_table(source: Make, pages: Pages) -> None:
    assert csv_tables("only\none\ncolumn\n") == ()
    assert csv_tables("a,b\n") == ()
    assert pages(read_csv(source(b"a\0,b\n1,2\n")))[0].text == "a\0, b\n1, 2\n"
