"""Writing a new file into a folder that the owner named for it: the first effect outside.

Never over a file, never outside of the folder, never into a vault.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from emily.errors import InputError
from emily.indexing.discretion import lies_in
from emily.settings import Settings
from emily.store import Database

__all__ = ["MOST_CHARACTERS", "WRITE_FILE", "FileWriter"]

WRITE_FILE = "write_file"
MOST_CHARACTERS = 200_000
_LONGEST_NAME = 200  # bytes
_ENDINGS = (".txt", ".md", ".csv", ".html", ".json", ".eml", ".ics")


class FileWriter:
    """Writes new files of text."""

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings

    async def wish(self, folder: str, name: str, text: str) -> dict[str, Any]:
        """The arguments of a wish to write a file, once they are such as could be done.

        Args:
            folder: one of those that the owner named; empty where there is but one.
            name: of the file.
            text: that it is to hold.

        Raises:
            InputError: they could not; the message says why.
        """
        place = self._folder(folder)
        if not name or name != Path(name).name or name.startswith((".", "-", "~")):
            raise InputError(f"The name {name[:80]!r} must be one of a file, without a folder.")
        if any(ord(letter) < 32 or letter in '<>:"|?*\\' for letter in name):
            raise InputError(f"The name {name[:80]!r} holds signs that a file's name may not.")
        if len(name.encode("utf-8", "replace")) > _LONGEST_NAME:
            raise InputError(f"The name is longer than {_LONGEST_NAME} bytes.")
        if not name.lower().endswith(_ENDINGS):
            raise InputError(f"The name {name!r} must end in one of: {', '.join(_ENDINGS)}")
        storable = "\0" not in text and not any("\ud800" <= sign <= "\udfff" for sign in text)
        if not text or len(text) > MOST_CHARACTERS or not storable:
            raise InputError(f"The text must have 1 to {MOST_CHARACTERS:,} characters of Unicode.")
        return {"path": str(place / name), "text": text}

    async def write(self, wish: Mapping[str, Any]) -> str:
        """Do what was approved; where it was done before, it stays as it is.

        Raises:
            InputError: the folder is no longer one to write into, or a file is in the way.
        """
        path, text = Path(wish["path"]), str(wish["text"])
        if await asyncio.to_thread(_holds, path, text):
            return f"{path} was written."
        await self.check(wish)
        try:
            await asyncio.to_thread(_write, path, text)
        except FileExistsError:
            raise InputError(f"There is a file {path} already; it is not written over.") from None
        except OSError as error:
            raise InputError(f"{path} cannot be written: {error.strerror}") from None
        return f"{path} was written."

    def _folder(self, given: str) -> Path:
        named = [Path(item).expanduser() for item in self._settings.writable_folders]
        if not named:
            raise InputError("The owner has named no folder to write into (writable_folders).")
        if not given.strip() and len(named) == 1:
            return named[0]
        for folder in named:
            if given in (str(folder), folder.name):
                return folder
        listed = ", ".join(folder.name for folder in named)
        raise InputError(f"The folder {given[:80]!r} is not one of those to write into: {listed}")

    async def check(self, wish: Mapping[str, Any]) -> None:
        """Whether a wish could be done now.

        Raises:
            InputError: it could not; the message says why.
        """
        path = Path(wish["path"])
        folders = [Path(item).expanduser() for item in self._settings.writable_folders]
        if path.parent not in folders:
            raise InputError(f"{path.parent} is not a folder to write into (writable_folders).")
        real = Path(os.path.realpath(path.parent))
        if not real.is_dir():
            raise InputError(f"The folder {path.parent} is not there.")
        vaults = [row["path"] for row in await self._database.fetch("list_vaults")]
        real_vaults = [os.path.realpath(item) for item in vaults]
        if lies_in(str(real), [*vaults, *real_vaults]):
            raise InputError(f"{path.parent} lies in a vault, and nothing is written there.")
        if lies_in(str(real), [os.path.realpath(self._settings.home)]):
            raise InputError(f"{path.parent} lies in Emily's home folder; name another one.")
        if os.path.lexists(path):
            raise InputError(f"There is a file {path} already; it is not written over.")


def _holds(path: Path, text: str) -> bool:
    try:
        return path.read_bytes() == text.encode()
    except (OSError, UnicodeEncodeError):
        return False


def _write(path: Path, text: str) -> None:
    # Whole or not at all, and never over what is there: a link is only made where there is none.
    beside = path.with_name(f".{path.name[:80]}.{os.getpid()}.new")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.link(beside, path, follow_symlinks=False)
    finally:
        beside.unlink()
