"""How the reader and its worker talk: JSON objects, each preceded by its length.

JSON and not pickle, because the worker parses foreign bytes and may have been taken over: what
it sends is data, checked field by field, and can never run here.
"""

from __future__ import annotations

import datetime as dt
import json
import struct
from typing import Any, get_args

from emily.errors import ReadingError
from emily.reading.pages import (
    Correspondent,
    DateSource,
    Facts,
    Page,
    PictureReading,
    Role,
    Route,
    Table,
)

__all__ = [
    "MOST_BYTES",
    "FrameError",
    "checked_text",
    "decode",
    "encode",
    "facts_fields",
    "length",
    "page_fields",
    "picture_fields",
    "to_facts",
    "to_page",
    "to_picture",
]

PREFIX = struct.Struct(">I")
MOST_BYTES = 256 << 20
"""Largest frame, bytes. The longest page that a reader may send stays well below it."""

_ROUTES = frozenset(get_args(Route))
_ROLES = frozenset(get_args(Role))
_DATE_SOURCES = frozenset(get_args(DateSource))
_MOST_NAMES = 1000  # correspondents, and references of a mail


class FrameError(ReadingError):
    """The worker sent something that is not a frame of this protocol."""


def encode(message: dict[str, Any]) -> bytes:
    """One message as bytes: four bytes of length (big-endian), then UTF-8 JSON.

    Raises:
        FrameError: it would be larger than ``MOST_BYTES``.
    """
    body = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
    if len(body) > MOST_BYTES:
        raise FrameError(f"a message of {len(body):,} bytes; at most {MOST_BYTES:,} are sent")
    return PREFIX.pack(len(body)) + body


def length(prefix: bytes) -> int:
    """Size in bytes of the body that follows the prefix.

    Raises:
        FrameError: it is larger than ``MOST_BYTES``.
    """
    (size,) = PREFIX.unpack(prefix)
    if size > MOST_BYTES:
        raise FrameError(f"the worker announced {size:,} bytes; at most {MOST_BYTES:,} are taken")
    return int(size)


def decode(body: bytes) -> dict[str, Any]:
    """The message of a frame's body.

    Raises:
        FrameError: it is not a JSON object, or not UTF-8.
    """
    try:
        message = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise FrameError(f"the worker's answer is not JSON: {error}") from None
    if not isinstance(message, dict):
        raise FrameError(f"the worker's answer is a {type(message).__name__}, not an object")
    return message


def page_fields(page: Page) -> dict[str, Any]:
    """A page as a message of type ``page``."""
    return {
        "type": "page",
        "number": page.number,
        "text": page.text,
        "route": page.route,
        "tables": [{"header": table.header, "rows": table.rows} for table in page.tables],
        "warning": page.warning,
        "confidence": page.confidence,
        "pictures": page.pictures,
    }


def facts_fields(facts: Facts) -> dict[str, Any]:
    """Facts as an object of a message."""
    return {
        "author": facts.author,
        "date": None if facts.date is None else facts.date.isoformat(),
        "date_source": facts.date_source,
        "correspondents": [
            [person.role, person.name, person.address] for person in facts.correspondents
        ][:_MOST_NAMES],
        "message_id": facts.message_id,
        "references": facts.references[-_MOST_NAMES:],
    }


def picture_fields(picture: PictureReading) -> dict[str, Any]:
    """A picture as an object of a message."""
    return {
        "sha256": picture.sha256.hex(),
        "page": picture.page,
        "route": picture.route,
        "text": picture.text,
        "confidence": picture.confidence,
    }


def to_facts(given: object) -> Facts:
    """The facts of a message, every field checked.

    Raises:
        FrameError: a field is missing or of a wrong type.
    """
    if given is None:
        return Facts()
    if not isinstance(given, dict):
        raise FrameError("the facts are not an object")
    date = None
    source: Any = given.get("date_source")
    if given.get("date") is not None:
        try:
            date = dt.date.fromisoformat(checked_text(given, "date"))
        except ValueError:
            raise FrameError(f"the date is {given['date']!r}, not YYYY-MM-DD") from None
        if source not in _DATE_SOURCES:
            raise FrameError(f"a date of the source {source!r}; allowed: {sorted(_DATE_SOURCES)}")
    people, references = given.get("correspondents"), given.get("references")
    for items in (people, references):
        if not isinstance(items, list) or len(items) > _MOST_NAMES:
            raise FrameError("the correspondents or references are no list, or too long a one")
    return Facts(
        author=_optional_text(given, "author"),
        date=date,
        date_source=source if date is not None else None,
        correspondents=tuple(_to_person(item) for item in people or ()),
        message_id=_optional_text(given, "message_id"),
        references=tuple(checked_text({"reference": r}, "reference") for r in references or ()),
    )


