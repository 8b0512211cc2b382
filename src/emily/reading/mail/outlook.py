"""Outlook messages (.msg): put together as the mail that they were, and read as one."""

from __future__ import annotations

import re
from collections.abc import Iterator

from emily.errors import ReadingError
from emily.reading.legacy.compound import Compound
from emily.reading.mail.mapi import INTERNET_PAGE, Folder, charset
from emily.reading.mail.message import mail_draft
from emily.reading.mail.mime import Part, head, parse
from emily.reading.mail.mime_writer import attached, joined, leaf, serial
from emily.reading.mail.outlook_rtf import decompressed, unfolded
from emily.reading.source import Draft, Source, tidy

__all__ = ["read_msg"]

_MOST_NESTED = 8  # messages inside of messages
# Properties ([MS-OXPROPS]).
_CLASS, _SUBJECT, _HEADERS, _BODY, _RTF, _HTML = 0x001A, 0x0037, 0x007D, 0x1000, 0x1009, 0x1013
_FROM = (0x0042, (0x5D02, 0x0065))  # name and addresses: on whose behalf it was sent
_SENDER = (0x0C1A, (0x5D01, 0x0C1F))
_RECIPIENT = (0x3001, (0x39FE, 0x3003))
_RECIPIENT_TYPE, _SUBMITTED, _DELIVERED = 0x0C15, 0x0039, 0x0E06
_MESSAGE_ID, _REFERENCES, _IN_REPLY_TO = 0x1035, 0x1039, 0x1042
_DATA, _METHOD, _LONG_NAME, _SHORT_NAME, _DISPLAY = 0x3701, 0x3705, 0x3707, 0x3704, 0x3001
_MIME, _CONTENT_ID, _LOCATION = 0x370E, 0x3712, 0x3713
_STARTS, _ENDS = 0x0060, 0x0061
_ROLES = {1: "to", 2: "cc"}
_CAME = ("from", "to", "cc", "date", "message-id", "references", "in-reply-to", "received")
_BY_REFERENCE = frozenset({2, 3, 4, 7})
_SPECIAL = re.compile(r'[",;:<>@()\\\[\]]')


def read_msg(source: Source) -> Draft:
    """An Outlook message, read as the mail that it was.

    From, To, Cc, Date and Subject as first lines, then its text: the plain text, the HTML, or the
    rich text. What is attached is enclosed, messages among it as mails.

    Raises:
        ReadingError: it is broken.
    """
    compound = Compound(source.path)
    try:
        held = Folder.top(compound)
        mail = _mail(held, 0)
    finally:
        compound.close()
    draft = mail_draft(mail, source, "msg")
    if held.text(_CLASS).lower().startswith("ipm.note.rpmsg") or any(
        part.name.lower() == "message.rpmsg" for part in mail.walk()
    ):
        draft.warnings.append("Its content is protected by rights management and is not read.")
    return draft


def _mail(held: Folder, depth: int) -> Part:
    """The mail that a message was.

    Its headers are those that it came with, if it holds them; one that was sent or never left has
    none, and its properties say the same.
    """
    made = _headers(held)
    came = head(_came(held))
    headers = made | {name: value for name in _CAME if (value := came.get(name))}
    headers["subject"] = made.get("subject") or came.get("subject")
    parts = list(_texts(held))
    if len(parts) > 1:
        parts = [joined("multipart/alternative", parts)]
    lost: list[str] = []
    files = list(_attached(held, depth, lost))
    closed = came.kind == "multipart/encrypted" or any(
        part.kind == "application/pgp-encrypted" for part in files
    )
    whole = joined("multipart/encrypted" if closed else "multipart/mixed", parts + files)
    whole.headers = [*headers.items(), *whole.headers]
    whole.lost = lost
    return whole


def _came(held: Folder) -> bytes:
    """The headers that the message came with; some programs put a line of their own before."""
    text = held.text(_HEADERS).replace("\x00", "")
    return re.sub(r"\AMicrosoft Mail Internet Headers[^\n]*\n", "", text.lstrip("\n")).encode(
        "utf-8", "replace"
    )


