"""Rich text as Outlook stores it: compressed (MS-OXRTFCP), often with HTML in it (MS-OXRTFEX)."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, replace

from emily.errors import LimitExceeded, ReadingError

__all__ = ["decompressed", "unfolded"]

_MOST = 64 << 20  # bytes of rich text
_WINDOW = 4096
_KNOWN = (  # what every dictionary begins with (MS-OXRTFCP 2.1.2.1)
    b"{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern "
    b"\\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0"
    b"\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx"
)
_PIECE = re.compile(
    r"\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\(.)|([{}])|([^\\{}\r\n]+)", re.DOTALL
)
_SKIPPED = frozenset({
    "fonttbl", "colortbl", "stylesheet", "info", "pict", "object", "header", "footer", "headerl",
    "headerr", "headerf", "footerl", "footerr", "footerf", "mhtmltag", "fldinst", "listtable",
    "listoverridetable", "rsidtbl", "generator", "themedata", "colorschememapping", "latentstyles",
    "datastore", "xmlnstbl", "background", "bkmkstart", "bkmkend",
})  # fmt: skip
_SIGNS = {
    "par": "\n", "line": "\n", "tab": "\t", "lquote": "‘", "rquote": "’", "ldblquote": "“",
    "rdblquote": "”", "bullet": "•", "endash": "–", "emdash": "—", "cell": "\t", "row": "\n",
    "sect": "\n", "page": "\n", "emspace": " ", "enspace": " ",
}  # fmt: skip
_ENTITIES = {
    "‘": "&lsquo;", "’": "&rsquo;", "“": "&ldquo;", "”": "&rdquo;", "•": "&bull;",
    "–": "&ndash;", "—": "&mdash;",
}  # fmt: skip
_CHARSETS = {  # of fonts (RTF 1.9.1, fcharset)
    0: "cp1252", 128: "cp932", 129: "cp949", 134: "gb18030", 136: "cp950", 161: "cp1253",
    162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256", 186: "cp1257", 204: "cp1251",
    222: "cp874", 238: "cp1250",
}  # fmt: skip


def decompressed(data: bytes) -> bytes:
    """Rich text out of the property that holds it (LZFu, or stored as MELA).

    A stream that ends too early gives what it holds; its checksum is not tested, since a wrong
    one is no reason to keep the text back.

    Raises:
        ReadingError: it is neither.
        LimitExceeded: it is longer than 64 MiB.
    """
    if len(data) < 16:
        raise ReadingError("its rich text is truncated")
    packed, size, magic = struct.unpack_from("<III", data)
    if magic == 0x414C454D:  # MELA
        return data[16 : 16 + size]
    if magic != 0x75465A4C:  # LZFu
        raise ReadingError("its rich text is packed in a way that is not known")
    if size > _MOST:
        raise LimitExceeded(f"its rich text unpacks to {size:,} bytes")
    window = bytearray(_KNOWN.ljust(_WINDOW, b"\0"))
    write = len(_KNOWN)
    out = bytearray()
    at, end = 16, min(len(data), packed + 4)
    while at < end and len(out) <= _MOST:
        flags = data[at]
        at += 1
        for bit in range(8):
            if at >= end:
                break
            if not flags >> bit & 1:
                out.append(data[at])
                window[write] = data[at]
                write = (write + 1) % _WINDOW
                at += 1
                continue
            if at + 1 >= end:
                at = end
                break
            pair = data[at] << 8 | data[at + 1]
            at += 2
            offset, length = pair >> 4, (pair & 15) + 2
            if offset == write:  # the mark of the end
                return bytes(out)
            for step in range(length):
                byte = window[(offset + step) % _WINDOW]
                out.append(byte)
                window[write] = byte
                write = (write + 1) % _WINDOW
    return bytes(out)


@dataclass(slots=True)
class _State:
    """What a group inherits from the one around it."""

    skip: bool = False
    tag: bool = False  # inside of an htmltag: HTML as it stands
    hidden: bool = False  # between htmlrtf and htmlrtf0: for those who show the rich text
    ignorable: bool = False  # after the mark of what may be passed over
    uc: int = 1
    font: int = 0


def unfolded(rtf: bytes) -> tuple[str, bool]:
    """The HTML that rich text was made of, or else its plain text.

    Args:
        rtf: decompressed.

    Returns:
        The text, and whether it is HTML.
    """
    return _Unfolding(rtf.decode("latin-1")).run()


class _Unfolding:
    def __init__(self, text: str) -> None:
        self._text = text
        self._html = "\\fromhtml" in text[:4096]
        self._out: list[str] = []
        self._bytes = bytearray()
        self._state = _State()
        self._fonts: dict[int, str] = {}
        self._page = "cp1252"
        self._pending = 0  # characters that stand for one that was given in Unicode

    def run(self) -> tuple[str, bool]:
        """Read it through."""
        stack: list[_State] = []
        for found in _PIECE.finditer(self._text):
            word, number, code, sign, brace, plain = found.groups()
            if brace == "{":
                self._pending = 0
                stack.append(replace(self._state))
                self._state.ignorable = False
            elif brace == "}":
                self._flush()
                self._pending = 0
                if stack:
                    self._state = stack.pop()
            elif word is not None:
                self._word(word, int(number) if number else None)
            elif code is not None:
                self._literal(bytes([int(code, 16)]))
            elif sign is not None:
                self._sign(sign)
            else:
                self._plain(plain)
        self._flush()
        return "".join(self._out), self._html

    def _shown(self) -> bool:
        state = self._state
        return not state.skip and (state.tag or not state.hidden)

    def _flush(self) -> None:
        if self._bytes:
            page = self._page if self._state.tag else self._fonts.get(self._state.font, self._page)
            try:
                text = self._bytes.decode(page, "replace")
            except LookupError:
                text = self._bytes.decode("cp1252", "replace")
            self._bytes.clear()
            self._out.append(text)

    def _literal(self, data: bytes) -> None:
        if self._pending:
            self._pending -= 1
        elif self._shown():
            self._bytes += data

    def _plain(self, text: str) -> None:
        cut = min(self._pending, len(text))
        self._pending -= cut
        if self._shown():
            self._bytes += text[cut:].encode("latin-1")

    def _put(self, text: str) -> None:
        if self._shown():
            self._flush()
            if self._html and not self._state.tag:
                text = _ENTITIES.get(text, text)
            self._out.append(text)

    def _sign(self, sign: str) -> None:
        if sign == "*":
            self._state.ignorable = True
        elif sign == "~":
            self._put("&nbsp;" if self._html else "\xa0")
        elif sign == "_":
            self._put("-")
        elif sign in "\\{}":
            self._literal(sign.encode("latin-1"))
        elif sign in "\r\n":
            self._put("\n")

    def _word(self, word: str, number: int | None) -> None:
        state = self._state
        if state.ignorable:
            state.ignorable = False
            if word == "htmltag":
                self._flush()
                state.tag, state.skip = True, False
                return
            state.skip = True
        if word in _SKIPPED:
            state.skip = True
        if word == "ansicpg" and number is not None:
            self._page = "utf-8" if number == 65001 else f"cp{number}"
        elif word == "htmlrtf":
            self._flush()
            state.hidden = number != 0
        elif word == "uc":
            state.uc = max(0, number if number is not None else 1)
        elif word == "u" and number is not None:
            self._put(chr(number % 65536))
            self._pending = state.uc
        elif word == "f" and number is not None:
            self._flush()
            state.font = number
        elif word == "fcharset" and state.skip:
            self._fonts[state.font] = _CHARSETS.get(number or 0, self._page)
        elif word == "plain":
            self._flush()
        elif word in _SIGNS:
            self._put(_SIGNS[word])
