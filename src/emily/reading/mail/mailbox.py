"""A mailbox in one file (mbox): its messages, one by one, however long the box is."""

from __future__ import annotations

import datetime as dt
import re
from array import array
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from emily.errors import EmptyDocument
from emily.reading.file_names import file_name
from emily.reading.mail.headers import facts, subject
from emily.reading.mail.mime import Part, head
from emily.reading.pages import Correspondent, Page
from emily.reading.source import Draft, Enclosed, Source, single_page

__all__ = ["read_mbox"]

_PIECE = 1 << 20
_HEAD = 64 << 10  # bytes of a message in which its headers are looked for
_MOST_PEOPLE = 20_000  # counted at a time; then those with a single mail are forgotten
_MOST_EACH = 50  # people of one message that are counted
_MOST_SHOWN = 20
_AHEAD = 4_096  # bytes of a separator and the beginning of what follows it
_BEFORE = 4  # bytes that show whether a blank line stands before it
_SEPARATOR = re.compile(rb"^From ", re.MULTILINE)
# RFC 4155 has an address and a date; programs add zones and hosts, and some leave out either.
_DATED = re.compile(rb"From [^\n]{0,300}\b\d\d?:\d\d[^\n]{0,60}\b\d{4}\b")
_ENVELOPE = re.compile(_DATED.pattern + rb"|From [^\s@]+@[^\s@]+\s|From -\s")
_HEADER = re.compile(
    rb"(?:return-path|received|delivered-to|x-[\w-]+|from|to|cc|bcc|date|subject|message-id|"
    rb"mime-version|content-[\w-]+|reply-to|sender|status|references|in-reply-to|dkim-[\w-]+|"
    rb"arc-[\w-]+|authentication-results|list-[\w-]+|envelope-to|errors-to|precedence|priority|"
    rb"importance|user-agent|thread-[\w-]+|organization|resent-[\w-]+|lines)[ \t]*:|>From ",
    re.IGNORECASE,
)
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)


def read_mbox(source: Source) -> Draft:
    """A mailbox: a page that says what is in it, and its messages enclosed, in order.

    The box is read through twice, piece by piece: for its page, and for the messages. ``>From``
    at the begin of a line loses its ``>`` (mboxo and mboxrd alike). ``Content-Length`` is not
    believed.

    Raises:
        EmptyDocument: it holds no message.
    """
    starts = _starts(source.path)
    if starts[-1] < _PIECE and not source.path.read_bytes().strip():
        raise EmptyDocument("the mailbox holds no message")
    draft = Draft("mbox", "none", single_page(Page(1, _summary(source, starts))))
    draft.enclosed = _enclosed(source, starts, draft.warnings)
    return draft


def _starts(path: Path) -> array[int]:
    """Offsets at which messages begin, and that of the file's end.

    A line that begins with ``From `` parts messages where two of these hold: a blank line is
    before it, it has an address or a date, a header of mail follows. So a broken one costs no
    message, and a sentence that begins with that word makes none.
    """
    starts = array("q")
    with path.open("rb") as file:
        offset, block, done = 0, b"", 0  # of the block, and up to where in it all is decided
        while True:
            data = file.read(_PIECE)
            block += data
            limit = len(block) - _AHEAD if data else len(block)
            for found in _SEPARATOR.finditer(block, done):
                if found.start() >= limit:
                    break
                if _parts(block, found.start(), first=offset == 0):
                    starts.append(offset + found.start())
            if not data:
                break
            done = max(done, limit)
            drop = max(0, done - _BEFORE)
            block, offset, done = block[drop:], offset + drop, done - drop
    size = path.stat().st_size
    if not starts or starts[0] > _BEFORE:
        starts.insert(0, 0)  # a message whose separator is missing
    starts.append(size)
    return starts


def _parts(block: bytes, at: int, *, first: bool) -> bool:
    """Whether a line that begins with ``From `` parts messages."""
    stop = block.find(b"\n", at, at + _AHEAD)
    line = block[at:stop] if stop >= 0 else block[at : at + _AHEAD]
    before = block[max(0, at - _BEFORE) : at]
    blank = before.endswith((b"\n\n", b"\n\r\n")) or (first and not block[:at].strip())
    header = stop >= 0 and _HEADER.match(block, stop + 1) is not None
    if header:
        return blank or _ENVELOPE.match(line) is not None
    return blank and _DATED.match(line) is not None


def _summary(source: Source, starts: array[int]) -> str:
    """The box's name, its number of messages, the span of their dates, and whom they are from."""
    people: Counter[str] = Counter()
    first: dt.date | None = None
    last: dt.date | None = None
    for mail in _heads(source.path, starts):
        said = facts(mail)
        people.update({_known_by(person) for person in said.correspondents[:_MOST_EACH]})
        if len(people) > _MOST_PEOPLE:
            people = Counter({name: count for name, count in people.items() if count > 1})
            if len(people) > _MOST_PEOPLE // 2:
                people = Counter(dict(people.most_common(_MOST_PEOPLE // 2)))
        if said.date is not None:
            first = min(first or said.date, said.date)
            last = max(last or said.date, said.date)
    count = len(starts) - 1
    lines = [f"Mailbox {source.name}: {count:,} message{'s' * (count != 1)}"]
    if first is not None and last is not None:
        lines.append(f"Dates: {first} – {last}" if first != last else f"Date: {first}")
    if people:
        lines += ["", "Correspondents, by number of messages:"]
        lines += [f"- {name}: {n:,}" for name, n in _most(people)]
    return "\n".join(lines)


def _most(people: Counter[str]) -> list[tuple[str, int]]:
    """The most frequent, ties by name; of many, none that has a single message."""
    least = 1 if len(people) <= _MOST_SHOWN else 2
    often = [item for item in people.items() if item[1] >= least]
    return sorted(often, key=lambda item: (-item[1], item[0]))[:_MOST_SHOWN]


def _known_by(person: Correspondent) -> str:
    """One name for everybody who writes from an address."""
    return person.address.lower() if person.address else person.name


def _heads(path: Path, starts: array[int]) -> Iterator[Part]:
    with path.open("rb") as file:
        for start, end in pairwise(starts):
            file.seek(start)
            yield head(file.read(min(_HEAD, end - start)))


def _enclosed(source: Source, starts: array[int], warnings: list[str]) -> Iterator[Enclosed]:
    spans = zip(_heads(source.path, starts), pairwise(starts), strict=True)
    for number, (mail, (start, end)) in enumerate(spans, 1):
        if source.late():
            warnings.append(
                f"Only the first {number - 1:,} messages are read: the mailbox has used up its "
                f"time of {source.seconds} s (setting reading_seconds)."
            )
            return
        name = f"{number:06} {file_name(subject(mail))}".rstrip()
        yield Enclosed(f"{name}.eml", _message(source.path, start, end))


def _message(path: Path, start: int, end: int) -> Iterator[bytes]:
    """A message without its separator, with quoted lines as they were written."""
    with path.open("rb") as file:
        file.seek(start)
        rest = b""
        begun = False
        while start < end:
            data = file.read(min(_PIECE, end - start))
            if not data:
                break
            start += len(data)
            rest += data
            if not begun:
                begun = True
                if rest.startswith(b"From "):
                    rest = rest.partition(b"\n")[2]
            cut = rest.rfind(b"\n") + 1
            if start >= end or (not cut and len(rest) > _PIECE):
                cut = len(rest)
            yield _QUOTED.sub(rb"\1", rest[:cut])
            rest = rest[cut:]
