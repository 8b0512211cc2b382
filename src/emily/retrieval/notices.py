"""Notices: the system's own sentences about an answer, never mixed with what files say."""

from __future__ import annotations

from collections.abc import Sequence

from emily.retrieval.candidate import Candidate
from emily.retrieval.passages import Cut

__all__ = ["extent"]


def extent(
    ranked: Sequence[Candidate],
    passed: Sequence[Candidate],
    chosen: Sequence[Candidate],
    wanted: int | None,
    bar: float,
    cut: Cut,
    budget: int | None = None,
) -> list[str]:
    """What the reader must know about how much there is and how much is shown.

    Args:
        ranked: the pool, best first.
        passed: those above the threshold.
        chosen: those that were to be shown.
        wanted: how many were asked for; ``None`` if that was left to the settings.
        bar: the threshold.
        cut: the passages that came of it.
        budget: most tokens of all passages, if there is such a limit.
    """
    notices = []
    if ranked and not passed:
        highest = max(item.probability or 0.0 for item in ranked)
        notices.append(
            f"Nothing found: the best of {len(ranked)} candidates has a probability of "
            f"{highest:.1%}, below the threshold of {bar:.1%}."
        )
    elif not ranked:
        notices.append("Nothing found: no candidate at all.")
    elif wanted is not None and len(chosen) < wanted and not cut.left_out:
        notices.append(
            f"Fewer passages than asked for were good enough: {len(chosen)} of {wanted}."
        )
    if cut.left_out and budget is not None:
        notices.append(
            f"{cut.left_out} more passages did not fit into the budget of {budget:,} tokens."
        )
    elif cut.left_out:
        notices.append(
            f"{cut.left_out} more passages were left out: one question shows at most half of a "
            "document and 20,000 characters. Ask for less at once."
        )
    beyond = sum(not item.reranked for item in chosen)
    if beyond and any(item.reranked for item in ranked):
        notices.append(
            f"The reranker did not look at {beyond} of the passages (setting "
            "reranker_candidates): they stand behind the others, with the probability of the "
            "built-in second stage."
        )
    if cut.results and not cut.whole:
        notices.append("These are excerpts; the documents hold more than is shown.")
    if any(len(result.passages) > 1 for result in cut.results):
        notices.append("Between the passages of a document text is left out.")
    return notices
