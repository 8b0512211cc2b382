"""Where the links of a vault lead, kept in the database and led anew where a name changed."""

from __future__ import annotations

from collections.abc import Iterable

from emily.store import Database
from emily.vault.keeping import name_key
from emily.vault.links import Link
from emily.vault.notes import stem_of
from emily.vault.resolving import Resolution, Resolver, Target

__all__ = ["Names", "names_of"]


class Names:
    """The names by which the files of one vault are linked to, held in memory.

    Args:
        database: the store.
        vault: id of the vault.
    """

    def __init__(self, database: Database, vault: int) -> None:
        self._database = database
        self._vault = vault
        self._resolver: Resolver | None = None
        self._targets: dict[str, Target] = {}
        self._ids: dict[str, int] = {}

    def forget(self) -> None:
        """Read all names again before the next use: another process wrote some."""
        self._resolver = None

    async def lead(self, written: Iterable[str], gone: Iterable[str]) -> None:
        """Find out where links lead after files came, changed or went.

        Led anew are the links of those files, and all others by one of their names.

        Args:
            written: paths of files that are new or were read again.
            gone: paths where there is no file any longer.
        """
        changed, went = set(written), set(gone)
        if not changed and not went:
            return
        before = dict(self._targets) if self._resolver is not None else {}
        known = self._resolver is not None
        await self._load([*changed, *went] if known else None)
        keys: set[str] = set()
        for path in {*changed, *went}:
            old, new = before.get(path), self._targets.get(path)
            if known and old == new:
                continue
            # Headings and blocks decide too: whether the place that a link names is there.
            for name in (old, new, Target(path)):
                if name is not None:
                    keys |= names_of(name)
        rows = await self._database.fetch(
            "vault_links",
            {
                "vault_id": self._vault,
                "files": [self._ids[path] for path in changed if path in self._ids],
                "keys": sorted(keys),
            },
        )
        led = []
        for row in rows:
            link = Link(
                row["kind"], row["target"], row["heading"], row["block"], None, row["embed"],
                row["line"], 0, 0,
            )  # fmt: skip
            assert self._resolver is not None
            found = self._resolver.resolve(link, row["path"])
            target = None if found.path is None else self._ids.get(found.path)
            problem = _problem(link, found)
            if (target, problem) != (row["target_id"], row["problem"]):
                led.append((row["file_id"], row["ordinal"], target, problem))
        if led:
            files, ordinals, targets, problems = (list(column) for column in zip(*led, strict=True))
            await self._database.execute(
                "lead_links",
                {"files": files, "ordinals": ordinals, "targets": targets, "problems": problems},
            )
            await self._database.execute("bump_links")

    async def _load(self, paths: list[str] | None) -> None:
        """Read the names of these files again, or of all."""
        rows = await self._database.fetch("vault_names", {"vault_id": self._vault, "paths": paths})
        targets = {
            row["path"]: Target(
                row["path"],
                row["title"] if row["note"] and row["title"] else None,
                tuple(row["aliases"]),
                tuple(row["headings"]),
                frozenset(row["blocks"]),
            )
            for row in rows
        }
        ids = {row["path"]: row["id"] for row in rows}
        if paths is None or self._resolver is None:
            self._resolver, self._targets, self._ids = Resolver(targets.values()), targets, ids
            return
        for path in paths:
            if path in targets:
                self._resolver.add(targets[path])
            else:
                self._resolver.remove(path)
                self._targets.pop(path, None)
                self._ids.pop(path, None)
        self._targets |= targets
        self._ids |= ids


def names_of(target: Target) -> set[str]:
    """The keys under which links that may mean a file are kept."""
    stem = stem_of(target.path)
    names = [target.path, stem, *target.aliases, *filter(None, [target.title])]
    page = stem.replace("___", "/").replace("%2F", "/").replace("%2f", "/")
    if page != stem:
        names.append(page)
    return {name_key(name) for name in names}


def _problem(link: Link, found: Resolution) -> str | None:
    if found.path is None:
        return "no file of that name"
    if not found.place_found:
        return f"no block ^{link.block}" if link.block else f"no heading {link.heading!r}"
    return None
