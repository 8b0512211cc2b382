"""The archives inside of iWork files (IWA): Snappy without its checksums, around Protobuf.

Described at https://github.com/obriensp/iWorkFileFormat. A file is a row of chunks: a zero, the
chunk's size in three bytes, and a Snappy block (google/snappy, format_description.txt). Unpacked
and joined they are a row of objects: the size of a header, the header (ArchiveInfo), and messages
whose type and size the header states.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from emily.errors import ReadingError

__all__ = ["messages", "texts_of", "unsnappy"]

_STORAGE, _DATA_LIST = 2001, 6005  # TSWP.StorageArchive; TST.TableDataList, the texts of cells
_MOST = 256 << 20
_ATTACHED = str.maketrans(
    {"\ufffc": None, "\u2028": "\n", "\u2029": "\n", "\x04": "\n", "\x05": "\n"}
)


def texts_of(found: Iterable[tuple[int, bytes]]) -> Iterator[str]:
    """The texts among messages: of pages, boxes and notes, and of the cells of tables."""
    for kind, message in found:
        if kind == _STORAGE:
            pieces = [data for name, data in _fields(message) if name == 3 and data]
            text = b"".join(pieces).decode("utf-8", "replace").translate(_ATTACHED).strip()
            if text:
                yield text
        elif kind == _DATA_LIST:
            for name, entry in _fields(message):
                if name == 3:
                    for inner, data in _fields(entry):
                        if inner == 3 and (text := data.decode("utf-8", "replace").strip()):
                            yield text


def messages(data: bytes) -> Iterator[tuple[int, bytes]]:
    """The messages of an archive: type and content.

    Raises:
        ReadingError: the archive is damaged.
    """
    stream = _unpacked(data)
    at = 0
    while at < len(stream):
        size, at = _varint(stream, at)
        header = stream[at : at + size]
        at += size
        for name, info in _fields(header):
            if name != 2:
                continue
            numbers = dict(_numbers(info))
            length = numbers.get(3, 0)
            yield numbers.get(1, 0), stream[at : at + length]
            at += length


def _unpacked(data: bytes) -> bytes:
    pieces, at, size = [], 0, 0
    while at + 4 <= len(data):
        if data[at] != 0:
            raise ReadingError("it is no archive of iWork")
        end = at + 4 + int.from_bytes(data[at + 1 : at + 4], "little")
        pieces.append(unsnappy(data[at + 4 : end]))
        size += len(pieces[-1])
        if size > _MOST:
            raise ReadingError(f"it unpacks to more than {_MOST >> 20} MiB")
        at = end
    return b"".join(pieces)


def unsnappy(data: bytes) -> bytes:
    """Unpack a Snappy block.

    Raises:
        ReadingError: it is damaged, or declares more than 64 KiB times its size could give.
    """
    size, at = _varint(data, 0)
    if size > max(64 * len(data), 1 << 16):
        raise ReadingError(f"a block declares {size:,} bytes")
    out = bytearray()
    try:
        while at < len(data) and len(out) <= size:
            tag = data[at]
            at += 1
            if tag & 3 == 0:  # bytes as they are
                length = tag >> 2
                if length >= 60:
                    extra = length - 59
                    length = int.from_bytes(data[at : at + extra], "little")
                    at += extra
                out += data[at : at + length + 1]
                at += length + 1
                continue
            if tag & 3 == 1:
                length, offset = 4 + (tag >> 2 & 7), (tag >> 5) << 8 | data[at]
                at += 1
            else:
                width = 2 if tag & 3 == 2 else 4
                length, offset = 1 + (tag >> 2), int.from_bytes(data[at : at + width], "little")
                at += width
            start = len(out) - offset
            if offset == 0 or start < 0:
                raise ReadingError("a block refers to what is not there")
            for place in range(start, start + length):  # it may overlap what it makes
                out.append(out[place])
    except IndexError:
        raise ReadingError("a block is cut off") from None
    if len(out) != size:
        raise ReadingError(f"a block has {len(out):,} bytes and declares {size:,}")
    return bytes(out)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A Protobuf number, and where it ends."""
    value = 0
    for shift in range(0, 70, 7):
        if at >= len(data):
            raise ReadingError("it is cut off")
        value |= (data[at] & 0x7F) << shift
        at += 1
        if data[at - 1] < 0x80:
            return value, at
    raise ReadingError("a number in it has no end")


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """The fields with bytes: number and content."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        match key & 7:
            case 0:
                _, at = _varint(message, at)
            case 1:
                at += 8
            case 2:
                size, at = _varint(message, at)
                yield key >> 3, message[at : at + size]
                at += size
            case 5:
                at += 4
            case _:
                raise ReadingError("a message in it is damaged")


def _numbers(message: bytes) -> Iterator[tuple[int, int]]:
    """The fields with numbers: number of the field and value."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        match key & 7:
            case 0:
                value, at = _varint(message, at)
                yield key >> 3, value
            case 1:
                at += 8
            case 2:
                size, at = _varint(message, at)
                at += size
            case 5:
                at += 4
            case _:
                raise ReadingError("a message in it is damaged")
