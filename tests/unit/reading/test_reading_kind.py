"""Kinds are told by content; a suffix only tells kinds of text apart."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from emily.errors import EmptyDocument, PasswordRequired, ReadingError, UnsupportedKind
from emily.reading.kind import KINDS, detect

MAIL = b"From: a@example.org\r\nSubject: hello\r\n\r\nbody"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600


def zipped(*names: str, content: bytes = b"<x/>") -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in names:
            archive.writestr(name, content)
    return data.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "kind", "says"),
    [
        ("a.pdf", b"%PDF-1.4\n%\xff", "pdf", None),
        ("a.pdf", b"\0\x01\x02\x03junk\n%PDF-1.4\n", "pdf", None),
        ("a.txt", b"%PDF-1.4\n%\xff", "pdf", "The name ends in .txt, but the content is pdf."),
        ("a", b"%PDF-1.4\n%\xff", "pdf", None),
        ("a.png", b"\x89PNG\r\n\x1a\n\0\0", "image", None),
        ("a.png", b"\xff\xd8\xff\xe0\0", "image", None),
        ("a.webp", b"RIFF\0\0\0\0WEBPVP8 ", "image", None),
        ("a.docx", zipped("word/document.xml"), "docx", None),
        ("a.doc", zipped("word/document.xml"), "docx", "ends in .doc"),
        ("a.xlsx", zipped("xl/workbook.xml"), "xlsx", None),
        ("a.pptx", zipped("ppt/presentation.xml"), "pptx", None),
        ("a.html", b"<p>hello</p>", "html", None),
        ("a", b"\xef\xbb\xbf <!-- x --> <!DOCTYPE html><html>", "html", None),
        ("a.html", "<html><p>é</p>".encode("utf-16"), "html", None),
        ("a.html", b"no tag at all", "text", "ends in .html, but the content is text"),
        ("a.md", b"<html> is a tag", "markdown", None),
        ("a.md", b"From: x\nTo: y\n\ntext", "markdown", None),
        ("a.csv", b"a,b\n1,2", "csv", None),
        ("a.tsv", b"a\tb", "csv", None),
        ("a.eml", MAIL, "eml", None),
        ("a.eml", MAIL.decode().encode("utf-16-le"), "eml", None),
        ("a.eml", b"X-Odd : 1\n folded\nSubject : x\n\nbody", "eml", None),
        ("a", MAIL, "eml", None),
        ("a.txt", b"Subject: one header makes no mail\n\nbody", "text", None),
        ("a.eml", b"just words", "text", "ends in .eml"),
        ("a.log", b"speci\0cation", "text", None),
        ("a.pdf", b"words, no PDF", "text", "ends in .pdf, but the content is text"),
        ("a.txt", "caff\xe8".encode("cp1252"), "text", None),
        ("a.txt", "これはテスト".encode("cp932"), "text", None),
        ("a.py", b"# %PDF-1.7 is a magic number\nMZ = 1", "text", None),
    ],
)
def test_kind(tmp_path: Path, name: str, content: bytes, kind: str, says: str | None) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    found = detect(path)
    assert found.name == kind
    assert found.name in KINDS
    if says is None:
        assert found.warning is None
    else:
        assert says in (found.warning or "")


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (OLE + "WordDocument".encode("utf-16-le"), "Word 97-2003"),
        (OLE + "Workbook".encode("utf-16-le"), "Excel 97-2003"),
        (zipped("mimetype", content=b"application/vnd.oasis.opendocument.text"), "OpenDocument"),
        (zipped("mimetype", content=b"application/epub+zip"), "EPUB"),
        (zipped("photo.jpg", "b"), "a ZIP archive of 2 files"),
        (b"{\\rtf1\\ansi hello}", "Rich Text"),
        (b"%!PS-Adobe-3.0\nshowpage", "PostScript"),
        (b"\0\0\0\x18ftypheic\0\0\0\0", "HEIC"),
        (b"\x7fELF\x02\x01\x01\0\0\0\0\0", "a Linux program"),
        (bytes(range(256)) * 4, "unknown binary content (first bytes: 00 01 02 03"),
    ],
)
def test_what_is_not_read_is_named(tmp_path: Path, content: bytes, seen: str) -> None:
    path = tmp_path / "file.docx"
    path.write_bytes(content)
    with pytest.raises(UnsupportedKind) as caught:
        detect(path)
    assert seen in str(caught.value)
    assert "pdf, image, docx" in str(caught.value)


def test_encrypted_office_files_ask_for_a_password(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(OLE + "EncryptedPackage".encode("utf-16-le"))
    with pytest.raises(PasswordRequired):
        detect(path)


@pytest.mark.parametrize("content", [b"", b" \r\n\t\n", b"\xef\xbb\xbf", b"\xff\xfe"])
def test_empty_files_are_named_so(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(EmptyDocument):
        detect(path)


def test_half_an_office_file_is_broken_not_unknown(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(zipped("word/document.xml")[:60])
    with pytest.raises(ReadingError, match="broken"):
        detect(path)
