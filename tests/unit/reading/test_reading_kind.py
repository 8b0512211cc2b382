"""Kinds are told by content; a suffix only tells kinds of text apart."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest

from emily.errors import EmptyDocument, ReadingError, UnsupportedKind
from emily.reading.kind import KINDS, Kind, detect

MAIL = b"From: a@example.org\r\nSubject: hello\r\n\r\nbody"
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600


def zipped(*names: str, content: bytes = b"<x/>") -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name in names:
            archive.writestr(name, content)
    return data.getvalue()


def ole(*streams: str) -> bytes:
    return OLE + b"".join(name.encode("utf-16-le") + b"\0\0" for name in streams)


def packed(mime: bytes) -> bytes:
    return zipped("mimetype", content=mime)


SIGNED = bytes.fromhex("30820625 06092a864886f70d010702 a0820616".replace(" ", ""))
PAGE = (
    b"From: <Saved by a browser>\nSnapshot-Content-Location: http://example.org/\n"
    b"Subject: x\nContent-Type: multipart/related; boundary=b\n\n--b--\n"
)


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
        ("a.docx", zipped("[Content_Types].xml", "word/document.xml"), "docx", None),
        ("a.doc", zipped("[Content_Types].xml", "word/document.xml"), "docx", "ends in .doc"),
        ("a.xlsx", zipped("[Content_Types].xml", "xl/workbook.xml"), "xlsx", None),
        ("a.pptx", zipped("[Content_Types].xml", "ppt/presentation.xml"), "pptx", None),
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
        ("memo.txt", b"To: Ada\nFrom: Bruno\n3 September 2023\n\nDear Ada,", "text", None),
        ("memo.txt", b"From: Bruno\nTo: Ada\nCc: Carla\n\nDear Ada,", "text", None),
        ("memo.txt", b"From: Bruno\nTo: Ada\nDate: 3 Sep 2023\n\nDear Ada,", "eml", None),
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
    ("name", "content", "kind", "says"),
    [
        ("a.doc", ole("WordDocument"), "doc", None),
        ("a.xls", ole("Workbook"), "xls", None),
        ("old.xls", ole("Book"), "xls", None),
        ("a.ppt", ole("PowerPoint Document"), "ppt", None),
        ("a.msg", ole("__nameid_version1.0", "WordDocument"), "msg", None),
        ("a.xlsx", ole("EncryptedPackage"), "encrypted", None),
        ("a.docx", ole("EncryptedPackage"), "encrypted", None),
        ("a.docx", ole("WordDocument"), "doc", "ends in .docx, but the content is doc"),
        ("a.odt", packed(b"application/vnd.oasis.opendocument.text"), "odt", None),
        ("a.ods", packed(b"application/vnd.oasis.opendocument.spreadsheet"), "ods", None),
        ("a.odp", packed(b"application/vnd.oasis.opendocument.presentation"), "odp", None),
        ("a.epub", packed(b"application/epub+zip"), "epub", None),
        ("a.epub", zipped("META-INF/container.xml", "book.opf"), "epub", None),
        ("a.pages", zipped("Index/Document.iwa", "QuickLook/Thumbnail.jpg"), "iwork", None),
        ("a.key", zipped("index.apxl"), "iwork", None),
        ("a.xlsb", zipped("[Content_Types].xml", "xl/workbook.bin"), "xlsb", None),
        ("a.zip", zipped("photo.jpg", "b"), "zip", None),
        ("a.zip", zipped("word/notes.xml"), "zip", None),
        ("a.rtf", b"{\\rtf1\\ansi hello}", "rtf", None),
        (
            "a.txt",
            b"\xef\xbb\xbf\n{\\rtf1\\ansi hello}",
            "rtf",
            None,
        ),
        ("a.heic", b"\0\0\0\x18ftypheic\0\0\0\0", "image", None),
        ("a.avif", b"\0\0\0\x18ftypavif\0\0\0\0", "image", None),
        ("a.xml", b"<?xml version='1.0'?><a/>", "xml", None),
        ("a.nxml", b"<!DOCTYPE article SYSTEM 'x.dtd'><article/>", "xml", None),
        ("a.xml", b"<a>no declaration</a>", "xml", None),
        ("a.xml", b'<?xml version="1.0"?><p:FatturaElettronica versione="FPR12">', "invoice", None),
        ("a.xml", b"<ns2:FatturaElettronica xmlns:ns2='x'>", "invoice", None),
        ("a.xml.p7m", SIGNED, "signed", None),
        ("a.p7m", b"-----BEGIN PKCS7-----\nMIIGJQ==", "signed", None),
        ("a.json", b'{"a": 1}', "json", None),
        ("a.jsonl", b'{"a": 1}\n{"a": 2}', "json", None),
        ("a.ipynb", b'{"cells": [], "nbformat": 4}', "notebook", None),
        ("a.json", b"no json", "text", "ends in .json, but the content is text"),
        ("a.mbox", b"From ada Mon Jan  1 10:00:00 2024\n" + MAIL, "mbox", None),
        ("box", (b"From ada Mon Jan  1 10:00:00 2024\n" + MAIL + b"\n\n") * 2, "mbox", None),
        ("a.eml", b"From ada Mon Jan  1 10:00:00 2024\n" + MAIL, "eml", None),
        ("a.mhtml", PAGE, "mhtml", None),
        ("a.eml", PAGE, "mhtml", "ends in .eml, but the content is mhtml"),
        ("a.webarchive", b"bplist00\xd1\x01\x02_\x10\x0fWebMainResource", "webarchive", None),
    ],
)
def test_kinds_of_everyday_files(
    tmp_path: Path, name: str, content: bytes, kind: str, says: str | None
) -> None:
    test_kind(tmp_path, name, content, kind, says)


NOTEBOOK = b'{"cells": [{"cell_type": "code", "source": ["1 + 1"]}], "nbformat": 4}'
SENT = b"Received: from a by b\r\nMessage-ID: <1@example.org>\r\n" + MAIL
ROWS = "name;town;born\nAda;London;1815\nGrace;New York;1906\nAlan;London;1912\n"


@pytest.mark.parametrize(
    ("name", "content", "kind", "says"),
    [
        ("a.txt", b'{"invoice": 17, "lines": [{"sum": 1.5}]}', "json", None),
        ("a", b'\xef\xbb\xbf[\n  {"a": 1},\n  {"a": 2}\n]\n', "json", None),
        ("a.log", b'{"at": 1, "what": "began"}\n{"at": 2, "what": "ended"}\n', "json", None),
        ("a.csv", b'[{"a": 1}]', "json", "ends in .csv, but the content is json"),
        ("a.html", b'{"a": 1}', "json", "ends in .html, but the content is json"),
        ("a.txt", '{"à": [1, 2]}'.encode("utf-16"), "json", None),
        ("a.txt", NOTEBOOK, "notebook", None),
        ("work", NOTEBOOK, "notebook", None),
        ("a.json", NOTEBOOK, "notebook", None),
        ("a.txt", b"{draft} is a word in braces", "text", None),
        ("a.txt", b"[1] Ada Lovelace, Notes, 1843.\n[2] see there", "text", None),
        ("a.txt", b'{"a": 1} is how an object begins', "text", None),
        ("a.md", b'{"a": 1}', "markdown", None),
        ("a.txt", b"<order><item>3 lamps</item></order>\n", "xml", None),
        ("a.csv", b"<!-- out of the shop -->\n<order n='1'><item/></order>", "xml", "ends in .csv"),
        ("a", b"<?xml version='1.0'?><order/>", "xml", None),
        ("a.txt", b"<order> is where it begins", "text", None),
        ("a.txt", b"<order><item></order>", "text", None),
        ("a.txt", b"<!DOCTYPE html><p>x</p>", "html", None),
        ("a.csv", b"<html><body>x</body></html>", "html", "ends in .csv"),
        ("a.xml", b"<html><body>x</body></html>", "html", "ends in .xml"),
        ("a.txt", ROWS.encode(), "csv", None),
        ("a", ROWS.replace(";", "\t").encode(), "csv", None),
        ("a.json", ROWS.replace(";", ",").encode(), "csv", "ends in .json, but the content is csv"),
        ("a.txt", ROWS.replace(";", "|").encode("utf-16"), "csv", None),
        ("a.py", ROWS.encode(), "text", None),
        ("a.txt", (ROWS + "a;b\n").encode(), "text", None),
        ("a.txt", b"Dear Ada, dear Grace, hello.\nOne, two, three\n" * 3, "text", None),
        ("a.txt", b"a;a;b\n1;2;3\n1;2;3\n", "text", None),
        ("a.txt", MAIL, "eml", None),
        ("a.csv", SENT, "eml", "ends in .csv, but the content is eml"),
        ("a.html", SENT, "eml", "ends in .html, but the content is eml"),
        ("a.csv", MAIL, "csv", None),
    ],
)
def test_a_text_is_known_by_its_notation_whatever_its_name(
    tmp_path: Path, name: str, content: bytes, kind: str, says: str | None
) -> None:
    test_kind(tmp_path, name, content, kind, says)


def test_a_large_text_is_known_by_its_beginning(tmp_path: Path) -> None:
    record = b'{"name": "Ada", "note": "' + b"x" * 990 + b'"},\n'
    path = tmp_path / "a.txt"
    path.write_bytes(b"[" + 9_000 * record + b"{}]")
    assert detect(path).name == "json"
    path.write_bytes(ROWS.encode() + 9_000 * b"Ada;London;1815\n")
    assert detect(path).name == "csv"


def test_json_that_nests_too_deeply_is_left_to_its_reader(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"[" * 100_000 + b"]" * 100_000)
    assert detect(path).name == "json"


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (b"%!PS-Adobe-3.0\nshowpage", "PostScript"),
        (b"\0\0\0\x18ftypisom\0\0\0\0", "a video"),
        (ole("SomethingElse"), "an OLE compound file"),
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
    assert "Read are PDF, pictures, Office" in str(caught.value)


def test_the_name_is_the_owners_not_that_of_the_copy(tmp_path: Path) -> None:
    path = tmp_path / "17"
    path.write_bytes(b"a,b\n1,2")
    assert detect(path).name == "text"
    assert detect(path, "table.csv") == Kind("csv")


@pytest.mark.parametrize("content", [b"", b" \r\n\t\n", b"\xef\xbb\xbf", b"\xff\xfe"])
def test_empty_files_are_named_so(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    with pytest.raises(EmptyDocument):
        detect(path)


def test_half_an_office_file_is_broken_not_unknown(tmp_path: Path) -> None:
    path = tmp_path / "a.docx"
    path.write_bytes(zipped("[Content_Types].xml", "word/document.xml")[:60])
    with pytest.raises(ReadingError, match="broken"):
        detect(path)
