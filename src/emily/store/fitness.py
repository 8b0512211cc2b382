"""Whether a PostgreSQL server can hold the archive."""

from __future__ import annotations

import re
from dataclasses import dataclass

from emily.errors import StoreError

__all__ = ["ServerFacts", "check_fitness"]

_LEAST_SERVER = 15
_LEAST_VECTOR = (0, 8)


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What a server says of itself.

    Attributes:
        version_number: such as 180006 for 18.6.
        version: such as ``18.6``, as the server writes it.
        encoding: of the database, such as ``UTF8``.
        vector_installed: version of pgvector in this database, ``None`` if it is not there.
        vector_available: version of pgvector that the server could install.
    """

    version_number: int
    version: str
    encoding: str
    vector_installed: str | None
    vector_available: str | None


def check_fitness(facts: ServerFacts, where: str) -> None:
    """Make sure that the server is new enough, has pgvector and stores Unicode.

    Args:
        facts: what the server says of itself.
        where: the database as the user knows it, without its password.

    Raises:
        StoreError: it is not fit; the message has the value seen, the value needed and the
            command that helps.
    """
    if facts.version_number < _LEAST_SERVER * 10_000:
        raise StoreError(
            f"{where} runs PostgreSQL {facts.version}; Emily needs {_LEAST_SERVER} or newer. "
            "Upgrade the server, or unset EMILY_DATABASE_URL to use the embedded one."
        )
    if facts.encoding != "UTF8":
        raise StoreError(
            f"{where} has the encoding {facts.encoding}; Emily needs UTF8. Create the database "
            "with: CREATE DATABASE emily ENCODING 'UTF8' TEMPLATE template0"
        )
    needed = ".".join(map(str, _LEAST_VECTOR))
    package = f"postgresql-{facts.version_number // 10_000}-pgvector"
    if facts.vector_installed is None and facts.vector_available is None:
        raise StoreError(
            f"{where} has no pgvector; Emily needs {needed} or newer. Install it on the "
            f"server (on Debian: apt install {package}) and run in the database: "
            "CREATE EXTENSION vector"
        )
    version = facts.vector_installed or facts.vector_available or ""
    if _parts(version) >= _LEAST_VECTOR:
        return
    available = facts.vector_available
    if available is not None and _parts(available) >= _LEAST_VECTOR:
        helps = "Run in the database: ALTER EXTENSION vector UPDATE"
    else:
        helps = (
            f"Update it on the server (on Debian: apt install {package}) and run in the "
            "database: ALTER EXTENSION vector UPDATE"
        )
    raise StoreError(f"{where} has pgvector {version}; Emily needs {needed} or newer. {helps}")


def _parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])
