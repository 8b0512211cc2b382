"""The scope of a search: the documents that its filters leave."""

from __future__ import annotations

from dataclasses import replace

from emily.retrieval.inquiry import Limits
from emily.retrieval.trace import Trace
from emily.store import Database

__all__ = ["filtered"]


async def filtered(database: Database, limits: Limits, trace: Trace, notices: list[str]) -> Limits:
    """The limits with the documents that the filters leave; what has no date is told of."""
    with trace.stage("filters") as record:
        rows = [
            row
            for row in await database.fetch("matching_documents", limits.filters.parameters)
            if row["owner"] not in limits.filters.without
        ]
        dated = [row for row in rows if row["has_date"] or not limits.filters.dated]
        found = tuple(row["id"] for row in dated)  # notes among them
        owners = len({row["owner"] for row in dated})
        undated = len({row["owner"] for row in rows}) - owners
        record |= {**limits.filters.as_json(), "documents": owners, "undated": undated}
    if undated:
        what = (
            "document has no known date and is"
            if undated == 1
            else ("documents have no known date and are")
        )
        notices.append(f"{undated:,} {what} left out by --from and --to.")
    if limits.filters.categories:
        row = await database.fetch_one("unanalysed_documents")
        missing = 0 if row is None else row["documents"]
        if missing:
            noun = "document is" if missing == 1 else "documents are"
            notices.append(
                f"{missing:,} {noun} not analysed yet and left out by --category: emily analyse"
            )
    if not found and not limits.filters.as_json():
        notices.append("There is no document that may be looked in.")
    elif not found:
        notices.append(
            "No document meets the filters, so nothing was looked in: "
            + ", ".join(
                f"--{name} {', '.join(value) if isinstance(value, list) else value}"
                for name, value in limits.filters.as_json().items()
            )
            + ". emily list shows date, type, language and path of each."
        )
    return replace(limits, documents=found)
