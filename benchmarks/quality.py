"""What finds best: every ranking of a search beside the default, set by set and all in one.

    python -m benchmarks quality                            # the samples of docs/benchmarks.md
    python -m benchmarks quality --sets scifact merged --documents 500 --questions 50

One index a set, one search a question with the default preset and one each with the others and
without neighbours; all else is worked out again from the trace: the arms alone, joined by rank or
interleaved two to one, and the order with one of its signals left out. A ranking is of chunks, at
most as long as the pool, read as one of documents by the best chunk of each; the threshold plays
no part. ``merged`` is one archive of the documents of all sets. Vectors are kept in the cache of
the home folder.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchmarks.public_data import available, load_set
from emily.measure.scores import auc, mean, ndcg
from emily.measure.sets import QuestionSet, SetDocument, SetQuestion
from emily.measure.standing import signal
from emily.measure.throwaway import Throwaway, open_throwaway
from emily.measure.vector_cache import CachedEmbedder, VectorCache
from emily.models import UseEmbedder
from emily.retrieval.filters import Filters
from emily.retrieval.fusion import by_rank
from emily.retrieval.order import Order, Signals, load_order
from emily.settings import load_settings

__all__ = ["MERGED", "main", "merged", "samples"]

SAMPLES: dict[str, dict[str, int]] = {
    "gnomehelp-it2en": {},
    "squadx-mixed": {"questions": 320},
    "lohelp-x": {"questions": 160},
    "scifact": {"documents": 2500, "questions": 200},
    "tldr-it2en": {"documents": 3000, "questions": 200},
    "tldr-en2it": {"questions": 100},
    "kgrag-sec10q": {"questions": 100},
}
MERGED = "merged"
_MERGED_SHARE = 0.4  # of the questions of each set are asked of the merged archive as well

# In these a page stands in two languages, and answers in both.
_TWINS = {"lohelp-x": "lohelp", "tldr-it2en": "tldr", "tldr-en2it": "tldr"}

BESIDE = {
    "words": "BM25 alone",
    "words+": "BM25 with neighbours alone",
    "meaning": "embedder alone",
    "rrf": "joined by rank",
    "2:1": "interleaved 2 : 1",
    "archive": "preset `archive`",
    "vault": "preset `vault`",
    "default": "**default**",
}
WITHOUT = {
    "part": "best part",
    "sentence": "best sentence",
    "lexical": "BM25 of the chunk",
    "document": "BM25 of the document",
    "coverage": "coverage",
    "name": "name",
    "other_language": "weight of the other language",
    "lift": "the other language among the first three",
    "neighbours": "neighbours",
}

Ranking = list[int]
"""Ids of distinct documents, best first."""


@dataclass(slots=True)
class Found:
    """What came of a question in one ranking."""

    kind: str
    ndcg_10: float
    recall_20: float
    hit_3: float
    other_3: float | None


def main(arguments: list[str] | None = None) -> None:
    """Measure and print two Markdown tables for each set, and what tells absence."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks quality", description=__doc__)
    parser.add_argument("--sets", nargs="+", default=[*SAMPLES, MERGED], metavar="SET")
    parser.add_argument("--documents", type=int, help="most documents of a set")
    parser.add_argument("--questions", type=int, help="most questions of a set")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.sets) - set(available()) - {MERGED})
    if unknown:
        parser.error(f"there is no set {unknown[0]!r}; sets: {', '.join(available())}, {MERGED}")
    asyncio.run(_measure(options.sets, options.documents, options.questions))


def samples(name: str, documents: int | None = None, questions: int | None = None) -> QuestionSet:
    """A sample of a set as it is measured here, twins named.

    Args:
        name: of the set.
        documents: most documents; by default those of ``SAMPLES``.
        questions: most questions, likewise.
    """
    usual = SAMPLES.get(name, {})
    chosen = load_set(
        name,
        documents=documents or usual.get("documents"),
        questions=questions or usual.get("questions"),
    )
    return _with_twins(chosen) if name in _TWINS else chosen


