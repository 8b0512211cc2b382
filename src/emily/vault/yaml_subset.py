"""The part of YAML that front matter is written in, read with the standard library only.

Block mappings and sequences, flow mappings and sequences, plain, quoted, literal and folded
scalars, comments. Scalars stay text: which of them is a date or a number is for the reader of
the field to say. Where a text is valid YAML and no problem is reported, the result is that of
PyYAML's ``BaseLoader``. Anchors, tags, complex keys and several documents are reported.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Sequence
from typing import Final, TypeAlias

__all__ = ["Value", "read_yaml"]

Value: TypeAlias = "str | list[Value] | dict[str, Value]"

_DEEPEST: Final = 32
_SPECIAL = frozenset("&*!|>'\"%@`[]{},#?:-")
_SIMPLE_KEY = 1024  # characters, as in YAML 1.2
_ESCAPES = {
    "0": "\0", "a": "\a", "b": "\b", "t": "\t", "\t": "\t", "n": "\n", "v": "\v", "f": "\f",
    "r": "\r", "e": "\x1b", " ": " ", '"': '"', "/": "/", "\\": "\\", "N": "\x85", "_": "\xa0",
    "L": "\u2028", "P": "\u2029",
}  # fmt: skip
_HEX = {"x": 2, "u": 4, "U": 8}
_HEADER = re.compile(r"([|>])(?:([1-9])([+-])?|([+-])([1-9])?)?[ \t]*(?:[ \t]#.*)?")
_COMMENT = re.compile(r"(?:^|[ \t]+)#.*$")
_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


# Lines of plain values, as most front matter is made of: read at a glance, with the same result.
_VALUE = r"[A-Za-z0-9](?:[\w ./()-]*[\w./()-])?"
_PLAIN_FIELD = re.compile(
    rf"([A-Za-z][\w-]{{0,99}}):(?: +({_VALUE})| +\[({_VALUE}(?:, {_VALUE})*)\])? *", re.ASCII
)
_PLAIN_ITEM = re.compile(rf"( *)- +({_VALUE}) *", re.ASCII)


class _Invalid(Exception):
    """What is wrong, at which 0-based line."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line = line
        self.what = what


def read_yaml(lines: Sequence[str]) -> tuple[dict[str, Value], list[tuple[int, str]]]:
    """Read the fields of front matter.

    Args:
        lines: what stands between the fences, without line ends.

    Returns:
        The fields, and the problems: 0-based line and a sentence. After a problem reading goes
        on at the next line that begins a field.
    """
    fields = _read_plain(lines)
    if fields is not None:
        return fields, []
    fields = {}
    problems: list[tuple[int, str]] = []
    start = 0
    odd = deque(
        (number, f"The front matter holds the character U+{ord(found[0]):04X}.")
        for number, line in enumerate(lines)
        if (found := _UNPRINTABLE.search(line))
    )
    while start < len(lines):
        while odd and odd[0][0] < start:
            odd.popleft()
        reader = _Reader(lines, start, odd)
        try:
            reader.top(fields)
            break
        except _Invalid as error:
            problems.append((error.line, error.what))
            start = _recovered(lines, reader.field_line, fields)
        except RecursionError:
            problems.append((reader.field_line, "The front matter is nested too deeply."))
            break
    return fields, problems


def _read_plain(lines: Sequence[str]) -> dict[str, Value] | None:
    """The fields where all of them are plain values and lists of those, else ``None``."""
    fields: dict[str, Value] = {}
    items: list[Value] | None = None  # of a field without a value of its own
    indent = name = ""
    for line in lines:
        match = _PLAIN_FIELD.fullmatch(line)
        if match is not None:
            value: str | None
            listed: str | None
            name, value, listed = match.groups()
            items = None if value or listed else []
            fields[name] = list(listed.split(", ")) if listed else value or ""
            continue
        match = _PLAIN_ITEM.fullmatch(line)
        if match is None or items is None or (items and match[1] != indent):
            return None
        indent = match[1]
        items.append(match[2])
        fields[name] = items
    return fields


