"""Public question sets: documents, questions, and which document answers which question.

They lie in the folder ``retrieval`` of ``EMILY_BENCH_DATA``, one folder a set, and are no part
of the project. A set is ``corpus.jsonl`` (id, title, text), ``queries.jsonl`` (id, text, lang)
and ``qrels.tsv`` (question, document, relevance).
"""

from __future__ import annotations

import json
import os
import random
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["PublicDocument", "PublicQuestion", "PublicSet", "available", "data_folder", "load_set"]

SEED = 20_240


@dataclass(frozen=True, slots=True)
class PublicDocument:
    """A document of a set."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class PublicQuestion:
    """A question of a set.

    Attributes:
        id: its id in the set.
        text: the question.
        kind: a slice that its set names, such as ``it2en``, or ``""``.
        relevant: ids of the documents that answer it.
    """

    id: str
    text: str
    kind: str
    relevant: frozenset[str]


@dataclass(frozen=True, slots=True)
class PublicSet:
    """A sample of a set: every document that answers one of its questions is in it."""

    name: str
    documents: tuple[PublicDocument, ...]
    questions: tuple[PublicQuestion, ...]


def data_folder() -> Path:
    """The folder of the sets.

    Raises:
        SystemExit: it is not there.
    """
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("EMILY_BENCH_DATA", root.parent / "shared" / "data")) / "retrieval"
    if not folder.is_dir():
        raise SystemExit(
            f"The public sets are not in {folder}. Set EMILY_BENCH_DATA to the folder that holds "
            "their folder 'retrieval'."
        )
    return folder


def available() -> tuple[str, ...]:
    """Names of the sets that are there."""
    return tuple(sorted(path.parent.name for path in data_folder().glob("*/corpus.jsonl")))


def load_set(name: str, *, documents: int | None = None, questions: int | None = None) -> PublicSet:
    """Load a set, or a sample of it that is the same at every run.

    Args:
        name: of its folder.
        documents: most documents; those that answer a chosen question are always kept.
        questions: most questions.

    Raises:
        SystemExit: there is no such set.
    """
    folder = data_folder() / name
    if not folder.is_dir():
        raise SystemExit(f"There is no set '{name}'. Sets: {', '.join(available())}")
    chance = random.Random(f"{SEED}/{name}")
    relevant: dict[str, set[str]] = defaultdict(set)
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        question, document, grade = line.split("\t")
        if int(grade) > 0:
            relevant[question].add(document)
    asked = [
        PublicQuestion(
            item["id"], item["text"], item.get("kind", ""), frozenset(relevant[item["id"]])
        )
        for item in _lines(folder / "queries.jsonl")
        # Where a set has a development part, that one is used.
        if item.get("split", "dev") == "dev" and relevant[item["id"]]
    ]
    if questions is not None and questions < len(asked):
        asked = sorted(chance.sample(asked, questions), key=lambda item: item.id)
    corpus = [
        PublicDocument(item["id"], item.get("title", ""), item["text"])
        for item in _lines(folder / "corpus.jsonl")
    ]
    if documents is not None and documents < len(corpus):
        needed = frozenset().union(*(question.relevant for question in asked))
        others = [item.id for item in corpus if item.id not in needed]
        room = max(0, documents - len(needed))
        kept = needed | set(chance.sample(others, min(room, len(others))))
        corpus = [item for item in corpus if item.id in kept]
    return PublicSet(name, tuple(corpus), tuple(asked))


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)
