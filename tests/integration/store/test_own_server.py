"""The owner's own server: reached by its address, checked, and never shown with its password."""

from __future__ import annotations

from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg
import pytest

from emily.errors import StoreError, StoreUnavailable
from emily.settings import load_settings
from emily.store import Database, EmbeddedServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def encoded_url(server: EmbeddedServer) -> Iterator[str]:
    """Address of a database that cannot store Unicode."""
    name = f"encoded_{uuid4().hex}"
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        connection.execute(
            f"CREATE DATABASE {name} ENCODING 'LATIN1' LOCALE 'C' LOCALE_PROVIDER libc "
            "TEMPLATE template0"
        )
    yield server.url(name)
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def guest_url(server: EmbeddedServer) -> Iterator[str]:
    """Address of an empty database in which its user may create nothing."""
    name = f"guest_{uuid4().hex}"
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
        connection.execute(f"CREATE ROLE {name} LOGIN PASSWORD 'a:b@c/d'")
    url = server.url(name)
    yield f"postgresql://{name}:a%3Ab%40c%2Fd@{url.split('@', 1)[1]}"
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
        connection.execute(f"DROP ROLE {name}")


async def _refusal(home: Path, url: str) -> StoreError:
    with pytest.raises(StoreError) as error:
        async with Database.open(load_settings(home, database_url=url)):
            pytest.fail("it was opened")
    return error.value


async def test_own_server_starts_nothing_in_the_home(database_url: str, home: Path) -> None:
    async with Database.open(load_settings(home, database_url=database_url)) as database:
        assert await database.fetch("applied_migrations")
    assert not home.exists()


async def test_server_that_is_not_there(home: Path, tmp_path: Path) -> None:
    url = f"postgresql://ada:s3cret@/brain?host={tmp_path}"
    error = await _refusal(home, url)
    assert isinstance(error, StoreUnavailable)
    assert str(error).startswith(f"postgresql://ada@{tmp_path}/brain cannot be reached: ")
    assert "s3cret" not in str(error)


async def test_wrong_password(database_url: str, home: Path, server: EmbeddedServer) -> None:
    password = psycopg.conninfo.conninfo_to_dict(database_url)["password"]
    error = await _refusal(home, database_url.replace(str(password), "s3cret"))
    assert "password authentication failed" in str(error)
    assert "s3cret" not in str(error)


async def test_missing_database(server: EmbeddedServer, home: Path) -> None:
    error = await _refusal(home, server.url("no_such_database"))
    assert 'database "no_such_database" does not exist' in str(error)


async def test_malformed_address(home: Path) -> None:
    error = await _refusal(home, "mysql://ada:s3cret@db/brain")
    assert "must look like postgresql://" in str(error)
    assert "s3cret" not in str(error)


async def test_encoding_that_is_not_unicode(encoded_url: str, home: Path) -> None:
    error = await _refusal(home, encoded_url)
    assert "has the encoding LATIN1; Emily needs UTF8" in str(error)


async def test_user_who_may_not_create(guest_url: str, home: Path) -> None:
    error = await _refusal(home, guest_url)
    assert "does not let this user create what Emily needs" in str(error)
    assert "CREATE EXTENSION IF NOT EXISTS vector" in str(error)


async def test_old_pgvector(server: EmbeddedServer, database_url: str, home: Path) -> None:
    with psycopg.connect(database_url) as connection:
        connection.execute("UPDATE pg_extension SET extversion = '0.7.4' WHERE extname = 'vector'")
    error = await _refusal(home, database_url)
    assert "has pgvector 0.7.4; Emily needs 0.8 or newer" in str(error)
    assert "ALTER EXTENSION vector UPDATE" in str(error)
