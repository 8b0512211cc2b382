"""The command ``emily replay``: whether the model looks again, on recorded conversations."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from emily.cli.session import AsJson, Session, guarded, say_json, session_of
from emily.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emily.brain import Brain
    from emily.measure.looking import Looking, Plan, Point

__all__ = ["replay"]


@guarded
def replay(
    context: typer.Context,
    conversation: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="Fork this conversation alone; without it the latest that fits each cell.",
            show_default=False,
        ),
    ] = None,
    cells: Annotated[
        list[str] | None,
        typer.Option(
            "--cell",
            metavar="NAME",
            help="Measure this one: summary, summary-second, open or search. All by default.",
            show_default=False,
        ),
    ] = None,
    runs: Annotated[int, typer.Option("--runs", help="Runs of each.", min=1, max=200)] = 8,
    questions: Annotated[
        list[str] | None,
        typer.Option(
            "--question",
            metavar="TEXT",
            help="Ask this in the place of what was asked next; twice for the second one too.",
            show_default=False,
        ),
    ] = None,
    as_now: Annotated[
        bool,
        typer.Option(
            "--as-now", help="Ask under the persona, tools and settings of now, if they changed."
        ),
    ] = False,
    listed: Annotated[
        bool, typer.Option("--list", help="List where recorded conversations can be forked.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure whether Claude looks into a document again, or answers from what stands before it.

    Recorded turns of emily chat are forked where a summary, an opened document or the passages of
    a search are in context; the next question is asked again, and calls of tools are counted. It
    asks Claude many times, with your key: what that may cost is said before it begins.
    """
    session = session_of(context)
    identity = _identity(conversation)

    if listed:
        from emily.assistant.turns import TurnLog
        from emily.measure.looking import points

        _list(points(TurnLog(session.settings().home), identity), as_json=as_json)
        return

    async def work(brain: Brain) -> Looking:
        from typing import cast

        from emily.assistant.session import key_of
        from emily.assistant.turns import TurnLog
        from emily.cli.progress import progress
        from emily.measure.looking import CELLS, CellName, look_again, planned

        key_of(brain.settings, os.environ)
        plan = planned(
            TurnLog(brain.settings.home),
            cells=cast("list[CellName]", cells) or CELLS,
            runs=runs,
            conversation=identity,
            questions=questions or (),
        )
        _announce(plan)
        _agree(session, yes=yes)
        with progress() as tell:
            return await look_again(
                brain.assistant, brain.settings, plan, as_now=as_now, progress=tell
            )

    found = session.run(work, warm=True)
    if as_json:
        from emily.cli.replay_contract import looking_output

        say_json(looking_output(found))
        return
    _print(found)


def _identity(given: str | None) -> UUID | None:
    if given is None:
        return None
    try:
        return UUID(given)
    except ValueError:
        raise InputError(
            f"The conversation is {given!r}; it must be the id of one (emily chat --list)."
        ) from None


def _announce(plan: Plan) -> None:
    for line in plan.missing:
        typer.echo(f"emily: Not measured: {line}", err=True)
    typer.echo(
        f"emily: {plan.questions:,} questions in {len(plan.cells)} cells of {plan.runs} runs: "
        f"{plan.questions:,} to {plan.most_calls:,} calls of the API, with about "
        f"{plan.tokens:,} tokens in each. By what the recorded turns cost, about "
        f"${plan.cost:.2f}.",
        err=True,
    )


def _agree(session: Session, *, yes: bool) -> None:
    if yes:
        return
    if not session.interactive():
        raise InputError("Asking Claude so often needs --yes where there is no terminal to ask on.")
    typer.echo("Ask them? [y/N] ", nl=False, err=True)
    if sys.stdin.readline().strip().lower() not in ("y", "yes"):
        raise InputError("Nothing was asked.")


def _list(found: Sequence[Point], *, as_json: bool) -> None:
    from emily.cli.replay_contract import points_output

    listed = points_output(found)
    if as_json:
        say_json(listed)
        return
    from emily.cli.printing import output, table

    console = output()
    if not listed.points:
        console.print("No turn is recorded in which something was shown. Ask with: emily chat")
        return
    rows = [
        (item.conversation, item.turn, item.sight, item.message, len(item.questions))
        for item in listed.points
    ]
    console.print(table(("conversation", "turn", "shown", "asked", "further"), rows))


def _print(found: Looking) -> None:
    from emily.cli.plain import one_line
    from emily.cli.printing import output, percent, table

    console = output()
    rows = []
    for cell in found.cells:
        share, calls = cell.looked, cell.calls
        counted = cell.counted
        rows.append(
            (
                cell.name,
                f"{sum(run.looked for run in counted)} of {len(counted)}",
                percent(share.mean) if counted else "",
                f"{percent(share.low)} to {percent(share.high)}" if counted else "",
                f"{calls.mean:.2f} ({calls.low:.2f} to {calls.high:.2f})" if counted else "",
                cell.question,
            )
        )
    names = ("cell", "looked again", "share", "95 %", "calls a run", "question")
    console.print(table(names, rows))
    for notice in found.notices:
        console.print(f"Notice: {one_line(notice)}")
