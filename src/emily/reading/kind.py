"""What a file is, by its content; its suffix only tells kinds of text apart."""

from __future__ import annotations

import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from emily.errors import EmptyDocument, PasswordRequired, ReadingError, UnsupportedKind

__all__ = ["KINDS", "Kind", "detect"]

KINDS = ("pdf", "image", "docx", "xlsx", "pptx", "html", "markdown", "text", "csv", "eml")
"""The kinds that are read."""

_SUFFIXES = {
    "pdf": {".pdf"},
    "image": {".png", ".jpg", ".jpeg", ".jfif", ".tif", ".tiff", ".webp", ".bmp", ".gif"},
    "docx": {".docx", ".docm", ".dotx", ".dotm"},
    "xlsx": {".xlsx", ".xlsm", ".xltx", ".xltm"},
    "pptx": {".pptx", ".pptm", ".potx", ".potm", ".ppsx", ".ppsm"},
    "html": {".html", ".htm", ".xhtml", ".xht"},
    "markdown": {".md", ".markdown", ".mdown", ".mkd", ".mdx"},
    "csv": {".csv", ".tsv", ".tab"},
    "eml": {".eml"},
}
_BY_SUFFIX = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes}
_TEXT_KINDS = frozenset({"html", "markdown", "csv", "eml", "text"})
# Suffixes whose files are never text: text in one of them is worth a word.
_BINARY_SUFFIXES = {s for s, kind in _BY_SUFFIX.items() if kind not in _TEXT_KINDS} | {
    ".doc", ".xls", ".ppt", ".odt", ".ods", ".odp", ".epub", ".zip", ".msg",
}  # fmt: skip

