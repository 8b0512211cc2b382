"""What reading a file gives: numbered pages of text, each with the route it was read by."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

__all__ = [
    "Attachment",
    "Citation",
    "Correspondent",
    "DateSource",
    "Facts",
    "Page",
    "PictureReading",
    "Reading",
    "Role",
    "Route",
    "Table",
]

Route = Literal["text", "ocr", "vision", "blank", "unread"]
"""How a page was read: its own text, OCR, a vision model; ``blank`` has no ink."""

Citation = Literal["pages", "lines", "none"]
"""What a passage of this kind of file is cited by."""

Role = Literal["from", "to", "cc", "seller", "buyer"]
"""What a correspondent is to a document."""

DateSource = Literal["header", "metadata", "name", "text"]
"""Where a document's date was found: a header of mail or a field of an invoice, the file's own
properties, the file's name, or its text."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table inside a page's text, in 0-based line numbers of that text.

    Lines survive normalisation, which never adds or removes one; offsets would not.

    Attributes:
        header: first and last line of the header row, or ``None``.
        rows: first and last line of every body row, in order.
    """

    header: tuple[int, int] | None
    rows: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Page:
    r"""One numbered unit of a document's text: a page, a slide, a sheet, or all of a file.

    Attributes:
        number: 1-based.
        text: decoded text whose only line break is ``\n``.
        route: how it was read.
        tables: where the text holds tables.
        warning: what was not read and why, one sentence, or ``None``.
        confidence: how sure OCR was of what it read, 0 to 1; ``None`` for other routes.
        pictures: how many pictures stand on it, too small ones left out.
    """

    number: int
    text: str
    route: Route = "text"
    tables: tuple[Table, ...] = ()
    warning: str | None = None
    confidence: float | None = None
    pictures: int = 0


@dataclass(frozen=True, slots=True)
class PictureReading:
    """A picture inside a document, and what was read in it.

    Attributes:
        sha256: of the picture's file, 32 bytes.
        page: number of the first page that shows it.
        route: ``ocr``, ``vision``, ``blank`` (nothing to read in it) or ``unread``.
        text: what was read.
        confidence: as in ``Page``.
    """

    sha256: bytes
    page: int
    route: Route
    text: str = ""
    confidence: float | None = None


@dataclass(frozen=True, slots=True)
class Correspondent:
    """Who a document is from or to.

    Attributes:
        role: what they are to it.
        name: as the document writes it; empty where only the address stands.
        address: of mail, or the tax number on an invoice; ``None`` where there is none.
    """

    role: Role
    name: str
    address: str | None = None


@dataclass(frozen=True, slots=True)
class Facts:
    """What a file says of itself beside its text.

    Attributes:
        author: who wrote it, by the file's properties.
        date: of the document, not of the file on the disk.
        date_source: where ``date`` was found.
        correspondents: in the order in which they stand.
        message_id: of a mail, without angle brackets.
        references: of a mail, the messages that it answers, oldest first.
    """

    author: str | None = None
    date: dt.date | None = None
    date_source: DateSource | None = None
    correspondents: tuple[Correspondent, ...] = ()
    message_id: str | None = None
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attachment:
    """A file inside a file: attached to a mail, packed in an archive, a message of a mailbox.

    Attributes:
        name: as the file that holds it names it; a path with ``/`` inside of an archive.
        path: where its bytes were put meanwhile; whoever asked for the reading deletes it.
        place: 1-based, its position among the attachments.
    """

    name: str
    path: Path
    place: int


@dataclass(frozen=True, slots=True)
class Reading:
    """A file that was read.

    Attributes:
        kind: short name of the format as decided by content: ``pdf``, ``docx``, ``image`` …
        pages: in order, numbered from 1; at least one.
        citation: whether passages are cited by page, by line or by the file alone.
        title: the title the file gives itself, or ``None``.
        warnings: about the file as a whole.
        facts: what it says of itself.
        pictures: the pictures inside of it, each once.
        attachments: the files inside of it, to be read as documents of their own.
    """

    kind: str
    pages: tuple[Page, ...]
    citation: Citation
    title: str | None = None
    warnings: tuple[str, ...] = ()
    facts: Facts = field(default_factory=Facts)
    pictures: tuple[PictureReading, ...] = ()
    attachments: tuple[Attachment, ...] = ()
