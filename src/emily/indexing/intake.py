"""Intake: one file on its way into the archive.

In two steps, so that the next file is read while this one is embedded: ``open`` looks whether
the archive knows the file and reads it, ``put`` indexes what was read.
"""

from __future__ import annotations

import asyncio
import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from emily.errors import ReadingError, StoreError, StoreUnavailable
from emily.indexing.archive import Archive, FileFacts, Twin
from emily.indexing.normalise import fingerprint_text
from emily.indexing.originals import Originals, file_sha256
from emily.indexing.prepare import Preparer
from emily.indexing.report import FileOutcome
from emily.indexing.text import DocumentText
from emily.reading.pages import Reading
from emily.store import is_refused_content

if TYPE_CHECKING:
    from emily.reading.reader import Reader

__all__ = ["Intake", "Opened"]

# A file that is being written is waited for: looked at again this often, this far apart.
_LOOKS, _PAUSE_SECONDS = 10, 0.5


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that was read and waits to be indexed."""

    file: FileFacts
    reading: Reading


class Intake:
    """Takes files in, one by one."""

    def __init__(
        self, reader: Reader, preparer: Preparer, archive: Archive, originals: Originals
    ) -> None:
        self._reader = reader
        self._preparer = preparer
        self._archive = archive
        self._originals = originals

    async def open(self, path: Path) -> Opened | FileOutcome:
        """Read a file that the archive does not know yet; what is known needs no reading.

        Raises:
            StoreUnavailable: the database cannot be reached.
        """
        try:
            for _ in range(_LOOKS):
                before = _state(path)
                facts = FileFacts(path, await asyncio.to_thread(file_sha256, path), before[0])
                known = await self._known(facts)
                if known is not None:
                    return known
                reading = await self._reader.read(path)
                if _state(path) == before:
                    return Opened(_described(facts, reading), reading)
                await asyncio.sleep(_PAUSE_SECONDS)
        except ReadingError as error:
            return await self._failed(path, str(error))
        except OSError as error:
            return await self._failed(path, f"It cannot be read: {error.strerror or error}")
        return await self._failed(path, "It keeps changing; add it again when it is complete.")

    async def put(self, opened: Opened) -> FileOutcome:
        """Index a file that was read.

        Raises:
            ModelUnavailable: the embedder cannot be loaded.
            StoreUnavailable: the database cannot be reached.
        """
        file = opened.file
        text = await asyncio.to_thread(DocumentText.from_reading, opened.reading)
        if not text.text.strip():
            return await self._failed(file.path, "It was read and holds no text.")
        if len(text.text) > self._preparer.most_characters:
            return await self._failed(
                file.path,
                f"Its text has {len(text.text):,} characters, and at most "
                f"{self._preparer.most_characters:,} are indexed (setting document_characters).",
            )
        prepared = await self._preparer.prepared(text, file.name)
        digest = hashlib.sha256(fingerprint_text(text.text).encode("utf-8")).digest()
        try:
            await asyncio.to_thread(self._originals.keep, file.path, file.sha256)
        except OSError as error:
            return await self._failed(
                file.path, f"Its copy cannot be kept in {self._originals.folder}: {error}"
            )
        except ValueError as error:
            return await self._failed(file.path, str(error))
        try:
            written = await self._archive.write(file, text, digest, prepared)
        except StoreUnavailable:
            raise
        except StoreError as error:
            if not is_refused_content(error):
                raise
            self._originals.forget(file.sha256)
            return await self._failed(file.path, f"The database does not take it: {error}")
        if written.forgotten is not None:
            self._originals.forget(written.forgotten)
        if written.twin is not None:
            if not written.twin.same_bytes:
                self._originals.forget(file.sha256)
            return _duplicate(file.path, written.twin)
        return FileOutcome(
            path=file.path,
            outcome=written.outcome,
            document=written.document,
            reason=_not_read(opened.reading, prepared.failures),
            chunks=len(prepared.chunks),
            pages=len(text.pages),
        )

    async def _known(self, file: FileFacts) -> FileOutcome | None:
        twins = await self._archive.twins(file)
        same = next((twin for twin in twins if twin.same_bytes), None)
        if same is None or not same.current:
            return None
        if same.same_path:
            return FileOutcome(file.path, "unchanged", same.id)
        if any(twin.same_path for twin in twins):
            return None  # the file at this path changed into a copy: decided when it is written
        await self._archive.link(file, same)
        return _duplicate(file.path, same)

    async def _failed(self, path: Path, reason: str) -> FileOutcome:
        """A failure; an earlier content of the file stays findable, and that is said."""
        facts = FileFacts(path, b"\0" * 32, 0)
        known = [twin for twin in await self._archive.twins(facts) if twin.same_path]
        if known:
            reason += f" The archive still holds its earlier content (document {known[0].id})."
            return FileOutcome(path, "failed", known[0].id, reason)
        return FileOutcome(path, "failed", None, reason)


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _described(file: FileFacts, reading: Reading) -> FileFacts:
    pages = [page.warning for page in reading.pages if page.warning is not None]
    return FileFacts(
        path=file.path,
        sha256=file.sha256,
        bytes=file.bytes,
        kind=reading.kind,
        title=reading.title,
        warnings=(*reading.warnings, *pages),
    )


def _duplicate(path: Path, twin: Twin) -> FileOutcome:
    same = "bytes" if twin.same_bytes else "text"
    gone = [known for known in twin.paths if known != str(path) and not Path(known).exists()]
    reason = (
        f"Moved: it was {gone[0]}."
        if gone and twin.same_bytes
        else f"The same {same} as document {twin.id}, {twin.name}."
    )
    return FileOutcome(path, "duplicate", twin.id, reason)


def _not_read(reading: Reading, failures: tuple[str, ...]) -> str | None:
    """What of a file is not searchable, in a sentence or two."""
    unread = [str(page.number) for page in reading.pages if page.route == "unread"]
    sentences = list(reading.warnings)
    if unread:
        sentences.append(f"Not read: page {', '.join(unread)} of {len(reading.pages)}.")
        sentences += [
            page.warning for page in reading.pages if page.route == "unread" and page.warning
        ][:1]
    return " ".join([*sentences, *failures]) or None
