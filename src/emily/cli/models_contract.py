"""The JSON of ``emily models … --json``, a part of the contract in docs/json.md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from emily.cli.contract import Output

if TYPE_CHECKING:
    from emily.indexing.embedders import EmbedderInfo, ModelChange
    from emily.measure.embedder_trial import EmbedderTrial, Side

__all__ = [
    "ModelsListOutput",
    "ModelsTryOutput",
    "ModelsUseOutput",
    "models_list_output",
    "models_try_output",
    "models_use_output",
]


@dataclass(frozen=True, kw_only=True)
class ModelPart:
    """An embedder."""

    model: Annotated[str, "Its name, as `emily models use` takes it."]
    backend: Annotated[
        str | None,
        "`bundled`, `ollama`, `openai` or `sentence-transformers`; `null` for one that only the "
        "index knows.",
    ]
    profile: Annotated[str, "How it is used: prefixes and instructions."]
    dimension: Annotated[int | None, "Of its vectors; `null` where it is asked for at first use."]
    chosen: Annotated[bool, "Whether the settings name it."]
    reachable: Annotated[bool | None, "Whether it answered; `null` where nobody was asked."]
    detail: Annotated[str, "What it answered, or why not."]
    documents: Annotated[int, "Documents of the index that are of it."]
    waiting: Annotated[int, "Documents embedded by it that wait for the change of model."]
    share: Annotated[float, "Share of the index that is of it, 0 to 1."]


@dataclass(frozen=True, kw_only=True)
class ModelsListOutput(Output):
    """`emily models list`."""

    models: Annotated[list[ModelPart], "The embedders, the bundled one first."]


@dataclass(frozen=True, kw_only=True)
class ModelsUseOutput(Output):
    """`emily models use`."""

    model: Annotated[str, "The embedder now."]
    identity: Annotated[str, "Name, profile and dimension, as its vectors are marked."]
    detail: Annotated[str, "What it answered when it was tried."]
    embedded: Annotated[int, "Documents embedded now; not those of an interrupted run before."]
    documents: Annotated[int, "Documents whose vectors were put in place."]
    failures: Annotated[list[str], "Passages without a vector, with the reason."]
    settings: Annotated[list[str], "Lines of `settings.toml` that choose it; they were written."]
    overridden: Annotated[list[str], "Variables of the environment that say something else."]


@dataclass(frozen=True, kw_only=True)
class TrialSidePart:
    """One of two embedders that were compared."""

    model: Annotated[str, "Its name."]
    identity: Annotated[str, "As its vectors are marked."]
    seconds: Annotated[float, "To index the sample."]
    whole_seconds: Annotated[float, "What the whole archive would take at that pace."]
    search_ms: Annotated[float | None, "Median of a search, milliseconds."]
    megabytes: Annotated[float, "Memory that it took, here or in its server."]
    without_vector: Annotated[int, "Passages of the sample for which it gave no vector."]
    hit_1: Annotated[float | None, "On the owner's questions; `null` where there are none."]
    hit_3: Annotated[float | None, "The same among the first 3."]
    ndcg_10: Annotated[float | None, "Of the order before the threshold."]


@dataclass(frozen=True, kw_only=True)
class TrialChangePart:
    """How one figure changed over the owner's questions."""

    metric: Annotated[str, "Which figure."]
    before: Annotated[float, "Mean with the present model."]
    after: Annotated[float, "Mean with the one on trial."]
    low: Annotated[float, "Lower end of the 95 % interval of the difference."]
    high: Annotated[float, "Upper end of it."]
    gains: Annotated[int, "Questions that gained."]
    losses: Annotated[int, "Questions that lost."]


@dataclass(frozen=True, kw_only=True)
class RealQueriesPart:
    """Questions that were really asked, put to both."""

    asked: Annotated[int, "How many distinct ones."]
    same_first: Annotated[float, "Share with the same document first."]
    shared: Annotated[float, "Mean share of the first five documents that both show."]
    empty_before: Annotated[int, "How many came back empty with the present model."]
    empty_after: Annotated[int, "With the one on trial."]
    different: Annotated[
        list[tuple[str, str | None, str | None]],
        "Those with another document first: the question, and both documents.",
    ]


@dataclass(frozen=True, kw_only=True)
class ModelsTryOutput(Output):
    """`emily models try`."""

    documents: Annotated[int, "Documents of the sample."]
    chunks: Annotated[int, "Chunks of the sample."]
    archive_documents: Annotated[int, "Documents of the archive."]
    archive_chunks: Annotated[int, "Chunks of the archive."]
    questions: Annotated[int, "The owner's questions that were asked."]
    left_out: Annotated[int, "Those that name no document of the archive."]
    before: Annotated[TrialSidePart, "The present model."]
    after: Annotated[TrialSidePart, "The model on trial."]
    changes: Annotated[list[TrialChangePart], "Figures of the owner's questions, compared."]
    real: Annotated[RealQueriesPart | None, "`null` where nothing was asked yet."]
    detail: Annotated[str, "What the model on trial answered when it was tried."]
    notices: Annotated[list[str], "What to know about these figures."]


def models_list_output(found: Sequence[EmbedderInfo]) -> ModelsListOutput:
    """The embedders that there are."""
    return ModelsListOutput(
        models=[
            ModelPart(
                model=item.model,
                backend=item.backend,
                profile=item.profile,
                dimension=item.dimension,
                chosen=item.chosen,
                reachable=item.reachable,
                detail=item.detail,
                documents=item.documents,
                waiting=item.waiting,
                share=item.share,
            )
            for item in found
        ]
    )


def models_use_output(change: ModelChange) -> ModelsUseOutput:
    """What changing the embedder came to."""
    return ModelsUseOutput(
        model=change.model,
        identity=str(change.identity),
        detail=change.detail,
        embedded=change.embedded,
        documents=change.documents,
        failures=list(change.failures),
        settings=list(change.settings.lines),
        overridden=list(change.settings.overridden),
    )


def models_try_output(trial: EmbedderTrial) -> ModelsTryOutput:
    """What trying an embedder came to."""
    changes = trial.comparison.metrics if trial.comparison else ()
    real = trial.real
    return ModelsTryOutput(
        documents=trial.documents,
        chunks=trial.chunks,
        archive_documents=trial.archive_documents,
        archive_chunks=trial.archive_chunks,
        questions=trial.questions,
        left_out=trial.left_out,
        before=_side(trial.before),
        after=_side(trial.after),
        changes=[
            TrialChangePart(
                metric=item.metric,
                before=item.before,
                after=item.after,
                low=item.difference.low,
                high=item.difference.high,
                gains=item.gains,
                losses=item.losses,
            )
            for item in changes
        ],
        real=None
        if real is None
        else RealQueriesPart(
            asked=real.asked,
            same_first=real.same_first,
            shared=real.shared,
            empty_before=real.empty_before,
            empty_after=real.empty_after,
            different=list(real.different),
        ),
        detail=trial.detail,
        notices=list(trial.notices),
    )


def _side(side: Side) -> TrialSidePart:
    return TrialSidePart(
        model=side.model,
        identity=side.identity,
        seconds=side.seconds,
        whole_seconds=side.whole_seconds,
        search_ms=side.search_ms,
        megabytes=side.megabytes,
        without_vector=side.without_vector,
        hit_1=_number(side.hit_1),
        hit_3=_number(side.hit_3),
        ndcg_10=_number(side.ndcg_10),
    )


def _number(value: float) -> float | None:
    return None if math.isnan(value) else value
