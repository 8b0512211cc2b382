"""XML that is a text: articles (JATS), books (DocBook, FB2, TEI), outlines (OPML), feeds, SVG."""

from __future__ import annotations

import base64
import binascii

from lxml import etree

from emily.reading.data.feeds import write_feed
from emily.reading.data.xml_line import (
    BLANKS,
    CITATIONS,
    PARAGRAPHS,
    PEOPLE,
    SECTIONS,
    SKIPPED,
    inline,
    inline_piece,
    is_mixed,
    item_line,
    looks_like_html,
    one_line,
    person,
    said,
)
from emily.reading.data.xml_tables import table_rows
from emily.reading.office.ooxml import attribute, local
from emily.reading.pages import Table
from emily.reading.source import Source, tidy
from emily.reading.tables import markdown_table
from emily.reading.web.page import html_text

__all__ = ["TextWriter"]

_TITLES = frozenset({"title", "head", "heading", "book-title", "article-title", "invention-title"})
_NOTES = frozenset({"footnote", "fn"})
_VERBATIM = frozenset({"programlisting", "screen", "literallayout", "preformat", "pre"})
_LISTS = {
    "list": None, "itemizedlist": "-", "orderedlist": "1", "ul": "-", "ol": "1",
    "simplelist": "-", "ref-list": "-", "bibliolist": "-",
}  # fmt: skip
_ITEMS = frozenset({"li", "list-item", "listitem", "member", "ref", "bibl", "biblioentry"})
_CONTRIBUTORS = frozenset({"name", "collab", "string-name"})
_ONE_LINE = frozenset({"pub-date", "date", "conf-date", "address", "aff", "document-id",
                       "kwd-group", "contrib", "collab", "subj-group"})  # fmt: skip
_OUTLINE_ADDRESSES = ("htmlurl", "xmlurl", "url")
_MOST_HEADING = 6
_MOST_PICTURE = 64 << 20


