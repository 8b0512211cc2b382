"""What comparing a vault with its files came to."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

__all__ = ["SyncReport", "VaultInfo"]


@dataclass(frozen=True, slots=True)
class VaultInfo:
    """A vault in a list.

    Attributes:
        name: by which it is told from others.
        path: of its folder.
        reachable: whether the folder is there.
        indexed: whether the database knows it.
        notes: files that are cut into passages.
        passages: of notes and attachments.
        attachments: further files that were read.
        unread: files that were not read, or hold no text.
        incomplete: notes of which a passage has no vector.
        links: of all notes, tags left out.
        broken: links that lead nowhere.
        synced_at: when it was last compared with its files; ``None`` for never.
        problems: files that could not be read as they were meant, with the reasons.
    """

    name: str
    path: str
    reachable: bool
    indexed: bool
    notes: int = 0
    passages: int = 0
    attachments: int = 0
    unread: int = 0
    incomplete: int = 0
    links: int = 0
    broken: int = 0
    synced_at: dt.datetime | None = None
    problems: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class SyncReport:
    """What changed in one vault since it was last looked at.

    Attributes:
        vault: its name.
        path: of its folder.
        reachable: whether the folder could be looked at; if not, all is kept as it was.
        added: paths of new notes and attachments.
        changed: of files whose content is another.
        moved: from where to where.
        removed: paths of files that are gone.
        unchanged: how many files are as they were.
        waiting: attachments that are new or changed and wait to be read.
        words_only: notes that are found by their words alone.
        failed: files that could not be read, with the reason.
        skipped: what lies in the folder and is left out, with the reason.
        embedded: passages whose vectors were computed.
        notices: sentences for the owner.
    """

    vault: str
    path: str
    reachable: bool = True
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    moved: tuple[tuple[str, str], ...] = ()
    removed: tuple[str, ...] = ()
    unchanged: int = 0
    waiting: tuple[str, ...] = ()
    words_only: tuple[str, ...] = ()
    failed: tuple[tuple[str, str], ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    embedded: int = 0
    notices: tuple[str, ...] = ()
