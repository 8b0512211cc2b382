"""Documents of other formats inside of a Word document (``altChunk``), read in its place."""

from __future__ import annotations

import posixpath
import tempfile
from pathlib import Path

from emily.errors import LimitExceeded
from emily.reading.formats import reader_of
from emily.reading.kind import detect
from emily.reading.office.ooxml import Container
from emily.reading.pages import Page
from emily.reading.source import Source

__all__ = ["chunk_pages"]

_DEEPEST = 4  # documents inside of one another
_INSIDE = " ⊃ "  # between their names


def chunk_pages(container: Container, source: Source, path: str) -> list[Page]:
    """The pages of a document that stands in a part of another.

    Raises:
        ReadingError: the part is missing, or cannot be read.
    """
    if source.name.count(_INSIDE) >= _DEEPEST:
        raise LimitExceeded("documents stand in one another too deeply")
    data = container.data(path)
    name = posixpath.basename(path)
    with tempfile.TemporaryDirectory(dir=source.scratch) as folder:
        inner = Path(folder) / name
        inner.write_bytes(data)
        within = source.within(inner, f"{source.name}{_INSIDE}{name}")
        return list(reader_of(detect(inner, name).name)(within).pages)