def _recovered(lines: Sequence[str], begun: int, fields: dict[str, Value]) -> int:
    """Keep what the broken field says in its own line; the line where reading goes on."""
    name, colon, rest = lines[begun].partition(":") if begun < len(lines) else ("", "", "")
    name = name.strip().strip("\"'")
    if colon and name and not lines[begun].startswith((" ", "\t", "-", "#")):
        fields.setdefault(name, rest.strip().strip("\"'").strip())
    at = begun + 1
    while at < len(lines) and not re.match(r"[^\s#\-][^:]*:(?:\s|$)", lines[at]):
        at += 1
    return max(at, begun + 1)


class _Reader:
    def __init__(self, lines: Sequence[str], start: int, odd: Sequence[tuple[int, str]]) -> None:
        self.lines = lines
        self.at = start
        self.broken = next((each for each in odd if each[0] >= start), None)
        self.field_line = start if self.broken is None else self.broken[0]

    # Lines

    def skip(self) -> bool:
        """Go to the next line with something in it; whether there is one."""
        while self.at < len(self.lines):
            text = self.lines[self.at].strip(" \t")
            if text and not text.startswith("#"):
                return True
            self.at += 1
        return False

    def indent(self) -> int:
        line = self.lines[self.at]
        bare = line.lstrip(" ")
        if bare.startswith("\t"):
            raise _Invalid(self.at, "A line is indented with a tab, which YAML does not allow.")
        return len(line) - len(bare)

    # Blocks

    def top(self, fields: dict[str, Value]) -> None:
        if self.broken is not None:
            raise _Invalid(*self.broken)
        base = self.indent() if self.skip() else 0
        while self.skip():
            self.field_line = self.at
            if self.indent() != base:
                raise _Invalid(self.at, "A field is indented that belongs to none above it.")
            if self.lines[self.at].startswith("%"):
                raise _Invalid(self.at, "A directive of YAML is not read here.")
            before = self.at
            pair = self.pair(base, 0)
            if pair is None:
                raise _Invalid(before, "The line is not a field: it holds no ': '.")
            fields[pair[0]] = pair[1]

    def node(self, least: int, depth: int) -> Value:
        """The block that begins at the next line, indented by ``least`` or more."""
        if depth > _DEEPEST:
            raise _Invalid(self.at, f"The front matter is nested deeper than {_DEEPEST} levels.")
        if not self.skip():
            return ""
        indent = self.indent()
        if indent < least:
            return ""
        line = self.lines[self.at]
        if _is_item(line, indent):
            return self.sequence(indent, depth)
        if self.key_end(line, indent) is not None:
            return self.mapping(indent, depth)
        return self.inline(line[indent:], indent, least, depth)

    def sequence(self, indent: int, depth: int) -> list[Value]:
        items: list[Value] = []
        while self.skip() and self.indent() == indent and _is_item(self.lines[self.at], indent):
            items.append(self.item(indent, depth))
        if self.skip() and self.indent() > indent:
            raise _Invalid(self.at, "A line is indented more than the list that it belongs to.")
        return items

    def item(self, indent: int, depth: int) -> Value:
        line = self.lines[self.at]
        rest = line[indent + 1 :]
        text = rest.lstrip(" ")
        if text.startswith("\t"):
            text = text.lstrip(" \t")
            if _is_item(text, 0) or self.key_end(text, 0) is not None:
                raise _Invalid(self.at, "A tab stands where YAML wants blanks.")
        if not text or text.startswith("#"):
            self.at += 1
            return self.node(indent + 1, depth + 1)
        inner = indent + 1 + len(rest) - len(text)
        if _is_item(text, 0):
            return self.compact(inner, depth, sequence=True)
        if self.key_end(line, inner) is not None:
            return self.compact(inner, depth, sequence=False)
        return self.inline(text, inner, indent + 1, depth)

    def compact(self, inner: int, depth: int, *, sequence: bool) -> Value:
        """A block that begins in the line of its own dash: read as if the dash were a blank."""
        if depth > _DEEPEST:
            raise _Invalid(self.at, f"The front matter is nested deeper than {_DEEPEST} levels.")
        lines = list(self.lines)
        lines[self.at] = " " * inner + lines[self.at][inner:]
        kept, self.lines = self.lines, lines
        try:
            if sequence:
                return self.sequence(inner, depth + 1)
            return self.mapping(inner, depth + 1)
        finally:
            self.lines = kept

    def mapping(self, indent: int, depth: int) -> dict[str, Value]:
        found: dict[str, Value] = {}
        while self.skip() and self.indent() == indent:
            if _is_item(self.lines[self.at], indent):
                break
            before = self.at
            pair = self.pair(indent, depth)
            if pair is None:
                raise _Invalid(before, "The line is not a field: it holds no ': '.")
            found[pair[0]] = pair[1]
        if self.skip() and self.indent() > indent:
            raise _Invalid(self.at, "A line is indented more than the field that it belongs to.")
        return found

    def key_end(self, line: str, start: int) -> int | None:
        """Where the key that begins at ``start`` ends: the place of its colon."""
        text = line[start:]
        if not text:
            return None
        if text[0] in "\"'":
            end = _closing(text, 0)
            if end is None:
                return None
            colon = len(text[: end + 1]) + len(text[end + 1 :]) - len(text[end + 1 :].lstrip(" \t"))
            ends = text[colon : colon + 1] == ":" and text[colon + 1 : colon + 2] in ("", " ", "\t")
            return start + colon if ends else None
        if text[0] in "[{#|>%@`":
            return None
        for place, char in enumerate(text):
            if char == "#" and place and text[place - 1] in " \t":
                return None
            if char == ":" and text[place + 1 : place + 2] in ("", " ", "\t"):
                return start + place
        return None

    def pair(self, indent: int, depth: int) -> tuple[str, Value] | None:
        line = self.lines[self.at]
        end = self.key_end(line, indent)
        if end is None:
            return None
        key = self.key(line[indent:end].rstrip(" \t"))
        rest = line[end + 1 :]
        text = rest.lstrip(" \t")
        if not text or text.startswith("#"):
            self.at += 1
            # The items of a list may stand at the column of their field.
            if self.skip() and self.indent() == indent and _is_item(self.lines[self.at], indent):
                return key, self.sequence(indent, depth + 1)
            return key, self.node(indent + 1, depth + 1)
        if _is_item(text, 0):
            raise _Invalid(self.at, "A list must begin in the line after its field.")
        return key, self.inline(text, end + 1 + len(rest) - len(text), indent + 1, depth)

    def key(self, text: str) -> str:
        if len(text) > _SIMPLE_KEY:
            raise _Invalid(self.at, f"The name of a field is longer than {_SIMPLE_KEY} characters.")
        if text[:1] in {'"', "'"}:
            return _unquoted(text[1:-1], text[0], self.at)
        self.check_plain(text)
        if text.startswith("?") or not text:
            raise _Invalid(self.at, "A field has no plain name.")
        return text

    def check_plain(self, text: str) -> None:
        if not text:
            return
        if text[0] in "&*!":
            what = {"&": "An anchor", "*": "An alias", "!": "A tag"}[text[0]]
            raise _Invalid(self.at, f"{what} of YAML is not read here: {text[:40]!r}.")
        starts = text[0] in "-?:" and text[1:2] not in ("", " ", "\t")
        if text[0] in _SPECIAL and not starts:
            raise _Invalid(
                self.at, f"A value cannot begin with {text[0]!r} without quotation marks."
            )

    # Values

    def inline(self, text: str, column: int, least: int, depth: int) -> Value:
        """The value that begins with ``text`` in this line; the reader is then behind it."""
        first = text[0]
        if first in "|>":
            return self.block_scalar(text, least)
        if first in "\"'":
            return self.quoted(column, least)
        if first in "[{":
            return self.flow(column, least, depth)
        return self.plain(text, least)

    def plain(self, text: str, least: int) -> str:
        self.check_plain(text)
        number = self.at
        parts = [self.plain_line(text)]
        commented = _COMMENT.search(text) is not None
        self.at += 1
        blanks = 0
        while self.at < len(self.lines) and not commented:
            line = self.lines[self.at]
            bare = line.strip(" \t")
            if not bare:
                blanks += 1
                self.at += 1
                continue
            if len(line) - len(line.lstrip(" ")) < least or bare.startswith("#"):
                break
            if self.key_end(line, len(line) - len(line.lstrip(" \t"))) is not None:
                raise _Invalid(number, "A value holds ': ' or a field is indented too far.")
            commented = _COMMENT.search(line) is not None
            parts.append("\n" * blanks if blanks else " ")
            parts.append(self.plain_line(bare))
            blanks = 0
            self.at += 1
        return "".join(parts)

    def plain_line(self, text: str) -> str:
        text = _COMMENT.sub("", text).strip(" \t")
        if re.search(r":(?:[ \t]|$)", text):
            raise _Invalid(self.at, f"A value holds ': ' without quotation marks: {text[:60]!r}.")
        return text

    def quoted(self, column: int, least: int) -> str:
        begun = self.at
        mark = self.lines[begun][column]
        text = self.lines[begun][column:]
        end = _closing(text, 0)
        while end is None:
            self.at += 1
            if self.at >= len(self.lines):
                raise _Invalid(begun, "A quotation mark is opened and never closed.")
            line = self.lines[self.at]
            if line.strip(" \t") and len(line) - len(line.lstrip(" ")) < least:
                raise _Invalid(begun, "A quotation mark is opened and never closed.")
            text += "\n" + line
            end = _closing(text, 0)
        self.nothing_after(text[end + 1 :], begun)
        return _unquoted(text[1:end], mark, begun)

    def nothing_after(self, rest: str, line: int) -> None:
        if rest.strip(" \t") and not re.match(r"[ \t]+#", rest):
            raise _Invalid(line, f"Text follows where a value has ended: {rest.strip()[:40]!r}.")
        self.at += 1

    def block_scalar(self, text: str, least: int) -> str:
        header = _HEADER.fullmatch(text)
        if header is None:
            raise _Invalid(self.at, f"A block of text cannot begin with {text[:40]!r}.")
        width = header[2] or header[5]
        chomp = header[3] or header[4] or ""
        self.at += 1
        taken: list[str] = []
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line.strip(" ") and len(line) - len(line.lstrip(" ")) < least:
                break
            taken.append(line)
            self.at += 1
        if width:
            indent = least - 1 + int(width)
            if any(li.strip(" ") and len(li) - len(li.lstrip(" ")) < indent for li in taken):
                raise _Invalid(self.at - 1, "A block of text is indented less than it says.")
        else:
            first = next((li for li in taken if li.strip(" ")), None)
            indent = len(first) - len(first.lstrip(" ")) if first is not None else least
            for place, li in enumerate(taken):
                if not li.strip(" ") and len(li) > indent and first and place < taken.index(first):
                    raise _Invalid(self.at - 1, "Blank lines are indented more than their text.")
                if li.strip(" ") and len(li) - len(li.lstrip(" ")) < indent:
                    self.at -= len(taken) - place
                    del taken[place:]
                    if li.lstrip(" ").startswith("#"):
                        break
                    raise _Invalid(self.at, "A line of a block of text is indented too little.")
            if first is None:
                taken = [""] * len(taken)
        body = [line[indent:] for line in taken]
        return _block_text(body, folded=header[1] == ">", chomp=chomp)

    def flow(self, column: int, least: int, depth: int) -> Value:
        begun = self.at
        parts = [self.lines[begun][column:]]
        for number in range(begun + 1, len(self.lines)):
            line = self.lines[number]
            if line.strip() and len(line) - len(line.lstrip(" ")) < least:
                break
            parts.append(line)
        flow = _Flow("\n".join(parts), begun, depth)
        try:
            value = flow.value()
        except _Unfinished:
            what = f"A list that begins with {parts[0][0]!r} is never closed."
            raise _Invalid(begun, what) from None
        self.at = begun + flow.text.count("\n", 0, flow.at)
        self.nothing_after(flow.text[flow.at :].partition("\n")[0], begun)
        return value


