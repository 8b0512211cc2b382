"""What every command shares: the brain it opens, how it prints, how it fails.

A session is the context object of the app. A caller may hand in its own
(``CliRunner().invoke(app, arguments, obj=Session(open_brain=...))``); else the real one is made.
"""

from __future__ import annotations

import asyncio
import functools
import os
import sys
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, ParamSpec, TypeVar

import typer

from emily.cli.plain import plain
from emily.cli.program import INTERRUPTED
from emily.errors import EmilyError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Sequence
    from contextlib import AbstractAsyncContextManager
    from pathlib import Path

    from emily.brain import Brain, Check
    from emily.cli.contract import Output
    from emily.errors import StoreError
    from emily.measure.trial import Trial
    from emily.models import UseEmbedder
    from emily.reading.pages import Reading
    from emily.settings import Settings
    from emily.store.backup import RestoreReport
    from emily.store.registry import SettingRegistry

__all__ = ["AsJson", "Document", "Session", "fail", "guarded", "say_json", "session_of"]

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document (docs/json.md).")]
Document = Annotated[
    str, typer.Argument(metavar="DOC", help="Id, exact name or path of a document.")
]

_P = ParamSpec("_P")
_T = TypeVar("_T")


def _open_brain(settings: Settings, warm: bool) -> AbstractAsyncContextManager[Brain]:
    if not warm:
        from emily.brain import Brain

        return Brain.open(settings)
    from emily.models import UseEmbedder
    from emily.settings import private_folder

    private_folder(settings.home)
    # The model unpacks on threads of its own while the rest of the program is imported.
    embedder = UseEmbedder(threads=settings.threads, cache=settings.home / "cache")
    threading.Thread(target=_loaded, args=(embedder,), name="warm", daemon=True).start()
    from emily.brain import Brain

    if settings.embedder == "bundled":
        return Brain.open(settings, embedder=embedder, warm=True)
    from emily.models.choosing import embedder_of

    # Whatever gives passages their vectors, single words are the bundled encoder's.
    return Brain.open(settings, embedder=embedder_of(settings, bundled=embedder), warm=True)


def _loaded(embedder: UseEmbedder) -> None:
    with suppress(EmilyError):  # whoever uses it gets the error
        embedder.embed_queries(["."])


async def _diagnose(settings: Settings, error: StoreError) -> Sequence[Check]:
    from emily.brain import Brain

    return await Brain.diagnose(settings, error)


def _stop_server(settings: Settings) -> bool:
    from emily.store import EmbeddedServer

    return EmbeddedServer(settings.home).stop()


def _stop_serving(settings: Settings) -> bool:
    from emily.cli.endpoint import stop_server

    return stop_server(settings.home)


def _open_registry(settings: Settings) -> AbstractAsyncContextManager[SettingRegistry]:
    from emily.settings import private_folder
    from emily.store.registry import SettingRegistry

    private_folder(settings.home)
    return SettingRegistry.open(settings)


async def _in_force(settings: Settings) -> Settings:
    """The settings with the rows of the database, if there is one; without it, that is said."""
    from emily.errors import StoreError
    from emily.store.registry import in_force

    try:
        return await in_force(settings)
    except StoreError as error:
        typer.echo(
            f"emily: What emily config set is not in force, for the database does not open: "
            f"{plain(str(error))}",
            err=True,
        )
        return settings


async def _restore(settings: Settings, file: Path, **options: Any) -> RestoreReport:
    from emily.store.backup import restore

    return await restore(settings, file, **options)


async def _inspect(settings: Settings, path: Path, passwords: Sequence[str]) -> Reading:
    from emily.brain import Brain

    return await Brain.inspect(await _in_force(settings), path, passwords)


async def _evaluate_set(settings: Settings, folder: Path, **options: Any) -> Sequence[Trial]:
    from emily.brain import Brain

    return await Brain.evaluate_set(await _in_force(settings), folder, **options)


def _interactive() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


