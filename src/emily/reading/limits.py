"""Bounds on what reading one file may cost, and the watch over those that the kernel does not keep.

Linux keeps all of them. macOS takes ``RLIMIT_AS`` and ignores it; there only the watch
(``watch_memory``) holds, which is why it always runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
from dataclasses import dataclass
from pathlib import Path

import psutil

__all__ = [
    "ENCLOSED_RATIO",
    "LEAST_SIDE",
    "MOST_CALLS",
    "MOST_CHARACTERS",
    "MOST_ENCLOSED",
    "MOST_SCANNED",
    "SlowWork",
    "allow_cpu_seconds",
    "confine",
    "die_with_parent",
    "resident_mb",
    "watch_memory",
]

MOST_CHARACTERS = 32_000_000
"""Most text that one document may hold: about 16,000 full pages."""

MOST_CALLS = 50
"""Calls of the vision model for one document, pages and pictures together, by default."""

MOST_SCANNED = 2_000
"""Scanned pages of one document that OCR reads, by default: more than an hour of it."""

LEAST_SIDE = 64
"""Pixels of the shorter side of a picture that is read, by default; a smaller one is an icon or a
rule, and is passed over."""

MOST_ENCLOSED = 100_000
"""Most files inside of one file: attachments, members of an archive, messages of a mailbox."""

ENCLOSED_RATIO = 4
"""How many times the largest file that is read the files inside of one may hold together."""


@dataclass(slots=True)
class SlowWork:
    """How much slow work one document may ask for; the owner's settings.

    Attributes:
        calls: of the vision model, pages and pictures together.
        scanned: pages that OCR reads.
        side: pixels of the shorter side of a picture inside a document, below which it is
            passed over.
    """

    calls: int = MOST_CALLS
    scanned: int = MOST_SCANNED
    side: int = LEAST_SIDE


_MOST_OPEN_FILES = 256
_PR_SET_PDEATHSIG = 1
_WATCH_EVERY = 0.25  # seconds


def confine(memory_mb: int, file_mb: int) -> None:
    """Bind this process for good: address space, open files, size of files written, core dumps.

    On Linux the process also offers itself first to the kernel's out-of-memory killer.
    """
    if sys.platform == "win32":  # no resource module; the parent's watch and clock remain
        return
    import resource

    memory = memory_mb << 20
    for limit, value in (
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_NOFILE, _MOST_OPEN_FILES),
        (resource.RLIMIT_FSIZE, ENCLOSED_RATIO * (file_mb << 20)),
        (resource.RLIMIT_CORE, 0),
    ):
        _, hard = resource.getrlimit(limit)
        if hard != resource.RLIM_INFINITY:
            value = min(value, hard)
        with contextlib.suppress(ValueError, OSError):  # macOS refuses some; the watch remains
            resource.setrlimit(limit, (value, value))
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def allow_cpu_seconds(seconds: int) -> None:
    """Let this process use that many CPU-seconds more, after which it gets ``SIGXCPU``."""
    if sys.platform == "win32":
        return
    import resource

    usage = resource.getrusage(resource.RUSAGE_SELF)
    _, hard = resource.getrlimit(resource.RLIMIT_CPU)
    soft = int(usage.ru_utime + usage.ru_stime) + seconds + 1
    if hard != resource.RLIM_INFINITY:
        soft = min(soft, hard)
    resource.setrlimit(resource.RLIMIT_CPU, (soft, hard))


def die_with_parent(parent: int) -> None:
    """Ask Linux to kill this process when the one that started it ends.

    Args:
        parent: process id of the parent, to notice that it ended before the request was made.
    """
    if sys.platform != "linux":
        return  # elsewhere the end of standard input has to do
    ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def resident_mb(pid: int) -> int:
    """Memory that a process holds, MiB; 0 when it is gone."""
    try:
        return int(psutil.Process(pid).memory_info().rss) >> 20
    except psutil.Error:
        return 0


async def watch_memory(pid: int, most_mb: int) -> int:
    """Wait until a process holds more than ``most_mb`` MiB, and return how much it holds."""
    while True:
        held = resident_mb(pid)
        if held > most_mb:
            return held
        await asyncio.sleep(_WATCH_EVERY)
