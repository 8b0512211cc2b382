"""The commands about Emily herself: ``status``, ``doctor``, ``stop``, ``settings``, ``version``."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Annotated

import typer

from emily.cli.plain import one_line, plain
from emily.cli.session import AsJson, guarded, say_json, session_of
from emily.errors import StoreError

if TYPE_CHECKING:
    from emily.brain import Check, Status

__all__ = ["doctor", "settings", "status", "stop", "version"]

_STATUSES = ("running", "waiting", "failed", "done")


@guarded
def status(
    context: typer.Context,
    memory: Annotated[
        bool,
        typer.Option(
            "--memory", help="What every process takes, against the setting memory_budget_mb."
        ),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Say what the archive holds and what is wrong with it."""
    if memory:
        _memory(context, as_json)
        return
    found = session_of(context).run(lambda brain: brain.status())
    if as_json:
        from emily.cli.contract import status_output

        say_json(status_output(found))
    else:
        _print_status(found)


@guarded
def doctor(context: typer.Context, as_json: AsJson = False) -> None:
    """Check that every part works, and say how to mend what does not.

    Tries the database, the models, OCR and the disk for real. The exit code is 1 if a check
    fails.
    """
    checks = _examined(context)
    if as_json:
        from emily.cli.contract import doctor_output

        say_json(doctor_output(checks))
    else:
        for check in checks:
            state = "FAIL" if not check.ok else "ok  " if check.judged else "-   "
            typer.echo(f"{state}  {check.name}: {plain(check.detail)}")
            if check.help is not None:
                typer.echo(f"      mend it with: {plain(check.help)}")
    if not all(check.ok for check in checks):
        raise typer.Exit(1)


@guarded
def stop(context: typer.Context, as_json: AsJson = False) -> None:
    """Stop emily serve, if it runs, and the embedded database server.

    The database runs on after a command so that the next one is quick. What was acknowledged is
    safe, and the next command starts it again. A server of your own (EMILY_DATABASE_URL) is left
    alone.
    """
    session = session_of(context)
    chosen = session.settings()
    own = chosen.database_url is not None
    served = session.stop_serving(chosen)
    stopped = False if own else session.stop_server(chosen)
    if as_json:
        from emily.cli.contract import stop_output

        say_json(stop_output(stopped, served=served))
        return
    if served:
        typer.echo("emily serve has ended.")
    if own:
        typer.echo("The database is your own server (EMILY_DATABASE_URL); it is left alone.")
    else:
        typer.echo("The database server is stopped." if stopped else "No server was running.")


@guarded
def settings(context: typer.Context, as_json: AsJson = False) -> None:
    """List every setting and its value; the same as: emily config list."""
    from emily.cli.configuring import list_all

    list_all(context, as_json=as_json)


@guarded
def version(as_json: AsJson = False) -> None:
    """Print the version."""
    from importlib import metadata

    number = metadata.version("emily")
    if as_json:
        from emily.cli.contract import version_output

        say_json(version_output(number))
    else:
        typer.echo(f"emily {number}")


def _examined(context: typer.Context) -> list[Check]:
    """The brain's own checks; if the database does not open, that is one finding of them."""
    session = session_of(context)
    try:
        return list(session.run(lambda brain: brain.doctor()))
    except StoreError as error:
        return list(asyncio.run(session.diagnose(session.settings(), error)))


def _memory(context: typer.Context, as_json: bool) -> None:
    report = session_of(context).run(lambda brain: brain.memory_use())
    if as_json:
        from emily.cli.memory_contract import memory_output

        say_json(memory_output(report))
        return
    from emily.cli.printing import output, size, table

    console = output()
    rows = [
        (
            part.kind,
            part.name,
            part.pid,
            None if part.bytes is None else size(part.bytes),
            None if part.reported is None else size(part.reported),
        )
        for part in report.parts
    ]
    console.print(table(("part", "name", "process", "takes", "its tool reports"), rows))
    budget = "" if report.budget is None else f" of {size(report.budget)} (memory_budget_mb)"
    console.print(f"{size(report.bytes)}{budget} in all")
    if not report.shared:
        console.print("What processes share is counted in each of them.")
    for notice in report.notices:
        console.print(f"Notice: {one_line(notice)}")
    if report.warning is not None:
        console.print(f"Warning: {one_line(report.warning)}")


def _analysed(found: Status) -> str | None:
    """How many documents are, and what does the rest."""
    done = found.analysis.get("analysed")
    if done is None or done >= found.documents:
        return None if done is None else str(done)
    rest = (
        "a worker does the rest" if found.workers else "emily analyse, or a worker, does the rest"
    )
    return f"{done} of {found.documents}; {rest}"


def _remembered(found: Status) -> str | None:
    """How many there are, and what waits for the owner."""
    counts = found.memory
    if not any(counts.values()):
        return None
    parts = [f"{counts['current']:,}, {counts['core']} of them core"]
    if counts["proposed"]:
        parts.append(f"{counts['proposed']} wait for you (emily memory list --proposed)")
    if counts["failed"]:
        parts.append(f"{counts['failed']} messages failed (emily memory)")
    return "; ".join(parts)


def _print_status(found: Status) -> None:
    from emily.cli.printing import facts, output, size

    console = output()
    pairs = [
        ("home", found.home),
        ("database", f"{found.database}, {size(found.bytes)}"),
        ("model", found.model),
        ("documents", found.documents),
        ("pages", found.pages),
        ("chunks", found.chunks),
        ("words", found.words),
        ("languages", found.languages or None),
        ("kinds", found.kinds or None),
        ("stale", found.stale or None),
        *(
            (phase, {key: found.work[phase][key] for key in _STATUSES if key in found.work[phase]})
            for phase in sorted(found.work, reverse=True)
        ),
        ("analysed", _analysed(found)),
        ("memories", _remembered(found)),
        ("workers", found.workers or None),
    ]
    console.print(facts(pairs))
    for problem in found.problems:
        console.print(f"Problem: {one_line(problem)}")
    for alert in found.alerts:
        seen = "" if alert.acknowledged_at is None else ", acknowledged"
        console.print(f"Alert: {alert.name} ({alert.level}{seen}): {one_line(alert.text)}")
