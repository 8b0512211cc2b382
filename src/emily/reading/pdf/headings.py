"""Which lines of a PDF are headings: by the size and weight of their font beside the text's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from emily.reading.layout import TextLine, is_item

__all__ = ["Fonts"]

# Sizes beside that of the text from which a heading is of a level. A sixth more is what word
# processors and LaTeX give their least headings (12 on 10 points, 14 on 12); a superscript, a
# capital at the start of a chapter or a number in an infographic is ruled out by its length.
_LEVELS = ((1.85, 1), (1.4, 2), (1.14, 3))
_BOLD_LEVEL = 4
_MOST_WORDS = 25
_MOST_BOLD_WORDS = 12
_MOST_LINES = 4


class Fonts:
    """The fonts that a document's text is set in, learnt while its pages are read."""

    def __init__(self) -> None:
        self._sizes: Counter[float] = Counter()
        self._bold = self._all = 0
        self._body: float | None = None

    def learn(self, lines: Iterable[TextLine]) -> None:
        """Take the lines of a page into account."""
        self._body = None
        for line in lines:
            if line.size:
                length = len(line.text)
                self._sizes[round(2 * line.size) / 2] += length
                self._all += length
                self._bold += length * line.bold

    @property
    def body(self) -> float:
        """Size of most of the text, points; 0 where none is known."""
        if self._body is None:
            most = max(self._sizes.values(), default=0)
            self._body = min((size for size, n in self._sizes.items() if n == most), default=0.0)
        return self._body

    def level(self, block: Sequence[TextLine]) -> int:
        """The level of the heading that a block of lines is, 1 to 4; 0 if it is none."""
        body = self.body
        first = block[0]
        if not body or not first.size or len(block) > _MOST_LINES:
            return 0
        size = min(line.size for line in block)
        bold = (
            3 * self._bold < self._all
            and size >= 0.95 * body
            and len(block) < 3
            and all(line.bold for line in block)
        )
        if size < _LEVELS[-1][0] * body and not bold:
            return 0
        if any(
            is_item(line.text) and (at or _bulleted(line.text)) for at, line in enumerate(block)
        ):
            return 0
        text = " ".join(line.text for line in block)
        words = text.split()
        letters = sum(map(str.isalpha, text))
        if letters < 3 or letters < 0.5 * len(text.replace(" ", "")) or len(words) > _MOST_WORDS:
            return 0
        if text[-1] in ",;:" or (text[-1] in "." and len(words) > _MOST_BOLD_WORDS):
            return 0
        if any(line.gap > 2.5 * line.height for line in block):
            return 0  # a row of separate things
        for least, level in _LEVELS:
            if size >= least * body:
                return level
        return _BOLD_LEVEL if len(words) <= _MOST_BOLD_WORDS and text[-1] != "." else 0


def _bulleted(text: str) -> bool:
    return not text[0].isalnum() and text[0] != "("
