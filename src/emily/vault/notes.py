"""A file of a vault as it is read: its text, its lines, what it calls itself.

Standard library only.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from emily.reading.encodings import decode_text
from emily.vault.files import Kind, kind_of
from emily.vault.front_matter import NO_FRONT_MATTER, FrontMatter, Problem, front_matter
from emily.vault.inline import prose, tags_in
from emily.vault.outline import Outline, outline

__all__ = ["Note", "Problem", "read_note", "split_lines", "stem_of"]

_LINE_END = re.compile(r"\r\n|\n|\r")
_NO_OUTLINE = Outline((), b"", {})
_FEW_NUL = 4
_MOST_NUL = 0.01
"""Share of NUL characters above which a file is not text but something binary."""


@dataclass(frozen=True)
class Note:
    """A file of a vault.

    Attributes:
        path: relative to the vault, with ``/``.
        kind: ``markdown``, ``text`` or ``source``.
        text: all of the file, decoded and otherwise as it is: line ends of every kind remain.
        starts: offset in ``text`` at which each line begins; a text that ends in a line end has
            no empty line behind it.
        front: its front matter.
        outline: its headings and which lines are code; empty where it is not Markdown.
        problems: what could not be read as it was meant, never empty in silence.
    """

    path: str
    kind: Kind
    text: str
    starts: tuple[int, ...]
    front: FrontMatter = NO_FRONT_MATTER
    outline: Outline = _NO_OUTLINE
    problems: tuple[Problem, ...] = field(default=())

    @cached_property
    def lines(self) -> tuple[str, ...]:
        """The lines without their ends."""
        return tuple(split_lines(self.text)[: len(self.starts)])

    @cached_property
    def prose(self) -> str:
        """The text with code and HTML comments blanked out, offsets unchanged."""
        if self.kind != "markdown":
            return ""
        text = prose(self.text, self.starts, self.outline)
        body = self.starts[self.front.lines] if self.front.lines < len(self.starts) else len(text)
        return " " * body + text[body:]

    @property
    def name(self) -> str:
        """The file's name without its extension: what a link calls it."""
        return stem_of(self.path)

    @cached_property
    def title(self) -> str:
        """The title of the front matter, else the first heading of level one, else the name."""
        first = next((h.text for h in self.outline.headings if h.level == 1 and h.text), None)
        return self.front.title or first or self.name

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other names that its front matter gives it."""
        return self.front.aliases

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """Tags of the front matter and of the text, without ``#``, each once in any case."""
        found: dict[str, str] = {}
        for tag in (*self.front.tags, *(tag for tag, _ in tags_in(self.prose))):
            found.setdefault(tag.casefold(), tag)
        return tuple(found.values())

    def line_at(self, offset: int) -> int:
        """The 1-based line in which a character of the text stands."""
        return max(1, bisect_right(self.starts, offset))


def stem_of(path: str) -> str:
    """The last part of a path without its extension."""
    name = path.rpartition("/")[2]
    stem, dot, _ = name.rpartition(".")
    return stem if dot and stem else name


def read_note(path: str, data: bytes) -> Note:
    """Read one file; nothing in its bytes makes this fail.

    Args:
        path: relative to the vault, with ``/``.
        data: all bytes of the file.
    """
    problems: list[Problem] = []
    text, assumed = decode_text(data, guess_scripts=False)
    if assumed is not None:
        problems.append(Problem(None, assumed))
    nuls = text.count("\0")
    if nuls > max(_FEW_NUL, len(text) * _MOST_NUL):
        problems = [Problem(None, f"The file is not text: {nuls} of its characters are NUL.")]
        text = ""
    lines = split_lines(text)
    starts = _starts(text, lines)
    if nuls and text:
        line = max(1, bisect_right(starts, text.index("\0")))
        many = f"{nuls} NUL characters; they are" if nuls > 1 else "a NUL character; it is"
        problems.append(Problem(line, f"The file holds {many} read as blank."))
        text = text.replace("\0", " ")
        lines = split_lines(text)
    del lines[len(starts) :]
    kind = kind_of(path)
    if kind == "markdown":
        front = front_matter(lines)
        body = text[starts[front.lines] :] if 0 < front.lines < len(starts) else text
        blocks = outline(lines, front.lines, body if front.lines < len(starts) else "")
        problems += front.problems
        note = Note(path, kind, text, starts, front, blocks, tuple(problems))
    else:
        note = Note(path, kind, text, starts, problems=tuple(problems))
    note.__dict__["lines"] = tuple(lines)  # the value of its cached property
    return note


def _starts(text: str, lines: Sequence[str]) -> tuple[int, ...]:
    if not text:
        return ()
    if "\r" in text:
        found = [0, *(match.end() for match in _LINE_END.finditer(text))]
    else:
        found = list(accumulate([len(line) + 1 for line in lines[:-1]], initial=0))
    if found[-1] == len(text):
        found.pop()
    return tuple(found)


def split_lines(text: str) -> list[str]:
    """The lines of a text as editors count them; the last is empty where it ends in a line end."""
    return _LINE_END.split(text) if "\r" in text else text.split("\n")
