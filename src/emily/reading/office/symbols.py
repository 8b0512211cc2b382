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
    0x22: "∀", 0x24: "∃", 0x27: "∋", 0x2A: "∗", 0x2D: "−", 0x40: "≅", 0x5C: "∴", 0x5E: "⊥",
    0x7E: "∼", 0xA1: "ϒ", 0xA2: "′", 0xA3: "≤", 0xA4: "⁄", 0xA5: "∞", 0xA6: "ƒ", 0xA7: "♣",
    0xA8: "♦", 0xA9: "♥", 0xAA: "♠", 0xAB: "↔", 0xAC: "←", 0xAD: "↑", 0xAE: "→", 0xAF: "↓",
    0xB0: "°", 0xB1: "±", 0xB2: "″", 0xB3: "≥", 0xB4: "×", 0xB5: "∝", 0xB6: "∂", 0xB7: "•",
    0xB8: "÷", 0xB9: "≠", 0xBA: "≡", 0xBB: "≈", 0xBC: "…", 0xBF: "↵", 0xC0: "ℵ", 0xC1: "ℑ",
    0xC2: "ℜ", 0xC3: "℘", 0xC4: "⊗", 0xC5: "⊕", 0xC6: "∅", 0xC7: "∩", 0xC8: "∪", 0xC9: "⊃",
    0xCA: "⊇", 0xCB: "⊄", 0xCC: "⊂", 0xCD: "⊆", 0xCE: "∈", 0xCF: "∉", 0xD0: "∠", 0xD1: "∇",
    0xD2: "®", 0xD3: "©", 0xD4: "™", 0xD5: "∏", 0xD6: "√", 0xD7: "⋅", 0xD8: "¬", 0xD9: "∧",
    0xDA: "∨", 0xDB: "⇔", 0xDC: "⇐", 0xDD: "⇑", 0xDE: "⇒", 0xDF: "⇓", 0xE0: "◊", 0xE1: "⟨",
    0xE2: "®", 0xE3: "©", 0xE4: "™", 0xE5: "∑", 0xF1: "⟩", 0xF2: "∫",
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
            known = _SYMBOL.get(place) or _GREEK.get(chr(place))
            # Above ASCII all others are pieces of brackets and arrows.
            return known or (_plain(place) if not 0x7F <= place < 0x100 else "")
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
