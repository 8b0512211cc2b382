"""What adding files came to, file by file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = ["AddReport", "FileOutcome", "Outcome"]

Outcome = Literal["added", "replaced", "unchanged", "duplicate", "failed", "ignored"]


@dataclass(frozen=True, slots=True)
class FileOutcome:
    """One file of an ``add``.

    Attributes:
        path: absolute path of the file.
        outcome: ``added`` (new), ``replaced`` (known path, new content), ``unchanged``,
            ``duplicate`` (the archive holds it already), ``failed``, ``ignored``
            (lock files, temporary files, hidden files inside a folder).
        document: id of the document that holds the file's content, ``None`` if none does.
        reason: why it failed, was ignored or is a duplicate; what of it was not read.
        chunks: chunks written for it.
        pages: pages read.
    """

    path: Path
    outcome: Outcome
    document: int | None = None
    reason: str | None = None
    chunks: int = 0
    pages: int = 0


@dataclass(frozen=True, slots=True)
class AddReport:
    """All files of an ``add``, in the order they were finished."""

    files: tuple[FileOutcome, ...]

    def counts(self) -> dict[str, int]:
        """How many files came to each outcome."""
        return dict(Counter(file.outcome for file in self.files))
