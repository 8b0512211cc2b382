"""The worker process seen from its parent: started, watched, spoken to, replaced."""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import logging
import os
import signal
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from emily import errors
from emily.errors import LimitExceeded, ReadingError
from emily.reading import frames
from emily.reading.limits import (
    ENCLOSED_RATIO,
    MOST_CALLS,
    MOST_CHARACTERS,
    MOST_ENCLOSED,
    resident_mb,
    watch_memory,
)
from emily.reading.pages import Attachment, Page, PictureReading

__all__ = ["Answer", "Services", "WorkerProcess"]

Answer = tuple[list[Page], list[Attachment], dict[str, Any]]
"""The pages that a worker sent, the files inside of the file, and its last message."""


class Services(Protocol):
    """What a worker may ask for while it reads; it has no way to it of its own."""

    async def known(self, sha256: bytes) -> PictureReading | None:
        """What the archive holds of a picture, if it does."""
        ...

    async def see(self, image: bytes) -> str:
        """What a vision model reads in a picture, PNG or JPEG.

        Raises:
            ReadingError: it failed, or there is none.
        """
        ...


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
        ocr: the engine of OCR; ``None`` for none.
        languages: of the archive, for the engine.
        threads: CPU threads of the libraries that parsers use.
        file_mb: size of the largest file, MiB.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        seconds: int,
        memory_mb: int,
        ocr: str | None,
        threads: int,
        file_mb: int,
        languages: Sequence[str] = (),
    ) -> None:
        self._command = tuple(command)
        self._seconds = seconds
        self._memory_mb = memory_mb
        self._ocr = ocr
        self._languages = tuple(languages)
        self._threads = threads
        self._file_mb = file_mb
        self._process: asyncio.subprocess.Process | None = None
        self._errors: deque[str] = deque(maxlen=_KEPT_LINES)
        self._drain: asyncio.Task[None] | None = None
        self._files = 0

    @property
    def pid(self) -> int | None:
        """Process id of the worker that runs now, if any."""
        return None if self._process is None else self._process.pid

    async def ask(
        self,
        request: dict[str, Any],
        services: Services | None = None,
        spool: Path | None = None,
    ) -> Answer:
        """Send a request and collect the answer. A worker that failed is not used again.

        Args:
            request: what to do.
            services: answers what the worker asks back; none is given without.
            spool: an empty folder for the files inside of the file.

        Raises:
            ReadingError: what the worker reports, or how it failed.
        """
        for attempt in (1, 2):
            process = await self.start()
            talk = _Talk(process, services, spool, ENCLOSED_RATIO * (self._file_mb << 20))
            talk.calls = request.get("slow", {}).get("calls", MOST_CALLS)
            try:
                result = await self._exchange(process, talk, request)
            except _NotBegun:
                await self.stop()
                if attempt == 2:
                    raise ReadingError(self._why(process, "did not start")) from None
            except _Ended:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(process.wait(), 5)
                crash = self._crash(process)
                await self.stop()
                raise crash from None
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
        self, process: asyncio.subprocess.Process, talk: _Talk, request: dict[str, Any]
    ) -> Answer | ReadingError:
        clock = asyncio.get_running_loop().time
        began = clock()
        watch = asyncio.create_task(watch_memory(process.pid, self._memory_mb))
        talking = asyncio.create_task(talk.run(request))
        try:
            while (left := began + self._seconds + _GRACE + talk.waited(clock()) - clock()) > 0:
                await asyncio.wait(
                    {watch, talking}, timeout=left, return_when=asyncio.FIRST_COMPLETED
                )
                if talking.done():
                    return talking.result()
                if watch.done():
                    raise LimitExceeded(
                        f"reading it took {watch.result():,} MiB of memory; at most "
                        f"{self._memory_mb:,} MiB are allowed (setting reading_memory_mb)"
                    )
            raise LimitExceeded(
                f"reading it took more than {self._seconds:,} s (setting reading_seconds)"
            )
        finally:
            for task in (watch, talking):
                task.cancel()
            await asyncio.gather(watch, talking, return_exceptions=True)

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
            *("--file-mb", str(self._file_mb)),
            *(["--ocr", self._ocr] if self._ocr else []),
            *("--languages", ",".join(self._languages)),
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
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if sys.platform == "win32":
                    process.kill()
                else:  # what it started (LibreOffice) goes with it: it leads a session
                    os.killpg(process.pid, signal.SIGKILL)
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


class _Ended(Exception):
    """The worker ended in the middle of its answer."""


