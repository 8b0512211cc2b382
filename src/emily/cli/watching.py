"""The command ``watch``: folders whose changes are followed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from emily.cli.plain import one_line
from emily.cli.session import AsJson, Session, guarded, say_json, session_of
from emily.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emily.brain import Brain
    from emily.work.watching import WatchedFolder

__all__ = ["watch"]


@guarded
def watch(
    context: typer.Context,
    folders: Annotated[
        list[str] | None, typer.Argument(metavar="[FOLDER]", help="Folders to follow.")
    ] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option(
            "--remove",
            metavar="FOLDER",
            help="Follow this one no longer; its documents stay.",
            show_default=False,
        ),
    ] = None,
    run: Annotated[
        bool, typer.Option("--run", help="Follow them here, until Ctrl-C, without emily serve.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Follow folders, or list those that are followed.

    New and changed files are indexed, a moved one keeps its document, and a deleted one is told
    of. A file that is being copied is waited for. emily serve follows the folders; --run does it
    here instead. What a file .emilyignore names, in the syntax of .gitignore, is left out, as are
    lock files, temporary and hidden ones.
    """
    session = session_of(context)

    async def work(brain: Brain) -> tuple[Sequence[WatchedFolder], list[str], list[str]]:
        watcher = brain.work.watcher
        removed = [str((await watcher.remove(folder)).path) for folder in remove or ()]
        added = [str((await watcher.add(folder)).path) for folder in folders or ()]
        return await watcher.folders(), added, removed

    found, added, removed = session.run(work)
    if run and not found:
        raise InputError("No folder is watched. Add one: emily watch FOLDER")
    served = _served(session)
    if as_json:
        from emily.cli.working_contract import watch_output

        say_json(watch_output(found, added, removed, served=served))
    else:
        _print(found, added, removed, served=served or run)
    if run:
        session.run(_followed, warm=True)


async def _followed(brain: Brain) -> None:
    from emily.cli.working import stopped_by_signals, tell_finished

    with stopped_by_signals() as stop:
        typer.echo("Following these folders and indexing what changes. End with Ctrl-C.", err=True)
        await asyncio.gather(brain.work.run(stop, tell=tell_finished), brain.work.watch(stop))


def _served(session: Session) -> bool:
    from emily.cli.endpoint import described

    return described(session.settings().home) is not None


def _print(
    found: Sequence[WatchedFolder], added: list[str], removed: list[str], *, served: bool
) -> None:
    from emily.cli.printing import output, table

    console = output()
    for path in removed:
        console.print(f"No longer watched: {one_line(path)}")
    for path in added:
        console.print(f"Watched from now on: {one_line(path)}")
    if found:
        columns = ("folder", "files", "missing", "looked at", "trouble")
        rows = [
            (
                item.path,
                item.files,
                item.missing or None,
                None
                if item.looked_at is None
                else f"{item.looked_at.astimezone():%Y-%m-%d %H:%M:%S}",
                item.trouble,
            )
            for item in found
        ]
        console.print(table(columns, rows))
    elif not removed:
        console.print("No folder is watched. Add one: emily watch FOLDER")
    if found and not served:
        console.print("Notice: Nobody follows them now. Start: emily serve, or emily watch --run")
