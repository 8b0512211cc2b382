"""What ``emily why`` finds out about one expected document; all of it ready for JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from emily.measure.loss import Loss

__all__ = ["Above", "Cure", "Explanation", "Held", "Lost", "QuoteSight", "StageSight", "TermSight"]

Lost = Loss | Literal["archive", "index"]
"""A stage of the search, or what lies before it: the document is not in the archive (``archive``)
or its index cannot be searched (``index``)."""

Held = Literal["itself", "neighbours", "not at all"]


@dataclass(frozen=True, slots=True)
class TermSight:
    """A term of the question, and whether the document holds it.

    Attributes:
        surface: as the question has it.
        held: ``itself``; only its ``neighbours`` in meaning; or ``not at all``.
        times: how often the term itself stands in the document.
        neighbours: those of its neighbours that the document holds.
    """

    surface: str
    held: Held
    times: int
    neighbours: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Above:
    """A document that stood above the expected one, by its best chunk."""

    document: int
    name: str
    rank: int
    score: float | None


@dataclass(frozen=True, slots=True)
class StageSight:
    """Where the document stood at a stage, by its best chunk there.

    Attributes:
        stage: its name.
        rank: place among the chunks, from 1, also below the stage's cut; ``None`` if it has none.
        score: what the stage ranks by; ``None`` where it has none.
        size: how many the stage lets through, or the least score that passes.
        kept: whether the stage let it through; ``None`` where it did not come that far.
        sentence: the same in words.
    """

    stage: str
    rank: int | None
    score: float | None
    size: float | None
    kept: bool | None
    sentence: str


@dataclass(frozen=True, slots=True)
class Cure:
    """Settings under which the document would have been shown.

    Attributes:
        settings: name and value of each; none where no setting helps.
        rank: place of the document when the question was asked under them; ``None`` if it was
            not shown, or not asked.
        sentence: the same in words.
    """

    settings: Mapping[str, Any]
    rank: int | None
    sentence: str

    @property
    def verified(self) -> bool:
        """Whether the question was asked under these settings and the document shown."""
        return self.rank is not None


@dataclass(frozen=True, slots=True)
class QuoteSight:
    """What became of some words of the document.

    Attributes:
        found: whether the text holds them, white space and case aside.
        start: offset of the first character; ``None`` if they are not there.
        end: offset behind the last one.
        pages: pages that they stand on.
        chunks: places of the chunks, from 0, that hold a part of them.
        cut: whether no chunk holds all of them.
        shown: whether a passage that was shown holds them.
        sentence: the same in words.
    """

    found: bool
    start: int | None
    end: int | None
    pages: tuple[int, ...]
    chunks: tuple[int, ...]
    cut: bool
    shown: bool
    sentence: str


@dataclass(frozen=True, slots=True)
class Explanation:
    """What became of one expected document in one search.

    Attributes:
        question: as it was asked.
        document: its id; ``None`` if it is not in the archive.
        name: of the document, or what was given for it.
        rank: its place among the documents shown, from 1; ``None`` if it is not.
        lost_by: the stage that lost it; ``None`` if it is shown.
        verdict: the outcome in a sentence.
        reasons: what lies before the search: pages that were not read, vectors that are missing,
            filters, languages.
        terms: of the question.
        stages: in the order in which they run.
        evidence: what the second stage found in its best chunk.
        above: documents above it at the stage that lost it, best first.
        cure: settings that would have kept it; ``None`` if it is shown.
        quote: what became of the words that were asked for.
        notices: of the search itself.
    """

    question: str
    document: int | None
    name: str
    rank: int | None
    lost_by: Lost | None
    verdict: str
    reasons: tuple[str, ...] = ()
    terms: tuple[TermSight, ...] = ()
    stages: tuple[StageSight, ...] = ()
    evidence: Mapping[str, float] | None = None
    above: tuple[Above, ...] = ()
    cure: Cure | None = None
    quote: QuoteSight | None = None
    notices: tuple[str, ...] = ()
