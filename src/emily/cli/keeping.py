"""Commands on a document's life: ``note``, ``rename``, ``replace``, ``versions``, ``trash``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from emily.cli.plain import one_line, plain
from emily.cli.session import AsJson, Document, guarded, say_json, session_of
from emily.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emily.brain import Brain
    from emily.life.notes import Note
    from emily.life.service import Replaced
    from emily.life.trash import Trashed

__all__ = ["note", "rename", "replace", "trash", "versions"]

trash = typer.Typer(no_args_is_help=True, help="The trash: list, restore, empty.")


@guarded
def note(
    context: typer.Context,
    document: Document,
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help="What the note is to say.", show_default=False),
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the notes of DOC.")] = False,
    remove: Annotated[
        int | None,
        typer.Option("--remove", metavar="ID", help="Forget this note.", show_default=False),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Put a note of your own on a document, list its notes, or forget one.

    A note is found as any text is, and stands under its document, before the document's own
    text, marked as yours. It outlives new versions of the file. Without TEXT, --list is meant.
    """
    session = session_of(context)
    if text is not None and (listed or remove is not None):
        raise InputError("Give TEXT, --list or --remove ID: one of them.")

    async def work(brain: Brain) -> tuple[Sequence[Note], Note | None, Note | None]:
        added = gone = None
        if remove is not None:
            known = {item.id for item in await brain.life.notes(document)}
            if remove not in known:
                raise InputError(
                    f"There is no note {remove} on {document!r}. emily note DOC --list shows them."
                )
            gone = await brain.life.remove_note(remove)
        elif text is not None:
            added = await brain.life.note(document, text)
        return await brain.life.notes(document), added, gone

    notes, added, gone = session.run(work)
    if as_json:
        from emily.cli.keeping_contract import note_output

        say_json(note_output(notes, added, gone))
        return
    if added is not None:
        typer.echo(f"Note {added.id} is on document {added.document}, {one_line(added.name)}.")
    elif gone is not None:
        typer.echo(f"Note {gone.id} is forgotten.")
    elif not notes:
        typer.echo("It has no note.")
    else:
        for item in notes:
            typer.echo(f"Note {item.id}, {item.added_at.astimezone():%Y-%m-%d %H:%M}")
            for line in plain(item.text).split("\n"):
                typer.echo(f"  | {line}")


