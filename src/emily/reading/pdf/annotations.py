"""What was filled into a PDF's form, typed or remarked on its pages: beside the text layer."""

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
_TICKED = frozenset({raw.FPDF_FORMFIELD_CHECKBOX, raw.FPDF_FORMFIELD_RADIOBUTTON})
_REMARKS = frozenset({
    raw.FPDF_ANNOT_TEXT, raw.FPDF_ANNOT_HIGHLIGHT, raw.FPDF_ANNOT_UNDERLINE,
    raw.FPDF_ANNOT_SQUIGGLY, raw.FPDF_ANNOT_STRIKEOUT, raw.FPDF_ANNOT_STAMP,
    raw.FPDF_ANNOT_SQUARE, raw.FPDF_ANNOT_CIRCLE, raw.FPDF_ANNOT_LINE, raw.FPDF_ANNOT_POLYGON,
    raw.FPDF_ANNOT_POLYLINE, raw.FPDF_ANNOT_INK, raw.FPDF_ANNOT_CARET,
})  # fmt: skip


def typed_text(document: Any, page: Any) -> list[str]:
    """Lines of text for what stands on a page beside its text layer.

    Filled form fields are ``name: value``, ticked ones ``name: [x]``; text typed onto the page is
    itself; remarks are marked, ``Comment (author): …``.

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
            elif kind in _REMARKS:
                found.append(_remark(note))
        finally:
            raw.FPDFPage_CloseAnnot(note)
    return [line for line in found if line]


def _remark(note: Any) -> str:
    text = _text(raw.FPDFAnnot_GetStringValue, note, b"Contents")
    author = _text(raw.FPDFAnnot_GetStringValue, note, b"T")
    if not text:
        return ""
    return f"Comment ({author}): {text}" if author else f"Comment: {text}"


def _field(form: Any, note: Any) -> str:
    kind = raw.FPDFAnnot_GetFormFieldType(form, note)
    if kind in _TICKED:
        if not raw.FPDFAnnot_IsChecked(form, note):
            return ""
        name = _text(raw.FPDFAnnot_GetFormFieldName, form, note)
        if kind == raw.FPDF_FORMFIELD_RADIOBUTTON:
            value = _text(raw.FPDFAnnot_GetFormFieldExportValue, form, note)
            return f"{name}: {value}" if name and value else ""
        return f"{name}: [x]" if name else ""
    if kind not in _VALUE_FIELDS:
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
