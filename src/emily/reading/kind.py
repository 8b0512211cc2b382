"""What a file is, by its content; its suffix tells apart only texts that content does not."""

from __future__ import annotations

import base64
import re
import zipfile
from dataclasses import dataclass
from pathlib import Path

from emily.errors import EmptyDocument, PasswordRequired, ReadingError, UnsupportedKind
from emily.reading.notation import is_json, is_separated, is_xml

__all__ = ["KINDS", "Kind", "detect"]

KINDS = (
    "pdf", "image", "docx", "xlsx", "pptx", "doc", "xls", "xlsb", "ppt", "odt", "ods", "odp",
    "rtf", "epub", "iwork", "html", "webarchive", "mhtml", "eml", "msg", "mbox", "markdown",
    "text", "csv", "xml", "json", "notebook", "invoice", "signed", "zip", "encrypted",
)  # fmt: skip
"""The kinds that are read. ``signed`` and ``encrypted`` files are read as what they hold."""

_SUFFIXES = {
    "pdf": {".pdf"},
    "image": {".png", ".jpg", ".jpeg", ".jfif", ".tif", ".tiff", ".webp", ".bmp", ".gif",
              ".heic", ".heif", ".avif"},
    "docx": {".docx", ".docm", ".dotx", ".dotm"},
    "xlsx": {".xlsx", ".xlsm", ".xltx", ".xltm"},
    "pptx": {".pptx", ".pptm", ".potx", ".potm", ".ppsx", ".ppsm"},
    "doc": {".doc", ".dot"},
    "xls": {".xls", ".xlt"},
    "xlsb": {".xlsb"},
    "ppt": {".ppt", ".pps", ".pot"},
    "odt": {".odt", ".ott", ".fodt"},
    "ods": {".ods", ".ots", ".fods"},
    "odp": {".odp", ".otp", ".fodp", ".odg", ".otg", ".fodg"},
    "rtf": {".rtf"},
    "epub": {".epub"},
    "iwork": {".pages", ".numbers", ".key"},
    "html": {".html", ".htm", ".xhtml", ".xht"},
    "webarchive": {".webarchive"},
    "mhtml": {".mhtml", ".mht"},
    "markdown": {".md", ".markdown", ".mdown", ".mkd", ".mdx"},
    "csv": {".csv", ".tsv", ".tab"},
    "eml": {".eml", ".emlx"},
    "msg": {".msg", ".oft"},
    "mbox": {".mbox", ".mbx"},
    "xml": {".xml", ".nxml", ".fb2", ".opml", ".svg", ".rss", ".atom"},
    "json": {".json", ".jsonl", ".ndjson", ".geojson"},
    "notebook": {".ipynb"},
    "signed": {".p7m", ".tsd"},
    "zip": {".zip"},
}  # fmt: skip
_BY_SUFFIX = {suffix: kind for kind, suffixes in _SUFFIXES.items() for suffix in suffixes}
# What a suffix may also stand for, without a word.
_ALSO = {("xml", "invoice"), ("json", "notebook"), ("mhtml", "eml"), ("mbox", "eml")} | {
    (kind, "encrypted") for kind in ("docx", "xlsx", "pptx")
}
_TEXT_KINDS = frozenset({
    "html", "markdown", "csv", "eml", "mbox", "mhtml", "text", "xml", "json", "notebook", "rtf",
    "signed",
})  # fmt: skip
# Suffixes whose files are never text: text in one of them is worth a word.
_BINARY_SUFFIXES = {s for s, kind in _BY_SUFFIX.items() if kind not in _TEXT_KINDS}

