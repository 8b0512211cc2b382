"""The analysis by a chat model: a hierarchical summary, and from it description and categories."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, Field

from emily.analysis.answers import parsed, to_last_sentence, wrong_language
from emily.analysis.grouping import group_characters, grouped_text, regrouped
from emily.analysis.prompts import (
    SYSTEM,
    again_in,
    categories_prompt,
    description_prompt,
    language_name,
    merge_prompt,
    repair_prompt,
    summary_prompt,
)
from emily.errors import AnswerError
from emily.indexing.language import LanguageDetector
from emily.models import ChatModel

__all__ = ["Chosen", "Lengths", "Writer"]

M = TypeVar("M", bound=BaseModel)

_TOKENS_PER_WORD = 2
"""Of an answer: what its cap allows, so that 200 words have 400 tokens and 400 have 800."""

_CATEGORY_TOKENS = 400


class _Description(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    description: str = Field(min_length=1)


class _Choice(BaseModel):
    model_config = ConfigDict(extra="forbid", str_strip_whitespace=True)

    name: str
    reason: str = Field(min_length=1)


class _Choices(BaseModel):
    model_config = ConfigDict(extra="forbid")

    categories: list[_Choice]


@dataclass(frozen=True, slots=True)
class Chosen:
    """A category that a document was given: its name and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long the answers are to be.

    Attributes:
        group_words: of the summary of one group.
        words: of a summary of summaries.
        description_tokens: most tokens of a description.
        description_characters: a description that is shorter is asked for again.
    """

    group_words: int = 200
    words: int = 400
    description_tokens: int = 300
    description_characters: int = 60


class Writer:
    """Writes about one document with a chat model.

    Attributes:
        calls: how often the model was asked.
    """

    def __init__(
        self,
        model: ChatModel,
        detector: LanguageDetector,
        language: str | None,
        lengths: Lengths,
        *,
        confidence: float,
        step: Callable[[int, int], None] | None = None,
    ) -> None:
        """Prepare; nothing is asked yet.

        Args:
            model: to ask.
            detector: of the indexed languages.
            language: that everything is to be written in, the document's.
            lengths: of the answers.
            confidence: probability from which a language counts as told.
            step: told after each piece of a summary how many are done, of how many.
        """
        self._model = model
        self._detector = detector
        self._language = language
        self._lengths = lengths
        self._confidence = confidence
        self._step = step or _untold
        self.calls = 0

    async def summary(self, text: str) -> str:
        """The summary of a text, by groups, and of groups by groups again until one is left.

        Raises:
            AnswerError: a piece has no usable summary: then there is none of the whole.
            ModelUnavailable, ModelError: the model cannot be asked, or took too long.
        """
        size = group_characters(self._model.context)
        groups = grouped_text(text, size)
        if not groups:
            raise AnswerError("The document has no text to summarise.")
        total = len(groups)
        pieces = []
        for place, (start, end) in enumerate(groups, start=1):
            prompt = summary_prompt(
                text[start:end], place, total, self._lengths.group_words, self._language
            )
            what = f"part {place} of {total}"
            pieces.append(await self._written(prompt, self._lengths.group_words, what))
            self._step(place, total + (total > 1))
        while len(pieces) > 1:
            merged = regrouped(pieces, [len(piece) for piece in pieces], size)
            pieces = [await self._merged(group) for group in merged]
        if total > 1:
            self._step(total + 1, total + 1)
        return pieces[0]

    async def description(self, summary: str, facts: str) -> str:
        """A description of what a summary says, at most as long as was asked for.

        Args:
            summary: of the document.
            facts: what is known of it beside, one line; may be empty.

        Raises:
            AnswerError, ModelUnavailable, ModelError: as ``summary``.
        """
        prompt = description_prompt(summary, facts, self._language)
        least = self._lengths.description_characters

        def problem(found: _Description) -> str | None:
            text = found.description
            if len(text) < least:
                return f"it has {len(text)} characters, and at least {least} are needed"
            return None

        found = await self._object(
            prompt,
            _Description,
            self._lengths.description_tokens,
            "the description",
            lambda answer: answer.description,
            problem,
        )
        return found.description

    async def categories(
        self, summary: str, categories: Sequence[tuple[str, str, Sequence[str]]]
    ) -> list[Chosen]:
        """Which of the owner's categories a document belongs to; none where none fits.

        Args:
            summary: of the document.
            categories: name, description and examples of each.

        Raises:
            AnswerError, ModelUnavailable, ModelError: as ``summary``.
        """
        if not categories:
            return []
        names = [name for name, _, _ in categories]

        def problem(found: _Choices) -> str | None:
            strange = [item.name for item in found.categories if item.name not in names]
            return f"{strange[0]!r} is none of the categories" if strange else None

        found = await self._object(
            categories_prompt(summary, categories, self._language),
            _Choices,
            _CATEGORY_TOKENS,
            "the categories",
            lambda given: " ".join(item.reason for item in given.categories),
            problem,
        )
        chosen = {item.name: Chosen(item.name, item.reason) for item in found.categories}
        return list(chosen.values())

    async def _merged(self, summaries: Sequence[str]) -> str:
        if len(summaries) == 1:
            return summaries[0]
        words = self._lengths.words
        prompt = merge_prompt(summaries, words, self._language)
        return await self._written(prompt, words, f"the merge of {len(summaries)} parts")

    async def _written(self, prompt: str, words: int, what: str) -> str:
        """Running text in the right language, up to its last complete sentence."""
        text = await self._text(prompt, words, what)
        if self._wrong(text) is None:
            return text
        assert self._language is not None
        text = await self._text(again_in(prompt, self._language), words, what)
        wrong = self._wrong(text)
        if wrong is not None:
            raise self._foreign(what, wrong)
        return text

    async def _text(self, prompt: str, words: int, what: str) -> str:
        self.calls += 1
        answer = await self._model.chat(SYSTEM, prompt, tokens=words * _TOKENS_PER_WORD)
        text = answer.text if answer.whole else to_last_sentence(answer.text)
        if not text:
            raise AnswerError(
                f"The chat model {self._model.name} wrote no complete sentence for {what}: "
                f"{answer.text[:80]!r}"
            )
        return text

    async def _object(
        self,
        prompt: str,
        schema: type[M],
        tokens: int,
        what: str,
        words: Callable[[M], str],
        problem: Callable[[M], str | None],
    ) -> M:
        """An object of a schema; one that cannot be used is asked for once more."""
        asked, complaint = prompt, ""
        for _ in range(2):
            self.calls += 1
            answer = await self._model.chat(
                SYSTEM, asked, tokens=tokens, schema=schema.model_json_schema()
            )
            try:
                found = parsed(answer.text, schema)
            except ValueError as error:
                complaint = str(error)
                asked = repair_prompt(prompt, answer.text, complaint)
                continue
            wrong = self._wrong(words(found))
            if wrong is not None and self._language is not None:
                complaint = f"it is written in {language_name(wrong)}"
                asked = again_in(prompt, self._language)
                continue
            complaint = problem(found) or ""
            if not complaint:
                return found
            asked = repair_prompt(prompt, answer.text, complaint)
        raise AnswerError(
            f"The chat model {self._model.name} gave no usable answer for {what}, asked twice: "
            f"{complaint}."
        )

    def _wrong(self, text: str) -> str | None:
        return wrong_language(text, self._language, self._detector, self._confidence)

    def _foreign(self, what: str, wrong: str) -> AnswerError:
        return AnswerError(
            f"The chat model {self._model.name} wrote {what} in {wrong} and not in "
            f"{self._language}, asked twice."
        )


def _untold(done: int, total: int) -> None:
    """Progress that nobody asked for."""
