"""What reading a file gives: numbered pages of text, each with the route it was read by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["Citation", "Page", "Reading", "Route", "Table"]

Route = Literal["text", "ocr", "vision", "blank", "unread"]
"""How a page was read: its own text, OCR, a vision model; ``blank`` has no ink."""

Citation = Literal["pages", "lines", "none"]
"""What a passage of this kind of file is cited by."""


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
    """

    number: int
    text: str
    route: Route = "text"
    tables: tuple[Table, ...] = ()
    warning: str | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """A file that was read.

    Attributes:
        kind: short name of the format as decided by content: ``pdf``, ``docx``, ``image`` …
        pages: in order, numbered from 1; at least one.
        citation: whether passages are cited by page, by line or by the file alone.
        title: the title the file gives itself, or ``None``.
        warnings: about the file as a whole.
    """

    kind: str
    pages: tuple[Page, ...]
    citation: Citation
    title: str | None = None
    warnings: tuple[str, ...] = ()
