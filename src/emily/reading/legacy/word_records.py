"""Records of the binary Word format ([MS-DOC]): numbers, properties, tables of places."""

from __future__ import annotations

import struct
from collections.abc import Iterator

__all__ = ["DEFINE_TABLE", "flag", "places", "properties", "u16", "u32"]

DEFINE_TABLE = 0xD608
_CHANGE_TABS = 0xC615
_OPERANDS = {0: 1, 1: 1, 2: 2, 3: 4, 4: 2, 5: 2, 7: 3}


def u16(data: bytes, at: int) -> int:
    """A number of two bytes; what is missing counts as zero."""
    return int.from_bytes(data[at : at + 2], "little")


def u32(data: bytes, at: int) -> int:
    """A number of four bytes; what is missing counts as zero."""
    return int.from_bytes(data[at : at + 4], "little")


def properties(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Properties and their operands: Prl (2.9.199), Sprm (2.6.1)."""
    at = 0
    while at + 2 <= len(data):
        sprm = u16(data, at)
        at += 2
        if sprm == DEFINE_TABLE:
            size = u16(data, at) + 1 if at + 2 <= len(data) else len(data)
        elif (kind := sprm >> 13) != 6:
            size = _OPERANDS[kind]
        elif at >= len(data):
            return
        elif sprm == _CHANGE_TABS and data[at] == 255:
            size = len(data) - at  # two lists of tabs; nothing of interest comes after them
        else:
            size = 1 + data[at]
        yield sprm, data[at : at + size]
        at += size


def flag(found: dict[int, bytes], sprm: int) -> int:
    """The first byte of a property's operand, 0 without it."""
    operand = found.get(sprm, b"")
    return operand[0] if operand else 0


def places(plc: bytes, width: int) -> Iterator[tuple[int, int, bytes]]:
    """The stretches of a PLC (2.2.2): first and end character, and the data of each.

    Args:
        plc: as many places as stretches and one more, then the data.
        width: bytes of the data of each.
    """
    count = (len(plc) - 4) // (4 + width)
    for number in range(count):
        first, end = struct.unpack_from("<II", plc, 4 * number)
        at = 4 * (count + 1) + width * number
        yield first, end, plc[at : at + width]