_IMAGES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"II+\0", b"MM\0+", b"GIF8")
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SEEN = (
    (b"{\\rtf", "Rich Text (RTF)"),
    (b"%!PS", "PostScript"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x7fELF", "a Linux program"),
    (b"MZ", "a Windows program"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"ID3", "an MP3 sound"),
    (b"OggS", "an Ogg sound"),
    (b"fLaC", "a FLAC sound"),
    (b"\x00\x00\x01\x00", "an icon (ICO)"),
    (b"\x00\x00\x00\x0cjP  ", "a JPEG 2000 picture"),
    (b"\xff\x4f\xff\x51", "a JPEG 2000 picture"),
    (b"!BDN", "an Outlook data file (PST)"),
)
_HEADER = re.compile(rb"([!-9;-~]+)[ \t]*:")
_MAIL_HEADERS = frozenset(
    b"from to cc bcc subject date message-id received mime-version return-path reply-to sender "
    b"delivered-to content-type content-transfer-encoding in-reply-to references x-mailer".split()
)
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html[\s>]|head[\s>]|body[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_HTML_TAG = re.compile(
    rb"<(?:!doctype|html|head|body|p|div|table|h[1-6]|ul|ol|a|span|br|meta|title|b|i|pre)\b",
    re.IGNORECASE,
)
_HEAD = 65_536


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file is.

    Attributes:
        name: one of ``KINDS``.
        warning: that its suffix says otherwise, or ``None``.
    """

    name: str
    warning: str | None = None


def detect(path: Path) -> Kind:
    """Tell what a file is.

    Raises:
        EmptyDocument: it has no byte, or only blanks.
        PasswordRequired: an Office file that is encrypted.
        UnsupportedKind: nothing that is read; the message says what it seems to be.
        OSError: it cannot be opened.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        raise EmptyDocument("the file is empty (0 bytes)")
    name = _by_content(path, head)
    suffix = path.suffix.lower()
    if name is None:
        return _text_kind(head, suffix)
    expected = _BY_SUFFIX.get(suffix)
    if suffix and expected != name:
        return Kind(name, f"The name ends in {_shown(suffix)}, but the content is {name}.")
    return Kind(name)


def _by_content(path: Path, head: bytes) -> str | None:
    """The kind by its first bytes; ``None`` for what looks like text."""
    if head.startswith(b"%PDF-") or (_is_binary(head) and re.search(rb"%PDF-\d", head[:1024])):
        return "pdf"
    if head.startswith(_IMAGES) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP"):
        return "image"
    if head[:2] == b"BM" and len(head) > 26 and head[6:10] == b"\0\0\0\0":
        return "image"
    if head.startswith(_ZIP_STARTS):
        return _zip_kind(path)
    if head.startswith(_OLE):
        return _ole_kind(path)
    if re.match(rb"[\s\xef\xbb\xbf]{0,64}%PDF-\d", head):
        return "pdf"
    for start, what in _SEEN:
        if head.startswith(start) and (_is_binary(head) or start[:1] in b"{%"):
            raise _unsupported(what)
    if head[4:8] == b"ftyp":
        brand = head[8:12].decode("latin-1")
        what = "a HEIC/AVIF picture" if brand[:3] in {"hei", "avi", "mif", "hev"} else "a video"
        raise _unsupported(what)
    if head[:4] == b"RIFF":
        raise _unsupported("a WAV sound" if head[8:12] == b"WAVE" else "a RIFF file")
    if _is_binary(head):
        raise _unsupported(f"unknown binary content (first bytes: {head[:8].hex(' ')})")
    return None


def _text_kind(head: bytes, suffix: str) -> Kind:
    if not head.strip(b" \t\r\n\x0b\x0c\0\xef\xbb\xbf\xff\xfe") and len(head) < _HEAD:
        raise EmptyDocument("the file holds only blanks")
    hint = _BY_SUFFIX.get(suffix)
    start = _narrow(head)
    mail = _mail_headers(start)
    if mail >= 2 or (hint == "eml" and mail >= 1):
        name = "eml" if hint not in {"markdown", "csv", "html"} else hint
    elif _HTML_START.match(start) and hint != "markdown":
        name = "html"
    elif hint == "html":
        name = "html" if _HTML_TAG.search(start) else "text"
    elif hint in {"markdown", "csv"}:
        name = hint
    else:
        name = "text"
    if suffix in _BINARY_SUFFIXES or (hint is not None and hint != name):
        return Kind(name, f"The name ends in {_shown(suffix)}, but the content is {name}.")
    return Kind(name)


def _mail_headers(head: bytes) -> int:
    """How many different headers of mail the file begins with, before anything else."""
    found: set[bytes] = set()
    for number, line in enumerate(head.split(b"\n", 200)[:200]):
        line = line.rstrip(b"\r")
        if line[:1] in {b" ", b"\t"} and number:
            continue
        if number == 0 and line.startswith(b"From "):
            continue  # the envelope line of a mailbox file
        match = _HEADER.match(line)
        if match is None:
            break
        found |= {match[1].lower()} & _MAIL_HEADERS
    return len(found)


def _narrow(head: bytes) -> bytes:
    """The ASCII in it, also of UTF-16, so that tags and headers can be looked for."""
    for mark in (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"):
        head = head.removeprefix(mark)
    return head.replace(b"\0", b"") if b"\0" in head else head


def _is_binary(head: bytes) -> bool:
    """Whether more than one byte in a hundred is a control character that text does not use."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff", b"\0\0\xfe\xff")):
        return False
    sample = head[:8192]
    zeros = sample.count(0)
    if zeros > len(sample) * 0.2:
        even, odd = sample[::2].count(0), sample[1::2].count(0)
        if len(sample) >= 8 and min(even, odd) < 0.05 * len(sample) / 2:
            sample = sample.replace(b"\0", b"")  # UTF-16 without a mark
    controls = sum(sample.count(byte) for byte in _CONTROLS)
    return controls > max(2, len(sample) // 100)


_CONTROLS = tuple(set(range(32)) - {8, 9, 10, 11, 12, 13, 27})


def _zip_kind(path: Path) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            mime = b""
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 200:
                mime = archive.read("mimetype")
            closed = any(member.flag_bits & 1 for member in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        raise ReadingError(
            f"the file begins like a ZIP container (Word, Excel, PowerPoint) but is broken: {error}"
        ) from None
    lowered = {name.lower().lstrip("/").replace("\\", "/") for name in names}
    for folder, kind in (("word/", "docx"), ("xl/", "xlsx"), ("ppt/", "pptx")):
        if any(n.startswith(folder) and n.endswith(".xml") for n in lowered):
            if closed:
                raise PasswordRequired(f"the {kind} file opens only with a password")
            return kind
    if "xl/workbook.bin" in lowered:
        raise _unsupported("an Excel binary workbook (XLSB)")
    if b"opendocument" in mime:
        raise _unsupported("an OpenDocument file")
    if b"epub" in mime:
        raise _unsupported("an EPUB book")
    raise _unsupported(f"a ZIP archive of {len(names)} files")


def _ole_kind(path: Path) -> str:
    with path.open("rb") as file:
        data = file.read(8 << 20)
    if "EncryptedPackage".encode("utf-16-le") in data:
        raise PasswordRequired("the Office file opens only with a password")
    for stream, what in (
        ("WordDocument", "a Word 97-2003 document (DOC)"),
        ("Workbook", "an Excel 97-2003 workbook (XLS)"),
        ("PowerPoint Document", "a PowerPoint 97-2003 presentation (PPT)"),
        ("__nameid_version1.0", "an Outlook message (MSG)"),
    ):
        if stream.encode("utf-16-le") in data:
            raise _unsupported(what)
    raise _unsupported("an OLE compound file")


def _unsupported(what: str) -> UnsupportedKind:
    return UnsupportedKind(f"the file is {what}. Kinds that are read: {', '.join(KINDS)}")


def _shown(suffix: str) -> str:
    return suffix.encode(errors="backslashreplace").decode()
