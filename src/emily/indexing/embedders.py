"""The embedders that there are, which one the index is of, and the change from one to another."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from emily.errors import ModelError, SettingError
from emily.indexing.language import LanguageDetector
from emily.indexing.prepare import Preparer
from emily.indexing.switching import Step, Switch
from emily.models.backed import BackedEmbedder
from emily.models.choosing import (
    EmbedderChoice,
    chosen_embedder,
    completed,
    make_embedder,
    parse_choice,
    served_models,
)
from emily.models.profiles import bare_name, profile_of
from emily.models.protocols import Embedder, ModelIdentity
from emily.settings import Settings
from emily.settings_file import WrittenSettings, change_settings
from emily.store import Database

__all__ = [
    "EmbedderInfo",
    "ModelChange",
    "change_embedder",
    "examined",
    "list_embedders",
    "named_embedder",
]


_Counted = dict[tuple[str, str, int], Mapping[str, Any]]  # rows of documents by identity


@dataclass(frozen=True, slots=True)
class EmbedderInfo:
    """An embedder that could be used, or that vectors of the index are of.

    Attributes:
        model: as ``emily models use`` takes it; its bare name where its backend is not known.
        backend: what runs it; ``None`` for one that only the index knows.
        profile: how it is used.
        dimension: of its vectors; ``None`` where it is asked for at the first use.
        chosen: whether the settings name it.
        reachable: whether it answered; ``None`` where nobody was asked.
        detail: what it answered, or why not.
        documents: how many documents of the index are of it.
        waiting: how many are embedded by it and wait for the change of model.
        share: of the index, 0 to 1.
    """

    model: str
    backend: str | None
    profile: str
    dimension: int | None
    chosen: bool
    reachable: bool | None
    detail: str
    documents: int
    waiting: int
    share: float


@dataclass(frozen=True, slots=True)
class ModelChange:
    """What changing the embedder came to.

    Attributes:
        model: the embedder now, as ``emily models use`` takes it.
        identity: as its vectors are marked.
        detail: what it answered when it was tried.
        embedded: documents embedded now; those of an interrupted run are not counted.
        documents: documents whose vectors were put in place.
        failures: passages without a vector, with the reason.
        settings: the file of settings, the lines it has now, and what overrides them.
    """

    model: str
    identity: ModelIdentity
    detail: str
    embedded: int
    documents: int
    failures: tuple[str, ...]
    settings: WrittenSettings


async def list_embedders(
    settings: Settings, database: Database, embedder: Embedder
) -> tuple[EmbedderInfo, ...]:
    """The bundled embedder, the one that is set, those of Ollama, and those of the index.

    Args:
        settings: of this home folder.
        database: the store.
        embedder: the one that is set.

    Raises:
        StoreUnavailable: the database cannot be reached.
    """
    shares = await database.fetch("model_shares")
    total = sum(row["documents"] for row in shares)
    counted: _Counted = {(row["name"], row["profile"], row["dimension"]): row for row in shares}
    chosen = chosen_embedder(settings)
    bundled = make_embedder(settings, EmbedderChoice("bundled"))
    known = bundled.identity
    found = [
        _info("bundled", "bundled", known, chosen.backend == "bundled", True, str(known), counted)
    ]
    if chosen.backend != "bundled":
        reachable, detail = await asyncio.to_thread(_asked, embedder)
        identity = embedder.identity
        found.append(_info(str(chosen), chosen.backend, identity, True, reachable, detail, counted))
    found += await asyncio.to_thread(_of_ollama, settings, chosen, counted)
    for row in counted.values():
        if row["documents"] or row["waiting"]:
            identity = ModelIdentity(row["name"], row["profile"], row["dimension"])
            said = "only the index knows it"
            found.append(_info(row["name"], None, identity, False, None, said, {}, row))
    return tuple(
        EmbedderInfo(
            item.model, item.backend, item.profile, item.dimension, item.chosen, item.reachable,
            item.detail, item.documents, item.waiting, item.documents / total if total else 0.0,
        )
        for item in found
    )  # fmt: skip


async def change_embedder(
    settings: Settings,
    database: Database,
    languages: LanguageDetector,
    model: str,
    *,
    url: str | None = None,
    step: Step = lambda *_: None,
) -> ModelChange:
    """Embed the archive with another model while it stays searchable, then switch to it.

    Args:
        settings: of this home folder; their file is changed at the end.
        database: the store.
        languages: of the archive.
        model: see ``emily.models.choosing.parse_choice``.
        url: address of its server.
        step: told of progress.

    Raises:
        InputError: ``model`` names no embedder.
        ModelError: it cannot be used; nothing has changed.
        SettingError: the archive has changed its model and the file of settings cannot; the
            message has the lines to add.
    """
    choice, embedder = await named_embedder(settings, model, url)
    try:
        detail = await asyncio.to_thread(examined, embedder)
        preparer = Preparer(embedder, languages, settings)
        report = await Switch(database, preparer, embedder.identity).run(step)
        written = await asyncio.to_thread(change_settings, settings.home, choice.settings)
    finally:
        if isinstance(embedder, BackedEmbedder):
            embedder.close()
    return ModelChange(
        str(choice),
        embedder.identity,
        detail,
        report.embedded,
        report.documents,
        report.failures,
        written,
    )


async def named_embedder(
    settings: Settings, model: str, url: str | None = None
) -> tuple[EmbedderChoice, Embedder]:
    """The embedder that the owner names, its dimension asked for where it is not known.

    Raises:
        InputError, ModelError, SettingError: as in ``change_embedder``.
    """
    asked = parse_choice(model, settings, url)
    choice = await asyncio.to_thread(completed, settings, asked)
    return choice, make_embedder(settings, choice)


def examined(embedder: Embedder) -> str:
    """What an embedder shows when it is tried.

    Raises:
        ModelError: it cannot be used.
    """
    if isinstance(embedder, BackedEmbedder):
        return embedder.examine()
    embedder.embed_queries(["golden"])  # loading checks weights and golden pair
    return f"{embedder.identity}, weights and golden pair as expected"


def _asked(embedder: Embedder) -> tuple[bool, str]:
    """Whether what runs the embedder answers, and what."""
    if not isinstance(embedder, BackedEmbedder):
        try:
            return True, examined(embedder)
        except ModelError as error:
            return False, str(error)
    try:
        return True, embedder.encoder.describe()
    except ModelError as error:
        return False, str(error)


def _of_ollama(
    settings: Settings,
    chosen: EmbedderChoice,
    counted: _Counted,
) -> list[EmbedderInfo]:
    """Models that an Ollama server on this machine has, but for the one that is set."""
    try:
        address, models = served_models(settings)
    except (ModelError, SettingError):
        return []  # nobody said that there is one
    found = []
    for name, digest in models.items():
        short = name.removesuffix(":latest")
        if chosen.backend == "ollama" and bare_name(chosen.model) == bare_name(short):
            continue
        profile = profile_of(short)
        dimension = profile.dimension or 0
        identity = ModelIdentity(short, profile.name, dimension)
        said = f"at {address}, {digest}" if digest else f"at {address}"
        found.append(_info(f"ollama/{short}", "ollama", identity, False, True, said, counted))
    return found


def _info(
    model: str,
    backend: str | None,
    identity: ModelIdentity,
    chosen: bool,
    reachable: bool | None,
    detail: str,
    counted: _Counted,
    row: Mapping[str, Any] | None = None,
) -> EmbedderInfo:
    """An embedder with its documents, which are then counted."""
    key = (identity.name, identity.profile, identity.dimension)
    own = row or counted.pop(key, {"documents": 0, "waiting": 0})
    return EmbedderInfo(
        model,
        backend,
        identity.profile,
        identity.dimension or None,
        chosen,
        reachable,
        detail,
        own["documents"],
        own["waiting"],
        0.0,
    )
