"""What the links of a vault say about its notes: backlinks, unlinked mentions, what is broken.

Standard library only.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from emily.vault.files import kind_of
from emily.vault.links import Link, links_of
from emily.vault.notes import Note
from emily.vault.resolving import Resolution, Resolver

__all__ = [
    "LedLink",
    "Mention",
    "backlinks",
    "broken",
    "lead",
    "mention_names",
    "mentions",
    "orphans",
    "outgoing",
]

_LEAST_LETTERS = 3
_DEFINITION = re.compile(r"[ ]{0,3}\[[^\]\n]+\]:")  # of a link: what stands there is a link's


@dataclass(frozen=True, slots=True)
class LedLink:
    """A link and where it leads.

    Attributes:
        source: path of the note in which it stands.
        link: as it is written.
        resolution: the file that it means.
    """

    source: str
    link: Link
    resolution: Resolution

    @property
    def is_broken(self) -> bool:
        """Whether it leads nowhere, or to a note without the heading or block that it names.

        A plain value of front matter need not be meant as a link.
        """
        if self.resolution.path is None:
            return self.link.kind != "field"
        return not self.resolution.place_found

    @property
    def why(self) -> str:
        """What is wrong with a broken one, as a sentence."""
        if self.resolution.path is None:
            return f"There is no file {self.link.target!r}."
        place = f"#^{self.link.block}" if self.link.block else f"#{self.link.heading}"
        what = "block" if self.link.block else "heading"
        return f"{self.resolution.path} has no {what} {place!r}."


@dataclass(frozen=True, slots=True)
class Mention:
    """A place where a note names another without a link.

    Attributes:
        path: of the note that names it.
        line: 1-based.
        text: the words as they stand there.
        start, end: offsets in that note's text.
    """

    path: str
    line: int
    text: str
    start: int
    end: int


def lead(notes: Iterable[Note], resolver: Resolver) -> Iterator[LedLink]:
    """All links of some notes, and where they lead; no tags."""
    for note in notes:
        for link in links_of(note):
            yield LedLink(note.path, link, resolver.resolve(link, note.path))


def outgoing(path: str, links: Iterable[LedLink]) -> list[LedLink]:
    """The links that stand in a note, in order."""
    return [each for each in links if each.source == path]


def backlinks(path: str, links: Iterable[LedLink]) -> list[LedLink]:
    """The links of other notes to this one, by note and line."""
    found = [each for each in links if each.resolution.path == path and each.source != path]
    return sorted(found, key=lambda each: (each.source, each.link.line, each.link.start))


def broken(links: Iterable[LedLink]) -> list[LedLink]:
    """The links that lead nowhere, by note and line."""
    found = [each for each in links if each.is_broken]
    return sorted(found, key=lambda each: (each.source, each.link.line, each.link.start))


def orphans(paths: Iterable[str], links: Iterable[LedLink]) -> list[str]:
    """The notes that no other links to and that link to no other."""
    linked: set[str] = set()
    for each in links:
        target = each.resolution.path
        if target is not None and target != each.source and kind_of(target) != "attachment":
            linked |= {target, each.source}
    return sorted(path for path in paths if path not in linked)


def mention_names(names: Iterable[str]) -> tuple[str, ...]:
    """Those names of a note whose mention means something: three letters and more."""
    kept = {
        name.casefold(): name for name in names if sum(map(str.isalnum, name)) >= _LEAST_LETTERS
    }
    return tuple(sorted(kept.values(), key=lambda name: (-len(name), name)))


def mentions(
    names: Sequence[str], target: str, note: Note, links: Iterable[LedLink]
) -> Iterator[Mention]:
    """Where a note names another in plain words, as whole words and in any case.

    Args:
        names: of the other, see ``mention_names``.
        target: its path.
        note: that may name it; the same note names itself in vain.
        links: of that note: what stands inside of a link is none.
    """
    if not names or note.path == target:
        return
    text = note.prose if note.kind == "markdown" else note.text
    # Composed letters only where that moves no offset.
    composed = unicodedata.normalize("NFC", text)
    text = composed if len(composed) == len(text) else text
    ways = "|".join(
        r"\s+".join(map(re.escape, unicodedata.normalize("NFC", name).split())) for name in names
    )
    taken = [(each.link.start, each.link.end) for each in links if each.source == note.path]
    for match in re.finditer(rf"(?<!\w)(?:{ways})(?!\w)", text, re.IGNORECASE):
        start, end = match.span()
        if any(low < end and start < high for low, high in taken):
            continue
        if _DEFINITION.match(text, note.starts[note.line_at(start) - 1]):
            continue
        yield Mention(note.path, note.line_at(start), note.text[start:end], start, end)