_IMAGES = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"II+\0", b"MM\0+", b"GIF8")
_ZIP_STARTS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_SEEN = (
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
# Of these a mail that a program wrote has at least one; a memo begins with To: and From: alone.
_MAIL_SIGNS = frozenset(
    b"subject date message-id received mime-version return-path content-type delivered-to".split()
)
# What only a mail that was sent has: a table or a page may begin with lines like the others.
_SENT = frozenset(b"message-id received mime-version return-path delivered-to".split())
_PLAIN = frozenset({"", ".txt", ".text", ".log", ".dat", ".asc", ".prn"})  # they promise nothing
_HTML_START = re.compile(
    rb"\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html[\s>]|head[\s>]|body[\s>])",
    re.IGNORECASE | re.DOTALL,
)
_HTML_TAG = re.compile(
    rb"<(?:!doctype|html|head|body|p|div|table|h[1-6]|ul|ol|a|span|br|meta|title|b|i|pre)\b",
    re.IGNORECASE,
)
_XML_START = re.compile(rb"\s*(?:<\?xml\b|<!--|<!DOCTYPE\b|<[A-Za-z_][\w.:-]*[\s/>])")
# OpenDocument as one XML file instead of a package.
_FLAT = re.compile(
    rb"""<(?:[\w.-]+:)?document\s[^>]*office:mimetype\s*=\s*["']"""
    rb"""application/vnd\.oasis\.opendocument\.(text|spreadsheet|presentation|graphics)"""
)
_FLAT_KINDS = {b"text": "odt", b"spreadsheet": "ods", b"presentation": "odp", b"graphics": "odp"}
_INVOICE = re.compile(rb"<(?:[\w.-]+:)?FatturaElettronica(?:Semplificata)?[\s>]")
_ENVELOPE = re.compile(rb"\r?\n\r?\nFrom [^\r\n]*\d\d:\d\d[^\r\n]*\d{4}[^\r\n]*\r?\n[!-9;-~]+:")
_SIGNED_KINDS = (  # object identifiers of CMS (RFC 5652) and of timestamped data (RFC 5544)
    b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02",  # signed
    b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x03",  # enveloped: its reader says so
    b"\x06\x0b\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x17",  # the same, authenticated
    b"\x06\x0b\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x1f",  # timestamped
)
_SIGNED_PEM = re.compile(rb"\s*-----BEGIN (?:PKCS7|CMS|PKCS #7 SIGNED DATA)-----")
_SIGNED_TEXT = re.compile(rb"\s*(M[A-Za-z0-9+/\s]{60})")  # base64 of a sequence
_HEIF_BRANDS = frozenset(
    {"heic", "heix", "heim", "heis", "hevc", "hevx", "mif1", "msf1", "avif", "avis"}
)
_HEAD = 65_536
_SEARCHED = 8 << 20  # bytes in which a second message of a mailbox is looked for


@dataclass(frozen=True, slots=True)
class Kind:
    """What a file is.

    Attributes:
        name: one of ``KINDS``.
        warning: that its suffix says otherwise, or ``None``.
    """

    name: str
    warning: str | None = None


def detect(path: Path, name: str | None = None) -> Kind:
    """Tell what a file is.

    Args:
        path: where it lies.
        name: its name, where ``path`` is only a place in between.

    Raises:
        EmptyDocument: it has no byte, or only blanks.
        PasswordRequired: a container whose parts are encrypted.
        UnsupportedKind: nothing that is read; the message says what it seems to be.
        OSError: it cannot be opened.
    """
    with path.open("rb") as file:
        head = file.read(_HEAD)
    if not head:
        raise EmptyDocument("the file is empty (0 bytes)")
    suffix = Path(name or path.name).suffix.lower()
    found = _by_content(path, head, suffix) or _text_kind(path, head, suffix)
    expected = _BY_SUFFIX.get(suffix)
    if expected == found or (expected, found) in _ALSO:
        return Kind(found)
    if expected is not None or (suffix and found not in _TEXT_KINDS):
        return Kind(found, f"The name ends in {_shown(suffix)}, but the content is {found}.")
    return Kind(found)


def _by_content(path: Path, head: bytes, suffix: str) -> str | None:
    """The kind by its first bytes; ``None`` for what looks like text."""
    # A container may store a PDF as it is, and first of all.
    holds = head.startswith((*_ZIP_STARTS, _OLE))
    late = not holds and _is_binary(head) and re.search(rb"%PDF-\d", head[:1024])
    if head.startswith(b"%PDF-") or late:
        return "pdf"
    if head.startswith(_IMAGES) or (head[:4] == b"RIFF" and head[8:12] == b"WEBP"):
        return "image"
    if head[:2] == b"BM" and len(head) > 26 and head[6:10] == b"\0\0\0\0":
        return "image"
    if head.startswith(_ZIP_STARTS):
        return _zip_kind(path, suffix)
    if head.startswith(_OLE):
        return _ole_kind(path)
    if re.match(rb"[\s\xef\xbb\xbf]{0,64}\{\\rtf", head):
        return "rtf"
    if head.startswith(b"bplist0") and b"WebMainResource" in _read(path):
        return "webarchive"
    if _is_signed(head):
        return "signed"
    if re.match(rb"[\s\xef\xbb\xbf]{0,64}%PDF-\d", head):
        return "pdf"
    for start, what in _SEEN:
        if head.startswith(start) and (_is_binary(head) or start[:1] in b"{%\x1f"):
            raise _unsupported(what)
    if head[4:8] == b"ftyp":
        if head[8:12].decode("latin-1") in _HEIF_BRANDS:
            return "image"
        raise _unsupported("a video")
    if head[:4] == b"RIFF":
        raise _unsupported("a WAV sound" if head[8:12] == b"WAVE" else "a RIFF file")
    if _is_binary(head):
        raise _unsupported(f"unknown binary content (first bytes: {head[:8].hex(' ')})")
    return None


def _is_signed(head: bytes) -> bool:
    """Whether it is CMS with a file inside of it: as bytes, in base64, or as PEM."""
    if _SIGNED_PEM.match(head[:256]):
        return True
    text = _SIGNED_TEXT.match(head[:256])
    if text is not None:
        letters = b"".join(text[1].split())
        head = base64.b64decode(letters[: len(letters) // 4 * 4])
    return head[:1] == b"\x30" and any(kind in head[:64] for kind in _SIGNED_KINDS)


def _text_kind(path: Path, head: bytes, suffix: str) -> str:
    """The kind of a file that is text."""
    if not head.strip(b" \t\r\n\x0b\x0c\0\xef\xbb\xbf\xff\xfe") and len(head) < _HEAD:
        raise EmptyDocument("the file holds only blanks")
    hint = _BY_SUFFIX.get(suffix)
    start = _narrow(head)
    headers = _mail_headers(start)
    if (len(headers) >= 2 and headers & _MAIL_SIGNS) or (
        hint in {"eml", "mbox", "mhtml"} and headers
    ):
        named = hint == "markdown" or (hint in {"csv", "html"} and not headers & _SENT)
        return hint if hint and named else _mail_kind(path, start, hint)
    if _HTML_START.match(start) and hint != "markdown":
        return "html"
    if hint == "html" and _HTML_TAG.search(start):
        return "html"
    if _INVOICE.search(start[:4096]) and _XML_START.match(start):
        return "invoice"
    if flat := _FLAT.search(start[:8192]):
        return _FLAT_KINDS[flat[1]]
    if hint == "rtf" and start.lstrip()[:2] == b"{\\":
        return "rtf"  # a fragment without its usual beginning
    if re.match(rb"\s*<(?:\?xml|!DOCTYPE)\b", start) or (hint == "xml" and _XML_START.match(start)):
        return "xml"
    if hint in {"json", "notebook"} and start.lstrip()[:1] in {b"{", b"[", b'"'}:
        return _json_kind(_read(path))
    if hint == "markdown":
        return hint
    return _notation(path, start, whole=len(head) < _HEAD, suffix=suffix) or (
        "csv" if hint == "csv" else "text"
    )


def _notation(path: Path, start: bytes, *, whole: bool, suffix: str) -> str | None:
    """JSON, XML or separated values under the name of something else, if they are surely that."""
    first = start.lstrip()[:1]
    if first in {b"{", b"["}:
        data = _narrow(_read(path))
        return _json_kind(data) if is_json(data, len(data) < _SEARCHED) else None
    if first == b"<":
        return "xml" if is_xml(_narrow(_read(path))) else None
    other = suffix in _PLAIN or suffix in _BINARY_SUFFIXES or suffix in _BY_SUFFIX
    return "csv" if other and is_separated(start, whole) else None


def _json_kind(data: bytes) -> str:
    return "notebook" if b'"nbformat"' in data and b'"cells"' in data else "json"


def _mail_kind(path: Path, start: bytes, hint: str | None) -> str:
    """Whether what begins with headers of mail is one mail, a box of them or a saved page."""
    if start.startswith(b"From ") and (hint == "mbox" or _ENVELOPE.search(_read(path))):
        return "mbox"
    head = re.split(rb"\r?\n\r?\n", start, maxsplit=1)[0].lower()
    saved = b"snapshot-content-location" in head or hint == "mhtml"
    return "mhtml" if saved and b"multipart/related" in head else "eml"


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(_SEARCHED)


def _mail_headers(head: bytes) -> set[bytes]:
    """The different headers of mail that the file begins with, before anything else."""
    found: set[bytes] = set()
    for number, line in enumerate(head.split(b"\n", 200)[:200]):
        line = line.rstrip(b"\r")
        if line[:1] in {b" ", b"\t"} and number:
            continue
        if number == 0 and (line.startswith(b"From ") or line.strip().isdigit()):
            continue  # the envelope line of a mailbox file; the length that Apple Mail writes
        match = _HEADER.match(line)
        if match is None:
            break
        found |= {match[1].lower()} & _MAIL_HEADERS
    return found


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


_PACKED = (
    (b"opendocument.text", "odt"),
    (b"opendocument.spreadsheet", "ods"),
    (b"opendocument.presentation", "odp"),
    (b"opendocument.graphics", "odp"),
    (b"epub", "epub"),
)


def _zip_kind(path: Path, suffix: str) -> str:
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            mime = b""
            if "mimetype" in names and archive.getinfo("mimetype").file_size < 200:
                mime = archive.read("mimetype")
            closed = any(member.flag_bits & 1 for member in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError, RuntimeError) as error:
        raise ReadingError(
            "the file begins like a ZIP container (Word, Excel, PowerPoint, ZIP) but is broken: "
            f"{error}"
        ) from None
    lowered = {name.lower().lstrip("/").replace("\\", "/") for name in names}
    for folder, kind in (("word/", "docx"), ("xl/", "xlsx"), ("ppt/", "pptx")):
        if "[content_types].xml" not in lowered and _BY_SUFFIX.get(suffix) != kind:
            continue  # somebody's folder of that name
        if any(n.startswith(folder) and n.endswith(".xml") for n in lowered):
            if closed:
                raise PasswordRequired(f"the {kind} file opens only with a password")
            return kind
    if "xl/workbook.bin" in lowered:
        return "xlsb"
    for word, kind in _PACKED:
        if word in mime:
            return kind
    if suffix in _SUFFIXES["iwork"] or any(n.endswith(".iwa") for n in lowered):
        return "iwork"
    if "meta-inf/container.xml" in lowered:
        return "epub"  # without its mimetype, as a careless packer leaves it
    return "zip"


def _ole_directory(path: Path) -> bytes:
    """Where a compound file names its streams: in large ones that is often at the end."""
    with path.open("rb") as file:
        head = file.read(512)
        shift = int.from_bytes(head[30:32], "little")
        if shift not in (9, 12):
            return b""
        file.seek((int.from_bytes(head[48:52], "little") + 1) << shift)
        return file.read(_HEAD)


def _ole_kind(path: Path) -> str:
    data = _read(path) + _ole_directory(path)
    if "EncryptedPackage".encode("utf-16-le") in data:
        return "encrypted"
    # A message may hold a Word file, whose streams are then those of its attachment.
    for stream, kind in (
        ("__nameid_version1.0", "msg"),
        ("__properties_version1.0", "msg"),
        ("WordDocument", "doc"),
        ("PowerPoint Document", "ppt"),
        ("Workbook", "xls"),
        ("Book", "xls"),
    ):
        if stream.encode("utf-16-le") + b"\0\0" in data:
            return kind
    raise _unsupported("an OLE compound file")


def _unsupported(what: str) -> UnsupportedKind:
    return UnsupportedKind(
        f"the file is {what}, which is not read. Read are PDF, pictures, Office and OpenDocument "
        "files, books, mail, web pages, text, data, invoices and ZIP archives."
    )


def _shown(suffix: str) -> str:
    return suffix.encode(errors="backslashreplace").decode()
