"""Searching a vault by words and links, from its folder alone.

Documents are ranked by the mean of two BM25 scores, each divided by the most that the query can
reach: that of the whole document and that of its best passage. To this comes what the walk over
the links brings from the best matches. Standard library only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from emily.retrieval.bm25 import inverse_frequency
from emily.vault.bm25 import K1, B, Collection, add
from emily.vault.budget import estimated_tokens, spend
from emily.vault.cache import Cache, Span, Tables
from emily.vault.graph import DAMPING, RESTART, Step
from emily.vault.notes import read_note, split_lines
from emily.vault.terms import query_terms, text_terms
from emily.vault.walk import read_bytes

__all__ = ["BUDGET", "DOCUMENTS", "SPREAD", "Found", "FoundPassage", "Lead", "Outcome", "search"]

BUDGET: Final = 2000
DOCUMENTS: Final = 8
SEEDS: Final = 10
"""Matches from which scores spread."""
SPREAD: Final = 0.55
"""Share of the best score that the note reached best gets; chosen by ``benchmarks.vault_graph``,
see ``docs/vault-notes.md``."""
_PASSAGES: Final = 5  # of one document at most


@dataclass(frozen=True, slots=True)
class FoundPassage:
    """A passage of an answer.

    Attributes:
        first, last: 1-based lines.
        line: that in which the first word of the query stands, else the first.
        trail: the headings above it.
        text: the lines as they are in the file.
        score: of the passage alone, 0 to 1.
        tokens: estimated.
    """

    first: int
    last: int
    line: int
    trail: tuple[str, ...]
    text: str
    score: float
    tokens: int


@dataclass(frozen=True, slots=True)
class Lead:
    """By which link a document came up.

    Attributes:
        path, title: of the match on the other side; a tag where the link is one.
        kind: of the link.
        line: 1-based, in the note that holds the link.
        forward: whether the link stands in the match and leads here, or here and leads there.
    """

    path: str
    title: str
    kind: str
    line: int
    forward: bool


@dataclass(frozen=True, slots=True)
class Found:
    """A document of an answer.

    Attributes:
        path, title: of it.
        score: words and links together.
        words: by its words alone, 0 to 1.
        lead: by which link it came up, where it holds no word of the query or the links
            brought more than its own words.
        passages: best first.
    """

    path: str
    title: str
    score: float
    words: float
    lead: Lead | None
    passages: tuple[FoundPassage, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a search found.

    Attributes:
        found: best first; fewer than asked for, or none, is an answer.
        terms: of the query.
        unknown: those of them that no note holds.
        coverage: how much of the query the best passage holds, weighed by how telling each term
            is, 0 to 1.
        documents: how many were searched.
    """

    found: tuple[Found, ...]
    terms: tuple[str, ...]
    unknown: tuple[str, ...]
    coverage: float
    documents: int


@dataclass(frozen=True, slots=True)
class _Words:
    """Scores by words: of documents, and of their passages."""

    documents: dict[int, float]
    passages: dict[int, dict[int, float]]
    coverage: float
    unknown: tuple[str, ...]


def search(
    cache: Cache,
    query: str,
    *,
    documents: int = DOCUMENTS,
    budget: int | None = BUDGET,
    links: bool = True,
    k1: float = K1,
    b: float = B,
    restart: float = RESTART,
    damping: float = DAMPING,
    spread: float = SPREAD,
) -> Outcome:
    """Search a vault.

    Args:
        cache: the vault as it is now.
        query: in any words; no character is special.
        documents: at most.
        budget: tokens of all passages together, estimated; ``None`` for no bound.
        links: whether scores spread over links.
        k1, b: of BM25.
        restart, damping: of the walk.
        spread: share of the best match's score that the note reached best gets.
    """
    terms = query_terms(query)
    tables = cache.tables()
    words = _by_words(cache, tables, terms, k1, b)
    ranked = dict(words.documents)
    steps: dict[int, tuple[float, Step]] = {}
    graph_of = cache.graph() if links and ranked else None
    if graph_of is not None:
        best = sorted(ranked.items(), key=lambda pair: (-pair[1], pair[0]))[:SEEDS]
        seeds = {number: score * score for number, score in best if score > 0}
        reached = graph_of[0].spread(seeds, restart=restart, damping=damping)
        # In the unit of words: what is reached best gets this share of the best match's score.
        most = max((brought.score for brought in reached.values()), default=0.0)
        for number, brought in reached.items():
            if number < graph_of[1] and tables.alive[number]:
                more = spread * best[0][1] * brought.score / most
                ranked[number] = ranked.get(number, 0.0) + more
                steps[number] = (more, brought.by)
    order = sorted(ranked.items(), key=lambda pair: (-pair[1], pair[0]))[:documents]
    leads: dict[int, Lead] = {}
    for number, _ in order:
        own = words.documents.get(number, 0.0)
        if number in steps and steps[number][0] > own and graph_of is not None:
            leads[number] = _lead(cache, steps[number][1], graph_of[1], graph_of[2])
    found = _with_passages(cache, tables, order, words, leads, frozenset(terms), budget)
    return Outcome(found, terms, words.unknown, words.coverage, sum(tables.alive))


