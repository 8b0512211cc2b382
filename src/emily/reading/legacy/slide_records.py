"""Records of the binary PowerPoint format ([MS-PPT]), and what stands in some of them."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["SAME_EDGE", "Record", "comment", "grid", "marks", "options", "u32"]

_STRING = 0x0FBA
SAME_EDGE = 12
"""Units of 1/576 inch within which cells of a table are aligned."""


@dataclass(slots=True)
class Record:
    """One record (2.3.1); a container's data are records again."""

    kind: int
    instance: int
    data: bytes
    is_container: bool


def options(record: Record) -> dict[int, int]:
    """Properties of a shape: FOPT ([MS-ODRAW] 2.2.9)."""
    found = {}
    for number in range(min(record.instance, len(record.data) // 6)):
        name, value = struct.unpack_from("<HI", record.data, 6 * number)
        found[name & 0x3FFF] = value
    return found


def marks(style: bytes, lengths: list[int]) -> list[tuple[int, bool | None]]:
    """Level of each paragraph, and whether it has a bullet, by the runs of StyleTextPropAtom
    (2.9.44, 2.9.45)."""
    marks: list[tuple[int, bool | None]] = []
    at = left = level = 0
    bullet: bool | None = None
    for length in lengths:
        while left <= 0:
            if at + 10 > len(style):
                return marks
            left, level = struct.unpack_from("<IH", style, at)
            stated = style[at + 6] & 1  # the mask's bit for the flag, which is the first field
            bullet = bool(style[at + 10 : at + 11] and style[at + 10] & 1) if stated else None
            at = _after(style, at + 6)
        marks.append((min(level, 4), bullet))
        left -= length + 1
    return marks


_PARAGRAPH_FIELDS = (
    (0x000F, 2), (0x0080, 2), (0x0010, 2), (0x0040, 2), (0x0020, 4), (0x0800, 2), (0x1000, 2),
    (0x2000, 2), (0x4000, 2), (0x0100, 2), (0x0400, 2), (0x8000, 2), (0x100000, None),
    (0x10000, 2), (0xE0000, 2), (0x200000, 2),
)  # fmt: skip
"""Which bits of a mask say that a field follows, and its bytes: TextPFException (2.9.20)."""


def _after(style: bytes, at: int) -> int:
    """Where a run's properties end."""
    mask = u32(style, at)
    at += 4
    for bits, size in _PARAGRAPH_FIELDS:
        if mask & bits:
            at += 2 + 4 * int.from_bytes(style[at : at + 2], "little") if size is None else size
    return at


def comment(parts: Iterable[Record]) -> tuple[str, str]:
    """Author and text of a comment: Comment10Container (2.5.21), one of them may be empty."""
    texts = {
        part.instance: " ".join(part.data.decode("utf-16-le", "replace").split("\0")[0].split())
        for part in parts
        if part.kind == _STRING
    }
    return texts.get(0, ""), texts.get(1, "")


def grid(values: Iterable[int]) -> list[int]:
    """The edges among values, those that differ by next to nothing taken for one."""
    found: list[int] = []
    for value in sorted(set(values)):
        if not found or value - found[-1] > SAME_EDGE:
            found.append(value)
    return found


def u32(data: bytes, at: int) -> int:
    """A number of four bytes; what is missing counts as zero."""
    return int.from_bytes(data[at : at + 4], "little")
