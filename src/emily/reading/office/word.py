"""Word documents: body in order, tables, headers and footers, notes, comments."""

from __future__ import annotations

from lxml import etree

from emily.errors import EmptyDocument, ReadingError
from emily.reading.office.embedded import embedded_files, embedded_parts
from emily.reading.office.ooxml import Container, attribute, local
from emily.reading.office.word_body import BodyWriter, WordFile
from emily.reading.office.word_styles import Numbering, Styles
from emily.reading.pages import Page
from emily.reading.pictures import UNREAD
from emily.reading.source import Draft, Source, check_length, single_page

__all__ = ["read_docx"]

_Part = tuple[etree._Element, dict[str, tuple[str, str]]]
_NOTES = (("footnotes", "Footnote"), ("endnotes", "Endnote"), ("comments", "Comment"))
_UNREAD = "The document holds pictures alone, which are not read."
_SEPARATORS = frozenset({"separator", "continuationSeparator", "continuationNotice"})


def read_docx(source: Source) -> Draft:
    """A Word document as one page: pages exist only once a printer lays them out.

    Headings, lists and tables are Markdown. Headers stand once at the start, footers once at the
    end, before foot- and endnotes and comments, which are marked. Tracked changes are read as if
    they were accepted.

    Raises:
        EmptyDocument: it holds no text, and no picture with text.
        ReadingError: it is no Word document, or broken.
    """
    warnings: list[str] = []
    with Container(source.path) as container:
        main = container.main("word/document.xml")
        root = container.xml(main)
        related = container.related(main)
        title, facts = container.properties()
        styles = Styles(_only(container, related, "styles", warnings))
        numbering = Numbering(_only(container, related, "numbering", warnings), styles)
        file = WordFile(container, source, styles, numbering, warnings)
        parts = _parts(container, related, warnings)
        body = next((child for child in root if local(child) == "body"), None)
        if body is None:
            raise ReadingError("the Word document has no body")
        writer = BodyWriter(file, related)
        for part in parts["header"]:
            writer.part(*part)
        writer.part(body, related)
        for part in parts["footer"]:
            writer.part(*part)
        for kind, mark in _NOTES:
            for notes, own in parts[kind]:
                writer.related = own
                _write_notes(writer, kind, notes, mark)
    text = writer.text()
    check_length(len(text))
    embedded = embedded_parts(related)
    if not text.strip() and not embedded:
        pictures = source.pictures.on_page(1)
        held = f" ({pictures} pictures in it hold none that can be read)" if pictures else ""
        raise EmptyDocument(f"the Word document holds no text{held}")
    if file.changes:
        warnings.append(
            "The document has tracked changes; it is read as if all of them were accepted."
        )
    if file.hidden:
        warnings.append("Hidden text in the document is left out.")
    pictures = source.pictures.on_page(1)
    if text and not any(line and line != UNREAD for line in writer.lines):
        page = Page(1, "", "unread", warning=_UNREAD, pictures=pictures)
    else:
        page = Page(1, text, tables=tuple(writer.tables), pictures=pictures)
    enclosed = embedded_files(source, embedded)
    return Draft("docx", "none", single_page(page), title, warnings, facts, enclosed)


def _write_notes(writer: BodyWriter, kind: str, notes: etree._Element, mark: str) -> None:
    for note in notes:
        if attribute(note, "type") in _SEPARATORS or not isinstance(note.tag, str):
            continue
        author = attribute(note, "author")
        number = writer.file.notes.get((kind, attribute(note, "id") or ""))
        shown = f" ({author})" if author else f" {number}" if number else ""
        writer.note(f"{mark}{shown}: ", note)


def _only(
    container: Container, related: dict[str, tuple[str, str]], kind: str, warnings: list[str]
) -> etree._Element | None:
    """The part of a kind that a document has once; without it the text is still read."""
    for found, path in related.values():
        if found == kind and path in container:
            try:
                return container.xml(path)
            except ReadingError as error:
                warnings.append(f"Headings and lists are not marked: {error}.")
    return None


def _parts(
    container: Container, related: dict[str, tuple[str, str]], warnings: list[str]
) -> dict[str, list[_Part]]:
    """The other parts with text. A letterhead that several sections share is taken once."""
    found: dict[str, list[_Part]] = {
        kind: [] for kind in ("header", "footer", "footnotes", "endnotes", "comments")
    }
    seen = set()
    for kind, path in related.values():
        if kind not in found or path not in container:
            continue
        try:
            part = container.xml(path)
        except ReadingError as error:
            warnings.append(f"A part of the document is not read: {error}.")
            continue
        own = container.related(path)
        if kind in {"header", "footer"}:
            text = "".join(element.text or "" for element in part.iter() if local(element) == "t")
            shown = (text.strip(), *sorted(path for kind, path in own.values() if kind == "image"))
            if not any(shown) or shown in seen:
                continue
            seen.add(shown)
        found[kind].append((part, own))
    return found
