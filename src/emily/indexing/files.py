"""Files as the archive knows them: their facts, their place, and who shares them."""

from __future__ import annotations

import datetime as dt
import os
from dataclasses import dataclass, field
from pathlib import Path

from emily.indexing.report import Outcome
from emily.reading.pages import Facts

__all__ = ["INSIDE", "Enclosure", "FileFacts", "Twin", "Written", "is_there", "storable"]

INSIDE = "!/"
"""Stands between the path of a file and the name of one inside of it: ``mail.eml!/invoice.pdf``."""


@dataclass(frozen=True, slots=True)
class Enclosure:
    """Where a file lies inside of another one.

    Attributes:
        parent: id of the document of the outer file.
        place: 1-based, its position there.
        name: as the outer file names it, unique there; with ``/`` inside of an archive.
        outer: path of the outer file, as the store holds it.
        depth: how many files it lies in, one around the other.
    """

    parent: int
    place: int
    name: str
    outer: str
    depth: int = 1

    @property
    def path(self) -> str:
        """The outer path and the name, as the store can hold it."""
        return f"{self.outer}{INSIDE}{storable(self.name)}"


@dataclass(frozen=True, slots=True)
class FileFacts:
    """What is known of a file beside its text.

    Attributes:
        path: where its bytes lie, absolute; undecodable bytes of its name as surrogate escapes.
        sha256: digest of its bytes.
        bytes: its size.
        kind: format as decided by content.
        title: the title it gives itself, or ``None``.
        warnings: what of it was not read.
        facts: author, date, correspondents.
        enclosure: its place in another file, or ``None`` for a file of its own.
        parts: how many files lie inside of it.
        passwords: whether there are passwords to try on what of it was closed before.
        into: the document that it becomes a new version of, wherever that lies; ``None`` for the
            one at its path.
        standing: stored path and name that it stands for, where its bytes lie elsewhere.
    """

    path: Path
    sha256: bytes
    bytes: int
    kind: str = ""
    title: str | None = None
    warnings: tuple[str, ...] = ()
    facts: Facts = field(default_factory=Facts)
    enclosure: Enclosure | None = None
    parts: int = 0
    passwords: bool = False
    into: int | None = None
    standing: tuple[str, str] | None = None

    @property
    def name(self) -> str:
        """File name as the store can hold it."""
        if self.standing is not None:
            return self.standing[1]
        if self.enclosure is None:
            return storable(self.path.name)
        return storable(self.enclosure.name.rstrip("/").rpartition("/")[2] or "unnamed")

    @property
    def stored_path(self) -> str:
        """Path as the store can hold it."""
        if self.standing is not None:
            return self.standing[0]
        return storable(str(self.path)) if self.enclosure is None else self.enclosure.path


@dataclass(frozen=True, slots=True)
class Twin:
    """A document that shares a file's path, bytes or text.

    Attributes:
        id: the document.
        name: its name.
        paths: where its file lies, the path that is cited first.
        same_path: it is known by the file's path.
        same_bytes: it has the file's bytes.
        same_text: it has the file's text, cosmetic differences aside.
        same_index: it was indexed by the present model with the present settings.
        incomplete: something of it was not read or not indexed.
        trashed_at: since when it is in the trash, if it is.
    """

    id: int
    name: str
    paths: tuple[str, ...]
    same_path: bool
    same_bytes: bool
    same_text: bool
    same_index: bool
    incomplete: bool
    trashed_at: dt.datetime | None = None

    @property
    def current(self) -> bool:
        """It was read whole, and indexed by the present model with the present settings."""
        return self.same_index and not self.incomplete


@dataclass(frozen=True, slots=True)
class Written:
    """What writing a file came to.

    Attributes:
        outcome: ``added``, ``replaced``, ``unchanged`` or ``duplicate``.
        document: the document that holds its content.
        twin: of a duplicate, the document that was there.
        forgotten: SHA-256 of files that no document needs any longer.
        renewed: why a file that did not change was indexed again; ``None`` of any other.
    """

    outcome: Outcome
    document: int
    twin: Twin | None = None
    forgotten: tuple[bytes, ...] = ()
    renewed: str | None = None


def storable(text: str) -> str:
    """Text as PostgreSQL can hold it: surrogate escapes as ``\\udcNN``, no NUL."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8").replace("\0", "")


def is_there(stored_path: str) -> bool:
    """Whether the file at a path is still on the disk, or the one around it."""
    # os.path, for it knows that no file has a name that is too long, where pathlib raises.
    return (
        os.path.exists(stored_path)  # noqa: PTH110
        or any(
            os.path.isfile(stored_path[:at])  # noqa: PTH113
            for at in range(len(stored_path))
            if stored_path.startswith(INSIDE, at)
        )
    )
