"""XML that is a text: articles (JATS), books (DocBook, FB2, TEI), outlines (OPML), feeds, SVG.

Names of elements are those of the vocabularies, in lower case; where two of them use a name for
the same thing it stands here once. What none of them knows is a paragraph where it stands
between elements, and a part of its line where it stands among text.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterable, Iterator

from lxml import etree

from emily.reading.feeds import write_feed
from emily.reading.ooxml import attribute, local
from emily.reading.pages import Table
from emily.reading.source import Source, tidy
from emily.reading.tables import markdown_table
from emily.reading.web import html_text
from emily.reading.xmltable import table_rows

__all__ = ["TextWriter", "inline", "is_text", "looks_like_html"]

_SECTIONS = frozenset({
    "sec", "section", "chapter", "part", "appendix", "preface", "sect1", "sect2", "sect3",
    "sect4", "sect5", "abstract", "trans-abstract", "ack", "app", "ref-list", "bibliography",
    "glossary", "item", "entry", "div", "div1", "div2", "boxed-text", "simplesect", "refentry",
    "refsect1", "refsect2", "topic", "fn-group", "sub-article", "response",
})  # fmt: skip
_TITLES = frozenset({"title", "head", "heading", "book-title", "article-title", "invention-title"})
_PARAGRAPHS = frozenset({
    "p", "para", "simpara", "formalpara", "v", "text-author", "subtitle", "claim-text", "li",
    "list-item", "listitem", "disp-formula", "disp-quote", "fig", "table-wrap", "caption",
    "def-item", "term", "def", "varlistentry", "verse-line", "l", "lg", "stanza", "poem", "cite",
    "epigraph", "annotation", "blockquote", "note", "tip", "warning", "quote-block", "claim",
    "informaltable", "table", "tgroup", "list", "itemizedlist", "orderedlist", "variablelist",
    "programlisting", "screen", "literallayout", "preformat", "pre", "ref", "bibl", "aff",
    "disp-formula-group", "supplementary-material", "media", "speech",
    "statement", "figure", "informalfigure", "example", "image", "graphic", "article", "book",
    "body", "back", "front", "channel", "feed", "notes",
}) | _SECTIONS  # fmt: skip
_NOTES = frozenset({"footnote", "fn"})
_VERBATIM = frozenset({"programlisting", "screen", "literallayout", "preformat", "pre"})
_LISTS = {
    "list": None, "itemizedlist": "-", "orderedlist": "1", "ul": "-", "ol": "1",
    "simplelist": "-", "ref-list": "-", "bibliolist": "-",
}  # fmt: skip
_ITEMS = frozenset({"li", "list-item", "listitem", "member", "ref", "bibl", "biblioentry"})
_PEOPLE = frozenset({"name", "author", "personname", "string-name", "inventor", "editor",
                     "translator", "persname"})  # fmt: skip
_CONTRIBUTORS = frozenset({"name", "collab", "string-name"})
_GIVEN = ("given-names", "first-name", "firstname", "forename", "middle-name", "othername")
_FAMILY = ("surname", "last-name", "family")
_CITATIONS = frozenset({"element-citation", "mixed-citation", "citation", "nlm-citation"})
_DATES = frozenset({"pub-date", "date", "conf-date"})
_ONE_LINE = frozenset({"pub-date", "date", "conf-date", "address", "aff", "document-id",
                       "kwd-group", "contrib", "collab", "subj-group"})  # fmt: skip
_SKIPPED = frozenset({
    "script", "style", "stylesheet", "binary", "custom-xml", "article-id", "journal-id", "issn",
    "object-id", "elocation-id", "ext-link-id", "institution-id", "contrib-id", "counts",
    "document-info", "processing-meta", "custom-meta-group", "self-uri", "guid", "generator",
    "issn-l", "math-id", "lastbuilddate", "updateperiod", "updatefrequency", "expansionstate",
    "vertscrollstate", "windowtop", "windowleft", "windowbottom", "windowright", "colspec",
    "xref-id", "instance", "permissions-id", "src-lang",
})  # fmt: skip
_SHOWN_ATTRIBUTES = ("title", "alt", "label", "caption", "summary")
_OUTLINE_ADDRESSES = ("htmlurl", "xmlurl", "url")
_AMBIGUOUS = frozenset({  # names that records use as well
    "item", "entry", "part", "note", "address", "ref", "image", "media", "list", "table", "body",
    "notes", "topic", "figure", "example", "l", "statement", "term", "def", "cite", "article",
    "claim", "caption", "warning", "book", "back", "front", "channel", "feed", "response", "li",
    "tip", "screen", "annotation", "pre", "graphic",
})  # fmt: skip
_TEXTS = _PARAGRAPHS - _AMBIGUOUS
_ROOTS = frozenset({"article", "fictionbook", "opml", "svg", "html", "rss", "rdf", "feed", "book",
                    "tei", "tei.2", "dtbook", "patdoc"})  # fmt: skip
_MARKUP = re.compile(
    r"<(?:p|div|br|span|table|ul|ol|li|a|b|i|strong|em|img|h[1-6]|html|body|td|tr|font)\b[^<>]*>",
    re.IGNORECASE,
)
_BLANKS = re.compile(r"[ \t\n\r\f]+")
_MOST_HEADING = 6
_MOST_PICTURE = 64 << 20


def is_text(root: etree._Element) -> bool:
    """Whether XML is a text for people rather than records: by its root, or by elements that
    hold text and elements at once, or by paragraphs."""
    if local(root).lower() in _ROOTS:
        return True
    if local(root).lower() == "xbrl":
        return False  # its texts are HTML inside of facts
    mixed = leaves = 0
    for element in root.iter():
        if not isinstance(element.tag, str):
            continue
        if local(element).lower() in _TEXTS:
            return True
        if len(element):
            mixed += _is_mixed(element)
        else:
            leaves += 1
    return 10 * mixed > leaves


def looks_like_html(text: str) -> bool:
    """Whether a text is HTML that was written as text."""
    return "<" in text and _MARKUP.search(text) is not None


def inline(element: etree._Element) -> str:
    """All text inside of an element on one line, whatever elements part it."""
    pieces: list[str] = []
    _gather(element, pieces)
    return _BLANKS.sub(" ", tidy("".join(pieces))).strip()


def _gather(element: etree._Element, pieces: list[str]) -> None:
    mixed = _is_mixed(element)
    pieces.append(element.text or "")
    for child in element:
        if isinstance(child.tag, str):
            name = local(child).lower()
            if name not in _SKIPPED and name != "annotation-xml":
                apart = not mixed or name in _PARAGRAPHS or name == "break"
                apart = apart and not _in_formula(child)
                moved = name == "tspan" and any(child.get(at) for at in ("x", "y", "dy"))
                pieces.append(" " if apart or moved else "")
                if name == "alternatives":
                    _gather_first(child, pieces)
                else:
                    _gather(child, pieces)
                pieces.append(" " if apart else "")
        pieces.append(child.tail or "")


def _gather_first(element: etree._Element, pieces: list[str]) -> None:
    """Of alternatives that say the same, the first that has text."""
    for child in element:
        if isinstance(child.tag, str) and "".join(map(str, child.itertext())).strip():
            _gather(child, pieces)
            return


def _in_formula(element: etree._Element) -> bool:
    tag = element.tag
    return isinstance(tag, str) and "MathML" in tag


def _is_mixed(element: etree._Element) -> bool:
    if (element.text or "").strip():
        return True
    return any((child.tail or "").strip() for child in element)


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
        if name in _SKIPPED or not name:
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
        elif name in _CITATIONS or name in _PEOPLE or name in _ONE_LINE:
            self.block(_one_line(element))
        elif not len(element):
            text = (element.text or "").strip()
            if looks_like_html(text):
                self.html(text)
            else:
                self.block(inline(element) or _said(element))
        elif _is_mixed(element):
            self._mixed(element, depth)
        else:
            self._children(element, depth + (name in _SECTIONS))

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
            if name in _PARAGRAPHS and name not in {"term", "def", "cite", "note", "media"}:
                self._flush(line)
                self._element(child, depth)
                line = []
            elif isinstance(child.tag, str) and name not in _SKIPPED:
                line.append(inline_piece(child))
            line.append(child.tail or "")
        self._flush(line)
        for note in notes:
            self.block(inline(note))

    def _flush(self, line: list[str]) -> None:
        self.block(_BLANKS.sub(" ", tidy("".join(line))).strip())

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
            text = _item(child) if not blocks else ""
            if text:
                self.block(f"{'-' if mark == '-' else f'{number}.'} {text}", apart=apart)
                apart = False
            elif blocks:
                self._label = "-" if mark == "-" else f"{number}."
                self._mixed(child, depth) if _is_mixed(child) else self._children(child, depth)
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
                person = next(people, None)
                if person is not None:
                    roles.setdefault(kind, []).append(_person(person))
        self.block(", ".join(roles.pop("author", [])))
        for kind, names in roles.items():
            self.block(f"{kind.replace('-', ' ').capitalize()}: {', '.join(names)}")
        affiliations = [e for e in meta.iter() if local(e) == "aff"]
        for affiliation in affiliations:
            label = next((inline(e) for e in affiliation if local(e) == "label"), "")
            self.block(_one_line(affiliation).removeprefix(label).strip(" ,"))
        written = {"title-group", "contrib-group", "aff", *_SKIPPED}
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


def inline_piece(element: etree._Element) -> str:
    """An element's text inside of a line, with the blanks at its ends as they are."""
    pieces: list[str] = []
    _gather(element, pieces)
    return "".join(pieces)


