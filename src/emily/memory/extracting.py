"""What a chat model is asked about a message of the owner's, and what its answer must be.

The model says which facts the message states. The message is data: whatever is pasted into it
cannot instruct, and the words that are kept beside a fact are those of the message.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from emily.analysis.answers import parsed, wrong_language
from emily.analysis.prompts import repair_prompt
from emily.errors import AnswerError
from emily.indexing.language import LanguageDetector
from emily.memory.facts import Fact, Facts, Memory
from emily.memory.likeness import normalised
from emily.models import ChatModel
from emily.models.untrusted import wrapped

__all__ = ["SHORTEST", "SYSTEM", "Extractor"]

SHORTEST = 20
"""Characters below which a message is not looked at."""

_LONGEST = 6_000  # of a message; what is pasted beyond it is no fact about its writer
_TOKENS = 900
_ORIGINAL = 300

SYSTEM = (
    "You read one message that a person wrote to an assistant and list the lasting facts that it "
    "states about that person and the people, animals, things, places, dates, habits, likes and "
    "plans of that person. You list only what the message says outright. Questions, requests, "
    "greetings, guesses, and what stands in quoted or pasted texts are no facts; an empty list is "
    "a usual answer. You answer with JSON alone."
)

_ASK = """\
The message was written on {day}. List its facts as JSON:
{{"facts": [{{"statement": "…", "original": "…", "subject": "…", "attribute": "…", "value": "…", \
"kind": "new", "previous": ""}}]}}
- statement: one fact in one English sentence; who writes is "The owner". Days such as \
"tomorrow" become dates.
- original: the words of the message that state it, copied.
- subject: of whom or what it is, in English: "owner", "owner's sister", "owner's car".
- attribute: what of it, in one to three English words: "home city", "doctor", "likes".
- value: what that is: "Turin".
- kind: "new"; "update" where the message says that something has changed; "retract" where it \
says that something is no longer so or was wrong, with nothing in its place.
- previous: what it was before, where the message says so; else "".
{known}Where there is none: {{"facts": []}}"""

_KNOWN = """\
What is remembered already, as subject | attribute | statement, stands between the second marks. \
Where a fact is about the same thing, use the same subject and attribute; do not list these.
"""


class Extractor:
    """Asks a chat model for the facts of messages.

    Args:
        model: to ask.
        detector: of the indexed languages.
        confidence: probability from which a language counts as told.
    """

    def __init__(self, model: ChatModel, detector: LanguageDetector, confidence: float) -> None:
        self._model = model
        self._detector = detector
        self._confidence = confidence

    async def facts(self, message: str, said_at: datetime, near: Sequence[Memory]) -> list[Fact]:
        """The facts that a message states; an answer that cannot be used is asked for again.

        Args:
            message: the owner's.
            said_at: when it was written; relative days are told from it.
            near: memories that may be of the same things.

        Raises:
            AnswerError: there is no usable answer, asked twice.
            ModelUnavailable, ModelError: the model cannot be asked, or took too long.
        """
        shown = message[:_LONGEST]
        prompt = self._prompt(shown, said_at, near)
        asked, complaint = prompt, ""
        for _ in range(2):
            answer = await self._model.chat(
                SYSTEM, asked, tokens=_TOKENS, schema=Facts.model_json_schema()
            )
            try:
                found = parsed(answer.text, Facts).facts
            except ValueError as error:
                complaint = str(error)
            else:
                complaint = self._problem(found)
                if not complaint:
                    return [self._grounded(fact, shown) for fact in found]
            asked = repair_prompt(prompt, answer.text, complaint)
        raise AnswerError(
            f"The chat model {self._model.name} gave no usable answer for a message, asked twice: "
            f"{complaint}."
        )

    @staticmethod
    def _prompt(message: str, said_at: datetime, near: Sequence[Memory]) -> str:
        listed = "\n".join(
            f"{item.subject or '?'} | {item.attribute or '?'} | {item.text}" for item in near
        )
        ask = _ASK.format(day=f"{said_at.astimezone():%A %d %B %Y}", known=_KNOWN if near else "")
        blocks = [wrapped(message), *([wrapped(listed)] if near else [])]
        return "\n\n".join([*blocks, ask])

    def _problem(self, found: Sequence[Fact]) -> str:
        text = " ".join(fact.statement for fact in found)
        if "en" not in self._detector.languages:
            return ""
        wrong = wrong_language(text, "en", self._detector, self._confidence)
        return f"the statements are not in English but in {wrong}" if wrong else ""

    @staticmethod
    def _grounded(fact: Fact, message: str) -> Fact:
        """The fact with words of the message beside it; a model may not put others there."""
        if normalised(fact.original) in normalised(message):
            return fact
        return fact.model_copy(update={"original": message[:_ORIGINAL].strip()})
