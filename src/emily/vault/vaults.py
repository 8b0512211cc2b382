"""The vaults of a home folder: added, kept in step with their folders, forgotten."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from emily.errors import InputError
from emily.indexing.derived import row, run
from emily.indexing.discretion import lies_in
from emily.indexing.files import storable
from emily.indexing.originals import Originals
from emily.indexing.prepare import Preparer
from emily.models.protocols import Embedder
from emily.models.servers import confidential
from emily.reading.walk import Found
from emily.settings import Settings
from emily.store import Connection, Database, statement
from emily.vault.files import kind_of
from emily.vault.keeping import Keeper
from emily.vault.register import Register, Registered
from emily.vault.report import SyncReport, VaultInfo
from emily.vault.syncing import Attachments, Tell, VaultSync

__all__ = ["Refreshed", "Vaults"]

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a search came upon when it compared the vaults with their folders.

    Attributes:
        reports: one for each vault that the database knows.
        notices: sentences for the answer.
    """

    reports: tuple[SyncReport, ...] = ()
    notices: tuple[str, ...] = ()


class Vaults:
    """The vaults of one home folder.

    Args:
        settings: of the home folder.
        database: the store.
        embedder: of passages; counts tokens too.
        preparer: computes what is kept of documents.
        words_only: the same without an embedder.
        originals: copies of what was added to the archive.
        attachments: how these are read.
        engine: what pictures are read by.
    """

    def __init__(
        self,
        settings: Settings,
        database: Database,
        embedder: Embedder,
        preparer: Preparer,
        words_only: Preparer,
        originals: Originals,
        attachments: Attachments,
        engine: str,
    ) -> None:
        self._settings = settings
        self._database = database
        self._embedder = embedder
        self._preparer = preparer
        self._originals = originals
        self._attachments = attachments
        self._keeper = Keeper(
            database,
            preparer,
            words_only,
            embedder.identity,
            embedder.words_identity,
            embedder.embed_words,
            engine,
        )
        self.register = Register(settings.home)
        self._syncs: dict[int, VaultSync] = {}
        self._lock = asyncio.Lock()

    async def add(
        self, folder: Path | str, *, name: str | None = None, tell: Tell | None = None
    ) -> SyncReport:
        """Make a folder a vault and index it. Nothing is ever written into it.

        Args:
            folder: of notes.
            name: to call it by; that of the folder by default.
            tell: called for each file that is read.

        Raises:
            InputError: it is no folder, or cannot be a vault.
            StoreUnavailable: the database is lost; what was written stays.
        """
        path = Path(os.path.abspath(os.path.expanduser(folder)))  # noqa: PTH100, PTH111
        await asyncio.to_thread(self._refuse, path)
        vault = self.register.add(path, name)
        await self._adopt(vault)
        return await self._one(vault, whole=True, tell=tell or _untold)

    async def own_notes(self, given: str) -> int:
        """How many notes the owner added to documents of a vault: no file of it holds them.

        Raises:
            InputError: there is no such vault.
        """
        known = await self._row(self.register.resolve(given))
        if known is None:
            return 0
        row = await self._database.fetch_one("own_notes_of_vault", {"vault_id": known["id"]})
        return 0 if row is None else int(row["notes"])

    async def remove(self, given: str, *, notes: bool = False) -> VaultInfo:
        """Forget a vault with all that was derived from it; its files stay as they are.

        Args:
            given: its name or folder.
            notes: also where notes of the owner's go with it, which nothing brings back.

        Raises:
            InputError: there is no such vault, or notes would go.
        """
        vault = self.register.resolve(given)
        own = 0 if notes else await self.own_notes(given)
        if own:
            raise InputError(
                f"{own} {'note' if own == 1 else 'notes'} that you added to documents of "
                f"{vault.name} would be forgotten for good. emily export FOLDER writes them down; "
                "--yes forgets them too."
            )
        info = next(item for item in await self.vaults() if item.name == vault.name)
        known = await self._row(vault)
        if known is not None:

            async def work(connection: Connection) -> None:
                values = {"vault_id": known["id"]}
                await run(connection, "lock_archive")
                await run(connection, "forget_words_of_vault", values)
                await run(connection, "forget_pictures_of_vault", values)
                await run(connection, "forget_documents_of_vault", values)
                inside = {"inside": storable(vault.path).rstrip("/") + "/"}
                await run(connection, "forget_places_inside", inside)
                await run(connection, "forget_vault", values)
                await run(connection, "bump_links")
                await run(connection, "bump_revision")

            await self._database.run(work, idempotent=True)
            self._syncs.pop(known["id"], None)
        self.register.remove(vault)
        return info

    async def vaults(self) -> Sequence[VaultInfo]:
        """Every vault, with what the database holds of it."""
        rows = {row["path"]: row for row in await self._database.fetch("list_vaults")}
        counts = {row["id"]: row for row in await self._database.fetch("vault_counts")}
        found = []
        for vault in self.register.all():
            reachable = await asyncio.to_thread(vault.folder.is_dir)
            known = rows.get(storable(vault.path))
            if known is None:
                found.append(VaultInfo(vault.name, vault.path, reachable, indexed=False))
                continue
            count = counts[known["id"]]
            problems = await self._database.fetch("vault_problems", {"vault_id": known["id"]})
            found.append(
                VaultInfo(
                    name=vault.name,
                    path=vault.path,
                    reachable=reachable,
                    indexed=True,
                    notes=count["notes"],
                    passages=count["passages"],
                    attachments=count["attachments"],
                    unread=count["unread"],
                    incomplete=count["incomplete"],
                    links=count["links"],
                    broken=count["broken"],
                    synced_at=known["synced_at"],
                    problems=tuple((row["path"], tuple(row["problems"])) for row in problems),
                )
            )
        return found

    async def sync(
        self, given: str | None = None, *, tell: Tell | None = None
    ) -> Sequence[SyncReport]:
        """Bring one vault or all up to date with their folders, attachments too.

        Raises:
            InputError: there is no such vault.
            StoreUnavailable: the database is lost; what was written stays.
        """
        chosen = self.register.all() if given is None else (self.register.resolve(given),)
        return [await self._one(vault, whole=True, tell=tell or _untold) for vault in chosen]

    async def refresh(self) -> Refreshed:
        """Bring the notes of all vaults up to date before a search.

        Attachments that are new or changed are told of and not read: that takes long.

        Raises:
            StoreUnavailable: the database is lost.
        """
        vaults = self.register.all()
        if not vaults:
            return Refreshed()
        async with self._database.session():
            return await self._refreshed(vaults)

    async def _refreshed(self, vaults: Sequence[Registered]) -> Refreshed:
        rows = {row["path"]: row for row in await self._database.fetch("list_vaults")}
        reports, notices = [], []
        for vault in vaults:
            known = rows.get(storable(vault.path))
            if known is None or known["synced_at"] is None:
                notices.append(
                    f"The vault {vault.name} is not indexed yet, so that it was not looked in. "
                    f"Index it with: emily vault sync {_quoted(vault.name)}"
                )
                if known is None:
                    continue
            report = await self._step(known, whole=False, tell=_untold)
            reports.append(report)
            notices += _notices(report)
        return Refreshed(tuple(reports), tuple(notices))

    async def reindex(self, tell: Tell | None = None) -> int:
        """Bring documents of vaults of another model or other settings up to date.

        Returns:
            how many there were.
        """
        if not self.register.all():
            return 0
        stale = await self._database.execute(
            "outdate_vault_files",
            {"fingerprint": self._preparer.fingerprint, **self._embedder.identity.parameters},
        )
        if stale:
            self._syncs.clear()
            await self.sync(tell=tell)
        return stale

    def left_to_vaults(self, found: Sequence[Found]) -> tuple[Found, ...]:
        """Files that are to be added, without those that lie in a vault."""
        vaults = self.register.all()
        if not vaults:
            return tuple(found)
        kept = []
        for item in found:
            vault = self.register.around(str(item.path)) if item.state == "file" else None
            if vault is not None:
                why = f"it lies in the vault {vault.name}, whose files are searched where they are"
                item = replace(item, state="ignored", reason=why)
            kept.append(item)
        return tuple(kept)

    async def refuse_document(self, document: int) -> None:
        """Refuse to remove a document whose file is the truth.

        Raises:
            InputError: it is one of a vault.
        """
        found = await self._database.fetch_one("vault_of_document", {"document_id": document})
        if found is not None:
            raise InputError(
                f"Document {document} is a file of the vault {found['name']}, which is searched as "
                "it is on the disk. Delete the file, or name it in .emilyignore, or forget the "
                f"whole vault: emily vault remove {_quoted(found['name'])}"
            )

    def _refuse(self, path: Path) -> None:
        if not path.is_dir():
            what = "is not a folder" if path.exists() else "does not exist"
            raise InputError(f"{path} {what}. A vault is a folder: emily vault add FOLDER")
        home = self._settings.home.resolve()
        real = path.resolve()
        if real == home or home in real.parents or real in home.parents:
            raise InputError(
                f"{path} and Emily's own data in {home} lie in each other. Choose another folder."
            )
        if not os.access(path, os.R_OK | os.X_OK):
            raise InputError(f"{path} cannot be read: no permission.")

    async def _adopt(self, vault: Registered) -> None:
        """Make the vault known to the database; documents of the archive that lie in it are its."""
        device = str(vault.folder.stat().st_dev)
        folder = storable(vault.path)
        inside = folder.rstrip("/") + "/"

        async def work(connection: Connection) -> list[bytes]:
            await run(connection, "lock_archive")
            values = {"name": storable(vault.name), "path": folder, "device": device}
            identity = (await row(connection, "add_vault", values))["id"]
            cursor = await connection.execute(statement("archived_inside"), {"inside": inside})
            mine: dict[int, list[dict[str, Any]]] = {}
            for found in await cursor.fetchall():
                mine.setdefault(found["document_id"], []).append(found)
            copies = []
            for document, places in mine.items():
                first = places[0]
                if len(places) != first["paths"]:
                    continue  # it lies elsewhere as well
                path = first["path"][len(inside) :]
                ids = {"document_id": document, "vault_id": identity}
                await run(connection, "adopt_document", ids)
                place = {
                    **ids,
                    "path": path,
                    "note": kind_of(path) != "attachment",
                    "bytes": 0,
                    "modified_ns": 0,
                    "inode": "",
                    "sha256": first["file_sha256"],
                    "version": 0,
                    "complete": False,
                    "title": "",
                    "aliases": [],
                    "headings": [],
                    "blocks": [],
                    "problems": [],
                }
                await run(connection, "put_vault_file", place)
                copies.append(bytes(first["file_sha256"]))
            await run(connection, "forget_sources_inside", {"inside": inside})
            await run(connection, "bump_revision")
            return copies

        for digest in await self._database.run(work, idempotent=True):
            await asyncio.to_thread(self._originals.forget, digest)

    async def _one(self, vault: Registered, *, whole: bool, tell: Tell) -> SyncReport:
        known = await self._row(vault)
        if known is None:
            if not await asyncio.to_thread(vault.folder.is_dir):
                return SyncReport(
                    vault.name,
                    vault.path,
                    reachable=False,
                    notices=(f"The vault {vault.name} is not there: {vault.path}",),
                )
            await self._adopt(vault)
            known = await self._row(vault)
        assert known is not None
        return await self._step(known, whole=whole, tell=tell)

    async def _row(self, vault: Registered) -> dict[str, Any] | None:
        rows = await self._database.fetch("list_vaults")
        return next((row for row in rows if row["path"] == storable(vault.path)), None)

    async def _step(self, known: dict[str, Any], *, whole: bool, tell: Tell) -> SyncReport:
        async with self._lock:
            sync = self._syncs.get(known["id"])
            if sync is None:
                sync = self._syncs[known["id"]] = VaultSync(
                    self._database,
                    self._keeper,
                    self._preparer,
                    self._embedder,
                    self._attachments,
                    known,
                )
            sync.device = str(known["device"])
            now = await self._database.fetch_one("revision_number")
            assert now is not None
            places = [row["path"] for row in await self._database.fetch("list_private_places")]
            path = str(known["path"])
            # A vault that holds something private is embedded as a whole, or not at all.
            private = lies_in(path, places) or any(lies_in(place, [path]) for place in places)
            with confidential(private):
                return await sync.run(now["number"], whole=whole, tell=tell)


def _notices(report: SyncReport) -> list[str]:
    """What an answer says of a vault's state."""
    notices = list(report.notices)
    sync = f"emily vault sync {_quoted(report.vault)}"
    if report.waiting:
        count = len(report.waiting)
        what = "attachment" if count == 1 else "attachments"
        wait = "waits" if count == 1 else "wait"
        notices.append(f"{count:,} {what} of the vault {report.vault} {wait} to be read: {sync}")
    if report.words_only:
        count = len(report.words_only)
        what = "note" if count == 1 else "notes"
        notices.append(
            f"{count:,} changed {what} of the vault {report.vault} can be found by words alone, "
            f"because the embedder is down or failed on them; afterwards: {sync}"
        )
    if report.failed:
        shown = "; ".join(f"{path} ({why})" for path, why in report.failed[:_SHOWN])
        more = len(report.failed) - _SHOWN
        notices.append(
            f"Of the vault {report.vault} these files could not be read: {shown}"
            + (f" and {more:,} more." if more > 0 else ".")
        )
    return notices


def _quoted(name: str) -> str:
    return f"'{name}'" if " " in name else name


def _untold(what: str, done: int, total: int) -> None:
    """Progress that nobody asked for."""
