"""Writing settings for the owner: single lines of ``settings.toml``, the rest as it stands."""

from __future__ import annotations

import json
import os
import re
import tempfile
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from emily.errors import SettingError
from emily.settings import private_folder

__all__ = ["WrittenSettings", "change_settings"]

Value = str | int | None


@dataclass(frozen=True, slots=True)
class WrittenSettings:
    """What was written.

    Attributes:
        path: of the file.
        lines: that it has now, of the settings that were to change.
        overridden: variables of the environment that say something else and win.
    """

    path: Path
    lines: tuple[str, ...]
    overridden: tuple[str, ...]


def change_settings(home: Path, values: Mapping[str, Value]) -> WrittenSettings:
    """Set some settings in the file of a home folder; comments and other settings stay.

    Args:
        home: its folder.
        values: what to set; ``None`` takes a setting out.

    Raises:
        SettingError: the file cannot be read or written; the message has the lines to add.
    """
    path = home / "settings.toml"
    lines = tuple(f"{name} = {_toml(value)}" for name, value in values.items() if value is not None)
    by_hand = f"Set in {path}: {'; '.join(lines)}"
    try:
        old = path.read_bytes().decode("utf-8") if path.exists() else ""
        before = tomllib.loads(old)
        new = _changed(old, values)
        wanted = {name: value for name, value in before.items() if name not in values}
        wanted |= {name: value for name, value in values.items() if value is not None}
        if tomllib.loads(new) != wanted:
            raise SettingError(f"{path} is written in a way that Emily does not change. {by_hand}")
        if new != old:
            _write(path, new)
    except (OSError, ValueError) as error:
        raise SettingError(f"{path} cannot be changed ({error}). {by_hand}") from None
    environment = {name.upper() for name in os.environ}
    overridden = tuple(
        f"EMILY_{name.upper()}"
        for name, value in values.items()
        if f"EMILY_{name.upper()}" in environment
        and os.environ.get(f"EMILY_{name.upper()}", "") != ("" if value is None else str(value))
    )
    return WrittenSettings(path, lines, overridden)


def _changed(text: str, values: Mapping[str, Value]) -> str:
    """The text with these settings; each stands on one line, before any table."""
    kept: list[str] = []
    left = dict(values)
    for line in re.findall(r"[^\n]*\n|[^\n]+", text):  # TOML knows no other end of a line
        match = re.match(r"\s*(?P<name>[A-Za-z0-9_-]+)\s*=", line)
        name = match["name"] if match else ""
        if name not in values:
            kept.append(line)
        elif name in left:
            value = left.pop(name)
            kept += [] if value is None else [f"{name} = {_toml(value)}\n"]
    if kept and not kept[-1].endswith("\n"):
        kept[-1] += "\n"
    fresh = [f"{name} = {_toml(value)}\n" for name, value in left.items() if value is not None]
    tables = [place for place, line in enumerate(kept) if line.lstrip().startswith("[")]
    first = tables[0] if tables else len(kept)
    return "".join([*kept[:first], *fresh, *kept[first:]])


def _toml(value: str | int) -> str:
    if isinstance(value, int):
        return str(value)
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")  # as TOML wants it


def _write(path: Path, text: str) -> None:
    """Whole or not at all; a link is followed, and the file's mode stays."""
    private_folder(path.parent)
    target = path.resolve()
    mode = target.stat().st_mode & 0o777 if target.exists() else 0o600
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=".settings-")
    made = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        made.chmod(mode)
        made.replace(target)
    except BaseException:
        made.unlink(missing_ok=True)
        raise
