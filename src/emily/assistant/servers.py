"""What is sent to models on servers elsewhere, on its way into the ledger.

Models are asked from threads and must not wait for the database: what they tell is written down
behind them, in order, and all of it before the archive is closed.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from emily.assistant.ledger import Egress
from emily.errors import StoreError
from emily.models.servers import Sending, telling

__all__ = ["ServerLedger"]

_log = logging.getLogger("emily.assistant")


class ServerLedger:
    """Writes down what servers are sent."""

    def __init__(self, egress: Egress) -> None:
        self._egress = egress
        self._told: asyncio.Queue[Sending | None] = asyncio.Queue()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Write until the end of the block, and then what is left."""
        loop = asyncio.get_running_loop()
        writing = asyncio.create_task(self._write())

        def tell(sending: Sending) -> None:
            loop.call_soon_threadsafe(self._told.put_nowait, sending)

        with telling(tell):
            try:
                yield
            finally:
                await asyncio.sleep(0)  # what threads have told just now comes first
                self._told.put_nowait(None)
                await writing

    async def _write(self) -> None:
        while (sending := await self._told.get()) is not None:
            try:
                await self._egress.record(
                    sending.role,
                    sending.server,
                    characters=sending.characters,
                    bytes=sending.bytes,
                    tool=sending.what,
                )
            except StoreError as error:
                _log.warning("what %s was sent could not be written down: %s", sending, error)
