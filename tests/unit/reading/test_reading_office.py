"""The container of Office files, opened with suspicion, and files embedded in it."""

from __future__ import annotations

import datetime as dt
import io
import struct
import zipfile
from collections.abc import Callable

import pytest

from emily.errors import LimitExceeded, ReadingError
from emily.reading.office.embedded import _native
from emily.reading.office.ooxml import Container
from emily.reading.office.sheets import read_xlsx
from emily.reading.office.slides import read_pptx
from emily.reading.office.symbols import symbol
from emily.reading.office.word import read_docx
from emily.reading.pages import Page
from emily.reading.source import Draft, Source

Make = Callable[..., Source]
Pages = Callable[[Draft], list[Page]]
Reader = Callable[[Source], Draft]

WORD = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">'
    "<w:body>{}</w:body></w:document>"
)
PARAGRAPH = "<w:p><w:r><w:t>{}</w:t></w:r></w:p>"
MAIN = {"docx": "word/document.xml", "xlsx": "xl/workbook.xml", "pptx": "ppt/presentation.xml"}
READERS: dict[str, Reader] = {"docx": read_docx, "xlsx": read_xlsx, "pptx": read_pptx}


def packed(parts: dict[str, str]) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return data.getvalue()


@pytest.mark.parametrize("kind", MAIN)
def test_a_zip_bomb_is_refused_unopened(source: Make, kind: str) -> None:
    bomb = packed({MAIN[kind]: " " * (40 << 20)})
    assert len(bomb) < 100_000
    with pytest.raises(LimitExceeded, match="decompression bomb"):
        READERS[kind](source(bomb))


def test_a_bomb_of_many_parts_is_refused(source: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("emily.reading.office.ooxml._MOST_PARTS", 5)
    with pytest.raises(LimitExceeded, match="packs 7 parts"):
        read_docx(source(packed({f"word/{n}.xml": "" for n in range(7)})))


def test_a_bomb_beside_the_text_is_refused(source: Make) -> None:
    parts = {
        "word/document.xml": WORD.format(PARAGRAPH.format("x")),
        "word/x.xml": "0" * (41 << 20),
    }
    with pytest.raises(LimitExceeded, match=r"word/x\.xml"):
        read_docx(source(packed(parts)))


def entities(depth: int) -> str:
    names = ['<!ENTITY l0 "lol">']
    names += [f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, depth)]
    return f"<!DOCTYPE x [{''.join(names)}]>"


@pytest.mark.parametrize("kind", MAIN)
def test_an_entity_bomb_is_refused(source: Make, kind: str) -> None:
    bomb = packed({MAIN[kind]: f"{entities(9)}<x>&l8;</x>"})
    with pytest.raises(ReadingError, match="declares entities"):
        READERS[kind](source(bomb))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-be"])
def test_an_entity_bomb_in_an_attribute_is_refused_unparsed(source: Make, encoding: str) -> None:
    xml = f'<?xml version="1.0" encoding="{encoding[:6].rstrip("-")}"?>{entities(12)}<x y="&l11;"/>'
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("word/document.xml", xml.encode(encoding))
    with pytest.raises(ReadingError, match="declares entities"):
        read_docx(source(data.getvalue()))


def test_no_file_of_the_machine_is_read_through_an_entity(source: Make) -> None:
    doctype = '<!DOCTYPE x [<!ENTITY x SYSTEM "file:///etc/hostname">]>'
    body = WORD.format(PARAGRAPH.format("&x;"))
    with pytest.raises(ReadingError, match="declares entities"):
        read_docx(source(packed({"word/document.xml": doctype + body})))


def test_a_part_that_lies_about_its_size_is_damaged(source: Make) -> None:
    data = bytearray(packed({"word/document.xml": WORD.format(PARAGRAPH.format("x" * 5000))}))
    at = data.rindex(b"PK\x01\x02")
    data[at + 24 : at + 28] = (100).to_bytes(4, "little")
    with pytest.raises(ReadingError, match="damaged"):
        read_docx(source(bytes(data)))


