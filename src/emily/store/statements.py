"""SQL in named statements, read from the files ``sql/*.sql`` of this package.

A file holds any number of statements. Each has a heading, and the comment lines right above
the heading describe it::

    -- Documents of one kind, the newest first.
    -- name: documents_of_kind
    SELECT id, name FROM document WHERE kind = %(kind)s::text ORDER BY added_at DESC

Parameters are psycopg's named ones; a literal percent sign is written twice. A statement
ends where the comments of the next heading begin, or at the end of the file. Comments at
the top of a file, set off by a blank line, belong to the file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from emily.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["Statement", "Statements", "load_statements", "statement"]

_HEADING = re.compile(r"--\s*name:\s*(?P<name>.*?)\s*")
_NAME = re.compile(r"[a-z][a-z0-9_]*")


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement: its name, its SQL, what it is for, and the file that holds it."""

    name: str
    text: str
    description: str
    file: str


class Statements:
    """Statements by name.

    Args:
        files: pairs of a file's name and its text.

    Raises:
        StoreError: a name is malformed or used twice, a statement is empty, or SQL stands
            before the first heading.
    """

    def __init__(self, files: Iterable[tuple[str, str]]) -> None:
        self._by_name: dict[str, Statement] = {}
        for file, text in files:
            for found in _parse(file, text):
                if found.name in self._by_name:
                    other = self._by_name[found.name].file
                    raise StoreError(f"Statement '{found.name}' is in {other} and again in {file}.")
                self._by_name[found.name] = found

    def __getitem__(self, name: str) -> Statement:
        try:
            return self._by_name[name]
        except KeyError:
            raise StoreError(
                f"No statement is called '{name}'. Statements: {', '.join(sorted(self._by_name))}"
            ) from None

    def __iter__(self) -> Iterator[Statement]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)


@cache
def load_statements() -> Statements:
    """All statements of this package, read once."""
    folder = resources.files("emily.store") / "sql"
    files = sorted(
        (item for item in folder.iterdir() if item.name.endswith(".sql")),
        key=lambda item: item.name,
    )
    return Statements((item.name, item.read_text("utf-8")) for item in files)


def statement(name: str) -> str:
    """The SQL of a statement.

    Raises:
        StoreError: no statement has this name; the message lists those that exist.
    """
    return load_statements()[name].text


def _parse(file: str, text: str) -> list[Statement]:
    found: list[Statement] = []
    comments: list[str] = []  # comment lines not yet known to be a description or a body's
    name: str | None = None
    description = ""
    body: list[str] = []

    def close() -> None:
        if name is None:
            if any(line.strip() for line in body):
                raise StoreError(f"{file} holds SQL before its first heading '-- name: …'.")
            return
        sql = "\n".join(body).strip().removesuffix(";").rstrip()
        if not sql:
            raise StoreError(f"Statement '{name}' in {file} is empty.")
        found.append(Statement(name, sql, description, file))

    for line in text.splitlines():
        heading = _HEADING.fullmatch(line.strip())
        if heading:
            close()
            name, body = heading["name"], []
            if not _NAME.fullmatch(name):
                raise StoreError(
                    f"'{name}' in {file} is no name of a statement: small letters, digits and "
                    "underscores, a letter first."
                )
            description = " ".join(item.strip().removeprefix("--").strip() for item in comments)
            comments = []
        elif line.strip().startswith("--"):
            comments.append(line)
        else:
            # A blank line or SQL: the comments were not a heading's. Inside a statement they
            # are its own remarks; at the top of the file they are the file's.
            if name is not None and line.strip():
                body.extend(comments)
            comments = []
            body.append(line)
    close()
    return found
