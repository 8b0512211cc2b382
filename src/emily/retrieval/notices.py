"""Notices: the system's own sentences about an answer, never mixed with what files say."""

from __future__ import annotations

from collections.abc import Sequence

from emily.retrieval.candidate import Candidate
from emily.retrieval.operators import Phrase
from emily.retrieval.passages import Cut

__all__ = ["extent", "narrowed"]


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
            f"Nothing found: the best of {_counted(len(ranked), 'candidate')} has a probability "
            f"of {highest:.1%}, below the threshold of {bar:.1%}."
        )
    elif not ranked:
        notices.append("Nothing found: no candidate at all.")
    elif wanted is not None and len(chosen) < wanted and not cut.left_out:
        notices.append(
            f"Fewer passages than asked for were good enough: {len(chosen)} of {wanted}."
        )
    if cut.left_out and budget is not None:
        notices.append(
            f"{_counted(cut.left_out, 'more passage')} did not fit into the budget of "
            f"{_counted(budget, 'token')}."
        )
    elif cut.left_out:
        notices.append(
            f"{_counted(cut.left_out, 'more passage')} {'was' if cut.left_out == 1 else 'were'} "
            "left out: one question shows at most half of a document and 20,000 characters. Ask "
            "for less at once."
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


def narrowed(
    phrases: Sequence[Phrase], left_out: Sequence[Phrase], dropped: int, *, ranked: bool
) -> list[str]:
    """What a question's operators have to do with an answer that shows nothing.

    Args:
        phrases: that a passage had to hold.
        left_out: that a passage must not hold.
        dropped: how many passages the search came upon that hold one of ``left_out``.
        ranked: whether there was any candidate; a phrase that no passage holds is said where it
            is looked for.
    """
    notices = []
    if phrases and ranked:
        notices.append(
            f"Only passages that hold {_quoted(phrases, 'and')} word for word were looked at."
        )
    if left_out and dropped:
        held = "holds" if dropped == 1 else "hold"
        notices.append(
            f"{_counted(dropped, 'passage')} that {held} {_quoted(left_out, 'or')} "
            f"{'was' if dropped == 1 else 'were'} left out, as the minus before it asks."
        )
    elif left_out:
        notices.append(f"Not looked for, as the minus asks: {_quoted(left_out, 'and')}.")
    return notices


def _quoted(phrases: Sequence[Phrase], last: str) -> str:
    """Phrases between quotation marks, each once."""
    texts = list(dict.fromkeys(f"“{phrase.text}”" for phrase in phrases))
    return f" {last} ".join(filter(None, [", ".join(texts[:-1]), texts[-1]]))


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
