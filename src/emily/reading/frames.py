"""How the reader and its worker talk: JSON objects, each preceded by its length.

JSON and not pickle, because the worker parses foreign bytes and may have been taken over: what
it sends is data, checked field by field, and can never run here.
"""

from __future__ import annotations

import json
import struct
from typing import Any, get_args

from emily.errors import ReadingError
from emily.reading.pages import Page, Route, Table

__all__ = ["MOST_BYTES", "FrameError", "decode", "encode", "length", "page_fields", "to_page"]

PREFIX = struct.Struct(">I")
MOST_BYTES = 256 << 20
"""Largest frame, bytes. The longest page that a reader may send stays well below it."""

_ROUTES = frozenset(get_args(Route))


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
    }


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
    warning = None if message.get("warning") is None else checked_text(message, "warning")
    return Page(
        number=number,
        text=text,
        route=route,
        tables=tuple(_to_table(table, lines) for table in tables),
        warning=warning,
    )


def checked_text(message: dict[str, Any], name: str) -> str:
    """A field that must be text and can be written as UTF-8.

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
    return value


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
