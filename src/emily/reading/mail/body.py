"""What a mail says: which of its parts are its text, and which are files of their own."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from emily.errors import PasswordRequired, ReadingError
from emily.reading.data.signed import unwrap
from emily.reading.mail.invitation import event_lines
from emily.reading.mail.mime import Part, parse
from emily.reading.mail.texts import plain_text, without_tags
from emily.reading.mail.tnef import parts_of
from emily.reading.pages import Table
from emily.reading.web.page import html_text, inline_picture

__all__ = ["MAILS", "Body", "read_body", "shifted"]

MAILS = frozenset({
    "message/rfc822", "message/global", "message/news", "text/rfc822-headers",
    "message/global-headers",
})  # fmt: skip
"""Content types of parts that are mails, or their headers."""

_STUB = 1 / 3  # of the HTML's words: a plain text with fewer only says that there is HTML
_SAME = 0.8  # of one text's words found in another: it is that text again
_SIGNATURES = frozenset({
    "application/pgp-signature", "application/pkcs7-signature", "application/x-pkcs7-signature",
    "application/pgp-keys",
})  # fmt: skip
_SMIME = frozenset({"application/pkcs7-mime", "application/x-pkcs7-mime"})
_TNEF = frozenset({"application/ms-tnef", "application/vnd.ms-tnef"})
_CALENDARS = frozenset({"text/calendar", "application/ics"})
_REPORTS = frozenset({"message/delivery-status", "message/disposition-notification"})
_TEXTS = frozenset({"text/plain", "text/enriched", "text/richtext", "text/markdown", "text/html"})
_NO_CONTENT = frozenset({
    "text/css", "text/javascript", "application/javascript", "text/x-amp-html", "text/watch-html",
})  # fmt: skip
_MARKERS = re.compile(r"\[cid:\s*([^\]\s]+)\s*\]|\[image: ?([^\]\n]*)\]", re.IGNORECASE)
_META = re.compile(rb"<meta[^>]{1,300}charset\s*=\s*[\"']?\s*([a-z0-9_.:-]+)", re.IGNORECASE)
_MOST_NESTED = 8  # signed content inside of signed content
_MOST_EVENTS = 20  # of an attached calendar; one with more is a file of its own


@dataclass(slots=True)
class Body:
    """What is read of a mail in its own place.

    Attributes:
        text: of all its parts.
        tables: in lines of ``text``.
        files: parts that are files of their own.
        made: files that are no parts: name and bytes.
        warnings: what was not read, one sentence each.
    """

    text: str = ""
    tables: tuple[Table, ...] = ()
    files: list[Part] = field(default_factory=list)
    made: list[tuple[str, bytes]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)


@dataclass(slots=True)
class _Piece:
    """The text of one part; of HTML, its tables and what stands in place of its pictures."""

    text: str
    tables: tuple[Table, ...] = ()
    rich: bool = False
    pictures: list[tuple[Part, list[str]]] = field(default_factory=list)


def read_body(mail: Part, pictures: Callable[[bytes], list[str]]) -> Body:
    """Read the parts of a mail.

    Args:
        mail: taken apart.
        pictures: gives the lines in place of an inline picture, by the picture's bytes.
    """
    body = Body()
    walk = _Walk(body, pictures)
    pieces = _once([piece for piece in walk.read(mail) if piece.text.strip()])
    body.files = [part for part in body.files if id(part) not in walk.shown]
    tables: list[Table] = []
    texts: list[str] = []
    line = 0
    for piece in pieces:
        text = piece.text.rstrip() if piece.tables else piece.text.strip("\n").rstrip()
        tables += [shifted(table, line) for table in piece.tables]
        line += text.count("\n") + 2
        texts.append(text)
    body.text, body.tables = "\n\n".join(texts), tuple(tables)
    body.warnings = list(dict.fromkeys(body.warnings))
    return body


def shifted(table: Table, by: int) -> Table:
    """A table whose text was moved down by some lines."""
    header = (table.header[0] + by, table.header[1] + by) if table.header else None
    return Table(header, tuple((first + by, last + by) for first, last in table.rows))


def _once(pieces: list[_Piece]) -> list[_Piece]:
    """Without HTML that says a plain text again, from programs that know no alternatives."""
    plain: Counter[str] = Counter()
    for piece in pieces:
        if not piece.rich:
            plain.update(_words(piece.text))
    return [p for p in pieces if not p.rich or _share(_words(p.text), plain) < _SAME]


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _share(words: list[str], among: Counter[str]) -> float:
    """The part of the words that occurs in the other text, as often as there."""
    return (Counter(words) & among).total() / len(words) if words else 0.0


class _Walk:
    """Reads a mail's parts in order, and puts aside those that are files.

    Attributes:
        shown: identities of the pictures that stand in the HTML, which are no files.
    """

    def __init__(self, body: Body, pictures: Callable[[bytes], list[str]]) -> None:
        self._body = body
        self._pictures = pictures
        self._by_place: dict[str, Part] = {}
        self._any_text = False
        self._nested = 0
        self.shown: set[int] = set()

    def read(self, mail: Part) -> Iterator[_Piece]:
        """The text of a mail, part by part."""
        self._place(mail.walk())
        yield from self._read(mail)

    def _place(self, parts: Iterable[Part]) -> None:
        """Note by what names HTML may refer to parts."""
        for part in parts:
            self._body.warnings += part.lost
            for place in (f"cid:{part.content_id}", part.get("content-location").strip()):
                if place not in {"", "cid:"}:
                    self._by_place.setdefault(place, part)

    def _read(self, part: Part) -> Iterator[_Piece]:
        kind = part.kind
        if kind == "multipart/encrypted":
            self._body.warnings.append("Its content is encrypted with PGP and is not read.")
        elif kind == "multipart/alternative":
            yield from self._alternative(part)
        elif part.parts:
            start = part.parameter("start").strip("<> ") if kind == "multipart/related" else ""
            for child in sorted(part.parts, key=lambda p: not start or p.content_id != start):
                yield from self._read(child)
        else:
            yield from self._leaf(part)

    def _alternative(self, part: Part) -> Iterator[_Piece]:
        """The plain text, unless it is empty or only says that there is HTML."""
        plain: list[_Piece] = []
        rich: list[_Piece] = []
        events: list[_Piece] = []
        before, after = self._any_text, False
        for child in part.parts:
            # Each says the same; a calendar only describes what no other form of it does.
            self._any_text = after if child.kind in _CALENDARS else before
            pieces = [piece for piece in self._read(child) if piece.text.strip()]
            if child.kind in _CALENDARS:
                events += pieces
            elif any(piece.rich for piece in pieces):
                rich = pieces  # the last is the fullest
            elif child.kind == "text/plain" or not plain:
                plain = plain or pieces
            after = after or self._any_text
        self._any_text = after
        said, marked = (sum(len(_words(p.text)) for p in held) for held in (plain, rich))
        if rich and said <= _STUB * marked:
            yield from rich
        else:
            if plain:
                _put(plain, [item for piece in rich for item in piece.pictures])
            yield from plain or rich
        shown = Counter(_words("\n".join(piece.text for piece in plain or rich)))
        yield from (piece for piece in events if _share(_words(piece.text), shown) < 1)

    def _leaf(self, part: Part) -> Iterator[_Piece]:
        kind, name = part.kind, part.name.lower()
        if kind in _SIGNATURES or kind in _NO_CONTENT:
            return
        if kind in _SMIME or name == "smime.p7m":
            yield from self._signed(part)
        elif kind == "message/partial":
            self._body.warnings.append(
                f"It is piece {part.parameter('number') or 'unknown'} of a mail sent in pieces; "
                "the others are not part of it."
            )
            yield self._plain(part)
        elif kind == "message/external-body":
            self._body.warnings.append("A part of it is kept elsewhere and is not read.")
        elif kind in _REPORTS:
            yield self._plain(part)
        elif kind in _CALENDARS and self._is_small(part):
            text, _ = part.text()
            yield _Piece("\n".join(event_lines(text, described=not self._any_text)))
        elif self._is_text(part):
            yield self._html(part) if kind == "text/html" else self._plain(part)
        elif kind in _TNEF or name == "winmail.dat":
            yield from self._unpacked(part)
        elif part.end > part.start:
            self._body.files.append(part)

    def _is_text(self, part: Part) -> bool:
        """Whether a part belongs to the mail's own text."""
        if part.disposition == "attachment" or part.kind in MAILS:
            return False
        if part.main == "multipart":  # of which no part was found
            return True
        named = bool(part.name) and self._any_text
        return part.kind in _TEXTS and not named

    @staticmethod
    def _is_small(part: Part) -> bool:
        return part.body().count(b"BEGIN:VEVENT") <= _MOST_EVENTS

    def _signed(self, part: Part) -> Iterator[_Piece]:
        """What is inside of signed content (S/MIME)."""
        if self._nested >= _MOST_NESTED:
            return
        try:
            inner = unwrap(part.body())
        except PasswordRequired:
            self._body.warnings.append("Its content is encrypted (S/MIME) and is not read.")
        except ReadingError as error:
            self._body.warnings.append(f"Its signed content is not read: {error}.")
        else:
            self._nested += 1
            yield from self.read(parse(inner))

    def _unpacked(self, part: Part) -> Iterator[_Piece]:
        """What Outlook packed as winmail.dat; its text only where the mail has none of its own."""
        if self._nested >= _MOST_NESTED:
            return
        self._nested += 1
        try:
            parts = parts_of(part.body())
        except ReadingError as error:
            self._body.warnings.append(f"{part.name or 'winmail.dat'} is not read: {error}.")
            return
        self._place(parts)
        any_text = self._any_text
        for inner in parts:
            if inner.disposition or inner.main != "text" or not any_text:
                yield from self._leaf(inner)

    def _text(self, part: Part) -> str:
        text, warning = part.text()
        if warning:
            self._body.warnings.append(warning.replace("the file", "the mail's text"))
        return text.replace("\0", "")

    def _plain(self, part: Part) -> _Piece:
        read = plain_text(part, self._text(part))
        self._body.made += read.files
        if read.encrypted:
            self._body.warnings.append("Its content is encrypted with PGP and is not read.")
        self._any_text = self._any_text or bool(read.text.strip())
        return _Piece(read.text)

    def _html(self, part: Part) -> _Piece:
        if not part.parameter("charset"):
            said = _META.search(part.body()[:4096])
            if said:
                part.headers.insert(
                    0, ("content-type", f"text/html; charset={said[1].decode('ascii')}")
                )
        markup = self._text(part)
        pictures: list[tuple[Part, list[str]]] = []

        def picture(src: str) -> list[str]:
            held = inline_picture(src)
            if held is not None:
                return self._pictures(held)
            found = self._by_place.get(src.strip()) or self._by_place.get(
                re.sub(r"(?i)\Acid:", "cid:", src.strip())
            )
            if found is None or found.main in {"text", "multipart", "message"}:
                return []
            self.shown.add(id(found))
            lines = self._pictures(found.body())
            pictures.append((found, lines))
            return lines

        try:
            text, tables, _ = html_text(markup, picture)
        except ReadingError as error:
            self._body.warnings.append(f"The mail's HTML is read without its structure: {error}.")
            text, tables = without_tags(markup), ()
        self._any_text = self._any_text or bool(text.strip())
        return _Piece(text, tables, True, pictures)


def _put(plain: list[_Piece], pictures: list[tuple[Part, list[str]]]) -> None:
    """Put what was read in the pictures of the HTML into the plain text that stands for it.

    They go where the text has ``[cid:…]`` or ``[image: …]``, as Outlook and Gmail write, the
    others to its end.
    """
    left = list(pictures)

    def meant(found: re.Match[str]) -> str:
        for item in left:
            part, lines = item
            if (found[1] and part.content_id == found[1]) or (found[2] and part.name == found[2]):
                left.remove(item)
                said = f"{found[0]}\n" if found[2] else ""  # a name may tell something, an id none
                return "\n".join([said, *lines, ""]) if lines else said
        return found[0]

    for piece in plain:
        if left:
            piece.text = _MARKERS.sub(meant, piece.text)
    rest = [line for _, lines in left for line in lines]
    if rest:
        plain[-1].text = "\n".join([plain[-1].text.rstrip("\n"), "", *rest])
