"""Which stage of a search lost a document, read off the answer and its trace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from emily.retrieval.answer import Answer

__all__ = ["Loss", "LossOf", "loss_of", "records_of"]

Loss = Literal["filters", "arms", "fusion", "second stage", "threshold", "selection", "passages"]
"""The stage that lost a document:

``filters``: it was not looked in; ``arms``: none brought it; ``fusion``: it stayed outside the
pool; ``threshold``: none of its chunks was probable enough; ``second stage``: it went in among
those that would be shown, and came out below; ``selection``: it was never high enough to be
shown; ``passages``: it was chosen and yet not shown.
"""


@dataclass(frozen=True, slots=True)
class LossOf:
    """Where a document stood.

    Attributes:
        rank: its place among the documents that are shown, from 1; ``None`` if it is not.
        stage: the stage that lost it; ``None`` if it is shown.
    """

    rank: int | None
    stage: Loss | None


def loss_of(answer: Answer, document: int) -> LossOf:
    """Where a search left a document.

    Args:
        answer: of the whole archive, with its trace.
        document: its id.
    """
    shown = [result.document.id for result in answer.results]
    if document in shown:
        return LossOf(shown.index(document) + 1, None)
    trace = answer.trace
    own = {record["chunk"] for record in records_of(trace, "fusion", document)}
    if not own:
        return LossOf(None, "arms")
    pool: Sequence[int] = trace["fusion"].get("pool", ())
    places = [place for place, chunk in enumerate(pool, start=1) if chunk in own]
    if not places:
        return LossOf(None, "fusion")
    if own.isdisjoint(trace.get("threshold", {}).get("passed", ())):
        return LossOf(None, "threshold")
    chosen: Sequence[int] = trace.get("selection", {}).get("chosen", ())
    if not own.isdisjoint(chosen):
        return LossOf(None, "passages")
    return LossOf(None, "second stage" if places[0] <= len(chosen) else "selection")


def records_of(
    trace: Mapping[str, Any], stage: str, document: int | None = None
) -> list[dict[str, Any]]:
    """The candidates that a stage recorded, of one document or of all."""
    found: Sequence[dict[str, Any]] = trace.get(stage, {}).get("candidates", ())
    return [item for item in found if document is None or item.get("document") == document]
