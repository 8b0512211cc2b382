"""The app: its commands and its global options. ``emily.cli.program`` runs it.

A command imports the brain when it runs, not before, so that ``emily --help`` is quick.
"""

from __future__ import annotations

from typing import Annotated

import typer

from emily.cli import (
    adding,
    analysing,
    approving,
    chatting,
    configuring,
    copying,
    documents,
    evaluating,
    gateways,
    health,
    inspecting,
    keeping,
    models,
    noticing,
    privacy,
    remembering,
    replaying,
    searching,
    serving,
    vaults,
    watching,
    why,
    working,
)
from emily.cli.session import Session

__all__ = ["app"]

app = typer.Typer(
    name="emily",
    help=(
        "A second brain on your own machine: everything you keep becomes searchable in the "
        "languages of the settings (Italian and English by default), and every answer cites its "
        "page."
    ),
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    # Help without Rich: it is there at once, and it is the same text in docs/cli.md.
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.command("add")(adding.add)
app.command("search")(searching.search)
app.command("ask")(searching.ask)
app.command("inspect")(inspecting.inspect)
app.command("list")(documents.list_documents)
app.command("show")(documents.show)
app.command("remove")(documents.remove)
app.command("reindex")(documents.reindex)
app.command("note")(keeping.note)
app.command("rename")(keeping.rename)
app.command("replace")(keeping.replace)
app.command("versions")(keeping.versions)
app.add_typer(keeping.trash, name="trash")
app.command("export")(copying.export)
app.command("import")(copying.import_)
app.command("backup")(copying.backup)
app.command("restore")(copying.restore)
app.command("get")(analysing.get)
app.command("summary")(analysing.summary)
app.command("analyse")(analysing.analyse)
app.add_typer(analysing.categories, name="categories")
app.command("why")(why.why)
app.command("pin")(noticing.pin)
app.command("pins")(noticing.pins)
app.command("queries")(noticing.queries)
app.command("chat")(chatting.chat)
app.command("replay")(replaying.replay)
app.add_typer(gateways.mcp, name="mcp")
app.add_typer(remembering.memory, name="memory")
app.command("approvals")(approving.approvals)
app.command("egress")(privacy.egress)
app.command("private")(privacy.private)
app.command("status")(health.status)
app.command("doctor")(health.doctor)
app.command("serve")(serving.serve)
app.command("watch")(watching.watch)
app.command("worker")(working.worker)
app.command("jobs")(working.jobs)
app.command("retry")(working.retry)
app.command("alerts")(noticing.alerts)
app.command("stop")(health.stop)
app.command("eval")(evaluating.evaluate)
app.add_typer(models.models, name="models")
app.add_typer(vaults.vault, name="vault")
app.command("links")(vaults.links)
app.command("lite")(vaults.lite)
app.add_typer(configuring.config, name="config")
app.command("settings")(health.settings)
app.command("version")(health.version)


def _print_version(wanted: bool) -> None:
    if wanted:
        health.version(as_json=False)
        raise typer.Exit


@app.callback()
def _begin(
    context: typer.Context,
    home: Annotated[
        str | None,  # a Path would make of an empty one the current folder
        typer.Option(
            "--home",
            metavar="PATH",
            help="Folder of all data. Without it EMILY_HOME, else the platform's data folder.",
            show_default=False,
        ),
    ] = None,
    verbose: Annotated[
        bool,
        typer.Option(
            "--verbose",
            "-v",
            help="Log more to stderr. EMILY_LOG sets the level: debug, info, warning, error.",
        ),
    ] = False,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    session = context.ensure_object(Session)
    session.home = home
    session.verbose = verbose
