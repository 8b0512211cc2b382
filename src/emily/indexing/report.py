"""What adding files came to, file by file."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from emily.indexing.catalogue import DocumentInfo

__all__ = [
    "AddReport",
    "FileOutcome",
    "Outcome",
    "Progress",
    "ReindexReport",
    "RemoveReport",
    "State",
]

State = Literal["read", "in part", "failed", "needs a password"]
"""How far a file was read."""

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
        reason: why it failed, was ignored, is a duplicate or was indexed again though it did not
            change; what of it was not read.
        chunks: chunks written for it.
        pages: pages read.
        state: how far it was read: ``read``, ``in part`` (``reason`` names what is missing),
            ``failed`` or ``needs a password``; ``None`` where it was not read now.
        inside: path of the file that it lies in, for an attachment or a packed file.
        transient: whether it failed by what may pass by itself, such as a full disk.
    """

    path: Path
    outcome: Outcome
    document: int | None = None
    reason: str | None = None
    chunks: int = 0
    pages: int = 0
    state: State | None = None
    inside: Path | None = None
    transient: bool = False


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a long job is.

    Attributes:
        path: the file at hand.
        done: files finished.
        total: files in all.
        outcome: what came of the file; ``None`` when it is begun.
    """

    path: Path
    done: int
    total: int
    outcome: FileOutcome | None = None


@dataclass(frozen=True, slots=True)
class AddReport:
    """All files of an ``add``, in the order they were finished.

    ``notices`` are sentences about what it did to the archive as a whole.
    """

    files: tuple[FileOutcome, ...]
    notices: tuple[str, ...] = ()

    def counts(self) -> dict[str, int]:
        """How many files came to each outcome."""
        return dict(Counter(file.outcome for file in self.files))


@dataclass(frozen=True, slots=True)
class RemoveReport:
    """What a document was that is removed.

    Attributes:
        document: as it was.
        notices: as in ``AddReport``.
        trashed: whether it lies in the trash; else it is forgotten.
        documents: how many went: it, and those inside of it alone.
    """

    document: DocumentInfo
    notices: tuple[str, ...] = ()
    trashed: bool = False
    documents: int = 1


@dataclass(frozen=True, slots=True)
class ReindexReport:
    """How many documents were brought up to date; ``notices`` as in ``AddReport``."""

    documents: int
    notices: tuple[str, ...] = ()
