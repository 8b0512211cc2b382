"""The owner's list of categories."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass

from emily.errors import InputError
from emily.store import Connection, Database, statement

__all__ = ["Categories", "Category", "categories_digest"]

_LONGEST_NAME = 80
_LONGEST_TEXT = 2_000


@dataclass(frozen=True, slots=True)
class Category:
    """One of the owner's categories.

    Attributes:
        id: its number.
        name: as the owner wrote it.
        description: what belongs to it, perhaps empty.
        examples: texts of what belongs to it.
        documents: how many documents were given it.
    """

    id: int
    name: str
    description: str
    examples: tuple[str, ...]
    documents: int


def categories_digest(categories: Sequence[Category]) -> str:
    """What a document's categories depend on beside its summary; a short digest of the list."""
    listed = [[item.name, item.description, list(item.examples)] for item in categories]
    return hashlib.sha256(json.dumps(listed, ensure_ascii=False).encode()).hexdigest()[:12]


class Categories:
    """The categories of one archive."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def all(self) -> list[Category]:
        """By name.

        Raises:
            StoreUnavailable: the database is lost.
        """
        return [
            Category(
                row["id"],
                row["name"],
                row["description"],
                tuple(row["examples"]),
                row["documents"],
            )
            for row in await self._database.fetch("list_categories")
        ]

    async def add(
        self, name: str, description: str = "", examples: Sequence[str] = ()
    ) -> tuple[Category, bool]:
        """Add a category; one that is there gets the description and the further examples.

        Args:
            name: on one line, at most 80 characters; its case does not matter.
            description: what belongs to it.
            examples: texts of what belongs to it.

        Returns:
            the category, and whether it is new.

        Raises:
            InputError: a text is empty or too long.
            StoreError: the database cannot take it.
        """
        values = {
            "name": _line(name, "name of a category", _LONGEST_NAME),
            "description": _line(description, "description", _LONGEST_TEXT) if description else "",
            "examples": [_line(text, "example", _LONGEST_TEXT) for text in examples],
        }

        async def work(connection: Connection) -> tuple[int, bool]:
            cursor = await connection.execute(statement("add_category"), values)
            row = await cursor.fetchone()
            assert row is not None
            return row["id"], row["is_new"]

        identity, new = await self._database.run(work)
        return next(item for item in await self.all() if item.id == identity), new

    async def remove(self, name: str) -> str:
        """Remove a category from the list and from every document; gives its name.

        Raises:
            InputError: there is none of this name.
            StoreError: the database cannot take it.
        """
        if not await self._database.execute("remove_category", {"name": " ".join(name.split())}):
            raise await self.unknown(name)
        return " ".join(name.split())

    async def named(self, names: Sequence[str]) -> list[Category]:
        """The categories of these names, whatever their case.

        Raises:
            InputError: there is none of a name.
        """
        known = {item.name.casefold(): item for item in await self.all()}
        found = []
        for name in names:
            item = known.get(" ".join(name.split()).casefold())
            if item is None:
                raise await self.unknown(name)
            found.append(item)
        return found

    async def unknown(self, name: str) -> InputError:
        """The error for a name that is none."""
        listed = ", ".join(item.name for item in await self.all()) or "none"
        return InputError(
            f"There is no category {name!r}. Categories: {listed}. "
            "Add one with: emily categories add NAME"
        )


def _line(text: str, what: str, longest: int) -> str:
    """A text on one line, as the database takes it."""
    line = " ".join(text.replace("\0", " ").encode("utf-8", "replace").decode().split())
    if not line:
        raise InputError(f"The {what} is empty: {text!r}.")
    if len(line) > longest:
        raise InputError(f"The {what} has {len(line)} characters. At most {longest} are allowed.")
    return line