class _Talk:
    """One request and its answer, frame by frame."""

    def __init__(
        self,
        process: asyncio.subprocess.Process,
        services: Services | None,
        spool: Path | None,
        most_bytes: int,
    ) -> None:
        if process.stdin is None or process.stdout is None:
            raise AssertionError  # both are pipes
        self._stdin, self._stdout = process.stdin, process.stdout
        self._services = services
        self._spool = spool
        self._left = most_bytes
        self._begun = False
        self._places = 0
        self._seen = 0
        self.calls = MOST_CALLS
        self._waited = 0.0
        self._waits_since: float | None = None
        self.pages: list[Page] = []
        self.attachments: list[Attachment] = []

    def waited(self, now: float) -> float:
        """Seconds spent on services so far, which are not the worker's."""
        return self._waited + (0 if self._waits_since is None else now - self._waits_since)

    async def run(self, request: dict[str, Any]) -> Answer | ReadingError:
        """The whole exchange."""
        characters = 0
        try:
            await self._send(request)
            while True:
                message = await self._receive()
                match message.get("type"):
                    case "begun":
                        self._begun = True
                    case "page":
                        self.pages.append(frames.to_page(message, len(self.pages) + 1))
                        characters += len(self.pages[-1].text)
                        if len(self.pages) > _MOST_PAGES or characters > 2 * MOST_CHARACTERS:
                            raise frames.FrameError("the worker sent more than a document holds")
                    case "known":
                        await self._known(message)
                    case "see":
                        await self._see(message)
                    case "enclosed":
                        await self._enclosed(message)
                    case "done" | "checked":
                        return self.pages, self.attachments, message
                    case "error":
                        return _error(message)
                    case other:
                        raise frames.FrameError(f"the worker sent a message of type {other!r}")
        except (asyncio.IncompleteReadError, ConnectionError):
            raise (_Ended if self._begun else _NotBegun) from None

    async def _send(self, message: dict[str, Any]) -> None:
        self._stdin.write(frames.encode(message))
        await self._stdin.drain()

    async def _receive(self) -> dict[str, Any]:
        size = frames.length(await self._stdout.readexactly(4))
        return frames.decode(await self._stdout.readexactly(size))

    async def _known(self, message: dict[str, Any]) -> None:
        try:
            digest = bytes.fromhex(frames.checked_text(message, "sha256"))
        except ValueError:
            raise frames.FrameError("a picture's digest is not hexadecimal") from None
        found = None if self._services is None else await self._services.known(digest)
        fields = None if found is None else frames.picture_fields(found)
        await self._send({"type": "picture", "picture": fields})

    async def _see(self, message: dict[str, Any]) -> None:
        if self._services is None:
            raise frames.FrameError("the worker asked for a vision model that it was not given")
        self._seen += 1
        if self._seen > self.calls:
            raise frames.FrameError("the worker asked the vision model more often than it may")
        image = _bytes(message, "image")
        clock = asyncio.get_running_loop().time
        self._waits_since = clock()
        try:
            reply = {"type": "seen", "text": await self._services.see(image), "problem": None}
        except ReadingError as error:
            reply = {"type": "seen", "text": None, "problem": str(error)}
        finally:
            self._waited = self.waited(clock())
            self._waits_since = None
        await self._send(reply)

    async def _enclosed(self, message: dict[str, Any]) -> None:
        """Take a file inside of the file, to its end; one that is broken is not kept."""
        if self._spool is None or self._places >= MOST_ENCLOSED:
            raise frames.FrameError("the worker sent more files than it may")
        name = frames.checked_text(message, "name")
        self._places += 1
        place = self._places
        path = self._spool / f"{place}{_suffix(name)}"
        with path.open("wb") as file:
            while (part := await self._receive()).get("type") == "bytes":
                data = _bytes(part, "data")
                self._left -= len(data)
                if self._left < -(1 << 21):  # the worker stops by itself before
                    raise frames.FrameError("the worker sent more bytes than it may")
                await asyncio.to_thread(file.write, data)
        if part.get("type") != "enclosed_end":
            raise frames.FrameError(f"the worker sent {part.get('type')!r} inside of a file")
        if part.get("problem") is None:
            self.attachments.append(Attachment(name, path, place))
        else:
            path.unlink()


def _suffix(name: str) -> str:
    """The suffix of a foreign name, if it is a plain one: it becomes part of a name of ours."""
    suffix = Path(name.rpartition("/")[2]).suffix.lower()
    return suffix if suffix[1:].isascii() and suffix[1:].isalnum() and len(suffix) <= 12 else ""


def _bytes(message: dict[str, Any], name: str) -> bytes:
    try:
        return base64.b64decode(frames.checked_text(message, name), validate=True)
    except (binascii.Error, ValueError):
        raise frames.FrameError(f"'{name}' is not base64") from None


def _error(message: dict[str, Any]) -> ReadingError:
    """The error that a worker reports, as one of the classes it may report."""
    reason = frames.checked_text(message, "reason")
    found = getattr(errors, str(message.get("error")), None)
    if isinstance(found, type) and issubclass(found, ReadingError):
        return found(reason)
    return ReadingError(reason)
