"""Compressed parts of a PDF that are destroyed or bombs, of which PDFium says nothing."""

from __future__ import annotations

import base64
import mmap
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["MOST_UNPACKED", "Packed", "examine", "holds_broken_stream"]

MOST_UNPACKED = 256 << 20
"""Most bytes that a compressed part may unpack to. The drawing of a large map has tens of MiB."""

_FLATE = re.compile(rb"/Filter\s*\[?\s*/(?:FlateDecode|Fl)\b")
_OTHERWISE = re.compile(
    rb"/Subtype\s*/Image|/(?:ASCIIHex|ASCII85|LZW|RunLength|DCT|JPX|JBIG2|CCITTFax)Decode|/Crypt"
)
_PIECE = 1 << 16  # bytes that are unpacked at a time
_LARGEST = 1 << 20  # bytes that they may unpack to at a time

_STREAM = re.compile(rb"(?<!end)stream\r?\n")
_DICTIONARY = 1_000  # bytes before a stream that its dictionary stands in
_LOOKED_AT = 4_096  # bytes of a stream that are unpacked
_MOST_STREAMS = 50_000


def holds_broken_stream(path: Path) -> bool:
    """Whether a stream that is no picture cannot be unpacked from its first bytes on.

    Streams that are packed by Flate, in ASCII or not, are tried; one that breaks off later is
    drawn up to there. Only for a PDF that is not encrypted.

    Args:
        path: of the PDF.
    """
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            for number, match in enumerate(_STREAM.finditer(data)):
                if number >= _MOST_STREAMS:
                    break
                before = data[max(0, match.start() - _DICTIONARY) : match.start()]
                begin = data[match.end() : match.end() + _LOOKED_AT]
                if _is_broken(before.rpartition(b"obj")[2], begin):
                    return True
    except (OSError, ValueError):  # it went meanwhile, or is empty
        return False
    return False


def _is_broken(dictionary: bytes, data: bytes) -> bool:
    if b"/FlateDecode" not in dictionary or re.search(rb"/Subtype\s*/Image", dictionary):
        return False
    if re.search(rb"/(ASCIIHex|LZW|RunLength|DCT|JPX|JBIG2|CCITTFax)Decode|/Crypt", dictionary):
        return False
    data = data.partition(b"endstream")[0]
    try:
        if b"/ASCII85Decode" in dictionary:
            plain = b"".join(data.partition(b"~>")[0].split())
            plain = plain[: len(plain) // 5 * 5] if b"~>" not in data else plain
            data = base64.a85decode(plain)
        zlib.decompressobj().decompress(data, 64)
    except (ValueError, zlib.error):
        return True
    return False


@dataclass(frozen=True, slots=True)
class Packed:
    """What is the matter with the compressed parts of a PDF.

    Attributes:
        bomb: whether one unpacks to more than ``MOST_UNPACKED`` bytes.
        broken: how many break in the middle of their data.
    """

    bomb: bool = False
    broken: int = 0


def examine(path: Path) -> Packed:
    """Look through the large compressed parts for bombs, and through all for broken ones.

    Pictures are left out: they have limits of their own, and are said where they stand. Parts that
    are encrypted, or packed otherwise than by Flate alone, are not looked at.

    Args:
        path: of the PDF.
    """
    broken = 0
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            for number, (begin, end) in enumerate(_spans(data)):
                if number >= _MOST_STREAMS:
                    break
                before = data[max(0, begin - _DICTIONARY) : begin].rpartition(b"obj")[2]
                if not _FLATE.search(before) or _OTHERWISE.search(before):
                    continue
                try:
                    if _unpacked(data, begin, end) > MOST_UNPACKED:
                        return Packed(bomb=True)
                except zlib.error:
                    broken += 1
    except (OSError, ValueError):  # it went meanwhile, or is empty
        return Packed()
    return Packed(broken=broken)


def _spans(data: mmap.mmap) -> Iterator[tuple[int, int]]:
    """Where the data of streams begin and end."""
    at = 0
    while (at := data.find(b"stream", at)) >= 0:
        at += 6
        lines = data[at : at + 2]
        at += 2 if lines == b"\r\n" else lines[:1] == b"\n"
        if lines[:1] not in {b"\r", b"\n"}:
            continue
        end = data.find(b"endstream", at)
        if end < 0:
            return
        yield at, end
        at = end + 9


def _unpacked(data: mmap.mmap, begin: int, end: int) -> int:
    """How many bytes a part unpacks to; it is unpacked piece by piece, and not kept.

    Raises:
        zlib.error: it breaks before its end.
    """
    unpacker = zlib.decompressobj()
    size = 0
    for at in range(begin, end, _PIECE):
        piece = data[at : min(end, at + _PIECE)]
        while piece and not unpacker.eof:
            size += len(unpacker.decompress(piece, _LARGEST))
            if size > MOST_UNPACKED:
                return size
            piece = unpacker.unconsumed_tail
        if unpacker.eof:
            break
    return size
