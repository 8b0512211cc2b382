"""Pages become chunks: slices of the document's text that the embedder can take whole.

Tokens are counted once for every word of a page; as counts of words add up, the size of any
slice is then the difference of two sums, and a page is cut in one pass.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Final, Protocol

from emily.indexing.seams import (
    BLANK,
    COMMA,
    LINE,
    SECTION,
    SEMICOLON,
    SENTENCE,
    cut_word,
    rank_gaps,
)

if TYPE_CHECKING:
    from emily.indexing.text import DocumentText, PageSpan, TableSpan

__all__ = ["Chunk", "TokenCounter", "chunk"]

Span = tuple[int, int]

# Kinds of gap in the order they are tried, and the least part of the limit the chunk must then
# fill. What is left when none serves is any gap between words.
_LADDER: Final = (
    (SECTION, 0.6),
    (BLANK, 0.6),
    (LINE, 0.6),
    (SENTENCE, 0.6),
    (SENTENCE, 0.3),
    (SEMICOLON, 0.6),
    (COMMA, 0.6),
)
_WORD = re.compile(r"\S+")


class TokenCounter(Protocol):
    """The embedder's own tokenizer, as far as chunking needs it."""

    @property
    def reserved(self) -> int:
        """Tokens to keep free in every chunk for markers and a prefix."""
        ...

    def count(self, text: str) -> int:
        """Tokens of a text, without markers.

        Words part by white space count for themselves:
        ``count(a + " " + b) == count(a) + count(b)``.
        """
        ...


@dataclass(frozen=True, slots=True)
class Chunk:
    """A searchable piece of a document.

    Attributes:
        ordinal: 0-based place in the document.
        page: number of the page it lies on.
        start: offset of its first character in the document's text.
        end: offset after its last character.
        header: header row of the table it begins inside of, where it does not hold that row
            itself; embedded and indexed with the chunk, never shown.
        tokens: tokens of the header and the text together.
    """

    ordinal: int
    page: int
    start: int
    end: int
    header: str
    tokens: int


