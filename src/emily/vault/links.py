"""The links of a note, as they are written in it.

Wikilinks (``[[note|shown]]``, ``[[note#heading]]``, ``[[note#^block]]``, ``![[embed]]``), Markdown
links to files (inline, by reference, in angle brackets), links in the fields of front matter, and
tags. Nothing in code or in HTML comments is a link. Which file a link means is told by
``vault.resolving``. Standard library only.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias
from urllib.parse import unquote

from emily.vault.inline import tags_in
from emily.vault.notes import Note
from emily.vault.outline import reference_label

__all__ = ["Link", "LinkKind", "is_external", "links_of", "tag_links"]

LinkKind: TypeAlias = Literal["wiki", "markdown", "field", "tag"]

_FIELD_NAMES = """
references reference refs related see seealso links link up down parent parents child children
next prev previous source sources moc topics topic partof depends
"""
_FIELDS: Final = frozenset(_FIELD_NAMES.split())
"""Fields of front matter whose plain values name other notes, without hyphens."""

# The exclamation mark of an embed is looked back for: a search goes from bracket to bracket then.
_WIKI = re.compile(r"\[\[(?:(?<=(!)\[\[)|)((?:[^\[\]\r\n]++|\[(?!\[)|\](?!\]))++)\]\]")
_INNER = r"(?:[^\[\]\\]|\\.|\[(?:[^\[\]\\]|\\.|\[(?:[^\[\]\\]|\\.)*\])*\])*"
_TEXT = re.compile(rf"(!?)\[({_INNER})\]", re.DOTALL)
_PARENTHESES = r"(?:[^\s()\\<]|\\.|\((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*\))"
_TITLE = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|\((?:[^()\\]|\\.)*\))"""
_DESTINATION = re.compile(
    rf"\([ \t\r\n]*(?:<((?:[^<>\r\n\\]|\\.)*)>|({_PARENTHESES}(?:[^\s()\\]|\\.|"
    rf"\((?:[^\s()\\]|\\.|\((?:[^\s()\\]|\\.)*\))*\))*)?)(?:[ \t\r\n]+{_TITLE})?[ \t\r\n]*\)",
    re.DOTALL,
)
_REFERENCE = re.compile(rf"\[({_INNER})\]", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:(?!:)|//")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")
_LONGEST: Final = 2000


class Link(NamedTuple):
    """One link.

    Attributes:
        kind: ``wiki``, ``markdown``, ``field`` (a plain value of front matter) or ``tag``.
        target: the file or note that is named, decoded; empty for a place in the note itself.
        heading: the part behind ``#``, several of them joined with ``#``; else ``None``.
        block: the name behind ``#^``, else ``None``.
        shown: what the reader sees instead of the target, else ``None``.
        embed: whether the target is shown in place.
        line: 1-based.
        start, end: offsets in the note's text.
    """

    kind: LinkKind
    target: str
    heading: str | None
    block: str | None
    shown: str | None
    embed: bool
    line: int
    start: int
    end: int


def is_external(destination: str) -> bool:
    """Whether a destination leads out of the vault: it has a scheme or a host."""
    return _SCHEME.match(destination) is not None


def links_of(note: Note) -> tuple[Link, ...]:
    """The links of a note to files and places, in the order in which they stand; no tags."""
    if note.kind != "markdown":
        return ()
    found = [*_of_front_matter(note), *_of_text(note)]
    found.sort(key=lambda link: (link.start, -link.end))
    return tuple(found)


def tag_links(note: Note) -> tuple[Link, ...]:
    """The tags of a note as weak links to all notes that carry them, each occurrence in order."""
    found = []
    head = (
        note.text[: note.starts[note.front.lines]]
        if note.front.lines < len(note.starts)
        else (note.text if note.front.lines else "")
    )
    for tag in note.front.tags:
        at = max(head.find(tag), 0)
        found.append(_tag(note, tag, at, at + len(tag)))
    for tag, at in tags_in(note.prose):
        found.append(_tag(note, tag, at, at + 1 + len(tag)))
    return tuple(found)


def _tag(note: Note, tag: str, start: int, end: int) -> Link:
    return Link("tag", tag, None, None, None, False, note.line_at(start), start, end)


def _of_text(note: Note) -> Iterator[Link]:
    text = note.prose
    definitions = note.outline.definitions
    taken: list[tuple[int, int]] = []
    if "[[" in text:
        for match in _WIKI.finditer(text):
            start = match.start() - bool(match[1])
            if _is_escaped(text, start):
                continue
            link = _wiki(note, match, start, match.end())
            if link is not None:
                taken.append((start, match.end()))
                yield link
    if "](" in text or definitions:
        wiki = iter(taken)
        # What stands inside of a wikilink is no Markdown link; the rest keeps its offsets.
        parts, done = [], 0
        for start, end in wiki:
            parts += [text[done:start], " " * (end - start)]
            done = end
        text = "".join([*parts, text[done:]])
        yield from _markdown(note, text, 0, definitions)


def _is_escaped(text: str, at: int) -> bool:
    slashes = 0
    while at - slashes > 0 and text[at - slashes - 1] == "\\":
        slashes += 1
    return slashes % 2 == 1


def _wiki(note: Note, match: re.Match[str], start: int, end: int) -> Link | None:
    # Of the note itself: code within a link is a part of its name.
    inner = note.text[match.start(2) : match.end(2)]
    # In a table the bar is written \|.
    target, bar, shown = inner.replace("\\|", "|").partition("|")
    if not target.strip() or len(target) > _LONGEST:
        return None
    return _link(
        note,
        "wiki",
        target.strip(),
        (start, end),
        shown=shown.strip() if bar else None,
        embed=bool(match[1]),
    )


def _markdown(note: Note, text: str, base: int, definitions: dict[str, str]) -> Iterator[Link]:
    """Links of a text that begins at ``base``; those inside of a link's own text as well."""
    at = 0
    while (at := text.find("[", at)) >= 0:
        if _is_escaped(text, at):
            at += 1
            continue
        # An image begins one character before.
        embed = at > 0 and text[at - 1] == "!" and not _is_escaped(text, at - 1)
        match = _TEXT.match(text, at)
        if match is None or "\n\n" in match[2]:
            at += 1
            continue
        start = at - embed
        destination = _DESTINATION.match(text, match.end())
        raw = None
        if destination is not None:
            raw = destination[1] if destination[1] is not None else destination[2] or ""
            end = destination.end()
        elif definitions:
            label, end = match[2], match.end()
            reference = _REFERENCE.match(text, match.end())
            if reference is not None:
                end = reference.end()
                label = reference[1] or label
            if text[end : end + 1] != ":" or reference is not None:
                raw = definitions.get(reference_label(label))
                if raw is not None and raw.startswith("<"):
                    raw = raw[1:-1]
        if raw is None:
            at += 1
            continue
        yield from _markdown(note, match[2], base + match.start(2), definitions)
        link = _destination(note, raw, (base + start, base + end), match[2], embed=embed)
        if link is not None:
            yield link
        at = end


def _destination(
    note: Note, raw: str, span: tuple[int, int], shown: str, *, embed: bool
) -> Link | None:
    destination = _ESCAPED.sub(r"\1", raw.strip())
    if not destination or len(destination) > _LONGEST or is_external(destination):
        return None
    path, hash_mark, fragment = destination.partition("#")
    target = unquote(path) + ("#" + unquote(fragment) if hash_mark else "")
    return _link(note, "markdown", target, span, shown=shown or None, embed=embed)


def _of_front_matter(note: Note) -> Iterator[Link]:
    if not note.front.lines:
        return
    end = note.front.lines
    head = note.text[: note.starts[end]] if end < len(note.starts) else note.text
    if "[[" in head:
        for match in _WIKI.finditer(head):
            link = _wiki(note, match, match.start() - bool(match[1]), match.end())
            if link is not None:
                yield link
    for name in note.front.fields:
        if name.casefold().replace("_", "").replace("-", "") not in _FIELDS:
            continue
        field = re.search(rf"^\s*['\"]?{re.escape(name)}['\"]?\s*[:=]", head, re.MULTILINE)
        place = field.start() if field else 0
        for value in note.front.texts(name):
            if "[[" in value:
                continue
            start = head.find(value, place)
            span = (start, start + len(value)) if start >= 0 else (place, place)
            if value.startswith("[") and value.endswith(")") and "](" in value:
                inner = value[value.index("](") + 2 : -1]
                link = _destination(
                    note, inner.strip("<>"), span, value[1 : value.index("](")], embed=False
                )
                if link is not None:
                    yield link
            elif not is_external(value) and len(value) <= _LONGEST:
                yield _link(note, "field", value, span, shown=None, embed=False)


def _link(
    note: Note,
    kind: LinkKind,
    target: str,
    span: tuple[int, int],
    *,
    shown: str | None,
    embed: bool,
) -> Link:
    path, _, place = target.partition("#")
    heading = block = None
    if place.startswith("^"):
        block = place[1:].strip() or None
    elif place:
        parts = [part.strip() for part in place.split("#") if part.strip()]
        if parts and parts[-1].startswith("^"):
            block = parts.pop()[1:] or None
        heading = "#".join(parts) or None
    start, end = span
    return Link(kind, path.strip(), heading, block, shown, embed, note.line_at(start), start, end)
