"""Paths that the owner names become files, in a stable order; nothing is left out in silence."""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from emily.errors import InputError
from emily.places import absolute
from emily.reading.ignoring import IGNORE_FILE, IgnoreFile, ignored_by

__all__ = ["Found", "refuse_empty", "walk"]

_IGNORED = (
    ("~$*", "a lock file of an Office program"),
    (".~lock.*#", "a lock file of an Office program"),
    ("thumbs.db", "a folder's picture cache"),
    ("desktop.ini", "a folder's settings"),
    ("*.tmp", "a temporary file"),
    ("~*.tmp", "a temporary file"),
    ("*.part", "a download that is not finished"),
    ("*.partial", "a download that is not finished"),
    ("*.crdownload", "a download that is not finished"),
    ("*.download", "a download that is not finished"),
    ("*.swp", "a temporary file"),
)


_Key = tuple[int, int]  # device and inode: a folder, whatever its name
_OWN = "Emily's own data"


@dataclass(frozen=True, slots=True)
class Found:
    """A path that was looked at.

    Attributes:
        path: absolute, not resolved: a link keeps its own name.
        state: ``file`` (to be read), ``ignored`` or ``failed``.
        reason: why it is ignored or failed, else ``None``.
    """

    path: Path
    state: Literal["file", "ignored", "failed"]
    reason: str | None = None


def refuse_empty(paths: Iterable[Path | str]) -> None:
    """Refuse an empty path, which is a mistake, such as a variable without a value.

    Raises:
        InputError: one of them is empty; ``Path("")``, the same as ``Path(".")``, is not.
    """
    if not all(map(str, paths)):
        raise InputError(
            "A path is empty: ''. Give the path of a file or folder; '.' is the current folder."
        )


def walk(paths: Iterable[Path | str], private: Path | None = None) -> Iterator[Found]:
    """Expand folders, sorted by name, files of a folder before its sub-folders.

    A file that is named itself is taken even when its name would be ignored inside of a folder,
    unless it is a lock or temporary file. Each path comes once, also when it is named twice, and
    so does each folder, by whatever links it is reached.

    Args:
        paths: files and folders.
        private: a folder that is never read, by whatever path: Emily's own data.
    """
    seen: set[Path] = set()
    known: dict[_Key, Path] = {}
    own = _key(private) if private is not None and private.exists() else None
    for given in paths:
        path = Path(absolute(given))
        for found in _named(path, known, own):
            if found.path not in seen:
                seen.add(found.path)
                yield found


def _key(path: Path) -> _Key:
    status = path.stat()
    return status.st_dev, status.st_ino


def _named(path: Path, known: dict[_Key, Path], own: _Key | None) -> Iterator[Found]:
    try:
        if own is not None and any(_key(part) == own for part in path.resolve().parents):
            yield Found(path, "failed", _OWN)
            return
        status = path.stat()
    except FileNotFoundError:
        what = "a link that leads nowhere" if path.is_symlink() else "no such file or folder"
        yield Found(path, "failed", what)
        return
    except (OSError, ValueError) as error:
        yield Found(path, "failed", _reason(error))
        return
    if stat.S_ISDIR(status.st_mode):
        yield from _folder(path, known, own)
    else:
        yield _file(path, status.st_mode, named=True)


def _folder(top: Path, known: dict[_Key, Path], own: _Key | None) -> Iterator[Found]:
    """What a folder holds, to any depth, so without recursion."""
    # Each folder with the keys of those around it: a link to one of them is a loop.
    stack: list[tuple[Path, frozenset[_Key], tuple[IgnoreFile, ...]]] = [(top, frozenset(), ())]
    while stack:
        folder, above, ignoring = stack.pop()
        try:
            key = _key(folder)
            if key == own:
                yield Found(folder, "ignored", _OWN)
                continue
            if key in above:
                yield Found(folder, "ignored", "a link to a folder that contains it")
                continue
            if known.setdefault(key, folder) != folder:
                yield Found(folder, "ignored", f"the same folder as {known[key]}")
                continue
            with os.scandir(folder) as entries:
                names = sorted(entry.name for entry in entries)
        except OSError as error:
            yield Found(folder, "failed", _reason(error))
            continue
        if IGNORE_FILE in names:
            try:
                ignoring = (*ignoring, IgnoreFile.read(folder / IGNORE_FILE))
            except (OSError, ValueError) as error:
                reason = f"it cannot be used, so nothing in its folder is read: {error}"
                yield Found(folder / IGNORE_FILE, "failed", reason)
                continue
        folders = []
        for name in names:
            found = _entry(folder / name)
            by = ignored_by(ignoring, folder / name, is_folder=found is None)
            if by is not None and (found is None or found.state == "file"):
                yield Found(folder / name, "ignored", f"by {by}")
            elif found is None:
                folders.append(folder / name)
            else:
                yield found
        stack += [(path, above | {key}, ignoring) for path in reversed(folders)]


def _entry(path: Path) -> Found | None:
    """An entry of a folder; ``None`` for a folder to look into."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        what = "a link that leads nowhere" if path.is_symlink() else "it vanished meanwhile"
        return Found(path, "ignored", what)
    except OSError as error:
        return Found(path, "failed", _reason(error))
    if not stat.S_ISDIR(mode):
        return _file(path, mode, named=False)
    return Found(path, "ignored", "a hidden folder") if path.name.startswith(".") else None


def _file(path: Path, mode: int, *, named: bool) -> Found:
    if not stat.S_ISREG(mode):
        return Found(path, "failed" if named else "ignored", f"not a file but a {_what(mode)}")
    lowered = path.name.lower()
    for pattern, what in _IGNORED:
        if fnmatch.fnmatchcase(lowered, pattern):
            return Found(path, "ignored", what)
    if path.name.startswith(".") and not named:
        return Found(path, "ignored", "a hidden file")
    if not os.access(path, os.R_OK):
        return Found(path, "failed", "no permission to read it")
    return Found(path, "file")


def _what(mode: int) -> str:
    if stat.S_ISFIFO(mode):
        return "pipe"
    if stat.S_ISSOCK(mode):
        return "socket"
    return "device"


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, PermissionError):
        return "no permission to read it"
    if isinstance(error, OSError):
        return f"it cannot be read: {error.strerror or error}"
    return f"it cannot be read: {error}"