@guarded
def rename(
    context: typer.Context,
    document: Document,
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="Its new name.", show_default=False)
    ] = None,
    file_name: Annotated[
        bool, typer.Option("--file-name", help="Go by the name of its file again.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Give a document another name; your file keeps its own.

    The document is found by the words of its name, and keeps it when its file changes.
    """
    if (name is None) != file_name:
        raise InputError("Give NAME or --file-name: one of them.")
    session = session_of(context)
    info = session.run(lambda brain: brain.life.rename(document, name))
    if as_json:
        from emily.cli.keeping_contract import rename_output

        say_json(rename_output(info))
    else:
        typer.echo(f"Document {info.id} is called {one_line(info.name)}.")


@guarded
def replace(
    context: typer.Context,
    document: Document,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The new file.")],
    as_json: AsJson = False,
) -> None:
    """Replace a document's file by another one; what it was is kept as a version.

    The document keeps its id, its notes and its pins. A file that changes in its own place makes
    a new version by itself, the next time it is added.
    """
    done = session_of(context).run(lambda brain: brain.life.replace(document, file))
    _tell_replaced(done, as_json=as_json)


@guarded
def versions(
    context: typer.Context,
    document: Document,
    read: Annotated[
        int | None,
        typer.Option("--read", metavar="N", help="Print the text of one.", show_default=False),
    ] = None,
    restore: Annotated[
        int | None,
        typer.Option(
            "--restore", metavar="N", help="Make one the present version.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the earlier versions of a document, read one, or go back to one.

    Earlier versions are kept whole, and are not searched. The setting versions_kept bounds how
    many. Going back makes of the present version an earlier one, so that nothing is lost.
    """
    if read is not None and restore is not None:
        raise InputError("Give --read N or --restore N, not both.")
    session = session_of(context)
    if restore is not None:
        done = session.run(lambda brain: brain.life.restore_version(document, restore))
        _tell_replaced(done, as_json=as_json)
        return
    if read is not None:
        old = session.run(lambda brain: brain.life.read_version(document, read))
        if as_json:
            from emily.cli.keeping_contract import version_output

            say_json(version_output(old))
        else:
            typer.echo(plain(old.text))
        return
    show_versions(context, document, as_json=as_json)


def show_versions(context: typer.Context, document: str, *, as_json: bool) -> None:
    """List the earlier versions of a document."""
    info, present, found = session_of(context).run(lambda brain: brain.life.versions(document))
    if as_json:
        from emily.cli.keeping_contract import versions_output

        say_json(versions_output(info, present, found))
        return
    from emily.cli.printing import output, size, table

    console = output()
    if found:
        rows = [
            (
                item.version,
                item.name,
                item.kind,
                size(item.bytes),
                f"{item.read_at.astimezone():%Y-%m-%d %H:%M}",
                f"{item.replaced_at.astimezone():%Y-%m-%d %H:%M}",
            )
            for item in found
        ]
        console.print(table(("version", "name", "kind", "size", "read", "replaced"), rows))
    earlier = f"{len(found)} earlier {'version' if len(found) == 1 else 'versions'}"
    console.print(
        f"Document {info.id}, {one_line(info.name)}: version {present}, "
        f"{earlier if found else 'and no earlier one is kept'}"
    )


@trash.command("list")
@guarded
def list_trash(context: typer.Context, as_json: AsJson = False) -> None:
    """List what lies in the trash, the oldest first."""
    found = session_of(context).run(lambda brain: brain.life.trashed())
    if as_json:
        from emily.cli.keeping_contract import trash_output

        say_json(trash_output(found))
        return
    from emily.cli.printing import output, size, table

    console = output()
    if not found:
        console.print("The trash is empty.")
        return
    rows = [
        (
            item.id,
            item.name,
            item.kind,
            size(item.bytes),
            item.inside or None,
            f"{item.trashed_at.astimezone():%Y-%m-%d %H:%M}",
            item.path,
        )
        for item in found
    ]
    console.print(table(("id", "name", "kind", "size", "inside", "since", "path"), rows))
    console.print(f"{len(rows)} {'document' if len(rows) == 1 else 'documents'}")


@trash.command("restore")
@guarded
def restore_trashed(context: typer.Context, document: Document, as_json: AsJson = False) -> None:
    """Bring a document back, with what went with it, its notes and its versions."""

    async def work(brain: Brain) -> tuple[Trashed, int, Sequence[str]]:
        return *await brain.life.restore(document), await brain.pins.notices()

    found, count, notices = session_of(context).run(work, warm=True)
    if as_json:
        from emily.cli.keeping_contract import trash_restore_output

        say_json(trash_restore_output(found, count, notices))
        return
    from emily.cli.printing import print_notices

    more = f", and {count - 1} inside of it" if count > 1 else ""
    typer.echo(f"Document {found.id} is back: {one_line(found.name)}{more}")
    print_notices(notices)


@trash.command("empty")
@guarded
def empty(
    context: typer.Context,
    documents: Annotated[
        list[str] | None,
        typer.Argument(metavar="DOC", help="Only these; all without.", show_default=False),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget what lies in the trash for good: texts, files, vectors, notes, versions, traces.

    Logged questions that it answered, pins to it, and what the ledger of models says of it go
    too. A copy can remain in backups and exports that you made: delete those as well. Without a
    terminal to ask on, --yes is needed.
    """
    from emily.cli.documents import confirmed

    session = session_of(context)
    if not yes:
        if not session.interactive():
            raise InputError("Emptying the trash needs --yes where there is no terminal to ask on.")
        there = session.run(lambda brain: brain.life.trashed())
        if there and not confirmed(
            f"Forget for good {len(documents or there)} of {len(there)} in the trash?"
        ):
            raise InputError("Nothing was forgotten.")
    gone = session.run(lambda brain: brain.life.empty_trash(documents or ()))
    if as_json:
        from emily.cli.keeping_contract import trash_empty_output

        say_json(trash_empty_output(gone))
        return
    _tell_gone(gone)


BACKUPS = "A copy can remain in backups and exports that you made."


def _tell_gone(gone: Sequence[Trashed]) -> None:
    if not gone:
        typer.echo("The trash is empty.")
        return
    for item in gone:
        typer.echo(f"Document {item.id} is forgotten: {one_line(item.name)}")
    typer.echo(BACKUPS)


def _tell_replaced(done: Replaced, *, as_json: bool) -> None:
    if as_json:
        from emily.cli.keeping_contract import replace_output

        say_json(replace_output(done))
        return
    info = done.document
    kept = "" if done.kept is None else f"; what it was is version {done.kept}"
    typer.echo(f"Document {info.id}, {one_line(info.name)}, is version {done.version}{kept}.")
    if done.outcome.reason:
        typer.echo(plain(done.outcome.reason))
