"""The three standard streams, made fit to be written to whatever they are connected to."""

from __future__ import annotations

import io
import os
import sys

# As of typing, which takes longer to import than the rest of a command that a server runs.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__all__ = ["StandardStream", "open_missing", "take_over"]


class StandardStream(io.FileIO):
    """Output that can fail without ending the work: the first failure is kept, not raised.

    A reader that has gone (``| head``) is raised where ``raise_closed_pipe`` is set, for then
    nobody wants the rest.

    Attributes:
        failure: the first error of a write, ``None`` if all was written.
    """

    def __init__(self, descriptor: int, *, raise_closed_pipe: bool) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self.failure: OSError | None = None
        self._raise_closed_pipe = raise_closed_pipe

    def write(self, data: Any, /) -> int:
        """Write some bytes; after a failure they are dropped. Gives how many were taken."""
        if self.failure is None:
            try:
                return super().write(data)
            except OSError as error:
                if self._raise_closed_pipe and isinstance(error, BrokenPipeError):
                    raise
                self.failure = error
        return len(data)


def open_missing() -> None:
    """Connect each of the descriptors 0 to 2 that is closed to ``/dev/null``.

    Else the next file that is opened, a database's socket perhaps, would get its number and
    whatever is printed; and the streams of ``sys`` would be ``None``.
    """
    for descriptor in range(3):
        try:
            os.fstat(descriptor)
        except OSError:
            # The lowest free number is given, and those below are open by now.
            opened = os.open(os.devnull, os.O_RDWR)
            os.set_inheritable(opened, True)
    if sys.stdin is None:
        sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115 - a descriptor


def take_over() -> StandardStream:
    """Let ``sys.stdout`` and ``sys.stderr`` write by ``StandardStream``; gives that of stdout.

    A terminal of another encoding shows escapes instead of ending the program.
    """
    result = StandardStream(1, raise_closed_pipe=True)
    sys.stdout = _text(result, sys.stdout, line_buffering=result.isatty())
    messages = StandardStream(2, raise_closed_pipe=False)
    sys.stderr = _text(messages, sys.stderr, line_buffering=True)
    return result


def _text(raw: StandardStream, former: object, *, line_buffering: bool) -> io.TextIOWrapper:
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=getattr(former, "encoding", None) or "utf-8",
        errors="backslashreplace",
        line_buffering=line_buffering,
    )