@dataclass
class Session:
    """One run of the command line.

    Attributes:
        open_brain: opens the brain of a home folder, and loads the models meanwhile if told.
        stop_server: ends that home's embedded database server; gives whether one was running.
        stop_serving: ends the ``emily serve`` of that home; gives whether one was running.
        diagnose: examines the other parts where the database does not open.
        read_file: reads a file without adding it.
        evaluate_set: measures on a set, in an archive of its own.
        put_back: puts an archive back out of a backup.
        open_registry: opens the settings that are kept in the database, and no model.
        home: the folder of ``--home``, ``None`` if it was not given.
        verbose: whether ``--verbose`` was given.
        interactive: whether there is someone to ask.
    """

    open_brain: Callable[[Settings, bool], AbstractAsyncContextManager[Brain]] = _open_brain
    stop_server: Callable[[Settings], bool] = _stop_server
    stop_serving: Callable[[Settings], bool] = _stop_serving
    diagnose: Callable[[Settings, StoreError], Coroutine[Any, Any, Sequence[Check]]] = _diagnose
    read_file: Callable[[Settings, Path, Sequence[str]], Coroutine[Any, Any, Reading]] = _inspect
    evaluate_set: Callable[..., Coroutine[Any, Any, Sequence[Trial]]] = _evaluate_set
    open_registry: Callable[[Settings], AbstractAsyncContextManager[SettingRegistry]] = (
        _open_registry
    )
    put_back: Callable[..., Coroutine[Any, Any, RestoreReport]] = _restore
    home: str | None = None
    verbose: bool = False
    interactive: Callable[[], bool] = _interactive

    def settings(self) -> Settings:
        """The settings of the home folder.

        Raises:
            SettingError: one of them cannot be used.
        """
        from emily.settings import load_settings

        return load_settings(self.home)

    def run(self, work: Callable[[Brain], Awaitable[_T]], *, warm: bool = False) -> _T:
        """Open the brain, do some work with it, close it.

        Args:
            work: what to do with it.
            warm: load the models while the database is opened, because the work needs them.

        Raises:
            EmilyError: whatever the brain raises.
            KeyboardInterrupt: on Ctrl-C, after the brain was closed in order.
        """
        from emily.cli.logs import configure_logs, log_level

        configure_logs(log_level(self.verbose))
        settings = self.settings()

        async def opened() -> _T:
            async with self.open_brain(settings, warm) as brain:
                return await work(brain)

        return asyncio.run(opened())

    def configure(self, work: Callable[[SettingRegistry], Awaitable[_T]]) -> _T:
        """Do some work with the settings that are kept in the database; no archive is opened.

        Raises:
            SettingError, StoreError: whatever the work or the database raises.
        """
        from emily.cli.logs import configure_logs, log_level

        configure_logs(log_level(self.verbose))
        settings = self.settings()

        async def opened() -> _T:
            async with self.open_registry(settings) as registry:
                return await work(registry)

        return asyncio.run(opened())

    def restore(self, file: Path, **options: Any) -> RestoreReport:
        """Put an archive back out of a backup; no archive is opened.

        Raises:
            EmilyError: it is refused, and nothing has changed.
        """
        from emily.cli.logs import configure_logs, log_level

        configure_logs(log_level(self.verbose))
        return asyncio.run(self.put_back(self.settings(), file, **options))

    def inspect(self, path: Path, passwords: Sequence[str]) -> Reading:
        """Read a file without adding it; no database is opened.

        Raises:
            ReadingError: it cannot be read; the message says why.
        """
        from emily.cli.logs import configure_logs, log_level

        configure_logs(log_level(self.verbose))
        return asyncio.run(self.read_file(self.settings(), path, passwords))

    def measure(self, folder: Path, **options: Any) -> Sequence[Trial]:
        """Measure on a set; the owner's archive is not opened.

        Args:
            folder: of the set.
            options: of ``Brain.evaluate_set``.

        Raises:
            EmilyError: whatever the brain raises.
        """
        from emily.cli.logs import configure_logs, log_level

        configure_logs(log_level(self.verbose))
        return asyncio.run(self.evaluate_set(self.settings(), folder, **options))


def session_of(context: typer.Context) -> Session:
    """The session of a command's context."""
    session = context.find_object(Session)
    if session is None:
        raise RuntimeError("The app's callback has not run: no session in the context.")
    return session


def guarded(command: Callable[_P, _T]) -> Callable[_P, _T]:
    """Let a command fail as the user expects it: one message, an exit code, no traceback.

    The message goes to stderr; with ``--json`` the error is the JSON document on stdout as well.
    ``EMILY_DEBUG=1`` adds the traceback.
    """

    @functools.wraps(command)
    def run(*args: _P.args, **kwargs: _P.kwargs) -> _T:
        as_json = bool(kwargs.get("as_json"))
        try:
            return command(*args, **kwargs)
        except EmilyError as error:
            fail(type(error).__name__, str(error), as_json)
            raise typer.Exit(1) from None
        except KeyboardInterrupt:
            fail("Interrupted", "Interrupted.", as_json)
            raise typer.Exit(INTERRUPTED) from None
        except (typer.Exit, typer.Abort, BrokenPipeError):
            raise
        except Exception as error:  # noqa: BLE001 - the last line of defence of a program
            name = type(error).__name__
            fail(
                name,
                f"Unexpected error, {name}: {error}\n"
                "Run the command again with EMILY_DEBUG=1 to see where it comes from.",
                as_json,
            )
            raise typer.Exit(1) from None

    return run


def say_json(output: Output) -> None:
    """Print the JSON document of a command on stdout."""
    from emily.cli.contract import as_text

    typer.echo(as_text(output, sys.stdout.encoding or "utf-8"))


def fail(type_name: str, message: str, as_json: bool) -> None:
    """Tell of an error on stderr, and with ``--json`` as the JSON document on stdout as well."""
    if os.environ.get("EMILY_DEBUG", "") not in ("", "0"):
        import traceback

        typer.echo(plain(traceback.format_exc()), err=True)
    if as_json:
        from emily.cli.contract import error_output

        say_json(error_output(type_name, message))
    typer.echo(f"emily: {plain(message)}", err=True)
