"""Commands that a server runs for others: each with streams, a folder and a terminal of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import io
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from typing import IO, TYPE_CHECKING, Any, TextIO, TypeVar, cast

from emily.cli.session import Session
from emily.places import standing_in

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from emily.brain import Brain
    from emily.settings import Settings

__all__ = ["Command", "ServedStream", "Terminal", "is_served", "share_streams", "stream_of"]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Terminal:
    """What a command prints to, at the other end.

    Attributes:
        out, err: whether stdout and stderr are a terminal.
        encoding: of stdout.
        columns: width of the terminal; ``None`` if there is none.
        environment: the variables that tell of colours and width.
    """

    out: bool = False
    err: bool = False
    encoding: str = "utf-8"
    columns: int | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


class ServedStream(io.TextIOBase):
    """Standard output of a command that runs here and is followed elsewhere.

    Args:
        send: is given what was written.
        is_terminal: whether the other end is one.
        terminal: the other end.
    """

    errors = "backslashreplace"

    def __init__(self, send: Callable[[str], None], is_terminal: bool, terminal: Terminal) -> None:
        super().__init__()
        self._send = send
        self._is_terminal = is_terminal
        self.terminal = terminal

    @property
    def encoding(self) -> str:  # type: ignore[override]
        """Of the other end."""
        return self.terminal.encoding

    def isatty(self) -> bool:
        """Whether the other end is a terminal."""
        return self._is_terminal

    def writable(self) -> bool:
        """It is."""
        return True

    def write(self, text: str) -> int:
        """Send it on."""
        if not isinstance(text, str):  # how Click asks whether a stream takes bytes
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if text:
            self._send(text)
        return len(text)


_streams: ContextVar[Mapping[str, ServedStream] | None] = ContextVar("emily_streams", default=None)


class _Shared(io.TextIOBase):
    """``sys.stdout`` or ``sys.stderr`` of a server: that of the command at hand, else its own."""

    def __init__(self, name: str, own: TextIO) -> None:
        super().__init__()
        self._name = name
        self._own = own

    def current(self) -> TextIO:
        streams = _streams.get()
        return self._own if streams is None else cast("TextIO", streams[self._name])

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self.current().encoding or "utf-8"

    @property
    def errors(self) -> str | None:  # type: ignore[override]
        return self.current().errors

    def isatty(self) -> bool:
        return self.current().isatty()

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        return self.current().write(text)

    def flush(self) -> None:
        self.current().flush()

    def fileno(self) -> int:
        return self.current().fileno()


@contextlib.contextmanager
def share_streams() -> Iterator[None]:
    """Let every command that runs meanwhile print to its own streams."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (
        cast("Any", _Shared("out", before[0])),
        cast("Any", _Shared("err", before[1])),
    )
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def stream_of(file: IO[str]) -> IO[str]:
    """The stream behind one of ``sys``: to be kept by what prints from another thread."""
    return file.current() if isinstance(file, _Shared) else file


def is_served() -> bool:
    """Whether this is a command that is followed elsewhere."""
    return _streams.get() is not None


@cache
def _program() -> Any:
    """All commands, made once: that takes longer than most of them do."""
    from typer.main import get_command

    from emily.cli.app import app

    return get_command(app)


class _ServedSession(Session):
    """A session on the brain that the server keeps open."""

    def __init__(self, command: Command) -> None:
        super().__init__(interactive=lambda: False)
        self._command = command

    def settings(self) -> Settings:
        return self._command.brain.settings

    def run(self, work: Callable[[Brain], Awaitable[_T]], *, warm: bool = False) -> _T:  # noqa: ARG002
        return self._command.on_loop(work)


class Command:
    """A command that is run in a thread, over a brain that lives on an event loop.

    Args:
        brain: to work with.
        loop: that the brain lives on.
        arguments: the command and its arguments.
        folder: that relative paths begin in.
        terminal: at the other end.
        send: is given events: ``{"out": text}``, ``{"err": text}``; called from any thread.
    """

    def __init__(
        self,
        brain: Brain,
        loop: asyncio.AbstractEventLoop,
        arguments: list[str],
        folder: str,
        terminal: Terminal,
        send: Callable[[dict[str, Any]], None],
    ) -> None:
        self.brain = brain
        self._loop = loop
        self._arguments = arguments
        self._folder = folder
        self._streams = {
            "out": ServedStream(lambda text: send({"out": text}), terminal.out, terminal),
            "err": ServedStream(lambda text: send({"err": text}), terminal.err, terminal),
        }
        self._lock = threading.Lock()
        self._future: Any = None
        self._interrupted = False

    def run(self) -> int:
        """Run it to its end, in this thread; gives its exit code."""
        token = _streams.set(self._streams)
        try:
            with standing_in(self._folder):
                _program().main(self._arguments, "emily", obj=_ServedSession(self))
        except SystemExit as end:
            return end.code if isinstance(end.code, int) else int(end.code is not None)
        finally:
            _streams.reset(token)
        return 0

    def on_loop(self, work: Callable[[Brain], Awaitable[_T]]) -> _T:
        """Do some work with the brain, on its loop.

        Raises:
            KeyboardInterrupt: it was interrupted from the other end.
        """

        async def opened() -> _T:
            return await work(self.brain)

        with self._lock:
            if self._interrupted:
                raise KeyboardInterrupt
            self._future = future = asyncio.run_coroutine_threadsafe(opened(), self._loop)
        try:
            return future.result()
        except (asyncio.CancelledError, concurrent.futures.CancelledError):
            raise KeyboardInterrupt from None

    def interrupt(self) -> None:
        """Do as Ctrl-C does at a terminal; from any thread."""
        with self._lock:
            self._interrupted = True
            if self._future is not None:
                self._future.cancel()
