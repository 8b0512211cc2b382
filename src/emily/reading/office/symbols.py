"""Letters of symbol fonts, which Office files store by their place in the font."""

from __future__ import annotations

__all__ = ["symbol"]

_GREEK = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ",
        strict=True,
    )
)
_SYMBOL = {
    0x22: "∀", 0x24: "∃", 0x27: "∋", 0x2D: "−", 0x40: "≅", 0xA2: "′", 0xA3: "≤", 0xA5: "∞",
    0xAB: "↔", 0xAC: "←", 0xAD: "↑", 0xAE: "→", 0xAF: "↓", 0xB0: "°", 0xB1: "±", 0xB2: "″",
    0xB3: "≥", 0xB4: "×", 0xB5: "∝", 0xB6: "∂", 0xB7: "•", 0xB8: "÷", 0xB9: "≠", 0xBA: "≡",
    0xBB: "≈", 0xBC: "…", 0xC5: "⊕", 0xC6: "∅", 0xC7: "∩", 0xC8: "∪", 0xCE: "∈", 0xCF: "∉",
    0xD1: "∇", 0xD2: "®", 0xD3: "©", 0xD4: "™", 0xD5: "∏", 0xD6: "√", 0xD7: "⋅", 0xDB: "⇔",
    0xDC: "⇐", 0xDE: "⇒", 0xE5: "∑", 0xF2: "∫",
}  # fmt: skip
"""Adobe's encoding of its font Symbol, above the letters."""

_WINGDINGS = {
    0x28: "☎", 0x2A: "✉", 0x4A: "☺", 0x4C: "☹", 0x6C: "●", 0x6E: "■", 0x6F: "☐", 0x71: "☐",
    0x72: "☐", 0xA7: "▪", 0xA8: "☐", 0xD8: "➢", 0xDF: "←", 0xE0: "→", 0xE1: "↑", 0xE2: "↓",
    0xE8: "→", 0xFB: "✗", 0xFC: "✓", 0xFD: "☒", 0xFE: "☑",
}  # fmt: skip
_WINGDINGS_2 = {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0xA3: "☐"}


def symbol(code: int, font: str) -> str:
    """The letter at a place of a symbol font; empty where none is known.

    Args:
        code: the place, as it is or in the private area from U+F000.
        font: the font's name.
    """
    place = code - 0xF000 if 0xF000 <= code < 0xF100 else code
    match font.lower():
        case "symbol":
            return _SYMBOL.get(place) or _GREEK.get(chr(place)) or _plain(place)
        case "wingdings":
            return _WINGDINGS.get(place, "")
        case "wingdings 2":
            return _WINGDINGS_2.get(place, "")
    return _plain(code)


def _plain(code: int) -> str:
    """A character that is one by itself, not only in some font."""
    if 0x20 <= code < 0xD800 or 0xF900 <= code < 0x11_0000:
        return chr(code)
    return ""
