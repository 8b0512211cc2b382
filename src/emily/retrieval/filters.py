"""Which documents a search looks in: by date, kind, language, place, people and title."""

from __future__ import annotations

import calendar
import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from emily.errors import InputError
from emily.indexing.files import INSIDE, storable
from emily.places import absolute
from emily.reading.kind import KINDS

__all__ = ["ARCHIVE", "FAMILIES", "Filters", "parse_filters"]

ARCHIVE = "archive"
"""What is given for a folder to look in no vault."""

FAMILIES: dict[str, tuple[str, ...]] = {
    "mail": ("eml", "msg"),
    "writing": ("docx", "doc", "odt", "rtf", "markdown", "text"),
    "sheet": ("xlsx", "xls", "xlsb", "ods", "csv"),
    "slides": ("pptx", "ppt", "odp"),
    "web": ("html", "mhtml", "webarchive"),
}
"""Names for several kinds at once, beside the kinds themselves."""

_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?")


@dataclass(frozen=True, slots=True)
class Filters:
    """What a document must be to be looked in; ``None`` and empty stand for all.

    Attributes:
        since: its date is not before this day.
        until: its date is not after this day.
        kinds: it is of one of these.
        languages: it is in one of these.
        archive: it lies in no vault.
        folder: it lies in this folder, or inside of this file, as the store writes paths.
        without: it has none of these ids; for measuring what is found in its absence.
        categories: it was given one of these by analysis.
        authors: the words of one of these name its author or who sent it.
        parties: the words of one of these name its author or one of its correspondents.
        titles: its title or its name has the words of one of these.
    """

    since: dt.date | None = None
    until: dt.date | None = None
    kinds: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    folder: str | None = None
    archive: bool = False
    without: frozenset[int] = frozenset()
    categories: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    parties: tuple[str, ...] = ()
    titles: tuple[str, ...] = ()

    @property
    def active(self) -> bool:
        """Whether anything is left out at all."""
        return self != Filters()

    @property
    def dated(self) -> bool:
        """Whether a document's date matters."""
        return self.since is not None or self.until is not None

    @property
    def parameters(self) -> dict[str, Any]:
        """What the statement ``matching_documents`` is given."""
        return {
            "since": self.since,
            "until": self.until,
            "kinds": list(self.kinds) or None,
            "languages": list(self.languages) or None,
            "categories": [name.lower() for name in self.categories] or None,
            "authors": list(self.authors),
            "parties": list(self.parties),
            "titles": list(self.titles),
            "archive": self.archive,
            "folder": self.folder,
            "inside": None if self.folder is None else self.folder.rstrip("/") + "/",
            "enclosed": None if self.folder is None else self.folder + INSIDE,
        }

    def as_json(self) -> dict[str, Any]:
        """For the trace: what is set."""
        found = {
            "from": None if self.since is None else self.since.isoformat(),
            "to": None if self.until is None else self.until.isoformat(),
            "type": list(self.kinds) or None,
            "lang": list(self.languages) or None,
            "in": ARCHIVE if self.archive else self.folder,
            "category": list(self.categories) or None,
            "author": list(self.authors) or None,
            "party": list(self.parties) or None,
            "title": list(self.titles) or None,
        }
        return {name: value for name, value in found.items() if value is not None}


def parse_filters(
    *,
    since: str | dt.date | None = None,
    until: str | dt.date | None = None,
    kinds: Sequence[str] = (),
    languages: Sequence[str] = (),
    folder: Path | str | None = None,
    categories: Sequence[str] = (),
    authors: Sequence[str] = (),
    parties: Sequence[str] = (),
    titles: Sequence[str] = (),
) -> Filters:
    """Filters as people write them.

    Args:
        since: ``2024``, ``2024-03`` or ``2024-03-15``: from its first day on.
        until: the same: up to its last day.
        kinds: names of kinds or of families of kinds; several in one are parted by commas.
        languages: ISO 639-1 codes; several in one are parted by commas.
        folder: a folder, or a file that holds others; relative to the current folder. The word
            ``archive`` stands for all that lies in no vault, ``./archive`` for such a folder.
        categories: names of the owner's categories, whatever their case.
        authors: words of the name or address of who wrote or sent it, whatever their case and
            accents; all words of one, of several any.
        parties: the same of the author and of all whom it is from or to, sellers and buyers too.
        titles: words of the title or of the file's name.

    Raises:
        InputError: a value is none of these; the message says what is allowed.
    """
    first, last = _day(since, "from", first=True), _day(until, "to", first=False)
    if first is not None and last is not None and first > last:
        raise InputError(f"No day lies from {first} to {last}: the first is after the last.")
    found: list[str] = []
    for name in _parted(kinds, "type"):
        if name not in FAMILIES and name not in KINDS:
            allowed = ", ".join([*FAMILIES, *KINDS])
            raise InputError(f"There is no type {name!r}. Types: {allowed}")
        found += FAMILIES.get(name, (name,))
    codes = _parted(languages, "language")
    for code in codes:
        if not re.fullmatch("[a-z]{2}", code):
            raise InputError(
                f"The language {code!r} is no ISO 639-1 code: two letters, such as it or en."
            )
    if folder is not None and not str(folder):
        raise InputError("The folder to search in is empty: ''. '.' is the current folder.")
    given = [" ".join(name.split()) for name in categories]
    if not all(given):
        raise InputError("The category to search in is empty: ''. See: emily categories list")
    return Filters(
        categories=tuple(dict.fromkeys(given)),
        authors=_words(authors, "author"),
        parties=_words(parties, "party"),
        titles=_words(titles, "title"),
        since=first,
        until=last,
        kinds=tuple(dict.fromkeys(found)),
        languages=tuple(dict.fromkeys(codes)),
        # Keeps links, as add does: a document is known by the path it was added by.
        archive=str(folder) == ARCHIVE,
        folder=None if folder is None or str(folder) == ARCHIVE else storable(absolute(folder)),
    )


def _words(given: Sequence[str], what: str) -> tuple[str, ...]:
    """Texts to look for word by word, each on one line."""
    for item in given:
        if not any(sign.isalnum() for sign in item):
            raise InputError(f"The {what} to search for has no word: {item!r}.")
    return tuple(dict.fromkeys(" ".join(item.replace("\0", " ").split()) for item in given))


def _parted(given: Sequence[str], what: str) -> list[str]:
    for item in given:
        if not item.replace(",", " ").strip():
            raise InputError(f"The {what} to search for is empty: {item!r}. Leave it out for all.")
    return [part.strip().lower() for item in given for part in item.split(",") if part.strip()]


def _day(given: str | dt.date | None, name: str, *, first: bool) -> dt.date | None:
    if given is None or isinstance(given, dt.date):
        return given
    match = _DATE.fullmatch(given.strip())
    try:
        if match is None:
            raise ValueError
        year, month, day = (None if part is None else int(part) for part in match.groups())
        assert year is not None
        if month is None:
            month = 1 if first else 12
        if day is None:
            day = 1 if first else calendar.monthrange(year, month)[1]
        return dt.date(year, month, day)
    except (ValueError, IndexError, calendar.IllegalMonthError):
        raise InputError(
            f"The date {given!r} ({name}) is none. Write a year, a month or a day: "
            "2024, 2024-03 or 2024-03-15."
        ) from None