def _to_person(value: object) -> Correspondent:
    match value:
        case [str() as role, str() as name, str() | None as address] if role in _ROLES:
            fields = {"name": name, "address": address}
            known: Any = role
            return Correspondent(
                known, checked_text(fields, "name"), _optional_text(fields, "address")
            )
    raise FrameError("a correspondent is not a role, a name and an address")


def to_picture(given: object) -> PictureReading:
    """The picture of a message, every field checked.

    Raises:
        FrameError: a field is missing or of a wrong type.
    """
    if not isinstance(given, dict):
        raise FrameError("a picture is not an object")
    route: Any = given.get("route")
    page = given.get("page")
    try:
        digest = bytes.fromhex(checked_text(given, "sha256"))
    except ValueError:
        digest = b""
    if len(digest) != 32 or route not in _ROUTES or not isinstance(page, int) or page < 0:
        raise FrameError("a picture's digest, route or page is wrong")
    return PictureReading(digest, page, route, checked_text(given, "text"), _confidence(given))


def _confidence(given: dict[str, Any]) -> float | None:
    value = given.get("confidence")
    if value is None:
        return None
    if not isinstance(value, (int, float)) or not 0 <= value <= 1:
        raise FrameError(f"a confidence is {value!r}, not a number from 0 to 1")
    return float(value)


def _optional_text(given: dict[str, Any], name: str) -> str | None:
    return None if given.get(name) is None else checked_text(given, name)


def to_page(message: dict[str, Any], number: int) -> Page:
    r"""The page of a message, every field checked.

    Args:
        message: of type ``page``.
        number: the number that the page must have: pages come in order.

    Raises:
        FrameError: a field is missing or of a wrong type, the text holds ``\r`` or half a
            surrogate pair, or a table lies outside of the text.
    """
    text = checked_text(message, "text")
    route: Any = message.get("route")
    if message.get("number") != number:
        raise FrameError(f"page {message.get('number')!r} came where {number} was due")
    if route not in _ROUTES:
        raise FrameError(f"page {number} has the route {route!r}; allowed: {sorted(_ROUTES)}")
    if "\r" in text:
        raise FrameError(f"page {number} holds a carriage return")
    tables = message.get("tables")
    if not isinstance(tables, list):
        raise FrameError(f"page {number} has no list of tables")
    lines = text.count("\n") + 1 if tables else 0
    pictures = message.get("pictures", 0)
    if not isinstance(pictures, int) or pictures < 0:
        raise FrameError(f"page {number} holds {pictures!r} pictures")
    return Page(
        number=number,
        text=text,
        route=route,
        tables=tuple(_to_table(table, lines) for table in tables),
        warning=_optional_text(message, "warning"),
        confidence=_confidence(message),
        pictures=pictures,
    )


def checked_text(message: dict[str, Any], name: str) -> str:
    """A field that must be text and can be written as UTF-8.

    NUL, which no text column holds, is taken out here, where all that was read comes by: texts,
    titles, names and warnings.

    Raises:
        FrameError: it is not.
    """
    value = message.get(name)
    if not isinstance(value, str):
        raise FrameError(f"'{name}' is a {type(value).__name__}, not text")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise FrameError(f"'{name}' holds half of a surrogate pair") from None
    return value.replace("\0", "")


def _to_table(table: object, lines: int) -> Table:
    if not isinstance(table, dict) or not isinstance(table.get("rows"), list):
        raise FrameError("a table is not an object with rows")
    header = table.get("header")
    spans = [_to_span(row) for row in table["rows"]]
    first = None if header is None else _to_span(header)
    last = -1
    for begin, end in ([first] if first else []) + spans:
        if not last < begin <= end < lines:
            raise FrameError(f"a table's row {begin}-{end} is out of order or outside the text")
        last = end
    return Table(header=first, rows=tuple(spans))


def _to_span(value: object) -> tuple[int, int]:
    match value:
        case [int(begin), int(end)]:
            return begin, end
    raise FrameError(f"a row's span is {value!r}, not two line numbers")
