"""BM25 over documents or passages, for the folder as well as for the database.

Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
inverse frequency that is never negative, as in ``retrieval.bm25``:

    score = Σ ln(1 + (N − n + ½) / (n + ½)) · f · (k1 + 1) / (f + k1 · (1 − b + b · length / mean))

where N texts are searched, n of them hold the term, f is how often this one does, and length and
mean are in terms. Standard library only.
"""

from __future__ import annotations

from collections.abc import Collection as Pairs
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from emily.retrieval.bm25 import K1, B, inverse_frequency

__all__ = ["K1", "B", "Collection", "add", "coverage", "rank", "score"]


@dataclass(frozen=True, slots=True)
class Collection:
    """What BM25 needs to know of all texts.

    Attributes:
        texts: how many there are.
        mean: their mean length in terms.
        k1: how much a repeated term counts, 0 and more.
        b: how much length is held against a text, 0 to 1.
    """

    texts: int
    mean: float
    k1: float = K1
    b: float = B

    def gain(self, holding: int, frequency: int, length: int) -> float:
        """What one term adds to the score of one text.

        Args:
            holding: number of texts that hold the term.
            frequency: how often this one does.
            length: its terms.
        """
        damping = self.k1 * (1 - self.b + self.b * length / (self.mean or 1.0))
        share = frequency * (self.k1 + 1) / (frequency + damping)
        return inverse_frequency(self.texts, holding) * share

    def most(self, holding: Iterable[int]) -> float:
        """The score that a text with these terms would tend to: a query's ceiling.

        Args:
            holding: per term of the query the number of texts that hold it, 0 among them: what
                is not there at all lowers the score of all that is.
        """
        return sum(inverse_frequency(self.texts, each) for each in holding) * (self.k1 + 1)


def score(
    collection: Collection,
    frequencies: Mapping[str, int],
    length: int,
    holding: Mapping[str, int],
) -> float:
    """BM25 of one text, not yet divided by the ceiling.

    Args:
        collection: all texts.
        frequencies: how often each term of the query stands in this one.
        length: terms of this text.
        holding: number of texts that hold each term.
    """
    return sum(
        collection.gain(holding.get(term, 0), frequency, length)
        for term, frequency in sorted(frequencies.items())
        if frequency
    )


def rank(
    collection: Collection,
    postings: Mapping[str, Sequence[tuple[int, int]]],
    lengths: Mapping[int, int] | Sequence[int],
) -> dict[int, float]:
    """BM25 of all texts that hold a term of the query.

    Args:
        collection: all texts.
        postings: per term of the query the texts that hold it, and how often.
        lengths: terms of each text.

    Returns:
        The score of each text, unsorted.
    """
    found: dict[int, float] = {}
    for term in sorted(postings):
        add(found, collection, postings[term], lengths)
    return found


def add(
    scores: dict[int, float],
    collection: Collection,
    pairs: Pairs[tuple[int, int]],
    lengths: Mapping[int, int] | Sequence[int],
) -> None:
    """Add what one term gives to the scores of the texts that hold it.

    Args:
        scores: changed in place.
        collection: all texts.
        pairs: the texts that hold the term, and how often.
        lengths: terms of each text.
    """
    k1, b = collection.k1, collection.b
    flat, slope = k1 * (1 - b), k1 * b / (collection.mean or 1.0)
    weight = inverse_frequency(collection.texts, len(pairs)) * (k1 + 1)
    for text, frequency in pairs:
        gain = weight * frequency / (frequency + flat + slope * lengths[text])
        scores[text] = scores.get(text, 0.0) + gain


def coverage(query: Sequence[str], held: Iterable[str], weights: Mapping[str, float]) -> float:
    """How much of a query a text holds, by the weight of the terms, 0 to 1; 0 without terms."""
    total = sum(weights.get(term, 0.0) for term in query)
    there = set(held)
    return sum(weights.get(term, 0.0) for term in query if term in there) / total if total else 0.0
