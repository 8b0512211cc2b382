"""Intake: one file on its way into the archive.

In two steps, so that the next file is read while this one is embedded: ``open`` looks whether
the archive knows the file and reads it, ``put`` indexes what was read. Files inside of a file
follow it, each by the same two steps: ``parts`` gives them, ``finish`` ends them.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from emily.errors import (
    EmptyDocument,
    PasswordRequired,
    ReadingError,
    StoreError,
    StoreUnavailable,
    UnsupportedKind,
)
from emily.indexing.archive import Archive
from emily.indexing.facts import document_facts
from emily.indexing.files import Enclosure, FileFacts, Twin, is_there
from emily.indexing.normalise import fingerprint_text
from emily.indexing.originals import Originals, file_sha256
from emily.indexing.passing import is_passing
from emily.indexing.prepare import Preparer
from emily.indexing.report import FileOutcome, State
from emily.indexing.services import ReadingServices
from emily.indexing.text import DocumentText
from emily.reading.pages import Attachment, Reading
from emily.store import is_gone, is_refused_content

if TYPE_CHECKING:
    from emily.reading.reader import Reader

__all__ = ["Intake", "Opened", "Part"]

# A file that is being written is waited for: looked at again this often, this far apart.
_LOOKS, _PAUSE_SECONDS = 10, 0.5
_DATED = 20_000  # characters in which a document tells its date and whom it is from
_DEEPEST = 4  # files inside of files inside of files; what lies deeper is named and left out
_MOST_WARNINGS = 100  # about the files inside of one


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that was read and waits to be indexed."""

    file: FileFacts
    reading: Reading


@dataclass(frozen=True, slots=True)
class Part:
    """A file inside of a file that was taken in.

    Attributes:
        path: where its bytes lie meanwhile.
        enclosure: its place.
    """

    path: Path
    enclosure: Enclosure

    @property
    def shown(self) -> Path:
        """Its path as it is cited."""
        return Path(self.enclosure.path)


