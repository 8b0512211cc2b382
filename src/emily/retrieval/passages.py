"""Passages: the chosen candidates, grouped by document, widened and cut from the text."""

from __future__ import annotations

import asyncio
import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from emily.indexing.parts import sentence_offsets
from emily.retrieval.answer import DocumentRef, Passage, Result
from emily.retrieval.candidate import Candidate
from emily.retrieval.narrowing import LeftOut
from emily.retrieval.operators import Phrase
from emily.retrieval.widening import ChunkSpan, Span, fit_budget, limit_spans, widen
from emily.store import Database

__all__ = ["MOST_CHARACTERS", "Cut", "cut_passages"]

MOST_CHARACTERS = 20_000
"""Most characters that one question to one document returns."""

# The route that says most about how far to trust a passage comes first.
_LEAST_DIRECT = ("vision", "ocr", "unread", "text", "blank")


@dataclass(frozen=True, slots=True)
class Cut:
    """Results with their passages.

    Attributes:
        results: best document first.
        left_out: candidates that were dropped for a limit of characters or tokens.
        whole: whether the documents hold no more than is shown.
    """

    results: tuple[Result, ...]
    left_out: int
    whole: bool


async def cut_passages(
    database: Database,
    chosen: Sequence[Candidate],
    widen_by: int,
    *,
    one_document: bool = False,
    budget: int | None = None,
    count: Callable[[str], int] = len,
    barred: Sequence[Phrase] = (),
) -> Cut:
    """Group by document, best first, and cut every passage from the original text.

    The owner's notes were chosen as any chunk, and stand before the text of their document: what
    is shown was decided before, so that a note neither brings a document in nor keeps one out.

    Args:
        database: the store.
        chosen: candidates, best first.
        widen_by: chunks to add on each side.
        one_document: keep to what one open of a document may return: 20,000 characters, and
            half of a document of more than one chunk.
        budget: most tokens of all passages together, given out in the order of ``chosen``.
        count: counts the tokens of a text, for a first passage that alone is over the budget.
        barred: what no chunk may hold that a passage is widened by.
    """
    if not chosen:
        return Cut((), 0, whole=True)
    # By what holds the text: a document, or a note on it.
    grouped: dict[int, list[Candidate]] = defaultdict(list)
    owners: dict[int, int] = {}
    for item in chosen:
        grouped[item.facts.holder].append(item)
        owners[item.facts.holder] = item.facts.document
    chunks, rows = await asyncio.gather(
        _chunks(database, chosen, widen_by, barred),
        database.fetch("document_references", {"documents": [*{*owners, *owners.values()}]}),
    )
    references = {row["id"]: row for row in rows}
    places = [
        (item.facts.holder, item.facts.ordinal)
        for item in chosen
        # Else it was removed while we searched.
        if item.facts.document in references
        and item.facts.ordinal in chunks.get(item.facts.holder, {})
    ]
    by_holder: dict[int, list[int]] = defaultdict(list)
    for holder, ordinal in places:
        by_holder[holder].append(ordinal)
    spans: dict[int, list[Span]] = {}
    left_out = 0
    limits: dict[int, int] = {}
    if budget is not None and not one_document:
        spans, left_out = fit_budget(places, chunks, widen_by, budget)
    else:
        for holder, ordinals in by_holder.items():
            if one_document:
                limits[holder] = _most(references[holder], note=holder != owners[holder])
                spans[holder], dropped = limit_spans(
                    ordinals, chunks[holder], widen_by, limits[holder]
                )
                left_out += dropped
            else:
                spans[holder] = widen(ordinals, chunks[holder], widen_by)
    listed = [(holder, span) for holder, found in spans.items() for span in found]
    passages = await _cut(database, listed, grouped, chunks)
    passages = {
        holder: [_shortened(passage, limits.get(holder)) for passage in found]
        for holder, found in passages.items()
    }
    if budget is not None:
        passages = _within(passages, budget, count)
    results = _by_document(passages, owners, references)
    shown = sum(len(passage.text) for result in results for passage in result.passages)
    there = sum(references[holder]["characters"] for holder in {*passages, *owners.values()})
    return Cut(results, left_out, whole=shown >= there)


def _by_document(
    passages: Mapping[int, Sequence[Passage]],
    owners: Mapping[int, int],
    references: Mapping[int, Mapping[str, Any]],
) -> tuple[Result, ...]:
    """Passages under their documents, best first; the notes on a document before its own text."""
    own: dict[int, list[Passage]] = {}
    for holder, found in passages.items():
        own.setdefault(owners[holder], []).extend(found)
    return tuple(
        Result(
            _reference(references[document]),
            found[0].score,
            tuple(sorted(found, key=lambda passage: passage.source != "note")),
        )
        for document, found in own.items()
    )


