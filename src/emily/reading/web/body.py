"""The visible text of a web page as lines: headings, lists, tables, forms, pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from lxml import html

from emily.reading.pages import Table
from emily.reading.source import tidy
from emily.reading.tables import markdown_table, moved, nested_text
from emily.reading.web.tables import Grid, is_inline_row, is_layout

__all__ = ["HIDDEN", "BodyWriter", "walk"]

HIDDEN = frozenset({
    "script", "style", "template", "noscript", "head", "title", "meta", "link", "object",
    "canvas", "audio", "video", "datalist", "nav", "annotation", "annotation-xml", "defs",
    "symbol", "desc", "metadata", "rp",
})  # fmt: skip
_BLOCKS = frozenset({
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "dialog",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "h1", "h2", "h3",
    "h4", "h5", "h6", "header", "hgroup", "html", "legend", "main", "p", "pre", "section",
    "summary", "table", "tbody", "tfoot", "thead", "caption", "hr", "iframe", "svg",
})  # fmt: skip
_TIGHT = frozenset({"dt", "dd"})  # blocks that follow one another without a blank line
_LINES = frozenset({"br", "option", "tr"})
_APART = frozenset({"input", "select", "button", "label", "textarea", "img", "td", "th", "text"})
_CELLS = frozenset({"td", "th"})
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_TYPED = frozenset({
    "", "text", "email", "number", "date", "tel", "url", "search", "time", "month", "week",
    "datetime-local", "range", "color",
})  # fmt: skip
_NO_DISPLAY = re.compile(r"display\s*:\s*none|visibility\s*:\s*hidden", re.IGNORECASE)
_COOKIES = re.compile(
    r"\b(?:cookie|consent|gdpr)[-_ ]?(?:banner|notice|consent|bar|popup|modal|overlay|layer|"
    r"message)\b|\bonetrust-(?:banner|consent)|\bcookiebot",
    re.IGNORECASE,
)
_NEXT_CELL = "\x1f"  # between the cells of a layout's row; no text of a page holds it
_BLANKS = re.compile(r"[ \t\n\r\f\xa0]+")
_UNSEEN = re.compile("[\x1f\xad\u034f\u200b\u2060\ufeff]|\u200c(?=\\s|$)|(?<=\\s)\u200c")
_FILE_NAME = re.compile(r"\S+\.(?:png|jpe?g|gif|bmp|svg|webp|avif|ico)", re.IGNORECASE)
_BETWEEN = {
    "msup": "^", "msub": "_", "mfrac": "/", "munder": "_", "mover": "^",
    **dict.fromkeys(("mtable", "mtr", "mstack", "mlongdiv", "msgroup"), " "),
}  # fmt: skip
"""What stands between the parts of a formula's elements."""


def walk(
    root: html.HtmlElement, hidden: frozenset[str] = HIDDEN
) -> Iterator[tuple[str, html.HtmlElement]]:
    """Start, end and tail of each visible element, without recursion: depth is no matter."""
    stack: list[tuple[str, html.HtmlElement]] = [("start", root)]
    while stack:
        event, element = stack.pop()
        if event == "start":
            if not isinstance(element.tag, str) or _is_hidden(element, hidden):
                continue
            yield "start", element
            stack.append(("end", element))
            for child in reversed(element):
                stack.append(("tail", child))
                stack.append(("start", child))
        else:
            yield event, element


def _is_hidden(element: html.HtmlElement, hidden: frozenset[str]) -> bool:
    names = f"{element.get('id') or ''} {element.get('class') or ''}"
    if element.tag == "option":
        return _is_unchosen(element)
    parent = element.getparent()
    if parent is not None and parent.tag == "math":
        return True  # written as one formula
    return (
        element.tag in hidden
        or (element.get("hidden") is not None and element.get("hidden") != "until-found")
        or bool(_NO_DISPLAY.search(element.get("style") or ""))
        or "katex-html" in names  # the same formula again, letter by letter
        or (element.tag not in {"body", "html"} and bool(_COOKIES.search(names)))
    )


def _is_unchosen(option: html.HtmlElement) -> bool:
    """Whether another option of the same list is the chosen one."""
    if option.get("selected") is not None:
        return False
    choices = next(option.iterancestors("select", "datalist"), None)
    return choices is not None and any(
        other.get("selected") is not None for other in choices.iter("option")
    )


@dataclass(slots=True)
class _Listing:
    """A list that is open: how its items are counted."""

    ordered: bool
    form: str
    count: int

    def marker(self, value: str | None) -> str:
        if not self.ordered:
            return "- "
        self.count = _whole(value, self.count + 1)
        if self.form in {"a", "A"} and 0 < self.count <= 26:
            return f"{chr(ord(self.form) + self.count - 1)}. "
        return f"{self.count}. "


@dataclass(slots=True)
class _Open:
    """A table that is open: its cells so far, and the text of the one at hand."""

    grid: Grid = field(default_factory=Grid)
    pieces: list[str] | None = None
    cell: html.HtmlElement | None = None
    caption: list[str] = field(default_factory=list)


