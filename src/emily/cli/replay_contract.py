"""The JSON of ``emily replay``, a part of the contract in docs/json.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from emily.cli.contract import Output

if TYPE_CHECKING:
    from emily.measure.looking import Cell, Looking, Point
    from emily.measure.scores import Interval

__all__ = ["LookingOutput", "PointsOutput", "looking_output", "points_output"]


@dataclass(frozen=True, kw_only=True)
class IntervalPart:
    """A mean with its interval at 95 %; `null` where nothing was counted."""

    mean: Annotated[float | None, "The mean, or the share."]
    low: Annotated[float | None, "Lower end of the interval."]
    high: Annotated[float | None, "Upper end of the interval."]


@dataclass(frozen=True, kw_only=True)
class LookingRunPart:
    """One question that was asked again."""

    tools: Annotated[list[str], "Tools that were called, in order."]
    looked: Annotated[bool, "Whether it looked into the archive."]
    answer: Annotated[str, "What Claude said."]
    model: Annotated[str, "Model that answered."]
    failure: Annotated[str | None, "Why it is not counted; `null` if it is."]


@dataclass(frozen=True, kw_only=True)
class LookingCellPart:
    """The runs under one condition."""

    name: Annotated[str, "`summary`, `summary-second`, `open` or `search`."]
    conversation: Annotated[str, "The conversation that is forked."]
    turn: Annotated[int, "Number of the turn behind which it is."]
    question: Annotated[str, "The question that is asked."]
    counted: Annotated[int, "Runs that count."]
    looked: Annotated[int, "Of those, the ones that looked again."]
    share: Annotated[IntervalPart, "Share that looked again (Wilson's interval)."]
    calls: Annotated[IntervalPart, "Calls of tools a run (interval by bootstrap)."]
    runs: Annotated[list[LookingRunPart], "Every run."]


@dataclass(frozen=True, kw_only=True)
class LookingOutput(Output):
    """`emily replay`."""

    cells: Annotated[list[LookingCellPart], "What was measured."]
    runs: Annotated[int, "Runs of each cell that were wanted."]
    notices: Annotated[list[str], "What was not measured, and what differs from then."]


@dataclass(frozen=True, kw_only=True)
class PointPart:
    """A place where a recorded conversation can be forked."""

    conversation: Annotated[str, "Id of the conversation."]
    turn: Annotated[int, "Number of the turn, from 1."]
    sight: Annotated[str, "What was shown last in it: `summary`, `open` or `search`."]
    message: Annotated[str, "What was asked in it."]
    model: Annotated[str, "Model that answered."]
    ended_at: Annotated[str, "When the answer was whole, ISO 8601."]
    questions: Annotated[list[str], "What was asked next, two at most."]


@dataclass(frozen=True, kw_only=True)
class PointsOutput(Output):
    """`emily replay --list`."""

    points: Annotated[list[PointPart], "The latest conversation first."]


def points_output(points: Sequence[Point]) -> PointsOutput:
    """Places to fork at."""
    return PointsOutput(
        points=[
            PointPart(
                conversation=str(item.conversation),
                turn=item.number,
                sight=str(item.turn.sight),
                message=item.turn.message,
                model=item.turn.model,
                ended_at=item.turn.ended_at.isoformat(),
                questions=list(item.questions),
            )
            for item in points
        ]
    )


def looking_output(found: Looking) -> LookingOutput:
    """What was measured."""
    return LookingOutput(
        cells=[_cell(item) for item in found.cells],
        runs=found.plan.runs,
        notices=list(found.notices),
    )


def _cell(cell: Cell) -> LookingCellPart:
    counted = cell.counted
    return LookingCellPart(
        name=cell.name,
        conversation=str(cell.conversation),
        turn=cell.turn,
        question=cell.question,
        counted=len(counted),
        looked=sum(run.looked for run in counted),
        share=_interval(cell.looked),
        calls=_interval(cell.calls),
        runs=[
            LookingRunPart(
                tools=list(run.tools),
                looked=run.looked,
                answer=run.answer,
                model=run.model,
                failure=run.failure,
            )
            for run in cell.runs
        ],
    )


def _interval(given: Interval) -> IntervalPart:
    if math.isnan(given.mean):
        return IntervalPart(mean=None, low=None, high=None)
    return IntervalPart(mean=given.mean, low=given.low, high=given.high)
