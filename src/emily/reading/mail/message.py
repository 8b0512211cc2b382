"""An e-mail: its headers, then its text; what is attached becomes files of their own."""

from __future__ import annotations

import mimetypes
import re
from collections.abc import Iterator

from emily.reading.encodings import decode_text
from emily.reading.file_names import file_name, unique
from emily.reading.mail.body import MAILS, Body, read_body, shifted
from emily.reading.mail.headers import facts, header_lines, subject
from emily.reading.mail.mime import Part, parse
from emily.reading.pages import Page
from emily.reading.source import Draft, Enclosed, Source, check_length, single_page

__all__ = ["mail_draft", "read_mail"]

_APPLE = re.compile(rb"(\d{1,12})[ \t]*\r?\n")  # Apple Mail: a mail's length, it, its state as XML
# Where the table of the standard library differs between systems or has nothing.
_SUFFIXES = {
    "text/plain": ".txt", "text/html": ".html", "text/csv": ".csv", "text/calendar": ".ics",
    "text/vcard": ".vcf", "text/x-vcard": ".vcf", "text/directory": ".vcf", "text/rtf": ".rtf",
    "application/rtf": ".rtf", "application/ics": ".ics", "application/xml": ".xml",
    "text/xml": ".xml", "image/jpeg": ".jpg", "image/pjpeg": ".jpg", "image/jpg": ".jpg",
    "image/tiff": ".tiff", "image/heic": ".heic", "image/webp": ".webp",
    "application/octet-stream": "", "application/zip": ".zip",
    "application/x-zip-compressed": ".zip",
}  # fmt: skip


def read_mail(source: Source) -> Draft:
    """A mail: From, To, Cc, Date (ISO 8601) and Subject as first lines, then its text.

    The plain text is preferred to the HTML unless it is empty or a stub; what is read in inline
    pictures stands where they do; invitations say what, when and where. What is attached is
    enclosed.
    """
    data = source.path.read_bytes()
    check_length(len(data) // 16)  # most of a large mail is attachments, three quarters net
    if b"\0" in data[:64]:  # stored as UTF-16
        data = decode_text(data)[0].encode(errors="replace")
    apple = _APPLE.match(data)
    if apple is not None:
        data = data[apple.end() : apple.end() + int(apple[1])]
    return mail_draft(parse(data), source, "eml")


def mail_draft(mail: Part, source: Source, kind: str) -> Draft:
    """The draft of a mail, whatever kind of file it was taken out of.

    Args:
        mail: taken apart, or put together out of another format.
        source: the file.
        kind: of the file.
    """
    lines = header_lines(mail)
    body = read_body(mail, lambda data: source.pictures.block(data, 1))
    text = "\n".join([*lines, "", body.text]).rstrip()
    check_length(len(text))
    tables = tuple(shifted(table, len(lines) + 1) for table in body.tables)
    page = Page(1, text, tables=tables, pictures=source.pictures.on_page(1))
    return Draft(
        kind,
        "none",
        single_page(page),
        subject(mail) or None,
        body.warnings,
        facts(mail),
        _enclosed(body),
    )


def _enclosed(body: Body) -> Iterator[Enclosed]:
    """What is attached, in order; a name that occurs again gets a number."""
    taken: dict[str, int] = {}
    for part in body.files:
        yield Enclosed(unique(_name(part), taken), part.pieces())
    for name, data in body.made:
        yield Enclosed(unique(file_name(name) or "attachment", taken), [data])


def _name(part: Part) -> str:
    """What an attached file is called."""
    if part.kind in MAILS:
        inner = parse(part.body())
        name = file_name(subject(inner))
        return f"{name}.eml" if name else (file_name(part.name) or "mail.eml")
    name = file_name(part.name)
    if name:
        return name
    suffix = _SUFFIXES.get(part.kind)
    if suffix is None:
        suffix = mimetypes.guess_extension(part.kind) or ""
    return f"{part.main if part.main in {'image', 'audio', 'video'} else 'attachment'}{suffix}"
