"""The questions that are asked of the example archive, as typed records."""

from __future__ import annotations

from pathlib import Path

from emily.measure.questions import Question as Answerable
from emily.measure.questions import Unanswerable, load_questions

__all__ = ["QUESTIONS", "Answerable", "Unanswerable", "load"]

QUESTIONS = Path(__file__).parent / "questions.toml"


def load(path: Path = QUESTIONS) -> tuple[list[Answerable], list[Unanswerable]]:
    """Read the questions: those with an answer, and those without.

    Raises:
        InputError: an entry lacks a field or has one that is not known.
    """
    return load_questions(path)
