"""The owner's own questions asked again: how searches behave, where nobody knows the answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from emily.measure.evaluation import Asked, Outcome, length_of, outcome
from emily.measure.query_log import LoggedQuery
from emily.measure.refusion import check_fusion
from emily.measure.scores import mean
from emily.retrieval.answer import Answer
from emily.retrieval.filters import Filters, parse_filters
from emily.retrieval.retriever import Retriever

__all__ = ["Behaviour", "Replay", "Replayed", "replay"]

REAL = "real"
"""Kind of a question whose answer is not known."""


@dataclass(frozen=True, slots=True)
class Replayed:
    """A logged question, asked again.

    Attributes:
        id: of its entry in the log.
        text: the question.
        outcome: of asking it now.
        was_empty: whether it showed nothing when it was asked.
        times: how often the log holds it, with the same options.
        narrowed: whether filters or operators may honestly leave an arm nothing.
    """

    id: int
    text: str
    outcome: Outcome
    was_empty: bool
    times: int
    narrowed: bool = False

    @property
    def is_empty(self) -> bool:
        """Whether it shows nothing now."""
        return not self.outcome.shown


@dataclass(frozen=True, slots=True)
class Behaviour:
    """How some searches behave; shares are from 0 to 1.

    Attributes:
        questions: how many.
        empty: share that shows nothing.
        was_empty: share that showed nothing when it was asked.
        empty_arms: share that each arm brought nothing to, of those without filters and operators.
        documents: mean number of distinct documents shown, of those that show some.
        slots: mean number of chunks chosen of each document shown.
        single_document: share that shows one document alone.
        one_took_all: share that chose several chunks, all of one document.
        probability: median of the best probability.
        milliseconds: median of the time of a search.
    """

    questions: int
    empty: float
    was_empty: float
    empty_arms: dict[str, float]
    documents: float
    slots: float
    single_document: float
    one_took_all: float
    probability: float
    milliseconds: float


@dataclass(frozen=True, slots=True)
class Replay:
    """All questions of the log, asked again.

    Attributes:
        preset: name of the preset that they were asked with.
        questions: each once, the latest first.
        left_out: how many could not be asked again, because they were put to one document.
    """

    preset: str
    questions: tuple[Replayed, ...]
    left_out: int

    def behaviour(self, length: str | None = None) -> Behaviour:
        """Of all questions, or of one group by length."""
        chosen = [item for item in self.questions if length in (None, length_of(item.text))]
        found = [item.outcome for item in chosen]
        shown = [item for item in found if item.shown]
        plain = [item.outcome for item in chosen if not item.narrowed]
        slots = [count for item in found for count in item.slots]
        arms = dict.fromkeys(
            name for item in plain for name in item.places if name.endswith("_arm")
        )
        return Behaviour(
            questions=len(chosen),
            empty=mean([item.is_empty for item in chosen]),
            was_empty=mean([item.was_empty for item in chosen]),
            empty_arms={name: mean([name in item.empty_arms for item in plain]) for name in arms},
            documents=mean([len(item.shown) for item in shown]),
            slots=mean(slots),
            single_document=mean([len(item.shown) == 1 for item in found]),
            one_took_all=mean([len(item.shown) == 1 and sum(item.slots) > 1 for item in found]),
            probability=median(item.probability for item in found) if found else float("nan"),
            milliseconds=median(item.milliseconds for item in found) if found else float("nan"),
        )

    def lengths(self) -> tuple[str, ...]:
        """The groups by length that occur, the short ones first."""
        words = {length_of(item.text): len(item.text.split()) for item in self.questions}
        return tuple(sorted(words, key=words.__getitem__))


async def replay(
    retriever: Retriever,
    logged: Sequence[LoggedQuery],
    preset: str,
    told: Callable[[int, int], None] = lambda *_: None,
) -> Replay:
    """Ask logged questions again, each once with the options it was asked with.

    Args:
        retriever: of the owner's archive; what it answers is not logged.
        logged: the latest first.
        preset: name of the preset to ask with.
        told: called with how many were asked, and of how many.

    Raises:
        FusionDiffers: a pool is not what the recorded arms give.
        EmilyError: whatever a search raises.
    """
    distinct: dict[tuple[str, str], list[LoggedQuery]] = {}
    left_out = 0
    for item in logged:
        if item.kind == "search":
            distinct.setdefault((item.text, repr(sorted(item.options.items()))), []).append(item)
        else:
            left_out += 1
    found = []
    for items in distinct.values():
        last = items[0]
        answer = await _again(retriever, last, preset)
        check_fusion(answer.trace, last.text)
        asked = Asked(str(last.id), last.text, absence=REAL)
        found.append(
            Replayed(
                last.id,
                last.text,
                outcome(asked, answer),
                not last.slots,
                len(items),
                last.narrowed,
            )
        )
        told(len(found), len(distinct))
    return Replay(preset, tuple(found), left_out)


def _again(retriever: Retriever, item: LoggedQuery, preset: str) -> Awaitable[Answer]:
    options = item.options
    return retriever.search(
        _wordings(item.text, options.get("also") or ()),
        options.get("limit"),
        options.get("threshold"),
        _filters(options.get("filters") or {}),
        preset,
        budget=options.get("budget"),
        operators=options.get("operators", True),
    )


def _wordings(text: str, also: Sequence[str]) -> Sequence[str]:
    """The question and what was asked beside it; the log holds all of them in a row."""
    beside = "".join(f" / {wording}" for wording in also)
    return [text.removesuffix(beside), *also]


def _filters(given: Mapping[str, Any]) -> Filters:
    return parse_filters(
        since=given.get("from"),
        until=given.get("to"),
        kinds=given.get("type") or (),
        languages=given.get("lang") or (),
        folder=given.get("in"),
        categories=given.get("category") or (),
        authors=given.get("author") or (),
        parties=given.get("party") or (),
        titles=given.get("title") or (),
    )
