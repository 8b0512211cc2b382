"""The binary format of Word 97 to 2003 ([MS-DOC]): paragraphs with their text and properties.

The section of [MS-DOC] is named where a structure is read. A place outside of its stream is where
a damaged file points to; what should stand there is missing.
"""

from __future__ import annotations

import bisect
import itertools
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from emily.errors import LimitExceeded, PasswordRequired, ReadingError
from emily.reading.legacy.word_records import DEFINE_TABLE, flag, places, properties, u16, u32
from emily.reading.legacy.word_styles import LEVEL, LIST, Lists, Styles
from emily.reading.limits import MOST_CHARACTERS
from emily.reading.office.drawings import shapes, store

__all__ = ["Paragraph", "WordBinary"]

_WORD_97 = 0x00C1
_ENCRYPTED, _TABLE_1 = 0x0100, 0x0200
_FIB_COUNTS = 0x4C  # the lengths of the parts, FibRgLw97 (2.5.3)
_FIB_PAIRS = 0x9A  # FibRgFcLcb97 (2.5.6): an offset and a size each
_FIB_BYTES = _FIB_PAIRS + 8 * 93
_PARTS = ("text", "footnotes", "headers", "macros", "comments", "endnotes", "boxes", "header_boxes")
_STORIES = {"footnotes": (3, 2, 2), "comments": (5, 4, 30), "endnotes": (47, 46, 2)}
"""Of notes: the pair of their places, that of their references, and the size of one of these."""

(_STYLES, _HEADERS, _CHARACTERS, _PARAGRAPHS, _PIECES, _AUTHORS, _ANCHORS, _DRAWINGS, _BOXES,
 _LISTS, _OVERRIDES) = 1, 11, 12, 13, 33, 36, 40, 50, 56, 73, 74  # fmt: skip

_COMPRESSED = 1 << 30
_PAGE = 512

# Properties (2.6): of a run of characters, and of a paragraph.
_DELETED, _HIDDEN, _PICTURE = 0x0800, 0x083C, 0x6A03
_IN_TABLE, _ROW_END, _DEPTH, _INNER_CELL, _INNER_ROW_END = 0x2416, 0x2417, 0x6649, 0x244B, 0x244C
_HUGE, _DROPPED = 0x6646, 0x442C

_BREAK = re.compile("[\r\x07\x0c]")
_UNSEEN = re.compile("\x13[^\x14\x15]*|[\x00-\x20]+")  # what fields are made of, and blanks
_DEEPEST = 50  # tables inside of tables


@dataclass(slots=True)
class Paragraph:
    """A paragraph, a cell of a table or the end of a row.

    Attributes:
        text: without its mark; what Word keeps as signs in it is still there.
        heading: 1 to 9, or 0.
        depth: how many tables are around it.
        cell_end: whether a cell ends with it.
        row_end: whether it is no text but the end of a row.
        edges: for the end of a row, the left edges of its cells and the last right one, twips.
        label: its number in a list, ``-`` for a bullet; ``None`` outside of lists.
        level: of the list, from 0.
        dropped: whether it is the large first letter of the next one.
        pictures: offsets of its pictures in the stream ``Data``.
        shapes: ids of the drawn objects that hang on it.
    """

    text: str
    heading: int = 0
    depth: int = 0
    cell_end: bool = False
    row_end: bool = False
    edges: tuple[int, ...] = ()
    label: str | None = None
    level: int = 0
    dropped: bool = False
    pictures: list[int] = field(default_factory=list)
    shapes: list[int] = field(default_factory=list)


@dataclass(slots=True, order=True)
class _Mark:
    """A stretch of text that is shown otherwise: ``instead`` of it, or with a picture."""

    begin: int
    end: int
    instead: str | None = None
    picture: int | None = None


