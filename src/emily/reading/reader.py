"""The way into the reading room: files are read in a worker process, under limits."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Self, get_args

import structlog

from emily import errors
from emily.errors import EmptyDocument, LimitExceeded, ReadingError
from emily.reading import frames
from emily.reading.kind import KINDS
from emily.reading.limits import MOST_CHARACTERS, resident_mb, watch_memory
from emily.reading.pages import Citation, Page, Reading

__all__ = ["Reader"]

_MOST_FILES = 500  # after which a worker is replaced: parsers of foreign bytes leak
_MOST_WARNINGS = 1000
_MOST_PAGES = 200_000
_KEPT_LINES = 20  # of a worker's stderr
_ENVIRONMENT = (
    "PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "HOME", "LANG", "LC_ALL", "LC_CTYPE",
    "TMPDIR", "TZ", "SYSTEMROOT", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH",
)  # fmt: skip
_GRACE = 10  # seconds beyond the limit in which a worker may still say what it has read
_CITATIONS = frozenset(get_args(Citation))
_log = structlog.get_logger("emily.reading")


class Reader:
    """Reads files, one at a time, in a warm worker process that is replaced when it fails.

    Args:
        seconds: longest time for one file.
        memory_mb: most memory for the worker, MiB.
        file_mb: largest file, MiB.
        ocr: whether scanned pages and pictures are read by OCR.
        threads: CPU threads for OCR.
        languages: of the archive, ISO 639-1; the bundled OCR knows all of Latin script (and
            Chinese and Japanese) at once and needs no choice, other engines will.
        command: the command that starts a worker, without its arguments; by default this
            Python with ``emily.reading.worker``.

    Use it as an async context manager, or ``close`` it.
    """

    def __init__(
        self,
        *,
        seconds: int,
        memory_mb: int,
        file_mb: int,
        ocr: bool,
        threads: int,
        languages: Sequence[str] = (),
        command: Sequence[str] | None = None,
    ) -> None:
        self._seconds = seconds
        self._memory_mb = memory_mb
        self._file_mb = file_mb
        self._ocr = ocr
        self._threads = threads
        self.languages = tuple(languages)
        self._command = tuple(
            command or (sys.executable, "-P", "-X", "utf8", "-m", "emily.reading.worker")
        )
        self._process: asyncio.subprocess.Process | None = None
        self._errors: deque[str] = deque(maxlen=_KEPT_LINES)
        self._drain: asyncio.Task[None] | None = None
        self._files = 0
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def start(self) -> None:
        """Start the worker ahead of the first file."""
        async with self._lock:
            await self._running()

    async def read(self, path: Path) -> Reading:
        """Read a file.

        Returns:
            Its pages; at least one of them has text.

        Raises:
            PasswordRequired: it opens only with a password.
            UnsupportedKind: there is no reader for its content.
            EmptyDocument: it was read and holds no text; the message says why, page by page.
            LimitExceeded: it ran into a limit of time, memory or size.
            ReadingError: it is missing, unreadable or broken, or crashed its parser.
        """
        self._refuse(path)
        name = os.fsencode(path).decode("latin-1")
        async with self._lock:
            pages, done = await self._ask({"type": "read", "path": name})
        return _reading(pages, done)

    async def check_ocr(self) -> str | None:
        """Read a line rendered for the purpose.

        Returns:
            ``None`` when OCR reads it right, else what is wrong, in one sentence.
        """
        if not self._ocr:
            return "OCR is off (setting ocr); scanned pages and pictures are not read"
        async with self._lock:
            try:
                _, done = await self._ask({"type": "check"})
            except ReadingError as error:
                return str(error)
        problem = done.get("problem")
        return None if problem is None else str(problem)

    async def close(self) -> None:
        """End the worker."""
        async with self._lock:
            await self._stop()

    def _refuse(self, path: Path) -> None:
        try:
            status = path.stat()
        except OSError as error:
            raise ReadingError(f"it cannot be read: {error.strerror}") from None
        except ValueError as error:  # a NUL in the name
            raise ReadingError(f"it cannot be read: {error}") from None
        if not path.is_file():
            raise ReadingError("it is not a file")
        if not os.access(path, os.R_OK):
            raise ReadingError("it cannot be read: no permission")
        size = status.st_size / (1 << 20)
        if size > self._file_mb:
            raise LimitExceeded(
                f"the file has {size:,.1f} MiB; at most {self._file_mb:,} MiB are read "
                "(setting reading_file_mb)"
            )

    async def _ask(self, request: dict[str, Any]) -> tuple[list[Page], dict[str, Any]]:
        """Send a request and collect the answer; a worker that failed is not used again."""
        for attempt in (1, 2):
            process = await self._running()
            try:
                result = await self._exchange(process, request)
            except _NotBegun:
                await self._stop()
                if attempt == 2:
                    raise ReadingError(self._why(process, "did not start")) from None
            except BaseException:
                await self._stop()
                raise
            else:
                if isinstance(result, ReadingError):
                    if isinstance(result, LimitExceeded):
                        await self._stop()  # its memory is fragmented
                    raise result
                await self._retire(process)
                return result
        raise AssertionError  # the loop ends by return or raise

    async def _exchange(
        self, process: asyncio.subprocess.Process, request: dict[str, Any]
    ) -> tuple[list[Page], dict[str, Any]] | ReadingError:
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
    ) -> tuple[list[Page], dict[str, Any]] | ReadingError:
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
            _log.debug("reading.stderr", line=line)
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

    async def _running(self) -> asyncio.subprocess.Process:
        if self._process is not None and self._process.returncode is None:
            return self._process
        await self._stop()
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
        """Replace a worker that has read many files or holds half of the memory it may take."""
        self._files += 1
        if self._files >= _MOST_FILES or resident_mb(process.pid) > self._memory_mb // 2:
            await self._stop()

    async def _stop(self) -> None:
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


def _reading(pages: list[Page], done: dict[str, Any]) -> Reading:
    """The finished reading, checked; one without any text is an error that says why.

    Raises:
        EmptyDocument: no page has text.
        FrameError: a field of the worker's answer is not what it must be.
    """
    kind: Any = done.get("kind")
    citation: Any = done.get("citation")
    if kind not in KINDS or citation not in _CITATIONS:
        raise frames.FrameError(f"the worker read a {kind!r} cited by {citation!r}")
    given = done.get("warnings")
    if not isinstance(given, list) or len(given) > _MOST_WARNINGS:
        raise frames.FrameError("the worker's warnings are not a list, or too long a one")
    warnings = tuple(frames.checked_text({"warning": item}, "warning") for item in given)
    if not any(page.text.strip() for page in pages):
        raise EmptyDocument(_why_empty(kind, pages))
    title = None if done.get("title") is None else frames.checked_text(done, "title")
    return Reading(kind, tuple(pages), citation, title, warnings)


def _why_empty(kind: str, pages: list[Page]) -> str:
    reasons = list(dict.fromkeys(page.warning for page in pages if page.warning))
    blank = sum(page.route == "blank" for page in pages)
    text = f"no text was found in the {len(pages)} pages of this {kind}"
    if blank:
        text += f"; {blank} are blank"
    if reasons:
        more = f" (and {len(reasons) - 3} more such pages)" if len(reasons) > 3 else ""
        text += ". " + " ".join(reasons[:3]) + more
    return text
