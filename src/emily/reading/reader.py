"""The way into the reading room: files are read in a worker process, under limits."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Self, get_args

from emily.errors import EmptyDocument, LimitExceeded, ReadingError
from emily.reading import frames
from emily.reading.kind import KINDS
from emily.reading.limits import SlowWork
from emily.reading.pages import Attachment, Citation, Page, Reading
from emily.reading.process import Services, WorkerProcess
from emily.reading.spool import Spool

__all__ = ["Reader"]

_MOST_WARNINGS = 1000
_MOST_PICTURES = 100_000
_CITATIONS = frozenset(get_args(Citation))


class Reader:
    """Reads files, one at a time, in a warm worker process that is replaced when it fails.

    Args:
        seconds: longest time for one file.
        memory_mb: most memory for the worker, MiB.
        file_mb: largest file, MiB.
        ocr: whether scanned pages and pictures are read by OCR.
        ocr_engine: what they are read by, see ``emily.reading.ocr.engine.load``.
        threads: CPU threads of the libraries that parsers use.
        languages: of the archive, ISO 639-1; the bundled OCR knows all of Latin script (and
            Chinese and Japanese) at once and needs no choice, the other engines do.
        slow: how much slow work one file may ask for.
        spool: folder for files in between; by default the system's temporary one.
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
        ocr_engine: str = "rapidocr",
        languages: Sequence[str] = (),
        slow: SlowWork | None = None,
        spool: Path | None = None,
        command: Sequence[str] | None = None,
    ) -> None:
        self._file_mb = file_mb
        self._ocr = ocr
        self._slow = slow or SlowWork()
        self.languages = tuple(languages)
        self._spool = Spool(spool or Path(tempfile.gettempdir()) / f"emily-spool-{os.getuid()}")
        self._worker = WorkerProcess(
            command or (sys.executable, "-P", "-X", "utf8", "-m", "emily.reading.worker"),
            seconds=seconds,
            memory_mb=memory_mb,
            ocr=ocr_engine if ocr else None,
            threads=threads,
            file_mb=file_mb,
            languages=languages,
        )
        self._lock = asyncio.Lock()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def worker_pid(self) -> int | None:
        """Process id of the worker that runs now, if any."""
        return self._worker.pid

    async def start(self) -> None:
        """Start the worker ahead of the first file."""
        async with self._lock:
            await self._worker.start()

    async def read(
        self,
        path: Path,
        *,
        name: str | None = None,
        passwords: Sequence[str] = (),
        services: Services | None = None,
        sees: bool = False,
    ) -> Reading:
        """Read a file.

        Args:
            path: where it lies.
            name: its name, where ``path`` is only a place in between.
            passwords: tried on what is encrypted, in order.
            services: what the worker may ask for while it reads.
            sees: whether ``services`` has a vision model.

        Returns:
            Its pages, at least one of them with text, and the files inside of it. These lie in a
            folder of their own that the caller removes: ``release(reading)``.

        Raises:
            PasswordRequired: it opens only with a password.
            UnsupportedKind: there is no reader for its content.
            EmptyDocument: it was read and holds no text.
            LimitExceeded: it ran into a limit of time, memory or size.
            ReadingError: it is missing, unreadable or broken, crashed its parser, or none of its
                pages could be read (scanned, and OCR is off); the message says why.
        """
        self._refuse(path)
        async with self._lock:
            folder = self._spool.folder()
            scratch = self._spool.folder()
            request = {
                "type": "read",
                "path": os.fsencode(path).decode("latin-1"),
                "name": (name or path.name).encode("utf-8", "backslashreplace").decode(),
                "passwords": list(passwords),
                "scratch": str(scratch),
                "see": sees and services is not None,
                "slow": asdict(self._slow),
            }
            try:
                pages, attachments, done = await self._worker.ask(request, services, folder)
                reading = _reading(pages, attachments, done)
            except BaseException:
                shutil.rmtree(folder, ignore_errors=True)
                raise
            finally:
                await asyncio.to_thread(shutil.rmtree, scratch, ignore_errors=True)
            if not attachments:
                shutil.rmtree(folder, ignore_errors=True)
        return reading

    @staticmethod
    def release(reading: Reading) -> None:
        """Remove the files that a reading unpacked."""
        if reading.attachments:
            shutil.rmtree(reading.attachments[0].path.parent, ignore_errors=True)

    async def check_ocr(self) -> str | None:
        """Read a line rendered for the purpose.

        Returns:
            ``None`` when OCR reads it right, else what is wrong, in one sentence.
        """
        if not self._ocr:
            return "OCR is off (setting ocr); scanned pages and pictures are not read"
        async with self._lock:
            try:
                *_, done = await self._worker.ask({"type": "check"})
            except ReadingError as error:
                return str(error)
        problem = done.get("problem")
        return None if problem is None else str(problem)

    async def close(self) -> None:
        """End the worker."""
        async with self._lock:
            await self._worker.stop()

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


def _reading(pages: list[Page], attachments: list[Attachment], done: dict[str, Any]) -> Reading:
    """The finished reading, checked; one without any text is an error that says why.

    Raises:
        EmptyDocument: no page has text.
        ReadingError: no page has text, and some could not be read.
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
        unread = any(page.route == "unread" for page in pages)
        raise (ReadingError if unread else EmptyDocument)(_why_empty(kind, pages))
    title = None if done.get("title") is None else frames.checked_text(done, "title")
    pictures = done.get("pictures", [])
    if not isinstance(pictures, list) or len(pictures) > _MOST_PICTURES:
        raise frames.FrameError("the worker's pictures are not a list, or too long a one")
    return Reading(
        kind,
        tuple(pages),
        citation,
        title,
        warnings,
        frames.to_facts(done.get("facts")),
        tuple(map(frames.to_picture, pictures)),
        tuple(attachments),
    )


def _why_empty(kind: str, pages: list[Page]) -> str:
    reasons = list(dict.fromkeys(page.warning for page in pages if page.warning))
    blank = sum(page.route == "blank" for page in pages)
    if len(pages) == 1:
        text = f"no text was found in this {kind}"
        text += "; it is blank" if blank else ""
    else:
        text = f"no text was found in the {len(pages)} pages of this {kind}"
        text += f"; {blank} {'is' if blank == 1 else 'are'} blank" if blank else ""
    if reasons:
        more = f" (and {len(reasons) - 3} more such pages)" if len(reasons) > 3 else ""
        text += ". " + " ".join(reasons[:3]) + more
    return text
