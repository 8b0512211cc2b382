"""The commands on what Emily notices of herself: ``alerts``, ``queries``, ``pin``, ``pins``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from emily.cli.plain import one_line
from emily.cli.session import AsJson, guarded, say_json, session_of
from emily.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emily.brain import Brain, Pin
    from emily.measure.query_log import LoggedQuery
    from emily.store.alerts import Alert

__all__ = ["alerts", "pin", "pins", "queries"]

_SHOWN = 20


@guarded
def alerts(
    context: typer.Context,
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[ack NAME]",
            help="ack NAME: note that you have seen this one; it stays open until it is over.",
            show_default=False,
        ),
    ] = None,
    acknowledge: Annotated[
        str | None,
        typer.Option(
            "--acknowledge",
            metavar="NAME",
            help="The same as ack NAME.",
            show_default=False,
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also those that are over, for 90 days.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List what is wrong and not yet right again.

    An alert is raised by the part that failed or by a standing check, and resolved by it when it
    works again. docs/checks.md says what each means and what to do.
    """
    if words:
        if len(words) != 2 or words[0] != "ack" or acknowledge is not None:
            raise InputError(
                f"emily alerts takes nothing or ack NAME, not {' '.join(words)!r}. The names "
                "stand in: emily alerts"
            )
        acknowledge = words[1]

    async def work(brain: Brain) -> tuple[Sequence[Alert], Sequence[Alert]]:
        if acknowledge is not None:
            await brain.alerts.acknowledge(acknowledge)
        over = await brain.alerts.resolved() if everything else ()
        return await brain.alerts.open(), over

    found, over = session_of(context).run(work)
    if as_json:
        from emily.cli.contract import alerts_output

        say_json(alerts_output(found, over))
        return
    from emily.cli.printing import output, table

    console = output()
    if not found and not over:
        console.print("No alert is open.")
        return
    rows = [
        (
            item.level,
            item.name,
            f"{item.first_at.astimezone():%Y-%m-%d %H:%M}",
            item.count,
            _state(item),
            item.text,
        )
        for item in (*found, *over)
    ]
    console.print(table(("level", "name", "since", "times", "state", "what"), rows))


def _state(alert: Alert) -> str:
    if alert.resolved_at is not None:
        return "resolved"
    return "open" if alert.acknowledged_at is None else "acknowledged"


@guarded
def queries(
    context: typer.Context,
    limit: Annotated[
        int, typer.Option("--limit", help="List at most so many; 0 for all.", min=0)
    ] = _SHOWN,
    forget: Annotated[
        int | None,
        typer.Option(
            "--forget", metavar="ID", help="Take this one out of the log.", show_default=False
        ),
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Take all out of the log.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the questions that were asked, the latest first, or take them out of the log.

    Searches and asks are kept on this machine, for the standing checks and to be replayed by
    emily eval. What a measurement asks is not. The setting query_log turns it off; query_log_days
    and query_log_size bound it.
    """
    if clear and forget is not None:
        raise InputError("Give --clear or --forget ID, not both: --clear takes all out.")

    async def work(brain: Brain) -> tuple[Sequence[LoggedQuery], int, int, bool]:
        gone = await brain.queries.clear(forget) if clear or forget is not None else 0
        listed = await brain.queries.recent(limit or None)
        return listed, await brain.queries.count(), gone, brain.settings.query_log

    listed, total, gone, enabled = session_of(context).run(work)
    if as_json:
        from emily.cli.contract import queries_output

        say_json(queries_output(listed, total, forgotten=gone, enabled=enabled))
        return
    from emily.cli.printing import output, percent, table

    console = output()
    if gone or clear:
        console.print(f"{gone} {_questions(gone)} taken out of the log.")
    if not clear and listed:
        columns = ("id", "asked", "question", "document", "found", "of documents", "best", "ms")
        rows = [
            (
                item.id,
                f"{item.asked_at.astimezone():%Y-%m-%d %H:%M}",
                item.text,
                item.document_id,
                len(item.slots),
                item.documents,
                percent(item.best),
                round(item.total_ms),
            )
            for item in listed
        ]
        console.print(table(columns, rows))
        console.print(f"{len(listed)} of {total} {_questions(total)}")
    elif not listed and not gone:
        console.print("The log holds no question.")
    if not enabled:
        console.print("New questions are not kept: the setting query_log is off.")


def _questions(count: int) -> str:
    return "question" if count == 1 else "questions"


@guarded
def pin(
    context: typer.Context,
    question: Annotated[str, typer.Argument(metavar="QUESTION", help="Words or a question.")],
    document: Annotated[
        str,
        typer.Option("--doc", metavar="DOC", help="Id, exact name or path of the document."),
    ],
    as_json: AsJson = False,
) -> None:
    """Pin a question to the document that it must find.

    It is asked at once, after every change of the archive and by emily doctor; an alert tells
    when the document is no longer found. The exit code is 1 if it is not found now; it is pinned
    all the same.
    """
    made = session_of(context).run(lambda brain: brain.pin(question, document), warm=True)
    if as_json:
        from emily.cli.contract import pin_output

        say_json(pin_output(made))
    else:
        from emily.cli.printing import output

        output().print(f"Pinned as {made.id}: {one_line(made.question)}")
        output().print(f"It {_found(made)}: {one_line(made.name)}")
    if not made.found:
        raise typer.Exit(1)


def _found(item: Pin) -> str:
    if item.found:
        return f"finds its document at place {item.rank}"
    return f"does not find its document, lost by: {item.lost_by}"


@guarded
def pins(
    context: typer.Context,
    remove: Annotated[
        int | None,
        typer.Option("--remove", metavar="ID", help="Forget this one.", show_default=False),
    ] = None,
    check: Annotated[bool, typer.Option("--check", help="Ask them all now.")] = False,
    as_json: AsJson = False,
) -> None:
    """List the pinned questions, with what they found when they were asked last.

    With --check the exit code is 1 if one does not find its document.
    """

    async def work(brain: Brain) -> tuple[Sequence[Pin], Pin | None]:
        removed = None if remove is None else await brain.pins.remove(remove)
        if check:
            await brain.pins.check()
        return await brain.pins.list(), removed

    listed, removed = session_of(context).run(work, warm=check)
    if as_json:
        from emily.cli.contract import pins_output

        say_json(pins_output(listed, removed))
    else:
        from emily.cli.printing import output, table

        console = output()
        if removed is not None:
            console.print(f"No longer pinned: {one_line(removed.question)}")
        if listed:
            columns = ("id", "question", "document", "name", "place", "lost by", "asked")
            rows = [
                (
                    item.id,
                    item.question,
                    item.document_id,
                    item.name,
                    item.rank,
                    item.lost_by,
                    None
                    if item.checked_at is None
                    else f"{item.checked_at.astimezone():%Y-%m-%d %H:%M}",
                )
                for item in listed
            ]
            console.print(table(columns, rows))
        elif removed is None:
            console.print("No question is pinned. Pin one with: emily pin QUESTION --doc DOC")
    if check and not all(item.found for item in listed):
        raise typer.Exit(1)
