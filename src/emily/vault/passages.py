"""A note is cut into passages where its subject changes.

Markdown is cut at the headings of the note, source files at their declarations; a section that is
long is cut at blank lines once the passage is long enough. Every line stands in exactly one
passage. Standard library only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal, NamedTuple

from emily.vault.declarations import declarations
from emily.vault.notes import Note
from emily.vault.outline import CODE, COMMENT, HTML

__all__ = ["ENOUGH", "LONGEST", "Passage", "passages"]

ENOUGH: Final = 900
"""Characters after which a passage ends at the next blank line: about 200 tokens."""
LONGEST: Final = 2000
"""Characters after which it ends at the next line, blank or not; a longer line stays whole."""
_LEAST: Final = 200
"""Characters of a rest that is not worth a passage of its own."""


class Passage(NamedTuple):
    """A piece of a note.

    Attributes:
        number: 0-based, in the order of the text.
        kind: ``text``, ``source``, or ``front matter``: the fields at the head of a note.
        trail: the headings above it and its own, the outermost first; declarations in a source
            file.
        first, last: 1-based lines, both included.
        start, end: offsets in the note's text.
        text: ``note.text[start:end]``, line ends among it.
    """

    number: int
    kind: Literal["text", "source", "front matter"]
    trail: tuple[str, ...]
    first: int
    last: int
    start: int
    end: int
    text: str


def passages(note: Note) -> tuple[Passage, ...]:
    """Cut a note; a file without a line is one passage without text, so that its name is found."""
    if not note.starts:
        return (Passage(0, "text", (), 1, 1, 0, 0, ""),)
    cuts = _source_sections(note) if note.kind == "source" else _sections(note)
    found: list[Passage] = []
    for kind, trail, first, stop in cuts:
        pieces = [(first, stop)] if kind == "front matter" else _pieces(note, first, stop)
        for low, high in pieces:
            start = note.starts[low]
            end = note.starts[high] if high < len(note.starts) else len(note.text)
            text = note.text[start:end]
            found.append(Passage(len(found), kind, trail, low + 1, high, start, end, text))
    return tuple(found)


_Section = tuple[Literal["text", "source", "front matter"], tuple[str, ...], int, int]


def _sections(note: Note) -> Iterator[_Section]:
    """Front matter and what stands under each heading, as 0-based lines."""
    count = len(note.starts)
    begin = min(note.front.lines, count)
    if begin:
        yield "front matter", (), 0, begin
    trail: list[tuple[int, str]] = []
    bare = begin  # up to here the section holds headings and blanks only
    for heading in note.outline.headings:
        while bare < heading.first and not note.lines[bare].strip():
            bare += 1
        # A heading with nothing below it but a deeper one goes with what follows.
        parent = not trail or trail[-1][0] < heading.level
        if heading.first > begin and not (parent and bare == heading.first):
            yield "text", tuple(text for _, text in trail if text), begin, heading.first
            begin = bare = heading.first
        if bare == heading.first:
            bare = heading.last + 1
        while trail and trail[-1][0] >= heading.level:
            trail.pop()
        trail.append((heading.level, heading.text))
    if begin < count:
        yield "text", tuple(text for _, text in trail if text), begin, count


def _source_sections(note: Note) -> Iterator[_Section]:
    count = len(note.starts)
    begin = 0
    trail: tuple[str, ...] = ()
    for line, names in declarations(note.path, note.lines):
        small = note.starts[line] - note.starts[begin] < _LEAST if line < count else False
        if line > begin and not (small and trail[:1] == names[:1]):
            yield "source", trail, begin, line
            begin = line
        if line <= begin or not trail:
            trail = names
    if begin < count:
        yield "source", trail, begin, count


def _pieces(note: Note, first: int, stop: int) -> list[tuple[int, int]]:
    """Cut lines at blank ones once there are enough characters."""
    starts = note.starts
    end = starts[stop] if stop < len(starts) else len(note.text)
    if end - starts[first] <= LONGEST and end - starts[first] < ENOUGH + _LEAST:
        return [(first, stop)]
    kinds = note.outline.kinds
    pieces: list[tuple[int, int]] = []
    begin = first
    for at in range(first + 1, stop):
        length = starts[at] - starts[begin]
        if length < ENOUGH or end - starts[at] < _LEAST:
            continue
        blank = not note.lines[at - 1].strip() and bool(note.lines[at].strip())
        inside = kinds and kinds[at] in _WHOLE and kinds[at - 1] in _WHOLE
        next_end = starts[at + 1] if at + 1 < len(starts) else len(note.text)
        if (blank and not inside) or next_end - starts[begin] > LONGEST:
            pieces.append((begin, at))
            begin = at
    pieces.append((begin, stop))
    return pieces


_WHOLE = frozenset({CODE, HTML, COMMENT})
