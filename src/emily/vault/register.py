"""Which folders are vaults: a small file in the home folder, which outlives the database.

The database can be lost and made anew from the vaults; that they are vaults stands here. Search
without a database reads it too.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

from emily.errors import InputError, StoreError
from emily.settings import private_folder

__all__ = ["Register", "Registered", "named_like"]

_VERSION = 1
_NAME = re.compile(r"[^\W_][\w .-]*")


@dataclass(frozen=True, slots=True)
class Registered:
    """A folder that is a vault.

    Attributes:
        name: by which it is told from others.
        path: of the folder, absolute.
    """

    name: str
    path: str

    @property
    def folder(self) -> Path:
        """Its folder."""
        return Path(self.path)


class Register:
    """The file ``vaults.json`` of a home folder."""

    def __init__(self, home: Path) -> None:
        self.file = home / "vaults.json"

    def all(self) -> tuple[Registered, ...]:
        """Every vault, in the order in which they were added.

        Raises:
            StoreError: the file is there and is not one that Emily wrote.
        """
        try:
            found = json.loads(self.file.read_text(encoding="utf-8"))
            return tuple(
                Registered(str(item["name"]), str(item["path"])) for item in found["vaults"]
            )
        except FileNotFoundError:
            return ()
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StoreError(
                f"{self.file}, which names your vaults, cannot be read: {error}. Move it away, "
                "then name them again: emily vault add FOLDER"
            ) from None

    def add(self, folder: Path, name: str | None = None) -> Registered:
        """Name a folder as a vault; one that is named already keeps its name.

        Args:
            folder: absolute.
            name: ``None`` takes that of the folder.

        Raises:
            InputError: the name cannot be used, or the folder lies in another vault or around one.
        """
        known = self.all()
        path = str(folder)
        for item in known:
            if item.path == path:
                if name not in (None, item.name):
                    raise InputError(
                        f"The folder {path} is the vault {item.name!r} already. To call it "
                        f"{name!r}: emily vault remove {item.name}, then add it again."
                    )
                return item
            if _inside(path, item.path) or _inside(item.path, path):
                raise InputError(
                    f"The folder {path} and that of the vault {item.name!r}, {item.path}, lie in "
                    "each other; a file belongs to one vault. Add one of them only."
                )
        taken = {item.name.casefold() for item in known}
        if name is None:
            name = named_like(folder.name, taken)
        elif not _NAME.fullmatch(name) or name.isdigit():
            raise InputError(
                f"The name {name!r} of a vault cannot be used: a letter or digit first, then "
                "letters, digits, blanks, dots and hyphens; not a number alone."
            )
        elif name.casefold() in taken:
            raise InputError(f"There is a vault {name!r} already. Choose another with --name.")
        added = Registered(name, path)
        self._write([*known, added])
        return added

    def remove(self, vault: Registered) -> None:
        """Take a vault off the list."""
        self._write(item for item in self.all() if item != vault)

    def resolve(self, given: str) -> Registered:
        """The vault of that name or in that folder.

        Raises:
            InputError: there is none.
        """
        known = self.all()
        path = os.path.abspath(os.path.expanduser(given))  # noqa: PTH100, PTH111
        for item in known:
            if item.name.casefold() == given.casefold() or item.path == path:
                return item
        names = ", ".join(item.name for item in known) or "none yet; emily vault add FOLDER"
        raise InputError(f"There is no vault {given!r}. Vaults: {names}")

    def around(self, path: str) -> Registered | None:
        """The vault in whose folder a path lies."""
        return next((item for item in self.all() if _inside(path, item.path)), None)

    def inside(self, vault: Registered, given: str) -> str:
        """A note's path in a vault, where a path of the disk is given; else what was given."""
        path = os.path.abspath(os.path.expanduser(given))  # noqa: PTH100, PTH111
        folder = vault.path.rstrip("/") + "/"
        return path[len(folder) :] if path.startswith(folder) and Path(path).exists() else given

    def file_of(self, given: str) -> Path:
        """The file at a path of the disk, or at one inside of a vault.

        Raises:
            InputError: there is none.
        """
        path = Path(os.path.abspath(os.path.expanduser(given)))  # noqa: PTH100, PTH111
        for candidate in (path, *(item.folder / given for item in self.all())):
            if candidate.is_file():
                return candidate
        raise InputError(
            f"There is no file {given!r}, neither here nor in a vault. Answers cite PATH:LINE."
        )

    def placed(self, given: str) -> str:
        """The folder of the vault of that name; else what was given."""
        found = (item.path for item in self.all() if item.name.casefold() == given.casefold())
        return next(found, given)

    def _write(self, vaults: Iterable[Registered]) -> None:
        private_folder(self.file.parent)
        text = json.dumps(
            {"version": _VERSION, "vaults": [asdict(item) for item in vaults]},
            ensure_ascii=False,
            indent=1,
        )
        handle, name = tempfile.mkstemp(dir=self.file.parent, prefix=".vaults-")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        Path(name).replace(self.file)


def named_like(name: str, taken: Iterable[str]) -> str:
    """A name for a vault after that of its folder, and none that is taken.

    Args:
        name: of the folder.
        taken: names of other vaults, folded.
    """
    plain = re.sub(r"[^\w .-]+", " ", name).strip(" ._-") or "vault"
    if plain.isdigit():
        plain = f"vault {plain}"
    found, used, number = plain, set(taken), 2
    while found.casefold() in used:
        found, number = f"{plain} {number}", number + 1
    return found


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")