def merged(sets: Iterable[QuestionSet], share: float = _MERGED_SHARE) -> QuestionSet:
    """One set of several, each document with the name of its set before its id.

    Args:
        sets: as ``samples`` gives them.
        share: of the questions of each, the first so many in the order of its file.
    """
    documents: dict[str, SetDocument] = {}
    questions = []
    for chosen in sets:
        family = _TWINS.get(chosen.name, chosen.name)
        for item in chosen.documents:
            documents.setdefault(f"{family}:{item.id}", replace(item, id=f"{family}:{item.id}"))
        step = max(1, round(1 / share))
        questions += [
            replace(
                item,
                slices={"kind": chosen.name},
                relevant={f"{family}:{name}": grade for name, grade in item.relevant.items()},
            )
            for item in chosen.questions[::step]
        ]
    whole = QuestionSet(MERGED, tuple(documents.values()), tuple(questions))
    return _with_twins(whole)


def _with_twins(chosen: QuestionSet) -> QuestionSet:
    """A page in the other language answers as well, where it is among the documents."""
    there = {item.id for item in chosen.documents}
    return replace(
        chosen,
        questions=tuple(
            replace(
                item,
                relevant={
                    name: 1
                    for known in item.relevant
                    for name in (known, _twin(known))
                    if name in there
                },
            )
            for item in chosen.questions
        ),
    )


def _twin(name: str) -> str:
    """The id of the same page in the other language; its own id for what has none."""
    family, colon, rest = name.rpartition(":")
    if colon and family not in _TWINS.values():
        return name
    other = {"it-": "en-", "en-": "it-"}.get(rest[:3])
    return f"{family}{colon}{other}{rest[3:]}" if other else name


async def _measure(names: Sequence[str], documents: int | None, questions: int | None) -> None:
    embedder = UseEmbedder()
    parts = list(SAMPLES) if MERGED in names else []
    for name in names:
        if name == MERGED:
            chosen = merged([samples(part, documents, questions) for part in parts])
        else:
            chosen = samples(name, documents, questions)
        owner = load_settings(database_url=None, index_for=("archive",))
        with VectorCache(owner.home / "cache", embedder.identity) as cache:
            async with open_throwaway(owner, CachedEmbedder(embedder, cache)) as bench:
                await bench.index(chosen.documents)
                found, absence = await _ask(bench, chosen.questions)
        print(f"\n### {name}\n")
        print(f"{len(chosen.documents)} documents, {len(chosen.questions)} questions.\n")
        _print_table(found, BESIDE, "ranking")
        print()
        _print_table(found, WITHOUT, "default without")
        kinds = sorted({item.kind for item in found["default"]} - {""})
        if len(kinds) > 1:
            print("\nDefault, by kind of question:\n")
            by_kind = {
                kind: [item for item in found["default"] if item.kind == kind] for kind in kinds
            }
            _print_table(by_kind, {kind: kind for kind in kinds}, "kind")
        print(f"\nPresent against absent, AUC of `present`: {absence:.3f}")


async def _ask(
    bench: Throwaway, questions: Sequence[SetQuestion]
) -> tuple[dict[str, list[Found]], float]:
    """What came of each question in each ranking, and how well absence is told."""
    default, alone = bench.retriever(), bench.retriever(neighbours=False)
    found: dict[str, list[Found]] = defaultdict(list)
    present, absent = [], []
    for number, question in enumerate(questions):
        answer = await default.search(question.text, threshold=0.0)
        trace = answer.trace
        plain = (await alone.search(question.text, threshold=0.0)).trace
        rankings = {
            "words": _arm(plain, "lexical_arm"),
            "words+": _arm(trace, "lexical_arm"),
            "meaning": _arm(trace, "vector_arm"),
            "rrf": _joined(plain, _by_rank),
            "2:1": _joined(plain, _two_to_one),
            "default": _documents(trace["second_stage"]["candidates"]),
            "neighbours": _documents(plain["second_stage"]["candidates"]),
            "lift": _reordered(trace, load_order()),
            **{name: _reordered(trace, _without(name)) for name in asdict(load_order())},
        }
        for preset in ("archive", "vault"):
            other = (await default.search(question.text, preset=preset, threshold=0.0)).trace
            rankings[preset] = _documents(other["second_stage"]["candidates"])
        own = {key for key, names in bench.names.items() if question.relevant.keys() & names}
        foreign = {
            item["document"]
            for item in trace["second_stage"]["candidates"]
            if item["language"] != trace["query"]["language"]
        }
        for name, ranking in rankings.items():
            found[name].append(_found(question, ranking, own, foreign))
        if number % 2:
            present.append(signal(answer))
        else:
            gone = await default.search(
                question.text, threshold=0.0, filters=Filters(without=frozenset(own))
            )
            absent.append(signal(gone))
    return found, auc(present, absent)


