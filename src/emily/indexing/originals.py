"""The files themselves, kept under the SHA-256 of their bytes.

An archive must outlive the folder a file was added from. A copy is complete or absent: it is
written beside its place, flushed to disk, and renamed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path

import psutil

from emily.settings import private_folder

__all__ = ["Originals", "file_sha256"]

_BLOCK = 1 << 20
_PART = ".part-"  # before the process that writes it


def file_sha256(path: Path) -> bytes:
    """SHA-256 of a file's bytes, 32 bytes.

    Raises:
        OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


class Originals:
    """The folder of kept files, ``originals/ab/abcdef….pdf``."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, sha256: bytes, suffix: str) -> Path:
        """Where the file with this digest lies or would lie."""
        name = sha256.hex()
        return self.folder / name[:2] / (name + _safe(suffix))

    def keep(self, source: Path, sha256: bytes) -> Path:
        """Copy a file in, unless it is there already.

        Raises:
            OSError: it cannot be read or written.
            ValueError: its bytes are no longer those of ``sha256``.
        """
        target = self.path(sha256, source.suffix)
        if target.exists():
            return target
        private_folder(target.parent)
        digest = hashlib.sha256()
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f"{_PART}{os.getpid()}-")
        try:
            with os.fdopen(handle, "wb") as copy, source.open("rb") as file:
                while block := file.read(_BLOCK):
                    digest.update(block)
                    copy.write(block)
                copy.flush()
                os.fsync(copy.fileno())
            if digest.digest() != sha256:
                raise ValueError(f"{source} changed while it was being copied.")
            Path(name).replace(target)
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                Path(name).unlink()
            raise
        return target

    def forget(self, sha256: bytes) -> None:
        """Delete the file with this digest, whatever its suffix; absent is fine."""
        name = sha256.hex()
        for path in (self.folder / name[:2]).glob(f"{name}*"):
            path.unlink(missing_ok=True)

    def sweep(self) -> int:
        """Delete what processes left half-copied that live no longer; gives how many."""
        swept = 0
        for path in self.folder.glob(f"??/{_PART}*"):
            process = path.name.removeprefix(_PART).partition("-")[0]
            if not process.isdigit() or not psutil.pid_exists(int(process)):
                path.unlink(missing_ok=True)
                swept += 1
        return swept

    def missing(self, known: Iterable[bytes]) -> list[bytes]:
        """Digests of ``known`` whose file is not here."""
        names = {path.name.partition(".")[0] for path in self.folder.glob("??/*")}
        return [digest for digest in known if digest.hex() not in names]

    def strays(self, known: Iterable[bytes]) -> list[Path]:
        """Files here that belong to no document of ``known``: left by a killed ``add``."""
        names = {digest.hex() for digest in known}
        return sorted(
            path
            for path in self.folder.glob("??/*")
            if path.is_file() and path.name.partition(".")[0] not in names
        )


def _safe(suffix: str) -> str:
    """The suffix, if it is a plain one: it becomes part of a name that we choose."""
    plain = suffix.lower()
    return plain if plain[1:].isascii() and plain[1:].isalnum() and len(plain) <= 10 else ""
