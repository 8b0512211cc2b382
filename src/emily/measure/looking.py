"""Does the model look again? Recorded conversations are forked where something was shown.

A model that has a summary or a few passages before it can answer a further question out of them,
though the document says more. Each run forks a recorded conversation behind such a turn, asks the
next question under the conditions of then, and counts the calls of tools. A run whose context was
not the recorded one is not counted.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, get_args
from uuid import UUID

from emily.assistant.session import LOOKING, Fork, open_session
from emily.assistant.transcripts import Transcript
from emily.assistant.turns import Sight, Turn, TurnLog
from emily.errors import EmilyError, InputError, ModelError
from emily.measure.scores import Interval, bootstrap, wilson

if TYPE_CHECKING:
    from emily.assistant.desk import Assistant
    from emily.assistant.session import Session
    from emily.settings import Settings

__all__ = ["CELLS", "Cell", "CellName", "Looking", "Plan", "Point", "Run", "look_again", "planned"]

CellName = Literal["summary", "summary-second", "open", "search"]
CELLS: tuple[CellName, ...] = get_args(CellName)

_SIGHTS: Mapping[CellName, Sight] = {
    "summary": "summary", "summary-second": "summary", "open": "open", "search": "search",
}  # fmt: skip
_ASKED: Mapping[Sight, Sequence[CellName]] = {
    "summary": ("summary", "summary-second"), "open": ("open",), "search": ("search",),
}  # fmt: skip
_FAILURES = 2
"""Runs that fail one after the other before no more are tried."""

_log = logging.getLogger("emily.measure")


@dataclass(frozen=True, slots=True)
class Point:
    """A place where a recorded conversation can be forked.

    Attributes:
        conversation: which one.
        number: of the turn in it, from 1.
        turn: after which it is forked.
        questions: that were asked next, in order.
    """

    conversation: UUID
    number: int
    turn: Turn
    questions: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be asked.

    Attributes:
        points: with the questions to ask behind each, one for each of its cells.
        cells: that are measured.
        runs: of each cell.
        missing: why a cell that was wanted is not measured.
        questions: how many questions are asked in all.
        most_calls: calls of the API there can be at most; there are at least ``questions``.
        tokens: that go in with one call, as when it was recorded.
        cost: of it all in dollars, by what the recorded turns cost.
    """

    points: tuple[Point, ...]
    cells: tuple[CellName, ...]
    runs: int
    missing: tuple[str, ...]
    questions: int
    most_calls: int
    tokens: int
    cost: float


@dataclass(frozen=True, slots=True)
class Run:
    """One question that was asked again.

    Attributes:
        tools: that were called, in order.
        answer: what the model said.
        model: that answered.
        failure: why it is not counted; ``None`` if it is.
    """

    tools: tuple[str, ...] = ()
    answer: str = ""
    model: str = ""
    failure: str | None = None

    @property
    def looked(self) -> bool:
        """Whether it looked into the archive before it answered."""
        return any(tool in LOOKING for tool in self.tools)


@dataclass(frozen=True, slots=True)
class Cell:
    """The runs under one condition.

    Attributes:
        name: after what they ask.
        conversation: that is forked.
        turn: number of the turn behind which it is.
        question: that is asked.
        runs: all of them.
    """

    name: CellName
    conversation: UUID
    turn: int
    question: str
    runs: tuple[Run, ...]

    @property
    def counted(self) -> Sequence[Run]:
        """The runs that went well, under the recorded context."""
        return [run for run in self.runs if run.failure is None]

    @property
    def looked(self) -> Interval:
        """Share of the runs that looked again, with its interval (Wilson, 1927)."""
        return wilson(sum(run.looked for run in self.counted), len(self.counted))

    @property
    def calls(self) -> Interval:
        """Mean number of calls of tools a run, with its interval by bootstrap."""
        return bootstrap([len(run.tools) for run in self.counted])


@dataclass(frozen=True, slots=True)
class Looking:
    """What was measured.

    Attributes:
        plan: what was to be asked.
        cells: what came of it.
        notices: what differs from the recorded conditions, what failed.
    """

    plan: Plan
    cells: tuple[Cell, ...]
    notices: tuple[str, ...] = ()


