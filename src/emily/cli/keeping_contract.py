"""The JSON of the commands that keep the archive: settings, notes, versions, trash, copies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from emily.cli.contract import Output, SettingPart

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emily.cli.settings import SettingInfo
    from emily.indexing.catalogue import DocumentInfo
    from emily.life.exporting import ExportReport
    from emily.life.importing import ImportReport
    from emily.life.notes import Note
    from emily.life.service import Replaced
    from emily.life.trash import Trashed
    from emily.life.versions import OldVersion, Version
    from emily.store.backup import BackupReport, RestoreReport
    from emily.store.registry import SettingChange

__all__ = [
    "BackupOutput",
    "ConfigChangeOutput",
    "ConfigGetOutput",
    "ExportOutput",
    "ImportOutput",
    "NoteOutput",
    "RenameOutput",
    "ReplaceOutput",
    "RestoreOutput",
    "TrashEmptyOutput",
    "TrashOutput",
    "TrashRestoreOutput",
    "VersionOutput",
    "VersionsOutput",
    "backup_output",
    "config_change_output",
    "config_get_output",
    "export_output",
    "import_output",
    "note_output",
    "rename_output",
    "replace_output",
    "restore_output",
    "trash_empty_output",
    "trash_output",
    "trash_restore_output",
    "version_output",
    "versions_output",
]


@dataclass(frozen=True, kw_only=True)
class ConfigGetOutput(Output):
    """`emily config get`."""

    setting: Annotated[SettingPart, "The setting."]


@dataclass(frozen=True, kw_only=True)
class ConfigChangeOutput(Output):
    """`emily config set` and `emily config unset`."""

    name: Annotated[str, "Its name."]
    before: Annotated[Any, "The value that was in force."]
    value: Annotated[Any, "The value that is in force now."]
    stale: Annotated[
        str | None, "What of the archive the change made stale, until `emily reindex`."
    ]
    overridden: Annotated[
        str | None, "The variable of the environment that stands above it, so that nothing changed."
    ]


@dataclass(frozen=True, kw_only=True)
class NotePart:
    """A note of the owner's."""

    id: Annotated[int, "Its number."]
    document: Annotated[int, "Id of the document that it is on."]
    name: Annotated[str, "Name of that document."]
    text: Annotated[str, "As it was written."]
    added_at: Annotated[str, "When, ISO 8601."]


@dataclass(frozen=True, kw_only=True)
class NoteOutput(Output):
    """`emily note`."""

    notes: Annotated[list[NotePart], "The notes of the document now, oldest first."]
    added: Annotated[int | None, "Id of the note that was put on it; `null` if none was."]
    removed: Annotated[int | None, "Id of the note that is forgotten; `null` if none is."]


@dataclass(frozen=True, kw_only=True)
class RenameOutput(Output):
    """`emily rename`."""

    document: Annotated[int, "Id of the document."]
    name: Annotated[str, "Its name now."]
    path: Annotated[str, "Absolute path of its file, which keeps its own name."]


@dataclass(frozen=True, kw_only=True)
class ReplaceOutput(Output):
    """`emily replace` and `emily versions --restore`."""

    document: Annotated[int, "Id of the document."]
    name: Annotated[str, "Its name now."]
    path: Annotated[str, "Absolute path of its file now."]
    version: Annotated[int, "Number of the present version."]
    kept: Annotated[int | None, "Number of what it was before; `null` where that was not kept."]
    reason: Annotated[str | None, "What of the new file was not read."]


@dataclass(frozen=True, kw_only=True)
class VersionPart:
    """An earlier version of a document."""

    version: Annotated[int, "Its number, from 1."]
    name: Annotated[str, "Name that the document had."]
    kind: Annotated[str, "Format of its file."]
    bytes: Annotated[int, "Size of its file."]
    characters: Annotated[int, "Length of its text."]
    path: Annotated[str | None, "Where its file lay."]
    read_at: Annotated[str, "When it was read, ISO 8601."]
    replaced_at: Annotated[str, "When the next one took its place, ISO 8601."]


@dataclass(frozen=True, kw_only=True)
class VersionsOutput(Output):
    """`emily versions`."""

    document: Annotated[int, "Id of the document."]
    name: Annotated[str, "Its name."]
    version: Annotated[int, "Number of the present version."]
    versions: Annotated[list[VersionPart], "Earlier versions that are kept, the first one first."]


