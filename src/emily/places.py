"""Paths as the owner writes them, made absolute from the folder that he stands in.

A server works for commands that were given elsewhere: they say where.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path

__all__ = ["absolute", "standing_in"]

_folder: ContextVar[str | None] = ContextVar("emily_folder", default=None)


def absolute(path: Path | str) -> str:
    """The absolute path; links are kept, and a ``~name`` that is no user's is a file's name."""
    expanded = os.path.expanduser(path)  # noqa: PTH111 - leaves what is no user's
    folder = _folder.get()
    if folder is not None:
        expanded = os.path.join(folder, expanded)  # noqa: PTH118 - "" stays as it is
    return os.path.abspath(expanded)  # noqa: PTH100 - keeps links


@contextmanager
def standing_in(folder: str) -> Iterator[None]:
    """Let relative paths begin in this folder, for all that is done inside the block."""
    token = _folder.set(folder)
    try:
        yield
    finally:
        _folder.reset(token)
