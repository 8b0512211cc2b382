"""A line of a file of JSON lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from emily.errors import InputError

__all__ = ["json_object"]


def json_object(line: str, path: Path, number: int) -> dict[str, Any]:
    """The object that a line holds.

    Args:
        line: not blank.
        path: of its file, and ``number`` of the line in it, from 1, for the message.

    Raises:
        InputError: it is not JSON, no object, or nested too deeply.
    """
    try:
        item = json.loads(line)
    except ValueError as error:
        raise InputError(f"{path}, line {number} is not JSON: {error}.") from None
    except RecursionError:
        raise InputError(f"{path}, line {number} is nested too deeply.") from None
    if not isinstance(item, dict):
        raise InputError(f"{path}, line {number} is no JSON object: {line[:60]!r}.")
    return item
