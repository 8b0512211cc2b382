"""Readiness: whether the index is of the present model and settings, and serves a preset."""

from __future__ import annotations

from typing import Any

from emily.errors import InputError, ModelMismatch
from emily.indexing.fingerprint import told
from emily.models.choosing import chosen_embedder
from emily.models.protocols import ModelIdentity
from emily.retrieval.preset_arms import documents_without_stems
from emily.retrieval.presets import Preset, stand_ins
from emily.retrieval.trace import Trace
from emily.settings import Settings
from emily.store import Database

__all__ = ["Readiness"]


class Readiness:
    """Looks at the index before each search; what did not change is not looked at again."""

    def __init__(
        self, database: Database, model: ModelIdentity, settings: Settings, fingerprint: str
    ) -> None:
        self._database = database
        self._model = model
        self._settings = settings
        self._fingerprint = fingerprint
        self._facts: dict[str, Any] | None = None  # of the index, at the revision it names

    async def of_index(self, trace: Trace, notices: list[str]) -> tuple[int, int]:
        """Number of documents, and the revision; tells of documents of other settings.

        Raises:
            ModelMismatch: the index holds vectors of another model.
        """
        with trace.stage("index") as record:
            row = await self._facts_now()
            record |= {
                "documents": row["documents"],
                "stale": row["stale"],
                "model": str(self._model),
            }
        self._refuse_others(row)
        if row["stale"]:
            notices.append(
                f"{row['stale']} of {row['documents']} documents were indexed with other "
                f"settings{told(row['fingerprints'], self._fingerprint)}. Bring them up to date "
                "with: emily reindex"
            )
        return row["documents"], row["revision"]

    async def of_model(self) -> None:
        """Look once more, after a search: the archive may have changed its model meanwhile.

        A search reads in several statements, and the index switches between two of them at any
        time; what it found of both models is no answer.

        Raises:
            ModelMismatch: the index holds vectors of another model.
        """
        self._refuse_others(await self._facts_now())

    async def _facts_now(self) -> dict[str, Any]:
        now = await self._database.fetch_one("revision_number")
        row = self._facts
        if row is None or now is None or row["revision"] != now["number"]:
            row = await self._database.fetch_one(
                "search_facts", {"fingerprint": self._fingerprint, **self._model.parameters}
            )
        assert row is not None
        self._facts = row
        return row

    def _refuse_others(self, row: dict[str, Any]) -> None:
        if row["other_models"]:
            raise ModelMismatch(
                f"The index holds vectors of {row['other_models']}, and the embedder is now "
                f"{self._model.name}/{self._model.profile}. Two models cannot be compared. "
                "Embed the archive with it, while the other still answers: "
                f"emily models use {chosen_embedder(self._settings)}"
            )

    async def for_preset(
        self, preset: Preset, documents: int, reranker: str | None, notices: list[str]
    ) -> None:
        """Refuse a preset that the index does not serve; tell of what stands in for its models.

        Args:
            preset: what the search does.
            documents: how many the index holds.
            reranker: name of the cross-encoder, if one is set.
            notices: that the answer will show.

        Raises:
            InputError: the index has nothing of what the preset looks in.
        """
        if preset.needs_stems and documents:
            missing = await documents_without_stems(self._database)
            help_ = (
                f'Write index_for = ["{preset.name}"] into {self._settings.home}/settings.toml, '
                "then run: emily reindex"
            )
            if missing == documents:
                raise InputError(
                    f"The index holds no stems, which the preset {preset.name} looks in. {help_}"
                )
            if missing:
                notices.append(
                    f"{missing} of {documents} documents are not indexed for the preset "
                    f"{preset.name} and are found in part or not at all. {help_}"
                )
        notices += stand_ins(preset, self._model.name, reranker)
