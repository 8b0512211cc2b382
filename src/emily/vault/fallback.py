"""Search where the database is down: the vaults alone, from their folders, by words and links."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from emily.retrieval.answer import Answer, DocumentRef, Passage, Result, Via
from emily.retrieval.rendering import render
from emily.settings import Settings
from emily.vault.cache import open_cache
from emily.vault.engine import BUDGET, DOCUMENTS, Found, FoundPassage, Lead, search
from emily.vault.files import kind_of
from emily.vault.lite_answers import MEANING_IS_MISSING, notices_of
from emily.vault.register import Register, Registered

__all__ = ["kept_in", "search_folders"]


def kept_in(settings: Settings) -> Path:
    """Where what ``lite`` read of the vaults is kept: in Emily's home, never in a vault."""
    folder = settings.home / "cache" / "lite"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def search_folders(
    settings: Settings,
    query: str | Sequence[str],
    *,
    because: str,
    limit: int | None = None,
    budget: int | None = None,
    within: str | None = None,
) -> Answer | None:
    """Search the vaults without a database.

    Args:
        settings: of the home folder.
        query: one wording or several; all of their words are looked for.
        because: why the database cannot be asked, as a sentence.
        limit: most documents of each vault.
        budget: most tokens of the passages of each vault.
        within: a folder that results must lie in.

    Returns:
        ``None`` where there is no vault to look in.
    """
    vaults = [item for item in Register(settings.home).all() if _looked_in(item, within)]
    if not vaults:
        return None
    started = time.perf_counter()
    text = query if isinstance(query, str) else " ".join(query)
    shown = query if isinstance(query, str) else " / ".join(query)
    notices = [
        f"Only the vaults were looked in, without the archive's other files: {because}",
        MEANING_IS_MISSING,
    ]
    found: list[tuple[float, Result]] = []
    for vault in vaults:
        try:
            cache = open_cache(vault.folder, kept_in(settings))
        except OSError as error:
            notices.append(
                f"The vault {vault.name} cannot be looked at: {error.strerror or error}."
            )
            continue
        try:
            outcome = search(
                cache,
                text,
                documents=limit or DOCUMENTS,
                budget=budget or BUDGET,
                k1=settings.bm25_k1,
                b=settings.bm25_b,
                restart=settings.link_restart,
                damping=settings.link_damping,
            )
            notices += [f"{vault.name}: {notice}" for notice in notices_of(cache)]
        finally:
            cache.close()
        for item in outcome.found:
            path = f"{vault.path}/{item.path}"
            if within is None or path == within or path.startswith(within.rstrip("/") + "/"):
                found.append((item.score, _result(vault, item)))
    found.sort(key=lambda pair: -pair[0])
    results = tuple(result for _, result in found[: limit or DOCUMENTS])
    if not results:
        notices.append("Nothing found: no note holds a word of the question.")
    milliseconds = round((time.perf_counter() - started) * 1000, 3)
    return Answer(
        shown,
        results,
        tuple(notices),
        {"lite": milliseconds},
        {"lite": {"vaults": [vault.name for vault in vaults], "because": because}},
        render(results, notices),
    )


def _looked_in(vault: Registered, within: str | None) -> bool:
    if within is None:
        return True
    path, folder = within.rstrip("/") + "/", vault.path.rstrip("/") + "/"
    return path.startswith(folder) or folder.startswith(path)


def _result(vault: Registered, found: Found) -> Result:
    path = f"{vault.path}/{found.path}"
    name = found.path.rpartition("/")[2]
    return Result(
        DocumentRef(0, name, path, kind_of(found.path), None, vault.name),
        None,
        tuple(_passage(item) for item in found.passages),
        None if found.lead is None else _via(vault, found.lead),
    )


def _passage(item: FoundPassage) -> Passage:
    text = item.text.rstrip("\r\n")
    before = sum(len(line) + 1 for line in text.split("\n")[: item.line - item.first])
    return Passage(
        text=text,
        start=0,
        end=len(text),
        pages=None,
        lines=(item.first, item.first + text.count("\n")),
        route="text",
        score=None,
        header=" › ".join(item.trail[:-1]),
        focus=(before, len(text)),
    )


def _via(vault: Registered, lead: Lead) -> Via:
    tag = lead.kind == "tag"
    return Via(
        document=0,
        name=lead.title if tag else lead.path.rpartition("/")[2],
        path=f"{vault.path}/{lead.path}",
        kind=lead.kind,
        written=lead.title,
        line=lead.line,
        forward=lead.forward,
    )
