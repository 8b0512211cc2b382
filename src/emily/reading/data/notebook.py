"""Jupyter notebooks: cells in order, with their code and what it gave."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import Any

from emily.errors import EmptyDocument, ReadingError
from emily.reading.encodings import decode_text
from emily.reading.pages import Facts, Page, Table
from emily.reading.source import Draft, Source, check_length, single_page, tidy
from emily.reading.text import markdown_tables
from emily.reading.web.page import html_text

__all__ = ["read_notebook"]

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[@-_]")
_OVERWRITTEN = re.compile(r"(?m)^.*\r(?!\n|$)")
_ATTACHED = re.compile(r"!\[[^\]\n]*\]\(attachment:([^)\n]+)\)")
_EMBEDDED = re.compile(r"!\[([^\]\n]*)\]\(data:image/[a-z+.-]+;base64,[A-Za-z0-9+/=\s]+\)")
_HEADING = re.compile(r"(?m)^ {0,3}#\s+(.+?)(?:\s+#+)?\s*$")
_FIGURE = re.compile(r"<(?:Figure size|matplotlib\.|IPython\.|AxesSubplot|Axes:)[^>]*>")
_PICTURES = ("image/png", "image/jpeg", "png", "jpeg")  # the names of formats 4 and 3
_MOST_PICTURE = 64 << 20


def read_notebook(source: Source) -> Draft:
    """A notebook of format 3 or 4.

    Markdown stands as it is, code and what it printed between fences; tables that were shown as
    HTML are tables, pictures are read. The title is that of the metadata, else the first heading
    of level one.

    Raises:
        EmptyDocument: no cell holds anything.
        ReadingError: it is not a notebook.
    """
    data = source.path.read_bytes()
    check_length(len(data) // 64)  # most of a large notebook is pictures
    text, warning = decode_text(data)
    try:
        book = json.loads(text, strict=False)
    except ValueError as error:
        raise ReadingError(f"the notebook is not valid JSON: {error}") from None
    except RecursionError:
        raise ReadingError("the notebook is nested too deeply") from None
    if not isinstance(book, dict):
        raise ReadingError("the notebook is not a JSON object")
    cells = _list(book.get("cells"))
    for sheet in _list(book.get("worksheets")):
        cells += _list(sheet.get("cells")) if isinstance(sheet, dict) else []
    metadata = _dict(book.get("metadata"))
    writer = _Writer(source, _language(metadata))
    for cell in cells:
        if isinstance(cell, dict):
            writer.cell(cell)
    found = writer.finish()
    check_length(len(found))
    if not found.strip():
        raise EmptyDocument("the notebook has no cell with anything in it")
    tables = sorted(
        [*markdown_tables(found), *writer.tables], key=lambda table: table.rows[:1] or ((0, 0),)
    )
    page = Page(1, found, tables=_apart(tables), pictures=source.pictures.on_page(1))
    title = metadata.get("title") or metadata.get("name") or writer.title
    draft = Draft("notebook", "none", single_page(page), None, [warning] if warning else [])
    draft.title = " ".join(tidy(str(title)).split()) or None if title else None
    names = [_dict(author).get("name") for author in _list(metadata.get("authors"))]
    author = ", ".join(str(name) for name in names if name)
    draft.facts = Facts(author=tidy(author) or None)
    return draft


def _language(metadata: dict[str, Any]) -> str:
    """The language of the code, for its fences."""
    for part, key in (("language_info", "name"), ("kernelspec", "language")):
        name = _dict(metadata.get(part)).get(key)
        if isinstance(name, str) and re.fullmatch(r"[\w+#.-]{1,20}", name):
            return name
    return ""


class _Writer:
    def __init__(self, source: Source, language: str) -> None:
        self._source = source
        self._language = language
        self._lines: list[str] = []
        self.tables: list[Table] = []
        self.title: str | None = None

    def cell(self, cell: dict[str, Any]) -> None:
        """One cell with its outputs."""
        kind = cell.get("cell_type")
        written = _joined(cell.get("source", cell.get("input")))
        if kind == "heading":  # format 3
            level = cell.get("level")
            mark = "#" * (level if isinstance(level, int) and 1 <= level <= 6 else 1)
            written = f"{mark} {' '.join(written.split())}"
        if kind == "code":
            self._fence(tidy(written), self._language)
            for output in _list(cell.get("outputs")):
                if isinstance(output, dict):
                    self._output(output)
            return
        self._markdown(written, _dict(cell.get("attachments")))

    def _markdown(self, text: str, attachments: dict[str, Any]) -> None:
        text = _EMBEDDED.sub(r"\1", tidy(text))
        if self.title is None and (match := _HEADING.search(text)):
            self.title = match[1]
        self._add(_ATTACHED.sub("", text).split("\n"))
        for name in dict.fromkeys(_ATTACHED.findall(text)):
            self._picture(_dict(attachments.get(name)))

    def _output(self, output: dict[str, Any]) -> None:
        kind = output.get("output_type")
        if kind == "stream":
            self._fence(_printed(_joined(output.get("text"))))
        elif kind in {"error", "pyerr"}:
            self._fence(_printed(f"{output.get('ename', '')}: {output.get('evalue', '')}"))
        else:  # format 3 keeps what format 4 has in ``data`` in the output itself
            self._shown(_dict(output.get("data")) or output)

    def _shown(self, data: dict[str, Any]) -> None:
        """A result: its table, else its text; and its picture."""
        markup = _joined(data.get("text/html", data.get("html")))
        plain = _printed(_joined(data.get("text/plain", data.get("text"))))
        markdown = _joined(data.get("text/markdown"))
        if "<table" in markup.lower():
            self._html(markup)
        elif markdown.strip():
            self._add(tidy(markdown).split("\n"))
        elif plain.strip() and not _FIGURE.fullmatch(plain.strip()):
            self._fence(plain)
        elif markup.strip():
            self._html(markup)
        self._picture(data)

    def _html(self, markup: str) -> None:
        text, tables, _ = html_text(markup)
        at = self._add(text.split("\n"))
        for table in tables:
            header = table.header and (table.header[0] + at, table.header[1] + at)
            rows = tuple((first + at, last + at) for first, last in table.rows)
            self.tables.append(Table(header, rows))

    def _picture(self, data: dict[str, Any]) -> None:
        for name in _PICTURES:
            written = _joined(data.get(name))
            if written and len(written) <= _MOST_PICTURE:
                try:
                    picture = base64.b64decode(written)
                except (binascii.Error, ValueError):
                    continue
                self._add(self._source.pictures.block(picture, 1))
                return

    def _fence(self, text: str, language: str = "") -> None:
        text = text.strip("\n")
        if not text.strip():
            return
        mark = "```"
        while mark in text:
            mark += "`"
        self._add([f"{mark}{language}", *text.split("\n"), mark])

    def _add(self, lines: list[str]) -> int:
        """Add a block, a blank line before it; gives the number of its first line."""
        while lines and not lines[0].strip():
            lines = lines[1:]
        while lines and not lines[-1].strip():
            lines = lines[:-1]
        if lines and self._lines:
            self._lines.append("")
        at = len(self._lines)
        self._lines += lines
        return at

    def finish(self) -> str:
        """All text."""
        return "\n".join(self._lines)


def _apart(tables: list[Table]) -> tuple[Table, ...]:
    """Tables in order, none begun before the one above it ends: one found twice counts once."""
    kept: list[Table] = []
    end = -1
    for table in tables:
        spans = [*([table.header] if table.header else []), *table.rows]
        if spans and spans[0][0] > end:
            kept.append(table)
            end = spans[-1][1]
    return tuple(kept)


def _printed(text: str) -> str:
    """What a terminal shows: without colours, and of a progress bar its last state."""
    return tidy(_OVERWRITTEN.sub("", _ANSI.sub("", text)))


def _joined(value: object) -> str:
    if isinstance(value, list):
        value = "".join(str(piece) for piece in value)
    return value.replace("\0", "") if isinstance(value, str) else ""


def _list(value: object) -> list[Any]:
    return list(value) if isinstance(value, list) else []


def _dict(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
