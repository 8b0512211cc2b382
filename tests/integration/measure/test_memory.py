"""What every process takes, on real processes: this one, a database, a server of models."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from emily.measure.memory import MemoryReport, take_memory
from emily.settings import load_settings
from emily.store import EmbeddedServer

_SERVER = """
import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer

ballast = bytearray(b"x") * int(sys.argv[1])


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        models = [{"name": "terse:1b", "size": int(sys.argv[2]), "size_vram": 0}]
        self.wfile.write(json.dumps({"models": models}).encode())

    def log_message(self, *given):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""
_MIB = 1 << 20


@pytest.fixture
def inference() -> Iterator[subprocess.Popen[str]]:
    """A server that holds 400 MiB and reports a model of 60 MiB."""
    command = [sys.executable, "-c", _SERVER, str(400 * _MIB), str(60 * _MIB)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.kill()


def part(report: MemoryReport, kind: str) -> list[tuple[int | None, int]]:
    return [(item.pid, item.bytes or 0) for item in report.parts if item.kind == kind]


async def test_every_process_is_measured(
    server: EmbeddedServer, inference: subprocess.Popen[str]
) -> None:
    assert inference.stdout is not None
    port = int(inference.stdout.readline())
    settings = load_settings(
        server.home,
        chat="ollama",
        chat_url=f"http://127.0.0.1:{port}",
        memory_budget_mb=256,
    )
    report = await take_memory(settings)
    (own,) = [item for item in report.parts if item.kind == "emily"][:1]
    assert own.bytes is not None
    assert own.bytes > 20 * _MIB
    ((pid, database),) = part(report, "database")
    assert pid is not None
    assert database > 10 * _MIB
    ((pid, models),) = part(report, "inference")
    ((cache_pid, cache),) = part(report, "prompt cache")
    assert pid == cache_pid == inference.pid
    assert models == 60 * _MIB
    assert 320 * _MIB < cache < 500 * _MIB, "what the server takes and does not report"
    assert report.bytes == sum(item.bytes or 0 for item in report.parts)
    assert [item.bytes or 0 for item in report.parts] == sorted(
        (item.bytes or 0 for item in report.parts), reverse=True
    )
    assert report.budget == 256 * _MIB
    assert report.warning is not None
    assert "more than the 256 MiB of the setting memory_budget_mb" in report.warning
    largest = report.parts[0]
    assert largest.name in report.warning
    if largest.kind == "prompt cache":
        assert "OLLAMA_NUM_PARALLEL" in report.warning


async def test_what_cannot_be_told_is_said(home: Path) -> None:
    settings = load_settings(
        home,
        chat="ollama",
        chat_url="http://127.0.0.1:9",
        embedder="openai",
        embedder_url="http://models.example:1",
        database_url="postgresql://somebody@localhost/other",
    )
    report = await take_memory(settings)
    told = " ".join(report.notices)
    assert "Your own database server is not measured." in told
    assert "127.0.0.1:9 (chat) does not answer" in told
    assert "port 9 (chat)" in told
    assert "models.example (embedder) is not on this machine" in told
    assert report.warning is None


async def test_within_the_budget_nothing_is_said(home: Path) -> None:
    report = await take_memory(load_settings(home, memory_budget_mb=1_000_000))
    assert report.warning is None
    assert report.parts