class BodyWriter:
    """Builds lines out of the events of a tree.

    Args:
        picture: gives the lines in place of a picture, by its ``src``.
        inner: the text of a page inside of the page.
    """

    def __init__(
        self,
        picture: Callable[[str], list[str]] | None,
        inner: Callable[[str], str],
    ) -> None:
        self.picture = picture
        self.inner = inner
        self.lines: list[str] = []
        self.tables: list[Table] = []
        self._line: list[str] = []
        self._pre = 0
        self._heading = 0
        self._open: list[_Open] = []
        self._layout: list[bool] = []  # of every table around, whether it merely places things
        self._rows: list[bool] = []  # of every row of a layout around, whether it is one line
        self._lists: list[_Listing] = []
        self._marker = ""
        self._behind: list[tuple[list[str], Table | None]] = []
        self._letters = 0

    def take(self, event: str, element: html.HtmlElement) -> None:
        """One event of the walk."""
        tag = str(element.tag)
        if event == "tail":
            self._text(element.tail)
        elif event == "start":
            self._start(tag, element)
            if tag == "pre" and element.text:
                self._text(element.text.removeprefix("\n"))
            elif tag not in {"iframe", "math"}:
                self._text(element.text)
        else:
            self._end(tag)

    @property
    def _cell(self) -> list[str] | None:
        return self._open[-1].pieces if self._open else None

    def _start(self, tag: str, element: html.HtmlElement) -> None:
        if tag == "table":
            self._layout.append(is_layout(element))
            if self._layout[-1]:
                self._block()
            else:
                if self._cell is None:
                    self._block()
                self._open.append(_Open())
        elif self._layout and not self._layout[-1] and self._in_table(tag, element):
            return
        elif tag in {"ul", "ol", "menu"}:
            self._end_line() if self._lists else self._block()
            ordered = tag == "ol"
            start = _whole(element.get("start"), 1) - 1
            self._lists.append(_Listing(ordered, element.get("type") or "1", start))
        elif tag == "li":
            self._end_line()
            listing = self._lists[-1] if self._lists else _Listing(False, "", 0)
            self._marker = listing.marker(element.get("value"))
            if self._cell is not None and listing.ordered:
                self._put(self._marker)
        elif tag in _HEADINGS and self._cell is None and not self._lists:
            self._block()
            self._heading = _HEADINGS[tag]
        elif tag == "pre":
            self._block()
            self._pre += 1
        elif tag == "tr" and self._layout:
            self._rows.append(is_inline_row(element))
            self._end_line()
        elif tag in _CELLS and self._rows:
            self._put(_NEXT_CELL) if self._rows[-1] else self._end_line()
        else:
            self._boundary(tag)
        self._special(tag, element)

    def _in_table(self, tag: str, element: html.HtmlElement) -> bool:
        """What belongs to the frame of a table and not to the text in it."""
        table = self._open[-1]
        if tag == "tr":
            self._end_cell()
            table.grid.row()
        elif tag in _CELLS:
            self._end_cell()
            table.pieces, table.cell = [], element
        elif tag == "caption":
            table.pieces, table.cell = table.caption, None
        else:
            return tag in {"tbody", "thead", "tfoot", "colgroup", "col"}
        return True

    def _special(self, tag: str, element: html.HtmlElement) -> None:
        """What is shown of elements that show something other than their text."""
        if tag == "img":
            self._image(element)
        elif tag == "input":
            kind = (element.get("type") or "").lower()
            if kind in {"checkbox", "radio"}:
                self._put("☒ " if element.get("checked") is not None else "☐ ")
            elif kind in _TYPED and element.get("value"):
                self._put(f" {element.get('value')} ")
        elif tag == "iframe" and element.get("srcdoc"):
            self._lines(self.inner(element.get("srcdoc") or "").split("\n"), None)
        elif tag == "math":
            self._put(_formula(element))

    def _image(self, element: html.HtmlElement) -> None:
        alternative = _BLANKS.sub(" ", element.get("alt") or "").strip()
        if alternative and not _FILE_NAME.fullmatch(alternative):
            self._put(f" {alternative} ")
        source = element.get("src")
        if self.picture is not None and source and (lines := self.picture(source)):
            if self._cell is None and not self._lists and not self._heading:
                self._block()
                self._lines(lines, None)
            else:
                self._behind.append((lines, None))

    def _end(self, tag: str) -> None:
        if tag == "table":
            if self._layout.pop():
                self._block()
            else:
                self._end_table()
        elif self._layout and not self._layout[-1] and tag in {*_CELLS, "tr", "caption"}:
            self._end_cell()
        elif tag in {"ul", "ol", "menu"}:
            self._end_line()
            if self._lists:
                self._lists.pop()
            if not self._lists:
                self._block()
        elif tag == "li":
            self._end_line()
            self._marker = ""
        elif tag in _HEADINGS and self._heading:
            self._end_heading()
        elif tag == "pre":
            self._block()
            self._pre -= 1
        elif tag == "tr" and self._rows:
            self._rows.pop()
            self._end_line()
        elif tag in _CELLS and self._rows:
            if not self._rows[-1]:
                self._end_line()
        elif tag != "br":
            self._boundary(tag)

    def _boundary(self, tag: str) -> None:
        if tag in _TIGHT:
            self._end_line()
        elif tag in _BLOCKS:
            self._block()
        elif tag in _LINES:
            self._end_line()
        elif tag in _APART:
            self._put(" ")

    def _text(self, text: str | None) -> None:
        if not text:
            return
        text = _UNSEEN.sub("", text)
        if self._pre and self._cell is None and not self._heading:
            first, *rest = tidy(text).split("\n")
            self._line.append(first)
            for line in rest:
                self._end_line(keep=True)
                self._line.append(line)
        else:
            self._put(_BLANKS.sub(" ", text))

    def _put(self, text: str) -> None:
        if self._open and self._cell is None:
            if text.strip():  # text between the rows of a table is shown before it
                self._open[-1].caption += [text, " "]
        else:
            pieces = self._cell
            (self._line if pieces is None else pieces).append(text)

    def _end_line(self, *, keep: bool = False) -> None:
        if self._cell is not None:
            self._put(" ")
            return
        if self._heading:
            self._line.append(" ")
            return
        text = "".join(self._line)
        self._line = []
        text = text.rstrip() if self._pre else re.sub(" {2,}", " ", text).strip()
        if _NEXT_CELL in text:
            cells = [cell.strip() for cell in text.split(_NEXT_CELL) if cell.strip()]
            text = f"| {' | '.join(cells)} |" if len(cells) > 1 else "".join(cells)
        if not text and not keep:
            return
        for line in tidy(text).split("\n"):
            if self._lists or self._marker:
                indent = "  " * max(0, len(self._lists) - 1)
                lead = self._marker or "  "
                self.lines.append(f"{indent}{lead}{line}")
                self._marker = ""
            else:
                self.lines.append(line)

    def _block(self) -> None:
        self._end_line()
        if self._cell is None and not self._heading and not self._lists:
            self._gap()
            if self._behind and not self._open:
                behind, self._behind = self._behind, []
                for lines, table in behind:
                    self._lines(lines, table)

    def _gap(self) -> None:
        if self.lines and self.lines[-1]:
            self.lines.append("")

    def _lines(self, lines: list[str], table: Table | None) -> None:
        """A finished block; inside of a cell it follows the table."""
        if self._open:
            self._behind.append((lines, table))
            return
        self._end_line()
        self._gap()
        if table is not None:
            self.tables.append(moved(table, len(self.lines)))
        self.lines += [*lines, ""]

    def _end_heading(self) -> None:
        level, self._heading = self._heading, 0
        text = " ".join(tidy("".join(self._line)).split())
        self._line = []
        if text:
            self._gap()
            self.lines += [f"{'#' * level} {text}", ""]
        self._block()

    def _end_cell(self) -> None:
        table = self._open[-1]
        if table.pieces is None:
            return
        if table.cell is not None:
            text = " ".join(tidy("".join(table.pieces)).split())
            table.grid.cell(
                text,
                head=table.cell.tag == "th",
                across=_whole(table.cell.get("colspan"), 1),
                down=_whole(table.cell.get("rowspan"), 1) or 1_000_000,
            )
        table.pieces, table.cell = None, None

    def _end_table(self) -> None:
        self._end_cell()
        table = self._open.pop()
        rows = table.grid.finish()
        caption = " ".join("".join(table.caption).split())
        if self._cell is not None and (inner := nested_text(rows)) is not None:
            self._put(" ".join(filter(None, (" ", caption, inner, " "))))
            return
        lines, found = markdown_table(rows, 0, header=table.grid.head)
        if self._open:
            behind = [([caption], None)] if caption else []
            self._behind += [*behind, (lines, found)]
            return
        if caption:
            self._lines([caption], None)
        if lines:
            self._lines(lines, found)
        if not self._lists:
            self._block()

    def finish(self) -> tuple[str, tuple[Table, ...]]:
        """All text, without blank lines at its end."""
        while self._open:
            self._end_table()
        self._heading = 0
        self._lists = []
        self._block()
        while self.lines and not self.lines[-1]:
            self.lines.pop()
        return "\n".join(self.lines), tuple(self.tables)


def _whole(text: str | None, default: int) -> int:
    match = re.match(r"\s*(\d{1,7})", text or "")
    return int(match[1]) if match else default


def _formula(element: html.HtmlElement) -> str:
    """A formula in MathML on one line, with ``^`` and ``_`` for raised and lowered parts."""
    pieces: list[str] = []
    stack: list[html.HtmlElement | str] = [element]
    while stack:
        item = stack.pop()
        if isinstance(item, str):
            pieces.append(item)
            continue
        if not isinstance(item.tag, str) or item.tag in {"annotation", "annotation-xml"}:
            continue
        pieces.append((item.text or "").strip())
        sign = _BETWEEN.get(item.tag, "")
        inner: list[html.HtmlElement | str] = []
        for place, child in enumerate(item):
            if place and sign:
                inner.append(sign)
            inner.append(child)
        stack += reversed(inner)
    return " ".join("".join(pieces).split())
