"""Copies of the archive: ``export``, ``import``, ``backup``, ``restore``."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from emily.cli.plain import one_line
from emily.cli.session import AsJson, guarded, say_json, session_of
from emily.errors import InputError
from emily.places import absolute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["backup", "export", "import_", "restore"]


@guarded
def export(
    context: typer.Context,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A new or empty folder.")],
    as_json: AsJson = False,
) -> None:
    """Write the archive into a folder in open formats: files, JSON Lines, Markdown.

    Originals, texts, notes, versions, summaries, settings, pins and questions; its README.md
    describes the form. What is in the trash is left out.
    """
    place = _path(folder, "DIR")
    with _steps() as tell:
        report = session_of(context).run(lambda brain: brain.life.export(place, tell))
    if as_json:
        from emily.cli.keeping_contract import export_output

        say_json(export_output(report))
        return
    typer.echo(
        f"{report.folder} holds {_counted(report.documents, 'document')}, "
        f"{_counted(report.notes, 'note')}, {_counted(report.versions, 'earlier version')}, "
        f"{_counted(report.pins, 'pin')}, {_memories(report.memories)}."
    )
    for name in report.missing:
        typer.echo(f"Missing: the file of {one_line(name)}")


@guarded
def import_(
    context: typer.Context,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="What emily export wrote.")],
    as_json: AsJson = False,
) -> None:
    """Take in a folder that emily export wrote; no file is read again.

    The archive may hold documents already: what it knows stays as it is. Cut off, the same
    command goes on.
    """
    place = _path(folder, "DIR")
    with _steps() as tell:
        report = session_of(context).run(
            lambda brain: brain.life.take_export(place, tell), warm=True
        )
    if as_json:
        from emily.cli.keeping_contract import import_output

        say_json(import_output(report))
    else:
        typer.echo(
            f"{_counted(report.added, 'document')} added, {report.known} known already; "
            f"{_counted(report.notes, 'note')}, {_counted(report.versions, 'earlier version')}, "
            f"{_counted(report.pins, 'pin')}, {_counted(report.settings, 'setting')}, "
            f"{_memories(report.memories)}."
        )
        for problem in report.problems:
            typer.echo(f"Not taken in: {one_line(problem)}")
    if report.problems:
        raise typer.Exit(1)


@guarded
def backup(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A new file.")],
    as_json: AsJson = False,
) -> None:
    """Write all of the archive into one file, as one moment saw it; it stays in use meanwhile.

    Secrets (keys of servers) are left out. The file can be read by its owner alone, and holds all
    that you keep: put it where nobody else looks.
    """
    place = _path(file, "FILE")
    with _steps() as tell:
        report = session_of(context).run(lambda brain: brain.life.back_up(place, tell))
    if as_json:
        from emily.cli.keeping_contract import backup_output

        say_json(backup_output(report))
        return
    from emily.cli.printing import size

    typer.echo(
        f"{report.file} holds {_counted(report.documents, 'document')} and "
        f"{_counted(report.originals, 'file')}, {size(report.bytes)}."
    )
    for digest in report.missing:
        typer.echo(f"Missing: the file with the digest {digest[:16]}…")


@guarded
def restore(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="What emily backup wrote.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Take the place of what the archive holds.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Put an archive back out of a backup, whole or not at all.

    An archive that holds documents is left alone without --replace. A backup of an earlier version
    is brought up to date; one that is damaged, or of a newer version, is refused.
    """
    place = _path(file, "FILE")
    with _steps() as tell:
        report = session_of(context).restore(place, replace=replace, step=tell)
    if as_json:
        from emily.cli.keeping_contract import restore_output

        say_json(restore_output(report))
        return
    typer.echo(
        f"The archive is that of {report.made_at}: {_counted(report.documents, 'document')}, "
        f"{_counted(report.originals, 'file')} put back."
    )
    if report.settings:
        typer.echo(f"Written into settings.toml: {', '.join(report.settings)}")
    for digest in report.missing:
        typer.echo(f"Missing: the file with the digest {digest[:16]}…")


def _path(given: str, what: str) -> Path:
    if not given:
        raise InputError(f"{what} is empty. Give a path.")
    return Path(absolute(given))


def _memories(count: int) -> str:
    return f"{count:,} {'memory' if count == 1 else 'memories'}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


@contextmanager
def _steps() -> Iterator[Callable[[str, int, int], None]]:
    """Progress of a long copy, on stderr of a terminal."""
    from emily.cli.adding import shown_progress
    from emily.indexing.report import Progress

    with shown_progress() as tell:
        yield lambda what, done, total: tell(Progress(Path(what or "done"), done, total))
