"""Pieces of printed pages."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from emily.cli.printing import QUOTE, barred, cell, harmless, percent, size, table, wrapped


def _printed(*things: object, width: int = 40) -> list[str]:
    file = io.StringIO()
    console = Console(
        file=file, width=width, force_terminal=False, markup=False, highlight=False, emoji=False
    )
    for thing in things:
        console.print(thing)
    return file.getvalue().split("\n")[:-1]


@given(st.text(st.characters(exclude_categories=["Cs"])), st.integers(24, 60))
def test_every_line_of_a_document_stands_behind_the_bar(text: str, width: int) -> None:
    console = Console(file=io.StringIO(), width=width)
    lines = [barred(line) for line in wrapped(harmless(text), console)]
    for printed in _printed(*lines, width=width):
        assert printed.startswith(QUOTE.rstrip())


def test_markup_of_documents_is_text() -> None:
    lines = _printed(table(("[b]name[/b]", ":smile:"), [("[red]x[/red]", ":heart:")]), width=60)
    assert "[red]x[/red]" in lines[-1]
    assert ":heart:" in lines[-1]


def test_a_narrow_table_keeps_numbers_whole() -> None:
    rows = [(1, "a-very-long-name-of-some-document.pdf", 0.12345, "chosen")]
    made = table(("rank", "document", "score", ""), rows, title="stage", cut="document")
    last = _printed(made, width=36)[-1]
    assert "0.12345" in last
    assert "…" in last
    whole = _printed(made, width=200)[-1]
    assert "a-very-long-name-of-some-document.pdf" in whole


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, ""),
        (True, "true"),
        (False, "false"),
        (3, "3"),
        (0.05, "0.05"),
        (0.0005, "0.0005"),
        ({"a": 1, "b": [1, 2]}, "a: 1, b: 1, 2"),
        ((), ""),
        ("x\x07\n", "x\\x07\\n"),
        ({"\x1b": "\x9b"}, "\\x1b: \\x9b"),
    ],
)
def test_cell(value: object, shown: str) -> None:
    assert cell(value) == shown


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (48_213, "48.2 kB"),
        (9_700_000, "9.7 MB"),
        (3_000_000_000, "3.0 GB"),
        (5_000_000_000_000, "5.0 TB"),
    ],
)
def test_size(count: int, shown: str) -> None:
    assert size(count) == shown


def test_percent() -> None:
    assert percent(None) is None
    assert percent(0.824) == "82%"
    assert percent(1.0) == "100%"
