"""From a note's bytes to what is kept of it: its text, its passages, its links."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate

from emily.indexing.chunking import Chunk, TokenCounter, chunk
from emily.indexing.facts import document_facts
from emily.indexing.files import storable
from emily.indexing.normalise import normalise
from emily.indexing.text import DocumentText, PageSpan
from emily.reading.pages import Facts
from emily.vault.changes import FileState, KnownFile
from emily.vault.keeping import Draft
from emily.vault.links import Link, links_of, tag_links
from emily.vault.notes import Note, read_note
from emily.vault.passages import Passage, passages
from emily.vault.resolving import target_of

__all__ = ["TRAIL", "draft_note", "note_digest"]

TRAIL = " › "
"""Stands between the title and the headings above a passage."""

_LIMIT = 512  # tokens; a passage without a blank line, such as a long table, is cut by size
_DATED = 20_000  # characters in which a note tells its date


def draft_note(
    path: str,
    data: bytes,
    state: FileState,
    before: KnownFile | None,
    tokens: TokenCounter,
) -> Draft:
    """Read a note and cut it.

    Args:
        path: in the vault, as the store can hold it.
        data: all bytes of the file.
        state: of the file.
        before: what was known of it.
        tokens: counts them.
    """
    note = read_note(path, data)
    lines = [normalise(line) for line in note.lines] if note.text else []
    text = "\n".join(lines)
    whole = DocumentText(
        text, (PageSpan(1, 0, len(text), "text" if text.strip() else "blank"),), (), "lines"
    )
    title = storable(" ".join(normalise(note.title).split()))
    chunks = _chunks(note, whole, lines, title, tokens) if lines else ()
    target = target_of(note)
    facts = document_facts(_facts(note), text[:_DATED], None, path.rpartition("/")[2])
    return Draft(
        path=path,
        state=state,
        sha256=hashlib.sha256(data).digest(),
        before=before,
        kind=note.kind,
        text=whole,
        title=title,
        facts=facts,
        chunks=chunks,
        digests=tuple(note_digest(item, text[item.start : item.end]) for item in chunks),
        links=(*links_of(note), *_tags(note)),
        headings=tuple(storable(heading) for heading in target.headings),
        blocks=tuple(sorted(storable(block) for block in target.blocks)),
        aliases=tuple(storable(alias) for alias in note.aliases),
        problems=tuple(
            storable(f"Line {item.line}: {item.what}" if item.line else item.what)
            for item in note.problems
        ),
    )


def note_digest(item: Chunk, text: str) -> bytes:
    """SHA-256 of what is embedded of a passage: title, trail and text."""
    return hashlib.sha256(f"{item.header}\0{text}".encode("utf-8", "replace")).digest()


def _tags(note: Note) -> tuple[Link, ...]:
    """The tags of a note, each once."""
    once: dict[str, Link] = {}
    for link in tag_links(note):
        once.setdefault(link.target.casefold(), link)
    return tuple(once.values())


def _facts(note: Note) -> Facts:
    date = note.front.date
    return Facts() if date is None else Facts(date=date, date_source="header")


def _chunks(
    note: Note, whole: DocumentText, lines: Sequence[str], title: str, tokens: TokenCounter
) -> tuple[Chunk, ...]:
    starts = [0, *accumulate(len(line) + 1 for line in lines)]
    found: list[Chunk] = []
    for item in passages(note):
        span = _span(item, lines, starts)
        if span is None:
            continue
        start, end = span
        header = _header(note, item, title)
        room = _LIMIT - tokens.reserved - tokens.count(header or "x")
        size = tokens.count(whole.text[start:end])
        pieces: Sequence[Chunk] = [Chunk(0, 1, start, end, header, size)]
        if size > room:
            page = replace(whole, pages=(PageSpan(1, start, end, "text"),))
            pieces = chunk(page, tokens, limit=max(64, room), overlap=0)
        found += [
            replace(
                piece,
                ordinal=len(found) + place,
                header=header,
                tokens=piece.tokens + tokens.count(header or "x"),
            )
            for place, piece in enumerate(pieces)
        ]
    return tuple(found)


def _span(item: Passage, lines: Sequence[str], starts: Sequence[int]) -> tuple[int, int] | None:
    """Offsets of a passage, blank lines at its ends left out; ``None`` if it is all blank."""
    first, last = item.first - 1, item.last - 1
    while first <= last and not lines[first].strip():
        first += 1
    while last >= first and not lines[last].strip():
        last -= 1
    return None if first > last else (starts[first], starts[last] + len(lines[last]))


def _header(note: Note, item: Passage, title: str) -> str:
    """Title and trail of a passage, without the headings that stand in it."""
    inside = {
        heading.text
        for heading in note.outline.headings
        if item.first - 1 <= heading.first <= item.last - 1
    }
    trail = [" ".join(normalise(text).split()) for text in item.trail if text not in inside]
    if trail and trail[0] == title:
        trail = trail[1:]
    own = [] if title in inside else [title]
    return storable(TRAIL.join([*own, *filter(None, trail)]))
