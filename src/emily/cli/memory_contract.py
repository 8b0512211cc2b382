"""The JSON of ``emily status --memory``, a part of the contract in docs/json.md."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from emily.cli.contract import Output

if TYPE_CHECKING:
    from emily.measure.memory import MemoryReport

__all__ = ["MemoryOutput", "memory_output"]


@dataclass(frozen=True, kw_only=True)
class MemoryPartPart:
    """A process, or a part of one."""

    kind: Annotated[str, "`emily`, `reading`, `database`, `inference` or `prompt cache`."]
    name: Annotated[str, "The program or the server."]
    pid: Annotated[int | None, "Number of its process."]
    bytes: Annotated[int | None, "That it really takes."]
    reported: Annotated[int | None, "Bytes that its tool reports, where one does."]
    setting: Annotated[str | None, "What makes it smaller."]


@dataclass(frozen=True, kw_only=True)
class MemoryOutput(Output):
    """`emily status --memory`."""

    bytes: Annotated[int, "Of all processes together."]
    budget: Annotated[int | None, "Of the setting `memory_budget_mb`; `null` where none is set."]
    shared_once: Annotated[
        bool, "Whether what processes share counts once; else it counts in each of them."
    ]
    warning: Annotated[str | None, "That the budget is passed, and by what most."]
    parts: Annotated[list[MemoryPartPart], "The largest first."]
    notices: Annotated[list[str], "What could not be told."]


def memory_output(report: MemoryReport) -> MemoryOutput:
    """What all processes take."""
    return MemoryOutput(
        bytes=report.bytes,
        budget=report.budget,
        shared_once=report.shared,
        warning=report.warning,
        parts=[
            MemoryPartPart(
                kind=part.kind,
                name=part.name,
                pid=part.pid,
                bytes=part.bytes,
                reported=part.reported,
                setting=part.setting,
            )
            for part in report.parts
        ],
        notices=list(report.notices),
    )
