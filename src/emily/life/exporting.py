"""A copy of the archive in open formats: the files themselves, JSON Lines, Markdown."""

from __future__ import annotations

import asyncio
import json
import re
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from emily.errors import InputError
from emily.indexing.originals import Originals
from emily.life.remembered import exported_memories
from emily.settings import Settings
from emily.store import Database

__all__ = ["FORM", "ExportReport", "Exporter"]

FORM = 1
"""Number of this form of folder; raised when an older Emily could not read it any more."""

Step = Callable[[str, int, int], None]

README = """\
# An archive of Emily's, in open formats

Written by Emily {version}, form {form}. Everything in this folder can be read without Emily.

| file | what it holds |
|---|---|
| `documents.jsonl` | one line a document: name, places, language, dates, people, description, \
summary, categories, pages, and where its file and its text lie in this folder |
| `originals/` | the files themselves, byte for byte |
| `texts/` | the text that was read in each, UTF-8; Markdown where it has tables or headings |
| `versions.jsonl` | earlier versions of documents, with their files and texts |
| `notes.jsonl` | your notes, one a line, with the id of the document that each is on |
| `pins.jsonl` | pinned questions and the documents that they must find |
| `settings.json` | the settings that you set; secrets are left out |
| `categories.json` | your categories, with their descriptions and examples |
| `memories.jsonl` | what is remembered of you, with its history; what waits for you is left out |
| `private.jsonl` | paths and documents that you keep from models elsewhere |
| `asked.jsonl` | the log of your questions, with the documents that each was answered by |
| `ledger.jsonl` | what was sent to models: when, which, how much, of which documents |
| `questions.toml` | your questions of `emily eval`, if you keep some |
| `vaults.jsonl` | names and folders of vaults; their files stay where they are, uncopied |

Each line of a `.jsonl` file is one JSON object. Offsets (`pages`, `tables`) count characters (code
points) of the text, from 0, end exclusive; a page is `[number, start, end, route, warning,
confidence, pictures]`. A document that lies inside of another one names it in `places`: `[path, id
of the other, position there]`. Digests are SHA-256 in hexadecimal.

What is in the trash is not here, nor is the index, which is made anew. `emily import` takes this
folder in again. Summaries, and which categories a document has, are then made anew from the texts;
`asked.jsonl` and `ledger.jsonl` tell of the archive that they come from and are not taken in.
"""


@dataclass(frozen=True, slots=True)
class ExportReport:
    """What an export came to.

    Attributes:
        folder: where it lies.
        documents, notes, versions, pins, memories: how many of each.
        missing: documents whose file is not among the originals.
    """

    folder: Path
    documents: int
    notes: int
    versions: int
    pins: int
    missing: tuple[str, ...]
    memories: int = 0


