"""Passwords of files: asked for on a terminal, or read from a file; never an argument, which
other programs of the machine can see, and never stored."""

from __future__ import annotations

import getpass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from emily.errors import InputError

if TYPE_CHECKING:
    from emily.cli.session import Session

__all__ = ["AskPassword", "PasswordFile", "given_passwords"]

AskPassword = Annotated[
    bool, typer.Option("--password", help="Ask for a password to try on encrypted files.")
]
PasswordFile = Annotated[
    str | None,
    typer.Option(
        "--password-file",
        metavar="PATH",
        help="File with passwords to try on encrypted files, one a line.",
        show_default=False,
    ),
]


def given_passwords(session: Session, ask: bool, path: str | None) -> tuple[str, ...]:
    """The passwords that the owner gives.

    Raises:
        InputError: there is nobody to ask, or the file cannot be read.
    """
    found: list[str] = []
    if path is not None:
        try:
            lines = Path(path).expanduser().read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise InputError(f"The file of passwords {path!r} cannot be read: {reason}.") from None
        found += [line for line in lines if line]
    if ask:
        if not session.interactive():
            raise InputError(
                "There is no terminal to ask for a password on. Put it into a file, and name "
                "that with --password-file PATH."
            )
        found.append(getpass.getpass("Password of the files: "))
    return tuple(found)
