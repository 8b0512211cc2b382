"""Pictures inside of the binary formats of Office ([MS-ODRAW], [MS-DOC] 2.9.192)."""

from __future__ import annotations

import struct
from collections.abc import Iterator

__all__ = ["anchored", "blips", "picture_at", "shapes", "store"]

_BLIPS = range(0xF01A, 0xF118)  # OfficeArtBlip records
_CONTAINERS = frozenset({0xF000, 0xF001, 0xF002, 0xF003, 0xF004})
_ENTRY, _ENTRY_BYTES = 0xF007, 36  # OfficeArtFBSE
_STARTS = (b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"II*\0", b"MM\0*")
_DIB = 0xF01F
_SHAPE, _PROPERTIES, _PICTURE = 0xF00A, 0xF00B, 0x0104  # FSP, FOPT and its property pib
_ANCHOR = 0xF010  # OfficeArtClientAnchorSheet, [MS-XLS] 2.5.193
_UID = 16  # bytes, before the picture: one or two digests and a tag


def picture_at(data: bytes, place: int) -> bytes | None:
    """The picture of a Word document at a place in its stream ``Data``, as a file.

    One that is kept in a form of Windows (EMF, WMF) comes as it is stored.
    """
    if place < 0 or place + 68 > len(data):
        return None
    size, header = struct.unpack_from("<iH", data, place)
    if size <= header or header < 68:
        return None
    drawn = data[place + header : place + size]
    if struct.unpack_from("<h", data, place + 6)[0] == 0x66 and drawn:  # the name of a file
        drawn = drawn[1 + drawn[0] :]
    return next(blips(drawn), None)


def blips(data: bytes) -> Iterator[bytes]:
    """The pictures in a run of OfficeArt records, as files, in order."""
    at = 0
    while at + 8 <= len(data):
        record, size = struct.unpack_from("<HI", data, at + 2)
        at += 8
        if record in _CONTAINERS:
            continue  # its parts follow
        if record == _ENTRY:
            if at + _ENTRY_BYTES > len(data):
                return
            at += _ENTRY_BYTES + data[at + 33]  # the length of a name; the picture follows
            continue
        if record in _BLIPS and size:
            yield _file(record, data[at : at + size])
        at += size


def store(drawing: bytes, main: bytes) -> list[bytes | None]:
    """The pictures that the shapes of a document share, as files, in the order of their numbers.

    Args:
        drawing: OfficeArtContent, [MS-DOC] 2.9.172.
        main: the stream that holds the pictures themselves.
    """
    found: list[bytes | None] = []
    for record, at, size in _records(drawing):
        if record == _ENTRY and size >= _ENTRY_BYTES:
            place = struct.unpack_from("<I", drawing, at + 28)[0]
            inside = drawing[at + _ENTRY_BYTES + drawing[at + 33] : at + size]
            end = place + 8 + int.from_bytes(main[place + 4 : place + 8], "little")
            found.append(next(blips(inside or main[place:end]), None))
    return found


def shapes(drawing: bytes) -> dict[int, int]:
    """The number of the picture, from 1, that each shape shows, by the shape's id."""
    found: dict[int, int] = {}
    shape = 0
    for record, at, size in _records(drawing):
        if record == _SHAPE and size >= 4:
            shape = struct.unpack_from("<I", drawing, at)[0]
        elif record == _PROPERTIES:
            for place in range(at, at + size - 5, 6):
                name, value = struct.unpack_from("<HI", drawing, place)
                if name & 0x3FFF == _PICTURE:
                    found[shape] = value
    return found


def anchored(drawing: bytes) -> list[tuple[int, int]]:
    """Row (1-based) and number, from 1, of the pictures on a sheet of Excel, in their order."""
    found: list[tuple[int, int]] = []
    number = 0
    for record, at, size in _records(drawing):
        if record == _SHAPE:
            number = 0
        elif record == _PROPERTIES:
            for place in range(at, at + size - 5, 6):
                name, value = struct.unpack_from("<HI", drawing, place)
                if name & 0x3FFF == _PICTURE:
                    number = value
        elif record == _ANCHOR and size >= 8 and number:
            found.append((int.from_bytes(drawing[at + 6 : at + 8], "little") + 1, number))
    return found


def _records(data: bytes) -> Iterator[tuple[int, int, int]]:
    """Type, place and size of the records, those inside of containers too. Between the drawings
    of a document stands a byte that is no record."""
    at = 0
    while at + 8 <= len(data):
        record, size = struct.unpack_from("<HI", data, at + 2)
        if not 0xF000 <= record <= 0xF200:
            at += 1
            continue
        at += 8
        size = min(size, len(data) - at)
        yield record, at, size
        if record not in _CONTAINERS:
            at += size


def _file(record: int, blip: bytes) -> bytes:
    if record == _DIB:
        bitmap = blip[_UID + 1 :]
        colours = struct.unpack_from("<I", bitmap.ljust(40, b"\0"), 32)[0]
        return (
            b"BM"
            + struct.pack("<IHHI", 14 + len(bitmap), 0, 0, 54 + 4 * min(colours, 256))
            + bitmap
        )
    for begin in (_UID + 1, 2 * _UID + 1):
        if blip[begin:].startswith(_STARTS):
            return blip[begin:]
    return blip