@dataclass(slots=True)
class _Tally:
    runs: dict[CellName, list[Run]] = field(default_factory=dict)
    failures: int = 0


def points(log: TurnLog, conversation: UUID | None = None) -> Sequence[Point]:
    """Every place where a recorded conversation can be forked, the latest conversation first.

    Args:
        log: of turns.
        conversation: of this one alone.
    """
    found = []
    for identity in [conversation] if conversation else log.conversations():
        turns = log.read(identity)
        for place, turn in enumerate(turns):
            if turn.sight is not None:
                asked = tuple(later.message for later in turns[place + 1 : place + 3])
                found.append(Point(identity, place + 1, turn, asked))
    return found


def planned(
    log: TurnLog,
    *,
    cells: Sequence[CellName] = CELLS,
    runs: int = 8,
    conversation: UUID | None = None,
    questions: Sequence[str] = (),
) -> Plan:
    """Choose where to fork: for each cell the first place that has the questions for it.

    Args:
        log: of turns.
        cells: to be measured.
        runs: of each.
        conversation: to fork; any by default.
        questions: to ask in the place of those that were asked then; the second one is for
            ``summary-second``.

    Raises:
        InputError: there is no such cell, or no place for any.
    """
    for cell in cells:
        if cell not in CELLS:
            raise InputError(f"There is no cell {cell!r}. Cells: {', '.join(CELLS)}")
    known = points(log, conversation)
    chosen: list[Point] = []
    missing: list[str] = []
    asked: list[CellName] = []
    for sight, names in _ASKED.items():
        wanted = [name for name in names if name in cells]
        if not wanted:
            continue
        # The second question stands behind the first one, whether that is wanted or not.
        needed = 1 + names.index(wanted[-1])
        fits = [
            replace(point, questions=given[:needed])
            for point in known
            if point.turn.sight == sight
            and len(given := (*questions, *point.questions[len(questions) :])) >= needed
        ]
        if fits:
            chosen.append(fits[0])
            asked += wanted
            continue
        there = sum(point.turn.sight == sight for point in known)
        further = "one further question" if needed == 1 else "two further questions"
        missing += [
            f"{name}: no recorded conversation has {_WHAT[sight]} and {further} behind it"
            + (f" ({there} without; give questions with --question)." if there else ".")
            for name in wanted
        ]
    if not chosen:
        raise InputError(
            "There is nothing to ask again. "
            + " ".join(missing)
            + " Turns of emily chat are recorded from now on; see: emily replay --list"
        )
    asking = runs * sum(len(point.questions) for point in chosen)
    mean = sum(point.turn.tokens for point in chosen) // len(chosen)
    cost = runs * sum(point.turn.cost * len(point.questions) for point in chosen)
    most = runs * sum(len(point.questions) * point.turn.conditions.most_turns for point in chosen)
    return Plan(tuple(chosen), tuple(asked), runs, tuple(missing), asking, most, mean, cost)


_WHAT: Mapping[Sight, str] = {
    "summary": "a summary", "open": "an opened document", "search": "a search",
}  # fmt: skip


async def look_again(
    desk: Assistant,
    settings: Settings,
    plan: Plan,
    *,
    as_now: bool = False,
    environment: Mapping[str, str] = os.environ,
    progress: Callable[[str, int, int], None] = lambda _what, _done, _total: None,
) -> Looking:
    """Ask what is planned, and count.

    Args:
        desk: conversations, tools, ledger.
        settings: of the home folder.
        plan: what to ask.
        as_now: ask under the conditions of now, where they are others than then.
        environment: where a key may be.
        progress: told what is done, how much of it, of how much.

    Raises:
        InputError: the conditions are others than then.
        ModelUnavailable: there is no key, or the runtime is not there.
        ModelError: no run went well.
    """
    notices = list(plan.missing)
    tally = _Tally()
    done = 0
    for point in plan.points:
        assert point.turn.sight is not None
        names = _ASKED[point.turn.sight][: len(point.questions)]
        for _ in range(plan.runs):
            if tally.failures >= _FAILURES:
                break
            progress(f"{names[0]}, turn {point.number}", done, plan.questions)
            found = await _run(desk, settings, point, as_now, environment, notices)
            for name, run in zip(names, found, strict=True):
                tally.runs.setdefault(name, []).append(run)
            failed = all(run.failure for run in found)
            tally.failures = tally.failures + 1 if failed else 0
            done += len(found)
    progress("done", done, plan.questions)
    cells = [
        Cell(name, point.conversation, point.number, question, tuple(tally.runs.get(name, ())))
        for point in plan.points
        for name, question in zip(
            _ASKED[point.turn.sight or "search"], point.questions, strict=False
        )
        if name in plan.cells
    ]
    reasons = [run.failure for runs in tally.runs.values() for run in runs if run.failure]
    if not any(cell.counted for cell in cells):
        raise ModelError(f"No run went well. {reasons[0] if reasons else ''}".strip())
    notices += [f"Not counted: {why} ({reasons.count(why)} runs)" for why in dict.fromkeys(reasons)]
    if tally.failures >= _FAILURES:
        notices.append(f"{_FAILURES} runs failed one after the other, so no more were tried.")
    return Looking(plan, tuple(cells), tuple(dict.fromkeys(notices)))


