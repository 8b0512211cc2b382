"""Parts: runs of whole sentences of about 130 words, the units that get a vector.

A vector for a whole chunk of 512 tokens dilutes: on the development sets one per about 130
words finds far more (docs/decisions/0002).
"""

from __future__ import annotations

from emily.indexing.sentences import sentence_spans

__all__ = ["WORDS_PER_PART", "split_into_parts"]

WORDS_PER_PART = 130


def split_into_parts(text: str, header: str = "") -> list[list[str]]:
    """The sentences of a chunk's text, grouped into parts of about equal length.

    Args:
        text: the chunk's own text.
        header: header row of the table that the chunk continues; it opens every part.

    Returns:
        At least one part of at least one sentence for a text that is not blank.
    """
    sentences = [" ".join(text[start:end].split()) for start, end in sentence_spans(text)]
    sizes = [sentence.count(" ") + 1 for sentence in sentences]
    total = sum(sizes)
    count = max(1, round(total / WORDS_PER_PART))
    parts: list[list[str]] = []
    current: list[str] = []
    words = 0
    for sentence, size in zip(sentences, sizes, strict=True):
        # The part that this sentence's middle falls into, had all parts the same length.
        wanted = min(count - 1, int((words + size / 2) * count / total))
        if current and wanted > len(parts):
            parts.append(current)
            current = []
        current.append(sentence)
        words += size
    if current:
        parts.append(current)
    return [[header, *part] for part in parts] if header else parts
