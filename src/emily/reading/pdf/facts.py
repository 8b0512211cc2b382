"""What a PDF says of itself: title, author, date, and the files that it carries."""

from __future__ import annotations

import ctypes
import datetime as dt
import re
from collections.abc import Iterator
from typing import Any

from pypdfium2 import raw

from emily.reading.pages import Facts
from emily.reading.source import Enclosed, tidy

__all__ = ["attached", "facts", "title"]

_EMPTY = re.compile(
    r"\(?(?:untitled|anonymous|unspecified|unknown)\)?|microsoft word - .*"
    r"|.*\.(?:docx?|indd|qxd|dvi|tex|odt|rtf|pages|xlsx?|pptx?)",
    re.I,
)
_DATE = re.compile(r"(?:D:)?\s*(\d{4})(?:[-:./]?(\d\d)(?:[-:./]?(\d\d))?)?")
_FIRST_YEAR = 1980  # of files; a clock that was never set says 1970 or 1904
_MOST_ATTACHED = 1_000
_MOST_BYTES = 512 << 20


def title(document: Any) -> str | None:
    """The title, unless a program put its own name or the file's there."""
    found = _value(document, "Title")
    return found if found and not _EMPTY.fullmatch(found) else None


def facts(document: Any) -> Facts:
    """Author and date: the day of creation, else that of the last change (ISO 32000-1, 14.3.3)."""
    author = _value(document, "Author")
    date = _date(_value(document, "CreationDate")) or _date(_value(document, "ModDate"))
    return Facts(
        author=author if author and not _EMPTY.fullmatch(author) else None,
        date=date,
        date_source=None if date is None else "metadata",
    )


def _value(document: Any, key: str) -> str:
    text = tidy(document.get_metadata_value(key) or "").replace("\0", "")
    return " ".join(text.split())[:1000]


def _date(value: str) -> dt.date | None:
    """The day in a PDF's date, ``D:20260312094500+01'00'``; ``None`` if it is none."""
    found = _DATE.match(value)
    if found is None or found[2] is None or found[3] is None:
        return None
    try:
        date = dt.date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return None
    return date if date.year >= _FIRST_YEAR else None


def attached(document: Any) -> Iterator[Enclosed]:
    """The files that a PDF carries, as an electronic invoice carries its data."""
    for at in range(min(raw.FPDFDoc_GetAttachmentCount(document.raw), _MOST_ATTACHED)):
        item = raw.FPDFDoc_GetAttachment(document.raw, at)
        if not item:
            continue
        size = raw.FPDFAttachment_GetName(item, None, 0)
        name = ctypes.create_string_buffer(max(2, size))
        raw.FPDFAttachment_GetName(item, ctypes.cast(name, ctypes.POINTER(ctypes.c_ushort)), size)
        length = ctypes.c_ulong(0)
        if not raw.FPDFAttachment_GetFile(item, None, 0, ctypes.byref(length)):
            continue
        if not 0 < length.value < _MOST_BYTES:
            continue
        data = ctypes.create_string_buffer(length.value)
        if raw.FPDFAttachment_GetFile(item, data, length.value, ctypes.byref(length)):
            text = name.raw[: max(0, size - 2)].decode("utf-16-le", "replace")
            yield Enclosed(tidy(text) or f"attachment {at + 1}", [data.raw[: length.value]])
