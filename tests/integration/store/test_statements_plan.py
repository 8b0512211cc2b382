"""Every named statement is understood by the server, against the migrated tables."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import psycopg

from emily.store.statements import load_statements

if TYPE_CHECKING:
    from emily.store import Database

_PARAMETER = re.compile(r"%\((\w+)\)[sb]")


def _numbered(text: str) -> str:
    """The statement with $1, $2, … in place of psycopg's named parameters."""
    names: list[str] = []

    def number(match: re.Match[str]) -> str:
        if match[1] not in names:
            names.append(match[1])
        return f"${names.index(match[1]) + 1}"

    return _PARAMETER.sub(number, text).replace("%%", "%")


async def test_every_statement_can_be_planned(database: Database) -> None:
    """Names, types and number of parameters fit the tables; nothing is run."""
    refused = []
    async with database.transaction() as connection:
        for item in load_statements():
            try:
                async with connection.transaction():
                    await connection.execute(f"EXPLAIN (GENERIC_PLAN) {_numbered(item.text)}")
            except psycopg.Error as error:
                refused.append(f"{item.file}: {item.name}: {error.diag.message_primary}")
    assert not refused, "\n".join(refused)
