"""What the runs of a search show of one document: read off their traces, put in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emily.indexing.catalogue import DocumentDetail
from emily.measure.explanation import Above, Held, Lost, StageSight, TermSight
from emily.measure.loss import Loss, LossOf, loss_of, records_of
from emily.retrieval.answer import Answer
from emily.retrieval.filters import Filters
from emily.settings import Settings

__all__ = [
    "Case",
    "arm_sight",
    "arms_of",
    "best_of",
    "documents_above",
    "fusion_sight",
    "hopeless",
    "is_brought",
    "language_reasons",
    "ranking_of",
    "reading_reasons",
    "scoring_sights",
    "terms_seen",
    "value_needed",
    "vector_reasons",
    "verdict_on",
]

_MOST_ABOVE = 5


@dataclass(frozen=True, slots=True)
class Case:
    """One question with the document that it should find, and the runs about it.

    Attributes:
        question: as it is asked.
        document: id of the document.
        name: of the document.
        filters: of the search.
        preset: of the search.
        base: the answer as the owner gets it.
        alone: the answer inside the document, all of its chunks scored.
        deep: the answer with arms deep enough to bring the document, if they can.
        wide: the answer with every candidate of the arms in the pool.
    """

    question: str
    document: int
    name: str
    filters: Filters
    preset: str | None
    base: Answer
    alone: Answer
    deep: Answer
    wide: Answer

    @property
    def loss(self) -> LossOf:
        """What became of the document in the answer that the owner gets."""
        return loss_of(self.base, self.document)


def reading_reasons(detail: DocumentDetail) -> list[str]:
    """Pages of the document that were not read, as a sentence; nothing if all were."""
    unread = [page.number for page in detail.pages if page.route == "unread"]
    if not unread:
        return []
    listed = ", ".join(map(str, unread[:10])) + (" …" if len(unread) > 10 else "")
    return [
        f"Not read: page {listed} of {len(detail.pages)}. What stands there cannot be found. "
        f"emily show {detail.info.id} says why."
    ]


def vector_reasons(chunks: Sequence[Mapping[str, Any]]) -> list[str]:
    """Chunks that the vector arm cannot bring, from rows of ``chunk_standing``."""
    bare = sum(not row["has_vector"] for row in chunks)
    if not chunks:
        return ["It has no text to search in: no chunk was made of it."]
    if bare == len(chunks):
        return [
            f"None of its {bare} chunks has a vector: the vector arm cannot bring it, and only "
            "words find it."
        ]
    if bare:
        return [f"{bare} of its {len(chunks)} chunks have no vector and are found by words only."]
    return []


def language_reasons(detail: DocumentDetail, base: Answer, settings: Settings) -> list[str]:
    """Where the languages of question, document and archive do not meet."""
    asked = base.trace.get("query", {}).get("language")
    spoken = detail.info.language
    reasons = []
    if spoken is not None and spoken not in settings.languages:
        reasons.append(
            f"It is in {spoken}, which is none of the archive's languages "
            f"({', '.join(settings.languages)}; setting languages)."
        )
    if None not in (asked, spoken) and asked != spoken:
        reasons.append(
            f"The question is in {asked} and the document in {spoken}: words meet only through "
            "their neighbours in meaning."
        )
    return reasons


def terms_seen(case: Case) -> tuple[TermSight, ...]:
    """The question's terms; the exact spelling of a word is no term of its own to people."""
    matches: dict[str, int] = {}
    for record in records_of(case.alone.trace, "fusion", case.document):
        for term, times in record.get("matches", {}).items():
            matches[term] = matches.get(term, 0) + times
    seen = []
    for term in case.base.trace.get("neighbours", {}).get("terms", ()):
        if term["term"].startswith("="):
            continue
        times = matches.get(term["term"], 0)
        near = tuple(
            dict.fromkeys(item["surface"] for item in term["neighbours"] if item["term"] in matches)
        )
        held: Held = "itself" if times else "neighbours" if near else "not at all"
        seen.append(TermSight(term["surface"], held, times, near))
    return tuple(seen)


