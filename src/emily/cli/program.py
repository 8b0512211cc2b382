"""The program ``emily``: what is around its commands, from the first moment to the exit code.

It imports next to nothing, so that Ctrl-C while the rest is imported is met here.
"""

from __future__ import annotations

import os
import sys

__all__ = ["INTERRUPTED", "main"]

INTERRUPTED = 130
"""Exit code after Ctrl-C, as of a process that SIGINT ended."""


def main() -> None:
    """The program: run the command of ``sys.argv`` and exit with its code."""
    try:
        sys.exit(_run())
    except KeyboardInterrupt:
        if sys.stderr is not None:
            sys.stderr.write("emily: Interrupted.\n")
        sys.exit(INTERRUPTED)


def _run() -> int | str | None:
    from emily.cli.streams import open_missing, take_over

    open_missing()
    result = take_over()
    from emily.cli.relay import relayed

    code: int | str | None = 0
    try:
        code = relayed(sys.argv[1:])
        if code is None:
            from emily.cli.app import app

            app(prog_name="emily")
    except SystemExit as end:
        # Ctrl-C before a command begins or after it ended: Typer exits without a word.
        if isinstance(getattr(end.__context__, "__cause__", None), KeyboardInterrupt):
            raise KeyboardInterrupt from None
        code = end.code
    except BrokenPipeError:
        return _closed_pipe()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        return _closed_pipe()
    if result.failure is not None:
        reason = result.failure.strerror or result.failure
        sys.stderr.write(f"emily: The result could not be written to stdout ({reason}).\n")
        return code or 1
    return code


def _closed_pipe() -> int:
    """Whoever read our output has ended (``| head``): no error to tell anyone."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return 1
