"""What the owner does with a document once it is in the archive."""

from __future__ import annotations

import os
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from emily.errors import InputError, ReadingError, UnknownDocument
from emily.indexing.archive import Archive
from emily.indexing.catalogue import Catalogue, DocumentInfo
from emily.indexing.derived import run
from emily.indexing.discretion import is_private
from emily.indexing.files import storable
from emily.indexing.originals import Originals
from emily.indexing.prepare import Preparer
from emily.indexing.report import FileOutcome
from emily.indexing.stored import stored_document
from emily.life.exporting import Exporter, ExportReport
from emily.life.importing import Importer, ImportReport
from emily.life.notes import Note, Notes
from emily.life.trash import Trash, Trashed
from emily.life.versions import OldVersion, Version, Versions
from emily.models.servers import confidential
from emily.settings import Settings
from emily.store import Connection, Database
from emily.store.backup import BackupReport, Step, back_up

__all__ = ["Life", "Replaced"]

_MOST_NAME = 255
_ATTEMPTS = 3

TakeIn = Callable[[Path, int, tuple[str, str] | None], Awaitable[FileOutcome]]
"""Takes in a file as a new version of a document, see ``emily.indexing.adding.add_version``."""

Refuse = Callable[[int], Awaitable[None]]
"""Refuses what is not the archive's own to change: documents whose files stay the truth."""


@dataclass(frozen=True, slots=True)
class Replaced:
    """What a new version came to.

    Attributes:
        document: as it is now.
        version: its number.
        kept: number of the version that it was before; ``None`` where none was kept.
        outcome: of its file.
    """

    document: DocumentInfo
    version: int
    kept: int | None
    outcome: FileOutcome