class Exporter:
    """Writes an archive into a folder.

    Args:
        database: the store.
        settings: of the home folder.
        originals: the files themselves.
    """

    def __init__(self, database: Database, settings: Settings, originals: Originals) -> None:
        self._database = database
        self._settings = settings
        self._originals = originals

    async def run(self, folder: Path, step: Step = lambda *_: None) -> ExportReport:
        """Write it; the folder is new or empty.

        Raises:
            InputError: the folder is not empty or cannot be written.
            StoreError: the database cannot be read.
        """
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if any(folder.iterdir()):
                raise InputError(f"{folder} is not empty. Name a folder that is new or empty.")
            for name in ("originals", "texts"):
                (folder / name).mkdir()
            return await self._write(folder, step)
        except OSError as error:
            raise InputError(f"{folder} cannot be written: {error.strerror or error}.") from None

    async def _write(self, folder: Path, step: Step) -> ExportReport:
        fetch = self._database.fetch
        missing: list[str] = []
        documents = versions = 0
        ids = [row["id"] for row in await fetch("documents_to_export")]
        with (
            (folder / "documents.jsonl").open("w", encoding="utf-8") as lines,
            (folder / "versions.jsonl").open("w", encoding="utf-8") as old_lines,
        ):
            for place, document in enumerate(ids):
                row = await self._database.fetch_one("export_documents", {"document_id": document})
                if row is None:
                    continue  # it went meanwhile
                step(row["name"], place, len(ids))
                lines.write(_line(await self._document(folder, row, missing)))
                documents += 1
                for old in await fetch("export_versions", {"document_id": document}):
                    old_lines.write(_line(await self._version(folder, document, old, missing)))
                    versions += 1
        notes = [
            {
                "document": row["document_id"],
                "text": row["text"],
                "added_at": _when(row["added_at"]),
            }
            for row in await fetch("list_notes", {"document_id": None})
        ]
        pins = [
            {"question": row["question"], "document": row["document_id"], "path": row["path"],
             "name": row["name"]}
            for row in await fetch("list_pins")
        ]  # fmt: skip
        vaults = [{"name": row["name"], "path": row["path"]} for row in await fetch("list_vaults")]
        private = [
            {
                "path": row["path"],
                "document": row["document_id"],
                "since": _when(row["since"]),
            }
            for row in await fetch("list_private_places")
        ]
        memories = await exported_memories(self._database)
        asked = [
            {**row, "asked_at": _when(row["asked_at"])} for row in await fetch("export_questions")
        ]
        ledger = [
            {**row, "at": _when(row["at"]), "documents": row["documents"] or []}
            for row in await fetch("export_ledger")
        ]
        for name, found in (
            ("notes", notes),
            ("pins", pins),
            ("vaults", vaults),
            ("memories", memories),
            ("private", private),
            ("asked", asked),
            ("ledger", ledger),
        ):
            (folder / f"{name}.jsonl").write_text("".join(map(_line, found)), "utf-8")
        rows = {row["name"]: row["value"] for row in await fetch("setting_rows")}
        categories = [dict(row) for row in await fetch("export_categories")]
        (folder / "settings.json").write_text(_json(rows), "utf-8")
        (folder / "categories.json").write_text(_json(categories), "utf-8")
        questions = self._settings.home / "questions.toml"
        if questions.is_file():
            shutil.copyfile(questions, folder / "questions.toml")
        # Last: a folder without it is no whole export.
        (folder / "README.md").write_text(
            README.format(version=metadata.version("emily"), form=FORM), "utf-8"
        )
        step("", len(ids), len(ids))
        return ExportReport(
            folder, documents, len(notes), versions, len(pins), tuple(missing), len(memories)
        )

    async def _document(
        self, folder: Path, row: Mapping[str, Any], missing: list[str]
    ) -> dict[str, Any]:
        name = f"{row['id']:06}-{_file_name(row['name'])}"
        (folder / "texts" / f"{name}.md").write_text(row["text"], "utf-8", newline="")
        original = await self._copy(folder, bytes(row["file_sha256"]), name)
        if original is None:
            missing.append(row["name"])
        dropped = ("text", "sources", "dated", "added_at", "file_sha256", "text_sha256")
        return {
            "form": FORM,
            **{key: value for key, value in row.items() if key not in dropped},
            "places": row["sources"] or [],
            "date": None if row["dated"] is None else row["dated"].isoformat(),
            "added_at": _when(row["added_at"]),
            "original": original,
            "text": f"texts/{name}.md",
            "file_sha256": bytes(row["file_sha256"]).hex(),
            "text_sha256": bytes(row["text_sha256"]).hex(),
        }

    async def _version(
        self, folder: Path, document: int, row: Mapping[str, Any], missing: list[str]
    ) -> dict[str, Any]:
        name = f"{document:06}-version{row['version']}-{_file_name(row['name'])}"
        (folder / "texts" / f"{name}.md").write_text(row["text"], "utf-8", newline="")
        original = await self._copy(folder, bytes(row["file_sha256"]), name)
        if original is None:
            missing.append(f"{row['name']}, version {row['version']}")
        return {
            "document": document,
            "version": row["version"],
            **{
                key: row[key]
                for key in ("name", "kind", "title", "language", "citation", "bytes", "path")
            },
            "pages": row["pages"],
            "original": original,
            "text": f"texts/{name}.md",
            "file_sha256": bytes(row["file_sha256"]).hex(),
            "read_at": _when(row["read_at"]),
            "replaced_at": _when(row["replaced_at"]),
        }

    async def _copy(self, folder: Path, digest: bytes, name: str) -> str | None:
        found = sorted(self._originals.folder.glob(f"{digest.hex()[:2]}/{digest.hex()}*"))
        if not found:
            return None
        suffix = "" if name.endswith(found[0].suffix) else found[0].suffix
        target = folder / "originals" / f"{name}{suffix}"
        await asyncio.to_thread(shutil.copyfile, found[0], target)
        return f"originals/{target.name}"


def _file_name(name: str) -> str:
    """A document's name as a file's: no signs that mean something to a file system."""
    return re.sub(r"[^\w. -]", "_", name).strip(". ")[-80:] or "unnamed"


def _when(moment: Any) -> str:
    return str(moment.isoformat())


def _line(item: Mapping[str, Any]) -> str:
    return json.dumps(item, ensure_ascii=False) + "\n"


def _json(item: Any) -> str:
    return json.dumps(item, ensure_ascii=False, indent=2) + "\n"
