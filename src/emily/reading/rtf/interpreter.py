"""The reading of a Rich Text file (RTF 1.9.1): what its control words do to the text."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass, field

from emily.reading.rtf.flow import Flow, Role, Row
from emily.reading.rtf.state import State
from emily.reading.rtf.tables import (
    CHARACTERS,
    CONTENT,
    FLOWS,
    IGNORED,
    KEPT,
    Fonts,
    Styles,
)
from emily.reading.rtf.tokens import Token, is_utf8, symbol_text, tokens, unhexed
from emily.reading.source import check_length

__all__ = ["RtfReader"]

_MOST_DEPTH = 2_000  # groups in one another; Word stops far below
_PAGE_FIELDS = frozenset({"PAGE", "NUMPAGES", "SECTIONPAGES"})
_TIMES = {"creatim", "revtim"}


@dataclass(slots=True)
class _Picture:
    digits: bytearray = field(default_factory=bytearray)
    binary: bytes = b""


class RtfReader:
    """Reads one file.

    Attributes:
        flows: the body, and every header, footer, note and comment, in the order in which they
            end; the body is the last.
        info: the file's own ``title`` and ``author``.
        times: dates of its making (``creatim``) and last change (``revtim``).
        deleted, hidden: characters left out because they are struck from the text, or hidden.
        objects: embedded objects, which are not read.
        open_groups: how many groups the file leaves open; more than none if it is truncated.
        too_deep: whether groups are nested too deeply, and left out.

    Raises:
        LimitExceeded: it holds more text than is read.
    """

    def __init__(self, data: bytes, picture: Callable[[bytes], list[str]]) -> None:
        self.flows: list[Flow] = []
        self.info: dict[str, str] = {}
        self.times: dict[str, dt.date] = {}
        self.deleted = 0
        self.hidden = 0
        self.objects = 0
        self.open_groups = 0
        self.too_deep = False
        self._picture = picture
        self._fonts = Fonts()
        self._styles = Styles()
        self._body = Flow("body")
        self._state = State(self._body)
        self._stack: list[State] = []
        self._ignored_depth = 0
        self._starred = False
        self._raw = bytearray()
        self._skip = 0
        self._length = 0
        self._pict: _Picture | None = None
        self._property = ""
        self._value = ""
        self._author = ""
        self._instruction = ""
        self._date: dict[str, int] = {}
        self._row = Row()
        self._begun = False  # whether the file begins as it should, and ends with its first group
        self._utf8 = is_utf8(data)
        self._read(data)

    def _read(self, data: bytes) -> None:
        for token in tokens(data):
            if token.kind == "open":
                self._open()
            elif token.kind == "close":
                if self._close():
                    break
            elif self._ignored_depth:
                continue
            elif token.kind == "word":
                self._word(token.name, token.value)
            elif token.kind == "symbol":
                self._symbol(token.name)
            elif token.kind == "binary":
                if self._pict is not None:
                    self._pict.binary += token.data
            else:
                self._characters(token)
        self._flush()
        self.open_groups = len(self._stack)
        while self._stack:
            self._close()
        self._body.finish()
        self.flows.append(self._body)

    # Groups

    def _open(self) -> None:
        if self._raw:
            self._flush()
        self._skip = 0
        self._starred = False
        if self._ignored_depth or len(self._stack) >= _MOST_DEPTH:
            self._ignored_depth += 1
            self.too_deep = True
            return
        self._stack.append(self._state)
        self._state = self._state.copy()

    def _close(self) -> bool:
        """End a group; whether the file ends with it."""
        if self._raw:
            self._flush()
        self._skip = 0
        self._starred = False
        if self._ignored_depth:
            self._ignored_depth -= 1
            return False
        if not self._stack:
            return False  # one brace too many, which other programs pass over too
        ended, self._state = self._state, self._stack.pop()
        if ended.flow is not self._state.flow:
            self._end_flow(ended.flow)
        if ended.dest == "pict" and self._state.dest != "pict":
            self._end_picture()
        if ended.dest == "value" and self._state.dest != "value":
            self._end_property()
        if ended.dest in _TIMES and self._state.dest not in _TIMES:
            self._end_time(ended.dest)
        return not self._stack and self._begun

    def _end_flow(self, flow: Flow) -> None:
        blocks = flow.finish()
        if flow.role == "box":
            text = blocks.text()
            self._state.flow.hang(text.split("\n") if text else [])
        else:
            self.flows.append(flow)

    def _end_picture(self) -> None:
        pict, self._pict = self._pict, None
        if pict is None:
            return
        digits = bytes(pict.digits)
        data = pict.binary or unhexed(digits)
        if data:
            self._state.flow.hang(self._picture(data))

    def _end_property(self) -> None:
        """A property of a shape, of which its description for those who cannot see it is kept."""
        value, self._value = " ".join(self._value.split()), ""
        if value and self._property.strip() == "wzDescription":
            self._state.flow.hang([value])

    def _end_time(self, name: str) -> None:
        date, self._date = self._date, {}
        try:
            self.times[name] = dt.date(date.get("yr", 0), date.get("mo", 0), date.get("dy", 0))
        except ValueError:
            return

    # Text

    def _characters(self, token: Token) -> None:
        data = token.data
        if self._skip:
            skipped = min(self._skip, len(data))
            self._skip -= skipped
            data = data[skipped:]
            if not data:
                return
        if self._pict is not None and self._state.dest == "pict":
            self._pict.digits += data
        elif self._state.dest == "skip":
            return
        elif self._utf8 and token.kind == "text" and not data.isascii():
            self._flush()
            self._emit(data.decode("utf-8", "replace"))
        else:
            self._raw += data

    def _flush(self) -> None:
        """Decode the characters that wait, which may be halves of one."""
        if not self._raw:
            return
        data, self._raw = bytes(self._raw), bytearray()
        if self._state.dest in {"fonts", "styles", "title", "author"}:
            self._emit(data.decode(self._fonts.codec(None), "replace"))
            return
        symbols = self._fonts.symbols(self._state.font)
        if symbols is not None:
            self._emit(symbol_text(data, greek=symbols) or ("-" if self._in_label() else ""))
        else:
            self._emit(data.decode(self._fonts.codec(self._state.font), "replace"))

    def _in_label(self) -> bool:
        return self._state.dest == "label"

    def _emit(self, text: str) -> None:
        state = self._state
        if not text:
            return
        match state.dest:
            case "text" if state.deleted:
                self.deleted += len(text.strip())
            case "text" if state.hidden:
                self.hidden += len(text.strip())
            case "text":
                self._length += len(text)
                if self._length & 0xFFFF < len(text):
                    check_length(self._length)
                state.flow.add(text.replace("\0", ""))
            case "label":
                state.flow.label(text)
            case "fonts":
                self._fonts.name(text)
            case "styles":
                self._styles.name(text)
            case "title" | "author":
                self.info[state.dest] = self.info.get(state.dest, "") + text
            case "instruction":
                self._instruction += text
            case "by":
                self._author += text
            case "property":
                self._property += text
            case "value":
                self._value += text

    # Control words

    def _symbol(self, name: str) -> None:
        if name == "*":
            self._starred = True
            return
        self._skip = max(0, self._skip - 1) if self._skip and name in "\\{}" else 0
        if name in "\r\n":
            self._word("par", None)
        elif name in "\\{}":
            self._raw += name.encode()
        elif text := {"~": " ", "_": "-", "\t": "\t"}.get(name):
            self._flush()
            self._emit(text)

    def _word(self, name: str, value: int | None) -> None:
        if self._raw:
            self._flush()
        self._skip = 0
        starred, self._starred = self._starred, False
        state = self._state
        if name == "rtf" and len(self._stack) == 1:
            self._begun = True
        if state.dest == "skip":
            if name == "ud" and starred:
                state.dest = state.around  # the Unicode form of what was skipped
            return
        if starred and name not in KEPT:
            self.objects += name == "objdata"
            state.dest = "skip"
        elif name in IGNORED or (name.startswith("m") and name.endswith("Pr")):
            state.around = state.dest
            state.dest = "skip"
        elif name in CONTENT:
            self._content(name)
        elif name in FLOWS:
            if state.dest == "text":
                self._begin_flow(FLOWS[name])
        elif name in CHARACTERS:
            self._emit(CHARACTERS[name])
        elif name == "u":
            self._unicode(value or 0)
        elif state.dest == "fonts":
            self._fonts.word(name, value)
        elif state.dest == "styles":
            self._styles.word(name, value)
        elif state.dest in _TIMES:
            self._date[name] = value or 0
        elif state.dest == "text":
            self._format(name, value)
        elif name == "f":
            state.font = value

    def _content(self, name: str) -> None:
        """A destination that holds something other than the text."""
        state = self._state
        dest = CONTENT[name]
        if name == "fldrslt":
            words = self._instruction.split()
            self._instruction = ""
            printed = state.flow.role in {"header", "footer"}
            if printed and words and words[0].upper() in _PAGE_FIELDS:
                state.dest = "skip"
            return
        if name == "fldinst":
            self._instruction = ""
        elif name == "pict":
            if state.dest == "text" and (state.hidden or state.deleted):
                dest = "skip"
            else:
                self._pict = _Picture()
        elif name == "atnauthor":
            self._author = ""
        elif name == "sn":
            self._property = ""
        elif name in {"title", "author"} and state.dest != "info":
            return
        state.dest = dest

    def _begin_flow(self, role: Role) -> None:
        state = self._state
        state.flow = Flow(role, self._author.strip() if role == "Comment" else "")
        state.plain_paragraph()

    def _unicode(self, value: int) -> None:
        code = value + 0x10000 if value < 0 else value
        self._skip = self._state.fallbacks
        if 0xF000 <= code <= 0xF0FF:  # where fonts of symbols have their own characters
            symbols = self._fonts.symbols(self._state.font)
            text = symbol_text(bytes([code & 0xFF]), greek=bool(symbols))
            self._emit(text or ("-" if self._in_label() else ""))
        elif 0 < code < 0x110000:
            self._emit(chr(code))

    def _format(self, name: str, value: int | None) -> None:
        """A control word in the text."""
        state = self._state
        match name:
            case "par" | "sect":
                state.flow.paragraph(state.form(self._styles))
            case "cell":
                state.flow.cell(1)
            case "nestcell":
                state.flow.cell(max(2, state.nested))
            case "row":
                state.flow.row(1, self._row)
            case "nestrow":
                state.flow.row(max(2, state.nested), self._row)
            case "trowd":
                self._row = Row(edges=[0])
                if state.nested < 2:
                    state.flow.row_open = True
            case "trleft" if self._row.edges:
                self._row.edges[0] = value or 0
            case "cellx":
                self._row.edges.append(value or 0)
            case "trhdr":
                self._row.header = value != 0
            case "ftnalt":
                state.flow.role = "Endnote"
            case "ansicpg":
                self._fonts.page = value or 1252
            case "mac" | "pc" | "pca":
                self._fonts.page = {"mac": 10000, "pc": 437, "pca": 850}[name]
            case "deff":
                self._fonts.default = value
            case _:
                state.format(name, value)
