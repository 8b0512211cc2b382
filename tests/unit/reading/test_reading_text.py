"""Text, Markdown and CSV keep their lines; tables are found in them."""

from __future__ import annotations

import csv
import datetime as dt
import io
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.errors import EmptyDocument, LimitExceeded
from emily.reading import source as source_module
from emily.reading.front_matter import front_matter
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


@pytest.mark.parametrize(
    ("text", "author", "date"),
    [
        ("---\nauthor: Ada Conti\ndate: 2026-03-04\n---\nx", "Ada Conti", dt.date(2026, 3, 4)),
        ("---\nauthors:\n  - name: Ada\n  - name: Bea\ncreated: 2026-01-02T10:00\n---\n", "Ada",
         dt.date(2026, 1, 2)),
        ('+++\nauthor = "Ada"\ndate = 2026-05-06\n+++\n', "Ada", dt.date(2026, 5, 6)),
        ("---\nauthor: [Ada, 'Bea']  # both\ndate: '2026-7-8'\n...\nx", "Ada, Bea",
         dt.date(2026, 7, 8)),
        ("---\nauthor: {broken: [\ndate: 2026-03-04\n---\nx", "{broken: [", dt.date(2026, 3, 4)),
        ("---\ndate: 2026-02-31\n---\nx", None, None),
        ("---\nauthor: Ada\nno end", None, None),
        ("author: Ada\ndate: 2026-03-04\n", None, None),
    ],
)  # fmt: skip
def test_facts_of_the_front_matter(
    source: Make, pages: Pages, text: str, author: str | None, date: dt.date | None
) -> None:
    draft = read_markdown(source(text.encode()))
    assert (draft.facts.author, draft.facts.date) == (author, date)
    assert draft.facts.date_source == ("metadata" if date else None)
    assert pages(draft)[0].text == text  # not a letter of the note is touched


@given(st.lists(st.text(st.characters(exclude_categories=("Cs",)), max_size=30), max_size=9))
def test_no_front_matter_fails(lines: list[str]) -> None:
    found = front_matter(["---", *lines, "---"])
    assert 2 <= found.lines <= len(lines) + 2


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


def test_a_csv_of_one_column_is_a_table() -> None:
    assert csv_tables("trade\nhotel\nbakery\n") == (Table((0, 0), ((1, 1), (2, 2))),)
    assert csv_tables("2031-04-05\n2031-04-06\n") == (Table(None, ((0, 0), (1, 1))),)
    assert csv_tables('name\n"two\nlines"\n') == (Table((0, 0), ((1, 2),)),)


def test_a_csv_of_one_row_has_no_table(source: Make, pages: Pages) -> None:
    assert csv_tables("a,b\n") == ()
    assert csv_tables("alone\n") == ()
    assert pages(read_csv(source(b"a\0,b\n1,2\n")))[0].text == "a\0, b\n1, 2\n"


ROWS = [["name", "sum"], ["Müller", "1,50"], ["Conti", "2,30"]]


@pytest.mark.parametrize("delimiter", [";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
def test_csv_in_every_encoding(source: Make, pages: Pages, delimiter: str, encoding: str) -> None:
    text = "\n".join(delimiter.join(row) for row in ROWS)
    draft = read_csv(source(text.encode(encoding)))
    (page,) = pages(draft)
    assert page.text == text
    assert page.tables == (Table((0, 0), ((1, 1), (2, 2))),)
    assert bool(draft.warnings) == (encoding == "cp1252")  # an encoding that was assumed is said


@pytest.mark.parametrize(
    ("text", "table"),
    [
        ('a;b\n"two\nlines";c\nd;e\n', Table((0, 0), ((1, 2), (3, 3)))),
        ('a\tb\n1\t"x\n\ny"\n2\tz\n', Table((0, 0), ((1, 3), (4, 4)))),
        ('"the\nname",b\nc,d\n', Table((0, 1), ((2, 2),))),
        ('a;b\r\n"two\r\nlines";c\r\n', Table((0, 0), ((1, 2),))),
    ],
)
def test_a_quoted_line_break_stays_in_its_row(
    source: Make, pages: Pages, text: str, table: Table
) -> None:
    assert pages(read_csv(source(text.encode())))[0].tables == (table,)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("名前;金額\nりんご;100\nなし;200\n", "cp932"),
        ("これはメモです。\n会議は月曜日。\n", "cp932"),
        ("請求書の番号は十二です。\nありがとうございます。\n", "cp932"),
        ("perché no?\nl’età\n", "cp1252"),
        ("Straße – 12 €\n", "cp1252"),
        ("“quoted” – déjà vu\n", "cp1252"),
    ],
)
def test_encodings_before_unicode(source: Make, pages: Pages, text: str, encoding: str) -> None:
    assert pages(read_text(source(text.encode(encoding))))[0].text == text


@pytest.mark.parametrize("before", [4096, 4097, 70_000])
@pytest.mark.parametrize("letter", ["é", "日", "€"])
def test_letters_far_behind_are_not_taken_for_ascii(
    source: Make, pages: Pages, before: int, letter: str
) -> None:
    text = ("plain words\n" * before)[:before] + letter
    draft = read_text(source(text.encode()))
    assert (pages(draft)[0].text, draft.warnings) == (text, [])


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"])
def test_a_byte_order_mark_is_no_letter(source: Make, pages: Pages, mark: bytes) -> None:
    encoding = {b"\xef\xbb\xbf": "utf-8", b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}
    content = mark + "# perché\n".encode(encoding[mark])
    assert pages(read_markdown(source(content)))[0].text == "# perché\n"
