"""Settings in the database: a row stands above the file and the default while it exists."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg.rows import dict_row

from emily.errors import SettingError
from emily.settings import Settings, kept_in_file, no_such_setting
from emily.store.database import Database
from emily.store.failures import explained
from emily.store.server import EmbeddedServer
from emily.store.statements import statement

if TYPE_CHECKING:
    import datetime as dt
    from collections.abc import AsyncIterator

__all__ = ["SettingChange", "SettingRegistry", "in_force"]


@dataclass(frozen=True, slots=True)
class SettingChange:
    """What setting or unsetting came to.

    Attributes:
        name: of the setting.
        before: value that was in force.
        value: value that is in force now.
        stale: what of the archive the change makes stale; ``None`` if nothing, or no change.
        overridden: what stands above the row, so that it changes nothing: the name of a
            variable of the environment; ``None`` if nothing does.
    """

    name: str
    before: Any
    value: Any
    stale: str | None
    overridden: str | None


class SettingRegistry:
    """Reads and writes the rows of a database.

    Args:
        database: the store.
        settings: as they are without rows.
    """

    def __init__(self, database: Database, settings: Settings) -> None:
        self._database = database
        self._settings = settings

    @classmethod
    @contextlib.asynccontextmanager
    async def open(cls, settings: Settings) -> AsyncIterator[SettingRegistry]:
        """Open the database alone: a row that cannot be used must not stop its own removal."""
        async with Database.open(settings) as database:
            yield cls(database, settings)

    async def rows(self) -> dict[str, Any]:
        """Value by name, as it was set."""
        return {row["name"]: row["value"] for row in await self._database.fetch("setting_rows")}

    async def times(self) -> dict[str, dt.datetime]:
        """When each row was set."""
        return {row["name"]: row["set_at"] for row in await self._database.fetch("setting_rows")}

    async def in_force(self) -> Settings:
        """The settings with their rows.

        Raises:
            SettingError: a row cannot be used; the message names the command that takes it out.
        """
        return self._settings.with_rows(await self.rows())

    async def set(self, name: str, given: str) -> SettingChange:
        """Set a row.

        Args:
            name: of the setting.
            given: its value as it is typed: ``0.1``, ``true``, ``it,en``.

        Raises:
            SettingError: there is no such setting, it has no row, or the value is out of bounds.
        """
        known(name)
        reason = kept_in_file(name)
        if reason is not None:
            raise SettingError(
                f"The setting {name!r} is not kept in the database: {reason}. "
                f"It is set in {self._settings.home / 'settings.toml'} or as EMILY_{name.upper()}."
            )
        rows = await self.rows()
        before = getattr(self._usable(rows, name), name)
        # Looked at without what stands above it: the row must be right by itself.
        bare = self._settings.model_copy()
        bare._given = frozenset({"home", "database_url"} & self._settings.given)
        wanted = {name: _typed(name, given)}
        alone = bare.with_rows(wanted, typed=name) if self._wrong(rows, name) else None
        checked = alone or bare.with_rows(self._others(rows, name) | wanted, typed=name)
        value = checked.model_dump(mode="json")[name]
        await self._database.execute("set_setting", {"name": name, "value": json.dumps(value)})
        return self._change(name, before, self._usable(rows | {name: value}, name))

    async def unset(self, name: str) -> SettingChange:
        """Take a row out; the file, or else the default, is in force again.

        Also takes out a row that this version of Emily does not know.

        Raises:
            SettingError: there is no such row.
        """
        rows = await self.rows()
        if name not in rows:
            known(name)
            raise SettingError(
                f"The setting {name!r} has no row in the database. emily config list shows where "
                "each value comes from."
            )
        await self._database.execute("unset_setting", {"name": name})
        if name not in Settings.model_fields:
            return SettingChange(name, rows[name], None, None, None)
        after = self._usable(self._others(rows, name), name)
        with contextlib.suppress(SettingError):
            return self._change(name, getattr(self._settings.with_rows(rows), name), after)
        return self._change(name, rows[name], after)  # it was one that could not be used

    def _wrong(self, rows: Mapping[str, Any], name: str) -> bool:
        """Whether another row cannot be used; then this one is looked at by itself."""
        try:
            self._settings.with_rows(self._others(rows, name))
        except SettingError:
            return True
        return False

    def _usable(self, rows: Mapping[str, Any], name: str) -> Settings:
        """The settings with their rows; another row that is wrong does not matter for this one."""
        try:
            return self._settings.with_rows(rows)
        except SettingError:
            pass
        with contextlib.suppress(SettingError):
            return self._settings.with_rows({key: rows[key] for key in rows if key == name})
        return self._settings

    def _others(self, rows: Mapping[str, Any], name: str) -> dict[str, Any]:
        return {key: value for key, value in rows.items() if key != name}

    def _change(self, name: str, before: Any, now: Settings) -> SettingChange:
        value = getattr(now, name)
        extra = Settings.model_fields[name].json_schema_extra
        stale = extra.get("stale") if isinstance(extra, dict) else None
        above = name in self._settings.given
        return SettingChange(
            name,
            before,
            value,
            stale if isinstance(stale, str) and value != before else None,
            f"EMILY_{name.upper()}" if above else None,
        )


def known(name: str) -> None:
    """Refuse a name that no setting has.

    Raises:
        SettingError: so.
    """
    if name not in Settings.model_fields:
        raise SettingError(f"{no_such_setting(name)} All settings: emily config list")


def _typed(name: str, given: str) -> Any:
    """What was typed, as the setting's type reads it; an empty text unsets what may be unset."""
    annotation = str(Settings.model_fields[name].annotation)
    return None if not given and "None" in annotation else given


async def in_force(settings: Settings) -> Settings:
    """The settings with the rows of their database, for work that opens no archive.

    A home whose database is not made yet, or is older than its rows, has none.

    Raises:
        StoreError: the database is there and cannot be asked.
        SettingError: a row cannot be used.
    """
    if settings.database_url:
        conninfo = settings.database_url
    else:
        server = EmbeddedServer(settings.home)
        if not (server.folder / "data").is_dir():
            return settings
        await asyncio.to_thread(server.start)
        conninfo = server.conninfo()
    with explained("The database"):
        connection = await psycopg.AsyncConnection.connect(
            conninfo, autocommit=True, row_factory=dict_row, connect_timeout=10
        )
        async with connection:
            try:
                cursor = await connection.execute(statement("setting_rows"))
            except psycopg.errors.UndefinedTable:
                return settings
            rows = {row["name"]: row["value"] for row in await cursor.fetchall()}
    return settings.with_rows(rows)
