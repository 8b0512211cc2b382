"""Feeds, RSS and Atom: what was published, newest or oldest first as the feed has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

from emily.reading.office.ooxml import attribute, local
from emily.reading.source import tidy

if TYPE_CHECKING:
    from emily.reading.data.xml_text import TextWriter

__all__ = ["write_feed"]

_ITEMS = frozenset({"item", "entry"})
_DATES = ("pubDate", "published", "updated", "date")
_TEXTS = ("description", "summary", "subtitle", "encoded", "content")


def write_feed(root: etree._Element, writer: TextWriter) -> None:
    """Write a feed: its title and description, then each item with date, author and text."""
    channel = next((child for child in root if local(child) == "channel"), root)
    _entry(channel, writer, 1)
    for element in root.iter():
        if local(element) in _ITEMS:
            _entry(element, writer, 2)


def _entry(element: etree._Element, writer: TextWriter, level: int) -> None:
    parts: dict[str, list[etree._Element]] = {}
    for child in element:
        if isinstance(child.tag, str):
            parts.setdefault(local(child), []).append(child)
    for title in parts.get("title", [])[:1]:
        writer.heading(_text(title), level)
    people = parts.get("creator") or parts.get("author") or []
    when = next((name for name in _DATES if name in parts), None)
    about = [*(parts[when][:1] if when else []), *people]
    writer.block(", ".join(filter(None, map(_text, about))))
    labels = [attribute(part, "term") or _text(part) for part in parts.get("category", [])]
    writer.block(", ".join(filter(None, labels)))
    if level > 1:
        for link in parts.get("link", [])[:1]:
            writer.block(_text(link) or attribute(link, "href") or "")
    for name in _TEXTS:
        for part in parts.get(name, []):
            writer.html(_markup(part))


def _text(element: etree._Element) -> str:
    name = next((child for child in element if local(child) == "name"), None)
    held = element if name is None else name
    return " ".join(tidy("".join(str(piece) for piece in held.itertext())).split())


def _markup(element: etree._Element) -> str:
    """What an element holds as HTML, whether as text or as elements (XHTML in Atom)."""
    if not len(element):
        return (element.text or "").strip()
    return "".join(etree.tostring(child, encoding="unicode", method="html") for child in element)
