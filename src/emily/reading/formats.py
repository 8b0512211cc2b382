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
    "doc": ("legacy", "read_doc"),
    "ppt": ("legacy", "read_ppt"),
    "xls": ("workbooks", "read_workbook"),
    "xlsb": ("workbooks", "read_workbook"),
    "odt": ("opendocument", "read_odt"),
    "ods": ("opendocument", "read_ods"),
    "odp": ("opendocument", "read_odp"),
    "rtf": ("rtf", "read_rtf"),
    "epub": ("epub", "read_epub"),
    "iwork": ("iwork", "read_iwork"),
    "encrypted": ("encrypted", "read_encrypted"),
    "html": ("web", "read_html"),
    "webarchive": ("webarchive", "read_webarchive"),
    "mhtml": ("webarchive", "read_mhtml"),
    "eml": ("mail", "read_mail"),
    "msg": ("outlook", "read_msg"),
    "mbox": ("mailbox", "read_mbox"),
    "markdown": ("text", "read_markdown"),
    "text": ("text", "read_text"),
    "csv": ("text", "read_csv"),
    "xml": ("data", "read_xml"),
    "json": ("data", "read_json"),
    "notebook": ("notebook", "read_notebook"),
    "invoice": ("invoice", "read_invoice"),
    "signed": ("signed", "read_signed"),
    "zip": ("packed", "read_zip"),
}


def reader_of(kind: str) -> Callable[[Source], Draft]:
    """The function that reads files of a kind (one of ``kind.KINDS``)."""
    module, name = _READERS[kind]
    reader: Callable[[Source], Draft] = getattr(
        importlib.import_module(f"emily.reading.{module}"), name
    )
    return reader
