"""The parts of a mail or a saved web page (RFC 2045, RFC 2046), taken apart with patience.

The parser of the standard library descends by recursion and raises on broken headers. This one
goes to a fixed depth, takes what stands there, and copies nothing but headers.
"""

from __future__ import annotations

import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

from emily.reading.encodings import decode_text
from emily.reading.mail.charsets import decode_words, decoded
from emily.reading.source import tidy

__all__ = ["Part", "head", "parameters", "parse", "uudecoded"]

_MOST_DEPTH = 50
_MOST_PARTS = 10_000
_MOST_HEAD = 1 << 20  # bytes of headers of one part
_PIECE = 3 << 20  # bytes of a transfer encoding that are decoded at once
_FIELD = re.compile(rb"([!-9;-~]{1,200})[ \t]*:")
_BLANK_LINE = re.compile(rb"\n\r?\n")
_CONTINUED = re.compile(rb"[ \t]+[^\s]|[!-9;-~]{1,200}[ \t]*:")
_ENVELOPE = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:>?From (?!:)[^\r\n]*(?:\r?\n|\Z))*")
_GUESSED = re.compile(rb"(?m)^--([^\s\"]{1,200})[ \t]*\r?\n(?=content-[a-z-]+[ \t]*:)", re.I)
_PARAMETER = re.compile(r';\s*([^\s=;"]+)\s*=\s*("(?:[^"\\]|\\.)*"?|[^;]*)', re.DOTALL)
_TEXTUAL = frozenset({"", "7bit", "8bit", "binary"})
_MORE_BASE64 = re.compile(rb"[A-Za-z0-9+/]{2,}=*[ \t]*(?:\r?\n|\Z)")  # encoded line by line
_NOT_BASE64 = bytes(
    set(range(256)) - set(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
)


@dataclass(slots=True)
class Part:
    """A part with its headers; a whole mail is one too.

    Attributes:
        headers: name in lower case, and the value as it stands: decoded to text, unfolded.
        data: all bytes of the file.
        start: where the body begins in ``data``.
        end: where it ends.
        parts: those of a multipart, in order.
        lost: what was not taken apart, one sentence each.
    """

    headers: list[tuple[str, str]]
    data: bytes
    start: int
    end: int
    parts: list[Part] = field(default_factory=list)
    lost: list[str] = field(default_factory=list)
    _default: str = "text/plain"

    def get(self, name: str) -> str:
        """The first value of a header that is not blank, or an empty text."""
        return next((value for key, value in self.headers if key == name and value.strip()), "")

    def all(self, name: str) -> list[str]:
        """All values of a header that are not blank."""
        return [value for key, value in self.headers if key == name and value.strip()]

    @property
    def kind(self) -> str:
        """The content type in lower case; ``text/plain`` where it is missing or broken."""
        given = self.get("content-type")
        if not given:
            return self._default
        found = re.match(r"\s*\"?([\w!#$&^.+-]+/[\w!#$&^.+*-]+)", given)
        if found:
            return found[1].lower()
        return (
            "text/html"
            if given.strip().lower().startswith(("html", "text/html"))
            else ("text/plain")
        )

    @property
    def main(self) -> str:
        """The content type before its slash."""
        return self.kind.partition("/")[0]

    def parameter(self, name: str) -> str:
        """A parameter of the content type, or an empty text."""
        return parameters(self.get("content-type")).get(name, "")

    @property
    def disposition(self) -> str:
        """``inline``, ``attachment``, or an empty text."""
        found = re.match(r"\s*\"?([\w-]+)", self.get("content-disposition"))
        word = found[1].lower() if found else ""
        return word if word in {"inline", "attachment"} else ""

    @property
    def name(self) -> str:
        """The file name that it is given, without folders; an empty text where it has none."""
        said = parameters(self.get("content-disposition")).get("filename", "")
        said = said or self.parameter("name")
        said = " ".join(tidy(said).replace("\0", "").split())
        return re.split(r"[/\\]", said)[-1].strip()

    @property
    def content_id(self) -> str:
        """The id by which an HTML text refers to it, without angle brackets."""
        return self.get("content-id").strip().strip("<>").strip()

    def pieces(self) -> Iterator[bytes]:
        """The body with its transfer encoding taken off, piece by piece.

        What is not of the encoding's alphabet is passed over, as RFC 2045 asks.
        """
        words = self.get("content-transfer-encoding").lower().split(";")[0].split()
        encoding = words[0].strip("\"'") if words else ""
        if encoding == "base64":
            yield from self._base64()
        elif encoding == "quoted-printable":
            yield binascii.a2b_qp(self.data[self.start : self.end])
        elif encoding in {"x-uuencode", "uuencode", "x-uue", "uue"}:
            yield uudecoded(self.data[self.start : self.end])
        else:
            for at in range(self.start, self.end, _PIECE):
                yield self.data[at : min(at + _PIECE, self.end)]

    def _base64(self) -> Iterator[bytes]:
        rest = b""
        for at in range(self.start, self.end, _PIECE):
            raw = self.data[at : min(at + _PIECE, self.end)]
            while raw:
                block, padding, raw = raw.partition(b"=")
                rest += block.translate(None, _NOT_BASE64)
                whole = len(rest) // 4 * 4
                yield binascii.a2b_base64(rest[:whole])
                rest = rest[whole:]
                if padding:
                    if len(rest) > 1:
                        yield binascii.a2b_base64(rest + b"=" * (4 - len(rest)))
                    rest = b""
                    raw = raw.lstrip(b"= \t\r\n")
                    if raw and not _MORE_BASE64.match(raw):
                        return  # a footer that a mailing list has put below it
        if len(rest) > 1:
            yield binascii.a2b_base64(rest + b"=" * (4 - len(rest)))

    def body(self) -> bytes:
        """The whole body with its transfer encoding taken off."""
        return b"".join(self.pieces())

    def text(self) -> tuple[str, str | None]:
        r"""The body of a part that is text, whose only line break is ``\n``.

        Returns:
            The text, and a sentence about the encoding where it had to be assumed.
        """
        text, warning = decoded(self.body(), self.parameter("charset"))
        return tidy(text), warning

    def walk(self) -> Iterator[Part]:
        """It and all parts inside of it, in order."""
        stack = [self]
        while stack:
            part = stack.pop()
            yield part
            stack += reversed(part.parts)


def parse(data: bytes) -> Part:
    """Take a mail apart.

    Args:
        data: the file, or the body of a part that is a mail.

    Returns:
        The mail. Its parts go to a depth of 50 and a number of 10,000; beyond, a multipart is
        left whole and ``lost`` of the mail says so.
    """
    whole = head(data)
    count = 1
    level = [whole]
    for depth in range(_MOST_DEPTH + 1):
        below: list[Part] = []
        for part in level:
            if part.main != "multipart":
                continue
            if depth == _MOST_DEPTH:
                whole.lost.append(f"Parts nested deeper than {_MOST_DEPTH} levels are not read.")
                part.end = part.start
                break
            inner = "message/rfc822" if part.kind == "multipart/digest" else "text/plain"
            for start, end in _ranges(part):
                count += 1
                if count > _MOST_PARTS:
                    whole.lost.append(f"Only the first {_MOST_PARTS:,} parts of it are read.")
                    return whole
                part.parts.append(_part(data, start, end, inner))
            below += part.parts
        level = below
    return whole


def head(data: bytes) -> Part:
    """The headers of a mail, its body not taken apart.

    Args:
        data: the mail, or as much of its beginning as is at hand.
    """
    found = _ENVELOPE.match(data)
    return _part(data, found.end() if found else 0, len(data), "text/plain")


def _part(data: bytes, start: int, end: int, default: str) -> Part:
    """The part that lies between two offsets: its headers read, its body not yet."""
    fields, body = _fields(data, start, min(end, start + _MOST_HEAD))
    part = Part(_headers(fields), data, min(body, end), end, _default=default)
    if body - start >= _MOST_HEAD:
        part.lost.append("Its headers are longer than 1 MiB; the rest of them is not read.")
        blank = _BLANK_LINE.search(data, body, end)
        part.start = blank.end() if blank else end
    return part


def _fields(data: bytes, start: int, end: int) -> tuple[list[tuple[str, bytes]], int]:
    """Headers as they stand, and where the body begins.

    A line that is no header but is followed by one continues the header before it: broken
    programs forget the blank that folding asks for. So does a line of blanks, which is a fold.
    """
    fields: list[tuple[str, list[bytes]]] = []
    at = start
    while at < end:
        after = data.find(b"\n", at, end) + 1 or end
        line = data[at:after].rstrip(b"\r\n")
        if not line or (not line.strip() and not _CONTINUED.match(data, after, end)):
            return _joined(fields), after
        found = _FIELD.match(line)
        if line[:1] in {b" ", b"\t"}:
            if fields:
                fields[-1][1].append(line.strip())
        elif found:
            fields.append((found[1].decode("latin-1").lower(), [line[found.end() :].strip()]))
        elif fields and _FIELD.match(data, after, end) and b"\n" in data[after : after + 1000]:
            fields[-1][1].append(line.strip())
        else:
            return _joined(fields), at  # the blank line before the body is missing
        at = after
    return _joined(fields), at


def _joined(fields: list[tuple[str, list[bytes]]]) -> list[tuple[str, bytes]]:
    return [(name, b" ".join(lines)) for name, lines in fields]


def _headers(fields: list[tuple[str, bytes]]) -> list[tuple[str, str]]:
    """Headers decoded: ASCII and UTF-8 as they are, the others by one guess for all of them."""
    texts: list[str | None] = []
    odd: list[bytes] = []
    for _, value in fields:
        try:
            texts.append(value.decode())
        except UnicodeDecodeError:
            texts.append(None)
            odd.append(value)
    guessed = iter(decode_text(b"\n".join(odd))[0].split("\n")) if odd else iter(())
    return [
        (name, (next(guessed, "") if text is None else text).replace("\0", ""))
        for (name, _), text in zip(fields, texts, strict=True)
    ]


def _ranges(part: Part) -> list[tuple[int, int]]:
    """Where the parts of a multipart begin and end.

    Where the boundary is missing or occurs nowhere, the first line that looks like one, before
    a header of content, is taken for it. The last part may want its closing boundary.
    """
    boundary = part.parameter("boundary").rstrip().encode("utf-8", "replace")
    found = list(_delimiters(part, boundary)) if boundary else []
    if not found:
        guess = _GUESSED.search(part.data, part.start, part.end)
        found = list(_delimiters(part, guess[1])) if guess else []
    if not found:
        return [(part.start, part.end)] if part.end > part.start else []
    ranges = []
    for at, (_, after, closes) in enumerate(found):
        if closes:
            break
        end = found[at + 1][0] if at + 1 < len(found) else part.end
        ranges.append((after, max(after, end)))
        if len(ranges) > _MOST_PARTS:
            break
    return ranges


def _delimiters(part: Part, boundary: bytes) -> Iterator[tuple[int, int, bool]]:
    """Boundary lines: where the text before one ends, where the one after begins, if it closes."""
    data, mark = part.data, b"--" + boundary
    at = part.start
    while (at := data.find(mark, at, part.end)) >= 0:
        first = at
        at += len(mark)
        if first > part.start and data[first - 1 : first] not in {b"\n", b"\r"}:
            continue
        stop = data.find(b"\n", at, part.end)
        stop = part.end if stop < 0 else stop
        rest = data[at : min(stop, at + 200)].strip()
        if rest not in {b"", b"--"}:
            continue
        before = first
        if data[before - 1 : before] == b"\n":
            before -= 1
        if data[before - 1 : before] == b"\r":
            before -= 1
        yield max(before, part.start), min(stop + 1, part.end), rest == b"--"


def parameters(value: str) -> dict[str, str]:
    """The parameters of a header, names in lower case.

    Those in several pieces or with a charset (RFC 2231) are put together and decoded; so are
    encoded words (RFC 2047), which do not belong here but occur.
    """
    plain: dict[str, str] = {}
    pieces: dict[str, list[tuple[int, bool, str]]] = {}
    for found in _PARAMETER.finditer(value):
        name, given = found[1].lower(), found[2].strip()
        if given.startswith('"'):
            inner = given[1:-1] if len(given) > 1 and given.endswith('"') else given[1:]
            given = re.sub(r'\\(["\\])', r"\1", inner)
        base, star, number = name.partition("*")
        if not star:
            plain.setdefault(base, decode_words(given))
            continue
        encoded = name.endswith("*")
        number = number.removesuffix("*")
        place = int(number) if number.isascii() and number.isdigit() and len(number) < 5 else 0
        pieces.setdefault(base, []).append((place, encoded, given))
    for base, items in pieces.items():
        items.sort(key=lambda item: item[0])
        charset = ""
        first = items[0]
        if first[1] and first[2].count("'") >= 2:
            charset, _, text = first[2].split("'", 2)
            items[0] = (first[0], True, text)
        data = b"".join(
            unquote_to_bytes(text) if encoded else text.encode("utf-8", "replace")
            for _, encoded, text in items
        )
        plain[base] = decoded(data, charset)[0]
    return plain


def uudecoded(data: bytes) -> bytes:
    """What uuencoded lines hold; those that are broken are passed over."""
    held = []
    for line in re.split(rb"\r?\n", data):
        if line.startswith((b"begin ", b"end")) or not line.strip():
            continue
        try:
            held.append(binascii.a2b_uu(line))
        except binascii.Error:
            # Some programs count the bytes of a line wrong (the standard library's own remedy).
            count = (((line[0] - 32) & 63) * 4 + 5) // 3
            try:
                held.append(binascii.a2b_uu(line[:count]))
            except binascii.Error:
                continue
    return b"".join(held)
