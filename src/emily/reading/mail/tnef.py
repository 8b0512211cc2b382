"""Files that Outlook packed as winmail.dat (MS-OXTNEF): the text and the attachments in it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from emily.errors import ReadingError
from emily.reading.mail.charsets import decoded
from emily.reading.mail.mapi import charset
from emily.reading.mail.mime import Part
from emily.reading.mail.mime_writer import attached, joined, leaf, serial
from emily.reading.mail.outlook_rtf import decompressed, unfolded
from emily.reading.source import tidy

__all__ = ["parts_of"]

_START = b"\x78\x9f\x3e\x22"
_MOST_NESTED = 8
_MOST_ATTRIBUTES = 20_000
_MOST_PROPERTIES = 10_000
# Attributes (2.1.3.2), without their type.
_BODY, _PROPERTIES, _PAGE = 0x800C, 0x9003, 0x9007
_RENDERED, _TITLE, _DATA, _ATTACHED = 0x9002, 0x8010, 0x800F, 0x9005
_SIZES = {2: 4, 3: 4, 4: 4, 5: 8, 6: 8, 7: 8, 0xA: 4, 0xB: 4, 0x14: 8, 0x40: 8, 0x48: 16}
_TEXT, _WIDE, _BYTES, _OBJECT = 0x1E, 0x1F, 0x102, 0x0D
_MANY = 0x1000  # flag of a type: several values


@dataclass(slots=True)
class _Attachment:
    name: str = ""
    data: bytes = b""
    properties: dict[int, bytes | str] = field(default_factory=dict)


def parts_of(data: bytes, depth: int = 0) -> list[Part]:
    """What winmail.dat holds, as parts of a mail: texts first, then the attachments.

    A file that ends too early gives what it holds; a message inside of it becomes a mail.

    Args:
        data: the file.
        depth: how many such files it is inside of.

    Raises:
        ReadingError: it is not packed so.
    """
    if data[:4] != _START:
        raise ReadingError("it is not TNEF")
    page, plain = 1252, b""
    properties: dict[int, bytes | str] = {}
    attachments: list[_Attachment] = []
    for number, value in _attributes(data):
        if number == _PAGE and len(value) >= 4:
            page = struct.unpack_from("<I", value)[0]
        elif number == _BODY:
            plain = value
        elif number == _PROPERTIES:
            properties = dict(_properties(value, page))
        elif number == _RENDERED:
            attachments.append(_Attachment())
        elif attachments and number == _TITLE:
            attachments[-1].name = _string(value, page)
        elif attachments and number == _DATA:
            attachments[-1].data = value
        elif attachments and number == _ATTACHED:
            attachments[-1].properties = dict(_properties(value, page))
    return [*_texts(properties, plain, page), *_files(attachments, depth)]


def _attributes(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and value of each attribute; their checksums are not tested."""
    at = 6
    for _ in range(_MOST_ATTRIBUTES):
        if at + 9 > len(data):
            return
        number, size = struct.unpack_from("<HxxI", data, at + 1)
        yield number, data[at + 9 : at + 9 + size]
        at += 9 + size + 2


def _string(value: bytes, page: int) -> str:
    text = decoded(value.rstrip(b"\0"), charset(page))[0]
    return tidy(text.replace("\0", ""))


def _properties(data: bytes, page: int) -> Iterator[tuple[int, bytes | str]]:
    """Properties that are text or bytes, by number; those that are named are passed over."""
    at = 4
    try:
        (count,) = struct.unpack_from("<I", data)
        for _ in range(min(count, _MOST_PROPERTIES)):
            kind, number = struct.unpack_from("<HH", data, at)
            at += 4
            if number >= 0x8000:
                at = _after_name(data, at)
            many, kind = bool(kind & _MANY), kind & ~_MANY
            values = 1
            if many or kind in {_TEXT, _WIDE, _BYTES, _OBJECT}:
                (values,) = struct.unpack_from("<I", data, at)
                at += 4
            for _ in range(min(values, _MOST_PROPERTIES)):
                if kind in _SIZES:
                    at += _SIZES[kind]
                    continue
                (size,) = struct.unpack_from("<I", data, at)
                value = data[at + 4 : at + 4 + size]
                at += 4 + size + -size % 4
                if number < 0x8000 and kind == _TEXT:
                    yield number, _string(value, page)
                elif number < 0x8000 and kind == _WIDE:
                    yield number, tidy(value.decode("utf-16-le", "replace").replace("\0", ""))
                elif number < 0x8000:
                    yield number, value[16:] if kind == _OBJECT else value
    except struct.error:
        return  # truncated


def _after_name(data: bytes, at: int) -> int:
    """Where a property goes on after its name."""
    (kind,) = struct.unpack_from("<I", data, at + 16)
    if kind == 0:
        return at + 24
    (size,) = struct.unpack_from("<I", data, at + 20)
    return int(at + 24 + size + -size % 4)


def _texts(properties: dict[int, bytes | str], plain: bytes, page: int) -> Iterator[Part]:
    """The text, in the best form in which it is there."""
    marked, body, rich = (properties.get(number) for number in (0x1013, 0x1000, 0x1009))
    if isinstance(marked, bytes) and marked.strip():
        yield leaf("text/html", marked)
    elif isinstance(rich, bytes) and rich:
        text, is_html = unfolded(decompressed(rich))
        kind = "text/html" if is_html else "text/plain"
        yield leaf(f"{kind}; charset=utf-8", tidy(text).encode("utf-8", "replace"))
    elif isinstance(body, str) and body.strip():
        yield leaf("text/plain", body.encode("utf-8", "replace"))
    elif plain.strip():
        yield leaf("text/plain", _string(plain, page).encode("utf-8", "replace"))


def _files(attachments: list[_Attachment], depth: int) -> Iterator[Part]:
    for attachment in attachments:
        held = attachment.properties
        name = " ".join((_said(held, 0x3707, 0x3001) or attachment.name).split())
        inner = held.get(0x3701)
        data = attachment.data or (inner if isinstance(inner, bytes) else b"")
        if data[:4] == _START and depth < _MOST_NESTED:
            mail = joined("multipart/mixed", parts_of(data, depth + 1))
            mail.headers.insert(0, ("subject", name))
            yield leaf("message/rfc822", serial(mail))
        elif data:
            yield attached(data, name, _said(held, 0x370E), _said(held, 0x3712))


def _said(properties: dict[int, bytes | str], *numbers: int) -> str:
    """The first of some properties that is a text, or an empty one."""
    values = (properties.get(number) for number in numbers)
    return next((value for value in values if isinstance(value, str) and value), "")
