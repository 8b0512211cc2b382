"""The files of a vault, as they stand in the folder now; nothing is left out in silence.

Hidden files and folders (``.obsidian``, ``.trash``, ``.git``) and what ``.gitignore`` and
``.emilyignore`` name are left out. A link to a place outside of the folder is not followed, nor
one to a folder. Nothing is ever written. Standard library only.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal

from emily.reading.encodings import decode_text
from emily.vault.files import Kind, kind_of
from emily.vault.ignoring import Rule, is_ignored, read_rules

__all__ = ["IGNORE_FILES", "LARGEST", "FileSeen", "LeftOut", "Walk", "read_bytes", "reason", "walk"]

IGNORE_FILES: Final = (".gitignore", ".emilyignore")
LARGEST: Final = 64 * 1024 * 1024
"""Bytes of a file above which it is not read."""


@dataclass(frozen=True, slots=True)
class FileSeen:
    """A file of the vault.

    Attributes:
        path: relative to the vault, with ``/``.
        kind: ``attachment`` for what is not read but can be linked to.
        size: in bytes.
        modified: in nanoseconds since 1970.
        identity: device and inode, by which a moved file is known.
    """

    path: str
    kind: Kind
    size: int
    modified: int
    identity: tuple[int, int]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A file or folder that is not read.

    Attributes:
        path: relative to the vault, with ``/``; what is no text in it is shown as ``?``.
        state: ``ignored`` by a rule, or ``failed``.
        reason: why.
    """

    path: str
    state: Literal["ignored", "failed"]
    reason: str


@dataclass(frozen=True, slots=True)
class Walk:
    """What a folder holds: files sorted by path, and what was left out."""

    files: tuple[FileSeen, ...]
    left_out: tuple[LeftOut, ...]


@dataclass(slots=True)
class _Found:
    files: list[FileSeen] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)


def walk(folder: Path | str) -> Walk:
    """Look through a vault.

    Args:
        folder: the vault.

    Raises:
        OSError: the folder itself cannot be listed.
    """
    top = os.fspath(folder)
    real = os.path.realpath(top)
    found = _Found()
    stack: list[tuple[str, tuple[Rule, ...]]] = [("", ())]
    while stack:
        base, rules = stack.pop()
        try:
            with os.scandir(os.path.join(top, base)) as listed:  # noqa: PTH118
                entries = list(listed)
        except OSError as error:
            if not base:
                raise
            found.left_out.append(LeftOut(_shown(base[:-1]), "failed", reason(error)))
            continue
        rules += _rules_of(entries, base, found)
        for entry in entries:
            below = _take(entry, base, rules, real, found)
            if below is not None:
                stack.append((below, rules))
    found.files.sort(key=lambda file: file.path)
    found.left_out.sort(key=lambda each: each.path)
    return Walk(tuple(found.files), tuple(found.left_out))


def _rules_of(entries: Sequence[os.DirEntry[str]], base: str, found: _Found) -> tuple[Rule, ...]:
    rules: list[Rule] = []
    for name in IGNORE_FILES:
        for entry in entries:
            if entry.name != name:
                continue
            try:
                if not entry.is_file(follow_symlinks=False):
                    continue
                data = Path(entry.path).read_bytes()
            except OSError as error:
                found.left_out.append(LeftOut(base + name, "failed", reason(error)))
                continue
            rules += read_rules(decode_text(data, guess_scripts=False)[0].splitlines(), base)
    return tuple(rules)


def _take(
    entry: os.DirEntry[str], base: str, rules: tuple[Rule, ...], real: str, found: _Found
) -> str | None:
    """Note one entry; the path of a folder that is to be looked into."""
    name = entry.name
    path = base + name
    if name.startswith("."):
        return None
    try:
        name.encode()
    except UnicodeEncodeError:
        found.left_out.append(LeftOut(_shown(path), "failed", "its name is not valid text"))
        return None
    try:
        if entry.is_symlink():
            status = _linked(entry, path, real, found)
            if status is None:
                return None
        elif entry.is_dir(follow_symlinks=False):
            if rules and is_ignored(rules, path, folder=True):
                found.left_out.append(LeftOut(path, "ignored", "an ignore file names it"))
                return None
            return path + "/"
        else:
            status = entry.stat(follow_symlinks=False)
    except OSError as error:
        if error.errno != errno.ENOENT:  # deleted meanwhile
            found.left_out.append(LeftOut(path, "failed", reason(error)))
        return None
    if not stat.S_ISREG(status.st_mode):
        found.left_out.append(LeftOut(path, "ignored", "it is not a file"))
        return None
    if rules and is_ignored(rules, path, folder=False):
        found.left_out.append(LeftOut(path, "ignored", "an ignore file names it"))
        return None
    kind = kind_of(name)
    if kind != "attachment" and status.st_size > LARGEST:
        size = f"{status.st_size / 2**20:.0f} MB, the most is {LARGEST // 2**20} MB"
        found.left_out.append(LeftOut(path, "failed", f"it is too large to be read: {size}"))
        kind = "attachment"
    identity = (status.st_dev, status.st_ino)
    found.files.append(FileSeen(path, kind, status.st_size, status.st_mtime_ns, identity))
    return None


def _linked(entry: os.DirEntry[str], path: str, real: str, found: _Found) -> os.stat_result | None:
    """The status of what a symlink leads to, where that is a file of this vault."""
    target = os.path.realpath(entry.path)
    if target != real and not target.startswith(real.rstrip(os.sep) + os.sep):
        what = "a symlink out of the folder is not followed"
        found.left_out.append(LeftOut(path, "ignored", what))
        return None
    try:
        status = entry.stat()
    except OSError as error:
        what = "a symlink that leads nowhere" if error.errno == errno.ENOENT else reason(error)
        found.left_out.append(LeftOut(path, "ignored", what))
        return None
    if stat.S_ISDIR(status.st_mode):
        what = "a symlink to a folder of the vault, whose files stand there already"
        found.left_out.append(LeftOut(path, "ignored", what))
        return None
    what = "a symlink to a file of the vault, which stands there already"
    found.left_out.append(LeftOut(path, "ignored", what))
    return None


def read_bytes(folder: Path | str, path: str) -> bytes:
    """All bytes of a file of the vault.

    Raises:
        OSError: it cannot be read.
    """
    descriptor = os.open(os.path.join(folder, path), _FLAGS)  # noqa: PTH118
    try:
        parts = [os.read(descriptor, _AT_ONCE)]
        while parts[-1]:
            parts.append(os.read(descriptor, _AT_ONCE))
    finally:
        os.close(descriptor)
    return b"".join(parts)


_AT_ONCE: Final = 1 << 16
# A named pipe that has taken the place of a note must not hold up the search.
_FLAGS = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)


def reason(error: OSError) -> str:
    """Why a file or folder cannot be read, for the owner."""
    if isinstance(error, PermissionError):
        return "no permission to read it"
    return f"it cannot be read: {error.strerror or error}"


def _shown(path: str) -> str:
    return path.encode("utf-8", "replace").decode()