def _found(question: SetQuestion, ranking: Ranking, own: set[int], foreign: set[int]) -> Found:
    grades = [float(document in own) for document in ranking]
    languages = {name.rpartition(":")[2][:3] for name in question.relevant}
    both = languages == {"it-", "en-"}
    return Found(
        kind=question.slices.get("kind", ""),
        ndcg_10=ndcg(grades, [1.0] * len(own), 10),
        recall_20=sum(grades[:20]) / len(own) if own else 0.0,
        hit_3=float(any(grades[:3])),
        other_3=float(bool(set(ranking[:3]) & own & foreign)) if both else None,
    )


# Rankings that are worked out from a trace


def _documents(candidates: Iterable[Mapping[str, Any]]) -> Ranking:
    return list(dict.fromkeys(item["document"] for item in candidates))


def _arm(trace: Mapping[str, Any], name: str) -> Ranking:
    owners = {item["chunk"]: item["document"] for item in trace["fusion"]["candidates"]}
    chunks = [item["chunk"] for item in trace[name]["ranking"]]
    return list(dict.fromkeys(owners[chunk] for chunk in chunks if chunk in owners))


def _joined(trace: Mapping[str, Any], join: Any) -> Ranking:
    return _documents(join(trace["fusion"]["candidates"]))


def _by_rank(candidates: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return sorted(
        candidates,
        key=lambda item: (-by_rank(item["vector_rank"], item["lexical_rank"]), item["chunk"]),
    )


def _two_to_one(candidates: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Two places for meaning, then one for words; what stands already is passed over."""
    arms = [
        sorted(
            (item for item in candidates if item[rank] is not None),
            key=lambda item, rank=rank: item[rank],  # type: ignore[misc]
        )
        for rank in ("vector_rank", "lexical_rank")
    ]
    placed: dict[int, Mapping[str, Any]] = {}
    meaning, words = iter(arms[0]), iter(arms[1])
    while len(placed) < len(candidates):
        for arm in (meaning, meaning, words):
            following = next((item for item in arm if item["chunk"] not in placed), None)
            if following is not None:
                placed[following["chunk"]] = following
    return list(placed.values())


def _reordered(trace: Mapping[str, Any], order: Order) -> Ranking:
    """The pool by another order, and without lifting anything."""
    language = trace["query"]["language"]
    candidates = trace["second_stage"]["candidates"]
    scores = {}
    for item in candidates:
        document = item["document_lexical"]
        scores[item["chunk"]] = order.score(
            Signals(
                part=item["evidence"]["part"],
                sentence=item["evidence"]["sentence"],
                lexical=item["lexical"] or 0.0,
                document=(item["lexical"] or 0.0) if document is None else document,
                coverage=item["evidence"]["coverage"],
                name=item["name_similarity"],
                other_language=float(
                    None not in (language, item["language"]) and language != item["language"]
                ),
            )
        )
    return _documents(sorted(candidates, key=lambda item: (-scores[item["chunk"]], item["chunk"])))


def _without(name: str) -> Order:
    return replace(load_order(), **{name: 0.0})


def _print_table(
    found: Mapping[str, Sequence[Found]], labels: Mapping[str, str], heading: str
) -> None:
    others = any(item.other_3 is not None for items in found.values() for item in items)
    more = " other language in 3 |" if others else ""
    print(f"| {heading} | nDCG@10 | hit@3 | recall@20 |{more}")
    print("|---|--:|--:|--:|" + ("--:|" if others else ""))
    for name, label in labels.items():
        items = found[name]
        line = [
            mean([item.ndcg_10 for item in items]),
            mean([item.hit_3 for item in items]),
            mean([item.recall_20 for item in items]),
        ]
        if others:
            line.append(mean([item.other_3 for item in items if item.other_3 is not None]))
        print(f"| {label} | " + " | ".join(f"{value:.3f}" for value in line) + " |")
