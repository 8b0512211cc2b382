"""The commands about folders of notes: ``vault …``, ``links``, ``lite``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from emily.cli.plain import one_line
from emily.cli.program import INTERRUPTED
from emily.cli.progress import progress
from emily.cli.session import AsJson, Session, fail, guarded, say_json, session_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from emily.vault.cache import Cache
    from emily.vault.register import Registered
    from emily.vault.report import SyncReport, VaultInfo

__all__ = ["links", "lite", "vault"]

vault = typer.Typer(
    help="Search folders of Markdown notes where they are; nothing is ever written into them.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Name = Annotated[
    str | None,
    typer.Argument(
        metavar="[VAULT]",
        help="Name or folder of a vault; without it all.",
        show_default=False,
    ),
]

_SHOWN = 10


@vault.command("add")
@guarded
def add(
    context: typer.Context,
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="The folder of notes.")],
    name: Annotated[
        str | None,
        typer.Option(
            "--name", help="What to call it; without it the folder's name.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Search a folder of notes from now on, and index it.

    The files stay the truth: every search looks first whether one came, changed, moved or went.
    Nothing is ever written into the folder. Hidden folders (.obsidian, .trash, .git) and what
    .gitignore and .emilyignore name are left out. PDFs, pictures and other files in it are read
    and found as well. Ctrl-C loses nothing: emily vault sync goes on.
    """
    try:
        with progress() as tell:
            report = session_of(context).run(
                lambda brain: brain.vaults.add(folder, name=name, tell=tell), warm=True
            )
    except KeyboardInterrupt:
        fail(
            "Interrupted",
            "Interrupted. What was indexed is kept; go on with: emily vault sync",
            as_json,
        )
        raise typer.Exit(INTERRUPTED) from None
    _say_reports([report], as_json=as_json)


@vault.command("list")
@guarded
def list_vaults(context: typer.Context, as_json: AsJson = False) -> None:
    """List the vaults."""
    found = session_of(context).run(lambda brain: brain.vaults.vaults())
    if as_json:
        from emily.cli.vaults_contract import vault_list_output

        say_json(vault_list_output(found))
        return
    from emily.cli.printing import output, table

    if not found:
        typer.echo("There is no vault yet. Add one: emily vault add FOLDER")
        return
    columns = ("name", "notes", "passages", "attachments", "links", "broken", "state", "folder")
    rows = [
        (
            item.name,
            item.notes,
            item.passages,
            item.attachments,
            item.links,
            item.broken,
            _state(item),
            item.path,
        )
        for item in found
    ]
    output().print(table(columns, rows))


@vault.command("status")
@guarded
def status(context: typer.Context, name: Name = None, as_json: AsJson = False) -> None:
    """Say how vaults are: what is not read, what has problems, which links lead nowhere."""
    found = session_of(context).run(lambda brain: brain.vaults.vaults())
    if name is not None:
        from emily.vault.register import Register

        chosen = Register(session_of(context).settings().home).resolve(name)
        found = [item for item in found if item.name == chosen.name]
    if as_json:
        from emily.cli.vaults_contract import vault_list_output

        say_json(vault_list_output(found))
        return
    from emily.cli.printing import facts, output

    for item in found:
        pairs = [
            ("vault", item.name),
            ("folder", item.path),
            ("state", _state(item)),
            ("notes", item.notes),
            ("passages", item.passages),
            ("attachments", item.attachments),
            ("not read, or without text", item.unread),
            ("found by words alone", item.incomplete),
            ("links", item.links),
            ("broken links", item.broken),
            ("compared with its files", item.synced_at),
        ]
        output().print(facts(pairs))
        for path, reasons in item.problems:
            typer.echo(f"  {one_line(path)}: {one_line(' '.join(reasons))}")
    if not found:
        typer.echo("There is no vault yet. Add one: emily vault add FOLDER")


@vault.command("sync")
@guarded
def sync(context: typer.Context, name: Name = None, as_json: AsJson = False) -> None:
    """Bring vaults up to date with their folders, attachments too.

    A search does this by itself for notes. PDFs and pictures take longer to read, and wait for
    this command.
    """
    try:
        with progress() as tell:
            reports = session_of(context).run(
                lambda brain: brain.vaults.sync(name, tell=tell), warm=True
            )
    except KeyboardInterrupt:
        fail(
            "Interrupted",
            "Interrupted. What was indexed is kept; go on with the same command.",
            as_json,
        )
        raise typer.Exit(INTERRUPTED) from None
    _say_reports(reports, as_json=as_json)