class WordBinary:
    """A document of Word 97 to 2003; of Word 6 and 95 the bare text.

    Args:
        main: the stream ``WordDocument``.
        tables: the streams ``0Table`` and ``1Table``.
        data: the stream ``Data``.

    Attributes:
        old: whether it is of Word 6 or 95, whose tables and styles are not read.
        deleted, hidden: characters left out because they are struck from the text, or hidden.

    Raises:
        PasswordRequired: it is encrypted.
        ReadingError: there is no text where it should be.
    """

    def __init__(self, main: bytes, tables: tuple[bytes, bytes], data: bytes = b"") -> None:
        if len(main) < _FIB_PAIRS or main[:2] not in {b"\xec\xa5", b"\xdc\xa5"}:
            raise ReadingError("the Word file does not begin as one")
        flags = u16(main, 10)
        if flags & _ENCRYPTED:
            raise PasswordRequired("the doc file opens only with a password")
        self.old = u16(main, 2) < _WORD_97
        self.deleted = self.hidden = 0
        self._main, self._data = main, data
        self._fib = main[:_FIB_BYTES].ljust(_FIB_BYTES, b"\0")
        self._table = tables[1 if flags & _TABLE_1 else 0]
        self._pieces: list[tuple[int, int, int, int]] = []  # first, end, place, bytes of one
        self._lengths = dict.fromkeys(_PARTS, 0)
        self._text = self._old_text() if self.old else self._read_text()
        if not self._text:
            raise ReadingError("the Word file holds no text where it says")
        runs = () if self.old else self._runs(_PARAGRAPHS, 13)
        self._runs_found = sorted(runs)
        self._run_starts = [begin for begin, _, _ in self._runs_found]
        self._styles = Styles(self._pair(_STYLES))
        self._lists = Lists(self._table, *self._where(_LISTS), self._pair(_OVERRIDES))
        self._notes = self._numbered_notes()
        self._marks = sorted(self._read_marks(), key=lambda mark: (mark.begin, mark.end))
        self._anchors = [(at, u32(spa, 0)) for at, _, spa in places(self._pair(_ANCHORS), 26)]

    def text(self) -> Iterator[Paragraph]:
        """The paragraphs of the text itself."""
        yield from self._between(0, self._lengths["text"])

    def letterheads(self) -> Iterator[tuple[bool, list[Paragraph]]]:
        """Headers and footers, section by section: whether it is a header, and its paragraphs.

        PlcfHdd (2.8.26): six separators of notes, then six of each section, which are the header
        of even pages, of odd ones, the footers of both, header and footer of the first page.
        """
        for number, (first, end, _) in enumerate(places(self._pair(_HEADERS), 0)):
            if number >= 6:
                yield number % 6 in {0, 1, 4}, self._story("headers", first, end)

    def notes(self, kind: str) -> Iterator[tuple[str, list[Paragraph]]]:
        """Notes of a kind (``footnotes``, ``endnotes``, ``comments``): the number or the author,
        and the paragraphs of each."""
        stories, references, width = _STORIES[kind]
        authors = self._authors() if kind == "comments" else []
        told = list(places(self._pair(references), width))
        for number, (first, end, _) in enumerate(places(self._pair(stories), 0)):
            if number >= len(told):
                return
            at, _, given = told[number]
            name = self._notes.get(at, "")
            if kind == "comments":
                author = u16(given, 20)
                name = authors[author] if author < len(authors) else ""
            yield name, self._story(kind, first, end)

    def boxes(self) -> dict[int, list[Paragraph]]:
        """Text boxes by the id of their shape: PlcftxbxTxt (2.8.32), FTXBXS (2.9.100)."""
        found: dict[int, list[Paragraph]] = {}
        for first, end, entry in places(self._pair(_BOXES), 22):
            found.setdefault(u32(entry, 14), []).extend(self._story("boxes", first, end))
        return found

    def drawn(self) -> dict[int, bytes]:
        """Pictures that are no part of a line, as files, by the id of their shape."""
        drawing = self._pair(_DRAWINGS)
        stored = store(drawing, self._main)
        return {
            shape: picture
            for shape, number in shapes(drawing).items()
            if 0 < number <= len(stored) and (picture := stored[number - 1])
        }

    def _story(self, part: str, first: int, end: int) -> list[Paragraph]:
        begin = sum(self._lengths[other] for other in _PARTS[: _PARTS.index(part)])
        end = min(end, self._lengths[part])
        return list(self._between(begin + first, begin + end))

    def _between(self, begin: int, end: int) -> Iterator[Paragraph]:
        at, end = begin, min(end, len(self._text))
        while at < end:
            match = _BREAK.search(self._text, at, end)
            stop = match.start() if match else end
            yield self._paragraph(at, stop, match[0] if match else "\r")
            at = stop + 1

    def _where(self, number: int) -> tuple[int, int]:
        if self.old:  # its pairs are others
            return 0, 0
        place, size = struct.unpack_from("<II", self._fib, _FIB_PAIRS + 8 * number)
        return place, size

    def _pair(self, number: int) -> bytes:
        place, size = self._where(number)
        return self._table[place : place + size]

    def _old_text(self) -> str:
        begin, end = u32(self._main, 0x18), u32(self._main, 0x1C)
        text = self._main[begin:end].decode("cp1252", "replace")
        self._lengths["text"] = len(text)
        return text

    def _read_text(self) -> str:
        """The text, by its pieces: Clx (2.9.38), PlcPcd (2.8.35), Pcd (2.9.177)."""
        for name, count in zip(
            _PARTS, struct.unpack_from("<8i", self._fib, _FIB_COUNTS), strict=True
        ):
            self._lengths[name] = max(0, count)
        clx = self._pair(_PIECES)
        at = 0
        while at + 3 <= len(clx) and clx[at] == 1:
            at += 3 + u16(clx, at + 1)
        if at + 5 > len(clx) or clx[at] != 2:
            raise ReadingError("the Word file does not say where its text stands")
        texts: list[str] = []
        here = 0
        for first, end, piece in places(clx[at + 5 :][: u32(clx, at + 1)], 8):
            size = 1 if u32(piece, 2) & _COMPRESSED else 2
            begin = (u32(piece, 2) & ~_COMPRESSED) // (3 - size)
            count = end - first
            if count <= 0:
                continue
            if here + count > MOST_CHARACTERS + (1 << 20):
                raise LimitExceeded(
                    f"the file declares {here + count:,} characters of text or more; "
                    f"at most {MOST_CHARACTERS:,} are read"
                )
            texts.append(_decoded(self._main[begin : begin + size * count], size, count))
            self._pieces.append((here, here + count, begin, size))
            here += count
        return "".join(texts)

    def _runs(self, pair: int, width: int) -> Iterator[tuple[int, int, bytes]]:
        """Runs with properties, by their places in the main stream: PlcBteChpx, PlcBtePapx
        (2.8.5, 2.8.6), ChpxFkp, PapxFkp (2.9.33, 2.9.175)."""
        for _, _, entry in places(self._pair(pair), 4):
            begin = (u32(entry, 0) & 0x3FFFFF) * _PAGE
            page = self._main[begin : begin + _PAGE]
            runs = page[-1] if len(page) == _PAGE else 0
            if 4 * (runs + 1) + width * runs > _PAGE:
                continue
            for run in range(runs):
                first, end = struct.unpack_from("<II", page, 4 * run)
                at = 2 * page[4 * (runs + 1) + width * run]
                if width == 1:
                    found = page[at + 1 : at + 1 + page[at]] if at else b""
                elif page[at]:
                    found = page[at + 1 : at + 2 * page[at]]
                else:
                    found = page[at + 2 : at + 2 + 2 * page[min(at + 1, _PAGE - 1)]]
                yield first, end, found

    def _read_marks(self) -> Iterator[_Mark]:
        for at, number in self._notes.items():
            if self._text[at : at + 1] == "\x02":
                yield _Mark(at, at + 1, f"[{number}]")
        if self.old:
            return
        for first, end, found in self._runs(_CHARACTERS, 1):
            known = dict(properties(found))
            picture = known.get(_PICTURE)
            deleted, hidden = flag(known, _DELETED) == 1, flag(known, _HIDDEN) == 1
            gone = deleted or hidden
            if gone or picture is not None:
                for begin, stop in self._characters(first, end):
                    seen = _seen(self._text[begin:stop]) if gone else 0
                    self.deleted += seen if deleted else 0
                    self.hidden += 0 if deleted else seen
                    yield _Mark(
                        begin, stop, "" if gone else None, u32(picture, 0) if picture else None
                    )

    def _characters(self, first: int, end: int) -> Iterator[tuple[int, int]]:
        """Characters that stand between two places of the main stream."""
        for begin, stop, place, size in self._pieces:
            low, high = max(first, place), min(end, place + size * (stop - begin))
            if low < high:
                yield begin + (low - place) // size, begin + (high - place + size - 1) // size

    def _numbered_notes(self) -> dict[int, str]:
        """Where notes are referred to: footnotes are counted through the text, endnotes too."""
        found = {}
        for kind in ("footnotes", "endnotes"):
            for number, (at, _, _) in enumerate(places(self._pair(_STORIES[kind][1]), 2), 1):
                found[at] = str(number)
        return found

    def _authors(self) -> list[str]:
        """Who wrote comments: GrpXstAtnOwners (2.9.14)."""
        given, names, at = self._pair(_AUTHORS), [], 0
        while at + 2 <= len(given):
            size = 2 * u16(given, at)
            names.append(given[at + 2 : at + 2 + size].decode("utf-16-le", "replace").strip())
            at += 2 + size
        return names

    def _paragraph(self, at: int, stop: int, mark: str) -> Paragraph:
        found = self._found(min(stop, len(self._text) - 1))
        style = u16(found, 0)
        known = dict(properties(found[2:]))
        if _HUGE in known:
            place = u32(known[_HUGE], 0)
            known |= dict(properties(self._data[place + 2 : place + 2 + u16(self._data, place)]))
        text, pictures = self._shown(at, stop)
        row_end = bool(flag(known, _ROW_END) or flag(known, _INNER_ROW_END))
        cell = mark == "\x07"
        if self.old and cell and not text:  # its properties are not read; a row ends like this
            row_end = self._text[at - 1 : at] == "\x07"
        first = bisect.bisect_left(self._anchors, (at, 0))
        last = bisect.bisect_left(self._anchors, (stop, 0))
        paragraph = Paragraph(
            text,
            heading=self._styles.headings.get(style, 0),
            depth=min(flag(known, _DEPTH) or int(cell or flag(known, _IN_TABLE)), _DEEPEST),
            cell_end=not row_end and (cell or flag(known, _INNER_CELL) == 1),
            row_end=row_end,
            edges=_edges(known.get(DEFINE_TABLE, b"")) if row_end else (),
            dropped=bool(u16(known.get(_DROPPED, b""), 0) & 7),
            pictures=pictures,
            shapes=[shape for _, shape in self._anchors[first:last]],
        )
        number, level = self._styles.lists.get(style, (0, 0))
        if LIST in known:
            number = u16(known[LIST], 0)
        if number and text.strip() and not row_end:
            paragraph.level = min(flag(known, LEVEL) if LEVEL in known else level, 8)
            paragraph.label = self._lists.label(number, paragraph.level)
        return paragraph

    def _found(self, character: int) -> bytes:
        """The properties of the paragraph that ends with a character."""
        at = bisect.bisect_right(self._pieces, (character, 1 << 62, 0, 0)) - 1
        if at < 0:
            return b""
        begin, _, place, size = self._pieces[at]
        where = place + (character - begin) * size
        run = bisect.bisect_right(self._run_starts, where) - 1
        if run < 0 or where >= self._runs_found[run][1]:
            return b""
        return self._runs_found[run][2]

    def _shown(self, at: int, stop: int) -> tuple[str, list[int]]:
        """Text without what is deleted or hidden, and the places of its pictures."""
        shown: list[str] = []
        pictures: list[int] = []
        index = bisect.bisect_left(self._marks, at, key=lambda mark: mark.end)
        for mark in itertools.islice(self._marks, index, None):
            if mark.begin >= stop:
                break
            begin, end = max(mark.begin, at), min(mark.end, stop)
            if begin >= end:
                continue
            if mark.instead is None:
                if "\x01" in self._text[begin:end] and mark.picture is not None:
                    pictures.append(mark.picture)
                continue
            shown += [self._text[at:begin], mark.instead]
            at = end
        shown.append(self._text[at:stop])
        return "".join(shown), pictures


def _seen(text: str) -> int:
    """How many characters of a text a reader would see, were it not left out."""
    return len(_UNSEEN.sub("", text))


def _decoded(raw: bytes, size: int, count: int) -> str:
    """Exactly so many characters, since all places count them."""
    if size == 1:
        return raw.decode("cp1252", "replace").ljust(count, "\0")
    units = struct.unpack(f"<{len(raw) // 2}H", raw[: len(raw) // 2 * 2])
    return "".join(map(chr, units)).ljust(count, "\0")


def _edges(operand: bytes) -> tuple[int, ...]:
    """Edges of the cells of a row: TDefTableOperand (2.9.315)."""
    count = operand[2] + 1 if len(operand) > 2 else 0
    if len(operand) < 3 + 2 * count:
        return ()
    return struct.unpack_from(f"<{count}h", operand, 3)
