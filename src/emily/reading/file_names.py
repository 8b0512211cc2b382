"""Names for files that come out of files: harmless wherever they are used, and each given once."""

from __future__ import annotations

import re
from pathlib import PurePath

__all__ = ["file_name", "harmless", "unique"]

_MOST_NAME = 150  # characters of a name that is made out of a subject
_MOST_PATH = 900
_MOST_SUFFIX = 10
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")
_UNFIT = re.compile(r"[\x00-\x1f\x7f/\\:*?\"<>|]+")


def file_name(text: str) -> str:
    """A text as the name of a file: no character that a system forbids, at most 150 of them."""
    name = " ".join(_UNFIT.sub(" ", text).split()).strip(". ")
    if len(name) <= _MOST_NAME:
        return name
    suffix = PurePath(name).suffix if len(PurePath(name).suffix) <= 10 else ""
    return name[: _MOST_NAME - len(suffix)].strip() + suffix


def harmless(path: str) -> str:
    """A relative path without steps upwards, drives and control characters.

    Args:
        path: with ``/`` between folders.

    Returns:
        What is left of it, perhaps an empty text.
    """
    parts: list[str] = []
    for part in path.split("/"):
        part = " ".join(_CONTROLS.sub(" ", part).split())
        part = part if parts else re.sub(r"\A(?:[A-Za-z]:)+", "", part)
        if part.strip(". "):
            parts.append(part)
    return "/".join(parts)[-_MOST_PATH:].lstrip("/")


def unique(name: str, taken: dict[str, int]) -> str:
    """A name that is not taken, and is from now on: ``a.pdf``, ``a (2).pdf``, …

    Args:
        name: as it is wanted.
        taken: how often each name was wanted so far, in lower case.
    """
    suffix = PurePath(name).suffix
    found, number = name, taken.get(name.lower(), 0)
    while found.lower() in taken:
        number += 1
        found = f"{name.removesuffix(suffix)} ({number}){suffix}"
    taken[name.lower()] = max(number, 1)
    taken[found.lower()] = 1
    return found
