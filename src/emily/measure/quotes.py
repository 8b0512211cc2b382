"""What became of some words of a document: read, chunked, cut, shown."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from emily.errors import InputError
from emily.measure.explanation import QuoteSight
from emily.retrieval.answer import Answer
from emily.store import Database

__all__ = ["find_quote", "see_quote"]


async def see_quote(
    database: Database,
    document: int,
    chunks: Sequence[Mapping[str, Any]],
    quote: str,
    answer: Answer,
) -> QuoteSight:
    """Follow some words from the document's text to the passages that are shown.

    Args:
        database: the store.
        document: its id.
        chunks: rows of ``chunk_standing``.
        quote: the words.
        answer: of the search.

    Raises:
        InputError: the quote holds no letter and no digit.
    """
    row = await database.fetch_one("stored_text", {"document_id": document})
    pages = await database.fetch("stored_pages", {"document_id": document})
    span = find_quote("" if row is None else row["text"], quote)
    if span is None:
        unread = [str(page["number"]) for page in pages if page["route"] == "unread"]
        said = "The text of the document, as it was read, does not hold these words"
        if unread:
            said += f"; not read: page {', '.join(unread[:10])}"
        return QuoteSight(False, None, None, (), (), False, False, f"{said}.")
    start, end = span
    on = tuple(
        page["number"] for page in pages if page["start_at"] < end and page["end_at"] > start
    )
    holding = [item for item in chunks if item["start_at"] < end and item["end_at"] > start]
    places = tuple(item["ordinal"] for item in holding)
    whole = [item for item in holding if item["start_at"] <= start and end <= item["end_at"]]
    shown = any(
        result.document.id == document and passage.start <= start and end <= passage.end
        for result in answer.results
        for passage in result.passages
    )
    where = f"page {', '.join(map(str, on))}" if on else "its text"
    if not holding:
        said = f"The words stand on {where}, of which no chunk was made"
    elif not whole:
        said = (
            f"The words stand on {where} and are cut: no chunk holds all of them, chunks "
            f"{', '.join(map(str, places))} hold a part each"
        )
    else:
        said = f"The words stand on {where}, in chunk {', '.join(str(c['ordinal']) for c in whole)}"
        if not any(item["has_vector"] for item in whole):
            said += ", which has no vector"
    said += "; a passage that is shown holds them." if shown else "; no passage shown holds them."
    return QuoteSight(True, start, end, on, places, bool(holding) and not whole, shown, said)


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Where some words stand in a text: white space and case aside, else punctuation too.

    Raises:
        InputError: the quote holds no letter and no digit.
    """
    words = re.findall(r"\w+", quote)
    if not words:
        raise InputError(f"The quote {quote!r} holds no word. Give some words of the document.")
    for pattern in (
        r"\s+".join(map(re.escape, quote.split())),
        r"\W+".join(map(re.escape, words)),
    ):
        match = re.search(pattern, text, re.IGNORECASE)
        if match:
            return match.span()
    return None
