"""What became of a folder since it was looked at: sizes and dates compared, nothing read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

__all__ = ["Changes", "FileState", "KnownFile", "compare", "match_moves"]


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as the disk has it.

    Attributes:
        size: in bytes.
        modified_ns: when it was changed last, nanoseconds.
        inode: its number on its disk, as text.
        note: whether it is a text that is cut into passages; else an attachment.
    """

    size: int
    modified_ns: int
    inode: str
    note: bool


@dataclass(frozen=True, slots=True)
class KnownFile:
    """A file as the database has it.

    Attributes:
        id: of its row.
        path: in the vault, parted by ``/``.
        note: as in ``FileState``.
        document: id of its document; ``None`` where it was not read.
        size: in bytes.
        modified_ns: as in ``FileState``; 0 to have it looked at again.
        inode: as in ``FileState``.
        sha256: of its bytes; empty of an attachment that waits to be read.
        version: of the way it was cut.
        complete: whether all its passages have vectors.
    """

    id: int
    path: str
    note: bool
    document: int | None
    size: int
    modified_ns: int
    inode: str
    sha256: bytes
    version: int
    complete: bool


@dataclass(frozen=True, slots=True)
class Changes:
    """What is to be looked at.

    Attributes:
        fresh: paths that are new.
        touched: paths whose size or date is another.
        gone: files that are no longer where they were.
    """

    fresh: tuple[str, ...]
    touched: tuple[str, ...]
    gone: tuple[KnownFile, ...]

    @property
    def none(self) -> bool:
        """Whether all is as it was."""
        return not (self.fresh or self.touched or self.gone)


def compare(known: Mapping[str, KnownFile], found: Mapping[str, FileState]) -> Changes:
    """Compare what is known of a vault with what lies in its folder.

    Args:
        known: by path.
        found: by path.
    """
    fresh, touched = [], []
    for path, state in found.items():
        before = known.get(path)
        if before is None:
            fresh.append(path)
        elif not (state.note or before.note or before.sha256):
            continue  # an attachment that waits to be read
        elif (
            before.modified_ns != state.modified_ns
            or before.size != state.size
            or before.note is not state.note
        ):
            touched.append(path)
    gone = (
        ()
        if len(found) - len(fresh) == len(known)
        else tuple(file for path, file in known.items() if path not in found)
    )
    return Changes(tuple(sorted(fresh)), tuple(sorted(touched)), gone)


def match_moves(
    gone: Iterable[KnownFile], fresh: Mapping[str, tuple[bytes, FileState]]
) -> dict[str, KnownFile]:
    """Which new files are old ones that were moved or renamed.

    A file is known by its bytes; of several with the same bytes, by its name, then by its number
    on the disk. One that was moved and then edited is known by that number alone.

    Args:
        gone: files that are no longer where they were.
        fresh: SHA-256 and state of new files by path.

    Returns:
        the old file by the new path.
    """
    by_bytes: dict[bytes, list[KnownFile]] = defaultdict(list)
    by_inode: dict[str, KnownFile] = {}
    for file in gone:
        if file.sha256:
            by_bytes[file.sha256].append(file)
        by_inode[file.inode] = file
    moved: dict[str, KnownFile] = {}
    used: set[int] = set()

    def take(path: str, file: KnownFile) -> None:
        moved[path] = file
        used.add(file.id)

    def likeness(path: str, state: FileState, file: KnownFile) -> tuple[bool, bool]:
        return _name(file.path) == _name(path), file.inode == state.inode

    pairs = sorted(
        (
            (likeness(path, state, file), path, file)
            for path, (digest, state) in fresh.items()
            for file in by_bytes.get(digest, ())
            if file.note is state.note
        ),
        key=lambda pair: ((not pair[0][0], not pair[0][1]), pair[1], pair[2].path),
    )
    for _, path, file in pairs:
        if path not in moved and file.id not in used:
            take(path, file)
    for path, (_, state) in fresh.items():
        file_there = by_inode.get(state.inode)
        if (
            path not in moved
            and file_there is not None
            and file_there.id not in used
            and file_there.note is state.note
        ):
            take(path, file_there)
    return moved


def _name(path: str) -> str:
    return path.rpartition("/")[2]