class Intake:
    """Takes files in, one by one.

    Args:
        reader: of files.
        preparer: of what is indexed.
        archive: that it is written to.
        originals: where copies are kept.
        services: what the reader may ask for.
        passwords: tried on what is encrypted.
    """

    def __init__(
        self,
        reader: Reader,
        preparer: Preparer,
        archive: Archive,
        originals: Originals,
        services: ReadingServices,
        passwords: Sequence[str] = (),
    ) -> None:
        self._reader = reader
        self._preparer = preparer
        self._archive = archive
        self._originals = originals
        self._passwords = tuple(passwords)
        self._services = services

    async def open(
        self,
        path: Path,
        enclosure: Enclosure | None = None,
        *,
        into: int | None = None,
        standing: tuple[str, str] | None = None,
    ) -> Opened | FileOutcome:
        """Read a file that the archive does not know yet; what is known needs no reading.

        Args:
            path: where it lies.
            enclosure: its place in another file, if it is none of its own.
            into: the document that it becomes a new version of; ``None`` for the one at its path.
            standing: stored path and name that it stands for, where ``path`` is only a copy.

        Raises:
            StoreUnavailable: the database cannot be reached.
        """
        facts = FileFacts(path, b"\0" * 32, 0, enclosure=enclosure, into=into, standing=standing)
        try:
            for _ in range(_LOOKS):
                before = _state(path)
                digest = await asyncio.to_thread(file_sha256, path)
                facts = replace(
                    facts, sha256=digest, bytes=before[0], passwords=bool(self._passwords)
                )
                known = await self._known(facts)
                if known is not None:
                    return known
                reading = await self._reader.read(
                    path,
                    name=facts.name,
                    passwords=self._passwords,
                    services=self._services,
                    sees=self._services.sees,
                )
                if _state(path) == before:
                    return Opened(_described(facts, reading), reading)
                self._reader.release(reading)
                await asyncio.sleep(_PAUSE_SECONDS)
        except PasswordRequired as error:
            if (same := await self._unchanged(facts)) is not None:
                return same
            return await self._failed(
                facts, f"{error}. Give it: emily add FILE --password", "needs a password"
            )
        except StoreError as error:
            if not is_gone(error):
                raise
            return _gone(facts)
        except (UnsupportedKind, EmptyDocument) as error:
            if enclosure is not None:  # a signature, a film: nobody's mistake, and said
                shown, outer = _shown(facts), _inside(facts)
                return FileOutcome(shown, "ignored", None, str(error), inside=outer)
            return await self._failed(facts, str(error))
        except ReadingError as error:
            cause = error.__context__  # of the system, such as no memory for another process
            passing = isinstance(cause, OSError) and is_passing(cause)
            return await self._failed(facts, str(error), transient=passing)
        except OSError as error:
            reason = f"It cannot be read: {error.strerror or error}"
            return await self._failed(facts, reason, transient=is_passing(error))
        return await self._failed(
            facts, "It keeps changing; add it again when it is complete.", transient=True
        )

    def parts(self, opened: Opened, outcome: FileOutcome) -> Iterator[Part]:
        """The files inside of a file that was put in."""
        if outcome.document is None or outcome.outcome not in {"added", "replaced"}:
            return
        outer, around = opened.file.stored_path, opened.file.enclosure
        depth = 0 if around is None else around.depth
        if depth >= _DEEPEST:
            return
        named = Counter(attachment.name for attachment in opened.reading.attachments)
        for attachment in opened.reading.attachments:
            name = attachment.name
            if named[name] > 1:
                name = f"{attachment.place}/{name}"
            place = Enclosure(outcome.document, attachment.place, name, outer, depth + 1)
            yield Part(attachment.path, place)

    def release(self, opened: Opened) -> None:
        """Remove the bytes of the files inside of a file from the disk."""
        self._reader.release(opened.reading)

    async def finish(
        self, opened: Opened, outcome: FileOutcome, parts: Sequence[FileOutcome]
    ) -> FileOutcome:
        """Note what came of the files inside of a file.

        Returns:
            the outcome of the outer file, which names those that were not read.
        """
        if outcome.document is None or outcome.outcome not in {"added", "replaced"}:
            return outcome
        warnings = [
            f"{part.path.name} inside of it is not read: {part.reason}"
            for part in parts
            if part.outcome in {"failed", "ignored"}
        ]
        if opened.reading.attachments and not parts:
            warnings.append("The files inside of it are not read: they are nested too deeply.")
        if len(warnings) > _MOST_WARNINGS:
            more = len(warnings) - _MOST_WARNINGS
            warnings[_MOST_WARNINGS:] = [f"{more:,} more files inside of it are not read."]
        for digest in await self._archive.finish_parts(
            outcome.document, [str(part.path) for part in parts], warnings
        ):
            self._originals.forget(digest)
        if not warnings:
            return outcome
        reason = " ".join(filter(None, [outcome.reason, *warnings[:3]]))
        return replace(outcome, reason=reason, state="in part")

    async def put(self, opened: Opened) -> FileOutcome:
        """Index a file that was read.

        Raises:
            ModelUnavailable: the embedder cannot be loaded.
            StoreUnavailable: the database cannot be reached.
        """
        file = opened.file
        text = await asyncio.to_thread(DocumentText.from_reading, opened.reading)
        if not text.text.strip():
            return await self._failed(file, "It was read and holds no text.")
        if len(text.text) > self._preparer.most_characters:
            return await self._failed(
                file,
                f"Its text has {len(text.text):,} characters, and at most "
                f"{self._preparer.most_characters:,} are indexed (setting document_characters).",
            )
        # A document that the owner has named goes by that name, whatever its file is called.
        given = await self._archive.given_name(file)
        prepared = await self._preparer.prepared(text, given or file.name)
        head = text.text[:_DATED]
        spoken = await asyncio.to_thread(self._preparer.dates_language, head, prepared.language)
        facts = document_facts(file.facts, head, spoken, file.name)
        file = replace(file, facts=facts)
        digest = await asyncio.to_thread(_text_sha256, text.text, opened.reading.attachments)
        try:
            await asyncio.to_thread(self._originals.keep, file.path, file.sha256)
        except OSError as error:
            return await self._failed(
                file,
                f"Its copy cannot be kept in {self._originals.folder}: {error}",
                transient=is_passing(error),
            )
        except ValueError as error:
            return await self._failed(file, str(error), transient=True)
        try:
            written = await self._archive.write(
                file, text, digest, prepared, opened.reading.pictures
            )
        except StoreUnavailable:
            raise
        except StoreError as error:
            if is_gone(error):
                await self._forget(file.sha256)
                return _gone(file)
            if not is_refused_content(error):
                raise
            await self._forget(file.sha256)
            return await self._failed(file, f"The database does not take it: {error}")
        for gone in written.forgotten:
            self._originals.forget(gone)
        if written.twin is not None:
            if not written.twin.same_bytes:
                await self._forget(file.sha256)
            return _duplicate(file, written.twin)
        missing = _not_read(opened.reading, prepared.failures)
        reason = " ".join(filter(None, [written.renewed, missing])) or None
        routes = {page.route for page in opened.reading.pages}
        routes |= {picture.route for picture in opened.reading.pictures}
        return FileOutcome(
            path=_shown(file),
            outcome=written.outcome,
            document=written.document,
            reason=reason,
            chunks=len(prepared.chunks),
            pages=len(text.pages),
            state="in part" if "unread" in routes else "read",
            inside=_inside(file),
        )

    async def _known(self, file: FileFacts) -> FileOutcome | None:
        twins = await self._archive.twins(file)
        same = next((twin for twin in twins if twin.same_bytes), None)
        if same is not None and same.trashed_at is not None:
            return _duplicate(file, same)
        if same is not None and file.into is not None and same.id != file.into:
            return _duplicate(file, same)
        if same is None or not same.current:
            return None
        if same.same_path:
            return FileOutcome(_shown(file), "unchanged", same.id, inside=_inside(file))
        if any(twin.same_path for twin in twins):
            return None  # the file at this path changed into a copy: decided when it is written
        await self._archive.link(file, same)
        return _duplicate(file, same)

    async def _forget(self, digest: bytes) -> None:
        """Delete the copy of a file that was not put in, unless something else is made of it."""
        for unneeded in await self._archive.unneeded([digest]):
            await asyncio.to_thread(self._originals.forget, unneeded)

    async def _unchanged(self, file: FileFacts) -> FileOutcome | None:
        """That the archive holds a closed file with these bytes: its text is there, as it was."""
        for twin in await self._archive.twins(file):
            if twin.same_bytes and twin.same_path:
                return FileOutcome(
                    _shown(file),
                    "unchanged",
                    twin.id,
                    "It opens only with a password, so what was read before is kept.",
                    inside=_inside(file),
                )
        return None

    async def _failed(
        self, file: FileFacts, reason: str, state: State = "failed", *, transient: bool = False
    ) -> FileOutcome:
        """A failure; an earlier content of the file stays findable, and that is said."""
        twins = await self._archive.twins(replace(file, sha256=b"\0" * 32))
        known = next((twin.id for twin in twins if twin.same_path), None)
        if known is not None:
            reason += f" The archive still holds its earlier content (document {known})."
        return FileOutcome(
            _shown(file),
            "failed",
            known,
            reason,
            state=state,
            inside=_inside(file),
            transient=transient,
        )


