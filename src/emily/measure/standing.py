"""Where documents stand after each stage of a search, read off the answer and its trace."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from emily.retrieval.answer import Answer

__all__ = [
    "NOTHING_CUT",
    "STAGES",
    "Continuations",
    "Standing",
    "continuations",
    "missing_parts",
    "rank_of",
    "shows",
    "signal",
]

STAGES = ("pool", "second_stage", "threshold")
"""The stages behind the arms that leave a ranking of chunks, in order."""

_ENDS_A_SENTENCE = re.compile(r"""[.!?…。！？؟।][)\]}"'»”’*_]*$""")
_ITEM = re.compile(r"(?:[-*+•–·]|\(?\w{1,3}[.)]|\|)\s*\S")


@dataclass(frozen=True, slots=True)
class Standing:
    """The rankings of one search.

    Attributes:
        arms: names of the arms that ran, as the trace names them.
        chunks: for each arm and each of ``STAGES`` the ranking of its chunks.
        documents: the same as distinct documents, each in the place of its best chunk.
        chosen: the chunks that were chosen to be shown.
        owner: id of the document of each chunk.
        shown: ids of the documents that the reader gets, best first.
    """

    arms: tuple[str, ...]
    chunks: Mapping[str, Sequence[int]]
    documents: Mapping[str, Sequence[int]]
    chosen: Sequence[int]
    owner: Mapping[int, int]
    shown: Sequence[int]

    @classmethod
    def of(cls, answer: Answer) -> Standing:
        """Read an answer."""
        trace = answer.trace
        owner = {
            record["chunk"]: record["document"]
            for stage in ("fusion", "second_stage")
            for record in _records(trace, stage)
            if "document" in record
        }
        arms = tuple(name for name in trace if name.endswith("_arm"))
        chunks: dict[str, Sequence[int]] = {
            name: [item["chunk"] for item in trace[name].get("ranking", [])] for name in arms
        }
        chunks["pool"] = trace.get("fusion", {}).get("pool", [])
        chunks["second_stage"] = [item["chunk"] for item in _records(trace, "second_stage")]
        chunks["threshold"] = trace.get("threshold", {}).get("passed", [])
        documents = {
            # A chunk without an owner went with its document while the search ran.
            name: list(dict.fromkeys(owner[chunk] for chunk in ranking if chunk in owner))
            for name, ranking in chunks.items()
        }
        return cls(
            arms,
            chunks,
            documents,
            trace.get("selection", {}).get("chosen", []),
            owner,
            list(dict.fromkeys(result.document.id for result in answer.results)),
        )

    @property
    def empty_arms(self) -> tuple[str, ...]:
        """The arms that brought nothing."""
        return tuple(name for name in self.arms if not self.chunks[name])

    def place(self, stage: str, wanted: Collection[int]) -> int | None:
        """Rank of the first of some documents among the distinct documents of a stage."""
        return rank_of(self.documents[stage], wanted)

    def place_of_chunk(self, stage: str, wanted: Collection[int]) -> int | None:
        """Rank of the first chunk of some documents among the chunks of a stage."""
        owners = [self.owner.get(chunk) for chunk in self.chunks[stage]]
        return rank_of(owners, wanted)


def rank_of(ranking: Sequence[int | None], wanted: Collection[int]) -> int | None:
    """Rank, from 1, of the first that is wanted."""
    return next((rank for rank, item in enumerate(ranking, start=1) if item in wanted), None)


def signal(answer: Answer) -> float:
    """What tells a question with an answer from one without.

    The probability that the archive holds an answer, where the search gives one; else the best
    probability of a passage, or 0.

    A preset without probabilities reports the share of the question's words that the best
    passage covers, and its similarity: there it is the mean of the two.
    """
    if answer.present is not None:
        return answer.present
    found = [record["probability"] for record in _records(answer.trace, "second_stage")]
    known = [value for value in found if value is not None]
    signals = answer.trace.get("second_stage", {}).get("signals")
    if not known and signals:
        return float(signals["coverage"] + signals["similarity"]) / 2
    return max(known, default=0.0)


def missing_parts(answer: Answer) -> tuple[str, ...]:
    """The parts that took no part in a search, because they were down."""
    trace = answer.trace
    down = []
    if "down" in trace.get("embed", {}):
        down.append("embedder")
    if any("the lexical arm is down" in notice for notice in answer.notices):
        down.append("lexical arm")
    if trace.get("reranking", {}).keys() & {"down", "skipped_because"}:
        down.append("reranker")
    return tuple(down)


def shows(answer: Answer, quotes: Collection[str], documents: Collection[int]) -> bool:
    """Whether a passage of one of the documents holds one of the quotes.

    White space is collapsed, case is not.
    """
    wanted = [" ".join(quote.split()) for quote in quotes]
    return any(
        quote in text
        for result in answer.results
        if result.document.id in documents
        for text in (" ".join(passage.text.split()) for passage in result.passages)
        for quote in wanted
    )


@dataclass(frozen=True, slots=True)
class Continuations:
    """How texts that were cut go on.

    Attributes:
        chunks: chosen chunks that end before their continuation.
        reached: how many of those continuations the reader gets.
        passages: passages that end before their continuation, which the reader does not get.
    """

    chunks: int
    reached: int
    passages: int


NOTHING_CUT = Continuations(0, 0, 0)


def continuations(answer: Answer, follows: Sequence[str]) -> Continuations:
    """Count what was cut, and what widening brought back.

    A text is cut before its continuation where its document goes on and it ends in the middle
    of a sentence, with the colon of a list to come, or inside of a list or table.

    Args:
        answer: of a search.
        follows: the beginning of the text behind each passage, in order; empty where the
            document ends.
    """
    records = {record["chunk"]: record for record in _records(answer.trace, "second_stage")}
    chosen = [
        records[chunk]
        for chunk in answer.trace.get("selection", {}).get("chosen", [])
        if "start" in records.get(chunk, {})
    ]
    chunks = reached = passages = place = 0
    for result in answer.results:
        for passage in result.passages:
            behind = follows[place]
            place += 1
            passages += is_cut(passage.text, behind)
            for record in chosen:
                if record["document"] != result.document.id:
                    continue
                if not passage.start <= record["start"] < record["end"] <= passage.end:
                    continue
                end = record["end"] - passage.start
                rest = passage.text[end:]
                own = passage.text[record["start"] - passage.start : end]
                if is_cut(own, rest + behind):
                    chunks += 1
                    reached += bool(rest.strip())
    return Continuations(chunks, reached, passages)


def is_cut(text: str, behind: str) -> bool:
    """Whether a text stops before its continuation, given what stands behind it."""
    own, after = text.rstrip(), behind.lstrip()
    if not own or not after:
        return False
    if own.endswith(":"):
        return True
    last = own.rsplit("\n", 1)[-1].strip()
    first = after.split("\n", 1)[0].strip()
    if _ITEM.match(last) and _ITEM.match(first):
        return True
    if _ENDS_A_SENTENCE.search(own):
        return False
    # A heading or a line of verse ends without a stop; a wrapped line goes on in lower case.
    same_line = "\n" not in text[len(own) :] + behind[: -len(after)]
    return same_line or first[:1].islower()


def _records(trace: Mapping[str, Any], stage: str) -> Sequence[Mapping[str, Any]]:
    records: Sequence[Mapping[str, Any]] = trace.get(stage, {}).get("candidates", [])
    return records
