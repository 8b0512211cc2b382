"""The running server process, as its pid file and the process table tell of it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

__all__ = ["Postmaster", "find_postmaster", "forget_stale"]


@dataclass(frozen=True, slots=True)
class Postmaster:
    """A server that runs on a data folder.

    Attributes:
        process: its process; signals through it cannot hit a process that took over the pid.
        started_at: when it started.
        socket_folder: folder of its socket, ``None`` while it is not open yet.
        ready: whether it accepts connections.
    """

    process: psutil.Process
    started_at: datetime
    socket_folder: Path | None
    ready: bool


def find_postmaster(data: Path) -> Postmaster | None:
    """The server that runs on the folder ``data``, ``None`` if there is none.

    The pid alone proves nothing: it may be a zombie's, or another process may have it by now.
    The process must be alive and carry the data folder on its command line.
    """
    lines = _pid_file(data)
    process = _process(lines)
    if process is None or not _serves(process, data):
        return None
    # Lines: pid, data folder, start (s since 1970), port, socket folder, host, memory, state.
    started = int(lines[2]) if len(lines) > 2 and lines[2].isdecimal() else process.create_time()
    return Postmaster(
        process,
        datetime.fromtimestamp(started, UTC),
        Path(lines[4]) if len(lines) > 4 and lines[4] else None,
        len(lines) > 7 and lines[7].strip() == "ready",
    )


def forget_stale(data: Path) -> None:
    """Remove a pid file whose pid now is a zombie's or a stranger's.

    PostgreSQL itself clears the file of a pid that is gone, but takes any process of that
    number for a server. It still refuses to start while orphans of a killed server hold the
    shared memory of this folder, so no data is at risk.
    """
    if find_postmaster(data) is None and _process(_pid_file(data)) is not None:
        (data / "postmaster.pid").unlink(missing_ok=True)


def _pid_file(data: Path) -> list[str]:
    try:
        text = (data / "postmaster.pid").read_text("utf-8", "surrogateescape")
    except FileNotFoundError:
        return []
    return text.split("\n")


def _process(lines: list[str]) -> psutil.Process | None:
    if not lines or not lines[0].strip().isdecimal():
        return None
    try:
        return psutil.Process(int(lines[0]))
    except (psutil.NoSuchProcess, OverflowError):
        return None


def _serves(process: psutil.Process, data: Path) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE:
            return False
        return str(data) in process.cmdline()
    except (psutil.NoSuchProcess, psutil.AccessDenied):
        return False
