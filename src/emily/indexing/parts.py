"""Parts: runs of whole sentences of about 130 words, the units that get a vector.

A vector for a whole chunk of 512 tokens dilutes: on the development sets one per about 130
words finds far more (docs/decisions/0002).
"""

from __future__ import annotations

import re

from emily.indexing.sentences import sentence_spans

__all__ = ["WORDS_PER_PART", "sentence_offsets", "split_into_parts"]

WORDS_PER_PART = 130

_MARKS = re.compile(r"\s{0,3}#{1,6}\s")
_DASHES = re.compile(r"\s*\|?\s*:?-{3,}:?\s*(?:\|\s*:?-{3,}:?\s*)*\|?\s*")


def split_into_parts(text: str, header: str = "") -> list[list[str]]:
    """The sentences of a chunk's text, grouped into parts of about equal length.

    Marks of Markdown are left out: to an embedder of sentences they are noise.

    Args:
        text: the chunk's own text.
        header: header row of the table that the chunk continues; it opens every part.

    Returns:
        At least one part of at least one sentence for a text that is not blank.
    """
    parts = [[_unmarked(text[a:b]) for a, b in part] for part in _spans(text)]
    return [[_unmarked(header), *part] for part in parts] if header else parts


def sentence_offsets(text: str, header: str = "") -> list[tuple[int, int] | None]:
    """Where each sentence of ``split_into_parts`` stands in the text, in the same order.

    ``None`` stands for the header that opens a part: it is not in the text.
    """
    if not header:  # the parts make no difference, and their sizes take time
        return [*_sentences(text)]
    return [span for part in _spans(text) for span in (None, *part)]


def _unmarked(sentence: str) -> str:
    """A sentence on one line, without marks of headings and the outer bars of a table's rows.

    What is nothing but marks stays as it is: a part has a vector for each of its sentences.
    """
    lines = [
        line.strip(" |") if line.lstrip().startswith("|") else _MARKS.sub("", line)
        for line in sentence.split("\n")
        if not _DASHES.fullmatch(line)
    ]
    return " ".join(" ".join(lines).split()) or " ".join(sentence.split())


def _sentences(text: str) -> list[tuple[int, int]]:
    """Spans of sentences; the dashes of a table belong to the header above them."""
    spans: list[tuple[int, int]] = []
    for start, end in sentence_spans(text):
        if spans and _DASHES.fullmatch(text, start, end):
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return spans


def _spans(text: str) -> list[list[tuple[int, int]]]:
    """Spans of sentences, grouped into parts."""
    spans = _sentences(text)
    sizes = [len(_unmarked(text[start:end]).split()) for start, end in spans]
    total = sum(sizes)
    count = max(1, round(total / WORDS_PER_PART))
    parts: list[list[tuple[int, int]]] = []
    current: list[tuple[int, int]] = []
    words = 0
    for span, size in zip(spans, sizes, strict=True):
        # The part that this sentence's middle falls into, had all parts the same length.
        wanted = min(count - 1, int((words + size / 2) * count / total))
        if current and wanted > len(parts):
            parts.append(current)
            current = []
        current.append(span)
        words += size
    return [*parts, current] if current else parts