def arm_sight(case: Case, arm: str, size: int) -> StageSight:
    """Where an arm that lets ``size`` chunks through has the document, however far below."""
    name = arm.removesuffix("_arm")
    ranking = ranking_of(case.deep, arm)
    own = _own(case.deep, case.document) | _own(case.alone, case.document)
    place = next((item for item in ranking if item["chunk"] in own), None)
    if place is None:
        reason = case.base.trace.get(arm, {}).get("empty_because")
        itself = case.alone.trace.get(arm, {})
        if reason is None and not itself.get("ranking"):
            reason = itself.get("empty_because") or "nothing of the question stands in it"
        if reason is None:
            reason = f"it stands below the first {len(ranking):,}"
        return StageSight(
            arm, None, None, size, False, f"The {name} arm does not bring it: {reason}."
        )
    rank, score = place["rank"], place["score"]
    brought = any(item["chunk"] in own for item in ranking_of(case.base, arm))
    sentence = f"The {name} arm has it at {rank:,} with {score:.3f}" + (
        "." if brought else f", below its first {size:,}."
    )
    return StageSight(arm, rank, score, size, brought, sentence)


def fusion_sight(case: Case, size: int) -> StageSight:
    """Where the fusion has it, in or outside of a pool of ``size``."""
    if not _own(case.base, case.document):
        return StageSight("fusion", None, None, size, None, "It did not come as far as the fusion.")
    pool = case.wide.trace["fusion"]["pool"]
    own = _own(case.wide, case.document)
    rank = next((place for place, chunk in enumerate(pool, start=1) if chunk in own), None)
    scores = {item["chunk"]: item["fused"] for item in records_of(case.wide.trace, "second_stage")}
    score = None if rank is None else scores.get(pool[rank - 1])
    kept = not own.isdisjoint(case.base.trace["fusion"]["pool"])
    total = len(pool)
    sentence = f"The fusion has it at {rank} of {total}" + (
        "." if kept else f", outside the pool of {size}."
    )
    return StageSight("fusion", rank, score, size, kept, sentence)


def scoring_sights(case: Case, limit: int) -> list[StageSight]:
    """Second stage, threshold, selection and what is shown."""
    trace = case.base.trace
    ranked = records_of(trace, "second_stage")
    place, own = _first(ranked, case.document)
    bar = trace.get("threshold", {}).get("threshold")
    probable = _most_probable(records_of(trace, "second_stage", case.document))
    if own is None:  # what it would have had: the second stage looks at one chunk at a time
        probable = _most_probable(records_of(case.alone.trace, "second_stage", case.document))
    stages = []
    if own is None:
        stages.append(
            StageSight("second_stage", None, None, None, None, "The second stage did not see it.")
        )
    else:
        stages.append(
            StageSight(
                "second_stage",
                place,
                own["order"],
                None,
                True,
                f"The second stage has it at {place} of {len(ranked)}.",
            )
        )
    if probable is None or bar is None:
        stages.append(
            StageSight("threshold", None, None, bar, None, "There is no probability to judge by.")
        )
    else:
        enough = probable >= bar
        would = "is" if own is not None else "would be"
        stages.append(
            StageSight(
                "threshold",
                None,
                probable,
                bar,
                enough if own is not None else None,
                f"Its probability {would} {probable:.1%}, "
                f"{'at least' if enough else 'below'} the threshold of {bar:.1%}.",
            )
        )
    passed = trace.get("threshold", {}).get("passed", [])
    names = {item["chunk"]: item.get("document") for item in ranked}
    among = next(
        (rank for rank, chunk in enumerate(passed, start=1) if names.get(chunk) == case.document),
        None,
    )
    chosen = trace.get("selection", {}).get("chosen", [])
    kept = any(names.get(chunk) == case.document for chunk in chosen)
    if among is None:
        sentence = "It did not come as far as the selection."
    else:
        sentence = f"It stands at {among} of {len(passed)} that passed; {len(chosen)} are chosen."
    stages.append(
        StageSight("selection", among, None, limit, None if among is None else kept, sentence)
    )
    shown = case.loss.rank
    stages.append(
        StageSight(
            "passages",
            shown,
            None,
            None,
            shown is not None if kept else None,
            "It is not shown." if shown is None else f"It is shown at place {shown}.",
        )
    )
    return stages


