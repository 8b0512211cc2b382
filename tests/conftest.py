"""What every test stands on: an empty home of its own, and one database server for all.

``settings`` and ``database`` give each test a fresh database on the shared server, copied
from a migrated one. The tests reach it as an owner's own server, by its address.
"""

from __future__ import annotations

import logging
import os
from typing import TYPE_CHECKING
from uuid import uuid4

import psycopg
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings
from psycopg.rows import dict_row

from emily.settings import Settings, load_settings
from emily.store import Database, EmbeddedServer
from emily.store.migrate import migrate

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

hypothesis_settings.register_profile(
    "emily",
    deadline=None,  # two cores that other work shares: time says nothing about an example
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
hypothesis_settings.load_profile("emily")

_KEPT = {"EMILY_BENCH_DATA"}  # where the tests find public data, no setting
_TEMPLATE = "emily_template"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The home folder of this test, not created yet; nothing reaches the owner's own."""
    for name in list(os.environ):
        if name.startswith("EMILY_") and name not in _KEPT:
            monkeypatch.delenv(name)
    folder = tmp_path / "home"
    monkeypatch.setenv("EMILY_HOME", str(folder))
    return folder


@pytest.fixture(autouse=True)
def _log_of_this_test() -> None:
    """The program and its OCR set up the log of a process; each test begins with a fresh one."""
    logger = logging.getLogger("emily")
    logger.handlers.clear()
    logger.propagate = True
    logger.setLevel(logging.NOTSET)
    logging.disable(logging.NOTSET)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedServer]:
    """The server that all tests share, stopped at the end. It trades safety for speed."""
    shared = EmbeddedServer(
        tmp_path_factory.mktemp("server") / "home",
        options={"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"},
    )
    try:
        shared.start()
        yield shared
    finally:
        shared.stop()


@pytest.fixture(scope="session")
async def template(server: EmbeddedServer) -> str:
    """Name of a migrated, empty database, to copy and never to connect to."""
    _administer(server, f"CREATE DATABASE {_TEMPLATE}")
    connection = await psycopg.AsyncConnection.connect(
        server.url(_TEMPLATE), autocommit=True, row_factory=dict_row
    )
    async with connection:
        await migrate(connection)
    return _TEMPLATE


@pytest.fixture
def database_url(server: EmbeddedServer, template: str) -> Iterator[str]:
    """Address of a fresh, migrated database."""
    name = f"test_{uuid4().hex}"
    # Copied as files: half the time of a copy through the log, which is kept for nobody here.
    _administer(server, f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
    try:
        yield server.url(name)
    finally:
        _administer(server, f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def settings(home: Path, database_url: str) -> Settings:
    """Settings of an empty home on a fresh database."""
    return load_settings(home, database_url=database_url)


@pytest.fixture
async def database(settings: Settings) -> AsyncIterator[Database]:
    """A fresh database, open."""
    async with Database.open(settings) as opened:
        yield opened


def _administer(server: EmbeddedServer, sql: str) -> None:
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        connection.execute(sql)
