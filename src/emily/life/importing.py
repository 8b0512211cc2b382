"""Taking in a folder that ``emily export`` wrote: its texts as they are, nothing is read again."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from emily.errors import InputError, ModelUnavailable, SettingError
from emily.indexing.archive import Archive
from emily.indexing.discretion import lies_in
from emily.indexing.files import INSIDE, Enclosure, FileFacts
from emily.indexing.originals import Originals, file_sha256
from emily.indexing.prepare import Preparer
from emily.indexing.text import DocumentText, PageSpan, TableSpan
from emily.life.exporting import FORM
from emily.life.notes import Notes
from emily.life.remembered import take_memories
from emily.models.servers import confidential
from emily.reading.pages import Correspondent, Facts
from emily.settings import Settings
from emily.store import Database
from emily.store.registry import SettingRegistry

__all__ = ["ImportReport", "Importer"]

Step = Callable[[str, int, int], None]


@dataclass(slots=True)
class ImportReport:
    """What an import came to.

    Attributes:
        added: documents that are new.
        known: documents that the archive held already.
        notes, pins, settings, versions, categories, private, memories: how many of each are new.
        problems: what was not taken in, and why.
    """

    added: int = 0
    known: int = 0
    notes: int = 0
    pins: int = 0
    settings: int = 0
    versions: int = 0
    categories: int = 0
    private: int = 0
    memories: int = 0
    problems: list[str] = field(default_factory=list)


class Importer:
    """Takes an exported folder into an archive, which may hold documents already.

    Done twice, or cut off and done again, it comes to the same.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        archive: Archive,
        preparer: Preparer,
        originals: Originals,
        notes: Notes,
    ) -> None:
        self._database = database
        self._settings = settings
        self._archive = archive
        self._preparer = preparer
        self._originals = originals
        self._notes = notes

    async def run(self, folder: Path, step: Step = lambda *_: None) -> ImportReport:
        """Take it in.

        Raises:
            InputError: the folder is no whole export, or one of a later form.
            ModelUnavailable: the embedder cannot be loaded.
            StoreUnavailable: the database is lost; what was finished stays.
        """
        if not (folder / "README.md").is_file() or not (folder / "documents.jsonl").is_file():
            raise InputError(
                f"{folder} is no whole export of Emily's: README.md and documents.jsonl belong to "
                "one. Make one with: emily export DIR"
            )
        report = ImportReport()
        documents = _lines(folder / "documents.jsonl")
        forms = {item.get("form") for item in documents} - {FORM}
        if forms:
            raise InputError(
                f"{folder} is of form {', '.join(map(str, sorted(forms, key=str)))}, and this "
                f"version reads form {FORM}. Update with: pip install --upgrade emily"
            )
        # First: from then on nothing of a private document goes to a model elsewhere.
        private = _lines(folder / "private.jsonl")
        known = {row["path"] for row in await self._database.fetch("list_private_places")}
        for item in private:
            await self._keep_private(item["path"], None)
            report.private += item["path"] not in known
        ids: dict[int, int] = {}
        waiting = list(documents)
        while waiting:  # what lies inside of another one comes behind it
            later: list[dict[str, Any]] = []
            for item in waiting:
                outer = [place[1] for place in item.get("places", []) if place[1] is not None]
                if any(one not in ids for one in outer) and len(later) < len(waiting) - 1:
                    later.append(item)
                    continue
                step(str(item["name"]), len(ids), len(documents))
                taken = await self._document(folder, item, ids, report)
                if taken is not None:
                    ids[item["id"]] = taken
            if len(later) == len(waiting):
                report.problems += [
                    f"{item['name']}: what it lies in is not here" for item in later
                ]
                break
            waiting = later
        for item in private:
            if item.get("document") in ids:
                await self._keep_private(item["path"], ids[item["document"]])
        await self._versions(folder, documents, ids, report)
        await self._rest(folder, ids, report)
        step("", len(documents), len(documents))
        return report

    async def _document(
        self,
        folder: Path,
        item: Mapping[str, Any],
        ids: Mapping[int, int],
        report: ImportReport,
    ) -> int | None:
        name = item["name"]
        if item.get("original") is None:
            report.problems.append(f"{name}: its file is not in the folder")
            return None
        path, digest = _inside(folder, item["original"]), bytes.fromhex(item["file_sha256"])
        if not path.is_file() or await asyncio.to_thread(file_sha256, path) != digest:
            report.problems.append(f"{name}: its file {path} is missing or damaged")
            return None
        text = _text(folder, item)
        private = [row["path"] for row in await self._database.fetch("list_private_places")]
        is_private = any(lies_in(place[0], private) for place in item["places"])
        try:
            with confidential(is_private):
                prepared = await self._preparer.prepared(text, name)
        except ModelUnavailable as error:
            if not is_private:
                raise
            report.problems.append(f"{name}: {error}")
            return None
        document: int | None = None
        for place, outer, position in item["places"]:
            enclosure = None
            if outer is not None:
                if outer not in ids:
                    continue
                around = place.rpartition(INSIDE)[0]
                enclosure = Enclosure(ids[outer], position, name, around)
            file = FileFacts(
                path=path,
                sha256=digest,
                bytes=item["bytes"],
                kind=item["kind"],
                title=item["title"],
                warnings=tuple(item["warnings"]),
                facts=_facts(item),
                enclosure=enclosure,
                standing=(place, name),
            )
            await asyncio.to_thread(self._originals.keep, path, digest)
            written = await self._archive.write(
                file, text, bytes.fromhex(item["text_sha256"]), prepared
            )
            if document is None:
                report.added += written.outcome == "added"
                report.known += written.outcome != "added"
            document = written.document
        if document is None:
            report.problems.append(f"{name}: it has no place")
        elif item.get("given_name"):
            await self._database.execute(
                "rename_document",
                {"document_id": document, "name": name, "given_name": item["given_name"]},
            )
        if document is not None and item.get("description"):
            await self._database.execute(
                "set_description", {"document_id": document, "description": item["description"]}
            )
        return document

    async def _keep_private(self, path: str, document: int | None) -> None:
        await self._database.execute("add_private_place", {"path": path, "document": document})

    async def _versions(
        self,
        folder: Path,
        documents: Sequence[Mapping[str, Any]],
        ids: Mapping[int, int],
        report: ImportReport,
    ) -> None:
        """Earlier versions of documents that have none of their own here."""
        numbers = {item["id"]: int(item.get("version") or 1) for item in documents}
        known: dict[int, bool] = {}
        versions = _lines(folder / "versions.jsonl")
        digests = {item["file_sha256"] for item in versions}
        for item in versions:
            document = ids.get(item["document"])
            named = f"Version {item['version']} of {item['name']}"
            if document is None or "pages" not in item:  # earlier exports had no pages of them
                report.problems.append(f"{named}: its document, or a part of it, is not here")
                continue
            if document not in known:
                kept = await self._database.fetch("export_versions", {"document_id": document})
                known[document] = any(row["file_sha256"].hex() not in digests for row in kept)
            if known[document]:  # it has versions of its own
                continue
            digest = bytes.fromhex(item["file_sha256"])
            original = item.get("original")
            path = None if original is None else _inside(folder, original)
            if (
                path is None
                or not path.is_file()
                or await asyncio.to_thread(file_sha256, path) != digest
            ):
                report.problems.append(f"{named}: its file is missing or damaged")
                continue
            await asyncio.to_thread(self._originals.keep, path, digest)
            row = {
                **{key: item[key] for key in ("version", "name", "kind", "title", "language")},
                **{key: item[key] for key in ("citation", "bytes", "path")},
                "document_id": document,
                "text": _inside(folder, item["text"]).read_bytes().decode("utf-8"),
                "pages": json.dumps(item["pages"]),
                "file_sha256": digest,
                "read_at": item["read_at"],
                "replaced_at": item["replaced_at"],
            }
            report.versions += await self._database.execute("take_version", row)
            await self._database.execute(
                "number_version",
                {
                    "document_id": document,
                    "version": max(numbers.get(item["document"], 1), item["version"] + 1),
                },
            )

    async def _rest(self, folder: Path, ids: Mapping[int, int], report: ImportReport) -> None:
        names = {
            row["id"]: row["name"]
            for row in await self._database.fetch(
                "document_names", {"documents": list(ids.values())}
            )
        }
        for item in _lines(folder / "notes.jsonl"):
            document = ids.get(item["document"])
            if document is None:
                report.problems.append(f"A note on document {item['document']}, which is not here")
                continue
            if item["text"] not in [note.text for note in await self._notes.list(document)]:
                await self._notes.add(document, names[document], item["text"])
                report.notes += 1
        for item in _lines(folder / "pins.jsonl"):
            values = {**item, "document_id": ids.get(item["document"])}
            row = await self._database.fetch_one("add_pin", values)
            report.pins += row is not None
        report.memories = await take_memories(self._database, _lines(folder / "memories.jsonl"))
        await self._categories(folder / "categories.json", report)
        registry = SettingRegistry(self._database, self._settings)
        path = folder / "settings.json"
        rows = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        there = await registry.rows()
        for name, value in rows.items():
            if name in there:
                continue
            try:
                await registry.set(name, _typed(value))
                report.settings += 1
            except SettingError as error:
                report.problems.append(f"The setting {name}: {error}")
        questions = folder / "questions.toml"
        if questions.is_file() and not (self._settings.home / questions.name).exists():
            shutil.copyfile(questions, self._settings.home / questions.name)

    async def _categories(self, path: Path, report: ImportReport) -> None:
        """Categories that the archive has not; which documents have them is found anew."""
        if not path.is_file():
            return
        there = {row["name"].casefold() for row in await self._database.fetch("export_categories")}
        for item in json.loads(path.read_text("utf-8")):
            if item["name"].casefold() not in there:
                await self._database.execute("add_category", item)
                report.categories += 1


