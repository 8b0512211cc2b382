"""HTML: what a reader sees, in blocks and table rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from lxml import etree, html

from emily.errors import EmptyDocument, ReadingError
from emily.reading.encodings import decode_text
from emily.reading.pages import Page, Table
from emily.reading.source import Draft, Source, check_length, single_page, tidy

__all__ = ["html_text", "read_html"]

_HIDDEN = frozenset({
    "script", "style", "template", "noscript", "head", "title", "meta", "link", "object", "svg",
    "math", "iframe", "canvas", "audio", "video", "datalist", "nav",
})  # fmt: skip
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3",
    "h4", "h5", "h6", "header", "hgroup", "html", "legend", "main", "ol", "p", "pre", "section",
    "summary", "table", "tbody", "tfoot", "thead", "tr", "ul", "caption", "hr",
})  # fmt: skip
_LINES = frozenset({"br", "li", "dt", "dd", "tr", "option"})
_CELLS = frozenset({"td", "th"})
_META = re.compile(
    rb"""<meta[^>]+charset\s*=\s*["']?\s*([a-z0-9_.:-]+)|<\?xml[^>]+encoding\s*=\s*["']([^"']+)""",
    re.IGNORECASE,
)
_NO_DISPLAY = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_BLANKS = re.compile(r"[ \t\n\r\f\xa0]+")


def read_html(source: Source) -> Draft:
    """A web page: its visible text. Scripts, styles and navigation menus are left out."""
    data = source.path.read_bytes()
    check_length(len(data) // 4)
    match = _META.search(data[:8192])
    declared = (match[1] or match[2]).decode("ascii", "replace") if match else None
    markup, warning = decode_text(data, declared)
    text, tables, title = html_text(markup)
    check_length(len(text))
    if not text.strip():
        raise EmptyDocument("the page has no visible text")
    page = Page(1, text, tables=tables)
    return Draft("html", "none", single_page(page), title, [warning] if warning else [])


def html_text(
    markup: str, picture: Callable[[str], list[str]] | None = None
) -> tuple[str, tuple[Table, ...], str | None]:
    """The visible text of HTML, with a blank line between blocks and one line per table row.

    Args:
        markup: the page.
        picture: gives the lines that stand in place of a picture, by the value of its ``src``;
            without it pictures are passed over.

    Returns:
        The text, the tables in it, and the content of ``<title>``.

    Raises:
        ReadingError: not even a forgiving parser makes a tree of it.
    """
    parser = html.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True)
    markup = markup.replace("\0", "")
    if not markup.strip():
        return "", (), None
    try:
        root = html.document_fromstring(markup.encode(errors="replace"), parser=parser)
    except (etree.LxmlError, ValueError) as error:
        raise ReadingError(f"the HTML cannot be parsed: {error}") from None
    if any("depth" in str(entry.message).lower() for entry in parser.error_log):
        raise ReadingError("the HTML is nested too deeply: more than 2,000 elements in one another")
    named = root.find(".//title")
    title = (
        _BLANKS.sub(" ", "".join(str(piece) for piece in named.itertext())).strip()
        if named is not None
        else ""
    )
    writer = _Writer(picture)
    for event, element in _walk(root):
        writer.take(event, element)
    text, tables = writer.finish()
    return text, tables, tidy(title) or None


def _walk(root: html.HtmlElement) -> Iterator[tuple[str, html.HtmlElement]]:
    """Start, end and tail of each visible element, without recursion: depth is no matter."""
    stack: list[tuple[str, html.HtmlElement]] = [("start", root)]
    while stack:
        event, element = stack.pop()
        if event == "start":
            if not isinstance(element.tag, str) or _is_hidden(element):
                continue
            yield "start", element
            stack.append(("end", element))
            for child in reversed(element):
                stack.append(("tail", child))
                stack.append(("start", child))
        else:
            yield event, element


def _is_hidden(element: html.HtmlElement) -> bool:
    return (
        element.tag in _HIDDEN
        or element.get("hidden") is not None
        or (element.tag == "input" and element.get("type") == "hidden")
        or bool(_NO_DISPLAY.search(element.get("style") or ""))
    )


class _Writer:
    """Builds lines out of the events of a tree; tables inside of table cells stay in their cell."""

    def __init__(self, picture: Callable[[str], list[str]] | None = None) -> None:
        self.picture = picture
        self.lines: list[str] = []
        self.line: list[str] = []
        self.tables: list[Table] = []
        self.pre = 0
        self.depth = 0  # of tables
        self.cells: list[str] | None = None  # of the row being read
        self.rows: list[tuple[int, int]] = []
        self.header: tuple[int, int] | None = None
        self.heads = False

    def take(self, event: str, element: html.HtmlElement) -> None:
        """One event of the walk."""
        tag = str(element.tag)
        if event == "tail":
            self._text(element.tail)
        elif event == "start":
            self._open(tag)
            self._text(element.text)
            if tag == "img" and element.get("alt"):
                self._text(f" {element.get('alt')} ")
            if tag == "img" and self.picture and (src := element.get("src")):
                self._picture(self.picture(src))
        else:
            self._close(tag)

    def _open(self, tag: str) -> None:
        if tag == "table":
            self.depth += 1
            if self.depth == 1:
                self._block()
                self.rows, self.header = [], None
        elif tag == "pre":
            self._block()
            self.pre += 1
        elif self.depth == 1 and tag == "tr":
            self._end_line()
            self.cells, self.heads = [], True
        elif self.depth == 1 and tag in _CELLS and self.cells is not None:
            self._end_cell(last=False)
            self.heads = self.heads and tag == "th"
        elif self.cells is not None and (tag in _BLOCKS or tag in _LINES or tag in _CELLS):
            self.line.append(" ")
        elif tag in _BLOCKS:
            self._block()
        elif tag in _LINES:
            self._end_line()
        if tag == "li" and self.cells is None:
            self.line.append("- ")

    def _close(self, tag: str) -> None:
        if tag == "table":
            self.depth -= 1
            if self.depth == 0:
                self._end_row()
                if len(self.rows) + (self.header is not None) > 1:
                    self.tables.append(Table(self.header, tuple(self.rows)))
                self._block()
        elif tag == "pre":
            self._block()
            self.pre -= 1
        elif self.depth == 1 and tag == "tr":
            self._end_row()
        elif self.depth == 1 and tag in _CELLS and self.cells is not None:
            self._end_cell(last=True)
        elif self.cells is not None and (tag in _BLOCKS or tag in _LINES):
            self.line.append(" ")
        elif tag in _BLOCKS:
            self._block()
        elif tag in _LINES and tag != "br":
            self._end_line()

    def _text(self, text: str | None) -> None:
        if not text:
            return
        if self.pre and self.cells is None:
            first, *rest = tidy(text).split("\n")
            self.line.append(first)
            for line in rest:
                self._end_line(keep=True)
                self.line.append(line)
        else:
            self.line.append(_BLANKS.sub(" ", text))

    def _picture(self, lines: list[str]) -> None:
        if not lines:
            return
        if self.cells is not None:
            self.line.append(f" {' '.join(lines)} ")
        else:
            self._block()
            self.lines += [*lines, ""]

    def _take_line(self) -> str:
        text = "".join(self.line)
        self.line = []
        return text.rstrip() if self.pre else re.sub(" {2,}", " ", text).strip()

    def _end_line(self, *, keep: bool = False) -> None:
        text = self._take_line()
        if text.strip("- ") or keep:
            self.lines += tidy(text).split("\n")

    def _block(self) -> None:
        self._end_line()
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def _end_cell(self, *, last: bool) -> None:
        text = self._take_line()
        if self.cells is not None and (text or last):
            self.cells.append(tidy(text).replace("\n", " "))

    def _end_row(self) -> None:
        if self.cells is None:
            self._end_line()
            return
        self._end_cell(last=False)
        if any(self.cells):
            at = len(self.lines)
            self.lines.append(" | ".join(self.cells))
            if self.heads and not self.rows and self.header is None:
                self.header = (at, at)
            else:
                self.rows.append((at, at))
        self.cells = None

    def finish(self) -> tuple[str, tuple[Table, ...]]:
        """All text, without blank lines at its end."""
        self._end_row()
        while self.lines and not self.lines[-1]:
            self.lines.pop()
        return "\n".join(self.lines), tuple(self.tables)
