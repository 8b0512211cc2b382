"""Headers of mail: who wrote to whom, when, and in answer to what."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from email.utils import parsedate_to_datetime

from emily.reading.mail.charsets import decode_words
from emily.reading.mail.mime import Part
from emily.reading.pages import Correspondent, Facts, Role
from emily.reading.source import tidy

__all__ = ["addresses", "facts", "header_lines", "message_ids", "moment", "subject"]

_SHOWN = ("From", "To", "Cc", "Date", "Subject")
_ROLES: tuple[Role, ...] = ("from", "to", "cc")
_MOST_SHOWN = 20_000  # characters of one header
_MOST_PEOPLE = 1_000
_MOST_LENGTH = 500  # of a name, an address or a message id
_YEARS = range(1970, 2100)  # a mail of another year has a clock that was never set
_ID = re.compile(r"<\s*([^<>\s]+)\s*>")
_PIECE = re.compile(
    r'"(?:[^"\\]|\\.)*"?|\((?:[^()\\]|\\.)*\)|<[^>]*>?|[,;:]|[^",;:<(]+|.', re.DOTALL
)
_ADDRESS = re.compile(r"[^\s<>()\",;:]+@[^\s<>()\",;:]+")


def header_lines(mail: Part) -> list[str]:
    """From, To, Cc, Date (ISO 8601 where it can be read) and Subject, one line each."""
    lines = []
    for name in _SHOWN:
        value = ", ".join(map(_plain, mail.all(name.lower())))
        if name == "Date":
            when = moment(value)
            value = value if when is None else when.isoformat(" ")
        if len(value) > _MOST_SHOWN:
            value = value[:_MOST_SHOWN] + " …"
        if value:
            lines.append(f"{name}: {value}")
    return lines


def subject(mail: Part) -> str:
    """The subject on one line; an empty text where there is none."""
    return _plain(mail.get("subject"))[:_MOST_SHOWN]


def facts(mail: Part) -> Facts:
    """What the headers say: correspondents, date, id, and the messages that it answers.

    Without a readable ``Date`` the day on which the mail was first received stands for it.
    """
    people = [
        Correspondent(role, name, address)
        for role in _ROLES
        for name, address in addresses(mail.all(role))
    ]
    author = next((p.name or p.address for p in people if p.role == "from"), None)
    day = _day([*mail.all("date"), *(v.rpartition(";")[2] for v in mail.all("received")[::-1])])
    own = message_ids(mail.get("message-id"))
    before = [one for value in mail.all("references") for one in message_ids(value)]
    before += [one for value in mail.all("in-reply-to") for one in message_ids(value)]
    return Facts(
        author=author,
        date=day,
        date_source=None if day is None else "header",
        correspondents=tuple(people[:_MOST_PEOPLE]),
        message_id=own[0] if own else None,
        references=tuple(one for one in dict.fromkeys(before) if one not in own[:1])[
            -_MOST_PEOPLE:
        ],
    )


def _plain(value: str) -> str:
    return " ".join(tidy(decode_words(value)).replace("\0", "").split())


def _day(dates: Iterable[str]) -> dt.date | None:
    for value in dates:
        when = moment(value)
        if when is not None and when.year in _YEARS:
            return when.date()
    return None


def moment(value: str) -> dt.datetime | None:
    """The date of a mail (RFC 5322, or ISO 8601 as some programs write), or ``None``."""
    value = value.strip()[:200]
    try:
        return parsedate_to_datetime(value)
    except (ValueError, TypeError, IndexError, OverflowError):
        pass
    try:
        return dt.datetime.fromisoformat(value)
    except ValueError:
        return None


def message_ids(value: str) -> list[str]:
    """Message ids without angle brackets; words with an ``@`` where none has brackets."""
    found = _ID.findall(value[: 1000 * _MOST_LENGTH])
    if not found:
        found = [word for word in value[:10_000].split() if "@" in word.strip("@")]
    return [tidy(one)[:_MOST_LENGTH] for one in found]


def addresses(values: Iterable[str]) -> list[tuple[str, str | None]]:
    """The people of an address header: name and address, in order.

    Args:
        values: the header's values. Names may be encoded words (decoded after the commas are
            told apart, which a name may hold), quoted, or stand in brackets after the address;
            groups give their members; ``;`` separates as well as ``,``, as Outlook has it.

    Returns:
        Pairs; the name is empty where only the address stands, the address ``None`` where only
        a name does. At most 1,000.
    """
    people: list[tuple[str, str | None]] = []
    for value in values:
        for words, address, comment in _mailboxes(value):
            name = _plain(" ".join("".join(words).split()))
            if address is None:
                found = _ADDRESS.search(name)
                if found:
                    address = found[0]
                    name = f"{name[: found.start()]} {name[found.end() :]}".strip()
            if address is not None:
                address = _plain(address).removeprefix("mailto:").strip("'\" ;,") or None
            name = (name or _plain(comment)).strip("'\" ")
            if name == address:
                name = ""
            if name or address:
                people.append((name[:_MOST_LENGTH], address and address[:_MOST_LENGTH]))
            if len(people) >= _MOST_PEOPLE:
                return people
    return people


def _mailboxes(value: str) -> Iterator[tuple[list[str], str | None, str]]:
    """The words, the address in angle brackets and the comment of each mailbox of a header."""
    words: list[str] = []
    address: str | None = None
    comment = ""
    for found in _PIECE.finditer(value):
        piece = found[0]
        if piece in {",", ";"}:
            yield words, address, comment
            words, address, comment = [], None, ""
        elif piece == ":":  # what stands before is the name of a group
            if words and words[-1].strip().lower() in {"mailto", "smtp"}:
                words.pop()
            elif address is None:
                words = []
        elif piece[0] == "<":
            inner = piece.strip("<> \t")
            address = inner.rpartition(":")[2] if inner else address  # without RFC 822's route
        elif piece[0] == "(" and len(piece) > 1:
            comment = piece[1:-1]
        elif piece[0] == '"':
            words.append(re.sub(r"\\(.)", r"\1", piece.strip('"')))
        else:
            words.append(piece)
    yield words, address, comment