@vault.command("remove")
@guarded
def remove(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="VAULT", help="Name or folder of a vault.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Forget a vault and all that was derived from it. Its files stay as they are.

    Notes that you added with emily note are in none of its files and would go too: it asks
    first, and without a terminal to ask on --yes is needed.
    """
    from emily.cli.documents import confirmed
    from emily.errors import InputError

    session = session_of(context)
    if not yes and session.interactive():
        own = session.run(lambda brain: brain.vaults.own_notes(name))
        if own:
            noun = "note" if own == 1 else "notes"
            if not confirmed(f"{own} {noun} that you added would be forgotten for good. Go on?"):
                raise InputError("Nothing was forgotten.")
            yes = True
    gone = session.run(lambda brain: brain.vaults.remove(name, notes=yes))
    if as_json:
        from emily.cli.vaults_contract import vault_remove_output

        say_json(vault_remove_output(gone))
        return
    typer.echo(f"The vault {one_line(gone.name)} is forgotten; its files are in {gone.path}.")


@vault.command("open")
@guarded
def open_place(
    context: typer.Context,
    place: Annotated[
        str,
        typer.Argument(
            metavar="PATH:LINE", help="As answers cite it; the path may be that inside a vault."
        ),
    ],
    as_json: AsJson = False,
) -> None:
    """Open a place of a note in your editor.

    The editor is that of the setting editor (a command, or obsidian), else of the variables
    VISUAL and EDITOR, else code.
    """
    from emily.vault.editor import editor_command, parse_place
    from emily.vault.register import Register

    settings = session_of(context).settings()
    given, line = parse_place(place)
    path = Register(settings.home).file_of(given)
    command = editor_command(
        path, line, chosen=settings.editor, environment=os.environ, which=shutil.which
    )
    code = subprocess.call(command)
    if as_json:
        from emily.cli.vaults_contract import VaultOpenOutput

        say_json(VaultOpenOutput(path=str(path), line=line, command=command))
    if code:
        raise typer.Exit(1)


@vault.command("map")
@guarded
def map_vault(
    context: typer.Context,
    name: Name = None,
    terms: Annotated[
        str | None,
        typer.Option(
            "--terms",
            metavar="BEGINNING",
            help="Instead, words that begin so, with the notes about them; '' for all.",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the themes of a vault with their notes, or an index of its words: names, no text."""
    from emily.vault import lite_answers as answers

    session = session_of(context)
    chosen = _one(session, name)

    def made(cache: Cache) -> dict[str, Any]:
        if terms is None:
            return answers.map_document(cache)
        return answers.terms_document(cache, terms)

    document = _with_cache(session, chosen, made)
    if as_json:
        from emily.cli.vaults_contract import vault_map_output

        say_json(vault_map_output(document))
        return
    show = answers.show_map if terms is None else answers.show_terms
    _say_lines(show(document), document["notices"])


@guarded
def links(
    context: typer.Context,
    note: Annotated[
        str | None,
        typer.Argument(
            metavar="[NOTE]",
            help="Path, name, alias or title of a note; without it the whole vault.",
            show_default=False,
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "--vault", metavar="VAULT", help="Name or folder of its vault.", show_default=False
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show the links of a note: where it leads, what leads to it, what names it without a link.

    Without a note: the links of a vault that lead nowhere or to several files, and the notes that
    nothing links.
    """
    from emily.errors import InputError
    from emily.vault import lite_answers as answers
    from emily.vault.register import Register

    session = session_of(context)
    document = None
    if note is None:
        document = _with_cache(session, _one(session, name), answers.vault_links_document)
    else:
        register = Register(session.settings().home)
        vaults = register.all() if name is None else (register.resolve(name),)
        for chosen in vaults:
            wanted = register.inside(chosen, note)

            def made(cache: Cache, wanted: str = wanted) -> dict[str, Any] | None:
                path = answers.note_called(cache, wanted)
                return None if path is None else answers.links_document(cache, path)

            document = _with_cache(session, chosen, made)
            if document is not None:
                break
    if document is None:
        where = "a vault" if name is None else f"the vault {name}"
        raise InputError(
            f"No note of {where} is called {note!r}. Vaults: emily vault list; names of notes: "
            "emily vault map"
        )
    if as_json:
        from emily.cli.vaults_contract import links_output

        say_json(links_output(document))
        return
    show = answers.show_links if "note" in document else answers.show_vault_links
    _say_lines(show(document), document["notices"])


@guarded
def lite(
    context: typer.Context,
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A folder of notes.")],
    query: Annotated[
        list[str] | None, typer.Argument(metavar="[QUERY]", help="What to look for.")
    ] = None,
    budget: Annotated[int, typer.Option("--budget", help="Most tokens of all passages.")] = 2000,
    limit: Annotated[int, typer.Option("--limit", help="Most notes.")] = 8,
    no_links: Annotated[
        bool, typer.Option("--no-links", help="Leave the links out of account.")
    ] = False,
    linked: Annotated[
        str | None,
        typer.Option(
            "--links",
            metavar="NOTE",
            help="Instead, the links of a note; '*' for those of the folder.",
            show_default=False,
        ),
    ] = None,
    themes: Annotated[
        bool, typer.Option("--map", help="Instead, themes with their notes.")
    ] = False,
    terms: Annotated[
        str | None,
        typer.Option(
            "--terms",
            metavar="BEGINNING",
            help="Instead, words that begin so, with the notes about them; '' for all.",
            show_default=False,
        ),
    ] = None,
    problems: Annotated[
        bool, typer.Option("--problems", help="Instead, all files that have a problem.")
    ] = False,
    no_cache: Annotated[
        bool, typer.Option("--no-cache", help="Keep nothing for the next search.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Search a folder of notes by words and links alone: no database, no model.

    The same runs without any package from a checkout: python -I -S src/emily/vault/lite.py. What
    says the same in other words is not found; emily vault add and emily search find that too.
    """
    from emily.vault.fallback import kept_in
    from emily.vault.lite import Request, run

    request = Request(
        folder=Path(folder),
        query=" ".join(query or ()),
        budget=budget,
        limit=limit,
        use_links=not no_links,
        as_json=as_json,
        links=linked,
        map=themes,
        terms=terms,
        problems=problems,
        kept_in=None if no_cache else kept_in(session_of(context).settings()),
        processes=os.cpu_count() or 1,
    )
    code = run(request, sys.stdout, sys.stderr)
    if code:
        raise typer.Exit(code)


def _one(session: Session, name: str | None) -> Registered:
    """The vault of that name, or the only one."""
    from emily.errors import InputError
    from emily.vault.register import Register

    register = Register(session.settings().home)
    if name is not None:
        return register.resolve(name)
    vaults = register.all()
    if len(vaults) != 1:
        names = ", ".join(item.name for item in vaults) or "none yet; emily vault add FOLDER"
        raise InputError(f"Name the vault. Vaults: {names}")
    return vaults[0]


def _with_cache(session: Session, chosen: Registered, work: Callable[[Cache], Any]) -> Any:
    """Do something with a vault as its folder is now."""
    from emily.errors import InputError
    from emily.vault.cache import open_cache
    from emily.vault.fallback import kept_in

    try:
        cache = open_cache(chosen.folder, kept_in(session.settings()))
    except OSError as error:
        raise InputError(
            f"The vault {chosen.name} cannot be looked at: {chosen.path}: {error.strerror or error}"
        ) from None
    try:
        return work(cache)
    finally:
        cache.close()


def _say_lines(lines: Iterable[str], notices: Sequence[str]) -> None:
    from emily.cli.printing import print_notices

    for line in lines:
        typer.echo(one_line(line) if not line.startswith(" ") else "  " + one_line(line))
    print_notices(notices)


def _state(item: VaultInfo) -> str:
    if not item.reachable:
        return "not reachable"
    return "searched" if item.indexed and item.synced_at is not None else "not indexed"


def _say_reports(reports: Sequence[SyncReport], *, as_json: bool) -> None:
    if as_json:
        from emily.cli.vaults_contract import vault_sync_output

        say_json(vault_sync_output(reports))
    else:
        for report in reports:
            _print_report(report)
        if not reports:
            typer.echo("There is no vault yet. Add one: emily vault add FOLDER")
    if any(not report.reachable for report in reports):
        raise typer.Exit(1)


def _print_report(report: SyncReport) -> None:
    from emily.cli.printing import print_notices

    counts = (
        (len(report.added), "added"),
        (len(report.changed), "changed"),
        (len(report.moved), "moved"),
        (len(report.removed), "gone"),
        (report.unchanged, "as they were"),
        (len(report.skipped), "left out"),
    )
    said = ", ".join(f"{count:,} {what}" for count, what in counts if count) or "empty"
    typer.echo(f"{one_line(report.vault)}: {said}")
    for path, why in report.failed[:_SHOWN]:
        typer.echo(f"  {one_line(path)}: {one_line(why)}")
    if len(report.failed) > _SHOWN:
        typer.echo(f"  and {len(report.failed) - _SHOWN:,} more; emily vault status shows all")
    if report.words_only:
        typer.echo(f"  {len(report.words_only):,} notes are found by words alone in part")
    print_notices(report.notices)
