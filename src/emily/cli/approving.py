"""The command ``emily approvals``: the owner decides what a model wants to have done."""

from __future__ import annotations

import getpass
import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from emily.cli.plain import one_line
from emily.cli.session import AsJson, guarded, say_json, session_of
from emily.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emily.assistant.approvals import Approval
    from emily.brain import Brain

__all__ = ["approvals"]


@guarded
def approvals(
    context: typer.Context,
    number: Annotated[
        int | None,
        typer.Argument(
            metavar="[ID]",
            help="Show this one whole, and decide it; without it those that wait are listed.",
            show_default=False,
        ),
    ] = None,
    approve: Annotated[bool, typer.Option("--approve", help="Have it done.")] = False,
    deny: Annotated[bool, typer.Option("--deny", help="Have it not done.")] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Also those that are decided or have expired.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Decide what a model wants to have done outside of the archive.

    Nothing is done before you approve it, and then exactly what was shown to you. It is shown
    whole, and you are asked in a terminal; a program cannot answer for you. What nobody decides
    expires (setting approval_hours).
    """
    session = session_of(context)
    if (approve or deny) and number is None:
        raise InputError("--approve and --deny need the ID of an approval. See: emily approvals")
    if approve and deny:
        raise InputError("--approve and --deny are two decisions; give one of them.")
    if approve and not session.interactive():
        raise InputError(
            "An approval is given by a person in a terminal, and there is none to ask on."
        )

    async def work(brain: Brain) -> Sequence[Approval]:
        manager = brain.assistant.approvals
        await manager.resume()
        if number is None:
            return await manager.list(everything=everything)
        found = await manager.get(number)
        if not approve and not deny:
            return [found]
        if approve:
            _show(found, err=True)
            typer.echo("Have this done? Write yes: ", nl=False, err=True)
            if sys.stdin.readline().strip().lower() != "yes":
                raise InputError("Nothing was decided.")
        by = f"{getpass.getuser()} in a terminal"
        return [await manager.decide(number, found.digest, approve=approve, by=by)]

    found = session.run(work)
    if as_json:
        from emily.cli.assistant_contract import approvals_output

        say_json(approvals_output(found))
        return
    if number is not None:
        _show(found[0], err=False)
        return
    from emily.cli.printing import output, table

    console = output()
    if not found:
        console.print("Nothing waits for your decision.")
        return
    rows = [
        (
            item.id,
            item.state,
            item.client,
            f"{item.action} {_target(item)}",
            f"{item.expires_at.astimezone():%Y-%m-%d %H:%M}",
        )
        for item in found
    ]
    console.print(table(("id", "state", "from", "what", "until"), rows))
    console.print("See and decide: emily approvals ID --approve or --deny")


def _target(item: Approval) -> str:
    return one_line(str(item.arguments.get("path", "")))


def _show(item: Approval, *, err: bool) -> None:
    """An approval whole: each argument, its lines behind a bar."""
    from emily.cli.printing import QUOTE, errors, facts, harmless, output

    console = errors() if err else output()
    pairs: list[tuple[str, Any]] = [
        ("approval", item.id),
        ("state", item.state),
        ("from", f"{item.client}, conversation {item.conversation_id}"),
        ("asked", f"{item.asked_at.astimezone():%Y-%m-%d %H:%M}"),
        ("until", f"{item.expires_at.astimezone():%Y-%m-%d %H:%M}"),
        ("decided by", item.decided_by),
        ("outcome", item.outcome),
        ("what", item.action),
    ]
    console.print(facts(pairs))
    for name, value in item.arguments.items():
        console.print(f"{name}:")
        for line in harmless(str(value)).split("\n", allow_blank=True):
            console.print(QUOTE, end="")
            console.print(line)