def test_a_part_whose_header_has_a_damaged_name_is_damaged(source: Make) -> None:
    data = bytearray(packed({"word/é.xml": "<a/>"}))
    at = data.index("é".encode())
    data[at : at + 2] = b"\xaf\xff"  # in the part's own header; the directory keeps the name
    with (
        Container(source(bytes(data)).path) as container,
        pytest.raises(ReadingError, match=r"the part 'word/é\.xml' is damaged"),
    ):
        container.data("word/é.xml")


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.95])
def test_a_file_that_is_cut_short_is_broken(source: Make, cut: float) -> None:
    data = packed({"word/document.xml": WORD.format(PARAGRAPH.format("x"))})
    with pytest.raises(ReadingError, match="the container is broken"):
        read_docx(source(data[: int(len(data) * cut)]))


def test_a_picture_of_too_many_bytes_is_not_unpacked(source: Make) -> None:
    given = source(packed({"word/media/a.png": "0" * 5000}))
    with Container(given.path) as container:
        assert len(container.data("word/media/a.png")) == 5000
        with pytest.raises(LimitExceeded, match="at most 4,000"):
            container.data("word/media/a.png", 4000)


CORE = "<cp:coreProperties xmlns:cp='c' xmlns:dc='d' xmlns:dcterms='t'>{}</cp:coreProperties>"


@pytest.mark.parametrize(
    ("inner", "title", "author", "date"),
    [
        ("<dc:title> A  title </dc:title><dc:creator>Ada</dc:creator>"
         "<dcterms:modified>2026-03-04T10:00:00Z</dcterms:modified>", "A title", "Ada",
         dt.date(2026, 3, 4)),
        ("<cp:lastModifiedBy>Bea</cp:lastModifiedBy><dcterms:created>2025-01-02T00:00:00Z"
         "</dcterms:created>", None, "Bea", dt.date(2025, 1, 2)),
        ("<dcterms:created>2025-01-02</dcterms:created><dcterms:modified>never</dcterms:modified>",
         None, None, dt.date(2025, 1, 2)),
        ("<dcterms:created>1601-01-01T00:00:00Z</dcterms:created><dc:creator> </dc:creator>",
         None, None, None),
    ],
)  # fmt: skip
def test_properties(
    source: Make, inner: str, title: str | None, author: str | None, date: dt.date | None
) -> None:
    with Container(source(packed({"docProps/core.xml": CORE.format(inner)})).path) as container:
        found, facts = container.properties()
    assert (found, facts.author, facts.date) == (title, author, date)
    assert facts.date_source == ("metadata" if date else None)


def native(label: bytes, data: bytes) -> bytes:
    """A stream as Windows' packager writes it."""
    body = struct.pack("<H", 2) + label + b"\0" + b"C:\\x\\" + label + b"\0"
    body += struct.pack("<HHI", 0, 3, 6) + b"C:\\t\\x\0"[:6] + struct.pack("<I", len(data)) + data
    return struct.pack("<I", len(body)) + body


@pytest.mark.parametrize(
    ("stream", "name", "data"),
    [
        (native(b"report.pdf", b"%PDF-"), "report.pdf", b"%PDF-"),
        (native(b"C:\\temp\\note.txt", b"x" * 70), "note.txt", b"x" * 70),
        (b"\1\2", "object.bin", b"\1\2"),
        (native(b"a.txt", b"whole")[:-2], "object.bin", native(b"a.txt", b"whole")[:-2]),
    ],
)
def test_packaged_files(stream: bytes, name: str, data: bytes) -> None:
    assert _native("object.bin", stream) == (name, data)


@pytest.mark.parametrize(
    ("code", "font", "text"),
    [
        (0xF061, "Symbol", "α"),
        (0x61, "Symbol", "α"),
        (0xF0A3, "Symbol", "≤"),
        (0xF0FE, "Wingdings", "☑"),
        (0xF052, "Wingdings 2", "☑"),
        (0xF041, "Wingdings", ""),
        (0x20AC, "Arial", "€"),
        (0xE123, "Arial", ""),
    ],
)
def test_symbols(code: int, font: str, text: str) -> None:
    assert symbol(code, font) == text
