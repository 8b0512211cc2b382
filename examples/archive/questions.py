"""The questions that are asked of the example archive, as typed records."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

__all__ = ["QUESTIONS", "Answerable", "Unanswerable", "load"]

QUESTIONS = Path(__file__).parent / "questions.toml"


@dataclass(frozen=True, slots=True)
class Answerable:
    """A question that exactly one document answers.

    Attributes:
        id: ``a01`` and so on.
        lang: language of the question, ``it`` or ``en``.
        text: the question.
        document: name of the file in ``files/`` that answers it.
        document_lang: language of the part of the document that answers.
        quote: words that stand on one line of the document and hold the answer.
        cross: whether the two languages differ.
    """

    id: str
    lang: str
    text: str
    document: str
    document_lang: str
    quote: str
    cross: bool


@dataclass(frozen=True, slots=True)
class Unanswerable:
    """A question that no document answers.

    Attributes:
        id: ``u01`` and so on.
        lang: language of the question.
        text: the question.
        kind: a near miss fits a document in all but the thing that is asked.
        near: the file that a near miss nearly fits; empty when off topic.
    """

    id: str
    lang: str
    text: str
    kind: Literal["near-miss", "off-topic"]
    near: str = ""


def load(path: Path = QUESTIONS) -> tuple[list[Answerable], list[Unanswerable]]:
    """Read the questions: those with an answer, and those without.

    Raises:
        TypeError: an entry lacks a field or has one that is not known.
    """
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    return (
        [Answerable(**entry) for entry in data["answerable"]],
        [Unanswerable(**entry) for entry in data["unanswerable"]],
    )
