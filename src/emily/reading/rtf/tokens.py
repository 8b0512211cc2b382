"""The tokens of a Rich Text file (RTF 1.9.1): groups, control words, characters, binary data."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

__all__ = [
    "Token", "charset_page", "is_utf8", "symbol_text", "tokens", "unhexed", "windows_codec",
]  # fmt: skip


class Token(NamedTuple):
    r"""A token.

    Attributes:
        kind: ``open`` and ``close`` of a group, ``word`` (``\par``), ``symbol`` (``\~``), ``byte``
            (``\'e9``), ``text`` or ``binary`` (what follows ``\bin``).
        name: of a control word or symbol.
        value: parameter of a control word; ``None`` where it has none.
        data: bytes of a character, text or binary data.
    """

    kind: Literal["open", "close", "word", "symbol", "byte", "text", "binary"]
    name: str = ""
    value: int | None = None
    data: bytes = b""


_TOKEN = re.compile(
    rb"(?P<text>[^\\{}\r\n]+)"
    rb"|\\(?P<word>[a-zA-Z]{1,64})(?P<value>-?\d{1,12})?[ ]?"
    rb"|\\'(?P<byte>[0-9a-fA-F]{2})"
    rb"|\\(?P<symbol>[^a-zA-Z])"
    rb"|(?P<open>\{)|(?P<close>\})|[\r\n]+|\\",
    re.DOTALL,
)
_OPEN = Token("open")
_CLOSE = Token("close")


def tokens(data: bytes) -> Iterator[Token]:
    """The tokens of a file in order; binary data that claims to be longer than it ends with it."""
    at = 0
    while match := _TOKEN.match(data, at):
        at = match.end()
        kind = match.lastgroup
        if kind == "text":
            yield Token("text", data=match[0])
        elif kind in {"word", "value"}:
            name = match["word"].decode("ascii")
            value = int(match["value"]) if match["value"] is not None else None
            if name == "bin":
                size = min(max(value or 0, 0), len(data) - at)
                yield Token("binary", data=data[at : at + size])
                at += size
            else:
                yield Token("word", name, value)
        elif kind == "byte":
            yield Token("byte", data=bytes.fromhex(match["byte"].decode("ascii")))
        elif kind == "open":
            yield _OPEN
        elif kind == "close":
            yield _CLOSE
        elif kind == "symbol":
            yield Token("symbol", match["symbol"].decode("latin-1"))


_CODECS = {
    437: "cp437", 708: "iso8859_6", 850: "cp850", 852: "cp852", 860: "cp860", 862: "cp862",
    863: "cp863", 864: "cp864", 865: "cp865", 866: "cp866", 874: "cp874", 932: "cp932",
    936: "gb18030", 949: "cp949", 950: "cp950", 1361: "johab", 10000: "mac_roman",
    10001: "shift_jis", 10006: "mac_greek", 10007: "mac_cyrillic", 10029: "mac_latin2",
    10081: "mac_turkish", 54936: "gb18030", 65001: "utf-8", 28591: "latin-1",
}  # fmt: skip
_CHARSETS = {
    77: 10000, 78: 10001, 128: 932, 129: 949, 130: 1361, 134: 936, 136: 950, 161: 1253, 162: 1254,
    163: 1258, 177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250, 254: 437, 255: 850,
}  # fmt: skip


def windows_codec(page: int) -> str:
    r"""Python's name for a code page, as ``\ansicpg`` gives it; CP1252 for one unknown."""
    if 1250 <= page <= 1258:
        return f"cp{page}"
    return _CODECS.get(page, "cp1252")


def charset_page(charset: int) -> int | None:
    r"""Code page of a font's ``\fcharset``; ``None`` for the file's own (0 and 1)."""
    return _CHARSETS.get(charset)


_GREEK = dict(
    zip(
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
        "ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖαβχδεφγηιϕκλμνοπθρστυϖωξψζ",
        strict=True,
    )
)
_SIGNS = dict(
    enumerate(
        "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…|—↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑",
        start=0xA0,
    )
) | {0x22: "∀", 0x24: "∃", 0x27: "∋", 0x40: "≅", 0x5C: "∴", 0x5E: "⊥", 0xF1: "⟩", 0xF2: "∫"}


def symbol_text(data: bytes, *, greek: bool) -> str:
    """Text in a font of symbols.

    Args:
        data: codes of its characters.
        greek: whether the font is Symbol, whose letters are known; other fonts hold ornaments,
            of which only the blanks are kept.
    """
    if not greek:
        return "".join(" " if byte == 0x20 else "•" if byte == 0xB7 else "" for byte in data)
    return "".join(_SIGNS.get(byte) or _GREEK.get(chr(byte), chr(byte)) for byte in data)


def unhexed(digits: bytes) -> bytes:
    """What hexadecimal digits say; anything among them that is none is passed over."""
    clean = re.sub(rb"[^0-9a-fA-F]+", b"", digits)
    return bytes.fromhex(clean[: len(clean) // 2 * 2].decode("ascii"))


def is_utf8(data: bytes) -> bool:
    """Whether the file holds UTF-8 as it stands, which the format does not allow for."""
    if data.isascii():
        return False
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
