"""Which reader reads which kind. Each is imported when the first such file comes."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from emily.reading.source import Draft, Source

__all__ = ["reader_of"]

_READERS = {
    "pdf": ("pdf", "read_pdf"),
    "image": ("image", "read_image"),
    "docx": ("word", "read_docx"),
    "xlsx": ("sheets", "read_xlsx"),
    "pptx": ("slides", "read_pptx"),
    "html": ("web", "read_html"),
    "markdown": ("text", "read_markdown"),
    "text": ("text", "read_text"),
    "csv": ("text", "read_csv"),
    "eml": ("mail", "read_mail"),
}


def reader_of(kind: str) -> Callable[[Source], Draft]:
    """The function that reads files of a kind (one of ``kind.KINDS``)."""
    module, name = _READERS[kind]
    reader: Callable[[Source], Draft] = getattr(
        importlib.import_module(f"emily.reading.{module}"), name
    )
    return reader
