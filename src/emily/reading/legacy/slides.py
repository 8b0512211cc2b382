"""The binary format of PowerPoint 97 to 2003 ([MS-PPT]): slides, with their shapes in order.

The section of [MS-PPT] is named where a structure is read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

from emily.errors import PasswordRequired, ReadingError
from emily.reading.legacy.slide_records import SAME_EDGE, Record, comment, grid, marks, options, u32
from emily.reading.limits import MOST_CHARACTERS
from emily.reading.office.drawings import store
from emily.reading.office.reading_order import in_reading_order

__all__ = ["Shape", "Slide", "SlidesBinary"]

_DOCUMENT, _SLIDE, _NOTES, _SLIDE_ATOM = 0x03E8, 0x03EE, 0x03F0, 0x03EF
_LIST, _LISTED, _GROUP, _DRAWING = 0x0FF0, 0x03F3, 0x040B, 0x040C
_EDIT, _DIRECTORY, _HEADER, _CHARS, _BYTES, _OUTLINE = (
    0x0FF5,
    0x1772,
    0x0F9F,
    0x0FA0,
    0x0FA8,
    0x0F9E,
)
_STYLE, _PLACEHOLDER, _FOOTERS, _STRING = 0x0FA1, 0x0BC3, 0x0FD9, 0x0FBA
_FOOTERS_SHOWN, _OBJECT = 0x0FDA, 0x1011
_TAGS, _TAG, _TAG_DATA, _COMMENT = 0x1388, 0x138A, 0x138B, 0x2EE0
_STRINGS_SHOWN = {0: 4, 2: 0x20}  # flags that the owner's date, and the footer, are shown
_SIGNS = frozenset({0x0FD8, 0x0FF7, 0x0FF8, 0x0FF9, 0x0FFA})
"""Stand for a slide's number, a date, a header, a footer: ``*`` in the text."""

_ART, _PARTS, _PART, _TEXT, _CLIENT = 0xF000, 0xF003, 0xF004, 0xF00D, 0xF011
_OPTIONS, _MORE_OPTIONS, _CHILD_ANCHOR, _ANCHOR = 0xF00B, 0xF122, 0xF00F, 0xF010
_PICTURE, _TABLE = 0x0104, 0x039F  # properties of a shape
_SLIDES_LIST, _NOTES_LIST = 0, 2
_ENCRYPTED = 0xF3D1C4DF
_TITLES, _BODIES = frozenset({0, 6}), frozenset({1, 7, 8})  # kinds of text
_TITLE_PLACES = frozenset({0x0D, 0x0F, 0x11})  # placeholders
_NOT_SHOWN = frozenset({0x07, 0x08, 0x09, 0x0A, 0x0B})  # date, number, footer, header, the slide
_MOST_EDITS = 10_000
_MOST_RECORDS = 5_000_000
_DEEPEST = 60
_Box = tuple[int, int, int, int]


@dataclass(slots=True)
class Shape:
    """Something on a slide: a text, a picture or a table.

    Attributes:
        lines: paragraphs of its text.
        marks: level of each paragraph, and whether it has a bullet; ``None`` where it does not
            say, and at the end of a text.
        bulleted: whether those that do not say have one.
        is_title: whether it is the slide's title.
        has_text: whether it is a frame of text, which may be empty.
        picture: the number of the picture that it shows, from 1, or 0.
        rows: of a table, the cells of each row.
    """

    lines: list[str] = field(default_factory=list)
    marks: list[tuple[int, bool | None]] = field(default_factory=list)
    bulleted: bool = False
    is_title: bool = False
    has_text: bool = False
    picture: int = 0
    rows: list[list[str]] = field(default_factory=list)


@dataclass(slots=True)
class Slide:
    """A slide: its shapes in reading order, its date and footer, the shapes of its notes, and
    author and text of each comment."""

    shapes: list[Shape]
    footers: list[str]
    notes: list[Shape]
    comments: list[tuple[str, str]]


