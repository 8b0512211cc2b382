"""Reading through the worker process: what it gives, what it refuses, how it fails."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import textwrap
import zlib
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from emily.errors import (
    EmptyDocument,
    LimitExceeded,
    PasswordRequired,
    ReadingError,
    UnsupportedKind,
)
from emily.reading.limits import watch_memory
from emily.reading.reader import Reader

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no signals there")


def make(**values: object) -> Reader:
    given = {"seconds": 60, "memory_mb": 2048, "file_mb": 64, "ocr": False, "threads": 1}
    return Reader(**(given | values))  # type: ignore[arg-type]


@pytest.fixture(scope="module")
async def reader() -> AsyncIterator[Reader]:
    async with make() as opened:
        yield opened


@pytest.mark.parametrize(
    "name", ["plain.txt", "new\nline.txt", "😀.txt", "e\u0301.txt", "caff\udce8.txt"]
)
async def test_a_file_of_any_name_is_read(reader: Reader, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    try:
        path.write_bytes("Perché no?\r\n".encode())
    except (OSError, UnicodeError):
        pytest.skip("this file system has no such names")
    reading = await reader.read(path)
    assert (reading.kind, reading.citation) == ("text", "lines")
    assert [page.text for page in reading.pages] == ["Perché no?\n"]


async def test_what_cannot_be_read_says_so(reader: Reader, tmp_path: Path) -> None:
    empty, odd, large = tmp_path / "empty.txt", tmp_path / "odd.bin", tmp_path / "large.txt"
    empty.touch()
    odd.write_bytes(bytes(range(256)))
    with large.open("wb") as file:
        file.truncate(65 << 20)
    for path, error, reason in (
        (empty, EmptyDocument, "empty"),
        (odd, UnsupportedKind, "unknown binary"),
        (large, LimitExceeded, r"65.0 MiB; at most 64 MiB are read \(setting reading_file_mb\)"),
        (tmp_path / "gone", ReadingError, "No such file"),
        (tmp_path, ReadingError, "not a file"),
        (Path("a\0b"), ReadingError, "cannot be read"),
    ):
        with pytest.raises(error, match=reason):
            await reader.read(path)


async def test_one_line_of_a_hundred_megabytes_is_refused_soon(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"x" * (100 << 20))
    async with make(file_mb=512, memory_mb=1024) as reader:
        with pytest.raises(LimitExceeded, match="at most 32,000,000 are read"):
            await reader.read(path)


async def test_a_long_text_is_read_by_the_same_worker_again(tmp_path: Path) -> None:
    path = tmp_path / "book.txt"
    path.write_text("Una frase come tante altre, perché no? " * 3670)
    async with make() as reader:
        await reader.read(path)
        worker = reader.worker_pid
        reading = await reader.read(path)
        assert len(reading.pages[0].text) > 143_000
        assert reader.worker_pid == worker


async def test_the_worker_is_warm_confined_and_gone_at_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("text")
    reader = make(memory_mb=777)
    await reader.read(path)
    pid = reader.worker_pid
    assert pid is not None
    await reader.read(path)
    assert reader.worker_pid == pid
    worker = psutil.Process(pid)
    assert os.getsid(pid) == pid
    if sys.platform == "linux":
        assert worker.rlimit(psutil.RLIMIT_AS) == (777 << 20, 777 << 20)
        assert worker.rlimit(psutil.RLIMIT_CORE) == (0, 0)
        assert Path(f"/proc/{pid}/oom_score_adj").read_text() == "1000\n"
        loaded = Path(f"/proc/{pid}/maps").read_text()
        assert "psycopg" not in loaded
        assert "onnxruntime" not in loaded
    assert "EMILY_HOME" not in worker.environ()
    await reader.close()
    assert not psutil.pid_exists(pid)


async def test_a_worker_killed_between_files_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("text")
    async with make() as reader:
        await reader.read(path)
        assert reader.worker_pid is not None
        os.kill(reader.worker_pid, signal.SIGKILL)
        assert (await reader.read(path)).pages[0].text == "text"


@pytest.mark.skipif(sys.platform != "linux", reason="other systems only close the pipe")
async def test_the_worker_dies_with_its_parent(tmp_path: Path) -> None:
    code = """
        import asyncio, sys
        from emily.reading.reader import Reader
        async def main():
            r = Reader(seconds=60, memory_mb=2048, file_mb=1, ocr=False, threads=1)
            await r.start()
            print(r.worker_pid, flush=True)
            await asyncio.sleep(60)
        asyncio.run(main())
    """
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", textwrap.dedent(code), stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    worker = psutil.Process(int(await parent.stdout.readline()))
    await asyncio.sleep(0.5)
    parent.kill()
    await parent.wait()
    gone, _ = await asyncio.to_thread(psutil.wait_procs, [worker], timeout=10)
    assert gone


def fake(tmp_path: Path, body: str) -> list[str]:
    """The command of a worker that answers each request by running ``body``."""
    script = tmp_path / "worker.py"
    script.write_text(
        textwrap.dedent("""
            import os, resource, signal, struct, sys, time
            from emily.reading import frames
            out = sys.stdout.buffer
            def send(**message):
                out.write(frames.encode(message)); out.flush()
            while len(prefix := sys.stdin.buffer.read(4)) == 4:
                request = frames.decode(sys.stdin.buffer.read(frames.length(prefix)))
                name = os.path.basename(request["path"])
                send(type="begun")
                if name == "good.txt":
                    send(type="page", number=1, text="good", route="text", tables=[], warning=None)
                    send(type="done", kind="text", citation="lines", title=None, warnings=[])
                    continue
        """)
        + textwrap.indent(textwrap.dedent(body), "    ")
    )
    return [sys.executable, str(script)]


@pytest.mark.parametrize(
    ("body", "error", "reason"),
    [
        ("os.kill(os.getpid(), signal.SIGSEGV)", ReadingError, "crashed (SIGSEGV)"),
        ("os.kill(os.getpid(), signal.SIGKILL)", LimitExceeded, "killed, probably for want of"),
        ("os.kill(os.getpid(), signal.SIGXCPU)", LimitExceeded, "of computing"),
        ("print('why it failed', file=sys.stderr); sys.stderr.flush(); os._exit(3)",
         ReadingError, "exit code 3: why it failed"),
        ("out.write(b'\\xff' * 64); out.flush(); time.sleep(60)", ReadingError, "announced"),
        ("out.write(struct.pack('>I', 2) + b'[]'); out.flush(); time.sleep(60)", ReadingError,
         "not an object"),
        ("send(type='page', number=2, text='', route='text', tables=[], warning=None)",
         ReadingError, "page 2 came where 1 was due"),
        ("send(type='done', kind='virus', citation='lines', title=None, warnings=[])",
         ReadingError, "'virus'"),
        ("send(type='run', code='x')", ReadingError, "of type 'run'"),
        ("send(type='error', error='SystemExit', reason='x')", ReadingError, "x"),
        ("send(type='error', error='PasswordRequired', reason='p')", PasswordRequired, "p"),
        ("send(type='done', kind='text', citation='lines', title=None, warnings=[])",
         EmptyDocument, "no text was found in the 0 pages"),
        ("time.sleep(60)", LimitExceeded, "more than 1 s (setting reading_seconds)"),
    ],
)  # fmt: skip
async def test_a_worker_that_fails_costs_one_file(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    body: str,
    error: type[ReadingError],
    reason: str,
) -> None:
    monkeypatch.setattr("emily.reading.process._GRACE", 1)
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("x")
    bad.write_text("x")
    async with make(seconds=1, command=fake(tmp_path, body)) as reader:
        with pytest.raises(ReadingError) as caught:
            await reader.read(bad)
        assert type(caught.value) in {error, *error.__subclasses__()} or (
            error is ReadingError and isinstance(caught.value, ReadingError)
        )
        assert reason in str(caught.value)
        assert (await reader.read(good)).pages[0].text == "good"


async def test_a_worker_that_does_not_start_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("x")
    async with make(command=[sys.executable, "-c", "raise SystemExit('no luck')"]) as reader:
        with pytest.raises(ReadingError, match=r"did not start \(exit code \d+: no luck\)"):
            await reader.read(path)
    async with make(command=[str(tmp_path / "none")]) as reader:
        with pytest.raises(ReadingError, match="cannot be started"):
            await reader.read(path)


async def test_a_cancelled_reading_leaves_a_good_reader(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text("x")
    bad.write_text("x")
    async with make(command=fake(tmp_path, "time.sleep(60)")) as reader:
        task = asyncio.create_task(reader.read(bad))
        await asyncio.sleep(0.4)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await reader.read(good)).pages[0].text == "good"


async def test_memory_above_the_limit_is_seen_from_outside() -> None:
    code = "import time; held = bytearray(200 << 20); held[::4096] = b'x' * 51200; time.sleep(60)"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code)
    try:
        assert await asyncio.wait_for(watch_memory(process.pid, 150), 20) > 150
    finally:
        process.kill()
        await process.wait()


async def test_a_picture_of_too_many_pixels_is_refused(reader: Reader, tmp_path: Path) -> None:
    def chunk(kind: bytes, body: bytes) -> bytes:
        check = zlib.crc32(kind + body).to_bytes(4, "big")
        return len(body).to_bytes(4, "big") + kind + body + check

    size = (40_000).to_bytes(4, "big")
    path = tmp_path / "bomb.png"
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", size + size + b"\x08\x02\0\0\0")
        + chunk(b"IDAT", zlib.compress(b"\0" * 1_000_000))
        + chunk(b"IEND", b"")
    )
    with pytest.raises(LimitExceeded, match=r"40,000 x 40,000 pixels \(1,600 million"):
        await reader.read(path)
