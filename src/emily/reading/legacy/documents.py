"""Word and PowerPoint before 2007, by their records; Word 6 and 95 by LibreOffice, if installed.

Damaged files are never given to LibreOffice: what it cannot parse it takes for plain text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from emily.errors import EmptyDocument, LimitExceeded, PasswordRequired, ReadingError
from emily.reading.blocks import Blocks
from emily.reading.legacy.compound import Compound, unread_objects
from emily.reading.legacy.libreoffice import INSTALL, convert, program
from emily.reading.legacy.slides import Shape, SlidesBinary
from emily.reading.legacy.text import DocumentWriter, cleaned
from emily.reading.legacy.word import WordBinary
from emily.reading.office.encrypted import unlocked
from emily.reading.office.word import read_docx
from emily.reading.pages import Page, Route
from emily.reading.source import Draft, Source, check_length, single_page

__all__ = ["read_doc", "read_ppt"]

_LEAST_COMMON = 0.5  # part of the words of a text that a conversion of it must have


def read_doc(source: Source) -> Draft:
    """A document of Word 97 to 2003 as one page: pages exist only once a printer lays them out.

    Headers stand once at the start, footers once at the end, before notes and comments, which are
    marked. Deleted and hidden text is left out, which is said.

    Raises:
        PasswordRequired: it is encrypted.
        EmptyDocument: it holds no text.
        ReadingError: it is broken.
    """
    return _read(source, "doc", _read_doc)


def _read(source: Source, kind: str, reader: Callable[[Source], Draft]) -> Draft:
    """Read a file, without its encryption if it has one."""
    try:
        return reader(source)
    except PasswordRequired:
        return reader(unlocked(source, f"the {kind} file"))


def _by_libreoffice(source: Source, word: WordBinary) -> Draft | None:
    """A document of Word 6 or 95 by way of LibreOffice; ``None`` where that cannot read it.

    A file that LibreOffice does not know it takes for plain text. So what it gives must hold most
    of the words that the bare text has.
    """
    if source.scratch is None or program() is None:
        return None
    try:
        draft = read_docx(source.within(convert(source, "doc", "docx"), source.name))
        pages = list(draft.pages)
    except LimitExceeded:
        raise
    except ReadingError:
        return None
    own = set(" ".join(cleaned(paragraph.text) for paragraph in word.text()).split())
    given = set(" ".join(page.text for page in pages).split())
    if len(own & given) < _LEAST_COMMON * len(own):
        return None
    draft.kind, draft.pages = "doc", iter(pages)
    return draft


def _read_doc(source: Source) -> Draft:
    ole = Compound(source.path)
    try:
        title, facts = ole.properties()
        warnings = ole.objects()
        tables = [ole.read(name) if name in ole else b"" for name in ("0Table", "1Table")]
        data = ole.read("Data") if "Data" in ole else b""
        word = WordBinary(ole.read("WordDocument"), (tables[0], tables[1]), data)
    finally:
        ole.close()
    if word.old and (draft := _by_libreoffice(source, word)) is not None:
        return draft
    writer = DocumentWriter(source, word, data)
    feet = writer.letterheads()
    writer.write(word.text())
    writer.rest()
    for paragraphs in feet:
        writer.write(paragraphs)
    for kind, mark in (
        ("footnotes", "Footnote"), ("endnotes", "Endnote"), ("comments", "Comment")
    ):  # fmt: skip
        for name, paragraphs in word.notes(kind):
            note = " ".join(" ".join(cleaned(paragraph.text) for paragraph in paragraphs).split())
            shown = f" ({name})" if name and kind == "comments" else f" {name}" if name else ""
            if note:
                writer.blocks.paragraph(f"{mark}{shown}: {note}")
    text = writer.blocks.text()
    check_length(len(text))
    if not text.strip():
        raise EmptyDocument("the Word document holds no text")
    pictures = source.pictures.on_page(1)
    page = Page(1, text, tables=tuple(writer.blocks.tables), pictures=pictures)
    draft = Draft("doc", "none", single_page(page), title, warnings, facts)
    if word.deleted:
        draft.warnings.append(
            f"Tracked deletions are left out ({word.deleted:,} characters): the text is read "
            "as if all changes were accepted."
        )
    if word.hidden:
        draft.warnings.append(f"Hidden text is left out ({word.hidden:,} characters).")
    if word.old:
        draft.warnings.append(
            "The document is of Word 6 or 95: its text is read, without headings and pictures. "
            f"With LibreOffice these are read too. {INSTALL}"
        )
    return draft


def read_ppt(source: Source) -> Draft:
    """A presentation of PowerPoint 97 to 2003; the page number is the number of the slide.

    Speaker notes stand at the end of their slide behind ``Notes:``, then its comments.

    Raises:
        PasswordRequired: it is encrypted.
        EmptyDocument: it has no slides.
        ReadingError: it is broken.
    """
    return _read(source, "ppt", _read_ppt)


def _read_ppt(source: Source) -> Draft:
    ole = Compound(source.path)
    try:
        title, facts = ole.properties()
        user, pictures = (
            ole.read(name) if name in ole else b"" for name in ("Current User", "Pictures")
        )
        slides = SlidesBinary(ole.read("PowerPoint Document"), user, pictures)
    finally:
        ole.close()
    if not len(slides):
        raise EmptyDocument("the presentation has no slides")
    warnings = unread_objects(slides.objects)
    return Draft("ppt", "pages", _slides(slides, source), title, warnings, facts)


def _slides(slides: SlidesBinary, source: Source) -> Iterator[Page]:
    footers: set[str] = set()
    for number, slide in enumerate(slides.slides(), 1):
        if slide is None:
            warning = f"Slide {number} is not read: it is missing in the file."
            yield Page(number, "", "unread", warning=warning)
            continue
        blocks = Blocks()
        for shape in slide.shapes:
            _write_shape(blocks, shape)
            if (picture := slides.picture(shape)) is not None:
                blocks.insert(source.pictures.block(picture, number))
        for footer in slide.footers:  # once, not on every slide
            if footer not in footers:
                footers.add(footer)
                blocks.paragraph(footer)
        notes = Blocks()
        for shape in slide.notes:
            _write_shape(notes, replace(shape, is_title=False))
        if told := notes.text():
            blocks.paragraph(f"Notes: {told}")
        for author, remark in slide.comments:
            blocks.paragraph(f"Comment ({author}): {remark}" if author else f"Comment: {remark}")
        text = blocks.text()
        pictures = source.pictures.on_page(number)
        route: Route = "text" if text.strip() else "blank"
        yield Page(number, text, route, tuple(blocks.tables), pictures=pictures)


def _write_shape(blocks: Blocks, shape: Shape) -> None:
    lines = [cleaned(line) for line in shape.lines]
    if shape.rows:
        blocks.table(shape.rows)
        return
    if shape.is_title:
        blocks.heading(" ".join(lines), 1)
        return
    single = sum(bool(line.strip()) for line in lines) < 2
    marks = shape.marks + [(0, None)] * (len(lines) - len(shape.marks))
    written = []
    for line, (level, bullet) in zip(lines, marks, strict=False):
        if bullet is None:
            bullet = shape.bulleted and not single
        first, *rest = [piece.strip() for piece in line.split("\n") if piece.strip()] or [""]
        if first:
            written.append(f"{'  ' * level}- {first}" if bullet else first)
            written += [f"{'  ' * level}  {piece}" if bullet else piece for piece in rest]
    blocks.insert(written)
