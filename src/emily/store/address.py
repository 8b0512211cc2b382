"""Addresses of databases: checked, and shown without what is secret in them."""

from __future__ import annotations

import psycopg
from psycopg.conninfo import conninfo_to_dict

from emily.errors import StoreError

__all__ = ["check_address", "redacted"]

_EXAMPLE = "postgresql://user:password@host:5432/database"


def check_address(url: str) -> None:
    """Make sure that libpq can make sense of ``EMILY_DATABASE_URL``.

    Raises:
        StoreError: it cannot; the message does not repeat the address, which may hold a
            password.
    """
    try:
        conninfo_to_dict(url)
    except psycopg.Error:
        raise StoreError(
            "EMILY_DATABASE_URL is no address of a PostgreSQL database. It must look like "
            f"{_EXAMPLE}; in the password, the characters @ : / ? # % are written as %40 %3A "
            "%2F %3F %23 %25."
        ) from None


def redacted(url: str) -> str:
    """The address with user, host, port and database, and nothing else of it.

    Built from the parts that are harmless and not by cutting out the others: a password may
    stand in the user part, in the query or in the keyword form.
    """
    try:
        parts = conninfo_to_dict(url)
    except psycopg.Error:
        return "(unreadable address)"
    user = f"{parts['user']}@" if parts.get("user") else ""
    host = parts.get("host") or parts.get("hostaddr") or ""
    port = f":{parts['port']}" if parts.get("port") else ""
    return f"postgresql://{user}{host}{port}/{parts.get('dbname') or ''}"
