"""Progress of a long command, told on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

from emily.cli.plain import one_line

__all__ = ["progress"]


@contextmanager
def progress() -> Iterator[Callable[[str, int, int], None]]:
    """Progress on stderr: a bar on a terminal, else a line now and then."""
    if not sys.stderr.isatty():
        yield _tell_line
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    from emily.cli.printing import errors

    columns = (
        BarColumn(bar_width=24),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    with Bar(*columns, console=errors(), transient=True) as bar:
        task = bar.add_task("", total=None)
        yield lambda what, done, total: bar.update(
            task, completed=done, total=total, description=one_line(what)
        )


def _tell_line(what: str, done: int, total: int) -> None:
    if done == total or done % max(1, total // 20) == 0:
        typer.echo(f"{done}/{total} {one_line(what)}".rstrip(), err=True)