@dataclass(frozen=True, kw_only=True)
class VersionOutput(Output):
    """`emily versions --read`."""

    version: Annotated[int, "Its number."]
    name: Annotated[str, "Name that the document had."]
    kind: Annotated[str, "Format of its file."]
    text: Annotated[str, "Its text, whole."]
    pages: Annotated[list[list[int]], "Number, first and last offset of each page."]


@dataclass(frozen=True, kw_only=True)
class TrashedPart:
    """A document in the trash."""

    id: Annotated[int, "Its id, by which it is brought back."]
    name: Annotated[str, "Its name."]
    kind: Annotated[str, "Its format."]
    bytes: Annotated[int, "Size of its file."]
    trashed_at: Annotated[str, "When it went there, ISO 8601."]
    path: Annotated[str | None, "Where its file lay; `null` where another one has that path now."]
    inside: Annotated[int, "Documents that lay inside of it and went with it."]
    notes: Annotated[int, "Notes on it."]


@dataclass(frozen=True, kw_only=True)
class TrashOutput(Output):
    """`emily trash list`."""

    trash: Annotated[list[TrashedPart], "What lies in the trash, the oldest first."]


@dataclass(frozen=True, kw_only=True)
class TrashRestoreOutput(Output):
    """`emily trash restore`."""

    document: Annotated[TrashedPart, "What it was in the trash."]
    restored: Annotated[int, "Documents that came back: it, and those inside of it."]
    notices: Annotated[list[str], "As in `emily add`."]


@dataclass(frozen=True, kw_only=True)
class TrashEmptyOutput(Output):
    """`emily trash empty`."""

    forgotten: Annotated[list[TrashedPart], "What is forgotten for good."]


def config_get_output(setting: SettingInfo) -> ConfigGetOutput:
    """One setting."""
    return ConfigGetOutput(
        setting=SettingPart(
            name=setting.name,
            value=setting.value,
            default=setting.default,
            bounds=setting.bounds,
            stale=setting.stale,
            source=setting.source,
            description=setting.description,
            file_only=setting.file_only,
        )
    )


def config_change_output(change: SettingChange) -> ConfigChangeOutput:
    """What became of one setting."""
    return ConfigChangeOutput(
        name=change.name,
        before=_plain(change.before),
        value=_plain(change.value),
        stale=change.stale,
        overridden=change.overridden,
    )


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def _note(note: Note) -> NotePart:
    return NotePart(
        id=note.id,
        document=note.document,
        name=note.name,
        text=note.text,
        added_at=note.added_at.isoformat(),
    )


def note_output(notes: Sequence[Note], added: Note | None, gone: Note | None) -> NoteOutput:
    """Notes of a document."""
    return NoteOutput(
        notes=[_note(item) for item in notes],
        added=None if added is None else added.id,
        removed=None if gone is None else gone.id,
    )


def rename_output(info: DocumentInfo) -> RenameOutput:
    """A document's new name."""
    return RenameOutput(document=info.id, name=info.name, path=info.path)


def replace_output(done: Replaced) -> ReplaceOutput:
    """A document's new version."""
    info = done.document
    return ReplaceOutput(
        document=info.id,
        name=info.name,
        path=info.path,
        version=done.version,
        kept=done.kept,
        reason=done.outcome.reason,
    )


def versions_output(info: DocumentInfo, present: int, found: Sequence[Version]) -> VersionsOutput:
    """A document's earlier versions."""
    return VersionsOutput(
        document=info.id,
        name=info.name,
        version=present,
        versions=[
            VersionPart(
                version=item.version,
                name=item.name,
                kind=item.kind,
                bytes=item.bytes,
                characters=item.characters,
                path=item.path,
                read_at=item.read_at.isoformat(),
                replaced_at=item.replaced_at.isoformat(),
            )
            for item in found
        ],
    )


def version_output(old: OldVersion) -> VersionOutput:
    """An earlier version with its text."""
    return VersionOutput(
        version=old.version,
        name=old.name,
        kind=old.kind,
        text=old.text,
        pages=[list(page) for page in old.pages],
    )