async def _run(
    desk: Assistant,
    settings: Settings,
    point: Point,
    as_now: bool,
    environment: Mapping[str, str],
    notices: list[str],
) -> list[Run]:
    """One fork, with all of its questions."""
    turn = point.turn
    recorded = Transcript.of(settings.home, turn.runtime)
    recorded.context(turn.last)  # before anything is asked: it must be there
    runs: list[Run] = []
    fork = Fork(turn.runtime, turn.last, turn.ended_at)
    async with open_session(
        desk,
        settings,
        health=turn.conditions.health,
        resume=point.conversation,
        replay=fork,
        environment=environment,
    ) as session:
        try:
            other = turn.conditions.differences(session.conditions)
            if other and not as_now:
                raise InputError(
                    f"Turn {point.number} of the conversation {point.conversation} was recorded "
                    f"under other conditions: {', '.join(other)}. What is measured now would not "
                    "be what was sent then. Put that back, or ask under the conditions of now "
                    "with --as-now."
                )
            if other:
                notices.append(f"Asked under the conditions of now: {', '.join(other)}.")
            for question in point.questions:
                if runs and runs[-1].failure:
                    runs.append(Run(failure=runs[-1].failure))
                    continue
                runs.append(await _asked(session, question))
            why = _unlike(recorded, settings, session, turn, as_now=bool(other))
            if why is not None:
                runs = [replace(run, failure=run.failure or why) for run in runs]
        finally:
            await _forget(desk, settings, session)
    return runs


async def _asked(session: Session, question: str) -> Run:
    tools, text, failure = [], "", None
    async for piece in session.ask(question):
        text += piece.text
        failure = piece.failure or failure
        if piece.tool is not None:
            tools.append(piece.tool)
    model = session.turn.model if session.turn is not None else ""
    return Run(tuple(tools), text, model, failure)


def _unlike(
    recorded: Transcript, settings: Settings, session: Session, turn: Turn, *, as_now: bool
) -> str | None:
    """How the context of a fork was another than the recorded one; ``None`` if it was the same."""
    if session.turn is None:
        return None  # it failed, and says why
    try:
        fork = Transcript.of(settings.home, session.turn.runtime)
        if fork.context(turn.last) != recorded.context(turn.last):
            return "the runtime put other messages before the model than were recorded."
    except InputError as error:
        return str(error)
    if session.turn.model != turn.model and not as_now:
        return f"another model answered ({session.turn.model}, then {turn.model})."
    then, now = recorded.request(turn.last), fork.request(turn.last, after=True)
    if then is None or now is None:
        return None  # this runtime notes no requests; its messages were the same
    if now.messages[: len(then.messages)] != then.messages:
        return "the runtime sent other messages than were recorded."
    if not as_now and (now.shape, now.parameters) != (then.shape, then.parameters):
        return "the runtime sent another system prompt, other tools or parameters than recorded."
    return None


async def _forget(desk: Assistant, settings: Settings, session: Session) -> None:
    """A fork leaves nothing but its lines in the ledger."""
    try:
        if session.runtime is not None:
            Transcript.of(settings.home, session.runtime).path.unlink(missing_ok=True)
        await desk.conversations.drop(session.conversation.id)
    except (EmilyError, OSError) as error:
        _log.warning("a fork could not be cleared away: %s", error)
