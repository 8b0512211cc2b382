"""The commands on documents that the archive holds: ``list``, ``show``, ``remove``, ``reindex``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from emily.cli.adding import shown_progress
from emily.cli.inspecting import people
from emily.cli.plain import one_line
from emily.cli.session import AsJson, Document, guarded, say_json, session_of
from emily.errors import InputError

if TYPE_CHECKING:
    from emily.brain import Brain, DocumentDetail

__all__ = ["confirmed", "list_documents", "reindex", "remove", "show"]

_SHOWN = 90  # characters of a description in the list


@guarded
def list_documents(context: typer.Context, as_json: AsJson = False) -> None:
    """List the documents of the archive, oldest first."""
    documents = session_of(context).run(lambda brain: brain.list())
    if as_json:
        from emily.cli.contract import list_output

        say_json(list_output(documents))
        return
    from emily.cli.printing import output, table

    console = output()
    if not documents:
        console.print("The archive is empty. Add files with: emily add PATH")
        return
    columns = ("id", "name", "kind", "language", "date", "pages", "added", "path")
    categorised = any(item.categories for item in documents)
    described = any(item.description for item in documents)
    columns += (*(("categories",) if categorised else ()), *(("description",) if described else ()))
    rows = [
        (
            item.id,
            item.name,
            item.kind,
            item.language,
            item.date,
            item.pages,
            f"{item.added_at.astimezone():%Y-%m-%d}",
            item.path,
            *((", ".join(item.categories),) if categorised else ()),
            *((_beginning(item.description),) if described else ()),
        )
        for item in documents
    ]
    console.print(table(columns, rows))
    console.print(f"{len(rows)} {'document' if len(rows) == 1 else 'documents'}")


def _beginning(description: str | None) -> str | None:
    """As much of a description as tells what it is; emily get shows all."""
    if description is None or len(description) <= _SHOWN:
        return description
    return description[:_SHOWN].rsplit(" ", 1)[0] + " …"


@guarded
def show(
    context: typer.Context,
    document: Document,
    versions: Annotated[
        bool, typer.Option("--versions", help="List its earlier versions instead.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Show one document and its pages.

    Tells its facts, by which route each page was read (text, ocr, vision, blank, unread) and
    what of it was not read.
    """
    if versions:
        from emily.cli.keeping import show_versions

        show_versions(context, document, as_json=as_json)
        return
    detail = session_of(context).run(lambda brain: brain.show(document))
    if as_json:
        from emily.cli.contract import show_output

        say_json(show_output(detail))
    else:
        _print_detail(detail)


@guarded
def remove(
    context: typer.Context,
    document: Document,
    now: Annotated[
        bool, typer.Option("--now", help="Forget it for good at once, instead of the trash.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask, with --now.")] = False,
    as_json: AsJson = False,
) -> None:
    """Put a document into the trash, where nothing finds it.

    With a mail or an archive the documents inside of it go that are kept nowhere else. emily trash
    restore brings it back, emily trash empty forgets it; --now forgets it at once: text, index,
    versions, notes, traces, and Emily's copy of the file. Your own file stays where it is.
    """
    session = session_of(context)
    target: str | int = document
    if now and not yes:
        if not session.interactive():
            raise InputError(
                f"Forgetting {document!r} needs --yes where there is no terminal to ask on."
            )
        detail = session.run(lambda brain: brain.show(document))
        info = detail.info
        target = info.id
        noun = "document" if len(detail.parts) == 1 else "documents"
        inside = f", and the {len(detail.parts)} {noun} inside of it" if detail.parts else ""
        if not confirmed(f"Forget document {info.id}, {one_line(info.name)}{inside}?"):
            raise InputError("Nothing was removed.")

    async def work(brain: Brain) -> RemoveReport:
        going = brain.life.forget(target) if now else brain.life.trash(target)
        info, count = await going
        return RemoveReport(info, await brain.pins.notices(), trashed=not now, documents=count)

    from emily.indexing.report import RemoveReport

    removed = session.run(work)
    if as_json:
        from emily.cli.contract import remove_output

        say_json(remove_output(removed))
        return
    from emily.cli.keeping import BACKUPS
    from emily.cli.printing import output, print_notices

    info = removed.document
    more = f", and {removed.documents - 1} inside of it" if removed.documents > 1 else ""
    console = output()
    if now:
        console.print(f"Document {info.id} is forgotten: {one_line(info.name)}{more}")
        console.print(BACKUPS)
    else:
        console.print(f"Document {info.id} is in the trash: {one_line(info.name)}{more}")
        console.print(f"Bring it back with: emily trash restore {info.id}")
    print_notices(removed.notices)


