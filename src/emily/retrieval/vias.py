"""By which link a document came up, in words that its reader can follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from emily.retrieval.answer import Result, Via
from emily.retrieval.candidate import Candidate, Linked
from emily.store import Database

__all__ = ["with_links"]


async def with_links(
    database: Database, results: Sequence[Result], chosen: Sequence[Candidate]
) -> tuple[Result, ...]:
    """The results, those that came up by a link with that link.

    Args:
        database: the store.
        results: as they are to be shown.
        chosen: the candidates that they are made of.
    """
    linked = {item.facts.document: item.linked for item in chosen if item.linked is not None}
    if not linked:
        return tuple(results)
    shown = []
    for result in results:
        link = linked.get(result.document.id)
        others = [other.document.id for other in results if other.document.id not in linked]
        via = None if link is None else await _via(database, result.document.id, link, others)
        shown.append(result if via is None else replace(result, via=via))
    return tuple(shown)


async def _via(
    database: Database, document: int, link: Linked, others: Sequence[int]
) -> Via | None:
    if link.source is None:
        return await _by_tag(database, document, others)
    source, target = (link.source, document) if link.forward else (document, link.source)
    rows = await database.fetch("links_between", {"sources": [source], "targets": [target]})
    row = next((row for row in rows if row["line"] == link.line), rows[0] if rows else None)
    other = await database.fetch("document_references", {"documents": [link.source]})
    if row is None or not other:
        return None
    written = row["written"] if row["heading"] is None else f"{row['written']}#{row['heading']}"
    return Via(
        document=link.source,
        name=other[0]["name"],
        path=other[0]["path"] or "",
        kind=row["kind"],
        written=written,
        line=row["line"],
        forward=link.forward,
    )


async def _by_tag(database: Database, document: int, others: Sequence[int]) -> Via | None:
    """The tag that a document shares with one of the others, the best of them first."""
    rows = await database.fetch("tags_of", {"documents": [document, *others]})
    own = {row["tag"]: row for row in rows if row["document_id"] == document}
    for other in others:
        for row in rows:
            if row["document_id"] == other and row["tag"] in own:
                found = await database.fetch("document_references", {"documents": [other]})
                if not found:
                    continue
                return Via(
                    document=other,
                    name=found[0]["name"],
                    path=found[0]["path"] or "",
                    kind="tag",
                    written=row["target"],
                    line=row["line"],
                    forward=True,
                )
    return None