class TextWriter:
    """Lines of Markdown out of a tree.

    Args:
        source: the file, whose pictures are read.

    Attributes:
        lines: what was written so far.
        tables: tables in them.
        title: the first title of all.
    """

    def __init__(self, source: Source) -> None:
        self.lines: list[str] = []
        self.tables: list[Table] = []
        self.title: str | None = None
        self._source = source
        self._label = ""
        self._binaries: dict[str, etree._Element] = {}

    def write(self, root: etree._Element) -> None:
        """Write a whole file."""
        name = local(root).lower()
        for element in root.iter():
            if local(element) == "binary" and element.get("id"):
                self._binaries[element.get("id") or ""] = element
        if name == "svg":
            self._svg(root)
        elif name == "opml":
            self._opml(root)
        elif name in {"rss", "feed", "rdf"}:
            write_feed(root, self)
        else:
            self._element(root, 0)
        while self.lines and not self.lines[-1]:
            self.lines.pop()

    # --- lines

    def block(self, text: str, *, apart: bool = True) -> None:
        """A paragraph of its own; ``apart`` with a blank line before it."""
        if self._label:
            text, self._label = f"{self._label} {text}".strip(), ""
        if not text:
            return
        if apart and self.lines and self.lines[-1]:
            self.lines.append("")
        self.lines.append(text)

    def heading(self, text: str, level: int) -> None:
        """A heading; the first one is the title of all."""
        if not text:
            return
        if self._label and text.startswith(self._label):
            self._label = ""
        if self.title is None:
            self.title = text
        before, self._label = self._label, ""
        mark = "#" * min(max(level, 1), _MOST_HEADING)
        self.block(f"{mark} {before} {text}" if before else f"{mark} {text}")

    def html(self, markup: str) -> None:
        """HTML that stands in the file as text."""
        text, tables, _ = html_text(markup)
        if not text.strip():
            return
        if self.lines and self.lines[-1]:
            self.lines.append("")
        at = len(self.lines)
        for table in tables:
            header = None if table.header is None else (table.header[0] + at, table.header[1] + at)
            rows = tuple((first + at, last + at) for first, last in table.rows)
            self.tables.append(Table(header, rows))
        self.lines += text.split("\n")

    # --- elements

    def _element(self, element: etree._Element, depth: int) -> None:
        name = local(element).lower()
        if name in SKIPPED or not name:
            return
        if name == "article-meta":
            self._article(element, depth)
        elif name in _TITLES or (name == "h" and len(inline(element)) < 300):
            self.heading(inline(element), self._level(element, depth))
        elif name == "label":
            self._label = inline(element)
        elif name == "abstract" and not any(local(e) == "title" for e in element):
            self.heading("Abstract", self._level(element, max(depth, 1)))
            self._children(element, depth + 1)
        elif name in {"table", "tgroup", "informaltable"} and self._table(element):
            return
        elif name in {"image", "graphic"} and self._binaries:
            self._picture(element)
        elif name in _VERBATIM:
            self._verbatim(element)
        elif name in _LISTS and self._list(element, depth):
            return
        elif name in CITATIONS or name in PEOPLE or name in _ONE_LINE:
            self.block(one_line(element))
        elif not len(element):
            text = (element.text or "").strip()
            if looks_like_html(text):
                self.html(text)
            else:
                self.block(inline(element) or said(element))
        elif is_mixed(element):
            self._mixed(element, depth)
        else:
            self._children(element, depth + (name in SECTIONS))

    def _level(self, element: etree._Element, depth: int) -> int:
        parent = element.getparent()
        if local(element).lower() == "heading" and (element.get("level") or "").isdigit():
            return min(int((element.get("level") or "1")[:2]) + 1, _MOST_HEADING)
        if parent is not None and local(parent).lower() in {"caption", "fig", "table-wrap"}:
            return _MOST_HEADING
        return max(depth + (self.title is not None), 1)

    def _children(self, element: etree._Element, depth: int) -> None:
        for child in element:
            if isinstance(child.tag, str):
                self._element(child, depth)

    def _mixed(self, element: etree._Element, depth: int) -> None:
        """Text with elements in it: a line, cut where a block stands inside of it."""
        line = [element.text or ""]
        notes: list[etree._Element] = []
        for child in element:
            name = local(child).lower()
            if name in _NOTES:
                notes.append(child)
                line.append(child.tail or "")
                continue
            if name in PARAGRAPHS and name not in {"term", "def", "cite", "note", "media"}:
                self._flush(line)
                self._element(child, depth)
                line = []
            elif isinstance(child.tag, str) and name not in SKIPPED:
                line.append(inline_piece(child))
            line.append(child.tail or "")
        self._flush(line)
        for note in notes:
            self.block(inline(note))

    def _flush(self, line: list[str]) -> None:
        self.block(BLANKS.sub(" ", tidy("".join(line))).strip())

    def _verbatim(self, element: etree._Element) -> None:
        text = tidy("".join(map(str, element.itertext()))).strip("\n")
        if text.strip():
            self.block("```")
            self.lines += [*text.split("\n"), "```"]

    def _table(self, element: etree._Element) -> bool:
        rows, header = table_rows(element, inline)
        if not rows:
            return False
        for child in element:
            if local(child).lower() in {"caption", "title"}:
                self.block(inline(child))
        if self._label:
            self.block("")
        if self.lines and self.lines[-1]:
            self.lines.append("")
        lines, table = markdown_table(rows, len(self.lines), header=header)
        self.lines += lines
        if table is not None:
            self.tables.append(table)
        return True

    def _list(self, element: etree._Element, depth: int) -> bool:
        """A list, an item a line; one whose items are not simple is written as paragraphs."""
        name = local(element).lower()
        mark = _LISTS[name]
        if mark is None:
            kind = (element.get("list-type") or "").lower()
            mark = "1" if kind in {"order", "ordered"} else "-"
        number = 0
        apart = True
        if not any(local(child).lower() in _ITEMS for child in element):
            return False
        for child in element:
            if local(child).lower() not in _ITEMS:
                self._element(child, depth + 1)
                continue
            number += 1
            parts = [part for part in child if isinstance(part.tag, str)]
            blocks = [part for part in parts if local(part).lower() in _LISTS | _BLOCKS]
            text = item_line(child) if not blocks else ""
            if text:
                self.block(f"{'-' if mark == '-' else f'{number}.'} {text}", apart=apart)
                apart = False
            elif blocks:
                self._label = "-" if mark == "-" else f"{number}."
                self._mixed(child, depth) if is_mixed(child) else self._children(child, depth)
                self._label = ""
                apart = True
        return True

    def _picture(self, element: etree._Element) -> None:
        """A picture of an FB2 book, which is kept at its end in base64."""
        binary = self._binaries.get((attribute(element, "href") or "").lstrip("#"))
        written = "" if binary is None else "".join((binary.text or "").split())
        if not written or len(written) > _MOST_PICTURE:
            return
        try:
            data = base64.b64decode(written)
        except binascii.Error:
            return
        block = self._source.pictures.block(data, 1)
        if block:
            if self.lines and self.lines[-1]:
                self.lines.append("")
            self.lines += block

    # --- vocabularies of their own

    def _article(self, meta: etree._Element, depth: int) -> None:
        """The head of a JATS article: title, authors, where they work, then the rest."""
        groups = [e for e in meta if local(e) in {"contrib-group", "author-notes"}]
        for title in meta.iter():
            if local(title) == "article-title":
                self.heading(inline(title), 1)
                break
        roles: dict[str, list[str]] = {}
        for group in groups:
            for contributor in group:
                kind = contributor.get("contrib-type") or "author"
                people = (e for e in contributor.iter() if local(e) in _CONTRIBUTORS)
                named = next(people, None)
                if named is not None:
                    roles.setdefault(kind, []).append(person(named))
        self.block(", ".join(roles.pop("author", [])))
        for kind, names in roles.items():
            self.block(f"{kind.replace('-', ' ').capitalize()}: {', '.join(names)}")
        affiliations = [e for e in meta.iter() if local(e) == "aff"]
        for affiliation in affiliations:
            label = next((inline(e) for e in affiliation if local(e) == "label"), "")
            self.block(one_line(affiliation).removeprefix(label).strip(" ,"))
        written = {"title-group", "contrib-group", "aff", *SKIPPED}
        for child in meta:
            if isinstance(child.tag, str) and local(child).lower() not in written:
                self._element(child, depth + 1)

    def _opml(self, root: etree._Element) -> None:
        for element in root:
            name = local(element).lower()
            if name == "head":
                for child in element:
                    if local(child).lower() == "title":
                        self.heading(inline(child), 1)
            elif name == "body":
                self._outlines(element, 1 if self.title is None else 2)

    def _outlines(self, parent: etree._Element, level: int) -> None:
        apart = True
        for outline in parent:
            if local(outline).lower() != "outline":
                continue
            values = {str(key).lower(): str(value) for key, value in outline.attrib.items()}
            text = _plain(values.get("text") or values.get("title") or "")
            for name in _OUTLINE_ADDRESSES:
                if values.get(name) and values[name] not in text:
                    text += f" <{values[name]}>"
                    break
            inner = any(local(child).lower() == "outline" for child in outline)
            if inner:
                self.heading(text.strip(), level)
            elif text:
                self.block(f"- {text.strip()}", apart=apart)
            note = _plain(values.get("_note", ""))
            if note:
                self.block(note.strip())
            apart = inner or bool(note)
            self._outlines(outline, level + 1)

    def _svg(self, root: etree._Element) -> None:
        for element in root.iter():
            name = local(element).lower()
            if name == "title" and element.getparent() is root:
                self.heading(inline(element), 1)
            elif name in {"text", "desc", "title", "p", "div"}:
                parent = element.getparent()
                if parent is None or local(parent).lower() not in {"text", "div", "p"}:
                    self.block(inline(element), apart=name != "text")


_BLOCKS = dict.fromkeys(
    ("table", "table-wrap", "fig", "informaltable", "programlisting", "screen", "variablelist")
)


def _plain(text: str) -> str:
    if looks_like_html(text):
        text = html_text(text)[0]
    return tidy(text)
