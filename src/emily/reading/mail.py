"""An e-mail: its headers, then its body."""

from __future__ import annotations

import email
import email.policy
import re
from email.message import EmailMessage
from email.utils import parsedate_to_datetime

from emily.errors import ReadingError
from emily.reading.encodings import decode_text
from emily.reading.pages import Page, Table
from emily.reading.source import Draft, Source, check_length, single_page, tidy
from emily.reading.web import html_text

__all__ = ["read_mail"]

_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_MOST_NAMED = 20  # attachments in the warning


def read_mail(source: Source) -> Draft:
    """A mail: From, To, Cc, Date (ISO 8601) and Subject as first lines, then its text.

    The plain text is preferred to the HTML. Attachments are named in a warning.
    """
    data = source.path.read_bytes()
    check_length(len(data) // 16)  # most of a large mail is attachments, three quarters net
    if b"\0" in data[:64]:  # stored as UTF-16
        data = decode_text(data)[0].encode(errors="replace")
    data = re.sub(rb"\A(?:\xef\xbb\xbf)?(?:From [^\r\n]*\r?\n)?", b"", data)
    end = re.search(rb"\r?\n\r?\n", data)
    head, rest = (data[: end.start()], data[end.start() :]) if end else (data, b"")
    if not head.isascii():
        head = decode_text(head)[0].encode()  # the parser takes UTF-8 as well
    head = re.sub(rb"(?m)^([!-9;-~]+)[ \t]+:", rb"\1:", head)  # blanks before the colon: old style
    data = head + rest
    try:
        message = email.message_from_bytes(data, policy=email.policy.default)
    except (ValueError, IndexError, AttributeError, TypeError) as error:
        raise ReadingError(f"the mail cannot be parsed: {error}") from None
    warnings: list[str] = []
    lines = [f"{name}: {value}" for name in _SHOWN if (value := _header(message, name))]
    body, tables, attachments = _body(message, warnings)
    if attachments:
        named = ", ".join(attachments[:_MOST_NAMED])
        more = len(attachments) - _MOST_NAMED
        named += f" and {more} more" if more > 0 else ""
        warnings.append(f"Attachments are not read: {named}.")
    offset = len(lines) + 1
    text = "\n".join([*lines, "", body]).rstrip()
    check_length(len(text))
    shifted = tuple(_shift(table, offset) for table in tables)
    page = Page(1, text, tables=shifted)
    subject = _header(message, "Subject")
    return Draft("eml", "none", single_page(page), subject or None, warnings)


def _shift(table: Table, by: int) -> Table:
    header = (table.header[0] + by, table.header[1] + by) if table.header else None
    return Table(header, tuple((first + by, last + by) for first, last in table.rows))


def _header(message: EmailMessage, name: str) -> str:
    """A header's value on one line, decoded (RFC 2047); the date as ISO 8601 where it is one."""
    try:
        values = [str(value) for value in message.get_all(name, [])]
    except (ValueError, IndexError, AttributeError, TypeError, LookupError):
        # The parser of structured headers fails on some broken ones; take them as they stand.
        values = [str(value) for key, value in message.raw_items() if key.lower() == name.lower()]
    text = ", ".join(value for value in values if value.strip())
    if name == "Date":
        try:
            return parsedate_to_datetime(text).isoformat(" ")
        except (ValueError, TypeError, IndexError):
            pass  # shown as it stands
    return " ".join(tidy(text).split())


def _body(message: EmailMessage, warnings: list[str]) -> tuple[str, tuple[Table, ...], list[str]]:
    plain: list[str] = []
    rich: list[tuple[str, tuple[Table, ...]]] = []
    attachments: list[str] = []
    for part in _parts(message):
        kind = part.get_content_type()
        name = _file_name(part)
        if kind == "message/rfc822":
            inner = part.get_payload()
            first = inner[0] if isinstance(inner, list) and inner else None
            subject = _header(first, "Subject") if isinstance(first, EmailMessage) else ""
            attachments.append(f"a mail ({subject or 'no subject'})")
        elif _disposition(part) == "attachment" or (name and kind != "text/plain"):
            attachments.append(name or kind)
        elif kind == "text/html":
            text, tables, _ = html_text(_text(part, warnings))
            rich.append((text, tables))
        elif part.get_content_maintype() == "text":
            plain.append(_unflow(part, _text(part, warnings)))
        elif name or kind not in {"multipart/alternative", "multipart/mixed"}:
            attachments.append(name or kind)
    text = "\n\n".join(piece.strip("\n") for piece in plain if piece.strip())
    if text.strip() or not rich:
        return text, (), attachments
    if len(rich) == 1:
        return rich[0][0], rich[0][1], attachments
    return "\n\n".join(text for text, _ in rich), (), attachments


def _parts(message: EmailMessage) -> list[EmailMessage]:
    """The leaves of a message; an attached mail is one leaf."""
    leaves: list[EmailMessage] = []
    stack = [message]
    while stack:
        part = stack.pop()
        payload = part.get_payload() if part.is_multipart() else None
        if isinstance(payload, list) and part.get_content_maintype() != "message":
            stack += reversed([child for child in payload if isinstance(child, EmailMessage)])
        else:
            leaves.append(part)
    return leaves


def _disposition(part: EmailMessage) -> str | None:
    try:
        return part.get_content_disposition()
    except (ValueError, IndexError, AttributeError, TypeError, LookupError):
        return None  # a broken header: the content type decides


def _file_name(part: EmailMessage) -> str:
    try:
        return " ".join(tidy(part.get_filename() or "").split())
    except (ValueError, IndexError, AttributeError, TypeError, LookupError):
        return ""


def _text(part: EmailMessage, warnings: list[str]) -> str:
    payload = part.get_payload(decode=True)
    data = payload if isinstance(payload, bytes) else b""
    text, warning = decode_text(data, part.get_content_charset())
    if warning:
        warnings.append(warning.replace("the file", "the mail's text"))
    return tidy(text)


def _unflow(part: EmailMessage, text: str) -> str:
    """Join the soft line ends of ``format=flowed`` (RFC 3676)."""
    if "flowed" not in str(part.get_param("format", "")).lower():
        return text
    return re.sub(r"(?m)^(?!-- $)([^>\n].*) \n(?![> \n])", r"\1 ", text)
