"""Recall against tokens: how many documents, and how many tokens, an answer needs.

    python -m benchmarks vault_budget [--set squadx-mixed] [--questions 200] [--preset vault]

The documents of a set, or the example archive's files with its own questions (which say it in other
words), are written as notes, added as a vault, and asked with several limits of documents and
tokens. Counted is in how many answers the document stands that answers; where its answer is known
word for word, also in how many those words stand.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.public_data import data_folder
from emily.brain import Brain
from emily.measure.sets import load_set, sampled, untitled
from emily.models import UseEmbedder
from emily.settings import load_settings
from emily.store import EmbeddedServer

LIMITS = (
    (1, 150),
    (3, 150),
    (3, 250),
    (3, 400),
    (5, 500),
    (8, 500),
    (8, 750),
    (8, 1000),
    (8, 2000),
)
"""Most documents, and most tokens of all passages together."""


@dataclass(frozen=True)
class Asked:
    """A question, the names of the notes that answer it, and the answer in words."""

    text: str
    notes: frozenset[str]
    answers: tuple[str, ...]


def of_set(folder: Path, target: Path, questions: int) -> list[Asked]:
    """Write the documents of a public set as notes; its questions."""
    chosen = sampled(untitled(load_set(folder)), documents=None, questions=questions)
    names = {}
    for number, document in enumerate(chosen.documents):
        names[document.id] = f"note {number:05}.md"
        (target / names[document.id]).write_text(document.text, encoding="utf-8")
    return [
        Asked(
            question.text,
            frozenset(names[key] for key in question.relevant if key in names),
            tuple(question.answers),
        )
        for question in chosen.questions
        if question.relevant
    ]


def of_example(target: Path) -> list[Asked]:
    """Write the example archive's texts as notes; its questions with an answer."""
    from examples.archive.questions import load
    from examples.demo import FILES

    for path in sorted(FILES.rglob("*")):
        if path.suffix in {".md", ".txt", ".eml", ".csv"}:
            name = f"{path.name}.md"
            text = path.read_text(encoding="utf-8", errors="replace")
            (target / name).write_text(text, encoding="utf-8")
    there = {path.name for path in target.iterdir()}
    answerable, _ = load()
    return [
        Asked(item.text, frozenset({f"{Path(item.document).name}.md"}), (item.quote,))
        for item in answerable
        if f"{Path(item.document).name}.md" in there
    ]


def holds(text: str, answers: tuple[str, ...]) -> bool | None:
    """Whether one of the answers stands in a text; ``None`` where none is known."""
    known = [" ".join(answer.split()).casefold() for answer in answers if answer.strip()]
    if not known:
        return None
    folded = " ".join(re.sub(r"[*_`]", "", text).split()).casefold()
    return any(answer in folded for answer in known)


async def run(asked: list[Asked], folder: Path, home: Path, preset: str) -> list[dict[str, Any]]:
    """Ask every question with every limit."""
    embedder = UseEmbedder(threads=2)
    rows = []
    async with Brain.open(load_settings(home, threads=2), embedder=embedder) as brain:
        await brain.vaults.add(folder, name="notes")
        for documents, budget in LIMITS:
            found, words, tokens = [], [], []
            for question in asked:
                answer = await brain._retriever.search(
                    question.text, preset=preset, budget=budget, operators=False
                )
                shown = answer.results[:documents]
                texts = [passage.text for result in shown for passage in result.passages]
                found.append(bool({result.document.name for result in shown} & question.notes))
                words.append(holds("\n".join(texts), question.answers))
                tokens.append(sum(embedder.count(text) for text in texts))
            known = [item for item in words if item is not None]
            rows.append(
                {
                    "documents": documents,
                    "budget": budget,
                    "tokens": round(statistics.mean(tokens)),
                    "recall": round(sum(found) / len(found), 3),
                    "answer shown": round(sum(known) / len(known), 3) if known else None,
                }
            )
            print(json.dumps(rows[-1]), flush=True)
    return rows


def main(arguments: list[str]) -> None:
    """Print the curve as a Markdown table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks vault_budget")
    parser.add_argument("--set", help="a public set; without it the example archive's questions")
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--preset", default="vault")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="emily-budget-") as place:
        folder, home = Path(place, "notes"), Path(place, "home")
        folder.mkdir()
        asked = (
            of_set(data_folder() / given.set, folder, given.questions)
            if given.set
            else of_example(folder)
        )
        try:
            rows = asyncio.run(run(asked, folder, home, given.preset))
        finally:
            EmbeddedServer(home).stop()
    print(f"\n{len(asked)} questions, {len(rows)} limits\n")
    print("| documents | budget | tokens shown | recall | answer shown |\n|--:|--:|--:|--:|--:|")
    for row in rows:
        print("| " + " | ".join(str(value) for value in row.values()) + " |")
