"""Tokens that let clients in over HTTP: one for each client, in a file of the owner's alone."""

from __future__ import annotations

import hmac
import json
import os
import re
import secrets
import stat
from collections.abc import Mapping
from pathlib import Path

from emily.errors import InputError, SettingError

__all__ = ["Tokens"]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


class Tokens:
    """The tokens of a home folder, by the names of their clients."""

    def __init__(self, home: Path) -> None:
        """Name the file; it need not exist.

        Args:
            home: the home folder.
        """
        self.path = home / "tokens.json"

    def all(self) -> Mapping[str, str]:
        """Every client with its token.

        Raises:
            SettingError: the file can be read by others, or is not what it should be.
        """
        try:
            mode = self.path.stat().st_mode
            text = self.path.read_text("utf-8")
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise SettingError(f"{self.path} cannot be read: {error}") from None
        if os.name == "posix" and mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise SettingError(
                f"{self.path} can be read by others (mode {stat.S_IMODE(mode):o}), so its tokens "
                f"are not secret. Close it with: chmod 600 {self.path}, and make new ones with: "
                "emily mcp token --new"
            )
        try:
            found = json.loads(text)
            if not all(isinstance(token, str) and len(token) > 20 for token in found.values()):
                raise ValueError("a token is no text of more than 20 characters")
        except (ValueError, AttributeError) as error:
            raise SettingError(
                f"{self.path} is not a JSON object of names and tokens ({error}). Remove it, and "
                "make new ones with: emily mcp token"
            ) from None
        return dict(found)

    def client_of(self, token: str) -> str | None:
        """The client whose token this is, ``None`` if it is nobody's.

        Every token is compared, each in the same time, so that an answer tells nothing of them.
        """
        found = None
        for name, known in self.all().items():
            if hmac.compare_digest(known.encode(), token.encode("utf-8", "replace")):
                found = name
        return found

    def of(self, client: str, *, new: bool = False) -> str:
        """The token of a client, made if there is none.

        Args:
            client: its name.
            new: make another one; the old one lets nobody in any more.

        Raises:
            InputError: the name is malformed.
            SettingError: the file cannot be used.
        """
        if not _NAME.fullmatch(client):
            raise InputError(
                f"The client's name is {client!r}; it must be 1 to 64 letters, digits, dots, "
                "dashes and underlines, and begin with a letter or a digit."
            )
        tokens = dict(self.all())
        if new or client not in tokens:
            tokens[client] = secrets.token_urlsafe(32)
            self._write(tokens)
        return tokens[client]

    def revoke(self, client: str) -> None:
        """Take a client's token away; what it has open is refused at its next call.

        Raises:
            InputError: it has none.
            SettingError: the file cannot be used.
        """
        tokens = dict(self.all())
        if client not in tokens:
            known = ", ".join(tokens) or "none"
            raise InputError(f"There is no token of {client!r}. Clients with a token: {known}")
        del tokens[client]
        self._write(tokens)

    def _write(self, tokens: Mapping[str, str]) -> None:
        beside = self.path.with_name(f"tokens.{secrets.token_hex(4)}.new")
        try:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(dict(tokens), file, indent=2)
                file.flush()
                os.fsync(file.fileno())
            beside.replace(self.path)
        except OSError as error:
            raise SettingError(f"{self.path} cannot be written: {error.strerror}") from None
