"""What was filled into a PDF's form or typed onto its pages: no part of the text layer."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from pypdfium2 import raw

from emily.reading.source import tidy

__all__ = ["typed_text"]

_MOST_ANNOTATIONS = 2_000  # of a page
_MOST_VALUE = 1 << 20  # bytes of one field
_VALUE_FIELDS = frozenset(
    {raw.FPDF_FORMFIELD_TEXTFIELD, raw.FPDF_FORMFIELD_COMBOBOX, raw.FPDF_FORMFIELD_LISTBOX}
)


def typed_text(document: Any, page: Any) -> list[str]:
    """Lines of text for a page's filled form fields (``name: value``) and typed remarks.

    Args:
        document: a ``pypdfium2.PdfDocument``, its forms initialised before the page was loaded.
        page: one of its pages.
    """
    found = []
    for at in range(min(raw.FPDFPage_GetAnnotCount(page), _MOST_ANNOTATIONS)):
        note = raw.FPDFPage_GetAnnot(page, at)
        if not note:
            continue
        try:
            kind = raw.FPDFAnnot_GetSubtype(note)
            if kind == raw.FPDF_ANNOT_WIDGET and document.formenv is not None:
                found.append(_field(document.formenv, note))
            elif kind == raw.FPDF_ANNOT_FREETEXT:
                found.append(_text(raw.FPDFAnnot_GetStringValue, note, b"Contents"))
        finally:
            raw.FPDFPage_CloseAnnot(note)
    return [line for line in found if line]


def _field(form: Any, note: Any) -> str:
    if raw.FPDFAnnot_GetFormFieldType(form, note) not in _VALUE_FIELDS:
        return ""
    value = _text(raw.FPDFAnnot_GetFormFieldValue, form, note)
    name = _text(raw.FPDFAnnot_GetFormFieldName, form, note) if value else ""
    return f"{name}: {value}" if name else value


def _text(fill: Callable[..., int], *given: Any) -> str:
    """Text of a PDFium function that fills a buffer with UTF-16 and returns its size in bytes."""
    size = fill(*given, None, 0)
    if not 2 < size < _MOST_VALUE:
        return ""
    buffer = ctypes.create_string_buffer(size)
    fill(*given, ctypes.cast(buffer, ctypes.POINTER(ctypes.c_ushort)), size)
    return " ".join(tidy(buffer.raw[: size - 2].decode("utf-16-le", "replace")).split())
