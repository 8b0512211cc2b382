"""The queue's schema is that of the package that is installed, whatever migrations made it."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from procrastinate.schema import SchemaManager

from emily.store import Database

_COLUMNS = """
SELECT table_name, column_name, data_type, udt_name, is_nullable,
       replace(column_default, %(schema)s || '.', '') AS column_default
FROM information_schema.columns WHERE table_schema = %(schema)s ORDER BY 1, 2
"""
_INDEXES = """
SELECT indexname, replace(indexdef, %(schema)s || '.', '') AS definition
FROM pg_indexes WHERE schemaname = %(schema)s ORDER BY 1
"""
_FUNCTIONS = """
SELECT proname, prosrc, replace(pg_get_function_arguments(oid), %(schema)s || '.', '') AS arguments
FROM pg_proc WHERE pronamespace = %(schema)s::regnamespace ORDER BY 1, 3
"""
_TRIGGERS = """
SELECT tgname, replace(pg_get_triggerdef(t.oid), %(schema)s || '.', '') AS definition
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = %(schema)s::regnamespace AND NOT t.tgisinternal ORDER BY 1
"""
_VALUES = """
SELECT t.typname, e.enumlabel FROM pg_type t JOIN pg_enum e ON e.enumtypid = t.oid
WHERE t.typnamespace = %(schema)s::regnamespace ORDER BY t.typname, e.enumsortorder
"""


async def test_our_migrations_make_the_schema_of_the_installed_package(database: Database) -> None:
    name = f"fresh_{uuid4().hex[:8]}"
    async with database.transaction() as connection:

        async def described(schema: str) -> list[Any]:
            found: list[Any] = []
            for query in (_COLUMNS, _INDEXES, _FUNCTIONS, _TRIGGERS, _VALUES):
                cursor = await connection.execute(query, {"schema": schema})
                found.append(await cursor.fetchall())
            return found

        await connection.execute(f"CREATE SCHEMA {name}")
        await connection.execute(f"SET LOCAL search_path TO {name}")
        await connection.execute(SchemaManager.get_schema())
        await connection.execute("SET LOCAL search_path TO DEFAULT")
        ours, theirs = await described("emily_jobs"), await described(name)
    for mine, installed in zip(ours, theirs, strict=True):
        assert mine == installed
    assert all(ours)
