"""As whom the server's programs run.

PostgreSQL refuses to run as root. A normal user runs it as himself. For root there are two
ways, in this order:

1. A user namespace in which root appears as an ordinary account. Nothing changes hands: the
   files stay root's, and no other account can reach them.
2. Where namespaces are not permitted (many containers), an unprivileged account that exists,
   to which the database folder is then given.

If the folder belongs to another user already, root runs the server as that user, so that the
owner of the files can still use them afterwards.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from emily.errors import StoreError
from emily.store.binaries import binary_folder, server_environment

if sys.platform != "win32":
    import pwd

__all__ = ["Identity", "account", "choose_identity", "namespace"]

_ACCOUNTS = ("postgres", "nobody", "daemon")


@dataclass(frozen=True, slots=True)
class Identity:
    """How to start a program as the user of the server.

    Attributes:
        name: the account, for messages.
        prefix: words before the command line (a program that enters the namespace).
        uid: user to change to, ``None`` to stay what we are.
        gid: group to change to, ``None`` to stay.
    """

    name: str
    prefix: tuple[str, ...] = ()
    uid: int | None = None
    gid: int | None = None

    def process_options(self) -> dict[str, Any]:
        """Keyword arguments for ``subprocess`` that make the change of user."""
        options: dict[str, Any] = {"umask": 0o077, "cwd": "/", "env": server_environment()}
        if self.uid is not None:
            options |= {"user": self.uid, "group": self.gid, "extra_groups": []}
        return options

    @property
    def owner(self) -> int:
        """Uid that the server's files belong to."""
        return os.geteuid() if self.uid is None else self.uid

    def give(self, target: int | Path) -> None:
        """Hand a file, or an open file descriptor, to this identity."""
        if self.uid is None or self.gid is None:
            return
        if isinstance(target, int):
            os.fchown(target, self.uid, self.gid)
        else:
            os.chown(target, self.uid, self.gid, follow_symlinks=False)

    def check_reach(self, folder: Path) -> None:
        """Make sure that this identity may enter the programs' folder and the data's.

        Raises:
            StoreError: it may not; the message names the folder that is in the way.
        """
        if self.uid is None and not self.prefix:
            return
        for wanted in (binary_folder(), folder):
            result = subprocess.run(
                [*self.prefix, "/bin/sh", "-c", 'cd "$1"', "sh", str(wanted)],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                **self.process_options(),
            )
            if result.returncode != 0:
                raise StoreError(
                    f"PostgreSQL cannot run as you here, and '{self.name}', as whom it would "
                    f"run, cannot enter {_obstacle(wanted)}, on the way to {wanted}. Run Emily "
                    "as a normal user, or set EMILY_HOME to a folder that can be reached so, "
                    "or set EMILY_DATABASE_URL to your own server."
                )


def account(name_or_uid: str | int) -> Identity:
    """The identity that changes to an existing account.

    Raises:
        StoreError: there is no such account.
    """
    try:
        if isinstance(name_or_uid, int):
            entry = pwd.getpwuid(name_or_uid)
        else:
            entry = pwd.getpwnam(name_or_uid)
    except KeyError:
        raise StoreError(
            f"The database would have to run as user {name_or_uid}, which is not an account of "
            "this machine. Give its folder to an account that exists, or run Emily as it."
        ) from None
    return Identity(entry.pw_name, uid=entry.pw_uid, gid=entry.pw_gid)


@cache
def namespace() -> Identity | None:
    """Us, seen as an ordinary account in a user namespace; ``None`` where none is permitted."""
    program = shutil.which("unshare")
    entry = _unprivileged()
    if program is None or entry is None:
        return None
    prefix = (program, "--user", f"--map-user={entry[1]}", f"--map-group={entry[2]}")
    identity = Identity(f"yourself, seen as {entry[0]}", prefix=prefix)
    try:
        probe = subprocess.run(
            [*prefix, "/bin/sh", "-c", "id -u"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=10,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return identity if probe.stdout.strip() == str(entry[1]) else None


def choose_identity(folder: Path, home: Path) -> Identity:
    """As whom to run the server whose files are in ``folder``, a folder inside ``home``.

    Neither need exist yet.

    Raises:
        StoreError: the folder belongs to somebody else, or there is no way to run it.
    """
    owner = folder.stat().st_uid if folder.exists() else None
    us = os.geteuid()
    if us != 0:
        if owner not in (None, us):
            raise StoreError(
                f"{folder} belongs to user {owner}, and Emily runs as user {us}. Run Emily as "
                "its owner, or set EMILY_HOME to a folder of your own."
            )
        return Identity("yourself") if _has_account(us) else _nameless(us)
    if owner is None and home.exists() and _has_account(home.stat().st_uid):
        owner = home.stat().st_uid
    if owner:
        return account(owner)
    inside = namespace()
    if inside is not None:
        return inside
    entry = _unprivileged()
    if entry is None:
        raise StoreError(
            "PostgreSQL does not run as root, user namespaces are not permitted here, and "
            f"none of the accounts {', '.join(_ACCOUNTS)} exists. Run Emily as a normal user, "
            "or set EMILY_DATABASE_URL to your own server."
        )
    return account(entry[0])


def _nameless(uid: int) -> Identity:
    """A number without an account, as containers use it: PostgreSQL insists on a name."""
    inside = namespace()
    if inside is None:
        raise StoreError(
            f"Emily runs as user {uid}, which is no account of this machine, and PostgreSQL "
            f"needs one. Add it (useradd --uid {uid} emily), run Emily as an account that "
            "exists, or set EMILY_DATABASE_URL to your own server."
        )
    return inside


def _has_account(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _unprivileged() -> tuple[str, int, int] | None:
    for name in _ACCOUNTS:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        if entry.pw_uid != 0:
            return entry.pw_name, entry.pw_uid, entry.pw_gid
    return None


def _obstacle(folder: Path) -> Path:
    """The topmost folder on the way that is closed to others; ``folder`` if none is."""
    for parent in reversed(folder.parents):
        if not parent.stat().st_mode & 0o001:
            return parent
    return folder
