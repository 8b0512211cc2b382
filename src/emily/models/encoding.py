"""What runs a model of sentences for an embedder: texts in, raw vectors out.

A backend (a server, a library) does no more than that. Prefixes, windows, batches and all
defences are those of ``emily.models.backed``, once for all backends.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

__all__ = ["BatchTooSlow", "Encoded", "TextEncoder", "TextRefused", "TextTooLong"]


@dataclass(frozen=True, slots=True)
class Encoded:
    """What a backend made of some texts.

    Attributes:
        vectors: ``(n, dimension)`` as the model gives them; NaN where it gave none.
        tokens: tokens that the model has read of all texts together; ``None`` if it did not say.
    """

    vectors: NDArray[np.float32]
    tokens: int | None = None


class TextRefused(Exception):
    """The model fails on one of these texts; it works for others. Seen by ``backed`` alone."""


class TextTooLong(Exception):
    """One of these texts is longer than the model reads. Seen by ``backed`` alone."""


class BatchTooSlow(Exception):
    """These texts together took longer than is waited for. Seen by ``backed`` alone."""


class TextEncoder(Protocol):
    """A backend. Safe to call from several threads."""

    @property
    def name(self) -> str:
        """The model and where it runs, as messages show it."""
        ...

    def encode(self, texts: Sequence[str], *, patient: bool) -> Encoded:
        """Raw vectors of at least one text, in the order of the texts.

        Args:
            texts: with their prefixes.
            patient: whether to wait for a server that is busy or restarts; a question does not.

        Raises:
            TextRefused, TextTooLong, BatchTooSlow: see there; fewer texts may succeed.
            ModelUnavailable: the model cannot be used at all; the message says what helps.
        """
        ...

    def describe(self) -> str:
        """A sentence about what runs it (version, known faults), for ``emily doctor``.

        Raises:
            ModelUnavailable: it cannot be reached.
        """
        ...

    def memory(self) -> int | None:
        """Bytes that the model takes in its server; ``None`` where it runs here or nobody says."""
        ...

    def close(self) -> None:
        """Let go of connections and memory."""
        ...
