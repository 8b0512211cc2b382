"""Analysis as a phase of work, for the worker."""

from __future__ import annotations

from collections.abc import Sequence

from emily.analysis.service import AnalysisService
from emily.errors import AnswerError, ModelError, UnknownDocument
from emily.work.phases import ANALYSIS, Done, Due, Failed, Transient

__all__ = ["AnalysisPhase"]


class AnalysisPhase:
    """Hands the worker the documents that wait for analysis; see ``emily.work.phases.Phase``."""

    name = ANALYSIS

    def __init__(self, service: AnalysisService) -> None:
        self._service = service

    async def due(self) -> Sequence[Due]:
        """Documents whose analysis is missing, stale or not whole, by their text and settings."""
        fingerprint = await self._service.fingerprint()
        return [
            Due(item.document, f"{item.text_sha256.hex()} {fingerprint}")
            for item in await self._service.waiting()
        ]

    async def perform(self, document: int) -> Done:
        """Analyse one document.

        Raises:
            Transient: the chat model is away or took too long.
            Failed: its answers are of no use, or the document is gone.
        """
        try:
            made = await self._service.analyse(document)
        except (AnswerError, UnknownDocument) as error:
            raise Failed(str(error)) from None
        except ModelError as error:
            raise Transient(str(error)) from None
        return Done(document, "its own sentences" if made.method == "extractive" else made.model)