def _shown(file: FileFacts) -> Path:
    """The path that the owner knows."""
    return file.path if file.enclosure is None else Path(file.stored_path)


def _gone(file: FileFacts) -> FileOutcome:
    """What holds the file was removed while it was being taken in."""
    reason = "What it lies in was removed from the archive meanwhile."
    return FileOutcome(_shown(file), "failed", None, reason, state="failed", inside=_inside(file))


def _inside(file: FileFacts) -> Path | None:
    return None if file.enclosure is None else Path(file.enclosure.outer)


def _text_sha256(text: str, attachments: Sequence[Attachment]) -> bytes:
    """What tells one document from another: its text, and the files inside of it."""
    digest = hashlib.sha256(fingerprint_text(text).encode("utf-8"))
    for attachment in attachments:
        digest.update(file_sha256(attachment.path))
    return digest.digest()


def _state(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_size, found.st_mtime_ns


def _described(file: FileFacts, reading: Reading) -> FileFacts:
    pages = [page.warning for page in reading.pages if page.warning is not None]
    return replace(
        file,
        kind=reading.kind,
        title=reading.title,
        warnings=(*reading.warnings, *pages),
        facts=reading.facts,
        parts=len(reading.attachments),
    )


def _duplicate(file: FileFacts, twin: Twin) -> FileOutcome:
    same = "bytes" if twin.same_bytes else "text"
    if twin.trashed_at is not None:
        reason = (
            f"It is in the trash: the same {same} as document {twin.id}, {twin.name}, which went "
            f"there on {twin.trashed_at.astimezone():%Y-%m-%d}. It is not searched. Bring it back "
            f"with: emily trash restore {twin.id}"
        )
        return FileOutcome(_shown(file), "duplicate", twin.id, reason, inside=_inside(file))
    gone = [known for known in twin.paths if known != file.stored_path and not is_there(known)]
    reason = f"The same {same} as document {twin.id}, {twin.name}."
    if gone and twin.same_bytes:
        reason = f"Moved: it was {gone[0]}."
        if twin.name == Path(gone[0]).name != Path(file.stored_path).name:
            reason += (
                f" It is still called {twin.name}; emily rename {twin.id} --file-name gives it "
                "the name of its file."
            )
    return FileOutcome(_shown(file), "duplicate", twin.id, reason, inside=_inside(file))


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
