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
    from emily.brain import DocumentDetail

__all__ = ["list_documents", "reindex", "remove", "show"]


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
        )
        for item in documents
    ]
    console.print(table(columns, rows))
    console.print(f"{len(rows)} {'document' if len(rows) == 1 else 'documents'}")


@guarded
def show(context: typer.Context, document: Document, as_json: AsJson = False) -> None:
    """Show one document and its pages.

    Tells its facts, by which route each page was read (text, ocr, vision, blank, unread) and
    what of it was not read.
    """
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
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget a document whole.

    Its text, its index and Emily's copy of the file go, and with a mail or an archive the
    documents inside of it that are kept nowhere else. Your own file stays where it is. Without a
    terminal to ask on, --yes is needed.
    """
    session = session_of(context)
    target: str | int = document
    if not yes:
        if not session.interactive():
            raise InputError(
                f"Removing {document!r} needs --yes where there is no terminal to ask on."
            )
        detail = session.run(lambda brain: brain.show(document))
        info = detail.info
        target = info.id
        noun = "document" if len(detail.parts) == 1 else "documents"
        inside = f", and the {len(detail.parts)} {noun} inside of it" if detail.parts else ""
        if not _confirmed(f"Forget document {info.id}, {one_line(info.name)}{inside}?"):
            raise InputError("Nothing was removed.")
    removed = session.run(lambda brain: brain.remove(target))
    if as_json:
        from emily.cli.contract import remove_output

        say_json(remove_output(removed))
    else:
        from emily.cli.printing import output, print_notices

        info = removed.document
        output().print(f"Document {info.id} is forgotten: {one_line(info.name)}")
        print_notices(removed.notices)


@guarded
def reindex(context: typer.Context, as_json: AsJson = False) -> None:
    """Index anew what a changed setting or model has made stale.

    The text is kept in the archive, so no file is read again.
    """
    with shown_progress() as tell:
        report = session_of(context).run(lambda brain: brain.reindex(progress=tell))
    if as_json:
        from emily.cli.contract import reindex_output

        say_json(reindex_output(report))
    else:
        from emily.cli.printing import output, print_notices

        count = report.documents
        noun = "document was" if count == 1 else "documents were"
        output().print(f"{count} {noun} indexed anew." if count else "Nothing was stale.")
        print_notices(report.notices)


def _confirmed(question: str) -> bool:
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
