"""What is known of a document's analysis, and how it is kept."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from emily.errors import UnknownDocument
from emily.store import Connection, Database, statement

__all__ = ["Analysis", "GivenCategory", "Method", "NewAnalysis", "Records"]

Method = Literal["extractive", "model"]


@dataclass(frozen=True, slots=True)
class GivenCategory:
    """A category that a document has.

    Attributes:
        name: of the category.
        probability: by likeness; ``None`` where a chat model chose it.
        reason: why.
    """

    name: str
    probability: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Analysis:
    """A document's analysis as it stands.

    Attributes:
        document: its id.
        name: its name.
        method: ``extractive`` (its own sentences) or ``model``; ``None`` while there is none.
        model: that made it.
        language: that it is written in.
        summary: ``None`` while there is none.
        spans: of an extractive summary, start and end of each sentence in the text.
        description: ``None`` while there is none.
        categories: that it was given, surest first.
        stale: whether it was made with other settings than the present ones.
        failure: why it, or a part of it, is missing; ``None`` where nothing failed.
        transient: whether trying again may help.
        attempts: how often it failed.
        calls: of the chat model.
        analysed_at: when.
    """

    document: int
    name: str
    method: Method | None
    model: str | None
    language: str | None
    summary: str | None
    spans: tuple[tuple[int, int], ...]
    description: str | None
    categories: tuple[GivenCategory, ...]
    stale: bool
    failure: str | None
    transient: bool
    attempts: int
    calls: int
    analysed_at: dt.datetime | None
    fingerprint: str | None = None


@dataclass(frozen=True, slots=True)
class NewAnalysis:
    """An analysis to be written; the fields are those of ``Analysis``."""

    method: Method
    model: str
    language: str | None
    summary: str
    spans: Sequence[int]
    description: str | None
    categories: Sequence[tuple[int, float | None, str]]
    fingerprint: str
    calls: int
    failure: str | None = None


class Records:
    """Reads and writes analyses."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(self, document: int, fingerprint: str) -> Analysis:
        """How a document's analysis stands.

        Raises:
            UnknownDocument: it is not there (any more).
        """
        row = await self._database.fetch_one("analysis_of", {"document_id": document})
        if row is None:
            raise UnknownDocument(f"Document {document} is not there. emily list shows all.")
        return _analysis(row, fingerprint)

    async def write(self, document: int, text_sha256: bytes, made: NewAnalysis) -> bool:
        """Keep an analysis; ``False`` where the document went or its text changed meanwhile."""

        async def work(connection: Connection) -> bool:
            values = {
                "document_id": document,
                "text_sha256": text_sha256,
                "method": made.method,
                "model": made.model,
                "language": made.language,
                "summary": made.summary,
                "spans": list(made.spans),
                "description": made.description,
                "fingerprint": made.fingerprint,
                "calls": made.calls,
                "failure": made.failure,
            }
            cursor = await connection.execute(statement("write_analysis"), values)
            if await cursor.fetchone() is None:
                return False
            own = {"document_id": document}
            described = {**own, "description": made.description}
            await connection.execute(statement("describe_document"), described)
            await connection.execute(statement("forget_document_categories"), own)
            categories = {
                **own,
                "categories": [category for category, _, _ in made.categories],
                "probabilities": [probability for _, probability, _ in made.categories],
                "reasons": [reason for _, _, reason in made.categories],
            }
            await connection.execute(statement("write_document_categories"), categories)
            await connection.execute(statement("forget_analysis_failure"), own)
            return True

        return await self._database.run(work, idempotent=True)

    async def fail(self, document: int, reason: str, fingerprint: str, *, transient: bool) -> None:
        """Keep why a document has no analysis; what it had before stays."""
        await self._database.execute(
            "write_analysis_failure",
            {
                "document_id": document,
                "reason": reason.replace("\0", " "),
                "transient": transient,
                "fingerprint": fingerprint,
            },
        )


def _analysis(row: dict[str, Any], fingerprint: str) -> Analysis:
    spans = row["spans"] or []
    return Analysis(
        document=row["id"],
        name=row["name"],
        method=row["method"],
        model=row["model"],
        language=row["language"],
        summary=row["summary"],
        spans=tuple(zip(spans[::2], spans[1::2], strict=True)),
        description=row["description"],
        categories=tuple(
            GivenCategory(name, probability, reason)
            for name, probability, reason in zip(
                row["categories"] or (),
                row["probabilities"] or (),
                row["reasons"] or (),
                strict=True,
            )
        ),
        stale=row["fingerprint"] is not None and row["fingerprint"] != fingerprint,
        failure=row["reason"] or row["failure"],
        transient=bool(row["transient"]),
        attempts=row["attempts"] or 0,
        calls=row["calls"] or 0,
        analysed_at=row["analysed_at"],
        fingerprint=row["fingerprint"],
    )
