"""Compressed parts of a PDF that are destroyed: PDFium draws nothing for them and says nothing."""

from __future__ import annotations

import base64
import mmap
import re
import zlib
from pathlib import Path

__all__ = ["holds_broken_stream"]

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
