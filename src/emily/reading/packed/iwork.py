"""Pages, Numbers and Keynote: by the PDF inside, else by their texts, else by the preview."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

from emily.errors import EmptyDocument, PasswordRequired, ReadingError
from emily.reading.blocks import Blocks
from emily.reading.ocr.image import read_image
from emily.reading.office.ooxml import Container
from emily.reading.packed.iwork_archive import messages, texts_of
from emily.reading.pages import Page
from emily.reading.pdf.document import read_pdf
from emily.reading.source import Draft, Source, check_length, single_page

__all__ = ["read_iwork"]

_PDF = ("quicklook/preview.pdf", "preview.pdf")
_PICTURES = ("preview.jpg", "quicklook/thumbnail.jpg", "preview-web.jpg", "preview-micro.jpg")
_LOCKS = (".iwpv2", ".iwph", ".iwpv")
_MASTERS = ("masterslide", "templateslide", "stylesheet", "theme")
_MOST_MB = 200  # of one part


def read_iwork(source: Source) -> Draft:
    """A document of Apple's iWork.

    The PDF that older versions store with it shows all of it. Newer ones store none: their texts
    are read, without layout; numbers and dates in cells of tables are not. What has neither is
    read by the picture of its first page.

    Raises:
        PasswordRequired: it is encrypted.
        EmptyDocument: it holds neither text nor preview.
        ReadingError: it is broken.
    """
    with Container(source.path) as container:
        names = container.names()
        if any(name.rpartition("/")[2] in _LOCKS for name in names):
            raise PasswordRequired("the iWork file opens only with a password")
        for ending in _PDF:
            if (path := _unpacked(container, names, ending, source)) is not None:
                draft = read_pdf(source.within(path, source.name))
                draft.kind = "iwork"
                return draft
        warnings: list[str] = []
        text = _text(container, warnings)
        if text:
            warnings.append(
                "It was read by the texts in it: their order may differ from the layout, and "
                "numbers and dates in tables are not read. Export it as PDF to have all of it."
            )
            check_length(len(text))
            page = Page(1, text)
            return Draft("iwork", "none", single_page(page), warnings=warnings)
        for ending in _PICTURES:
            if (path := _unpacked(container, names, ending, source)) is not None:
                draft = read_image(source.within(path, source.name))
                draft.kind = "iwork"
                draft.warnings += [
                    *warnings,
                    "Only the preview of its first page could be read. Export it as PDF to have "
                    "all of it.",
                ]
                return draft
    raise EmptyDocument("; ".join([*warnings, "the iWork file holds neither text nor preview"]))


def _unpacked(container: Container, names: list[str], ending: str, source: Source) -> Path | None:
    """A part as a file in the scratch folder, if it is there."""
    name = next((item for item in names if item == ending or item.endswith("/" + ending)), None)
    if name is None or source.scratch is None:
        return None
    path = source.scratch / ("preview" + Path(ending).suffix)
    left = _MOST_MB << 20
    with path.open("wb") as file:
        for data in container.chunks(name):
            left -= len(data)
            if left < 0:
                raise ReadingError(f"the preview unpacks to more than {_MOST_MB} MiB")
            file.write(data)
    return path if path.stat().st_size else None


def _text(container: Container, warnings: list[str]) -> str:
    blocks = Blocks()
    seen: set[str] = set()
    for name, data in _archives(container, warnings):
        if any(word in name for word in _MASTERS):
            continue
        try:
            for text in texts_of(messages(data)):
                if text not in seen:  # a text that several places refer to
                    seen.add(text)
                    blocks.paragraph(text)
        except ReadingError as error:
            warnings.append(f"The part {name!r} is not read: {error}.")
    return blocks.text()


def _archives(container: Container, warnings: list[str]) -> Iterator[tuple[str, bytes]]:
    """The parts with texts, the document itself first; some files pack them once more."""
    names = container.names()
    for name in sorted((n for n in names if n.endswith(".iwa")), key=_place):
        try:
            yield name, _data(container, name)
        except ReadingError as error:
            warnings.append(f"The part {name!r} is not read: {error}.")
    for name in names:
        if name.rpartition("/")[2] == "index.zip":
            try:
                packed = zipfile.ZipFile(io.BytesIO(_data(container, name)))
                for inner in sorted(packed.infolist(), key=lambda info: _place(info.filename)):
                    if inner.filename.endswith(".iwa") and inner.file_size < _MOST_MB << 20:
                        yield inner.filename.lower(), packed.read(inner)
            except (ReadingError, zipfile.BadZipFile, OSError, EOFError, RuntimeError) as error:
                warnings.append(f"The part {name!r} is not read: {error}.")


def _data(container: Container, name: str) -> bytes:
    pieces, left = [], _MOST_MB << 20
    for data in container.chunks(name):
        left -= len(data)
        if left < 0:
            raise ReadingError(f"it unpacks to more than {_MOST_MB} MiB")
        pieces.append(data)
    return b"".join(pieces)


def _place(name: str) -> tuple[bool, int, str]:
    """Document first; slides by their number."""
    base = name.lower().rpartition("/")[2]
    digits = "".join(sign for sign in base if sign.isdigit())
    return not base.startswith("document"), int(digits[:12] or 0), base