def _item(item: etree._Element) -> str:
    """A list item or a reference on one line; its own label is the list's business."""
    parts = [part for part in item if isinstance(part.tag, str)]
    if not _is_mixed(item):
        return " ".join(
            filter(
                None,
                (
                    _one_line(part) if local(part).lower() in _CITATIONS else inline(part)
                    for part in parts
                    if local(part).lower() != "label"
                ),
            )
        )
    return inline(item)


def _one_line(element: etree._Element) -> str:
    """Elements without text between them, as a person writes them on one line."""
    name = local(element).lower()
    if _is_mixed(element):
        return inline(element)
    if name in _PEOPLE:
        return _person(element)
    if name in _DATES:
        return _date(element)
    if name in _CITATIONS:
        people = [_person(e, family_first=True) for e in element.iter() if local(e) == "name"]
        rest = list(_leaves_but(element, {"person-group", "name", "label"}))
        said = ". ".join(filter(None, [", ".join(people), " ".join(rest)]))
        return _BLANKS.sub(" ", said)
    between = ", " if name in {"kwd-group", "contrib", "subj-group", "aff"} else " "
    return between.join(filter(None, (_one_line(child) for child in _elements(element)))) or inline(
        element
    )


def _date(element: etree._Element) -> str:
    """A date in parts, year first."""
    parts = {local(child).lower(): inline(child) for child in _elements(element)}
    if "year" not in parts:
        return inline(element)
    numbers = [parts[name].zfill(2) for name in ("year", "month", "day") if parts.get(name)]
    kind = element.get("date-type") or ""
    return f"{kind.capitalize()}: {'-'.join(numbers)}" if kind else "-".join(numbers)


