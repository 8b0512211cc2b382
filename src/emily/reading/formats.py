"""Which reader reads which kind. Each is imported when the first such file comes."""

from __future__ import annotations

import importlib
from collections.abc import Callable

from emily.reading.source import Draft, Source

__all__ = ["reader_of"]

_READERS = {
    "pdf": ("pdf.document", "read_pdf"),
    "image": ("ocr.image", "read_image"),
    "docx": ("office.word", "read_docx"),
    "xlsx": ("office.sheets", "read_xlsx"),
    "pptx": ("office.slides", "read_pptx"),
    "doc": ("legacy.documents", "read_doc"),
    "ppt": ("legacy.documents", "read_ppt"),
    "xls": ("legacy.workbooks", "read_workbook"),
    "xlsb": ("legacy.workbooks", "read_workbook"),
    "odt": ("opendocument.document", "read_odt"),
    "ods": ("opendocument.document", "read_ods"),
    "odp": ("opendocument.document", "read_odp"),
    "rtf": ("rtf.document", "read_rtf"),
    "epub": ("web.book", "read_epub"),
    "iwork": ("packed.iwork", "read_iwork"),
    "encrypted": ("office.encrypted", "read_encrypted"),
    "html": ("web.page", "read_html"),
    "webarchive": ("web.saved", "read_webarchive"),
    "mhtml": ("web.saved", "read_mhtml"),
    "eml": ("mail.message", "read_mail"),
    "msg": ("mail.outlook", "read_msg"),
    "mbox": ("mail.mailbox", "read_mbox"),
    "markdown": ("text", "read_markdown"),
    "text": ("text", "read_text"),
    "csv": ("text", "read_csv"),
    "xml": ("data.document", "read_xml"),
    "json": ("data.document", "read_json"),
    "notebook": ("data.notebook", "read_notebook"),
    "invoice": ("data.invoice", "read_invoice"),
    "signed": ("data.signed", "read_signed"),
    "zip": ("packed.archive", "read_zip"),
}


def reader_of(kind: str) -> Callable[[Source], Draft]:
    """The function that reads files of a kind (one of ``kind.KINDS``)."""
    module, name = _READERS[kind]
    reader: Callable[[Source], Draft] = getattr(
        importlib.import_module(f"emily.reading.{module}"), name
    )
    return reader
