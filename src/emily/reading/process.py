"""The worker process seen from its parent: started, watched, spoken to, replaced."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
import sys
from collections import deque
from collections.abc import Sequence
from typing import Any

from emily import errors
from emily.errors import LimitExceeded, ReadingError
from emily.reading import frames
from emily.reading.limits import MOST_CHARACTERS, resident_mb, watch_memory
from emily.reading.pages import Page

__all__ = ["Answer", "WorkerProcess"]

Answer = tuple[list[Page], dict[str, Any]]
"""The pages that a worker sent, and its last message."""

_MOST_FILES = 500  # after which a worker is replaced: parsers of foreign bytes leak
_MOST_PAGES = 200_000
_KEPT_LINES = 20  # of a worker's stderr
_ENVIRONMENT = (
    "PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "HOME", "LANG", "LC_ALL", "LC_CTYPE",
    "TMPDIR", "TZ", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
)  # fmt: skip
_GRACE = 10  # seconds beyond the limit in which a worker may still say what it has read
_log = logging.getLogger("emily.reading")


class WorkerProcess:
    """A worker that is started when it is needed, and again when it has failed.

    One request at a time; the caller sees to that.

    Args:
        command: what starts a worker, without its arguments.
        seconds, memory_mb: limits for one file.
        ocr: whether it may load OCR.
        threads: CPU threads of the libraries that parsers use.
    """

    def __init__(
        self, command: Sequence[str], *, seconds: int, memory_mb: int, ocr: bool, threads: int
    ) -> None:
        self._command = tuple(command)
        self._seconds = seconds
        self._memory_mb = memory_mb
        self._ocr = ocr
        self._threads = threads
        self._process: asyncio.subprocess.Process | None = None
        self._errors: deque[str] = deque(maxlen=_KEPT_LINES)
        self._drain: asyncio.Task[None] | None = None
        self._files = 0

    @property
    def pid(self) -> int | None:
        """Process id of the worker that runs now, if any."""
        return None if self._process is None else self._process.pid

    async def ask(self, request: dict[str, Any]) -> Answer:
        """Send a request and collect the answer. A worker that failed is not used again.

        Raises:
            ReadingError: what the worker reports, or how it failed.
        """
        for attempt in (1, 2):
            process = await self.start()
            try:
                result = await self._exchange(process, request)
            except _NotBegun:
                await self.stop()
                if attempt == 2:
                    raise ReadingError(self._why(process, "did not start")) from None
            except BaseException:
                await self.stop()
                raise
            else:
                if isinstance(result, ReadingError):
                    if isinstance(result, LimitExceeded):
                        await self.stop()  # its memory is fragmented
                    raise result
                await self._retire(process)
                return result
        raise AssertionError  # the loop ends by return or raise

    async def _exchange(
        self, process: asyncio.subprocess.Process, request: dict[str, Any]
    ) -> Answer | ReadingError:
        watch = asyncio.create_task(watch_memory(process.pid, self._memory_mb))
        talk = asyncio.create_task(self._talk(process, request))
        try:
            await asyncio.wait(
                {watch, talk},
                timeout=self._seconds + _GRACE,
                return_when=asyncio.FIRST_COMPLETED,
            )
            if talk.done():
                return talk.result()
            if watch.done():
                raise LimitExceeded(
                    f"reading it took {watch.result():,} MiB of memory; at most "
                    f"{self._memory_mb:,} MiB are allowed (setting reading_memory_mb)"
                )
            raise LimitExceeded(
                f"reading it took more than {self._seconds:,} s (setting reading_seconds)"
            )
        finally:
            for task in (watch, talk):
                task.cancel()
            await asyncio.gather(watch, talk, return_exceptions=True)

    async def _talk(
        self, process: asyncio.subprocess.Process, request: dict[str, Any]
    ) -> Answer | ReadingError:
        stdin, stdout = process.stdin, process.stdout
        if stdin is None or stdout is None:
            raise AssertionError  # both are pipes
        pages: list[Page] = []
        characters = 0
        begun = False
        try:
            stdin.write(frames.encode(request))
            await stdin.drain()
            while True:
                body = await stdout.readexactly(frames.length(await stdout.readexactly(4)))
                message = frames.decode(body)
                match message.get("type"):
                    case "begun":
                        begun = True
                    case "page":
                        pages.append(frames.to_page(message, len(pages) + 1))
                        characters += len(pages[-1].text)
                        if len(pages) > _MOST_PAGES or characters > 2 * MOST_CHARACTERS:
                            raise frames.FrameError("the worker sent more than a document holds")
                    case "done" | "checked":
                        return pages, message
                    case "error":
                        return _error(message)
                    case other:
                        raise frames.FrameError(f"the worker sent a message of type {other!r}")
        except (asyncio.IncompleteReadError, ConnectionError):
            if not begun:
                raise _NotBegun from None
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), 5)
            raise self._crash(process) from None

    def _crash(self, process: asyncio.subprocess.Process) -> ReadingError:
        code = process.returncode
        for line in self._errors:
            _log.debug("a parser said: %s", line)
        if code is not None and code == -getattr(signal, "SIGXCPU", 0):
            return LimitExceeded(
                f"reading it took more than {self._seconds:,} s of computing "
                "(setting reading_seconds)"
            )
        if code == -signal.SIGKILL if sys.platform != "win32" else False:
            return LimitExceeded(
                "the process that read it was killed, probably for want of memory "
                f"(setting reading_memory_mb is {self._memory_mb:,} MiB)"
            )
        return ReadingError(self._why(process, "crashed"))

    def _why(self, process: asyncio.subprocess.Process, what: str) -> str:
        code = process.returncode
        how = f"exit code {code}"
        if code is not None and code < 0:
            with contextlib.suppress(ValueError):
                how = signal.Signals(-code).name
        last = f": {self._errors[-1]}" if self._errors else ""
        return f"its parser {what} ({how}{last})"

    async def start(self) -> asyncio.subprocess.Process:
        """The worker that runs, started if none does.

        Raises:
            ReadingError: it cannot be started.
        """
        if self._process is not None and self._process.returncode is None:
            return self._process
        await self.stop()
        environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            environment[name] = str(self._threads)
        environment["MALLOC_ARENA_MAX"] = "2"  # else each thread reserves address space
        arguments = [
            *("--parent", str(os.getpid())),
            *("--seconds", str(self._seconds)),
            *("--memory-mb", str(self._memory_mb)),
            *("--threads", str(self._threads)),
            *(["--ocr"] if self._ocr else []),
        ]
        try:
            process = await asyncio.create_subprocess_exec(
                *self._command,
                *arguments,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
                env=environment,
                limit=1 << 20,
            )
        except OSError as error:
            raise ReadingError(f"the process that reads files cannot be started: {error}") from None
        self._process = process
        self._errors.clear()
        self._drain = asyncio.create_task(self._listen(process))
        self._files = 0
        return process

    async def _listen(self, process: asyncio.subprocess.Process) -> None:
        """Keep the last lines that a worker's libraries print; nobody is shown them."""
        stderr = process.stderr
        while stderr is not None and (data := await stderr.read(65_536)):
            for line in data[-4000:].decode(errors="replace").splitlines():
                if line.strip():
                    self._errors.append(line.strip()[:300])

    async def _retire(self, process: asyncio.subprocess.Process) -> None:
        """Replace a worker that has read many files or holds most of the memory it may take."""
        self._files += 1
        if self._files >= _MOST_FILES or resident_mb(process.pid) > 0.75 * self._memory_mb:
            await self.stop()

    async def stop(self) -> None:
        """Kill the worker, if one runs, and wait for its end."""
        process, self._process = self._process, None
        if process is not None and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
        if process is not None:
            await process.wait()
            if process.stdin is not None:
                process.stdin.close()
        drain, self._drain = self._drain, None
        if drain is not None:
            drain.cancel()
            await asyncio.gather(drain, return_exceptions=True)


class _NotBegun(Exception):
    """The worker ended before it took the request."""


def _error(message: dict[str, Any]) -> ReadingError:
    """The error that a worker reports, as one of the classes it may report."""
    reason = frames.checked_text(message, "reason")
    found = getattr(errors, str(message.get("error")), None)
    if isinstance(found, type) and issubclass(found, ReadingError):
        return found(reason)
    return ReadingError(reason)