def _elements(element: etree._Element) -> Iterator[etree._Element]:
    for child in element:
        if isinstance(child.tag, str) and local(child).lower() not in _SKIPPED:
            yield child


def _leaves_but(element: etree._Element, names: Iterable[str]) -> Iterator[str]:
    for child in _elements(element):
        if local(child).lower() not in names:
            kind = (child.get("pub-id-type") or "").upper()
            yield f"{kind}: {inline(child)}" if kind in {"DOI", "PMID"} else inline(child)


def _person(element: etree._Element, *, family_first: bool = False) -> str:
    """A person's name, the given one first."""
    found: dict[str, str] = {}
    for child in element.iter():
        if isinstance(child.tag, str):
            found.setdefault(local(child).lower(), inline(child))
    given = " ".join(found[name] for name in _GIVEN if found.get(name))
    family = " ".join(found[name] for name in _FAMILY if found.get(name))
    if not (given or family):
        return inline(element)
    return f"{family} {given}".strip() if family_first else f"{given} {family}".strip()


def _said(element: etree._Element) -> str:
    """What an element without text says in its attributes."""
    values = [attribute(element, name) for name in _SHOWN_ATTRIBUTES]
    return " ".join(" ".join(value.split()) for value in values if value)


def _plain(text: str) -> str:
    if looks_like_html(text):
        text = html_text(text)[0]
    return tidy(text)