class Life:
    """Notes, names, versions and the trash of one archive."""

    def __init__(
        self,
        settings: Settings,
        database: Database,
        archive: Archive,
        preparer: Preparer,
        catalogue: Catalogue,
        originals: Originals,
        take_in: TakeIn,
        refuse: Refuse,
    ) -> None:
        """Join the parts.

        Args:
            settings: of the home folder.
            database: an open store.
            archive: that documents are written to.
            preparer: of what is indexed.
            catalogue: finds documents.
            originals: the files themselves.
            take_in: takes in a new version.
            refuse: refuses documents that are not the archive's own to change.
        """
        self.settings = settings
        self._database = database
        self._archive = archive
        self._preparer = preparer
        self._catalogue = catalogue
        self._originals = originals
        self._take_in = take_in
        self._refuse = refuse
        self._notes = Notes(database, archive, preparer)
        self._versions = Versions(database)
        self._trash = Trash(database, archive, preparer, originals)
        self._exporter = Exporter(database, settings, originals)
        self._importer = Importer(database, settings, archive, preparer, originals, self._notes)

    async def note(self, document: str | int, text: str) -> Note:
        """Put a note on a document, given by id, exact name or path.

        Raises:
            InputError: the text is empty or too long.
            UnknownDocument, AmbiguousDocument: it is not one document.
            ModelUnavailable: the embedder cannot be loaded.
        """
        info = await self._info(document)
        return await self._notes.add(info.id, info.name, text)

    async def notes(self, document: str | int | None = None) -> Sequence[Note]:
        """The notes on a document, or all notes, the oldest first."""
        return await self._notes.list(
            None if document is None else await self._catalogue.resolve(document)
        )

    async def remove_note(self, note: int) -> Note:
        """Forget a note for good.

        Raises:
            InputError: there is no such note.
        """
        return await self._notes.remove(note)

    async def rename(self, document: str | int, name: str | None) -> DocumentInfo:
        """Give a document another name; its file and its path stay as they are.

        The name outlives new versions of the file. The document is indexed anew, because the
        words of a name are words of each of its chunks.

        Args:
            document: by id, exact name or path.
            name: the new one; ``None`` takes that of its file again.

        Raises:
            InputError: the name is empty, too long, or not on one line.
            UnknownDocument, AmbiguousDocument: it is not one document.
            ModelUnavailable: the embedder cannot be loaded.
        """
        info = await self._info(document)
        await self._refuse(info.id)
        if name is not None:
            _check_name(name)
        called = storable(Path(info.path).name) if name is None else storable(name)
        values = {"document_id": info.id, "name": called, "given_name": name and called}

        async def rename(connection: Connection) -> None:
            await run(connection, "rename_document", values)

        await self._index_as(info.id, called, rename)
        for note in await self._notes.list(info.id):
            await self._index_as(note.id, called, None)
        return (await self._catalogue.detail(info.id)).info

    async def versions(self, document: str | int) -> tuple[DocumentInfo, int, Sequence[Version]]:
        """A document, the number of its present version, and its earlier ones, oldest first."""
        info = await self._info(document)
        return info, await self._version(info.id), await self._versions.list(info.id)

    async def read_version(self, document: str | int, version: int) -> OldVersion:
        """An earlier version with its text.

        Raises:
            InputError: it is not kept.
            UnknownDocument, AmbiguousDocument: it is not one document.
        """
        return await self._versions.read(await self._catalogue.resolve(document), version)

    async def replace(self, document: str | int, file: Path | str) -> Replaced:
        """Replace a document's file by another one; what it was is kept as a version.

        It goes by the new file's path from now on, and keeps its id, its notes and its pins.

        Raises:
            InputError: the file is another document, or the same bytes.
            ReadingError: it cannot be read; nothing is changed.
            UnknownDocument, AmbiguousDocument: it is not one document.
        """
        info = await self._info(document)
        await self._refuse(info.id)
        path = Path(os.path.abspath(os.path.expanduser(file)))  # noqa: PTH100, PTH111
        if not str(file) or not path.is_file():
            raise InputError(f"{str(file)!r} is not a file. Give the path of one file.")
        at = await self._database.fetch_one(
            "given_name", {"into": None, "path": storable(str(path))}
        )
        if at is not None and at["id"] != info.id:
            raise InputError(
                f"{path} is document {at['id']} of the archive already. Remove that first, or "
                "give another file."
            )
        return await self._replaced(info, path, None)

    async def restore_version(self, document: str | int, version: int) -> Replaced:
        """Make an earlier version the present one; what it was is kept as a version.

        The owner's file is left as it is: where it is added again, its content is the present
        version again.

        Raises:
            InputError: the version is not kept, or is the present one.
            ReadingError: its file cannot be read any more; nothing is changed.
            UnknownDocument, AmbiguousDocument: it is not one document.
        """
        info = await self._info(document)
        await self._refuse(info.id)
        old = await self._versions.read(info.id, version)
        digest = old.file_sha256.hex()
        copies = sorted(self._originals.folder.glob(f"{digest[:2]}/{digest}*"))
        if not copies:
            raise InputError(
                f"The file of version {version} of document {info.id} is not in "
                f"{self._originals.folder}. emily doctor shows what else is missing."
            )
        return await self._replaced(info, copies[0], (storable(info.path), old.name))

    async def trash(self, document: str | int) -> tuple[DocumentInfo, int]:
        """Put a document into the trash; nothing finds it there.

        Returns:
            what it was, and how many documents went: it, and those inside of it alone.

        Raises:
            UnknownDocument, AmbiguousDocument: it is not one document.
        """
        info = await self._info(document)
        await self._refuse(info.id)
        return info, await self._trash.put(info.id)

    async def trashed(self) -> Sequence[Trashed]:
        """What lies in the trash, the oldest first."""
        return await self._trash.list()

    async def restore(self, document: str | int) -> tuple[Trashed, int]:
        """Bring a document back out of the trash.

        Returns:
            what it was, and how many documents came back.

        Raises:
            UnknownDocument: the trash does not hold it.
            ModelUnavailable: the embedder cannot be loaded.
        """
        found = await self._trash.find(document)
        return found, await self._trash.restore(found)

    async def empty_trash(self, documents: Sequence[str | int] = ()) -> Sequence[Trashed]:
        """Forget what lies in the trash for good, or some of it.

        Raises:
            UnknownDocument: the trash does not hold one of them; nothing is forgotten.
        """
        chosen = [await self._trash.find(document) for document in documents] or None
        return await self._trash.empty(chosen)

    async def forget(self, document: str | int) -> tuple[DocumentInfo, int]:
        """Forget a document for good at once, with those inside of it alone.

        Raises:
            UnknownDocument, AmbiguousDocument: it is not one document.
        """
        info, count = await self.trash(document)
        await self._trash.empty([await self._trash.find(info.id)])
        return info, count

    async def export(self, folder: Path, step: Step = lambda *_: None) -> ExportReport:
        """Write the archive into a new folder, in open formats.

        Raises:
            InputError: the folder is not empty or cannot be written.
        """
        return await self._exporter.run(folder, step)

    async def take_export(self, folder: Path, step: Step = lambda *_: None) -> ImportReport:
        """Take in a folder that ``export`` wrote; what is known already stays as it is.

        Raises:
            InputError: it is no whole export, or one of a later form.
            ModelUnavailable: the embedder cannot be loaded.
        """
        return await self._importer.run(folder, step)

    async def back_up(self, file: Path, step: Step = lambda *_: None) -> BackupReport:
        """Write all of the archive into one file, as one moment saw it; it stays in use.

        Raises:
            InputError: there is a file already, or it cannot be written.
        """
        return await back_up(self._database, self.settings, file, step=step)

    async def _replaced(
        self, info: DocumentInfo, path: Path, standing: tuple[str, str] | None
    ) -> Replaced:
        before = await self._version(info.id)
        outcome = await self._take_in(path, info.id, standing)
        if outcome.outcome == "failed":
            raise ReadingError(f"{path} is not read, so document {info.id} is as it was: "
                               f"{outcome.reason}")  # fmt: skip
        if outcome.outcome == "unchanged":
            raise InputError(f"Document {info.id} is made of these bytes already.")
        if outcome.outcome != "replaced":
            raise InputError(f"Document {info.id} is as it was. {outcome.reason}")
        now = (await self._catalogue.detail(info.id)).info
        kept = {item.version for item in await self._versions.list(info.id)}
        return Replaced(
            now, await self._version(info.id), before if before in kept else None, outcome
        )

    async def _index_as(
        self,
        document: int,
        name: str,
        first: Callable[[Connection], Awaitable[None]] | None,
    ) -> None:
        """Index a stored text anew under a name."""
        for _ in range(_ATTEMPTS):  # its text may be replaced while it is prepared
            stored = await stored_document(self._database, document)
            if stored is None:
                break
            with confidential(await is_private(self._database, document)):
                prepared = await self._preparer.prepared(stored.text, name)
            if await self._archive.rewrite(document, stored.text_sha256, prepared, first=first):
                return
        raise UnknownDocument(f"Document {document} is not there any more, or keeps changing.")

    async def _info(self, document: str | int) -> DocumentInfo:
        return (await self._catalogue.detail(await self._catalogue.resolve(document))).info

    async def _version(self, document: int) -> int:
        row = await self._database.fetch_one("file_and_kind", {"document_id": document})
        return 1 if row is None else int(row["version"])


def _check_name(name: str) -> None:
    """Refuse what is no name.

    Raises:
        InputError: so.
    """
    if not name.strip():
        raise InputError("The name is empty. Give a name: emily rename DOC NAME")
    if len(name) > _MOST_NAME:
        raise InputError(f"The name has {len(name)} characters; at most {_MOST_NAME} are kept.")
    if re.search(r"[\x00-\x1f\x7f\u2028\u2029]", name):
        raise InputError("The name holds a line break or another control character.")