class SlidesBinary:
    """A presentation.

    Args:
        stream: the stream ``PowerPoint Document``.
        user: the stream ``Current User``.
        pictures: the stream ``Pictures``.

    Attributes:
        objects: how many files of other programs are embedded in it.

    Raises:
        PasswordRequired: it is encrypted.
        ReadingError: there is no presentation where it should be.
    """

    def __init__(self, stream: bytes, user: bytes, pictures: bytes) -> None:
        self._stream = stream
        self._left = _MOST_RECORDS
        self._characters = MOST_CHARACTERS
        if len(user) >= 20 and u32(user, 12) == _ENCRYPTED:
            raise PasswordRequired("the ppt file opens only with a password")
        self._places, document = self._directory(u32(user, 16))
        found = self._at(document, _DOCUMENT)
        if found is None:
            found = next((item for item in self._records(stream) if item.kind == _DOCUMENT), None)
        if found is None:
            raise ReadingError("the presentation holds no document where it says")
        parts = list(self._records(found.data))
        self._footers = self._footers_of(parts)
        art = next(
            (inner.data for part in parts if part.kind == _GROUP
             for inner in self._records(part.data) if inner.kind == _ART), b"",
        )  # fmt: skip
        self._pictures = store(art, pictures)
        self.objects = sum(item.kind == _OBJECT for item in self._records(stream))
        self._slides = self._listed(parts, _SLIDES_LIST)
        self._notes = {slide: place for place, slide, _ in self._listed(parts, _NOTES_LIST)}

    def __len__(self) -> int:
        return len(self._slides)

    def slides(self) -> Iterator[Slide | None]:
        """The slides in the order in which they are shown; ``None`` for one that is missing."""
        for place, _, outline in self._slides:
            found = self._at(place, _SLIDE)
            if found is None:
                yield None
                continue
            parts = list(self._records(found.data))
            atom = next((part.data for part in parts if part.kind == _SLIDE_ATOM), b"")
            shapes = self._drawn(parts, outline)
            notes = self._at(self._notes.get(u32(atom, 16), 0), _NOTES)
            inner = list(self._records(notes.data)) if notes else []
            footers = self._footers_of(parts) or self._footers
            yield Slide(shapes, footers, self._drawn(inner, []), self._comments(parts))

    def picture(self, shape: Shape) -> bytes | None:
        """The picture that a shape shows, as a file."""
        number = shape.picture
        return self._pictures[number - 1] if 0 < number <= len(self._pictures) else None

    def _directory(self, at: int) -> tuple[dict[int, int], int]:
        """Where the parts stand, newest first: UserEditAtom (2.3.3), PersistDirectoryAtom (2.3.4).

        Returns:
            The place of each part by its number, and the number of the document.
        """
        places: dict[int, int] = {}
        document = 0
        seen: set[int] = set()
        while 0 < at < len(self._stream) and at not in seen and len(seen) < _MOST_EDITS:
            seen.add(at)
            edit = self._record(self._stream, at)
            if edit is None or edit.kind != _EDIT or len(edit.data) < 20:
                break
            if len(edit.data) >= 32 and u32(edit.data, 28):
                raise PasswordRequired("the ppt file opens only with a password")
            document = document or u32(edit.data, 16)
            directory = self._record(self._stream, u32(edit.data, 12))
            if directory is not None and directory.kind == _DIRECTORY:
                data, here = directory.data, 0
                while here + 4 <= len(data):
                    head = u32(data, here)
                    first, count = head & 0xFFFFF, head >> 20
                    here += 4
                    for number in range(min(count, (len(data) - here) // 4)):
                        places.setdefault(first + number, u32(data, here + 4 * number))
                    here += 4 * count
            at = u32(edit.data, 8)
        return places, document

    def _at(self, number: int, kind: int) -> Record | None:
        """The part of a number, if it is of that kind."""
        place = self._places.get(number)
        found = None if place is None else self._record(self._stream, place)
        return found if found is not None and found.kind == kind else None

    def _record(self, data: bytes, at: int) -> Record | None:
        if at + 8 > len(data):
            return None
        head, kind, size = struct.unpack_from("<HHI", data, at)
        return Record(kind, head >> 4, data[at + 8 : at + 8 + size], head & 15 == 15)

    def _records(self, data: bytes) -> Iterator[Record]:
        """The records that follow one another."""
        at = 0
        while (found := self._record(data, at)) is not None:
            self._left -= 1
            if self._left < 0:
                raise ReadingError(f"the presentation has more than {_MOST_RECORDS:,} records")
            yield found
            at += 8 + u32(data, at + 4)

    def _listed(self, parts: list[Record], which: int) -> list[tuple[int, int, list[Shape]]]:
        """Slides of a list (2.4.14.3): number of the part, id, and the texts of its outline."""
        found: list[tuple[int, int, list[Shape]]] = []
        for part in parts:
            if part.kind != _LIST or part.instance != which:
                continue
            for record in self._records(part.data):
                if record.kind == _LISTED:
                    found.append((u32(record.data, 0), u32(record.data, 12), []))
                elif found:
                    self._text(record, found[-1][2])
        return found

    def _text(self, record: Record, texts: list[Shape]) -> None:
        """Take a record of a text: its kind begins one, its characters, their properties follow."""
        if record.kind == _HEADER:
            kind = u32(record.data, 0)
            texts.append(Shape(is_title=kind in _TITLES, bulleted=kind in _BODIES))
        elif record.kind in {_CHARS, _BYTES} and texts:
            coding = "utf-16-le" if record.kind == _CHARS else "latin-1"
            text = record.data.decode(coding, "replace")
            self._characters -= len(text)
            if self._characters < 0:
                raise ReadingError(f"it holds more than {MOST_CHARACTERS:,} characters")
            texts[-1].lines = text.rstrip("\r").split("\r")
        elif record.kind == _STYLE and texts and texts[-1].lines:
            texts[-1].marks = marks(record.data, [len(line) for line in texts[-1].lines])

    def _footers_of(self, parts: list[Record]) -> list[str]:
        """Date and footer that are shown, of those among headers and footers (2.4.15.2)."""
        found: list[str] = []
        for part in parts:
            if part.kind != _FOOTERS:
                continue
            shown = 0
            for record in self._records(part.data):
                if record.kind == _FOOTERS_SHOWN:
                    shown = int.from_bytes(record.data[2:4], "little")
                elif record.kind == _STRING and shown & _STRINGS_SHOWN.get(record.instance, 0):
                    found.append(record.data.decode("utf-16-le", "replace").strip())
        return found

    def _comments(self, parts: list[Record]) -> list[tuple[str, str]]:
        """The comments in the tags of PowerPoint 2002 and later (2.5.19 PP10SlideBinaryTag)."""
        for kind in (_TAGS, _TAG, _TAG_DATA):
            parts = [
                inner for part in parts if part.kind == kind for inner in self._records(part.data)
            ]
        found = [comment(self._records(part.data)) for part in parts if part.kind == _COMMENT]
        return [(author, text) for author, text in found if text]

    def _drawn(self, parts: list[Record], outline: list[Shape]) -> list[Shape]:
        for part in parts:
            if part.kind == _DRAWING:
                for container in self._records(part.data):
                    for group in self._records(container.data):
                        if group.kind == _PARTS:
                            return self._group(group.data, outline, 0)
        return []

    def _group(self, data: bytes, outline: list[Shape], depth: int) -> list[Shape]:
        """The shapes of a group ([MS-ODRAW] 2.2.16): titles first, then by place; in the stored
        order where a place is unknown."""
        titles: list[Shape] = []
        found: list[tuple[_Box | None, list[Shape]]] = []
        for number, record in enumerate(self._records(data)):
            if record.kind == _PART and number:  # the first one is the group itself
                shape, box = self._shape(record.data, outline)
                if shape is not None and shape.is_title:
                    titles.append(shape)
                elif shape is not None:
                    found.append((box, [shape]))
            elif record.kind == _PARTS and depth < _DEEPEST:
                first = next(self._records(record.data), None)
                _, box = self._shape(first.data if first else b"", outline)
                table = self._is_table(record.data)
                shapes = (
                    [self._table(record.data, outline)]
                    if table
                    else self._group(record.data, outline, depth + 1)
                )
                found.append((box, shapes))
        boxes = [box for box, _ in found if box is not None]
        if len(boxes) == len(found):
            found = [found[at] for at in in_reading_order(boxes)]
        return titles + [shape for _, shapes in found for shape in shapes]

    def _is_table(self, data: bytes) -> bool:
        """Whether a group of shapes is a table: its first shape says so."""
        first = next(self._records(data), None)
        if first is None or first.kind != _PART:
            return False
        return any(
            _TABLE in options(inner)
            for inner in self._records(first.data)
            if inner.kind in {_OPTIONS, _MORE_OPTIONS}
        )

    def _table(self, data: bytes, outline: list[Shape]) -> Shape:
        """A table: its cells are shapes, in rows and columns by where they stand."""
        cells = []
        for record in self._records(data):
            if record.kind == _PART:
                shape, box = self._shape(record.data, outline)
                if shape is not None and shape.has_text and box is not None:
                    cells.append((box[1], box[0], " ".join(" ".join(shape.lines).split())))
        lefts = grid(left for _, left, _ in cells)
        rows: list[list[str]] = []
        before, last = 0, len(lefts)
        for top, left, text in sorted(cells, key=lambda cell: cell[0]):
            column = max(0, sum(other <= left for other in lefts) - 1)
            # Rows of no height, which some programs write, are told by their columns alone.
            if not rows or top - before > SAME_EDGE or column <= last:
                rows.append([""] * len(lefts))
            rows[-1][column] = text
            before, last = top, column
        return Shape(rows=rows)

    def _shape(self, data: bytes, outline: list[Shape]) -> tuple[Shape | None, _Box | None]:
        """A shape with a text or a picture, if it is one that is shown, and where it stands."""
        shape: Shape | None = None
        box: _Box | None = None
        picture = 0
        placeholder = 0
        for record in self._records(data):
            if record.kind == _CHILD_ANCHOR and len(record.data) >= 16:
                box = struct.unpack_from("<4i", record.data, 0)
            elif record.kind == _ANCHOR and len(record.data) >= 8:
                form = "<4i" if len(record.data) >= 16 else "<4h"
                top, left, right, bottom = struct.unpack_from(form, record.data, 0)
                box = left, top, right, bottom
            elif record.kind == _OPTIONS:
                picture = options(record).get(_PICTURE, 0)
            elif record.kind == _TEXT:
                shape = self._textbox(record.data, outline)
            elif record.kind == _CLIENT:
                for inner in self._records(record.data):
                    if inner.kind == _PLACEHOLDER and len(inner.data) > 4:
                        placeholder = inner.data[4]
        if placeholder in _NOT_SHOWN:
            return None, box
        if shape is not None and placeholder in _TITLE_PLACES:
            shape.is_title = True
        if picture:
            shape = shape or Shape()
            shape.picture = picture
        return shape, box

    def _textbox(self, data: bytes, outline: list[Shape]) -> Shape | None:
        texts: list[Shape] = []
        sign = False
        for record in self._records(data):
            if record.kind == _OUTLINE:
                number = u32(record.data, 0)
                return outline[number] if number < len(outline) else None
            self._text(record, texts)
            sign = sign or record.kind in _SIGNS
        if not texts or (sign and "".join(texts[0].lines).strip() == "*"):
            return None
        texts[0].has_text = True
        return texts[0]