class _Unfinished(Exception):
    """The text ends within a flow collection."""


class _Flow:
    """``[a, "b", {c: d}]``."""

    def __init__(self, text: str, line: int, depth: int) -> None:
        self.text = text
        self.line = line
        self.at = 0
        self.depth = depth

    def blanks(self) -> None:
        while self.at < len(self.text):
            char = self.text[self.at]
            if char == "#" and (self.at == 0 or self.text[self.at - 1] in " \t\n"):
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif char in " \t\n":
                self.at += 1
            else:
                return
        raise _Unfinished

    def value(self) -> Value:
        char = self.text[self.at]
        if char == "[":
            return self.sequence()
        if char == "{":
            return self.mapping()
        return self.scalar()

    def sequence(self) -> list[Value]:
        self.deeper()
        self.at += 1
        items: list[Value] = []
        while True:
            self.blanks()
            if self.text[self.at] == "]":
                self.at += 1
                self.depth -= 1
                return items
            start = self.at
            item = self.value()
            self.blanks()
            if self.text[self.at] == ":" and isinstance(item, str):
                if "\n" in self.text[start : self.at]:
                    raise _Invalid(self.line, "The name of a field goes over several lines.")
                self.at += 1
                self.blanks()
                value = "" if self.text[self.at] in ",]" else self.value()
                item = {item: value}
                self.blanks()
            items.append(item)
            self.comma("]")

    def mapping(self) -> dict[str, Value]:
        self.deeper()
        self.at += 1
        found: dict[str, Value] = {}
        while True:
            self.blanks()
            if self.text[self.at] == "}":
                self.at += 1
                self.depth -= 1
                return found
            key = self.value()
            if not isinstance(key, str):
                what = "A value that begins with '{' is a mapping, whose names cannot be lists; "
                raise _Invalid(self.line, what + "text must stand in quotation marks.")
            self.blanks()
            value: Value = ""
            if self.text[self.at] == ":":
                self.at += 1
                self.blanks()
                if self.text[self.at] not in ",}":
                    value = self.value()
                    self.blanks()
            found[key] = value
            self.comma("}")

    def comma(self, closing: str) -> None:
        char = self.text[self.at]
        if char == ",":
            self.at += 1
        elif char != closing:
            what = f"A comma is missing before {self.text[self.at : self.at + 20]!r}."
            raise _Invalid(self.line, what)

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _Invalid(self.line, f"The front matter is nested deeper than {_DEEPEST} levels.")

    def scalar(self) -> str:
        char = self.text[self.at]
        if char in "\"'":
            end = _closing(self.text, self.at)
            if end is None:
                raise _Unfinished
            inner = self.text[self.at + 1 : end]
            self.at = end + 1
            return _unquoted(inner, char, self.line)
        if char in _SPECIAL:
            following = self.text[self.at + 1 : self.at + 2]
            if char not in "-?:" or following in ("", " ", "\t", "\n", ",", "]", "}", "[", "{"):
                what = f"A value cannot begin with {char!r} without quotation marks."
                raise _Invalid(self.line, what)
        start = self.at
        while self.at < len(self.text):
            char = self.text[self.at]
            if char in ",[]{}":
                break
            if char == ":" and self.text[self.at + 1 : self.at + 2] in ("", *" \t\n,[]{}"):
                break
            if char == "#" and self.text[self.at - 1] in " \t\n":
                break
            self.at += 1
        if self.at >= len(self.text):
            raise _Unfinished
        return _folded(self.text[start : self.at].strip(" \t\n"))


