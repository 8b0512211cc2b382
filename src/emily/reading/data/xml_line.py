"""What elements of XML say on one line: words in order, people, dates, citations.

Names of elements are those of the vocabularies, in lower case; where two of them use a name for
the same thing it stands here once. What none of them knows is a paragraph where it stands
between elements, and a part of its line where it stands among text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lxml import etree

from emily.reading.office.ooxml import attribute, local
from emily.reading.source import tidy

__all__ = [
    "BLANKS", "CITATIONS", "PARAGRAPHS", "PEOPLE", "SECTIONS", "SKIPPED", "inline",
    "inline_piece", "is_mixed", "is_text", "item_line", "looks_like_html", "one_line", "person",
    "said",
]  # fmt: skip

SECTIONS = frozenset({
    "sec", "section", "chapter", "part", "appendix", "preface", "sect1", "sect2", "sect3",
    "sect4", "sect5", "abstract", "trans-abstract", "ack", "app", "ref-list", "bibliography",
    "glossary", "item", "entry", "div", "div1", "div2", "boxed-text", "simplesect", "refentry",
    "refsect1", "refsect2", "topic", "fn-group", "sub-article", "response",
})  # fmt: skip
PARAGRAPHS = frozenset({
    "p", "para", "simpara", "formalpara", "v", "text-author", "subtitle", "claim-text", "li",
    "list-item", "listitem", "disp-formula", "disp-quote", "fig", "table-wrap", "caption",
    "def-item", "term", "def", "varlistentry", "verse-line", "l", "lg", "stanza", "poem", "cite",
    "epigraph", "annotation", "blockquote", "note", "tip", "warning", "quote-block", "claim",
    "informaltable", "table", "tgroup", "list", "itemizedlist", "orderedlist", "variablelist",
    "programlisting", "screen", "literallayout", "preformat", "pre", "ref", "bibl", "aff",
    "disp-formula-group", "supplementary-material", "media", "speech",
    "statement", "figure", "informalfigure", "example", "image", "graphic", "article", "book",
    "body", "back", "front", "channel", "feed", "notes",
}) | SECTIONS  # fmt: skip
PEOPLE = frozenset({"name", "author", "personname", "string-name", "inventor", "editor",
                     "translator", "persname"})  # fmt: skip
_GIVEN = ("given-names", "first-name", "firstname", "forename", "middle-name", "othername")
_FAMILY = ("surname", "last-name", "family")
CITATIONS = frozenset({"element-citation", "mixed-citation", "citation", "nlm-citation"})
_DATES = frozenset({"pub-date", "date", "conf-date"})
SKIPPED = frozenset({
    "script", "style", "stylesheet", "binary", "custom-xml", "article-id", "journal-id", "issn",
    "object-id", "elocation-id", "ext-link-id", "institution-id", "contrib-id", "counts",
    "document-info", "processing-meta", "custom-meta-group", "self-uri", "guid", "generator",
    "issn-l", "math-id", "lastbuilddate", "updateperiod", "updatefrequency", "expansionstate",
    "vertscrollstate", "windowtop", "windowleft", "windowbottom", "windowright", "colspec",
    "xref-id", "instance", "permissions-id", "src-lang",
})  # fmt: skip
_SHOWN_ATTRIBUTES = ("title", "alt", "label", "caption", "summary")
_AMBIGUOUS = frozenset({  # names that records use as well
    "item", "entry", "part", "note", "address", "ref", "image", "media", "list", "table", "body",
    "notes", "topic", "figure", "example", "l", "statement", "term", "def", "cite", "article",
    "claim", "caption", "warning", "book", "back", "front", "channel", "feed", "response", "li",
    "tip", "screen", "annotation", "pre", "graphic",
})  # fmt: skip
_TEXTS = PARAGRAPHS - _AMBIGUOUS
_ROOTS = frozenset({"article", "fictionbook", "opml", "svg", "html", "rss", "rdf", "feed", "book",
                    "tei", "tei.2", "dtbook", "patdoc"})  # fmt: skip
_MARKUP = re.compile(
    r"<(?:p|div|br|span|table|ul|ol|li|a|b|i|strong|em|img|h[1-6]|html|body|td|tr|font)\b[^<>]*>",
    re.IGNORECASE,
)
BLANKS = re.compile(r"[ \t\n\r\f]+")


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
            mixed += is_mixed(element)
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
    return BLANKS.sub(" ", tidy("".join(pieces))).strip()


def _gather(element: etree._Element, pieces: list[str]) -> None:
    mixed = is_mixed(element)
    pieces.append(element.text or "")
    for child in element:
        if isinstance(child.tag, str):
            name = local(child).lower()
            if name not in SKIPPED and name != "annotation-xml":
                apart = not mixed or name in PARAGRAPHS or name == "break"
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


def is_mixed(element: etree._Element) -> bool:
    """Whether an element has text of its own, beside that of the elements in it."""
    if (element.text or "").strip():
        return True
    return any((child.tail or "").strip() for child in element)


def inline_piece(element: etree._Element) -> str:
    """An element's text inside of a line, with the blanks at its ends as they are."""
    pieces: list[str] = []
    _gather(element, pieces)
    return "".join(pieces)


def item_line(item: etree._Element) -> str:
    """A list item or a reference on one line; its own label is the list's business."""
    parts = [part for part in item if isinstance(part.tag, str)]
    if not is_mixed(item):
        return " ".join(
            filter(
                None,
                (
                    one_line(part) if local(part).lower() in CITATIONS else inline(part)
                    for part in parts
                    if local(part).lower() != "label"
                ),
            )
        )
    return inline(item)


def one_line(element: etree._Element) -> str:
    """Elements without text between them, as a person writes them on one line."""
    name = local(element).lower()
    if is_mixed(element):
        return inline(element)
    if name in PEOPLE:
        return person(element)
    if name in _DATES:
        return _date(element)
    if name in CITATIONS:
        people = [person(e, family_first=True) for e in element.iter() if local(e) == "name"]
        rest = list(_leaves_but(element, {"person-group", "name", "label"}))
        said = ". ".join(filter(None, [", ".join(people), " ".join(rest)]))
        return BLANKS.sub(" ", said)
    between = ", " if name in {"kwd-group", "contrib", "subj-group", "aff"} else " "
    return between.join(filter(None, (one_line(child) for child in _elements(element)))) or inline(
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
        if isinstance(child.tag, str) and local(child).lower() not in SKIPPED:
            yield child


def _leaves_but(element: etree._Element, names: Iterable[str]) -> Iterator[str]:
    for child in _elements(element):
        if local(child).lower() not in names:
            kind = (child.get("pub-id-type") or "").upper()
            yield f"{kind}: {inline(child)}" if kind in {"DOI", "PMID"} else inline(child)


def person(element: etree._Element, *, family_first: bool = False) -> str:
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


def said(element: etree._Element) -> str:
    """What an element without text says in its attributes."""
    values = [attribute(element, name) for name in _SHOWN_ATTRIBUTES]
    return " ".join(" ".join(value.split()) for value in values if value)
