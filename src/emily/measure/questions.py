"""Questions with known answers, which an archive is measured by.

They are kept as TOML, so that the owner can write some about the own archive::

    [[answerable]]
    id = "a01"
    text = "Who noticed that the cleaners were paid twice?"
    document = "minutes-2024.docx"
    quote = "Ms Lanfranchini"        # optional
    lang = "en"                      # optional, as is document_lang

    [[unanswerable]]
    id = "u01"
    text = "When is the lift replaced?"
    kind = "near-miss"               # or "off-topic"

or as JSONL, one question a line with the same fields; one that names no document is taken for
unanswerable.
"""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

from emily.errors import InputError
from emily.measure.json_lines import json_object
from emily.measure.scores import SEED

__all__ = ["AbsenceKind", "Question", "Unanswerable", "load_questions", "sampled_questions"]

AbsenceKind = Literal["near-miss", "off-topic"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question that one document answers.

    Attributes:
        id: unique among the questions.
        text: the question.
        document: name, id or path of the document that answers it.
        quote: words of that document that hold the answer; empty if none are given.
        lang: language of the question, empty if not known.
        document_lang: language of the part of the document that answers.
        cross: whether the two languages differ.
    """

    id: str
    text: str
    document: str
    quote: str = ""
    lang: str = ""
    document_lang: str = ""
    cross: bool = False

    @property
    def pair(self) -> str:
        """Language of the question and of the answer, such as ``it→en``."""
        return f"{self.lang or '?'}→{self.document_lang or '?'}"


@dataclass(frozen=True, slots=True)
class Unanswerable:
    """A question that no document answers.

    Attributes:
        id: unique among the questions.
        text: the question.
        kind: a near miss fits a document in all but the thing that is asked; what is off topic
            has nothing to do with the archive.
        lang: language of the question, empty if not known.
        near: name of the document that a near miss nearly fits.
    """

    id: str
    text: str
    kind: AbsenceKind
    lang: str = ""
    near: str = ""


_Entry = TypeVar("_Entry", Question, Unanswerable)


def load_questions(path: Path) -> tuple[list[Question], list[Unanswerable]]:
    """Read a file of questions: those with an answer, and those without.

    Args:
        path: of the file; one that ends in ``.jsonl`` is read as JSONL, any other as TOML.

    Raises:
        InputError: the file cannot be read, is neither, or an entry is not as described here.
    """
    try:
        # Some editors begin a file with a mark of its encoding.
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"The questions {path} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise InputError(f"The questions {path} are not UTF-8: {error}") from error
    data = _from_lines(text, path) if path.suffix == ".jsonl" else _from_toml(text, path)
    answerable = [_entry(Question, item, path) for item in _entries(data, "answerable", path)]
    unanswerable = [
        _entry(Unanswerable, item, path) for item in _entries(data, "unanswerable", path)
    ]
    seen = Counter([*(item.id for item in answerable), *(item.id for item in unanswerable)])
    twice = [name for name, count in seen.items() if count > 1]
    if twice:
        raise InputError(f"{path} has {seen[twice[0]]} questions with the id '{twice[0]}'.")
    return answerable, unanswerable


def sampled_questions(
    answerable: Sequence[Question], unanswerable: Sequence[Unanswerable], most: int
) -> tuple[list[Question], list[Unanswerable]]:
    """At most so many of the questions, with and without an answer in proportion.

    Drawn with a fixed seed, in the order of the file.

    Raises:
        InputError: ``most`` is below 1.
    """
    if most < 1:
        raise InputError(f"--sample is {most}; it must be at least 1.")
    total = len(answerable) + len(unanswerable)
    if most >= total:
        return list(answerable), list(unanswerable)
    chance = random.Random(SEED)  # noqa: S311 - a sample, no secret
    kept = frozenset(chance.sample(range(total), most))
    return (
        [item for place, item in enumerate(answerable) if place in kept],
        [item for place, item in enumerate(unanswerable, len(answerable)) if place in kept],
    )


def _from_toml(text: str, path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(text)
    except ValueError as error:
        raise InputError(f"The questions {path} are not TOML: {error}") from error
    except RecursionError:
        raise InputError(f"The questions {path} are nested too deeply.") from None
    unknown = sorted(data.keys() - {"answerable", "unanswerable"})
    if unknown:
        raise InputError(
            f"{path} has a table '{unknown[0]}'; known are [[answerable]] and [[unanswerable]]."
        )
    return data


def _from_lines(text: str, path: Path) -> dict[str, Any]:
    data: dict[str, Any] = {"answerable": [], "unanswerable": []}
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        item = json_object(line, path, number)
        data["answerable" if "document" in item else "unanswerable"].append(item)
    return data


def _entries(data: Mapping[str, Any], name: str, path: Path) -> list[dict[str, Any]]:
    found = data.get(name, [])
    if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
        raise InputError(f"'{name}' in {path} is no list of tables; write [[{name}]].")
    return found


def _entry(kind: type[_Entry], item: dict[str, Any], path: Path) -> _Entry:
    """One question, its fields checked by name and type."""
    label = f"Question '{item.get('id', '?')}' in {path}"
    known = {field.name: field for field in fields(kind)}
    for name in item.keys() - known.keys():
        raise InputError(f"{label} has a field '{name}'; known are {', '.join(known)}.")
    for name, field in known.items():
        if name not in item:
            if field.default is MISSING:
                raise InputError(f"{label} lacks the field '{name}'.")
            continue
        wanted = bool if name == "cross" else str
        if type(item[name]) is not wanted:
            raise InputError(
                f"{label}: '{name}' is {item[name]!r}; it must be a "
                f"{'boolean' if wanted is bool else 'string'}."
            )
        if field.default is MISSING and not item[name].strip():
            raise InputError(f"{label}: '{name}' is empty.")
    if kind is Unanswerable and item["kind"] not in get_args(AbsenceKind):
        raise InputError(
            f"{label}: 'kind' is '{item['kind']}'; it must be {' or '.join(get_args(AbsenceKind))}."
        )
    return kind(**item)