def _is_item(line: str, indent: int) -> bool:
    return line[indent : indent + 1] == "-" and line[indent + 1 : indent + 2] in ("", " ", "\t")


def _closing(text: str, start: int) -> int | None:
    """Where the quotation that opens at ``start`` closes."""
    mark = text[start]
    at = start + 1
    while at < len(text):
        char = text[at]
        if char == "\\" and mark == '"':
            at += 2
            continue
        if char == mark:
            if mark == "'" and text[at + 1 : at + 2] == "'":
                at += 2
                continue
            return at
        at += 1
    return None


def _folded(text: str) -> str:
    """A flow scalar over lines: one line end is a blank, each further one a line end."""
    if "\n" not in text:
        return text
    lines = text.split("\n")
    parts = [lines[0].rstrip(" \t")]
    blanks = 0
    for line in lines[1:-1]:
        bare = line.strip(" \t")
        if not bare:
            blanks += 1
            continue
        parts.append("\n" * blanks if blanks else " ")
        parts.append(bare)
        blanks = 0
    parts.append("\n" * blanks if blanks else " ")
    parts.append(lines[-1].lstrip(" \t"))
    return "".join(parts)


def _unquoted(inner: str, mark: str, line: int) -> str:
    if mark == "'":
        return _folded(inner).replace("''", "'")
    out: list[str] = []
    at = 0
    while at < len(inner):
        char = inner[at]
        if char == "\n":
            # The line ends of a quotation fold, unless a backslash takes them away.
            while out and out[-1] in (" ", "\t"):
                out.pop()
            run = re.match(r"[ \t\n]*", inner[at:])
            blanks = run[0] if run else "\n"
            out.append("\0" + ("\n" * (blanks.count("\n") - 1) or " "))
            at += len(blanks)
        elif char == "\\":
            code = inner[at + 1 : at + 2]
            if code == "\n":
                run = re.match(r"[ \t\n]*", inner[at + 2 :])
                blanks = run[0] if run else ""
                out.append("\0" + "\n" * blanks.count("\n"))
                at += 2 + len(blanks)
            elif code in _HEX:
                digits = inner[at + 2 : at + 2 + _HEX[code]]
                if not re.fullmatch(rf"[0-9A-Fa-f]{{{_HEX[code]}}}", digits):
                    raise _Invalid(
                        line, f"An escape in a quotation is broken: {inner[at : at + 8]!r}."
                    )
                try:
                    out.append("\0" + chr(int(digits, 16)))
                except (ValueError, OverflowError):
                    what = f"An escape in a quotation is no character: {inner[at : at + 10]!r}."
                    raise _Invalid(line, what) from None
                at += 2 + _HEX[code]
            elif code in _ESCAPES:
                out.append("\0" + _ESCAPES[code])
                at += 2
            else:
                what = f"An escape in a quotation is not known: {inner[at : at + 2]!r}."
                raise _Invalid(line, what)
        else:
            out.append(char)
            at += 1
    return "".join(part[1:] if part[0] == "\0" else part for part in out)


def _block_text(body: list[str], *, folded: bool, chomp: str) -> str:
    last = len(body)
    while last and not body[last - 1]:
        last -= 1
    kept, trailing = body[:last], len(body) - last
    if not kept:
        return "\n" * trailing if chomp == "+" else ""
    text = _fold_block(kept) if folded else "\n".join(kept)
    if chomp == "-":
        return text
    return text + "\n" + ("\n" * trailing if chomp == "+" else "")


def _fold_block(lines: list[str]) -> str:
    """Lines of a folded block; those that begin with a blank keep their line ends."""
    out = ""
    blanks = 0
    before: str | None = None
    for line in lines:
        if not line:
            blanks += 1
            continue
        if before is None:
            out += "\n" * blanks
        elif before[0] in " \t" or line[0] in " \t":
            out += "\n" * (blanks + 1)
        else:
            out += "\n" * blanks if blanks else " "
        out += line
        before, blanks = line, 0
    return out
