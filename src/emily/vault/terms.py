"""The terms of a note and of its passages, by the analyser that the archive uses as well.

A word is folded and kept to its first five letters; one with accents is also kept whole and with
them, so that the exact spelling ranks first; identifiers are kept whole and in their parts. See
``indexing.terms``, which imports the standard library only.
"""

from __future__ import annotations

from collections.abc import Iterable

from emily.indexing.terms import DEFAULT_LANGUAGES, analyse, frequencies
from emily.vault.notes import Note
from emily.vault.passages import Passage

__all__ = [
    "DEFAULT_LANGUAGES",
    "above_terms",
    "name_terms",
    "note_terms",
    "passage_terms",
    "query_terms",
    "text_terms",
]


def text_terms(text: str, languages: tuple[str, ...] = DEFAULT_LANGUAGES) -> dict[str, int]:
    """How often each term stands in a text."""
    return frequencies(text, languages)


def name_terms(note: Note, languages: tuple[str, ...] = DEFAULT_LANGUAGES) -> dict[str, int]:
    """The terms of what a note is called: its title, and its file's name where that differs.

    The terms of a document are these and those of the text of all its passages.
    """
    title = frequencies(note.title, languages)
    if note.name == note.title:
        return title
    name = frequencies(note.name, languages)
    # A title that says the same in other signs (my-note, My note) is not counted twice.
    return {**name, **title}


def passage_terms(
    note: Note, passage: Passage, languages: tuple[str, ...] = DEFAULT_LANGUAGES
) -> dict[str, int]:
    """The terms of a passage: those of its text, of the trail above it and of the note's name."""
    found = frequencies(passage.text, languages)
    for term, times in above_terms(note, passage, languages).items():
        found[term] = found.get(term, 0) + times
    return found


def above_terms(
    note: Note, passage: Passage, languages: tuple[str, ...] = DEFAULT_LANGUAGES
) -> dict[str, int]:
    """What a passage takes from the note's name and from headings that it does not hold itself."""
    return _above(note, passage, name_terms(note, languages), languages)


def note_terms(
    note: Note,
    passages: Iterable[Passage],
    languages: tuple[str, ...] = DEFAULT_LANGUAGES,
) -> tuple[dict[str, int], list[tuple[dict[str, int], dict[str, int]]]]:
    """All terms of a note at once.

    Returns:
        Those of its name, and for each passage those of its text and those from above it.
    """
    names = name_terms(note, languages)
    return names, [
        (frequencies(passage.text, languages), _above(note, passage, names, languages))
        for passage in passages
    ]


def _above(
    note: Note, passage: Passage, names: dict[str, int], languages: tuple[str, ...]
) -> dict[str, int]:
    found = names
    for heading in passage.trail:
        if heading != note.title and heading not in passage.text:
            found = dict(found) if found is names else found
            for term, times in frequencies(heading, languages).items():
                found[term] = found.get(term, 0) + times
    return found


def query_terms(query: str, languages: tuple[str, ...] = DEFAULT_LANGUAGES) -> tuple[str, ...]:
    """The terms of a question, each once, in order."""
    return tuple(dict.fromkeys(term.term for term in analyse(query, languages)))