def documents_above(case: Case) -> tuple[Above, ...]:
    """The documents that stood above it at the stage that lost it, by their best chunks."""
    stage = case.loss.stage
    if stage == "arms":
        best = min(
            (
                sight
                for arm in arms_of(case.alone)
                if (sight := arm_sight(case, arm, 0)).rank is not None
            ),
            key=lambda sight: sight.rank or 0,
            default=None,
        )
        if best is None:
            return ()
        records = {item["chunk"]: item for item in records_of(case.deep.trace, "fusion")}
        rows = [
            (records[item["chunk"]], item["rank"], item["score"])
            for item in ranking_of(case.deep, best.stage)
            if item["chunk"] in records
        ]
    elif stage == "fusion":
        scored = {item["chunk"]: item for item in records_of(case.wide.trace, "second_stage")}
        rows = [
            (scored[chunk], rank, scored[chunk]["fused"])
            for rank, chunk in enumerate(case.wide.trace["fusion"]["pool"], start=1)
            if chunk in scored
        ]
    elif stage in ("second stage", "selection"):
        ranked = records_of(case.base.trace, "second_stage")
        rows = [(item, rank, item["order"]) for rank, item in enumerate(ranked, start=1)]
    elif stage == "threshold":
        passed = set(case.base.trace["threshold"]["passed"])
        ranked = records_of(case.base.trace, "second_stage")
        rows = [
            (item, rank, item["probability"])
            for rank, item in enumerate(ranked, start=1)
            if item["chunk"] in passed
        ]
    else:
        return ()
    found: dict[int, Above] = {}
    for record, rank, score in rows:
        if record.get("document") == case.document or len(found) == _MOST_ABOVE:
            break
        if "document" in record:
            found.setdefault(
                record["document"], Above(record["document"], record["name"], rank, score)
            )
    return tuple(found.values())


def value_needed(case: Case, answer: Answer, stage: Loss) -> float | None:
    """The value of the stage's setting that lets the document through; ``None`` for none.

    Args:
        case: the document and the runs about it.
        answer: that lost it; where the fusion did, with every candidate in the pool.
        stage: that lost it.
    """
    if stage == "arms":
        ranks = [
            sight.rank for arm in arms_of(case.alone) if (sight := arm_sight(case, arm, 0)).rank
        ]
        return min(ranks, default=None)
    if stage == "fusion":
        own = _own(answer, case.document)
        pool = answer.trace["fusion"]["pool"]
        return next((rank for rank, chunk in enumerate(pool, start=1) if chunk in own), None)
    if stage == "threshold":
        found = _most_probable(records_of(answer.trace, "second_stage", case.document))
        return None if found is None else math.floor(found * 1e4) / 1e4
    names = {
        item["chunk"]: item.get("document") for item in records_of(answer.trace, "second_stage")
    }
    passed = answer.trace["threshold"]["passed"]
    return next(
        (rank for rank, chunk in enumerate(passed, start=1) if names.get(chunk) == case.document),
        None,
    )


def hopeless(case: Case, stage: Loss) -> str:
    """The sentence about a stage that loses it whatever is set."""
    operators = case.base.trace.get("query", {}).get("operators")
    if stage == "arms" and operators:
        return (
            "No setting keeps it: the question asks for words in quotation marks or leaves words "
            "out with a minus sign. Ask without them."
        )
    if stage == "arms":
        return "No setting keeps it: no arm can bring it."
    return f"No setting keeps it: it is lost by the {stage} whatever is set."


def verdict_on(name: str, loss: LossOf) -> str:
    """The outcome in a sentence."""
    if loss.rank is not None:
        return f"{name} is found: it is shown at place {loss.rank}."
    said: dict[Lost, str] = {
        "arms": "no arm brings it",
        "fusion": "it stays outside the pool that goes to the second stage",
        "second stage": "the second stage puts it below those that are shown",
        "threshold": "none of its chunks is probable enough",
        "selection": "others that passed stand above it",
        "passages": "it was chosen, and no passage of it is shown",
    }
    assert loss.stage is not None
    return f"{name} is not found: {said[loss.stage]}."


def arms_of(answer: Answer) -> list[str]:
    """Names of the arms that ran, as the trace has them."""
    return [stage for stage in answer.trace if stage.endswith("_arm")]


def ranking_of(answer: Answer, arm: str) -> Sequence[Mapping[str, Any]]:
    """The ranking that an arm brought, as the trace has it."""
    found: Sequence[Mapping[str, Any]] = answer.trace.get(arm, {}).get("ranking", ())
    return found


def _own(answer: Answer, document: int) -> set[int]:
    """The document's chunks among an answer's candidates."""
    return {record["chunk"] for record in records_of(answer.trace, "fusion", document)}


def is_brought(answer: Answer, document: int, reach: set[str]) -> bool:
    """Whether each arm that can bring the document has brought it."""
    own = _own(answer, document)
    return all(any(item["chunk"] in own for item in ranking_of(answer, arm)) for arm in reach)


def _first(
    ranked: Sequence[dict[str, Any]], document: int
) -> tuple[int | None, dict[str, Any] | None]:
    for rank, record in enumerate(ranked, start=1):
        if record.get("document") == document:
            return rank, record
    return None, None


def best_of(records: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The first of some records, if there is one."""
    return records[0] if records else None


def _most_probable(records: Sequence[Mapping[str, Any]]) -> float | None:
    found = [item["probability"] for item in records if item["probability"] is not None]
    return max(found, default=None)
