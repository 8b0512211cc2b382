"""Numbers of lists as word processors write them."""

from __future__ import annotations

__all__ = ["letters", "roman"]


def roman(count: int) -> str:
    """A number from 1 on in Roman numerals, capital: 14 is ``XIV``."""
    digits = ""
    for size, sign in (
        (1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"),
        (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I"),
    ):  # fmt: skip
        digits += sign * (count // size)
        count %= size
    return digits


def letters(count: int) -> str:
    """A number from 1 on as letters: ``a`` to ``z``, then ``aa``, ``bb``, at most 20 of them."""
    return chr(ord("a") + (count - 1) % 26) * min((count - 1) // 26 + 1, 20)
