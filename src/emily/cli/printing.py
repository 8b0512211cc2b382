"""Printing for people: consoles, tables, passages. Foreign text is made harmless here.

Off a terminal nothing is wrapped, coloured or cut, so that a pipe gets whole lines.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import IO, Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from emily.cli.plain import one_line, plain
from emily.cli.served import ServedStream, stream_of

__all__ = [
    "QUOTE",
    "barred",
    "cell",
    "errors",
    "facts",
    "harmless",
    "output",
    "percent",
    "print_notices",
    "size",
    "table",
    "wrapped",
]

QUOTE = "  | "
"""Stands before every line of a document's text: nothing in it can pass for Emily's own line."""

_PIPE_WIDTH = 100_000


def output() -> Console:
    """The console of results, on stdout."""
    return _console(sys.stdout)


def errors() -> Console:
    """The console of everything else, on stderr."""
    return _console(sys.stderr)


def _console(file: IO[str]) -> Console:
    own = stream_of(file)
    width = None if own.isatty() else _PIPE_WIDTH
    environment: Mapping[str, str] | None = None
    if isinstance(own, ServedStream):  # the terminal is at the other end
        environment = own.terminal.environment
        width = width or own.terminal.columns
    return Console(
        file=own, width=width, markup=False, highlight=False, emoji=False, _environ=environment
    )


def cell(value: Any) -> str:
    """A value as one harmless line; nothing for ``None``."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Mapping):
        return ", ".join(f"{cell(key)}: {cell(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(cell, value))
    return one_line(str(value))


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    title: str | None = None,
    cut: str | None = None,
) -> Table:
    """A table; a column that holds nothing but numbers stands to the right and is never folded.

    Args:
        columns: their headings.
        rows: values, as many as there are columns; ``None`` leaves a cell empty.
        title: stands above it.
        cut: the column whose words are cut where the terminal is narrow; others are folded.
    """
    listed = [list(row) for row in rows]
    made = Table(
        box=SIMPLE_HEAD,
        title=title,
        title_justify="left",
        title_style="bold",
        padding=(0, 1, 0, 0),
        pad_edge=False,
        show_edge=False,
    )
    for place, column in enumerate(columns):
        values = [row[place] for row in listed if row[place] is not None]
        numeric = bool(values) and all(
            isinstance(value, (int, float)) and not isinstance(value, bool) for value in values
        )
        made.add_column(
            column,
            justify="right" if numeric else "left",
            no_wrap=numeric,
            overflow="ellipsis" if column == cut else "fold",
        )
    for row in listed:
        made.add_row(*(Text(cell(value)) for value in row))
    return made


def facts(pairs: Iterable[tuple[str, Any]]) -> Table:
    """Names with their values, one pair a line; a value of ``None`` is left out."""
    made = Table.grid(padding=(0, 2))
    made.add_column(style="bold", no_wrap=True)
    made.add_column(overflow="fold")
    for name, value in pairs:
        if value is not None:
            made.add_row(name, Text(cell(value)))
    return made


def print_notices(notices: Iterable[str]) -> None:
    """The system's own sentences about what a command did, on stdout."""
    console = output()
    for notice in notices:
        console.print(f"Notice: {one_line(notice)}")


def wrapped(text: Text, console: Console) -> list[Text]:
    """A document's text as lines that fit the console's width behind ``QUOTE``."""
    lines = list(text.wrap(console, max(20, console.width - len(QUOTE))))
    for line in lines:
        line.rstrip()
    return lines


def barred(line: Text) -> Text:
    """A line of a document's text behind ``QUOTE``."""
    return Text.assemble((QUOTE, "dim"), line)


def percent(score: float | None) -> str | None:
    """A probability for people; ``None`` where there is none."""
    return None if score is None else f"{score:.0%}"


def size(count: int) -> str:
    """A number of bytes for people: ``1.4 MB``, with 1 kB = 1000 bytes."""
    value = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1000
    return f"{value:.1f} TB"


def harmless(text: str) -> Text:
    """A document's text, to be styled and printed."""
    return Text(plain(text))
