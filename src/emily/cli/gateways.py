"""The commands ``emily mcp …``: the server for MCP clients, their tokens, their settings."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from emily.cli.session import AsJson, Session, guarded, say_json, session_of
from emily.errors import InputError

if TYPE_CHECKING:
    from emily.gateways.mcp.install import Plan
    from emily.settings import Settings

__all__ = ["mcp"]

mcp = typer.Typer(
    name="mcp",
    help="Serve MCP clients such as Claude Code and Claude Desktop; let them in, set them up.",
    invoke_without_command=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_PORT = 8747


@mcp.callback()
@guarded
def serve(
    context: typer.Context,
    client: Annotated[
        str,
        typer.Option(
            "--client",
            metavar="NAME",
            help="Name of who starts this, for the ledger and the setting local_clients.",
        ),
    ] = "stdio",
    conversation: Annotated[
        str | None,
        typer.Option(
            "--conversation",
            metavar="ID",
            help="Go on with this conversation of the client; without it one of its own.",
            show_default=False,
        ),
    ] = None,
    http: Annotated[
        bool, typer.Option("--http", help="Serve over HTTP, to clients with a token.")
    ] = False,
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on, with --http.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option("--port", help="Port to listen on, with --http.", min=1, max=65_535)
    ] = _PORT,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            metavar="NAME",
            help="A name by which clients may ask for this machine, beside localhost.",
            show_default=False,
        ),
    ] = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print how a client starts this, as one JSON document; serve nothing."
        ),
    ] = False,
) -> None:
    """Serve MCP clients: one over stdin and stdout, which starts this, or many over HTTP.

    emily mcp install CLIENT enters it into the settings of a client. docs/mcp.md says more.
    """
    if context.invoked_subcommand is not None:
        return
    session = session_of(context)
    if as_json:
        _tell_how(session.settings(), client, host, port)
        return
    settings = _begun(session)
    if http:
        _serve_http(settings, host, port, allow_host or [])
        return
    identity = None
    if conversation is not None:
        try:
            identity = UUID(conversation)
        except ValueError:
            raise InputError(f"--conversation is {conversation!r}; it must be a UUID.") from None
    if sys.stdin is not None and sys.stdin.isatty():
        typer.echo(
            "emily: This speaks MCP over stdin and stdout, for a client to start. "
            "Set one up with: emily mcp install CLIENT",
            err=True,
        )
    from emily.gateways.mcp.stdio import serve_stdio

    asyncio.run(serve_stdio(settings, client, identity))


@mcp.command("token")
@guarded
def token(
    context: typer.Context,
    client: Annotated[
        str, typer.Option("--client", metavar="NAME", help="Whose token; one for each client.")
    ] = "default",
    new: Annotated[bool, typer.Option("--new", help="Make another one in its place.")] = False,
    revoke: Annotated[bool, typer.Option("--revoke", help="Take it away.")] = False,
    listed: Annotated[bool, typer.Option("--list", help="Name the clients that have one.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show the token by which a client is let in over HTTP; it is made if there is none.

    Whoever has it can search the archive as that client. It lies in tokens.json in the home
    folder, readable by you alone.
    """
    from emily.gateways.tokens import Tokens

    tokens = Tokens(session_of(context).settings().home)
    shown: str | None = None
    if revoke:
        tokens.revoke(client)
    elif not listed:
        shown = tokens.of(client, new=new)
    names = list(tokens.all())
    if as_json:
        from emily.cli.assistant_contract import McpTokenOutput

        say_json(McpTokenOutput(client=client, token=shown, clients=names))
    elif shown is not None:
        typer.echo(shown)
    elif revoke:
        typer.echo(f"The token of {client} lets nobody in any more.")
    else:
        typer.echo("\n".join(names) or "No client has a token. Make one with: emily mcp token")