def _within(
    passages: dict[int, list[Passage]], budget: int, count: Callable[[str], int]
) -> dict[int, list[Passage]]:
    """A single passage that is over the budget, cut around its focus; any others as they are."""
    if sum(len(found) for found in passages.values()) != 1:
        return passages
    ((document, (passage,)),) = passages.items()
    tokens = count(passage.text)
    while tokens > budget and len(passage.text) > 1:
        # A twentieth less than in proportion, so that a few rounds are enough.
        passage = _shortened(passage, max(1, len(passage.text) * budget * 19 // (tokens * 20)))
        tokens = count(passage.text)
    return {document: [passage]}


def _most(reference: Mapping[str, Any], *, note: bool = False) -> int:
    """Characters of a document, or of a note on it, that one question may show."""
    if note or reference["chunks"] == 1:
        return MOST_CHARACTERS  # it is a single passage, and there is nothing to choose from
    return min(MOST_CHARACTERS, int(reference["characters"]) // 2)


async def _chunks(
    database: Database, chosen: Sequence[Candidate], widen_by: int, barred: Sequence[Phrase]
) -> dict[int, dict[int, ChunkSpan]]:
    rows = await database.fetch(
        "neighbourhood",
        {
            "documents": [item.facts.holder for item in chosen],
            "ordinals": [item.facts.ordinal for item in chosen],
            "widen": widen_by,
        },
    )
    own = {item.chunk for item in chosen}  # one that a link brought is shown as it is
    near = [row["id"] for row in rows if row["id"] not in own]
    held = await LeftOut(database, barred).among(near) if barred else set()
    chunks: dict[int, dict[int, ChunkSpan]] = defaultdict(dict)
    for row in rows:
        if row["id"] in held:
            continue
        chunks[row["document_id"]][row["ordinal"]] = ChunkSpan(
            row["ordinal"], row["start_at"], row["end_at"], row["header"], row["tokens"]
        )
    return chunks


async def _cut(
    database: Database,
    spans: Sequence[tuple[int, Span]],
    grouped: Mapping[int, Sequence[Candidate]],
    chunks: Mapping[int, Mapping[int, ChunkSpan]],
) -> dict[int, list[Passage]]:
    rows = await database.fetch(
        "passages",
        {
            "places": list(range(len(spans))),
            "documents": [document for document, _ in spans],
            "starts": [span.start for _, span in spans],
            "ends": [span.end for _, span in spans],
        },
    )
    passages: dict[int, list[Passage]] = {}
    for row in rows:
        document, span = spans[row["place"]]
        items = {item.facts.ordinal: item for item in grouped[document]}
        chosen = [items[ordinal] for ordinal in span.chosen]
        chunk = chunks[document][span.chosen[0]]
        passages.setdefault(document, []).append(_passage(row, span, chosen, chunk))
    return passages


def _passage(
    row: Mapping[str, Any], span: Span, chosen: Sequence[Candidate], chunk: ChunkSpan
) -> Passage:
    """A passage; ``chunk`` is the place of its best candidate, the first of ``chosen``."""
    text, pages, routes = row["text"], row["pages"] or [], row["routes"] or []
    scores = [item.probability for item in chosen if item.probability is not None]
    paged = row["citation"] == "pages" and bool(pages)
    focus = _focus(text, span, chosen[0], chunk)
    return Passage(
        text=text,
        start=span.start,
        end=span.end,
        pages=(pages[0], pages[-1]) if paged else None,
        lines=(row["line"], row["line"] + text.count("\n")) if row["line"] else None,
        route=next((route for route in _LEAST_DIRECT if route in routes), "text"),
        source="original" if chosen[0].facts.note is None else "note",
        score=max(scores) if scores else None,
        header=span.header,
        focus=focus,
        focus_page=pages[max(0, bisect_right(row["page_starts"], focus[0]) - 1)] if paged else None,
    )


def _focus(text: str, span: Span, best: Candidate, chunk: ChunkSpan) -> tuple[int, int]:
    """Where the sentence nearest to the question stands in the document's text."""
    own = text[chunk.start - span.start : chunk.end - span.start]
    if best.best_sentence is not None:
        offsets = sentence_offsets(own, chunk.header)
        # The text may have been replaced since the candidate was gathered.
        found = offsets[best.best_sentence] if best.best_sentence < len(offsets) else None
        if found is not None:
            return chunk.start + found[0], chunk.start + found[1]
    return chunk.start, chunk.end


def _shortened(passage: Passage, most: int | None) -> Passage:
    """A passage of at most ``most`` characters, cut at blanks around its focus."""
    text = passage.text
    if most is None or len(text) <= most:
        return passage
    focus = (passage.focus or (passage.start, passage.end))[0] - passage.start
    first = max(0, min(focus - most // 4, len(text) - most))
    last = first + most
    if first:
        blank = re.search(r"\s", text[first : max(first, focus)])
        first += blank.end() if blank else 0
    if last < len(text):
        blank_at = max(text.rfind(" ", focus, last), text.rfind("\n", focus, last))
        last = blank_at if blank_at > first else last
    lines = None
    if passage.lines is not None:
        top = passage.lines[0] + text.count("\n", 0, first)
        lines = (top, top + text.count("\n", first, last))
    return replace(
        passage,
        text=text[first:last],
        start=passage.start + first,
        end=passage.start + last,
        lines=lines,
        focus=None if passage.focus is None else _clipped(passage.focus, passage.start + last),
    )


def _clipped(span: tuple[int, int], end: int) -> tuple[int, int]:
    return span[0], min(span[1], end)


def _reference(row: Mapping[str, Any]) -> DocumentRef:
    return DocumentRef(
        row["id"], row["name"], row["path"] or "", row["kind"], row["description"], row["vault"]
    )
