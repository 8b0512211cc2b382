"""How much memory Emily takes, really: every process involved, beside what its tools report.

What a process shares with others counts once, in shares (Linux's proportional set size); where
the system does not tell that, its resident size is taken, which counts it in every process.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import httpx
import psutil

from emily.errors import StoreError
from emily.models.servers import is_loopback
from emily.settings import Settings, home_folder
from emily.store import EmbeddedServer

__all__ = ["MemoryPart", "MemoryReport", "PartKind", "take_memory"]

PartKind = Literal["emily", "reading", "database", "inference", "prompt cache"]

_CACHE_FROM = 256 << 20  # of what an inference server takes beyond its models; less is its program
_SECONDS = 3.0
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class MemoryPart:
    """A process, or a part of one.

    Attributes:
        kind: what it is.
        name: for people: the program, or the server.
        pid: of the process; ``None`` of a server that is not found on this machine.
        bytes: that it really takes; ``None`` where the system does not tell.
        reported: bytes that its tool reports for it, ``None`` where none does.
        setting: what makes it smaller.
    """

    kind: PartKind
    name: str
    pid: int | None
    bytes: int | None
    reported: int | None
    setting: str | None


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """All processes together, against the budget.

    Attributes:
        parts: the largest first.
        bytes: of all together.
        budget: bytes that the owner allows; ``None`` where none is set.
        shared: whether what processes share counts once.
        warning: that the budget is passed, and by what most; ``None`` while it is kept.
        notices: what could not be told.
    """

    parts: tuple[MemoryPart, ...]
    bytes: int
    budget: int | None
    shared: bool
    warning: str | None
    notices: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Server:
    """An inference server of the settings."""

    role: str
    url: str
    ollama: bool


async def take_memory(settings: Settings) -> MemoryReport:
    """Measure every process that works for a home.

    Args:
        settings: of the home; its servers on this machine are looked for by their ports.
    """
    servers = _servers(settings)
    reports = {
        server.url: await _reported(server.url)
        for server in servers
        if server.ollama and is_loopback(urlsplit(server.url).hostname or "")
    }
    return await asyncio.to_thread(_measure, settings, servers, reports)


def _servers(settings: Settings) -> list[_Server]:
    """The inference servers that the settings use, each address once."""
    found: dict[str, _Server] = {}

    def add(role: str, url: str | None, ollama: bool) -> None:
        if url and url not in found:
            found[url] = _Server(role, url, ollama)

    if settings.chat != "none":
        add("chat", settings.chat_url, settings.chat == "ollama")
    if settings.vision != "none":
        add("vision", settings.vision_url, settings.vision == "ollama")
    if settings.embedder == "ollama":
        add("embedder", settings.embedder_url or "http://127.0.0.1:11434", True)
    if settings.embedder == "openai":
        add("embedder", settings.embedder_url, False)
    if settings.reranker == "http":
        add("reranker", settings.reranker_url, False)
    return list(found.values())


async def _reported(url: str) -> list[dict[str, Any]] | None:
    """What Ollama says that it has loaded; ``None`` where it does not answer."""
    try:
        async with httpx.AsyncClient(timeout=_SECONDS, trust_env=False) as client:
            found = (await client.get(f"{url.rstrip('/')}/api/ps")).json()
        return [item for item in found.get("models") or [] if isinstance(item, dict)]
    except (httpx.HTTPError, ValueError, AttributeError):
        return None


def _measure(
    settings: Settings,
    servers: Sequence[_Server],
    reports: dict[str, list[dict[str, Any]] | None],
) -> MemoryReport:
    parts: list[MemoryPart] = []
    notices: list[str] = []
    seen: set[int] = set()

    def add(kind: PartKind, name: str, process: psutil.Process, setting: str | None) -> None:
        if process.pid not in seen:
            seen.add(process.pid)
            taken = _bytes(process)
            if taken is not None:
                parts.append(MemoryPart(kind, name, process.pid, taken, None, setting))

    parts += _database(settings, seen, notices)
    for server in servers:
        parts += _inference(server, reports.get(server.url), seen, notices)
    for process in _emily(settings.home):
        add("emily", _title(process), process, "search_memory_mb")
        for child in _children(process):
            reading = any("emily.reading" in word for word in _line(child))
            kind: PartKind = "reading" if reading else "emily"
            add(kind, _title(child), child, "reading_memory_mb" if reading else None)
    total = sum(part.bytes or 0 for part in parts)
    budget = None if settings.memory_budget_mb is None else settings.memory_budget_mb * _MIB
    ordered = tuple(sorted(parts, key=lambda part: -(part.bytes or 0)))
    return MemoryReport(
        parts=ordered,
        bytes=total,
        budget=budget,
        shared=hasattr(psutil.Process().memory_full_info(), "pss"),
        warning=_warning(ordered, total, budget),
        notices=tuple(notices),
    )


def _warning(parts: Sequence[MemoryPart], total: int, budget: int | None) -> str | None:
    if budget is None or total <= budget or not parts:
        return None
    largest = parts[0]
    helps = f" What makes it smaller: {largest.setting}." if largest.setting else ""
    return (
        f"All processes take {total // _MIB:,} MiB, more than the {budget // _MIB:,} MiB of the "
        f"setting memory_budget_mb. The largest is {largest.name} ({largest.kind}) with "
        f"{(largest.bytes or 0) // _MIB:,} MiB.{helps}"
    )


def _database(settings: Settings, seen: set[int], notices: list[str]) -> list[MemoryPart]:
    """The embedded server with all its processes, as one part."""
    if settings.database_url:
        notices.append("Your own database server is not measured.")
        return []
    try:
        running = EmbeddedServer(settings.home).running()
    except StoreError as error:
        notices.append(f"The database server could not be measured: {error}")
        return []
    if running is None:
        return []
    processes = _family(running.process.pid)
    seen.update(process.pid for process in processes)
    taken = sum(_bytes(process) or 0 for process in processes)
    return [MemoryPart("database", "PostgreSQL", running.process.pid, taken, None, None)]


def _inference(
    server: _Server,
    models: list[dict[str, Any]] | None,
    seen: set[int],
    notices: list[str],
) -> list[MemoryPart]:
    """An inference server: what it really takes, and apart from it what its models do not."""
    address = urlsplit(server.url)
    if not is_loopback(address.hostname or ""):
        notices.append(f"The server at {address.hostname} ({server.role}) is not on this machine.")
        return []
    if server.ollama and models is None:
        notices.append(f"The server at {address.netloc} ({server.role}) does not answer.")
    port = address.port or (443 if address.scheme == "https" else 80)
    owner = _listening(port)
    if owner is None:
        notices.append(f"No process is found that listens on port {port} ({server.role}).")
        return []
    processes = [process for process in _family(owner) if process.pid not in seen]
    seen.update(process.pid for process in processes)
    taken = sum(_bytes(process) or 0 for process in processes)
    names = ", ".join(str(item.get("name")) for item in models or []) or "no model loaded"
    name = f"server of {server.role} ({names})" if server.ollama else f"server of {server.role}"
    window = {"embedder": "embedder_minutes", "reranker": None}.get(server.role, "chat_minutes")
    if models is None:
        return [MemoryPart("inference", name, owner, taken, None, window)]
    sizes = [(_count(item, "size"), _count(item, "size_vram")) for item in models]
    reported = sum(size for size, _ in sizes)
    here = sum(max(0, size - beside) for size, beside in sizes)  # what lies in a GPU is not here
    beyond = taken - here
    if not models or beyond < _CACHE_FROM:
        return [MemoryPart("inference", name, owner, taken, reported, window)]
    cap = "OLLAMA_NUM_PARALLEL and OLLAMA_CONTEXT_LENGTH of the server, chat_context here"
    return [
        MemoryPart("inference", name, owner, taken - beyond, reported, window),
        MemoryPart("prompt cache", f"prompt cache of the {name}", owner, beyond, None, cap),
    ]


def _count(item: dict[str, Any], key: str) -> int:
    value = item.get(key)
    return value if isinstance(value, int) and value > 0 else 0


def _emily(home: Path) -> Iterable[psutil.Process]:
    """This process, and the others of this home: a worker, a server."""
    own = psutil.Process()
    yield own
    for process in psutil.process_iter():
        if process.pid == own.pid or not _is_emily(_line(process)):
            continue
        with suppress(psutil.Error, OSError):
            if process.uids().real == os.getuid() and _home(process) == home:
                yield process


def _is_emily(line: Sequence[str]) -> bool:
    programs = [Path(word).name for word in line[:2]]
    module = len(line) > 2 and line[1] == "-m" and line[2].split(".")[0] == "emily"
    return "emily" in programs or module


def _home(process: psutil.Process) -> Path:
    line = _line(process)
    if "--home" in line[:-1]:
        return Path(process.cwd(), line[line.index("--home") + 1]).absolute()
    given = process.environ().get("EMILY_HOME")
    return Path(process.cwd(), given).absolute() if given else home_folder()


def _listening(port: int) -> int | None:
    """The process that listens on a port of this machine, where the system tells it."""
    with suppress(psutil.Error, OSError):
        for found in psutil.net_connections(kind="tcp"):
            if found.status != psutil.CONN_LISTEN or not found.laddr or found.pid is None:
                continue
            if found.laddr.port == port:
                return found.pid
    return None


def _family(pid: int) -> list[psutil.Process]:
    with suppress(psutil.Error):
        process = psutil.Process(pid)
        return [process, *_children(process)]
    return []


def _children(process: psutil.Process) -> list[psutil.Process]:
    with suppress(psutil.Error):
        return list(process.children(recursive=True))
    return []


def _line(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error, OSError):
        return list(process.cmdline())
    return []


def _title(process: psutil.Process) -> str:
    words = [Path(word).name if "/" in word else word for word in _line(process)]
    return " ".join(words)[:60] or process.name()


def _bytes(process: psutil.Process) -> int | None:
    """What a process takes, shared memory in its share where the system tells."""
    with suppress(psutil.Error, OSError):
        full = process.memory_full_info()
        return int(getattr(full, "pss", full.rss))
    with suppress(psutil.Error, OSError):
        return int(process.memory_info().rss)
    return None