@guarded
def reindex(
    context: typer.Context,
    stale: Annotated[  # noqa: ARG001 - what is not stale needs none, so that it is always meant
        bool, typer.Option("--stale", help="What is stale; this is always meant.")
    ] = False,
    here: Annotated[
        bool, typer.Option("--here", help="Do it here, also where a worker could do it.")
    ] = False,
    stop: Annotated[
        bool, typer.Option("--stop", help="End what a worker was asked to do.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Index anew what a changed setting or model has made stale.

    Where a worker runs (emily serve, emily worker) it does so behind the scenes; else it is done
    here. All stays searchable meanwhile. Ended at any moment, what was finished stays, and the
    same command goes on. The text is kept in the archive, so no file is read again.
    """
    if here and stop:
        raise InputError("Give --here or --stop, not both.")
    from emily.indexing.report import ReindexReport

    with shown_progress() as tell:

        async def work(brain: Brain) -> tuple[ReindexReport, int, bool]:
            if stop:
                stopped = await brain.mending.stop()
                return ReindexReport(0), await brain.mending.left(), stopped
            if not here and (await brain.work.counts()).workers:
                left = await brain.mending.left()
                if left:
                    await brain.mending.ask()
                return ReindexReport(0), left, False
            return await brain.reindex(progress=tell), 0, False

        report, left, stopped = session_of(context).run(work)
    if as_json:
        from emily.cli.contract import reindex_output

        say_json(reindex_output(report, left, stopped=stopped))
        return
    from emily.cli.printing import output, print_notices

    console = output()
    noun = "document" if left == 1 else "documents"
    if stop:
        console.print("Stopped." if stopped else "No worker was asked to.")
        if left:
            console.print(f"{left} {noun} stale. Go on with: emily reindex")
    elif left:
        console.print(
            f"A worker indexes {left} {noun} anew; emily status shows what is left, and emily "
            "reindex --stop ends it."
        )
    else:
        count = report.documents
        noun = "document was" if count == 1 else "documents were"
        console.print(f"{count} {noun} indexed anew." if count else "Nothing was stale.")
    print_notices(report.notices)


def confirmed(question: str) -> bool:
    """Ask on stderr: ``typer.confirm`` writes a blank to stdout, which is the result's alone."""
    typer.echo(f"{question} [y/N] ", nl=False, err=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _print_detail(detail: DocumentDetail) -> None:
    from emily.cli.printing import facts, output, size, table

    console = output()
    info = detail.info
    pairs = [
        ("id", info.id),
        ("name", info.name),
        ("title", detail.title),
        ("description", info.description),
        ("categories", list(info.categories) or None),
        ("kind", info.kind),
        ("author", info.author),
        ("date", None if info.date is None else f"{info.date} (from its {info.date_source})"),
        *((person.role, people(person.name, person.address)) for person in info.correspondents),
        ("language", info.language),
        ("pages", info.pages),
        ("chunks", info.chunks),
        ("characters", info.characters),
        ("size", size(info.bytes)),
        ("added", f"{info.added_at.astimezone():%Y-%m-%d %H:%M}"),
        *(("path", path) for path in info.paths or (info.path,)),
        ("inside of", None if info.parent is None else f"document {info.parent}"),
        *(("holds", f"document {part.id}, {one_line(part.name)}") for part in detail.parts),
        *(("thread", f"document {mail.id}, {one_line(mail.name)}") for mail in detail.thread),
        ("routes", detail.routes),
    ]
    console.print(facts(pairs))
    rows = [
        (
            page.number,
            page.route,
            None if page.confidence is None else f"{page.confidence:.2f}",
            page.characters,
            page.pictures or None,
            page.warning,
        )
        for page in detail.pages
    ]
    columns = ("page", "route", "confidence", "characters", "pictures", "warning")
    console.print(table(columns, rows))
    for warning in info.warnings:
        console.print(f"Warning: {one_line(warning)}")
