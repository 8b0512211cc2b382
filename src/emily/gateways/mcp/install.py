"""Entering Emily into the settings of MCP clients, and taking her out again.

Only her own entry is touched. A file that cannot be read as JSON is left alone, and the lines to
write by hand are said.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import platformdirs

from emily.errors import InputError

__all__ = ["CLIENTS", "Installation", "Plan", "program"]

_NAME = "emily"


def _home() -> Path:
    return Path.home()


def _roaming() -> Path:
    """Where programs keep their settings: of Electron's ones the same folder on every system."""
    return platformdirs.user_config_path(roaming=True, appauthor=False)


def _claude_code() -> Path:
    folder = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(folder) if folder else _home()) / ".claude.json"


# The client's file, and the key that holds its servers.
_FILES = {
    "claude-code": (_claude_code, "mcpServers"),
    "claude-desktop": (
        lambda: _roaming() / "Claude" / "claude_desktop_config.json",
        "mcpServers",
    ),
    "cursor": (lambda: _home() / ".cursor" / "mcp.json", "mcpServers"),
    "vscode": (lambda: _roaming() / "Code" / "User" / "mcp.json", "servers"),
}
CLIENTS = tuple(_FILES)


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be written.

    Attributes:
        path: the client's file.
        key: under which it keeps servers.
        before: Emily's entry as it is there now; ``None`` if there is none.
        after: as it is to be; ``None`` to take it out.
        text: the whole file as it is to be; ``None`` to remove the file.
    """

    path: Path
    key: str
    before: Any
    after: Any
    text: str | None

    @property
    def changes(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.before != self.after)


class Installation:
    """Emily in the settings of one client."""

    def __init__(self, client: str, home: Path) -> None:
        """Name a client.

        Args:
            client: one of ``CLIENTS``.
            home: Emily's home folder.

        Raises:
            InputError: there is no such client.
        """
        if client not in _FILES:
            raise InputError(
                f"There is no client {client!r}. Clients: {', '.join(CLIENTS)}. For another one, "
                "docs/mcp.md says what to enter."
            )
        self.client = client
        self._home = home
        where, self.key = _FILES[client]
        self.path = where()

    def entry(self) -> dict[str, Any]:
        """Emily's entry: how the client starts her."""
        command, *first = program()
        arguments = [*first, "--home", str(self._home), "mcp", "--client", self.client]
        kind = {} if self.client == "claude-desktop" else {"type": "stdio"}
        return {**kind, "command": command, "args": arguments}

    def install(self) -> Plan:
        """What entering Emily would write.

        Raises:
            InputError: the client's file cannot be read as JSON; it is left as it is.
        """
        return self._plan(self.entry())

    def remove(self) -> Plan:
        """What taking Emily out would write.

        Raises:
            InputError: as in ``install``.
        """
        return self._plan(None)

    def carry_out(self, plan: Plan) -> Path | None:
        """Write what was planned; gives the copy of the file as it was, if there was one.

        Raises:
            InputError: the file has changed since, or cannot be written.
        """
        if self._plan(plan.after) != plan:
            raise InputError(f"{plan.path} has changed meanwhile. Run the command again.")
        target = Path(os.path.realpath(plan.path))  # through a link to the file that it means
        try:
            backup = None
            if target.exists():
                stamp = f"{datetime.now():%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
                backup = target.with_name(f"{target.name}.before-emily-{stamp}")
                shutil.copy2(target, backup)
            if plan.text is None:
                target.unlink(missing_ok=True)
                return backup
            target.parent.mkdir(parents=True, exist_ok=True)
            beside = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
            beside.write_text(plan.text, encoding="utf-8")
            if backup is not None:
                shutil.copymode(backup, beside)
            beside.replace(target)
        except OSError as error:
            raise InputError(f"{plan.path} cannot be written: {error.strerror}") from None
        return backup

    def _plan(self, after: dict[str, Any] | None) -> Plan:
        text, data = self._read()
        servers = data.get(self.key, {})
        if not isinstance(servers, dict):
            raise self._unfit(f"{self.key!r} is no object in it")
        before = servers.get(_NAME)
        changed = {name: entry for name, entry in servers.items() if name != _NAME}
        if after is not None:
            # In the place that it had.
            changed = {**servers, _NAME: after}
        if after is None and not changed and set(data) <= {self.key}:
            return Plan(self.path, self.key, before, after, None)
        indent = re.search(r"^([ \t]+)\"", text, re.MULTILINE)
        whole = json.dumps(
            {**data, self.key: changed}, indent=indent[1] if indent else 2, ensure_ascii=False
        )
        return Plan(self.path, self.key, before, after, whole + "\n")

    def _read(self) -> tuple[str, Mapping[str, Any]]:
        try:
            text = self.path.read_text("utf-8-sig")
        except FileNotFoundError:
            return "", {}
        except (OSError, UnicodeDecodeError) as error:
            raise self._unfit(str(error)) from None
        if not text.strip():
            return text, {}
        try:
            data = json.loads(text, object_pairs_hook=_once)
            if not isinstance(data, dict):
                raise ValueError("it is no object")
        except (ValueError, RecursionError) as error:
            raise self._unfit(str(error)) from None
        return text, data

    def _unfit(self, why: str) -> InputError:
        lines = json.dumps({self.key: {_NAME: self.entry()}}, indent=2, ensure_ascii=False)
        return InputError(
            f"{self.path} is not read as plain JSON ({why}), so it is left as it is. Enter this "
            f"by hand:\n{lines}"
        )


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose names are each there once: else one of the values would be lost."""
    names = [name for name, _ in pairs]
    if len(set(names)) < len(names):
        raise ValueError("a name stands in it twice")
    return dict(pairs)


def program() -> list[str]:
    """The command that starts Emily as she runs now."""
    beside = Path(sys.executable).with_name("emily.exe" if os.name == "nt" else "emily")
    if beside.exists():
        return [str(beside)]
    return [sys.executable, "-m", "emily.cli"]
