"""The commands on what leaves the machine: ``egress`` and ``private``."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from emily.cli.plain import one_line
from emily.cli.session import AsJson, guarded, say_json, session_of
from emily.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emily.assistant import EgressEntry, EgressTotal, PrivatePlace
    from emily.brain import Brain

__all__ = ["egress", "private"]

Grouping = Literal["day", "client", "document"]


@guarded
def egress(
    context: typer.Context,
    by: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="WHAT",
            help="Add up by day, client or document; without it each thing that was sent.",
            show_default=False,
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option("--from", metavar="DAY", help="From this day on.", show_default=False),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option("--to", metavar="DAY", help="Up to this day.", show_default=False),
    ] = None,
    client: Annotated[
        str | None,
        typer.Option("--client", metavar="NAME", help="To this client.", show_default=False),
    ] = None,
    document: Annotated[
        int | None,
        typer.Option("--doc", metavar="ID", help="Of this document.", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", help="So many entries at most.", min=1)] = 50,
    clear: Annotated[
        bool,
        typer.Option("--clear", help="Forget the entries: all, or those before the day of --to."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Tell what left for a model: when, to whom, of which documents, how much.

    A result of a tool is written down before it is sent. An entry stays when its document is
    removed. docs/privacy.md says what leaves at all.
    """
    if by not in (None, "day", "client", "document"):
        raise InputError(f"--by is {by!r}. Values: day, client, document")
    first, last = _day(since, "--from"), _day(until, "--to")

    async def work(brain: Brain) -> tuple[list[EgressEntry], list[EgressTotal], int | None]:
        ledger = brain.assistant.egress
        if clear:
            return [], [], await ledger.clear(last)
        span: dict[str, Any] = {"since": first, "until": last, "client": client}
        if by is not None:
            return [], list(await ledger.totals(_grouping(by), **span)), None
        return list(await ledger.entries(**span, document=document, limit=limit)), [], None

    entries, totals, cleared = session_of(context).run(work)
    if as_json:
        from emily.cli.assistant_contract import egress_output

        say_json(egress_output(by, entries, totals, cleared))
        return
    _print_egress(by, entries, totals, cleared)


@guarded
def private(
    context: typer.Context,
    what: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[DOC|FOLDER]…",
            help="Documents by id, name or path, or paths of folders; without any, all that is "
            "private is listed.",
            show_default=False,
        ),
    ] = None,
    undo: Annotated[bool, typer.Option("--undo", help="Take the mark away.")] = False,
    as_json: AsJson = False,
) -> None:
    """Mark documents and folders that never leave this machine.

    You find them here as before. No MCP client and no server elsewhere is sent anything of them,
    nor of what lies inside of them; a client that you name in the setting local_clients is not
    elsewhere. A folder keeps private what is added from it later.
    """

    async def work(
        brain: Brain,
    ) -> tuple[Sequence[PrivatePlace], frozenset[int], list[str]]:
        places = brain.assistant.private
        left: list[str] = []
        for item in what or ():
            if undo:
                left += await places.unmark(item)
            else:
                await places.mark(item)
        return await places.list(), await places.documents(), left

    if undo and not what:
        raise InputError("--undo needs a document or a folder. emily private lists what is marked.")
    places, documents, left = session_of(context).run(work)
    if as_json:
        from emily.cli.assistant_contract import private_output

        say_json(private_output(places, sorted(documents), left))
        return
    from emily.cli.printing import output, print_notices, table

    console = output()
    if places:
        rows = [
            (
                item.document_id,
                item.name,
                item.documents,
                f"{item.since.astimezone():%Y-%m-%d}",
                item.path,
            )
            for item in places
        ]
        console.print(table(("id", "document", "holds", "since", "path"), rows))
        noun = "document is" if len(documents) == 1 else "documents are"
        console.print(f"{len(documents)} {noun} private.")
    else:
        console.print("Nothing is private. Mark with: emily private DOC or FOLDER")
    print_notices(f"It stays private by {place}" for place in left)


def _grouping(by: str) -> Grouping:
    return "day" if by == "day" else "client" if by == "client" else "document"


def _day(given: str | None, option: str) -> dt.date | None:
    try:
        return None if given is None else dt.date.fromisoformat(given)
    except ValueError:
        raise InputError(f"{option} is {given!r}. Write a day as 2026-03-15.") from None


def _print_egress(
    by: str | None,
    entries: Sequence[EgressEntry],
    totals: Sequence[EgressTotal],
    cleared: int | None,
) -> None:
    from emily.cli.printing import output, size, table

    console = output()
    if cleared is not None:
        noun = "entry was" if cleared == 1 else "entries were"
        console.print(f"{cleared} {noun} forgotten.")
        return
    if not entries and not totals:
        console.print("Nothing has left.")
        return
    if by is not None:
        summed = [
            (
                item.key,
                item.name,
                item.calls,
                item.characters,
                size(item.bytes) if item.bytes else None,
                f"{item.last_at.astimezone():%Y-%m-%d %H:%M}",
            )
            for item in totals
        ]
        columns = (by, "name", "calls", "characters", "pictures", "last")
        console.print(table(columns, summed))
        return
    rows = [
        (
            f"{item.at.astimezone():%Y-%m-%d %H:%M:%S}",
            item.client + (" (local)" if item.local else ""),
            item.tool or item.role,
            item.characters,
            "; ".join(
                f"{sent.id} {one_line(sent.name)}: {', '.join(sent.places)}"
                for sent in item.documents
            ),
        )
        for item in entries
    ]
    console.print(table(("when", "to", "by", "characters", "of"), rows))
