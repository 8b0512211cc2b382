"""Files embedded in Office files: packed as they are, or wrapped in an OLE object."""

from __future__ import annotations

import posixpath
import struct
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from emily.errors import ReadingError
from emily.reading.legacy.compound import Compound
from emily.reading.office.ooxml import Container
from emily.reading.source import Enclosed, Source

__all__ = ["embedded_files", "embedded_parts"]

_KINDS = frozenset({"package", "oleObject"})
_WRAPPED = "\x01Ole10Native"
_STREAMS = (("WordDocument", ".doc"), ("Workbook", ".xls"), ("Book", ".xls"),
            ("PowerPoint Document", ".ppt"))  # fmt: skip
_PACKED = (("word/", ".docx"), ("xl/", ".xlsx"), ("ppt/", ".pptx"))


def embedded_parts(related: Mapping[str, tuple[str, str]]) -> list[str]:
    """Paths of the files that a part embeds. (The workbook behind a chart belongs to the chart.)"""
    return [path for kind, path in related.values() if kind in _KINDS]


def embedded_files(source: Source, parts: Iterable[str]) -> Iterator[Enclosed]:
    """The embedded files, each under its own name where one is stored."""
    paths = list(dict.fromkeys(parts))
    if not paths:
        return
    with Container(source.path) as container:
        for path in paths:
            if path in container:
                yield _opened(container, path, source.scratch)


def _opened(container: Container, path: str, scratch: Path | None) -> Enclosed:
    name = posixpath.basename(path)
    try:
        data = container.data(path)
        if data[:8] == b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":
            name, data = _unwrapped(name, data, scratch)
    except ReadingError as error:
        return Enclosed(name, _failing(error))
    return Enclosed(name, (data,))


def _failing(error: ReadingError) -> Iterator[bytes]:
    yield b""
    raise error


def _unwrapped(name: str, data: bytes, scratch: Path | None) -> tuple[str, bytes]:
    """The file inside of an OLE object; the object itself where it is a file of its own kind."""
    with tempfile.TemporaryDirectory(dir=scratch) as folder:
        path = Path(folder) / "object"
        path.write_bytes(data)
        compound = Compound(path)
        try:
            stem = posixpath.splitext(name)[0]
            for stream, suffix in _STREAMS:
                if stream in compound:
                    return stem + suffix, data
            if "Package" in compound:
                inner = compound.read("Package")
                return stem + _packed_suffix(path.with_name("inner"), inner), inner
            if _WRAPPED in compound:
                return _native(name, compound.read(_WRAPPED))
            if "CONTENTS" in compound:  # how Acrobat embeds a PDF
                inner = compound.read("CONTENTS")
                return (stem + ".pdf" if inner[:5] == b"%PDF-" else name), inner
        finally:
            compound.close()
    return name, data


def _packed_suffix(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    try:
        with Container(path) as container:
            names = container.names()
    except ReadingError:
        return ".bin"
    for folder, suffix in _PACKED:
        if any(name.startswith(folder) for name in names):
            return suffix
    return ".zip"


def _native(name: str, stream: bytes) -> tuple[str, bytes]:
    """The file in an ``Ole10Native`` stream: size, flags, label, path, path again, size, bytes.

    [MS-OLEDS] 2.3.6 leaves the inner layout to the packager; this is Windows' own since 3.1.
    """
    try:
        at = 6
        end = stream.index(b"\0", at)
        label = stream[at:end].decode("cp1252", "replace")
        at = stream.index(b"\0", end + 1) + 1 + 4
        (length,) = struct.unpack_from("<I", stream, at)
        at += 4 + length
        (size,) = struct.unpack_from("<I", stream, at)
        data = stream[at + 4 : at + 4 + size]
    except (ValueError, struct.error):
        return name, stream
    if size == 0 or len(data) < size:
        return name, stream
    return posixpath.basename(label.replace("\\", "/")) or name, data