def _headers(held: Folder) -> dict[str, str]:
    """Headers made out of properties."""
    made = {"from": _person(held, _FROM) or _person(held, _SENDER)}
    people: dict[str, list[str]] = {}
    for recipient in held.inside("__recip_version1.0_", 8):
        role = _ROLES.get(recipient.integer(_RECIPIENT_TYPE) & 0xF)
        if role is not None:
            people.setdefault(role, []).append(_person(recipient, _RECIPIENT))
    made |= {role: ", ".join(filter(None, names)) for role, names in people.items()}
    when = held.time(_SUBMITTED) or held.time(_DELIVERED)
    made["date"] = when.replace(microsecond=0).isoformat(" ") if when is not None else ""
    made["subject"] = held.line(_SUBJECT)
    made["message-id"] = held.line(_MESSAGE_ID)
    made["references"] = held.line(_REFERENCES)
    made["in-reply-to"] = held.line(_IN_REPLY_TO)
    return {name: value for name, value in made.items() if value}


def _person(held: Folder, properties: tuple[int, tuple[int, ...]]) -> str:
    """Somebody as a header names them; addresses of Exchange, which are no mail, are left out."""
    name, numbers = properties
    shown = held.line(name).strip("'\"")
    address = next((a for n in numbers if "@" in (a := held.line(n))), "")
    if not shown or shown.lower() == address.lower():
        return address
    if _SPECIAL.search(shown):
        shown = '"' + re.sub(r'(["\\])', r"\\\1", shown) + '"'
    return f"{shown} <{address}>" if address else shown


def _texts(held: Folder) -> Iterator[Part]:
    """The text in the forms in which the message holds it."""
    plain = held.text(_BODY)
    span = _span(held) if held.text(_CLASS).lower().startswith("ipm.appointment") else ""
    if plain.strip() or span:
        text = f"When: {span}\n\n{plain}" if span else plain
        yield leaf("text/plain; charset=utf-8", text.encode("utf-8", "replace"))
    page = charset(held.integer(INTERNET_PAGE) or held.page)
    marked = held.binary(_HTML)
    if marked:
        yield leaf(f"text/html; charset={page}", marked)
    elif held.text(_HTML).strip():
        yield leaf("text/html; charset=utf-8", held.text(_HTML).encode("utf-8", "replace"))
    else:
        rich = held.binary(_RTF)
        try:
            text, is_html = unfolded(decompressed(rich)) if rich else ("", False)
        except ReadingError:
            return
        kind = "text/html" if is_html else "text/plain"
        if text.strip() and (is_html or not plain.strip()):
            yield leaf(f"{kind}; charset=utf-8", tidy(text).encode("utf-8", "replace"))


def _span(held: Folder) -> str:
    times = [held.time(number) for number in (_STARTS, _ENDS)]
    return " – ".join(f"{when:%Y-%m-%d %H:%M} UTC" for when in times if when is not None)


def _attached(held: Folder, depth: int, lost: list[str]) -> Iterator[Part]:
    for attachment in held.inside("__attach_version1.0_", 8):
        name = (
            attachment.line(_LONG_NAME) or attachment.line(_SHORT_NAME) or attachment.line(_DISPLAY)
        )
        inner = next(attachment.inside("__substg1.0_3701000d", 24), None)
        if inner is not None and "__properties_version1.0" in inner.streams:
            if depth >= _MOST_NESTED:
                lost.append(f"Messages nested deeper than {_MOST_NESTED} are not read.")
                continue
            yield leaf("message/rfc822", serial(_mail(inner, depth + 1)))
            continue
        if attachment.integer(_METHOD) in _BY_REFERENCE:
            lost.append(f"The attachment {name or 'without a name'} is kept elsewhere.")
            continue
        data = attachment.binary(_DATA)
        if inner is not None and not data:
            lost.append(f"The embedded object {name or 'without a name'} is not read.")
            continue
        kind = attachment.line(_MIME).lower()
        if kind == "multipart/signed":  # S/MIME: the message as it was signed
            yield parse(data)
            continue
        yield attached(data, name, kind, attachment.line(_CONTENT_ID), attachment.line(_LOCATION))
