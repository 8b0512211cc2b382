"""The text layer of a PDF page as lines with their places, taken from PDFium in bulk.

PDFium is asked for the page's text once, and for two boxes a word: those of its first and last
character. A call for every character would take longer than reading the page does.
"""

from __future__ import annotations

import ctypes
import math
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise, repeat
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pypdfium2 import raw

from emily.reading.layout import TextLine, without_ligatures

__all__ = ["SPLIT", "Layer", "Segments", "addressed", "function", "held", "read_layer", "turned"]

SPLIT = 0.9
"""Times the height of a line: a wider blank parts cells or columns, not words."""

_HYPHEN = "\ufffe"  # what PDFium puts in place of a hyphen at a line's end
_BLANK = np.fromiter((not code or chr(code).isspace() for code in range(0x3002)), np.bool_)
"""Whether a character parts words; none does beyond U+3001."""

_MOST_CHARACTERS = 400_000  # of a page; more are read without their places
_BOLD = re.compile(r"bold|black|heavy|demi(?!talic)|[-,]bd|cmbx|CMSSBX", re.I)
_FORCE_BOLD = 1 << 18  # ISO 32000-1, table 123
_CONTROL = dict.fromkeys((*range(32), *range(127, 160)), " ")
_UNPRINTED = re.compile("[\x01-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
_RUN = re.compile("[\u0590-\u08ff]{2,}")
_TWO_SCRIPTS = re.compile("(?<=[\u0590-\u08ff])(?=[A-Za-z])|(?<=[A-Za-z])(?=[\u0590-\u08ff])")
_ARABIC = re.compile("[\u0590-\u08ff]")
_SAMPLES = 9  # words that are asked for their direction
_NAME = 256  # bytes of a font's name that are looked at
_AT_ONCE = 1_024  # boxes that are asked for in one go


def function(of: Any, result: Any, *arguments: Any) -> Any:
    """A function of PDFium with plain numbers for its pointers, which halves the cost of a call.

    The interpreter's lock is kept meanwhile, which a tenth is saved by: the calls are short, and
    a process reads one file at a time. Without any ``arguments`` named they are not converted,
    which halves the cost once more: numbers are then taken for C's ``int``, and pointers must come
    from ``held``.
    """
    address = ctypes.cast(of, ctypes.c_void_p).value
    if address is None:
        raise AssertionError
    return ctypes.PYFUNCTYPE(result, *arguments)(address)


held = ctypes.c_void_p.from_param
"""An address as a function whose arguments are not converted takes it."""


def addressed(pointer: Any) -> int:
    """The address that a pointer of PDFium holds."""
    return ctypes.cast(pointer, ctypes.c_void_p).value or 0


_void, _int = ctypes.c_void_p, ctypes.c_int
_loose_box = function(raw.FPDFText_GetLooseCharBox, None)
_font_size = function(raw.FPDFText_GetFontSize, ctypes.c_double)
_matrix = function(raw.FPDFText_GetMatrix, _int)
_font = function(raw.FPDFText_GetFontInfo, ctypes.c_ulong)
_unicode = function(raw.FPDFText_GetUnicode, ctypes.c_uint, _void, _int)
_angle = function(raw.FPDFText_GetCharAngle, ctypes.c_float, _void, _int)


@dataclass(slots=True)
class Segments:
    """Words of a page, and the stretches of a line that they make, both in PDFium's order.

    Attributes:
        words: the words' texts.
        boxes: their places, shape (words, 4): left, base, right, top in points as displayed.
        lines: the stretches.
        first: the first word of each stretch, and one past the last of all.
        turn: quarter turns clockwise by which the page was turned for its text to be upright.
        size: width and height of the page then.
        stacked: share of the letters that stand one below the other, though each is upright.
    """

    words: list[str]
    boxes: NDArray[np.float32]
    lines: list[TextLine]
    first: list[int]
    turn: int
    size: tuple[float, float]
    stacked: float = 0.0

    @classmethod
    def none(cls, page: Any) -> Segments:
        """Of a page without text."""
        turn = page.get_rotation() // 90 % 4
        return cls([], np.zeros((0, 4), np.float32), [], [0], turn, page.get_size())


class Layer:
    """The text layer of one page.

    Attributes:
        text: as PDFium gives it, unordered; ``""`` where there is none.
    """

    def __init__(self, textpage: Any, text: str, turn: int, size: tuple[float, float]) -> None:
        self._handle = addressed(textpage.raw)
        self._held = held(self._handle)
        self._turn = turn
        self._size = size
        self.text = text

    @property
    def plain(self) -> str:
        """The text in PDFium's order, line by line."""
        return self.text.replace(_HYPHEN, "-\n").replace("\r\n", "\n")

    def segments(self) -> Segments:
        """The words with their places, and the stretches of lines."""
        starts, ends, row = _spans(self.text)
        width, height = self._size
        if not len(starts):
            return Segments([], np.zeros((0, 4), np.float32), [], [0], self._turn, self._size)
        first_boxes, last_boxes = self._boxes(starts, ends)
        turn = self._direction(starts, ends)
        if turn:
            first_boxes = turned(first_boxes, turn, self._size)
            last_boxes = turned(last_boxes, turn, self._size)
        boxes = np.concatenate(
            [
                np.minimum(first_boxes[:, :2], last_boxes[:, :2]),
                np.maximum(first_boxes[:, 2:], last_boxes[:, 2:]),
            ],
            axis=1,
        )
        first = _stretches(boxes, row)
        words = self._words(starts, ends)
        lines = self._lines(words, boxes, first_boxes, starts, first, row)
        size = (height, width) if turn % 2 else (width, height)
        return Segments(words, boxes, lines, first, turn, size, _stacked(words, boxes))

    def _words(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> list[str]:
        text = self.text
        if _ARABIC.search(text):
            text = self._mended(text)
            spans = zip(starts.tolist(), ends.tolist(), strict=True)
            words = [text[start : end + 1].replace(_HYPHEN, "-") for start, end in spans]
        else:
            words = text.replace(_HYPHEN, "- ").replace("\0", " ").split()
        if without_ligatures(text) is not text:
            words = [without_ligatures(word) for word in words]
        if _UNPRINTED.search(text):
            # a bullet of a symbol font without names for its glyphs
            words = [word.translate(_CONTROL).strip() or "•" for word in words]
        if text is not self.text:
            words = [_TWO_SCRIPTS.sub(" ", word) for word in words]
        return words

    def _mended(self, text: str) -> str:
        """The letters of Arabic and Hebrew ligatures in their order.

        PDFium turns the characters of scripts from right to left round one by one, those of one
        glyph (lam-alef, or a whole word) as well, which all have the place of that glyph.
        """
        letters = list(text)
        for match in _RUN.finditer(text):
            start, end = match.span()
            boxes = _loose_boxes(self._handle, range(start, end))
            apart = np.abs(np.diff(boxes[:, [0, 2]], axis=0)).max(1) > 0.01
            for group in np.split(np.arange(start, end), np.flatnonzero(apart) + 1):
                if len(group) > 1:
                    first, last = int(group[0]), int(group[-1]) + 1
                    letters[first:last] = letters[first:last][::-1]
        return "".join(letters) + "\n"  # another text in any case

    def _boxes(
        self, starts: NDArray[np.int64], ends: NDArray[np.int64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """The boxes (left, base, right, top) of the first and of the last character of words."""
        asked, place = np.unique(np.concatenate([starts, ends]), return_inverse=True)
        found = _loose_boxes(self._handle, asked.tolist())
        found = found[:, [0, 3, 2, 1]]
        return found[place[: len(starts)]], found[place[len(starts) :]]

    def _direction(self, starts: NDArray[np.int64], ends: NDArray[np.int64]) -> int:
        """Quarter turns clockwise that set most of the text upright; else those of the page."""
        long = starts[ends - starts > 1].tolist() or [int(starts[0])]
        chosen = long[:: max(1, len(long) // _SAMPLES)]
        # PDFium's angles go clockwise
        turns = [-round(_angle(self._handle, at) / (math.pi / 2)) % 4 for at in chosen]
        common = max(set(turns), key=turns.count)
        return common if turns.count(common) > 0.6 * len(turns) else self._turn

    def _lines(
        self,
        words: list[str],
        boxes: NDArray[np.float32],
        heads: NDArray[np.float32],
        starts: NDArray[np.int64],
        first: list[int],
        row: NDArray[np.int64],
    ) -> list[TextLine]:
        at = np.array(first[:-1])
        left = np.minimum.reduceat(boxes[:, 0], at).tolist()
        base = np.minimum.reduceat(heads[:, 1], at).tolist()
        right = np.maximum.reduceat(boxes[:, 2], at).tolist()
        height = np.maximum.reduceat(heads[:, 3] - heads[:, 1], at).tolist()
        gaps = np.zeros(len(boxes), np.float32)
        gaps[1:] = boxes[1:, 0] - boxes[:-1, 2]
        gaps[at] = 0
        gap = np.maximum.reduceat(gaps, at).tolist()
        upright = _upright(boxes, at)
        lines: list[TextLine] = []
        rows = row[at].tolist()
        size, bold = 0.0, False
        places = starts.tolist()
        for n, (begin, end) in enumerate(pairwise(first)):
            text = " ".join(words[begin:end]) if end - begin > 1 else words[begin]
            if upright[n]:
                alike = n and rows[n] == rows[n - 1] and height[n] == height[n - 1]
                if not alike:  # as the cells of a row are set
                    size, bold = self._look(places[(begin + end - 1) // 2])
                    if bold and end - begin > 1:
                        bold = self._is_bold(places[begin]) and self._is_bold(places[end - 1])
                lines.append(
                    TextLine(
                        text, left[n], right[n], base[n], height[n], gap[n], size, bold, rows[n]
                    )
                )
            else:
                lines.append(TextLine(text, row=rows[n]))
        return lines

    def _look(self, at: int) -> tuple[float, bool]:
        """Size in points and weight of the font of a character."""
        size = _font_size(self._held, at)
        if _matrix(self._held, at, _MATRIX_AT):
            size *= float((_MATRIX[2] ** 2 + _MATRIX[3] ** 2) ** 0.5) or 1.0
        return size, self._is_bold(at)

    def _is_bold(self, at: int) -> bool:
        length = _font(self._held, at, _NAME_AT, _NAME_SIZE, _FLAGS_AT)
        if _FLAGS.value & _FORCE_BOLD:
            return True
        return _names_bold(_NAME_BUFFER.raw[: max(0, min(length, _NAME) - 1)])


@lru_cache(maxsize=1024)
def _names_bold(name: bytes) -> bool:
    """Whether a font is bold by its name."""
    return _BOLD.search(name.decode("utf-8", "replace")) is not None


_MATRIX = (ctypes.c_float * 6)()
_MATRIX_AT = held(ctypes.addressof(_MATRIX))
_NAME_BUFFER = ctypes.create_string_buffer(_NAME)
_NAME_AT = held(ctypes.addressof(_NAME_BUFFER))
_NAME_SIZE = ctypes.c_ulong(_NAME)
_FLAGS = ctypes.c_int(0)
_FLAGS_AT = held(ctypes.addressof(_FLAGS))


_BOXES = np.zeros((_AT_ONCE, 4), np.float32)
_BOXES_AT = [held(_BOXES.ctypes.data + 16 * n) for n in range(_AT_ONCE)]


def _loose_boxes(handle: int, characters: Sequence[int]) -> NDArray[np.float32]:
    """The boxes of characters, shape (n, 4): left, top, right, bottom; 0 where one has none."""
    found = np.zeros((len(characters), 4), np.float32)
    textpage = repeat(held(handle))
    for begin in range(0, len(characters), _AT_ONCE):
        part = characters[begin : begin + _AT_ONCE]
        _BOXES[: len(part)] = 0
        deque(map(_loose_box, textpage, part, _BOXES_AT), maxlen=0)
        found[begin : begin + len(part)] = _BOXES[: len(part)]
    return found


def read_layer(page: Any, use: Callable[[Layer], Any]) -> Any:
    """What ``use`` makes of a page's text layer, which is closed afterwards.

    Raises:
        pypdfium2.PdfiumError: the page's text cannot be loaded.
    """
    textpage = page.get_textpage()
    try:
        count = textpage.count_chars()
        text = textpage.get_text_range(0, count) if count > 0 else ""
        if len(text) != count and count > 0:  # only then do positions number characters
            handle = addressed(textpage.raw)
            codes = [_unicode(handle, at) for at in range(min(count, _MOST_CHARACTERS))]
            text = "".join(chr(code) if code < 0x110000 else "\ufffd" for code in codes)
        width, height = page.get_size()
        turn = page.get_rotation() // 90 % 4
        return use(Layer(textpage, text, turn, (height, width) if turn % 2 else (width, height)))
    finally:
        textpage.close()


def _spans(text: str) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """First and last characters of the words of a text, and numbers of the lines they stand on.

    A hyphen at a line's end ends its word; it may have no box, so that the last character is the
    one before.
    """
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    solid = ~_BLANK[np.minimum(codes, len(_BLANK) - 1)]
    hyphen = codes == ord(_HYPHEN)
    begins, closes = solid.copy(), solid.copy()
    begins[1:] &= ~solid[:-1] | hyphen[:-1]
    closes[:-1] &= ~solid[1:] | hyphen[:-1]
    starts, ends = np.flatnonzero(begins), np.flatnonzero(closes)
    breaks = (hyphen | (codes == 10) | (codes == 13)).cumsum()
    row = breaks[starts] - hyphen[starts]
    if hyphen.any():
        ends = np.where(hyphen[ends] & (ends > starts), ends - 1, ends)
    return starts, ends, row


def turned(boxes: NDArray[np.float32], turn: int, size: tuple[float, float]) -> NDArray[np.float32]:
    """Boxes (left, base, right, top) as they stand when the page is turned clockwise.

    Args:
        boxes: shape (n, 4).
        turn: quarter turns, 0 to 3.
        size: width and height before.
    """
    left, base, right, top = boxes.T
    width, height = size
    if turn == 1:
        parts = (base, width - right, top, width - left)
    elif turn == 2:
        parts = (width - right, height - top, width - left, height - base)
    elif turn == 3:
        parts = (height - top, left, height - base, right)
    else:
        parts = (left, base, right, top)
    return np.stack(parts, axis=1).astype(np.float32)


def _stretches(boxes: NDArray[np.float32], row: NDArray[np.int64]) -> list[int]:
    """Where a line begins or is parted by a wide blank; one past the last word at the end."""
    height = boxes[:, 3] - boxes[:, 1]
    taller = np.maximum(height[1:], height[:-1])
    gap = boxes[1:, 0] - boxes[:-1, 2]
    drop = np.abs(boxes[1:, 1] - boxes[:-1, 1])
    parted = (row[1:] != row[:-1]) | (gap > SPLIT * taller) | (drop > 0.9 * taller)
    parted |= boxes[:-1, 0] - boxes[1:, 2] > SPLIT * taller  # from right to left, or back
    return [0, *(np.flatnonzero(parted) + 1).tolist(), len(boxes)]


def _stacked(words: list[str], boxes: NDArray[np.float32]) -> float:
    """Share of the letters in words that are set letter below letter, as few titles are.

    Scripts that are written downwards are left out.
    """
    length = np.fromiter(map(len, words), np.int64, len(words))
    tall = (boxes[:, 3] - boxes[:, 1] > 2 * (boxes[:, 2] - boxes[:, 0])) & (length > 2)
    if not tall.any() or 2 * length[tall].sum() < length.sum():
        return 0.0
    downwards = sum(max(words[at]) > "\u2e80" for at in np.flatnonzero(tall))
    if 2 * downwards > int(tall.sum()):
        return 0.0
    return float(length[tall].sum() / length.sum())


def _upright(boxes: NDArray[np.float32], at: NDArray[np.int64]) -> list[bool]:
    """Whether the words of each stretch stand upright and have a place at all."""
    height = boxes[:, 3] - boxes[:, 1]
    width = boxes[:, 2] - boxes[:, 0]
    good = (height > 0) & (width >= 0) & (height < 400)
    tallest = np.maximum.reduceat(height, at)
    span = np.maximum.reduceat(boxes[:, 2], at) - np.minimum.reduceat(boxes[:, 0], at)
    rise = np.maximum.reduceat(boxes[:, 3], at) - np.minimum.reduceat(boxes[:, 1], at)
    even = (rise < 2.2 * tallest) & (tallest < np.maximum(6 * span, 60))
    result: list[bool] = (np.logical_and.reduceat(good, at) & even).tolist()
    return result