def chunk(
    document: DocumentText, tokens: TokenCounter, *, limit: int = 512, overlap: int = 50
) -> list[Chunk]:
    """Cut a document into chunks.

    A chunk never crosses a page. It is cut at the best seam that leaves it reasonably full: a
    heading or blank line, a line, a sentence, a semicolon, a comma, a word; inside of a word
    only where that word alone is over the limit. A heading stays with what follows, tables are
    cut between rows.

    Args:
        document: the text; chunks are slices of it without white space at either side.
        tokens: counts tokens.
        limit: most tokens of a chunk, header and reserved ones included.
        overlap: most tokens at the end of a chunk that the next one repeats: whole sentences or
            rows, else words; a row longer than this is not repeated.

    Returns:
        chunks in order, which together hold every character that is not white space.

    Raises:
        ValueError: the limit leaves no room for text.
    """
    room = limit - tokens.reserved
    if room < 8:
        raise ValueError(
            f"A limit of {limit} tokens less {tokens.reserved} reserved ones leaves {room}; "
            "at least 8 are needed."
        )
    chunks: list[Chunk] = []
    table = 0
    for page in document.pages:
        first = table
        while table < len(document.tables) and document.tables[table].start < page.end:
            table += 1
        cutter = _PageCutter(document.text, page, document.tables[first:table], tokens, room)
        for start, end, header, size in cutter.cut(min(overlap, room // 2)):
            chunks.append(Chunk(len(chunks), page.number, start, end, header, size))
    return chunks


class _PageCutter:
    """One page as words with running sums of tokens, and the seams between them.

    A gap is named by the word after it: gap ``k`` lies before word ``k``.
    """

    def __init__(
        self,
        text: str,
        page: PageSpan,
        tables: tuple[TableSpan, ...],
        tokens: TokenCounter,
        room: int,
    ) -> None:
        self.text = text
        self.tables = tables
        self.room = room
        self.headers = [_header(text, table, tokens, room // 2) for table in tables]
        largest = room - max((size for _, size in self.headers), default=0)
        self.starts: list[int] = []
        self.ends: list[int] = []
        self.forced: list[int] = []
        counts = self._count(page, tokens, largest)
        self.sums = list(accumulate(counts, initial=0))
        self.table_starts = [table.start_of_body for table in tables]
        self.inside = bytearray(len(counts) + 1)
        self.rows_first: list[int] = []
        ranks = rank_gaps(text, page.start, page.end, self.starts, self.ends)
        self._mark_rows(ranks)
        self.seams = self._gaps(ranks, inside=False)
        self.inner = self._gaps(ranks, inside=True) if tables else {}

    def cut(self, overlap: int) -> list[tuple[int, int, str, int]]:
        """Spans with their header and number of tokens."""
        pieces: list[tuple[int, int, str, int]] = []
        done = before = 0
        while done < len(self.starts):
            begin = self._repeat(before, done, overlap) if done else 0
            stop, clean = self._stop(begin, done)
            if begin < done and not clean:  # the overlap would cost a cut inside a row
                begin = done
                stop, _ = self._stop(begin, done)
            header, size = self._header_at(begin)
            size += self.sums[stop] - self.sums[begin]
            pieces.append((self.starts[begin], self.ends[stop - 1], header, size))
            before, done = begin, stop
        return pieces

    def _stop(self, begin: int, done: int) -> tuple[int, bool]:
        """The gap to end at for a chunk from word ``begin`` that must go beyond gap ``done``.

        Also whether it is a fair end: not inside a row of a table, and beyond ``done`` at all.
        """
        room = self.room - self._header_at(begin)[1]
        last = bisect_right(self.sums, self.sums[begin] + room) - 1
        at = bisect_right(self.forced, begin)
        wall = self.forced[at] if at < len(self.forced) else len(self.starts)
        if last >= wall:
            return wall, wall > done
        if last <= done:
            return done + 1, False
        for level, fill in _LADDER:
            gap = self._last(self.seams[level], done, last, self.sums[begin] + fill * room)
            if gap:
                return gap, True
        if not self.inside[last]:
            return self._not_in_number(last, done), True
        row = self.rows_first[bisect_right(self.rows_first, last) - 1]
        if row > done:
            return row, True
        for level, fill in _LADDER:
            gap = self._last(self.inner[level], done, last, self.sums[begin] + fill * room)
            if gap:
                return gap, False
        return last, False

    def _last(self, gaps: list[int], done: int, last: int, least: float) -> int:
        """The last of some gaps after ``done`` up to ``last`` with that sum at least, or 0."""
        at = bisect_right(gaps, last) - 1
        if at < 0 or gaps[at] <= done or self.sums[gaps[at]] < least:
            return 0
        return gaps[at]

    def _not_in_number(self, gap: int, done: int) -> int:
        """A gap a little before, if this one parts two groups of digits (a phone number)."""
        for at in range(gap, max(done, gap - 8), -1):
            if not (
                self.text[self.ends[at - 1] - 1].isdigit() and self.text[self.starts[at]].isdigit()
            ):
                return at
        return gap

    def _repeat(self, before: int, done: int, overlap: int) -> int:
        """The word from which a chunk repeats the end of the one before."""
        at = bisect_left(self.forced, done)
        if self.inside[done] or (at < len(self.forced) and self.forced[at] == done):
            return done
        if self._is(SECTION, done):
            return done  # a section begins: nothing is cut in two
        floor = max(before + 1, self.forced[at - 1] if at else 0)
        earliest = max(floor, bisect_left(self.sums, self.sums[done] - overlap))
        if earliest >= done:
            return done
        sentences = self.seams[SENTENCE]
        found = bisect_left(sentences, earliest)
        if found < len(sentences) and sentences[found] < done:
            return sentences[found]
        return done if self.inside[earliest] or self.inside[done - 1] else earliest

    def _is(self, level: int, gap: int) -> bool:
        at = bisect_left(self.seams[level], gap)
        return at < len(self.seams[level]) and self.seams[level][at] == gap

    def _header_at(self, begin: int) -> tuple[str, int]:
        """Header row, and its tokens, of the table whose body word ``begin`` lies in."""
        start = self.starts[begin]
        at = bisect_right(self.table_starts, start) - 1
        if at < 0 or start >= self.tables[at].end:
            return "", 0
        return self.headers[at]

    def _count(self, page: PageSpan, tokens: TokenCounter, largest: int) -> list[int]:
        """Fill the offsets of words, of pieces where a word is too long; return their tokens."""
        counts: list[int] = []
        known: dict[str, int] = {}
        for match in _WORD.finditer(self.text, page.start, page.end):
            start, end = match.span()
            size = 0
            if end - start <= 16 * largest:
                word = match[0]
                size = known.get(word, -1)
                if size < 0:
                    size = known[word] = tokens.count(word)
                if size <= largest:
                    self.starts.append(start)
                    self.ends.append(end)
                    counts.append(size)
                    continue
            for piece_start, piece_end, piece_size in cut_word(
                self.text, start, end, tokens.count, largest
            ):
                if piece_start > start:
                    self.forced.append(len(self.starts))
                self.starts.append(piece_start)
                self.ends.append(piece_end)
                counts.append(piece_size)
        return counts

    def _gaps(self, ranks: list[int], *, inside: bool) -> dict[int, list[int]]:
        """For each level the gaps that rank so or better, inside or outside of rows."""
        return {
            level: [
                gap
                for gap, rank in enumerate(ranks)
                if rank >= level and bool(self.inside[gap]) is inside
            ]
            for level in range(COMMA, SECTION + 1)
        }

    def _mark_rows(self, ranks: list[int]) -> None:
        """Close the gaps inside of rows, and make those between them lines."""
        for table in self.tables:
            for row in ([table.header] if table.header else []) + list(table.rows):
                first = bisect_left(self.starts, row[0])
                last = bisect_left(self.starts, row[1])
                if first >= last:
                    continue
                self.rows_first.append(first)
                self.inside[first + 1 : last] = b"\1" * (last - first - 1)
                if first and ranks[first] < LINE:
                    ranks[first] = LINE
            if table.header and table.rows:
                body = bisect_left(self.starts, table.rows[0][0])
                if body < len(ranks):
                    ranks[body] = min(ranks[body], COMMA)  # a header alone says nothing


def _header(text: str, table: TableSpan, tokens: TokenCounter, most: int) -> tuple[str, int]:
    """The header row of a table and its tokens; a very long one cut at a word."""
    if not table.header:
        return "", 0
    start, end = table.header
    header = text[start:end].strip()
    size = tokens.count(header)
    if size <= most:
        return header, size
    size = 0
    cut = start
    for match in _WORD.finditer(text, start, end):
        size += tokens.count(match[0])
        if size > most:
            break
        cut = match.end()
    header = text[start:cut].strip()
    return header, tokens.count(header) if header else 0
