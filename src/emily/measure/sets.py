"""Question sets in the common form: documents, questions, and which answers which.

A folder holds ``corpus.jsonl`` (one object a line: ``id``, ``text``, optionally ``title`` and
``lang``), ``queries.jsonl`` (``id``, ``text``, optionally ``lang``, ``kind``, ``split``,
``answers``) and ``qrels.tsv`` (question, document and grade, parted by tabs; a first line of
words is a heading). Other fields are left alone. A form feed in a text ends a page.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from emily.errors import InputError
from emily.measure.json_lines import json_object
from emily.measure.scores import SEED

__all__ = [
    "QuestionSet",
    "SetDocument",
    "SetQuestion",
    "load_set",
    "narrowed",
    "sampled",
    "untitled",
]

_SLICES = ("kind", "split")


@dataclass(frozen=True, slots=True)
class SetDocument:
    """A document of a set; ``title`` and ``lang`` are empty where it names none."""

    id: str
    title: str
    text: str
    lang: str = ""


@dataclass(frozen=True, slots=True)
class SetQuestion:
    """A question of a set.

    Attributes:
        id: its id in the set.
        text: the question.
        lang: its language, empty if not told.
        relevant: grade, above 0, of each document that answers it, by its id.
        slices: what else the set says of it, by field: ``kind``, ``split``.
        answers: strings of which one is to be read in a document that answers it.
    """

    id: str
    text: str
    lang: str
    relevant: Mapping[str, int]
    slices: Mapping[str, str] = field(default_factory=dict)
    answers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """A set, or a sample of one.

    Attributes:
        name: of its folder.
        documents: in the order of the corpus.
        questions: those that have a relevant document, in the order of the file.
        unjudged: how many questions were left out because they have none.
    """

    name: str
    documents: tuple[SetDocument, ...]
    questions: tuple[SetQuestion, ...]
    unjudged: int = 0


def load_set(folder: Path, qrels: Path | None = None) -> QuestionSet:
    """Read a folder in the common form.

    Args:
        folder: that holds the three files.
        qrels: another file of judgements; a bare name is looked for in the folder as well.

    Raises:
        InputError: a file is missing or holds something else; the message names the line.
    """
    if not folder.is_dir():
        raise InputError(
            f"There is no folder {folder}. A set is a folder with corpus.jsonl, queries.jsonl and "
            "qrels.tsv."
        )
    documents = tuple(_documents(folder / "corpus.jsonl"))
    if not documents:
        raise InputError(f"{folder / 'corpus.jsonl'} holds no document.")
    judged = folder / "qrels.tsv" if qrels is None else _judgements(folder, qrels)
    relevant = _relevant(judged, {item.id for item in documents})
    questions = tuple(_questions(folder / "queries.jsonl", relevant))
    asked = tuple(item for item in questions if item.relevant)
    if not asked:
        raise InputError(
            f"No question of {folder / 'queries.jsonl'} has a relevant document in {judged}."
        )
    return QuestionSet(folder.resolve().name, documents, asked, len(questions) - len(asked))


def narrowed(chosen: QuestionSet, only: Mapping[str, str]) -> QuestionSet:
    """The set with those of its questions whose fields have certain values.

    Raises:
        InputError: it has none of them; the message says which values there are.
    """
    for name, value in only.items():
        kept = tuple(item for item in chosen.questions if item.slices.get(name) == value)
        if not kept:
            known = sorted({item.slices[name] for item in chosen.questions if name in item.slices})
            raise InputError(
                f"No question of {chosen.name} has {name}={value}. "
                + (f"Values of '{name}': {', '.join(known)}" if known else "It has no such field.")
            )
        chosen = replace(chosen, questions=kept)
    return chosen


def untitled(chosen: QuestionSet) -> QuestionSet:
    """The set without the titles of its documents; all have the same name, which tells nothing.

    In some sets the questions are titles, of the same document or of its translation.
    """
    documents = tuple(replace(item, title="untitled") for item in chosen.documents)
    return replace(chosen, documents=documents)


def sampled(
    chosen: QuestionSet, *, documents: int | None = None, questions: int | None = None
) -> QuestionSet:
    """A sample that is the same at every run.

    Args:
        chosen: the set.
        documents: most documents; those that answer a question of the sample are always kept.
        questions: most questions.

    Raises:
        InputError: a number is below 1.
    """
    for name, value in (("--documents", documents), ("--sample", questions)):
        if value is not None and value < 1:
            raise InputError(f"{name} is {value}; it must be at least 1.")
    chance = random.Random(f"{SEED}/{chosen.name}")  # noqa: S311 - a sample, no secret
    asked = list(chosen.questions)
    if questions is not None and questions < len(asked):
        kept = frozenset(chance.sample(range(len(asked)), questions))
        asked = [item for place, item in enumerate(asked) if place in kept]
    corpus = list(chosen.documents)
    if documents is not None and documents < len(corpus):
        needed = frozenset(name for question in asked for name in question.relevant)
        others = [item.id for item in corpus if item.id not in needed]
        room = min(max(0, documents - len(needed)), len(others))
        wanted = needed | set(chance.sample(others, room))
        corpus = [item for item in corpus if item.id in wanted]
    return replace(chosen, documents=tuple(corpus), questions=tuple(asked))


def _judgements(folder: Path, qrels: Path) -> Path:
    inside = folder / qrels
    return inside if not qrels.is_absolute() and not qrels.exists() else qrels


def _documents(path: Path) -> Iterator[SetDocument]:
    seen: dict[str, int] = {}
    for number, item in _lines(path):
        identity = _text(item, "id", path, number)
        _once(identity, seen, path, number)
        yield SetDocument(
            identity,
            _text(item, "title", path, number, ""),
            _text(item, "text", path, number, blank=True),
            _text(item, "lang", path, number, ""),
        )


def _questions(path: Path, relevant: Mapping[str, Mapping[str, int]]) -> Iterator[SetQuestion]:
    seen: dict[str, int] = {}
    for number, item in _lines(path):
        identity = _text(item, "id", path, number)
        _once(identity, seen, path, number)
        answers = item.get("answers", [])
        if not isinstance(answers, list) or not all(isinstance(one, str) for one in answers):
            raise InputError(f"{path}, line {number}: 'answers' is no list of strings.")
        yield SetQuestion(
            identity,
            _text(item, "text", path, number),
            _text(item, "lang", path, number, ""),
            relevant.get(identity, {}),
            {name: str(item[name]) for name in _SLICES if item.get(name) not in (None, "")},
            tuple(one for one in answers if one.strip()),
        )
    unknown = sorted(relevant.keys() - seen.keys())
    if unknown:
        raise InputError(
            f"The judgements name {len(unknown)} questions that {path} does not hold, the first "
            f"is {unknown[0]!r}."
        )


def _relevant(path: Path, documents: set[str]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for number, line in enumerate(_read(path), start=1):
        fields = line.rstrip("\r").split("\t")
        if number == 1 and len(fields) == 3 and not _whole(fields[2]):
            continue  # a heading
        if not line.strip():
            continue
        if len(fields) != 3 or not _whole(fields[2]):
            raise InputError(
                f"{path}, line {number}: {line[:80]!r} is not a question, a document and a whole "
                "number, parted by tabs."
            )
        question, document, grade = fields
        if document not in documents:
            raise InputError(
                f"{path}, line {number}: there is no document {document!r} in the corpus."
            )
        if document in found.setdefault(question, {}):
            raise InputError(
                f"{path}, line {number}: {question!r} and {document!r} are judged twice."
            )
        found[question][document] = int(grade)
    return {
        question: {document: grade for document, grade in grades.items() if grade > 0}
        for question, grades in found.items()
    }


def _whole(text: str) -> bool:
    return text.strip().removeprefix("-").isdecimal()


def _once(identity: str, seen: dict[str, int], path: Path, number: int) -> None:
    if identity in seen:
        raise InputError(
            f"{path}, line {number}: the id {identity!r} stands in line {seen[identity]} already."
        )
    seen[identity] = number


def _text(
    item: Mapping[str, Any],
    name: str,
    path: Path,
    number: int,
    default: str | None = None,
    *,
    blank: bool = False,
) -> str:
    value = item.get(name, default)
    if value is None and default is not None:
        return default
    if value is None:
        raise InputError(f"{path}, line {number} lacks the field '{name}'.")
    if not isinstance(value, str):
        raise InputError(f"{path}, line {number}: '{name}' is {value!r}; it must be a string.")
    if default is None and not blank and not value.strip():
        raise InputError(f"{path}, line {number}: '{name}' is empty.")
    return value


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(_read(path), start=1):
        if not line.strip():
            continue
        yield number, json_object(line, path, number)


def _read(path: Path) -> list[str]:
    try:
        # Not splitlines: a text may hold form feeds and other ends of line of Unicode.
        return path.read_text(encoding="utf-8-sig").split("\n")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path} is not UTF-8: {error}.") from None
