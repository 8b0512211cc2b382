"""Private folders, files and locks: ours alone from the first moment, whatever the umask."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from emily.errors import StoreError, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from emily.store.identity import Identity

if sys.platform != "win32":
    import fcntl

__all__ = ["locked", "open_private", "private_folder", "socket_folder"]

# A socket's address holds 108 bytes on Linux and 104 on macOS; the server adds this name.
_SOCKET_NAME = "/.s.PGSQL.5432"
_SOCKET_BYTES = 100


def private_folder(folder: Path, identity: Identity) -> Path:
    """Create a folder of mode 0700 that belongs to the server's user, or check that it is so.

    A folder of ours with a laxer mode is closed; the modes of its parents are never touched.

    Raises:
        StoreError: it exists and is a link, no folder, or somebody else's.
    """
    try:
        folder.mkdir(mode=0o700)
    except FileExistsError:
        found = folder.lstat()
        if not stat.S_ISDIR(found.st_mode):
            kind = "a symbolic link" if stat.S_ISLNK(found.st_mode) else "no folder"
            raise StoreError(f"{folder} is {kind}; Emily needs a folder there.") from None
        if found.st_uid not in (identity.owner, os.geteuid()):
            raise StoreError(
                f"{folder} belongs to user {found.st_uid} and not to user {identity.owner}; "
                "Emily does not put private data there. Remove it or set EMILY_HOME to "
                "another folder."
            ) from None
    # mkdir subtracts the umask, and an older folder may be open: set the mode outright.
    folder.chmod(0o700)
    identity.give(folder)
    return folder


def open_private(path: Path, flags: int, identity: Identity) -> int:
    """Open a file of mode 0600, created if needed, never through a link; gives the descriptor."""
    descriptor = os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
        identity.give(descriptor)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


@contextlib.contextmanager
def locked(path: Path, identity: Identity, seconds: float, busy: str) -> Iterator[int]:
    """Hold the lock file ``path``; the system frees it when its holder dies.

    Gives its descriptor: a program that inherits it keeps the lock as long as it runs.

    Args:
        path: the file; created if needed, never removed.
        identity: whom the file belongs to.
        seconds: how long to wait for others to let go of it.
        busy: what others are doing that have it, for the error: a whole sentence.

    Raises:
        StoreUnavailable: others have held it for ``seconds``.
    """
    descriptor = open_private(path, os.O_RDWR, identity)
    try:
        deadline = time.monotonic() + seconds
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() > deadline:
                    raise StoreUnavailable(
                        f"{busy} It has held {path} for more than {seconds:g} s. Try again; if "
                        "it stays so, end that process."
                    ) from None
                time.sleep(0.05)
        yield descriptor
    finally:
        os.close(descriptor)


def socket_folder(database: Path, identity: Identity) -> Path:
    """The folder of mode 0700 for the server's socket: inside ``database`` if its path fits.

    A path that is too long, or that a connection string cannot express (a comma separates
    hosts there), is replaced by a private folder under ``XDG_RUNTIME_DIR`` or the temporary
    folder, named after user and database. If something of another owner or of a laxer mode
    is in that place, somebody may be lying in wait, and it is refused.

    Raises:
        StoreError: the place is taken, or too long as well.
    """
    inside = database / "run"
    if _fits(inside):
        return private_folder(inside, identity)
    digest = hashlib.sha256(os.fsencode(database)).hexdigest()[:16]
    outside = _runtime_folder(identity) / f"emily-{identity.owner}-{digest}"
    if not _fits(outside):
        raise StoreError(
            f"The path of the database socket would be {outside}{_SOCKET_NAME}, longer than "
            f"the {_SOCKET_BYTES} bytes that are possible. Set EMILY_HOME or TMPDIR to a "
            "shorter path."
        )
    if outside.is_symlink() or outside.exists():
        found = outside.lstat()
        mode = stat.S_IMODE(found.st_mode)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != identity.owner or mode != 0o700:
            raise StoreError(
                f"{outside} exists and is not a private folder of user {identity.owner} "
                f"(owner {found.st_uid}, mode {mode:04o}); the database socket is not put "
                "there. Remove it, or set EMILY_HOME to a shorter path."
            )
        return outside
    return private_folder(outside, identity)


def _fits(folder: Path) -> bool:
    encoded = os.fsencode(folder) + _SOCKET_NAME.encode()
    return len(encoded) < _SOCKET_BYTES and b"," not in encoded


def _runtime_folder(identity: Identity) -> Path:
    given = os.environ.get("XDG_RUNTIME_DIR")
    if given and identity.uid is None:
        folder = Path(given)
        if folder.is_absolute() and folder.is_dir():
            found = folder.stat()
            if found.st_uid == os.geteuid() and stat.S_IMODE(found.st_mode) == 0o700:
                return folder
    return Path(tempfile.gettempdir()).resolve()
