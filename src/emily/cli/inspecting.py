"""The command ``inspect``: a file is read as ``add`` would read it, and shown page by page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from emily.cli.passwords import AskPassword, PasswordFile, given_passwords
from emily.cli.plain import one_line, plain
from emily.cli.session import AsJson, guarded, say_json, session_of
from emily.errors import InputError, PasswordRequired, ReadingError

if TYPE_CHECKING:
    from emily.reading.pages import Facts, Reading

__all__ = ["inspect"]

_SHOWN_LINES = 12
"""Lines of a page that are shown without ``--full``."""


@guarded
def inspect(
    context: typer.Context,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The file to read.")],
    password: AskPassword = False,
    password_file: PasswordFile = None,
    full: Annotated[bool, typer.Option("--full", help="Print the text of pages whole.")] = False,
    as_json: AsJson = False,
) -> None:
    """Read a file without adding it, and show what was read and how.

    For each page: the route (text, ocr, vision, blank, unread), how sure OCR was, how many
    characters and pictures, what was not read and why, and the text. So you see why something
    is not found. Nothing is stored, and no database is needed.
    """
    session = session_of(context)
    path = Path(os.path.abspath(os.path.expanduser(file)))  # noqa: PTH100, PTH111
    if not file or path.is_dir():
        raise InputError(f"{file!r} is not a file. Give the path of one file.")
    passwords = given_passwords(session, password, password_file)
    try:
        reading = session.inspect(path, passwords)
    except PasswordRequired as error:
        tried = f"; none of the {len(passwords)} given fits" if passwords else ""
        raise PasswordRequired(
            f"{path} is not read: {error}{tried}. Give it with --password or --password-file PATH."
        ) from None
    except ReadingError as error:
        raise type(error)(f"{path} is not read: {error}") from None
    if as_json:
        from emily.cli.contract import inspect_output

        say_json(inspect_output(path, reading))
    else:
        _print(path, reading, full=full)


def _print(path: Path, reading: Reading, *, full: bool) -> None:
    from emily.cli.printing import facts, output

    console = output()
    known = reading.facts
    console.print(
        facts(
            [
                ("file", path),
                ("kind", reading.kind),
                ("title", reading.title),
                ("author", known.author),
                ("date", date_of(known)),
                *(
                    (person.role, people(person.name, person.address))
                    for person in known.correspondents
                ),
                ("pages", len(reading.pages)),
                ("parts", ", ".join(one_line(part.name) for part in reading.attachments) or None),
            ]
        )
    )
    for warning in reading.warnings:
        console.print(f"Warning: {one_line(warning)}")
    for page in reading.pages:
        head = [f"page {page.number}", page.route, f"{len(page.text):,} characters"]
        if page.confidence is not None:
            head.append(f"confidence {page.confidence:.2f}")
        if page.pictures:
            head.append(f"{page.pictures} {'picture' if page.pictures == 1 else 'pictures'}")
        console.print(f"\n--- {', '.join(head)}")
        if page.warning:
            console.print(f"Warning: {one_line(page.warning)}")
        lines = plain(page.text).split("\n") if page.text.strip() else []
        shown = lines if full else lines[:_SHOWN_LINES]
        for line in shown:
            console.print(line, soft_wrap=True)
        if len(shown) < len(lines):
            more = len(lines) - len(shown)
            console.print(f"… {more:,} more {'line' if more == 1 else 'lines'}; --full shows all")


def date_of(known: Facts) -> str | None:
    """A date with where it was found, for people."""
    return (
        None if known.date is None else f"{known.date.isoformat()} (from its {known.date_source})"
    )


def people(name: str, address: str | None) -> str:
    """A name with its address, for people."""
    return one_line(f"{name} <{address}>" if address and name else name or address or "")