@mcp.command("install")
@guarded
def install(
    context: typer.Context,
    client: Annotated[
        str,
        typer.Argument(metavar="CLIENT", help="claude-code, claude-desktop, cursor or vscode."),
    ],
    undo: Annotated[bool, typer.Option("--undo", help="Take Emily out again.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: AsJson = False,
) -> None:
    """Enter Emily into the settings of an MCP client, after showing what will be written.

    A copy of the client's file is kept beside it. A file that is not plain JSON is left alone,
    and the lines to enter by hand are shown. Without a terminal to ask on, --yes is needed.
    """
    from emily.gateways.mcp.install import Installation

    session = session_of(context)
    installation = Installation(client, session.settings().home)
    plan = installation.remove() if undo else installation.install()
    backup = None
    if plan.changes:
        if not as_json:
            _show(plan)
        if not yes:
            if not session.interactive():
                raise InputError(
                    f"Writing {plan.path} needs --yes where there is no terminal to ask on."
                )
            typer.echo("Write it? [y/N] ", nl=False, err=True)
            if sys.stdin.readline().strip().lower() not in ("y", "yes"):
                raise InputError("Nothing was written.")
        backup = installation.carry_out(plan)
    if as_json:
        from emily.cli.assistant_contract import McpInstallOutput

        say_json(
            McpInstallOutput(
                client=client,
                path=str(plan.path),
                key=plan.key,
                before=plan.before,
                after=plan.after,
                changed=plan.changes,
                backup=None if backup is None else str(backup),
            )
        )
        return
    if not plan.changes:
        state = "is not in" if undo else "is in"
        typer.echo(f"Emily {state} {plan.path} already; nothing was written.")
        return
    typer.echo(f"{'Taken out of' if undo else 'Entered into'} {plan.path}.")
    if backup is not None:
        typer.echo(f"The file as it was: {backup}")
    typer.echo(f"Start {client} anew to have it take effect.")


def _begun(session: Session) -> Settings:
    from emily.cli.logs import configure_logs, log_level

    configure_logs(log_level(session.verbose))
    return session.settings()


def _serve_http(settings: Settings, host: str, port: int, hosts: list[str]) -> None:
    from emily.gateways.mcp.http import PATH, serve_http
    from emily.gateways.mcp.stdio import brain_in_background
    from emily.gateways.mcp.waking import Waking
    from emily.gateways.tokens import Tokens
    from emily.models.servers import is_loopback

    tokens = Tokens(settings.home)
    if not tokens.all():
        tokens.of("default")
    typer.echo(
        f"emily: MCP at http://{host}:{port}{PATH}. Clients need a token: emily mcp token",
        err=True,
    )
    if not is_loopback(host):
        typer.echo(
            f"emily: {host} can be reached from other machines, and tokens and passages travel "
            "unencrypted. Put a server with TLS before it, or listen on 127.0.0.1.",
            err=True,
        )
    try:
        asyncio.run(
            serve_http(Waking(lambda: brain_in_background(settings)), settings, host, port, hosts)
        )
    except SystemExit:  # the server says on stderr why it could not listen
        raise InputError(
            f"Nothing can listen on {host}:{port}. Is it in use? Choose another with --port."
        ) from None


def _tell_how(settings: Settings, client: str, host: str, port: int) -> None:
    from emily.cli.assistant_contract import McpOutput
    from emily.gateways.mcp.http import PATH
    from emily.gateways.mcp.install import program

    command, *first = program()
    say_json(
        McpOutput(
            command=command,
            args=[*first, "--home", str(settings.home), "mcp", "--client", client],
            url=f"http://{host}:{port}{PATH}",
        )
    )


def _show(plan: Plan) -> None:
    def said(entry: Any) -> str:
        return json.dumps({plan.key: {"emily": entry}}, indent=2, ensure_ascii=False)

    typer.echo(f"In {plan.path}")
    if plan.before is not None:
        typer.echo(f"this is there now:\n{said(plan.before)}")
    if plan.after is not None:
        typer.echo(f"this will be written:\n{said(plan.after)}")
    else:
        typer.echo("it will be taken out.")