def _by_words(cache: Cache, tables: Tables, terms: Sequence[str], k1: float, b: float) -> _Words:
    alive, belongs = tables.alive, tables.passage_documents
    texts = sum(alive)
    total = sum(n for n, here in zip(tables.lengths, alive, strict=True) if here)
    dead = texts != len(alive)
    if dead:
        counts = [n for n, d in zip(tables.passage_lengths, belongs, strict=True) if alive[d]]
        pieces, piece_total = len(counts), sum(counts)
    else:
        pieces, piece_total = len(tables.passage_lengths), sum(tables.passage_lengths)
    whole = Collection(texts, total / texts if texts else 1.0, k1, b)
    parts = Collection(pieces, piece_total / pieces if pieces else 1.0, k1, b)
    by_document: dict[int, float] = {}
    by_passage: dict[int, float] = {}
    held: dict[int, list[int]] = {}
    holding, holding_parts, unknown = [], [], []
    for place, term in enumerate(terms):
        frequencies: dict[int, int] = {}
        inside: list[tuple[int, int]] = []
        for segment, found in cache.postings(term):
            start = tables.starts[segment]
            for packed in found:
                passage = (packed >> 32) + start
                document = belongs[passage]
                if dead and not alive[document]:
                    continue
                inside.append((passage, packed >> 16 & 0xFFFF))
                own = packed & 0xFFFF
                if own:
                    frequencies[document] = frequencies.get(document, 0) + own
        holding.append(len(frequencies))
        holding_parts.append(len(inside))
        if not inside:
            unknown.append(term)
            continue
        add(by_document, whole, frequencies.items(), tables.lengths)
        add(by_passage, parts, inside, tables.passage_lengths)
        for passage, _ in inside:
            held.setdefault(passage, []).append(place)
    most, most_parts = whole.most(holding), parts.most(holding_parts)
    passages: dict[int, dict[int, float]] = {}
    for passage, score in by_passage.items():
        passages.setdefault(belongs[passage], {})[passage] = score / most_parts
    documents = {
        document: (by_document.get(document, 0.0) / most + max(scores.values())) / 2
        for document, scores in passages.items()
    }
    weights = [inverse_frequency(pieces, each) for each in holding_parts]
    best = max(by_passage, key=lambda each: (by_passage[each], -each), default=None)
    covered = sum(weights[place] for place in held[best]) if best is not None else 0.0
    coverage = covered / sum(weights) if weights and sum(weights) else 0.0
    return _Words(documents, passages, coverage, tuple(unknown))


def _lead(cache: Cache, step: Step, first_tag: int, tags: Sequence[str]) -> Lead:
    if step.start >= first_tag:
        tag = "#" + tags[step.start - first_tag]
        return Lead(tag, tag, "tag", step.line, step.forward)
    path, title, _ = cache.document(step.start)
    return Lead(path, title, step.kind, step.line, step.forward)


def _with_passages(
    cache: Cache,
    tables: Tables,
    order: Sequence[tuple[int, float]],
    words: _Words,
    leads: dict[int, Lead],
    terms: frozenset[str],
    budget: int | None,
) -> tuple[Found, ...]:
    """Read the passages of the best documents from their files, and spend the budget on them."""
    heads, offered = [], []
    for number, score in order:
        path, title, spans = cache.document(number)
        first = bisect_left(tables.passage_documents, number)
        within = words.passages.get(number, {})
        scores = [within.get(first + at, 0.0) for at in range(len(spans))]
        passages = _passages(cache.folder, path, spans, scores, terms)
        if passages:
            heads.append((path, title, score, number))
            offered.append(passages)
    chosen = spend([[each.tokens for each in passages] for passages in offered], budget)
    found = []
    for (path, title, score, number), passages, picked in zip(heads, offered, chosen, strict=True):
        if picked:
            own = words.documents.get(number, 0.0)
            shown = tuple(passages[at] for at in picked)
            found.append(Found(path, title, score, own, leads.get(number), shown))
    return tuple(found)


def _passages(
    folder: Path,
    path: str,
    spans: Sequence[Span],
    scores: Sequence[float],
    terms: frozenset[str],
) -> list[FoundPassage]:
    """The passages of a note that hold a term, best first; the first one where none does."""
    try:
        note = read_note(path, read_bytes(folder, path))
    except OSError:
        return []  # deleted meanwhile
    # Where no passage holds a word, the first of the text itself says most about the note.
    ranked = sorted(
        range(len(spans)), key=lambda at: (-scores[at], spans[at].kind == "front matter", at)
    )
    found: list[FoundPassage] = []
    for at in ranked[:_PASSAGES]:
        if not scores[at] and found:
            break
        span = spans[at]
        text = note.text[span.start : span.end]
        line = _matching_line(text, span.first, terms)
        tokens = estimated_tokens(text)
        found.append(
            FoundPassage(span.first, span.last, line, span.trail, text, scores[at], tokens)
        )
    return found


def _matching_line(text: str, first: int, terms: frozenset[str]) -> int:
    """The line with most terms of the query, rather below a heading than it; else the first."""
    best, most = first, (0, False)
    for at, line in enumerate(split_lines(text)):
        held = sum(term in terms for term in text_terms(line))
        said = (held, not line.startswith("#"))
        if held and said > most:
            best, most = first + at, said
    return best
