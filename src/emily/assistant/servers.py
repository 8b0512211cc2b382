"""What is sent to models on servers elsewhere: written into the ledger before it leaves.

Models are asked from threads and from the event loop alike. The write has a connection of its
own; it takes a millisecond beside a call over the network, and where it fails nothing is sent.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from emily.errors import ModelUnavailable, StoreError
from emily.models.servers import Sending, telling
from emily.store import Database
from emily.store.at_once import AtOnce

__all__ = ["ServerLedger"]


class ServerLedger:
    """Writes down what servers are sent."""

    def __init__(self, database: Database) -> None:
        self._writing = AtOnce(database)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Until the end of the block, nothing is sent that is not written down."""
        with telling(self._write):
            try:
                yield
            finally:
                self._writing.close()

    def _write(self, sending: Sending) -> None:
        values = {
            "role": sending.role,
            "client": sending.server,
            "local": False,
            "conversation": None,
            "tool": sending.what,
            "characters": sending.characters,
            "bytes": sending.bytes,
        }
        try:
            self._writing.execute("record_egress", values)
        except StoreError as error:
            raise ModelUnavailable(
                f"what {sending.server!r} is to be sent cannot be written into the ledger, so it "
                f"is not sent: {error}"
            ) from error
