"""How well categories are chosen by likeness: the fit, and what it is worth on other papers.

``python -m benchmarks categories``; takes about half a minute.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from benchmarks.category_papers import ARCHIVE, ARCHIVE_LIST, LIST, PAPERS, Listed
from emily.analysis.categories import Category
from emily.analysis.describing import DescribedDocument, described
from emily.analysis.extractive import extract
from emily.analysis.likeness import WEIGHTS, Likeness, probability_of
from emily.analysis.sentences import embedded_sentences
from emily.indexing.facts import document_facts
from emily.models import UseEmbedder
from emily.reading.pages import Facts

__all__ = ["main"]

Array = NDArray[np.float64]
BARS = (0.2, 0.3, 0.4, 0.5, 0.6)
_KINDS = {
    (False, False): "names",
    (True, False): "and descriptions",
    (False, True): "and an example each",
    (True, True): "and both",
}


@dataclass(frozen=True)
class Case:
    """A document's description, with the keys that it must have and those that it may have."""

    description: str
    must: frozenset[str]
    may: frozenset[str]


def describe(embedder: UseEmbedder, text: str, language: str, name: str, title: str | None) -> str:
    """The description that ``emily analyse`` gives a document of this text."""
    sentences = embedded_sentences(text, embedder)
    summary = extract(sentences, text, language=language, size=14_784, group_words=200, words=400)
    facts = document_facts(Facts(), text, language, name)
    document = DescribedDocument(
        name,
        name.rpartition(".")[2],
        title,
        text,
        language,
        None,
        facts.date,
        facts.correspondents,
    )
    return described(document, summary.sentences, sentences, embedder.count, 300)


def own_papers(embedder: UseEmbedder) -> list[Case]:
    """The papers that the weights are fitted to."""
    return [
        Case(describe(embedder, item.text, item.language, "a.txt", None), item.keys, frozenset())
        for item in PAPERS
    ]


def example_archive(embedder: UseEmbedder) -> list[Case]:
    """The documents of the example archive, which nothing is fitted to."""
    from examples.archive import source

    cases = []
    for item in source.load_all():
        must, _, may = ARCHIVE[item.file].partition("/")
        text = item.body.replace(source.PAGE_BREAK, "")
        description = describe(embedder, text, item.lang, item.file, item.title)
        cases.append(Case(description, frozenset(must.split()), frozenset(may.split())))
    return cases


def listed(items: Sequence[Listed], language: int, kind: tuple[bool, bool]) -> list[Category]:
    """A list of categories in a language, with or without descriptions and examples."""
    return [
        Category(
            place,
            item.names[language],
            item.descriptions[language] if kind[0] else "",
            (item.examples[language],) if kind[1] else (),
            0,
        )
        for place, item in enumerate(items)
    ]


def rows(
    embedder: UseEmbedder,
    cases: Sequence[Case],
    items: Sequence[Listed],
    kind: tuple[bool, bool],
) -> tuple[Array, Array]:
    """Signals, and probability, label and number of the case, of each pair that has a label."""
    signals, facts = [], []
    for language in (0, 1):
        likeness = Likeness(embedder, listed(items, language, kind))
        for number, case in enumerate(cases):
            for item, found in zip(items, likeness.signals(case.description), strict=True):
                if item.key in case.may:
                    continue
                signals.append([found.name, found.description, found.example])
                probability = probability_of(found, WEIGHTS[kind])
                facts.append([probability, float(item.key in case.must), number])
    return np.array(signals), np.array(facts)


def fit(signals: Array, labels: Array) -> Array:
    """Intercept and weights by Newton's method, with a ridge of 1 on the weights."""
    used = [0, *(place for place in (1, 2) if signals[:, place].any())]
    matrix = np.c_[np.ones(len(signals)), signals[:, used]]
    ridge = np.eye(matrix.shape[1])
    ridge[0, 0] = 0.0
    weights = np.zeros(matrix.shape[1])
    for _ in range(50):
        chance = 1.0 / (1.0 + np.exp(-matrix @ weights))
        slope = matrix.T @ (chance - labels) + ridge @ weights
        bend = (matrix * (chance * (1 - chance))[:, None]).T @ matrix + ridge
        weights = weights - np.linalg.solve(bend, slope)
    full = np.zeros(4)
    full[[0, *(place + 1 for place in used)]] = weights
    return full


def score(facts: Array, bar: float) -> tuple[float, float]:
    """Precision and recall at a bar."""
    chosen, right = facts[:, 0] >= bar, facts[:, 1] == 1.0
    both = float((chosen & right).sum())
    return both / max(1.0, float(chosen.sum())), both / float(right.sum())


def table(name: str, measured: Iterable[tuple[str, Array, int]]) -> None:
    """Print precision and recall at each bar, and how many of no category stay without."""
    print(f"\n{name}: precision / recall; of those that are of no category, how many have none")
    print("| categories have | " + " | ".join(f"{bar:.1f}" for bar in BARS) + " |")
    print("|---|" + "---|" * len(BARS))
    for kind, facts, without in measured:
        cells = []
        for bar in BARS:
            precision, recall = score(facts, bar)
            given = {int(number) for number in facts[facts[:, 0] >= bar, 2]}
            none = {int(n) for n in facts[:, 2]} - {int(n) for n in facts[facts[:, 1] == 1, 2]}
            cells.append(f"{precision:.2f} / {recall:.2f}; {len(none - given)} of {without}")
        print(f"| {kind} | " + " | ".join(cells) + " |")


def main(arguments: Sequence[str] = ()) -> None:
    """Fit, and print what the shipped weights are worth."""
    argparse.ArgumentParser("benchmarks categories", description=__doc__).parse_args(arguments)
    embedder = UseEmbedder(threads=2)
    own, archive = own_papers(embedder), example_archive(embedder)
    for kind, name in _KINDS.items():
        signals, facts = rows(embedder, own, LIST, kind)
        fitted = ", ".join(f"{value:.3f}" for value in fit(signals, facts[:, 1]))
        shipped = ", ".join(f"{value:.3f}" for value in WEIGHTS[kind])
        print(f"{name}: fitted {fitted}; shipped {shipped}")
    for title, cases, items in (
        ("Our own papers", own, LIST),
        ("The example archive", archive, ARCHIVE_LIST),
    ):
        without = sum(not case.must for case in cases)
        table(
            title,
            [
                (name, rows(embedder, cases, items, kind)[1], without)
                for kind, name in _KINDS.items()
            ],
        )


if __name__ == "__main__":
    main()