def _trashed(item: Trashed) -> TrashedPart:
    return TrashedPart(
        id=item.id,
        name=item.name,
        kind=item.kind,
        bytes=item.bytes,
        trashed_at=item.trashed_at.isoformat(),
        path=item.path,
        inside=item.inside,
        notes=item.notes,
    )


def trash_output(found: Sequence[Trashed]) -> TrashOutput:
    """What lies in the trash."""
    return TrashOutput(trash=[_trashed(item) for item in found])


def trash_restore_output(item: Trashed, count: int, notices: Sequence[str]) -> TrashRestoreOutput:
    """What came back out of the trash."""
    return TrashRestoreOutput(document=_trashed(item), restored=count, notices=list(notices))


def trash_empty_output(gone: Sequence[Trashed]) -> TrashEmptyOutput:
    """What is forgotten."""
    return TrashEmptyOutput(forgotten=[_trashed(item) for item in gone])


@dataclass(frozen=True, kw_only=True)
class ExportOutput(Output):
    """`emily export`."""

    folder: Annotated[str, "Absolute path of the folder."]
    documents: Annotated[int, "Documents in it."]
    notes: Annotated[int, "Notes in it."]
    versions: Annotated[int, "Earlier versions in it."]
    pins: Annotated[int, "Pinned questions in it."]
    memories: Annotated[int, "Memories in it, those that ended too."]
    missing: Annotated[list[str], "Documents whose file is not among the originals."]


@dataclass(frozen=True, kw_only=True)
class ImportOutput(Output):
    """`emily import`."""

    added: Annotated[int, "Documents that are new."]
    known: Annotated[int, "Documents that the archive held already."]
    notes: Annotated[int, "Notes that are new."]
    pins: Annotated[int, "Pinned questions that are new."]
    settings: Annotated[int, "Settings that are new."]
    versions: Annotated[int, "Earlier versions of documents that are new."]
    categories: Annotated[int, "Categories that are new."]
    private: Annotated[int, "Private places that are new."]
    memories: Annotated[int, "Memories that are new."]
    problems: Annotated[list[str], "What was not taken in, and why."]


@dataclass(frozen=True, kw_only=True)
class BackupOutput(Output):
    """`emily backup`."""

    file: Annotated[str, "Absolute path of the file."]
    bytes: Annotated[int, "Its size."]
    documents: Annotated[int, "Documents in it, notes and the trash counted."]
    originals: Annotated[int, "Files in it."]
    missing: Annotated[list[str], "Files that the archive should have and has not, by SHA-256."]


@dataclass(frozen=True, kw_only=True)
class RestoreOutput(Output):
    """`emily restore`."""

    made_at: Annotated[str, "When the backup was made, ISO 8601."]
    version: Annotated[str, "Of the Emily that made it."]
    documents: Annotated[int, "Documents that the archive holds now, notes and trash counted."]
    originals: Annotated[int, "Files that were put back, those not counted that were there."]
    missing: Annotated[list[str], "Files that the backup does not hold, by SHA-256."]
    settings: Annotated[list[str], "Settings that were written into `settings.toml`."]


def export_output(report: ExportReport) -> ExportOutput:
    """What was exported."""
    return ExportOutput(
        folder=str(report.folder),
        documents=report.documents,
        notes=report.notes,
        versions=report.versions,
        pins=report.pins,
        memories=report.memories,
        missing=list(report.missing),
    )


def import_output(report: ImportReport) -> ImportOutput:
    """What was taken in."""
    return ImportOutput(
        added=report.added,
        known=report.known,
        notes=report.notes,
        pins=report.pins,
        settings=report.settings,
        versions=report.versions,
        categories=report.categories,
        private=report.private,
        memories=report.memories,
        problems=list(report.problems),
    )


def backup_output(report: BackupReport) -> BackupOutput:
    """What was backed up."""
    return BackupOutput(
        file=str(report.file),
        bytes=report.bytes,
        documents=report.documents,
        originals=report.originals,
        missing=list(report.missing),
    )


def restore_output(report: RestoreReport) -> RestoreOutput:
    """What was put back."""
    return RestoreOutput(
        made_at=report.made_at,
        version=report.version,
        documents=report.documents,
        originals=report.originals,
        missing=list(report.missing),
        settings=list(report.settings),
    )
