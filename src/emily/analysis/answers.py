"""What a chat model's answer is worth: whole sentences, the right language, JSON of a schema."""

from __future__ import annotations

import re
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from emily.indexing.language import LanguageDetector

__all__ = ["parsed", "to_last_sentence", "wrong_language"]

M = TypeVar("M", bound=BaseModel)

_BLOCK = re.compile(r"```[A-Za-z]*[ \t]*\n(.*?)\n?[ \t]*```", re.DOTALL)
_STOP = re.compile(r"[.!?…。！？][\"'”’»)\]]*(?=\s|\Z)")
_ABBREVIATED = re.compile(
    r"(?<![^\W\d_])(?:[^\W\d_]|nr?|art|pag|sig|dott|ecc|dr|mr|ms|mrs|no)\.\Z", re.I
)
_LEAST_LETTERS = 40  # a shorter text tells no language


def to_last_sentence(text: str) -> str:
    """A text that was cut off, up to the end of its last complete sentence.

    A full stop between digits ends none, nor does one behind digits where the text breaks off
    (``12.`` may have become ``12.50``), nor one behind an abbreviation or an initial.

    Returns:
        empty where no sentence is complete.
    """
    best = 0
    for match in _STOP.finditer(text):
        before = text[: match.end()]
        sign = text[match.start()]
        broken_number = (
            sign == "."
            and match.end() == len(text)
            and match.start() > 0
            and text[match.start() - 1].isdigit()
        )
        if broken_number or (sign == "." and _ABBREVIATED.search(before)):
            continue
        best = match.end()
    return text[:best].strip()


def parsed(text: str, model: type[M]) -> M:
    """An answer as the object that was asked for: JSON, bare or in a block of code.

    Args:
        text: the answer.
        model: its schema.

    Raises:
        ValueError: it is no JSON, or not of this schema; the message says what is wrong.
    """
    block = _BLOCK.search(text)
    body = (block[1] if block else text).strip()
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the whole answer"
        raise ValueError(f"{where}: {first['msg']}") from None


def wrong_language(
    text: str, language: str | None, detector: LanguageDetector, confidence: float
) -> str | None:
    """The language that a text is in, where it is another than it ought to be.

    Args:
        text: what a model wrote.
        language: that it ought to be in; ``None``, or one that is not indexed, asks nothing.
        detector: of the indexed languages.
        confidence: below this probability nothing is said.
    """
    letters = sum(sign.isalpha() for sign in text)
    if language is None or language not in detector.languages or letters < _LEAST_LETTERS:
        return None
    code, probability = detector.detect(text)
    return code if code not in (None, language) and probability >= confidence else None
