"""The files of a PostgreSQL cluster: created, checked, handed over."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

from emily.errors import StoreError
from emily.store.binaries import binary, major_version
from emily.store.folders import open_private

if TYPE_CHECKING:
    from emily.store.identity import Identity

__all__ = ["USER", "check_version", "create_cluster", "hand_over", "tail"]

USER = "emily"


def create_cluster(data: Path, password_file: Path, identity: Identity, lock: int) -> None:
    """Create the cluster ``data`` with a new random password.

    It is made aside and moved into place when it is whole, so that one whose making was
    interrupted never counts, and the next start begins anew.

    Args:
        data: folder of the cluster, which does not exist yet.
        password_file: where its password goes, mode 0600.
        identity: as whom to run ``initdb``.
        lock: descriptor of the lock that is held meanwhile.

    Raises:
        StoreError: ``initdb`` failed; the message quotes it.
    """
    for leftover in data.parent.glob(f"{data.name}.new-*"):
        shutil.rmtree(leftover, ignore_errors=True)
    if data.exists():
        raise StoreError(
            f"{data} exists but holds no database (no file PG_VERSION). If nothing in it "
            "matters, remove it; the next start creates it anew."
        )
    fresh = data.with_name(f"{data.name}.new-{secrets.token_hex(4)}")
    descriptor = open_private(password_file, os.O_WRONLY | os.O_TRUNC, identity)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(secrets.token_urlsafe(32))
        file.flush()
        os.fsync(file.fileno())
    arguments = [
        *("-D", str(fresh), "-U", USER, "--pwfile", str(password_file)),
        *("--auth=scram-sha-256", "--encoding=UTF8", "--locale=C"),
        # Case and character classes by Unicode, the same on every platform.
        *("--locale-provider=builtin", "--builtin-locale=C.UTF-8"),
    ]
    result = subprocess.run(
        [*identity.prefix, binary("initdb"), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(lock,),  # if we are killed, nobody else begins until initdb has ended
        check=False,
        **identity.process_options(),
    )
    if result.returncode != 0:
        shutil.rmtree(fresh, ignore_errors=True)
        said = result.stdout.decode("utf-8", "replace")
        raise StoreError(f"The database could not be created in {data.parent}:\n{tail(said)}")
    with (fresh / "postgresql.conf").open("a") as file:
        file.write("\ninclude_if_exists 'emily.conf'  # written at every start\n")
    fresh.rename(data)


def check_version(data: Path) -> None:
    """Make sure that the installed PostgreSQL can read the cluster.

    Raises:
        StoreError: another major version made it.
    """
    found = (data / "PG_VERSION").read_text().strip()
    if found != str(major_version()):
        raise StoreError(
            f"{data} was made by PostgreSQL {found}, and this installation brings PostgreSQL "
            f"{major_version()}. Install the version of Emily that made it and run: emily backup "
            f"FILE. Then move {data.parent} away, install this version again and run: emily "
            "restore FILE. A backup is read by any version of PostgreSQL."
        )


def hand_over(data: Path, password_file: Path, identity: Identity) -> None:
    """Give the cluster to the account that is to run it, if it is not that account's yet."""
    if identity.uid is None or data.stat().st_uid == identity.uid:
        return
    for parent, folders, files in os.walk(data):
        for name in (*folders, *files):
            identity.give(Path(parent) / name)
    identity.give(password_file)
    identity.give(data)  # last: an interrupted handing over is taken up again


def tail(text: str, lines: int = 8) -> str:
    """The last lines of what a program said."""
    return "\n".join(text.strip().splitlines()[-lines:]) or "(nothing was said)"
