"""The command ``serve``: API, worker and watcher in one process, over one open brain."""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import TYPE_CHECKING, Annotated, Any

import typer

from emily.cli.session import AsJson, Session, guarded, say_json, session_of
from emily.errors import EmilyError

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator

    from emily.brain import Brain
    from emily.settings import Settings

__all__ = ["serve"]

_RETRY_SECONDS = 10.0


@guarded
def serve(
    context: typer.Context,
    no_worker: Annotated[
        bool, typer.Option("--no-worker", help="Answer only; workers run elsewhere.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Keep the models loaded: answer commands at once, index what waits, follow folders.

    Other commands find it and let it do their work, with the same output; without it they work
    alone. It listens on a socket in the home folder that only you can open, never on the network.
    It takes up changed settings by itself, and ends with Ctrl-C, SIGTERM or emily stop.
    """
    from emily.cli.logs import configure_logs, log_level

    session = session_of(context)
    configure_logs(log_level(session.verbose))
    settings = session.settings()
    from emily.settings import private_folder

    private_folder(settings.home)
    from emily.cli.endpoint import endpoint
    from emily.cli.served import share_streams

    with endpoint(settings.home) as listening, share_streams():
        asyncio.run(
            _Server(session, settings, listening, with_worker=not no_worker, as_json=as_json).run()
        )


class _Server:
    def __init__(
        self,
        session: Session,
        settings: Settings,
        listening: socket.socket,
        *,
        with_worker: bool,
        as_json: bool,
    ) -> None:
        self._session = session
        self._settings = settings
        self._listening = listening
        self._with_worker = with_worker
        self._as_json = as_json
        self._brain: Brain | None = None
        self._failure: EmilyError | None = None
        self._ready = asyncio.Event()
        self._idle = asyncio.Event()
        self._changed = asyncio.Event()
        self._users = 0
        self._state: tuple[Any, ...] = ()

    async def run(self) -> None:
        """Serve until a signal."""
        from emily.cli.working import stopped_by_signals

        with stopped_by_signals() as stop:
            api = asyncio.create_task(self._answer(stop), name="api")
            try:
                first = True
                while not stop.is_set():
                    self._changed.clear()
                    try:
                        await self._work(stop, api, announce=first)
                        first = False
                    except EmilyError as error:
                        if first:
                            raise
                        # The settings were changed to what cannot be opened, say: said to
                        # everyone who asks, and tried again.
                        self._failure = error
                        self._ready.set()
                        typer.echo(f"emily: {error}", err=True)
                        await _any(stop.wait(), asyncio.sleep(_RETRY_SECONDS))
                        self._ready.clear()
                        self._failure = None
            finally:
                stop.set()
                self._ready.set()
                await asyncio.gather(api, return_exceptions=True)

    async def _work(self, stop: asyncio.Event, api: asyncio.Task[None], announce: bool) -> None:
        """Be open with the settings of now, until they change or the server ends."""
        from emily.cli.endpoint import announce as announced

        settings = self._session.settings()
        async with self._session.open_brain(settings, True) as brain:
            self._brain, self._settings = brain, settings
            self._state = await self._now(brain)
            self._ready.set()
            ended = asyncio.Event()
            side = [asyncio.create_task(self._look_after(brain, ended), name="work")]
            if announce:
                announced(settings.home, self._listening)
                self._tell(settings)
            try:
                await _any(stop.wait(), self._changed.wait(), asyncio.shield(api))
            finally:
                self._ready.clear()
                ended.set()
                while self._users and not stop.is_set():
                    self._idle.clear()
                    await self._idle.wait()
                await asyncio.gather(*side, return_exceptions=True)
                self._brain = None

    def _tell(self, settings: Settings) -> None:
        if self._as_json:
            from emily.cli.working_contract import serve_output

            say_json(serve_output(settings.home, self._listening.getsockname(), os.getpid()))
        else:
            typer.echo(f"Serving {settings.home} (process {os.getpid()})", err=True)

    async def _look_after(self, brain: Brain, ended: asyncio.Event) -> None:
        """The worker, the watcher, and the server for MCP clients where a port is set."""
        if brain.settings.mcp_port:
            from emily.gateways.mcp.http import serve_beside

            clients = [serve_beside(brain, brain.settings, ended)]
        else:
            clients = []
        workers = [brain.work.run(ended)] if self._with_worker else []
        await asyncio.gather(*workers, brain.work.watch(ended), *clients)

    @contextlib.asynccontextmanager
    async def _use(self) -> AsyncIterator[Brain]:
        """The brain for one request, with the settings of now."""
        await self._ready.wait()
        if self._brain is not None and await self._outdated(self._brain):
            self._ready.clear()
            self._changed.set()
            await self._ready.wait()
        if self._failure is not None:
            raise self._failure
        brain = self._brain
        if brain is None:
            from emily.errors import StoreUnavailable

            raise StoreUnavailable("The server is ending. Run the command again.")
        self._users += 1
        try:
            yield brain
        finally:
            self._users -= 1
            if not self._users:
                self._idle.set()

    async def _outdated(self, brain: Brain) -> bool:
        """Whether the settings in the file or the database are others than those at work."""
        return await self._now(brain) != self._state

    async def _now(self, brain: Brain) -> tuple[Any, ...]:
        """What the settings depend on beside the environment, which does not change."""
        try:
            found = (self._settings.home / "settings.toml").stat()
            file = (found.st_mtime_ns, found.st_size)
        except OSError:
            file = None
        return file, await brain.work.setting_rows()

    async def _answer(self, stop: asyncio.Event) -> None:
        import uvicorn

        from emily.cli.local_api import LocalApi

        environment = {
            name: value
            for name, value in os.environ.items()
            if name.startswith("EMILY_") and name not in ("EMILY_HOME", "EMILY_BENCH_DATA")
        }
        api = LocalApi(self._use, str(self._settings.home.resolve()), environment)
        config = uvicorn.Config(
            api.application(),
            log_config=None,
            access_log=False,
            lifespan="off",
            server_header=False,
            date_header=False,
            timeout_graceful_shutdown=5,
        )

        class Server(uvicorn.Server):
            @contextlib.contextmanager
            def capture_signals(self) -> Any:
                yield  # they are the whole program's

        server = Server(config)
        serving = asyncio.create_task(server.serve(sockets=[self._listening]))
        await _any(stop.wait(), asyncio.shield(serving))
        server.should_exit = True
        await serving


async def _any(*waits: Any) -> None:
    """Wait for the first of them; the others are given up."""
    tasks = [asyncio.ensure_future(wait) for wait in waits]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
