"""How Emily is when a conversation begins: what of her is down, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from emily.errors import EmilyError

if TYPE_CHECKING:
    from emily.measure.health import Status
    from emily.retrieval.answer import Answer

__all__ = ["Examined", "condition"]

_PROBE = "emily"


class Examined(Protocol):
    """What is asked how it is: a brain."""

    async def status(self) -> Status:
        """What the archive holds, and what is wrong."""
        ...

    async def search(self, query: str, *, log: bool) -> Answer:
        """Search the archive."""
        ...


async def condition(brain: Examined) -> Sequence[str]:
    """What is not well: problems of the archive, open alerts, parts that a search misses.

    A search is run, as the conversation will run them; what it says to be down is down.
    """
    found: list[str] = []
    try:
        status = await brain.status()
        found += status.problems
        found += [alert.text for alert in status.alerts]
        answer = await brain.search(_PROBE, log=False)
        found += [line for line in answer.notices if " down" in line]
        if not status.documents:
            found.append("The archive is empty; the owner fills it with: emily add PATH")
    except EmilyError as error:
        found.append(str(error))
    return list(dict.fromkeys(" ".join(line.split()) for line in found))
