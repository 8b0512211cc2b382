"""An inquiry: one search under way, and all that its stages share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from emily.models.protocols import Embedder
from emily.retrieval.bm25 import K1, B, Statistics, TermGroup
from emily.retrieval.candidate import Candidate
from emily.retrieval.filters import Filters
from emily.retrieval.link_graph import LinkGraph
from emily.retrieval.mirror import Mirrored
from emily.retrieval.narrowing import LeftOut
from emily.retrieval.presets import Preset
from emily.retrieval.query import Meaning, Query
from emily.retrieval.selection import ASK_SHARE
from emily.retrieval.trace import Trace
from emily.retrieval.vocabulary import Affinity
from emily.store import Database
from emily.vault.graph import DAMPING, RESTART

if TYPE_CHECKING:
    from emily.retrieval.reranking import Reranking

__all__ = ["NO_FILTERS", "Inquiry", "Limits", "Stage"]

NO_FILTERS = Filters()


@dataclass(frozen=True, slots=True)
class Limits:
    """How many candidates each stage lets through, and inside which documents.

    Attributes:
        arm: candidates that each arm brings.
        pool: candidates that go to the second stage.
        results: chunks that are chosen.
        asked: how many the user asked for; ``None`` if that was left to the preset.
        threshold: least probability that the user asked for; ``None`` likewise.
        document: the one document that is asked, if it is one.
        filters: which documents to look in.
        documents: those documents; ``None`` for all.
        share: of the best probability, that a passage of the one document must have.
    """

    arm: int
    pool: int
    results: int
    asked: int | None = None
    threshold: float | None = None
    document: int | None = None
    filters: Filters = NO_FILTERS
    documents: tuple[int, ...] | None = None
    share: float = ASK_SHARE


@dataclass(slots=True)
class Inquiry:
    """One search under way: what its stages look at, and what they find out.

    Attributes:
        database: the store.
        embedder: that made the index.
        languages: of the archive.
        preset: what the search does.
        limits: how much of it.
        query: the question as words.
        trace: what each stage did.
        notices: the system's own sentences, in the order they came up.
        groups: the terms that the lexical arm looks for, neighbours included.
        meaning: the question as vectors; ``None`` where the embedder is down.
        affinity: its words against the vocabulary; ``None`` likewise.
        mirrored: the index in memory; ``None`` where the store is to be asked.
        left_out: tells which chunks hold what the question leaves out; ``None`` if it names none.
        only: the chunks that hold its phrases; ``None`` if it has none.
        statistics: of the archive, for BM25; ``None`` where the lexical arm is down.
        signals: how well the best passage does, where the second stage gives no probability.
        bar: the threshold that was applied.
        reranking: the cross-encoder's stage.
        k1: how much a repeated term counts in BM25.
        b: how much length is held against a chunk in it.
        links: the graph of links; ``None`` where they are not looked at.
        restart: how readily the walk along links goes back to a match.
        damping: how much documents with many links are held back.
        places: most documents that come up for their links alone.
    """

    database: Database
    embedder: Embedder
    languages: tuple[str, ...]
    preset: Preset
    limits: Limits
    query: Query
    trace: Trace
    notices: list[str] = field(default_factory=list)
    groups: tuple[TermGroup, ...] = ()
    meaning: Meaning | None = None
    affinity: Affinity | None = None
    mirrored: Mirrored | None = None
    left_out: LeftOut | None = None
    only: tuple[int, ...] | None = None
    statistics: Statistics | None = None
    signals: dict[str, float] | None = None
    bar: float = 0.0
    reranking: Reranking | None = None
    k1: float = K1
    b: float = B
    links: LinkGraph | None = None
    restart: float = RESTART
    damping: float = DAMPING
    places: int = 0

    @property
    def inside(self) -> bool:
        """Whether one document alone is asked."""
        return self.limits.document is not None


Stage = Callable[[Inquiry, Sequence[Candidate]], Awaitable[list[Candidate]]]
"""A step of the read path: takes candidates and gives candidates, and records what it did."""
