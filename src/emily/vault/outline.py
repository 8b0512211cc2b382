"""The blocks of a Markdown text that matter for cutting it: headings, code, comments.

A line scanner by the rules of CommonMark 0.31.2 (https://spec.commonmark.org), which knows the
containers, so that a ``#`` of a list item or of a quotation is no heading of the note. Comments
between two ``%%`` are those of Obsidian. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

__all__ = ["CODE", "COMMENT", "HTML", "PROSE", "Heading", "Outline", "outline", "reference_label"]

PROSE: Final = 0
CODE: Final = 1
HTML: Final = 2
COMMENT: Final = 3

_ATX = re.compile(r"(#{1,6})(?:[ \t]+(.*?))?(?:[ \t]+#+)?[ \t]*")
_ATX_START = re.compile(r"#{1,6}(?=[ \t]|$)")
_FENCE = re.compile(r"`{3,}(?=[^`]*$)|~{3,}")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*")
_RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|(?:-[ \t]*){3,})")
_ITEM = re.compile(r"([*+-]|\d{1,9}[.)])(?=[ \t]|$)")
_BLOCK_TAGS = (
    "address article aside base basefont blockquote body caption center col colgroup dd details "
    "dialog dir div dl dt fieldset figcaption figure footer form frame frameset h1 h2 h3 h4 h5 h6 "
    "head header hr html iframe legend li link main menu menuitem nav noframes ol optgroup option "
    "p param search section summary table tbody td tfoot th thead title tr track ul"
).replace(" ", "|")
_ATTRIBUTE = r"""\s+[A-Za-z_:][\w.:-]*(?:\s*=\s*(?:[^\s"'=<>`]+|'[^']*'|"[^"]*"))?"""
_TAG = r"[A-Za-z][A-Za-z0-9-]*"
_HTML_BLOCKS: Final = tuple(
    (re.compile(start, re.IGNORECASE | re.ASCII), re.compile(end, re.IGNORECASE) if end else None)
    for start, end in (
        (r"<(?:script|pre|textarea|style)(?:\s|>|$)", r"</(?:script|pre|textarea|style)>"),
        (r"<!--", r"-->"),
        (r"<\?", r"\?>"),
        (r"<![A-Za-z]", r">"),
        (r"<!\[CDATA\[", r"\]\]>"),
        (rf"</?(?:{_BLOCK_TAGS})(?:\s|/?>|$)", None),
        (rf"(?:<{_TAG}(?:{_ATTRIBUTE})*\s*/?>|</{_TAG}\s*>)\s*$", None),
    )
)  # fmt: skip
_LABEL = r"\[((?:[^\[\]\\]|\\.){1,999})\]"
_TITLE = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\))"""
_DEFINITION = re.compile(
    rf"[ ]{{0,3}}{_LABEL}:[ \t]*\n?[ \t]*(<(?:[^<>\n\\]|\\.)*>|[^\s<]\S*)"
    rf"(?:(?:[ \t]+|[ \t]*\n[ \t]*){_TITLE}[ \t]*(?=\n|$)|[ \t]*(?=\n|$))\n?",
    re.DOTALL,
)


class Heading(NamedTuple):
    """A heading of the note itself.

    Attributes:
        level: 1 to 6.
        text: without marks and closing hashes, its inline Markdown as it stands.
        first, last: 0-based lines that it takes; several for one that is underlined.
    """

    level: int
    text: str
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Outline:
    """What a Markdown text is made of.

    Attributes:
        headings: in order.
        kinds: per line ``PROSE``, ``CODE``, ``HTML`` or ``COMMENT``.
        definitions: destinations of link references by folded label, the first of each.
    """

    headings: tuple[Heading, ...]
    kinds: bytes
    definitions: dict[str, str]


def reference_label(label: str) -> str:
    """A label as link references compare it: folded, runs of blanks as one."""
    return " ".join(label.split()).casefold()


# Where one of these stands, a line may be no prose, or a heading that is not written with hashes.
_INVOLVED = ("```", "~~~", "%%", "]:", "\t", "\r")
# So may it where a line is indented, underlines, or begins with HTML or code within a container.
_NOT_PLAIN = re.compile(r"\n(?: |=|-+ *(?=\n|\Z)|[>*+\-\d.) ]*(?:<|    ))")
_RULE_ALONE = re.compile(r"(?<=\n\n)-{3,}(?=\n|\Z)")


def outline(lines: Sequence[str], first: int = 0, text: str | None = None) -> Outline:
    """Scan the lines of a Markdown text.

    Args:
        lines: without their line ends.
        first: where the text begins, the front matter being left out.
        text: of these lines, where it is at hand: one that holds nothing but paragraphs, lists and
            headings with hashes is told at a glance.
    """
    if text is not None and _is_plain(text):
        return _outline_of_plain(lines, first)
    scanner = _Scanner(lines)
    for number in range(first, len(lines)):
        line = lines[number]
        # Most lines are plain: outside of all containers, and blank or beginning with a letter.
        if scanner.is_within or number <= scanner.comment or "%%" in line:
            scanner.feed(number)
        elif not line:
            scanner.end_paragraph()
        elif line[0].isalpha():
            scanner.go_on(line, number)
        else:
            scanner.feed(number)
    scanner.end_paragraph()
    return Outline(tuple(scanner.headings), bytes(scanner.kinds), scanner.definitions)


def _is_plain(text: str) -> bool:
    """Whether all lines are prose, and only those that begin with a hash are headings."""
    if any(mark in text for mark in _INVOLVED):
        return False
    if "\n\n---" in text:
        text = _RULE_ALONE.sub("", text)
    # From line end to line end: a search for the beginning of a line looks at every character.
    return _NOT_PLAIN.search("\n" + text) is None


def _outline_of_plain(lines: Sequence[str], first: int) -> Outline:
    headings = []
    for number in range(first, len(lines)):
        line = lines[number]
        if line[:1] == "#" and _ATX_START.match(line):
            headings.append(_atx(line, number))
    return Outline(tuple(headings), bytes(len(lines)), {})


def _atx(line: str, number: int) -> Heading:
    match = _ATX.fullmatch(line.strip(" \t"))
    text = (match[2] or "") if match else ""
    if text.strip("#") == "":
        text = ""
    level = len(match[1]) if match else 1
    return Heading(level, text.strip(" \t"), number, number)


@dataclass(slots=True)
class _Container:
    """A quotation (``width`` 0) or a list item, whose content begins ``width`` columns in."""

    width: int
    empty: bool = False


class _Scanner:
    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = lines
        self.headings: list[Heading] = []
        self.kinds = bytearray(len(lines))
        self.definitions: dict[str, str] = {}
        self.containers: list[_Container] = []
        self.paragraph: list[str] = []
        self.paragraph_start = 0
        self.fence = ""  # the mark that opened it
        self.html: re.Pattern[str] | None = None
        self.in_html = False
        self.comment = -1

    @property
    def is_within(self) -> bool:
        """Whether something is open that a line of words might belong to or not."""
        return bool(self.containers or self.fence or self.in_html)

    def go_on(self, line: str, number: int) -> None:
        """Begin a paragraph or go on with it."""
        if not self.paragraph:
            self.paragraph_start = number
        self.paragraph.append(line)

    def feed(self, number: int) -> None:
        raw = self.lines[number]
        if number <= self.comment:
            self.kinds[number] = COMMENT
            return
        line = raw.expandtabs(4) if "\t" in raw else raw
        at, matched = self._continued(line)
        complete = matched == len(self.containers)
        if complete and self.fence:
            self._in_fence(line, at, number)
            return
        if complete and self.in_html:
            self._in_html(line[at:], number)
            return
        if not complete and (self.fence or self.in_html):
            self._end_leaf()
        self._open(line, at, matched, number)

    def _continued(self, line: str) -> tuple[int, int]:
        """How far the open containers go on in this line: the column, and how many of them."""
        at = matched = 0
        for container in self.containers:
            rest = line[at:]
            indent = len(rest) - len(rest.lstrip(" "))
            if not container.width:
                if indent > 3 or rest[indent : indent + 1] != ">":
                    break
                at += indent + 1
                at += line[at : at + 1] == " "
            elif not rest.strip(" "):
                if container.empty:
                    break
                at = len(line)
            elif indent >= container.width:
                at += container.width
            else:
                break
            matched += 1
        return at, matched

    def _open(self, line: str, at: int, matched: int, number: int) -> None:
        """Open what begins in this line, else let it go on with the paragraph."""
        all_matched = matched == len(self.containers)
        depth = matched
        while True:
            rest = line[at:]
            body = rest.lstrip(" ")
            indent = len(rest) - len(body)
            # Only a paragraph in the innermost container is interrupted; another goes on lazily.
            within = bool(self.paragraph) and depth == len(self.containers) and all_matched
            if not body:
                self._blank(depth)
                return
            if indent >= 4:
                if self.paragraph:
                    break
                self._close_to(depth)
                self._fill()
                self.kinds[number] = CODE
                return
            char = body[0]
            if char == ">":
                self._close_to(depth)
                self._fill()
                self.containers.append(_Container(0))
                at += indent + 1
                at += line[at : at + 1] == " "
                depth, all_matched = depth + 1, True
                continue
            if char == "#" and _ATX_START.match(body):
                self._close_to(depth)
                self._fill()
                if not depth:
                    self.headings.append(_atx(self.lines[number], number))
                return
            if char in "`~" and (mark := _FENCE.match(body)):
                self._close_to(depth)
                self._fill()
                self.fence = mark[0]
                self.kinds[number] = CODE
                return
            if char == "<" and self._html_start(body, number, depth):
                return
            if (
                within
                and char in "=-"
                and _UNDERLINE.fullmatch(body)
                and self._setext(number, body)
            ):
                return
            if char in "*_-" and _RULE.fullmatch(body):
                self._close_to(depth)
                self._fill()
                return
            item = _ITEM.match(body) if char in "*+-" or char.isdigit() else None
            if item is None or not self._item(item, body, indent, depth, within=within):
                break
            opened = self.containers[-1]
            at = len(line) if opened.empty else at + opened.width
            depth, all_matched = depth + 1, True
            if opened.empty:
                return
        self._text(line, at, depth, all_matched=all_matched, number=number)

    def _text(self, line: str, at: int, depth: int, *, all_matched: bool, number: int) -> None:
        if self.paragraph and depth < len(self.containers) and not all_matched:
            self.paragraph.append(line[at:].lstrip(" "))
        else:
            if depth < len(self.containers):
                self._close_to(depth)
            self._fill()
            if not self.paragraph:
                self.paragraph_start = number
            self.paragraph.append(line[at:].lstrip(" "))
        self._comment(number)

    def _item(
        self, item: re.Match[str], body: str, indent: int, depth: int, *, within: bool
    ) -> bool:
        after = body[item.end() :]
        content = after.lstrip(" ")
        if within and (not content or (len(item[1]) > 1 and item[1][:-1] != "1")):
            return False
        spaces = len(after) - len(content)
        self._close_to(depth)
        self._fill()
        width = indent + item.end() + (spaces if content and spaces <= 4 else 1)
        self.containers.append(_Container(width, empty=not content))
        return True

    def _setext(self, number: int, underline: str) -> bool:
        text = self._without_definitions("\n".join(self.paragraph))
        skipped = len(self.paragraph) - (text.count("\n") + 1 if text else 0)
        if not text:
            # What stands here is all definitions: the line is text, or a rule.
            self.paragraph = []
            return False
        if not self.containers:
            level = 1 if underline[0] == "=" else 2
            words = " ".join(part.strip() for part in text.split("\n")).strip()
            start = self.paragraph_start + skipped
            self.headings.append(Heading(level, words, start, number))
        self.paragraph = []
        return True

    def _html_start(self, body: str, number: int, depth: int) -> bool:
        for kind, (start, end) in enumerate(_HTML_BLOCKS, 1):
            if not start.match(body):
                continue
            if kind == 7 and self.paragraph:
                return False
            self._close_to(depth)
            self._fill()
            self.in_html, self.html = True, end
            self._in_html(body, number, comment=kind == 2)
            return True
        return False

    def _in_html(self, text: str, number: int, *, comment: bool = False) -> None:
        self.kinds[number] = COMMENT if comment or self._is_comment else HTML
        ends = not text.strip(" ") if self.html is None else self.html.search(text)
        if ends:
            self.in_html, self.html = False, None

    @property
    def _is_comment(self) -> bool:
        return self.html is _HTML_BLOCKS[1][1]

    def _in_fence(self, line: str, at: int, number: int) -> None:
        self.kinds[number] = CODE
        rest = line[at:]
        body = rest.lstrip(" ")
        mark = body.rstrip(" ")
        closes = len(rest) - len(body) < 4 and mark and not mark.strip(self.fence[0])
        if closes and len(mark) >= len(self.fence):
            self.fence = ""

    def _comment(self, number: int) -> None:
        """Where a comment of Obsidian opens in this line and closes in a later one."""
        if self.lines[number].count("%%") % 2 == 0:
            return
        for later in range(number + 1, len(self.lines)):
            if self.lines[later].count("%%") % 2:
                self.comment = later
                self.kinds[number] = COMMENT
                self.end_paragraph()
                return

    def _blank(self, depth: int) -> None:
        self.end_paragraph()
        del self.containers[depth:]

    def _close_to(self, depth: int) -> None:
        self.end_paragraph()
        del self.containers[depth:]

    def _end_leaf(self) -> None:
        self.fence, self.in_html, self.html = "", False, None

    def _fill(self) -> None:
        for container in self.containers:
            container.empty = False

    def end_paragraph(self) -> None:
        if self.paragraph and self.paragraph[0].startswith("["):
            self._without_definitions("\n".join(self.paragraph))
        self.paragraph = []

    def _without_definitions(self, text: str) -> str:
        while text.startswith("[") and (match := _DEFINITION.match(text)):
            label = reference_label(match[1])
            if not label:
                break
            self.definitions.setdefault(label, match[2])
            text = text[match.end() :]
        return text
