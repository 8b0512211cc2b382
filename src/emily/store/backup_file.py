"""The file of a backup: a tar of the rows and the originals, with a digest of every member.

In this order: ``manifest.json`` (what is in it, and what made it), ``tables/NAME`` (binary COPY),
``home/NAME`` (settings and questions), ``originals/ab/…``, and last ``digests.json``, without
which it is not whole.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from emily.errors import InputError, StoreError
from emily.store.snapshot import Contents

__all__ = ["FORM", "BackupReader", "BackupWriter", "Manifest"]

FORM = 1
"""Number of this form of file; raised when an older Emily could not read it any more."""

_MARK = "emily backup"
_MANIFEST, _DIGESTS = "manifest.json", "digests.json"
_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a backup says of itself.

    Attributes:
        made_at: ISO 8601.
        version: of the Emily that made it.
        server: version of the PostgreSQL that it is from.
        originals: whether the files themselves are in it.
        contents: of its database.
    """

    made_at: str
    version: str
    server: str
    originals: bool
    contents: Contents


class BackupWriter:
    """Writes a backup beside its place; it gets its name once it is whole.

    Args:
        file: its place.
        replace: whether it may take the place of another file.

    Raises:
        InputError: there is a file already, or it cannot be written there.
    """

    def __init__(self, file: Path, *, replace: bool = False) -> None:
        if file.exists() and not replace:
            raise InputError(f"{file} is there already. Choose another name, or remove it.")
        self._file = file
        self._digests: dict[str, str] = {}
        try:
            # mkstemp makes it readable by its owner alone.
            handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
        except OSError as error:
            raise InputError(f"{file} cannot be written: {error.strerror}.") from None
        self._made = Path(name)
        self._stream = os.fdopen(handle, "wb")
        self._tar = tarfile.open(fileobj=self._stream, mode="w", format=tarfile.PAX_FORMAT)  # noqa: SIM115

    def manifest(self, manifest: Manifest) -> None:
        """The first member."""
        self.add_bytes(
            _MANIFEST,
            _json(
                {
                    "form": FORM,
                    "what": _MARK,
                    "made_at": manifest.made_at,
                    "version": manifest.version,
                    "server": manifest.server,
                    "originals": manifest.originals,
                    **manifest.contents.as_json(),
                }
            ),
        )

    def add_bytes(self, name: str, data: bytes) -> None:
        """A small member."""
        self.add_stream(name, io.BytesIO(data), len(data))

    def add_stream(self, name: str, stream: BinaryIO, size: int) -> None:
        """A member of ``size`` bytes out of a stream."""
        digest = hashlib.sha256()
        info = tarfile.TarInfo(name)
        info.size, info.mode = size, 0o600
        self._tar.addfile(info, _Digesting(stream, digest.update))
        self._digests[name] = digest.hexdigest()

    def finish(self, missing: list[str]) -> int:
        """The last member, and the file's name; gives its size in bytes."""
        data = _json({"digests": self._digests, "missing": missing})
        info = tarfile.TarInfo(_DIGESTS)
        info.size, info.mode = len(data), 0o600
        self._tar.addfile(info, io.BytesIO(data))
        self._tar.close()
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._stream.close()
        size = self._made.stat().st_size
        self._made.replace(self._file)
        return size

    def give_up(self) -> None:
        """Remove what was written."""
        with suppress(OSError):
            self._stream.close()
        self._made.unlink(missing_ok=True)


class _Digesting(io.RawIOBase):
    """A stream whose bytes are shown to a digest as they pass."""

    def __init__(self, stream: BinaryIO, update: Callable[[bytes], object]) -> None:
        self._inner = stream
        self._update = update

    def read(self, size: int = -1) -> bytes:
        data = self._inner.read(size)
        self._update(data)
        return data


class BackupReader:
    """Reads a backup. Make it by ``BackupReader.open``, which looks at every byte of it first.

    Attributes:
        manifest: what it says of itself.
        missing: originals that were forgotten while it was made, by SHA-256.
    """

    def __init__(self, tar: tarfile.TarFile, manifest: Manifest, missing: tuple[str, ...]) -> None:
        self._tar = tar
        self.manifest = manifest
        self.missing = missing

    @classmethod
    @contextmanager
    def open(cls, file: Path) -> Iterator[BackupReader]:
        """Check a backup from end to end, and open it.

        Raises:
            InputError: it is missing, damaged, cut off, no backup of Emily's, or of a form that
                this version does not know.
        """
        try:
            stream = file.open("rb")
        except OSError as error:
            raise InputError(f"{file} cannot be read: {error.strerror}.") from None
        with stream:
            try:
                tar = tarfile.open(fileobj=stream, mode="r:")  # noqa: SIM115
            except tarfile.TarError:
                raise _foreign(file) from None
            with tar:
                manifest, missing = _checked(tar, file)
                yield cls(tar, manifest, missing)

    def names(self, folder: str) -> list[str]:
        """The members in a folder, in their order."""
        return [name for name in self._tar.getnames() if name.startswith(f"{folder}/")]

    def read(self, name: str) -> BinaryIO:
        """The bytes of a member."""
        found = self._tar.extractfile(name)
        if found is None:
            raise StoreError(f"The backup holds no {name}.")
        return found  # type: ignore[return-value]


def _checked(tar: tarfile.TarFile, file: Path) -> tuple[Manifest, tuple[str, ...]]:
    found: dict[str, str] = {}
    manifest: Manifest | None = None
    told: dict[str, Any] | None = None
    damaged = InputError(
        f"{file} is damaged or was cut off: it is not whole, and nothing of it was used. "
        "Use another copy of it."
    )
    try:
        for member in tar:
            stream = tar.extractfile(member) if member.isreg() else None
            if stream is None:
                raise _foreign(file)
            digest = hashlib.sha256()
            kept = bytearray()
            while block := stream.read(_BLOCK):
                digest.update(block)
                if member.name in (_MANIFEST, _DIGESTS):
                    kept += block
            if manifest is None:
                manifest = _manifest(member.name, bytes(kept), file)
            if member.name == _DIGESTS:
                told = json.loads(kept)
            else:
                found[member.name] = digest.hexdigest()
    except (tarfile.TarError, EOFError, OSError, ValueError) as error:
        raise (_foreign(file) if manifest is None else damaged) from error
    if manifest is None:
        raise _foreign(file)
    if told is None or told.get("digests") != found:
        raise damaged
    wanted = {f"tables/{table.name}" for table in manifest.contents.tables}
    if not wanted <= found.keys():
        raise damaged
    return manifest, tuple(told.get("missing", ()))


def _manifest(name: str, data: bytes, file: Path) -> Manifest:
    try:
        given = json.loads(data) if name == _MANIFEST else {}
    except ValueError:
        raise _foreign(file) from None
    if not isinstance(given, dict) or given.get("what") != _MARK:
        raise _foreign(file)
    form = given.get("form")
    if form != FORM:
        raise InputError(
            f"{file} was made by Emily {given.get('version')} in form {form}, and this version "
            f"reads form {FORM}. Update with: pip install --upgrade emily"
        )
    try:
        return Manifest(
            str(given["made_at"]),
            str(given["version"]),
            str(given["server"]),
            bool(given["originals"]),
            Contents.from_json(given),
        )
    except (KeyError, TypeError, ValueError, IndexError):
        raise _foreign(file) from None


def _foreign(file: Path) -> InputError:
    return InputError(f"{file} is no backup of Emily's. Make one with: emily backup FILE")


def _json(given: Any) -> bytes:
    return json.dumps(given, ensure_ascii=False, indent=1).encode()
