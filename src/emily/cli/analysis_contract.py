"""The JSON of the commands on analysis, a part of the contract in docs/json.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from emily.cli.contract import Output

if TYPE_CHECKING:
    from emily.analysis.categories import Category
    from emily.analysis.record import Analysis
    from emily.analysis.service import AnalysisOutcome

__all__ = [
    "AnalyseOutput",
    "CategoriesAddOutput",
    "CategoriesListOutput",
    "CategoriesRemoveOutput",
    "GetOutput",
    "SummaryOutput",
    "analyse_output",
    "categories_add_output",
    "categories_list_output",
    "categories_remove_output",
    "get_output",
    "summary_output",
]


@dataclass(frozen=True, kw_only=True)
class GivenCategoryPart:
    """A category of a document."""

    name: Annotated[str, "As the owner wrote it."]
    probability: Annotated[float | None, "By likeness, 0 to 1; `null` where a chat model chose it."]
    reason: Annotated[str, "Why it was given."]


@dataclass(frozen=True, kw_only=True)
class AnalysisPart:
    """How the analysis of a document stands."""

    id: Annotated[int, "Id of the document."]
    name: Annotated[str, "Its file name."]
    method: Annotated[
        str | None,
        "`extractive`: sentences of the document itself; `model`: written by a chat model; `null` "
        "while there is no summary.",
    ]
    model: Annotated[str | None, "What made it: an embedder, or a chat model with its server."]
    language: Annotated[str | None, "That it is written in, the document's."]
    summary: Annotated[str | None, "`null` while there is none."]
    spans: Annotated[
        list[tuple[int, int]],
        "Of an extractive summary, where each of its sentences stands in the document's text.",
    ]
    description: Annotated[str | None, "`null` while there is none."]
    categories: Annotated[list[GivenCategoryPart], "Of the owner's list, surest first."]
    stale: Annotated[bool, "Whether it was made with other settings than the present ones."]
    failure: Annotated[str | None, "Why it, or a part of it, is missing."]
    transient: Annotated[bool, "Whether what failed may succeed when tried again."]
    attempts: Annotated[int, "How often it failed in a row."]
    calls: Annotated[int, "How often a chat model was asked for it."]
    analysed_at: Annotated[str | None, "When, ISO 8601."]


@dataclass(frozen=True, kw_only=True)
class SummaryOutput(Output):
    """`emily summary`."""

    document: Annotated[AnalysisPart, "The document."]
    notices: Annotated[list[str], "What to know about it, and what helps."]


@dataclass(frozen=True, kw_only=True)
class GetOutput(Output):
    """`emily get`."""

    document: Annotated[AnalysisPart, "The document."]
    notices: Annotated[list[str], "What to know about it, and what helps."]


@dataclass(frozen=True, kw_only=True)
class AnalysedPart:
    """What became of one document."""

    id: Annotated[int, "Id of the document."]
    name: Annotated[str, "Its file name."]
    error: Annotated[str | None, "Why its analysis is not whole; `null` where all went well."]
    description: Annotated[str | None, "Its description now."]
    categories: Annotated[list[str], "Its categories now."]


@dataclass(frozen=True, kw_only=True)
class AnalyseOutput(Output):
    """`emily analyse`."""

    method: Annotated[str, "`extractive` or `model`, as the settings have it."]
    analysed: Annotated[int, "How many went well."]
    failed: Annotated[int, "How many did not."]
    documents: Annotated[list[AnalysedPart], "Each of them."]


@dataclass(frozen=True, kw_only=True)
class CategoryPart:
    """A category of the owner's list."""

    name: Annotated[str, "As the owner wrote it."]
    description: Annotated[str, "What belongs to it; may be empty."]
    examples: Annotated[list[str], "Texts of what belongs to it."]
    documents: Annotated[int, "How many documents have it."]


@dataclass(frozen=True, kw_only=True)
class CategoriesListOutput(Output):
    """`emily categories list`."""

    categories: Annotated[list[CategoryPart], "By name."]


@dataclass(frozen=True, kw_only=True)
class CategoriesAddOutput(Output):
    """`emily categories add`."""

    category: Annotated[CategoryPart, "As it is now."]
    new: Annotated[bool, "Whether it was not there before."]
    stale: Annotated[int, "Documents whose categories are to be chosen anew."]


@dataclass(frozen=True, kw_only=True)
class CategoriesRemoveOutput(Output):
    """`emily categories remove`."""

    name: Annotated[str, "Of the category that went."]


def summary_output(analysis: Analysis, notices: Sequence[str]) -> SummaryOutput:
    """A document's summary."""
    return SummaryOutput(document=_analysis(analysis), notices=list(notices))


def get_output(analysis: Analysis, notices: Sequence[str]) -> GetOutput:
    """A document's description, categories and summary."""
    return GetOutput(document=_analysis(analysis), notices=list(notices))


def analyse_output(method: str, outcomes: Sequence[AnalysisOutcome]) -> AnalyseOutput:
    """What a run of analysis came to."""
    return AnalyseOutput(
        method=method,
        analysed=sum(item.error is None for item in outcomes),
        failed=sum(item.error is not None for item in outcomes),
        documents=[
            AnalysedPart(
                id=item.analysis.document,
                name=item.analysis.name,
                error=item.error,
                description=item.analysis.description,
                categories=[category.name for category in item.analysis.categories],
            )
            for item in outcomes
        ],
    )


def categories_list_output(categories: Sequence[Category]) -> CategoriesListOutput:
    """The owner's list."""
    return CategoriesListOutput(categories=[_category(item) for item in categories])


def categories_add_output(category: Category, new: bool, stale: int) -> CategoriesAddOutput:
    """A category that was added, or added to."""
    return CategoriesAddOutput(category=_category(category), new=new, stale=stale)


def categories_remove_output(name: str) -> CategoriesRemoveOutput:
    """A category that was removed."""
    return CategoriesRemoveOutput(name=name)


def _category(category: Category) -> CategoryPart:
    return CategoryPart(
        name=category.name,
        description=category.description,
        examples=list(category.examples),
        documents=category.documents,
    )


def _analysis(analysis: Analysis) -> AnalysisPart:
    return AnalysisPart(
        id=analysis.document,
        name=analysis.name,
        method=analysis.method,
        model=analysis.model,
        language=analysis.language,
        summary=analysis.summary,
        spans=list(analysis.spans),
        description=analysis.description,
        categories=[
            GivenCategoryPart(
                name=item.name,
                # Kept as real: the digits behind the fourth are noise.
                probability=None if item.probability is None else round(item.probability, 4),
                reason=item.reason,
            )
            for item in analysis.categories
        ],
        stale=analysis.stale,
        failure=analysis.failure,
        transient=analysis.transient,
        attempts=analysis.attempts,
        calls=analysis.calls,
        analysed_at=None if analysis.analysed_at is None else analysis.analysed_at.isoformat(),
    )
