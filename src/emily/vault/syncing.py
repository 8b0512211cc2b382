"""A vault and its folder: what changed is read again, and nothing else."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from emily.errors import EmptyDocument, ModelUnavailable, ReadingError, UnsupportedKind
from emily.indexing.facts import document_facts
from emily.indexing.originals import file_sha256
from emily.indexing.prepare import Preparer
from emily.indexing.stored import stored_document
from emily.indexing.text import DocumentText
from emily.models.protocols import Embedder
from emily.store import Database
from emily.vault.changes import Changes, FileState, KnownFile, compare, match_moves
from emily.vault.drafting import draft_note, note_digest
from emily.vault.keeping import VERSION, Draft, Keeper, WordsOnly
from emily.vault.leading import Names
from emily.vault.report import SyncReport
from emily.vault.walk import FileSeen, Walk, read_bytes, reason, walk

if TYPE_CHECKING:
    from emily.indexing.services import ReadingServices
    from emily.reading.pages import Reading
    from emily.reading.reader import Reader

__all__ = ["Attachments", "VaultSync", "certain"]

_BATCH_FILES = 64
_BATCH_BYTES = 2_000_000
_DATED = 20_000  # characters in which an attachment tells its date
# A file that was written within this time of being read may be written again under the same date.
_FINE_NS, _COARSE_NS = 20_000_000, 2_100_000_000

Tell = Callable[[str, int, int], None]
"""Told of progress: the file at hand, how many are done, of how many."""


@dataclass(slots=True)
class Attachments:
    """How attachments are read; only where they are wanted.

    Attributes:
        reader: gives the reader of files.
        services: what it may ask for.
    """

    reader: Callable[[], Reader]
    services: Callable[[], ReadingServices]


@dataclass(slots=True)
class _Outcome:
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    moved: list[tuple[str, str]] = field(default_factory=list)
    words_only: list[str] = field(default_factory=list)
    failed: list[tuple[str, str]] = field(default_factory=list)
    seen: list[tuple[KnownFile, FileState]] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    vanished: set[str] = field(default_factory=set)
    files: list[KnownFile] = field(default_factory=list)
    led: set[str] = field(default_factory=set)
    writes: int = 0


class VaultSync:
    """Keeps one vault in step with its folder; what it knows of the files stays in memory.

    Args:
        database: the store.
        keeper: writes documents.
        preparer: cuts attachments.
        embedder: counts tokens.
        attachments: how those are read.
        vault: id, name, path and device of the vault, as ``list_vaults`` has them.
    """

    def __init__(
        self,
        database: Database,
        keeper: Keeper,
        preparer: Preparer,
        embedder: Embedder,
        attachments: Attachments,
        vault: Mapping[str, object],
    ) -> None:
        self._database = database
        self._keeper = keeper
        self._preparer = preparer
        self._embedder = embedder
        self._attachments = attachments
        self.id = int(str(vault["id"]))
        self.name = str(vault["name"])
        self.folder = str(vault["path"])
        self.device = str(vault["device"])
        self._known: dict[str, KnownFile] = {}
        self._revision = -1
        self._names = Names(database, self.id)

    async def run(self, revision: int, *, whole: bool, tell: Tell) -> SyncReport:
        """Compare the vault with its folder, and read what changed.

        Args:
            revision: of the archive; what is known is read again where it is another.
            whole: read attachments, and notes of an earlier way of cutting, as well; a search
                does without, for it waits.
            tell: called for each file that is read.

        Raises:
            StoreUnavailable: the database is lost; what was written stays.
        """
        try:
            found = await asyncio.to_thread(walk, self.folder)
            device = str(Path(self.folder).stat().st_dev)
        except OSError as error:
            return self._unreachable(reason(error))
        await self._load(revision)
        files = _States(found.files)
        if self._known and not files and device != self.device:
            return self._unreachable("it is empty and on another disk than before")
        known = self._known
        odd = {item.path: files[item.path] for item in found.files if _differs(item, known)}
        lost = {path: known[path] for path in known.keys() - files.keys()}
        before = lost | {path: known[path] for path in odd if path in known}
        changes = _spared(compare(before, odd), found)
        outdated = self._outdated(files) if whole else ()
        waiting = [path for path in (files if whole else odd) if self._waits(path, files[path])]
        skipped = tuple((item.path, item.reason) for item in found.left_out)
        if changes.none and not outdated and not (whole and waiting):
            if whole:
                await self._database.execute("vault_synced", self._synced(device))
            return SyncReport(
                self.name,
                self.folder,
                unchanged=len(files),
                waiting=tuple(waiting),
                skipped=skipped,
            )
        outcome, gone = await self._apply(changes, files, outdated, waiting if whole else (), tell)
        await self._keeper.seen(outcome.seen)
        await self._names.lead(outcome.led, [file.path for file in changes.gone])
        await self._database.execute("vault_synced", self._synced(device))
        await self._remember(outcome, [*changes.gone, *gone])
        done = {path for path in outcome.written if not files[path].note}
        done |= {file.path for file, _ in outcome.seen}
        return SyncReport(
            self.name,
            self.folder,
            added=tuple(outcome.added),
            changed=tuple(outcome.changed),
            moved=tuple(outcome.moved),
            removed=tuple(file.path for file in gone),
            unchanged=len(files) - len(outcome.added) - len(outcome.changed) - len(outcome.moved),
            waiting=tuple(path for path in waiting if not (whole and path in done)),
            words_only=tuple(outcome.words_only),
            failed=tuple(outcome.failed),
            skipped=skipped,
        )

    def _synced(self, device: str) -> dict[str, object]:
        return {"vault_id": self.id, "device": device}

    def _unreachable(self, why: str) -> SyncReport:
        return SyncReport(
            self.name,
            self.folder,
            reachable=False,
            notices=(
                f"The vault {self.name} cannot be looked at now ({self.folder}: {why}). Its notes "
                "are kept as they were; they may have changed since.",
            ),
        )

    async def _load(self, revision: int) -> None:
        if revision == self._revision:
            return
        self._names.forget()
        rows = await self._database.fetch("vault_files", {"vault_id": self.id})
        self._known = {
            row["path"]: KnownFile(
                row["id"], row["path"], row["note"], row["document_id"], row["bytes"],
                row["modified_ns"], row["inode"], row["sha256"], row["version"], row["complete"],
            )
            for row in rows
        }  # fmt: skip
        self._revision = revision

    async def _remember(self, outcome: _Outcome, gone: Sequence[KnownFile]) -> None:
        """Take over what was written, unless another process wrote meanwhile."""
        now = await self._database.fetch_one("revision_number")
        if now is None or now["number"] != self._revision + outcome.writes:
            self._revision = -1  # all is read again at the next run
            return
        self._revision = now["number"]
        for file in gone:
            self._known.pop(file.path, None)
        for file in outcome.files:
            self._known[file.path] = file
        for file, state in outcome.seen:
            self._known[file.path] = replace(
                file, size=state.size, modified_ns=state.modified_ns, inode=state.inode
            )

    def _outdated(self, files: Mapping[str, FileState]) -> tuple[str, ...]:
        """Files that were cut in another way, and notes without vectors."""
        return tuple(
            path
            for path, file in self._known.items()
            if path in files
            and file.note is files[path].note
            and (file.version != VERSION or (file.note and not file.complete))
        )

    def _waits(self, path: str, state: FileState) -> bool:
        """Whether an attachment is to be read."""
        if state.note:
            return False
        file = self._known.get(path)
        return (
            file is None
            or not file.sha256
            or file.note
            or (file.document is None and not file.complete)
            or (file.size, file.modified_ns) != (state.size, state.modified_ns)
        )

    async def _apply(
        self,
        changes: Changes,
        files: Mapping[str, FileState],
        outdated: Sequence[str],
        waiting: Sequence[str],
        tell: Tell,
    ) -> tuple[_Outcome, list[KnownFile]]:
        outcome = _Outcome()
        fresh = await self._digests(changes.fresh, files, outcome) if changes.gone else {}
        moved = match_moves(changes.gone, fresh)
        work = [path for path in changes.fresh if path not in outcome.vanished]
        work += changes.touched
        again = [path for path in outdated if path not in set(work)]
        notes = [path for path in (*work, *again) if files[path].note]
        others = [path for path in work if not files[path].note and path not in waiting]
        total = len(notes) + len(waiting)
        batch: list[Draft] = []
        size = 0
        for place, path in enumerate(notes):
            tell(path, place, total)
            draft = await self._note(path, files[path], moved.get(path), outcome)
            if draft is None:
                continue
            batch.append(draft)
            size += files[path].size
            if len(batch) >= _BATCH_FILES or size >= _BATCH_BYTES:
                await self._write(batch, outcome)
                batch, size = [], 0
        for path in others:
            batch.append(await self._unread(path, files[path], moved.get(path)))
        await self._write(batch, outcome)
        for place, path in enumerate(waiting, start=len(notes)):
            tell(path, place, total)
            draft = await self._attachment(path, files[path], moved.get(path), outcome)
            if draft is not None:
                await self._write([draft], outcome)
        for path in again:
            if not files[path].note and path not in waiting:
                known = self._known[path]
                await self._write([await self._renamed(path, files[path], known)], outcome)
        taken = {file.id for file in moved.values()}
        gone = [file for file in changes.gone if file.id not in taken]
        gone += [self._known[path] for path in outcome.vanished if path in self._known]
        if gone:
            await self._keeper.forget(self.folder, gone)
            outcome.writes += 1
        return outcome, gone

    async def _digests(
        self, paths: Sequence[str], files: Mapping[str, FileState], outcome: _Outcome
    ) -> dict[str, tuple[bytes, FileState]]:
        """SHA-256 of new files, to know those that were moved."""

        def digests() -> dict[str, tuple[bytes, FileState]]:
            found = {}
            for path in paths:
                try:
                    found[path] = (file_sha256(Path(self.folder, path)), files[path])
                except OSError as error:
                    outcome.failed.append((path, reason(error)))
                    outcome.vanished.add(path)
            return found

        return await asyncio.to_thread(digests)

    async def _write(self, drafts: Sequence[Draft], outcome: _Outcome) -> None:
        if not drafts:
            return
        kept = await self._keeper.write(self.id, self.folder, drafts)
        outcome.words_only += kept.words_only
        outcome.files += kept.files
        outcome.led |= kept.led
        outcome.writes += 1
        for draft in drafts:
            outcome.written.append(draft.path)
            if draft.before is None:
                outcome.added.append(draft.path)
            elif draft.before.path != draft.path:
                outcome.moved.append((draft.before.path, draft.path))
            elif draft.before.sha256 != draft.sha256:
                outcome.changed.append(draft.path)

    async def _note(
        self, path: str, state: FileState, moved: KnownFile | None, outcome: _Outcome
    ) -> Draft | None:
        """A note to be written; ``None`` if it is as it was, or cannot be read."""
        before = moved or self._known.get(path)
        try:
            data = await asyncio.to_thread(read_bytes, self.folder, path)
        except FileNotFoundError:
            outcome.vanished.add(path)
            return None
        except OSError as error:
            # What it held before may be no longer true, so it is not shown.
            outcome.failed.append((path, reason(error)))
            return Draft(path, _unsure(state), b"", before, problems=(reason(error),))
        try:
            draft = await asyncio.to_thread(
                draft_note, path, data, certain(state), before, self._embedder
            )
        except ModelUnavailable:
            words = WordsOnly(self._embedder.identity, self._embedder.words_identity)
            draft = await asyncio.to_thread(draft_note, path, data, certain(state), before, words)
        if (
            before is not None
            and before.path == path
            and before.note
            and before.document is not None
            and before.sha256 == draft.sha256
            and before.version == VERSION
            and before.complete
        ):
            outcome.seen.append((before, draft.state))
            return None
        return draft

    async def _unread(self, path: str, state: FileState, moved: KnownFile | None) -> Draft:
        """An attachment that waits to be read: it can be linked to; what was moved is known."""
        if moved is not None and moved.sha256:
            return await self._renamed(path, state, moved)
        # What it held before is shown no longer until it is read again.
        return Draft(path, _unsure(state), b"", moved or self._known.get(path))

    async def _renamed(self, path: str, state: FileState, before: KnownFile) -> Draft:
        """An attachment that lies elsewhere: its text is kept and read from the database."""
        draft = Draft(path, state, before.sha256, before)
        if before.document is None:
            return draft
        stored = await stored_document(self._database, before.document)
        row = await self._database.fetch_one("list_documents", {"id": before.document})
        if stored is None or row is None:
            return replace(draft, sha256=b"")
        own = await self._database.fetch_one("vault_of_document", {"document_id": before.document})
        if own is None:
            return replace(draft, archived=before.document)
        return await self._cut(
            replace(draft, kind=row["kind"], text=stored.text, title=row["title"] or "")
        )

    async def _attachment(
        self, path: str, state: FileState, moved: KnownFile | None, outcome: _Outcome
    ) -> Draft | None:
        """An attachment that is read."""
        before = moved or self._known.get(path)
        full = Path(self.folder, path)
        try:
            digest = await asyncio.to_thread(file_sha256, full)
        except OSError as error:
            outcome.failed.append((path, reason(error)))
            return None
        if moved is not None and moved.sha256 == digest:
            return await self._renamed(path, state, moved)
        known = before is not None and (before.document is not None or before.complete)
        if before is not None and known and before.sha256 == digest and before.path == path:
            outcome.seen.append((before, certain(state)))
            return None
        draft = Draft(path, certain(state), digest, before)
        rows = await self._database.fetch("archived_with_bytes", {"digests": [digest]})
        if rows:
            return replace(draft, archived=rows[0]["id"])
        reader = self._attachments.reader()
        services = self._attachments.services()
        try:
            reading = await reader.read(full, services=services, sees=services.sees)
        except (UnsupportedKind, EmptyDocument):
            return draft  # nothing to read in it: it can be linked to
        except ReadingError as error:
            outcome.failed.append((path, str(error)))
            return replace(draft, problems=(str(error),))
        except OSError as error:
            outcome.failed.append((path, reason(error)))
            return None
        try:
            return await self._read(draft, reading)
        finally:
            reader.release(reading)

    async def _read(self, draft: Draft, reading: Reading) -> Draft:
        text = await asyncio.to_thread(DocumentText.from_reading, reading)
        if not text.text.strip():
            return draft
        if len(text.text) > self._preparer.most_characters:
            return replace(
                draft,
                problems=(
                    f"Its text has {len(text.text):,} characters, and at most "
                    f"{self._preparer.most_characters:,} are indexed (setting "
                    "document_characters).",
                ),
            )
        problems = [*reading.warnings, *(page.warning for page in reading.pages if page.warning)]
        if reading.attachments:
            problems.append("The files inside of it are not read.")
        return await self._cut(
            replace(
                draft,
                kind=reading.kind,
                text=text,
                title=reading.title or "",
                facts=document_facts(reading.facts, text.text[:_DATED], None, draft.name),
                problems=tuple(problems),
                pictures=tuple(reading.pictures),
            )
        )

    async def _cut(self, draft: Draft) -> Draft:
        """An attachment cut by size, with what its vectors are kept by."""
        text = draft.text
        assert text is not None
        chunks = tuple(await asyncio.to_thread(self._preparer.chunks, text))
        digests = tuple(note_digest(item, text.text[item.start : item.end]) for item in chunks)
        return replace(draft, chunks=chunks, digests=digests)


class _States(Mapping[str, FileState]):
    """The files of a folder by path; of thousands of files few states are ever looked at."""

    def __init__(self, seen: Iterable[FileSeen]) -> None:
        self._seen = {file.path: file for file in seen}

    def __getitem__(self, path: str) -> FileState:
        file = self._seen[path]
        inode = f"{file.identity[0]}:{file.identity[1]}"
        return FileState(file.size, file.modified, inode, file.kind != "attachment")

    def __iter__(self) -> Iterator[str]:
        return iter(self._seen)

    def __len__(self) -> int:
        return len(self._seen)

    def __contains__(self, path: object) -> bool:
        return path in self._seen


def _differs(file: FileSeen, known: Mapping[str, KnownFile]) -> bool:
    """Whether a file is not, by size and date, as it was known."""
    before = known.get(file.path)
    return (
        before is None
        or before.modified_ns != file.modified
        or before.size != file.size
        or before.note is (file.kind == "attachment")
    )


def certain(state: FileState) -> FileState:
    """The state with a date that tells; 0 where the file may change again under the same date."""
    coarse = state.modified_ns % 1_000_000_000 == 0
    age = time.time_ns() - state.modified_ns
    fresh = 0 <= age < (_COARSE_NS if coarse else _FINE_NS)
    return _unsure(state) if fresh else state


def _unsure(state: FileState) -> FileState:
    """The state without a date: the file is to be looked at again."""
    return replace(state, modified_ns=0)


def _spared(changes: Changes, found: Walk) -> Changes:
    """Without the files of folders that could not be looked into: they are not known to be gone."""
    failed = [item.path for item in found.left_out if item.state == "failed"]
    if not failed or not changes.gone:
        return changes
    inside = tuple(f"{path}{os.sep}" for path in failed)
    kept = tuple(
        file
        for file in changes.gone
        if file.path not in failed and not file.path.startswith(inside)
    )
    return replace(changes, gone=kept)
