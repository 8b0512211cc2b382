"""Parts of mail that are made out of other formats, and mails written as files."""

from __future__ import annotations

import base64
import mimetypes
import re
from collections.abc import Iterator, Sequence

from emily.reading.mail.mime import Part

__all__ = ["attached", "joined", "leaf", "serial"]

_KIND = re.compile(r"[\w!#$&^.+-]+/[\w!#$&^.+-]+")


def leaf(kind: str, data: bytes) -> Part:
    """A part that is text or a file.

    Args:
        kind: content type, with its parameters.
        data: its bytes.
    """
    return Part([("content-type", kind)], data, 0, len(data))


def joined(kind: str, parts: Sequence[Part]) -> Part:
    """A multipart."""
    return Part([("content-type", kind)], b"", 0, 0, list(parts))


def attached(data: bytes, name: str, kind: str, content_id: str = "", location: str = "") -> Part:
    """An attached file.

    Args:
        data: its bytes.
        name: may be empty.
        kind: content type; told by the name where it is none, or that of a multipart.
        content_id: by which HTML refers to it, or an empty text.
        location: the same as an address.
    """
    kind = kind.lower()
    if not _KIND.fullmatch(kind) or kind.startswith("multipart/"):
        kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    part = leaf(kind, data)
    if content_id:
        part.headers.append(("content-id", f"<{content_id.strip('<> ')}>"))
    if location:
        part.headers.append(("content-location", location))
    quoted = re.sub(r'(["\\])', r"\\\1", name)
    part.headers.append(("content-disposition", f'attachment; filename="{quoted}"'))
    return part


def serial(mail: Part) -> bytes:
    """A mail as a file; headers in UTF-8 (RFC 6532), all bodies in base64."""
    return b"".join(_lines(mail, "=_0"))


def _lines(part: Part, boundary: str) -> Iterator[bytes]:
    for name, value in part.headers:
        value = " ".join(value.split())
        if name == "content-type" and part.parts:
            value = f'{part.kind}; boundary="{boundary}"'
        if name != "content-transfer-encoding":
            yield f"{name.title()}: {value}\n".encode("utf-8", "replace")
    if not part.parts:
        yield b"Content-Transfer-Encoding: base64\n\n"
        yield base64.encodebytes(part.body())
        return
    for number, child in enumerate(part.parts):
        yield f"\n--{boundary}\n".encode()
        yield from _lines(child, f"{boundary}.{number}")
    yield f"\n--{boundary}--\n".encode()
