"""Plain text, Markdown and CSV: kept as they are, because their passages are cited by line."""

from __future__ import annotations

import csv
import itertools
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator

from emily.errors import EmptyDocument
from emily.reading.encodings import decode_text
from emily.reading.front_matter import FrontMatter, front_matter
from emily.reading.pages import Page, Table
from emily.reading.source import Draft, Source, check_length, single_page
from emily.reading.tables import is_value, table_of

__all__ = ["csv_tables", "markdown_tables", "read_csv", "read_markdown", "read_text"]

_BREAKS = re.compile("\r\n?")
_TIGHT_COMMA = re.compile(r",(?=\S)")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_DELIMITERS = re.compile(r"\s{0,3}\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
_HEADING = re.compile(r" {0,3}#\s+(.+?)(?:\s+#+)?\s*")
_SNIFFED = 200  # rows that decide on the delimiter
_LONGEST_ROW = 200  # lines; a quoted cell longer than that is a stray quotation mark


def read_text(source: Source) -> Draft:
    """Plain text, with its lines as they are."""
    text, warnings = _load(source)
    return Draft("text", "lines", single_page(Page(1, text)), None, warnings)


def read_markdown(source: Source) -> Draft:
    """Markdown, with its lines as they are; its pipe tables are marked."""
    text, warnings = _load(source)
    page = Page(1, text, tables=markdown_tables(text))
    lines = text.split("\n", 400)[:400]
    front = front_matter(lines)
    title = _markdown_title(lines, front)
    return Draft("markdown", "lines", single_page(page), title, warnings, front.facts)


def read_csv(source: Source) -> Draft:
    """Comma, semicolon, tab or bar separated values, with their lines as they are.

    A comma that separates is followed by a space: ``K014,5`` are two cells, ``1,5`` inside of
    quotation marks is one number.
    """
    text, warnings = _load(source)
    tables = csv_tables(text)
    if _delimiter(text) == ",":
        pieces = text.split('"')
        pieces[::2] = [_TIGHT_COMMA.sub(", ", piece) for piece in pieces[::2]]
        text = '"'.join(pieces)
    return Draft("csv", "lines", single_page(Page(1, text, tables=tables)), None, warnings)


def _load(source: Source) -> tuple[str, list[str]]:
    data = source.path.read_bytes()
    check_length(len(data) // 4)  # no encoding takes more than four bytes for a character
    text, warning = decode_text(data)
    check_length(len(text))
    text = _BREAKS.sub("\n", text)
    if not text.strip("\0 \t\n\x0b\x0c\ufeff\u200b\xa0"):
        raise EmptyDocument("the file holds only blanks")
    return text, [warning] if warning else []


def _markdown_title(lines: list[str], front: FrontMatter) -> str | None:
    """The title of the front matter, else the first heading of level one outside of fences."""
    if front.title is not None:
        return front.title
    for number, line in _outside_fences(lines):
        if number >= front.lines and (match := _HEADING.fullmatch(line)):
            return match[1]
    return None


def _outside_fences(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without those of fenced code."""
    fence = ""
    for number, line in enumerate(lines):
        mark = line.lstrip(" ")[:3]
        match = _FENCE.fullmatch(line) if mark in {"```", "~~~"} else None
        if fence:
            closes = match and match[1].startswith(fence) and not match[2].strip()
            fence = "" if closes else fence
        elif match and not (match[1][0] == "`" and "`" in match[2]):
            fence = match[1]
        else:
            yield number, line


def markdown_tables(text: str) -> tuple[Table, ...]:
    """Where a Markdown text holds pipe tables, fenced code left out.

    The header's span takes in the line of dashes below it. A table ends at a blank line or at
    the first line without a bar.
    """
    if "|" not in text:
        return ()
    tables = []
    lines = list(_outside_fences(text.split("\n")))
    at = 0
    while at + 1 < len(lines):
        (number, line), (below, dashes) = lines[at], lines[at + 1]
        at += 1
        if "|" not in line or below != number + 1 or "-" not in dashes:
            continue
        if not _DELIMITERS.fullmatch(dashes) or _cells(line) != _cells(dashes):
            continue
        at += 1
        rows = []
        while at < len(lines) and lines[at][0] == below + 1 and "|" in lines[at][1]:
            below = lines[at][0]
            rows.append((below, below))
            at += 1
        tables.append(Table(header=(number, number + 1), rows=tuple(rows)))
    return tuple(tables)


def _cells(line: str) -> int:
    inner = line.replace("\\|", "").strip().removeprefix("|").removesuffix("|")
    return inner.count("|") + 1


def csv_tables(text: str) -> tuple[Table, ...]:
    """The one table of a CSV text: a row with quoted line breaks spans several lines.

    ``tables.table_of`` says which row is the header, and what stands above the table. A file
    without a separator is a column.
    """
    rows = _rows(text, _delimiter(text))
    spans = tuple(span for span, _ in rows)
    if len(rows) > 1 and all(len(cells) == 1 for _, cells in rows):
        if is_value(rows[0][1][0].strip()):
            return (Table(None, spans),)
        return (Table(spans[0], spans[1:]),)
    table = table_of(spans, [cells for _, cells in rows])
    return (table,) if table else ()


def _delimiter(text: str) -> str:
    """The separator under which most of the first rows have one same number of cells above one."""
    sample = text[:65_536]
    if len(text) > len(sample):
        sample = sample[: sample.rfind("\n") + 1] or sample
    best, best_score = ",", (False, 0.0, 0)
    for delimiter in ",;\t|":
        if delimiter not in sample:
            continue
        rows = _rows(sample, delimiter, _SNIFFED)
        widths = Counter(len(cells) for _, cells in rows if len(cells) > 1)
        if widths:
            width, times = widths.most_common(1)[0]
            score = (_is_quoted_soundly(sample, delimiter), round(times / len(rows), 1), width)
            if score > best_score:
                best, best_score = delimiter, score
    return best


def _is_quoted_soundly(sample: str, delimiter: str) -> bool:
    """Whether every closing quotation mark is followed by a separator or the end of the line."""
    lines = (line + "\n" for line in sample.split("\n"))
    try:
        for _ in itertools.islice(csv.reader(lines, delimiter=delimiter, strict=True), _SNIFFED):
            pass
    except csv.Error:
        return False
    return True


def _rows(
    text: str, delimiter: str, most: int | None = None
) -> list[tuple[tuple[int, int], list[str]]]:
    """Rows with something in them: the span of lines and the cells."""
    csv.field_size_limit(sys.maxsize)
    lines = text.split("\n")
    reader = csv.reader((line + "\n" for line in lines), delimiter=delimiter)
    rows: list[tuple[tuple[int, int], list[str]]] = []
    before = 0
    try:
        for cells in reader:
            if reader.line_num - before > _LONGEST_ROW:
                return _plain_rows(lines, delimiter)
            end = min(reader.line_num, len(lines))
            if any(cell.strip() for cell in cells):
                rows.append(((before, end - 1), cells))
            before = end
            if most is not None and len(rows) >= most:
                break
    except csv.Error:  # a NUL, for readers older than Python 3.11.4
        return _plain_rows(lines, delimiter)
    return rows


def _plain_rows(lines: list[str], delimiter: str) -> list[tuple[tuple[int, int], list[str]]]:
    """One row a line: what remains when quotation marks cannot be trusted."""
    return [((at, at), line.split(delimiter)) for at, line in enumerate(lines) if line.strip()]
