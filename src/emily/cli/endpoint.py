"""Where the server of a home listens: one server a home, on a socket that is its owner's alone.

``<home>/serve/`` is a folder of mode 0700 with the lock, which the system frees when the server
dies; ``server.json``, by which others find it; and, where the path is short enough, the socket.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from emily.errors import StoreError, StoreUnavailable
from emily.store.folders import open_private, private_folder, socket_folder
from emily.store.identity import Identity
from emily.version import VERSION

if sys.platform != "win32":
    import fcntl

__all__ = ["announce", "described", "endpoint", "is_held", "stop_server"]

_STOP_SECONDS = 60.0


@contextlib.contextmanager
def endpoint(home: Path) -> Iterator[socket.socket]:
    """Listen for a home, until the block ends.

    Raises:
        StoreUnavailable: another server of this home runs.
        StoreError: the folder cannot be used.
    """
    if sys.platform == "win32":
        raise StoreError("emily serve does not run on Windows yet; every command works alone.")
    home = home.resolve()
    us = Identity("us")
    folder = private_folder(home / "serve", us)
    lock = open_private(folder / "lock", os.O_RDWR, us)
    try:
        if not _taken(lock):
            found = described(home) or {}
            raise StoreUnavailable(
                f"A server of {home} runs already (process {found.get('pid', '?')}). Use it, or "
                "end it first with: emily stop"
            )
        place = socket_folder(folder, us) / "api"
        # Of a server that was killed: nobody must take it for this one, which only begins.
        (folder / "server.json").unlink(missing_ok=True)
        place.unlink(missing_ok=True)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            before = os.umask(0o177)
            try:
                listening.bind(str(place))
            finally:
                os.umask(before)
            listening.listen(128)
            yield listening
        finally:
            (folder / "server.json").unlink(missing_ok=True)
            listening.close()
            place.unlink(missing_ok=True)
    finally:
        os.close(lock)


def announce(home: Path, listening: socket.socket) -> None:
    """Let others find the server, from the moment at which it can answer."""
    folder = home.resolve() / "serve"
    text = json.dumps(
        {
            "pid": os.getpid(),
            "version": VERSION,
            "home": str(home.resolve()),
            "socket": listening.getsockname(),
            "since": time.time(),
        }
    )
    beside = folder / "server.json.part"
    descriptor = open_private(beside, os.O_WRONLY | os.O_TRUNC, Identity("us"))
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    beside.replace(folder / "server.json")


def described(home: Path) -> dict[str, Any] | None:
    """What the server of a home wrote of itself; ``None`` if none runs."""
    folder = home.resolve() / "serve"
    if sys.platform == "win32" or not is_held(folder / "lock"):
        return None
    try:
        found = json.loads((folder / "server.json").read_text("utf-8"))
    except (OSError, ValueError):
        return None
    return found if isinstance(found, dict) else None


def stop_server(home: Path) -> bool:
    """Tell the server of a home to end, and wait for it; gives whether one ran.

    One that only begins is told as soon as it has said who it is.

    Raises:
        StoreUnavailable: it did not end in time.
    """
    lock = home.resolve() / "serve" / "lock"
    if sys.platform == "win32" or not is_held(lock):
        return False
    told: int | None = None
    deadline = time.monotonic() + _STOP_SECONDS
    while is_held(lock):
        found = described(home)
        if found is not None and found["pid"] != told:
            told = int(found["pid"])
            with contextlib.suppress(ProcessLookupError):
                os.kill(told, signal.SIGTERM)
        if time.monotonic() > deadline:
            who = "that begins" if told is None else f"(process {told})"
            raise StoreUnavailable(f"The server {who} has not ended within {_STOP_SECONDS:g} s.")
        time.sleep(0.05)
    return True


def _taken(lock: int) -> bool:
    """Take the lock of a server; ``False`` where another server has it.

    Who only looks whether a server lives shares the lock for an instant, and is waited for.
    """
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        fcntl.flock(lock, fcntl.LOCK_UN)
        time.sleep(0.01)


def is_held(lock: Path) -> bool:
    """Whether a process holds the lock: whether the server lives."""
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False
