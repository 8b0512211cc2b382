"""The command ``add``: its progress while it runs, and what it came to."""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from emily.cli.passwords import AskPassword, PasswordFile, given_passwords
from emily.cli.plain import one_line, plain
from emily.cli.program import INTERRUPTED
from emily.cli.session import AsJson, guarded, say_json, session_of
from emily.cli.working import add_later
from emily.errors import EmilyError, InputError
from emily.places import absolute
from emily.reading.walk import refuse_empty

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from emily.brain import Progress
    from emily.indexing.report import FileOutcome, Outcome

__all__ = ["add", "shown_progress"]

_OUTCOMES: tuple[Outcome, ...] = (
    "added",
    "replaced",
    "unchanged",
    "duplicate",
    "failed",
    "ignored",
)
_ALL_LISTED = 20
"""Up to so many files are all listed; of more, only those with something to say."""


@guarded
def add(
    context: typer.Context,
    paths: Annotated[list[str], typer.Argument(metavar="PATH", help="Files and folders.")],
    password: AskPassword = False,
    password_file: PasswordFile = None,
    later: Annotated[
        bool,
        typer.Option("--later", help="Only queue them: emily serve or emily worker does the rest."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add files and folders.

    A folder is searched whole. A file that changed since is read again and replaced; one that
    did not is left alone; one that the archive holds already under another name is a duplicate.
    A file that cannot be read stops no other. Attachments, packed files and the messages of a
    mailbox become documents of their own. A password is never stored.

    Ctrl-C ends it; what was finished is kept. The exit code is 1 if any file failed.
    """
    refuse_empty(paths)
    # As it stands if there is no such user: a file may be called ~ada.
    if not any(os.path.lexists(absolute(path)) for path in paths):
        given = ", ".join(repr(path) for path in paths)
        raise InputError(f"There is no such file or folder: {given}")
    session = session_of(context)
    if later:
        if password or password_file is not None:
            raise InputError(
                "A password is never stored, so --later takes none. Add those files without it."
            )
        add_later(session, paths, as_json)
        return
    passwords = given_passwords(session, password, password_file)
    finished: list[FileOutcome] = []
    total = 0
    try:
        with shown_progress() as show:

            def tell(progress: Progress) -> None:
                nonlocal total
                total = progress.total
                if progress.outcome is not None:
                    finished.append(progress.outcome)
                show(progress)

            report = session.run(
                lambda brain: brain.add(paths, passwords=passwords, progress=tell), warm=True
            )
    except KeyboardInterrupt:
        _tell_unfinished("Interrupted", "Interrupted.", finished, total, as_json)
        raise typer.Exit(INTERRUPTED) from None
    except EmilyError as error:
        if not finished:
            raise
        _tell_unfinished(type(error).__name__, str(error), finished, total, as_json)
        raise typer.Exit(1) from None
    if as_json:
        from emily.cli.contract import add_output

        say_json(add_output(report))
    else:
        from emily.cli.printing import print_notices

        _print_report(report.files)
        print_notices(report.notices)
    if any(file.outcome == "failed" for file in report.files):
        raise typer.Exit(1)


@contextmanager
def shown_progress() -> Iterator[Callable[[Progress], None]]:
    """Show progress on stderr: a bar on a terminal, else a line for each file that is finished."""
    if not sys.stderr.isatty():
        yield _tell_line
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar
    from rich.table import Column

    from emily.cli.printing import errors
    from emily.cli.served import is_served

    columns = (
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn(
            "{task.description}",
            markup=False,
            table_column=Column(no_wrap=True, overflow="ellipsis", ratio=1),
        ),
    )
    # A server's streams are those of all commands that it runs.
    take_over = not is_served()
    with Bar(
        *columns,
        console=errors(),
        transient=True,
        redirect_stdout=take_over,
        redirect_stderr=take_over,
    ) as bar:
        task = bar.add_task("", total=None)

        def show(progress: Progress) -> None:
            bar.update(
                task,
                total=progress.total,
                completed=progress.done,
                description=one_line(progress.path.name),
            )

        yield show


def _tell_line(progress: Progress) -> None:
    if progress.outcome is None:
        return
    done, total = progress.done, progress.total
    path = one_line(str(progress.path))
    typer.echo(f"{done}/{total} {progress.outcome.outcome} {path}", err=True)


def _tell_unfinished(
    type_name: str, reason: str, finished: Sequence[FileOutcome], total: int, as_json: bool
) -> None:
    if not finished:
        kept = "No file was finished"
    elif len(finished) == 1:
        kept = f"1 of {total} files was finished and is kept"
    else:
        kept = f"{len(finished)} of {total} files were finished and are kept"
    message = f"{reason} {kept}. Run the same command again to go on."
    if as_json:
        from emily.cli.contract import unfinished_add_output

        say_json(unfinished_add_output(finished, type_name, message))
    elif finished:
        _print_report(finished)
    typer.echo(f"emily: {plain(message)}", err=True)


def _print_report(files: Sequence[FileOutcome]) -> None:
    from emily.cli.printing import output, table

    console = output()
    if not files:
        console.print("There is no file in it.")
        return
    listed = [
        file
        for file in files
        if len(files) <= _ALL_LISTED or file.reason is not None or file.outcome == "failed"
    ]
    if listed:
        rows = [(file.outcome, file.document, file.path, file.reason) for file in listed]
        console.print(table(("outcome", "document", "file", "reason"), rows))
    counts = Counter(file.outcome for file in files)
    parts = [f"{counts[outcome]} {outcome}" for outcome in _OUTCOMES if counts[outcome]]
    noun = "file" if len(files) == 1 else "files"
    console.print(f"{len(files)} {noun}: {', '.join(parts)}")