def _inside(folder: Path, name: str) -> Path:
    """A file of the folder.

    Raises:
        InputError: the name leads out of it.
    """
    path = folder / name
    if not path.resolve().is_relative_to(folder.resolve()):
        raise InputError(f"{name!r} leads out of {folder}: no export of Emily's names such a file.")
    return path


def _text(folder: Path, item: Mapping[str, Any]) -> DocumentText:
    text = _inside(folder, item["text"]).read_bytes().decode("utf-8")
    tables = tuple(
        TableSpan((head[0], head[1]) if head else None, tuple((row[0], row[1]) for row in rows))
        for head, rows in item["tables"]
    )
    pages = tuple(PageSpan(*page) for page in item["pages"] or [[1, 0, len(text), "text"]])
    return DocumentText(text, pages, tables, item["citation"])


def _facts(item: Mapping[str, Any]) -> Facts:
    thread = item.get("thread")
    return Facts(
        author=item["author"],
        date=None if item["date"] is None else dt.date.fromisoformat(item["date"]),
        date_source=item["date_source"],
        correspondents=tuple(Correspondent(*person) for person in item["correspondents"]),
        message_id=item["message_id"],
        references=(thread,) if thread and thread != item["message_id"] else (),
    )


def _typed(value: Any) -> str:
    """A value of JSON as it is typed."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _lines(path: Path) -> Sequence[dict[str, Any]]:
    """The objects of a file of JSON Lines; none where it is not there.

    Raises:
        InputError: a line is not one.
    """
    found = []
    if path.is_file():
        for number, line in enumerate(path.read_text("utf-8").split("\n"), start=1):
            if line.strip():
                try:
                    found.append(json.loads(line))
                except ValueError:
                    raise InputError(f"Line {number} of {path} is not JSON.") from None
    return found
