"""What the control words of Rich Text mean, and its tables of fonts and styles."""

from __future__ import annotations

import re

from emily.reading.rtf.flow import Role
from emily.reading.rtf.tokens import charset_page, windows_codec

__all__ = ["CHARACTERS", "CONTENT", "FLOWS", "IGNORED", "KEPT", "Fonts", "Styles"]

CHARACTERS = {
    "tab": "\t", "line": "\n", "lbr": "\n", "softline": "\n", "page": "\n", "column": "\n",
    "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“",
    "rdblquote": "”", "bullet": "•", "emspace": " ", "enspace": " ", "qmspace": " ",
}  # fmt: skip
"""Control words that stand for a character."""

FLOWS: dict[str, Role] = {
    "header": "header", "headerl": "header", "headerr": "header", "headerf": "header",
    "footer": "footer", "footerl": "footer", "footerr": "footer", "footerf": "footer",
    "footnote": "Footnote", "annotation": "Comment", "shptxt": "box", "dptxbxtext": "box",
}  # fmt: skip
"""Destinations that hold text of their own."""

CONTENT = {
    "fonttbl": "fonts", "stylesheet": "styles", "info": "info", "title": "title",
    "author": "author", "creatim": "creatim", "revtim": "revtim", "pict": "pict",
    "fldinst": "instruction", "fldrslt": "text", "listtext": "label", "pntext": "label",
    "atnauthor": "by", "sp": "shape", "sn": "property", "sv": "value",
}  # fmt: skip
"""Destinations that hold something else, and what it is called here."""

IGNORED = frozenset({
    "colortbl", "listtable", "listoverridetable", "revtbl", "rsidtbl", "generator", "filetbl",
    "nonshppict", "shprslt", "nonesttables", "upr", "xe", "tc", "tcn", "rxe", "txe", "bkmkstart",
    "bkmkend", "objdata", "objclass", "objname", "themedata", "colorschememapping", "datastore",
    "latentstyles", "ftnsep", "ftnsepc", "ftncn", "aftnsep", "aftnsepc", "aftncn", "private",
    "pntxta", "pntxtb", "pnseclvl", "listpicture", "leveltext", "levelnumbers", "mmathPict",
    "subject", "keywords", "doccomm", "operator", "comment", "printim", "buptim", "company",
    "manager", "category", "hlinkbase", "template", "falt", "fname", "panose", "userprops",
    "xmlnstbl", "protusertbl", "pgptbl", "atnid", "atnref", "atndate", "atntime", "atnicn",
    "atnparent", "atrfstart", "atrfend", "formfield", "datafield", "fontemb", "keycode",
})  # fmt: skip
"""Destinations of which nothing is read."""

KEPT = frozenset({
    "shppict", "shpinst", "fldinst", "annotation", "atnauthor", "nesttableprops", "do", "shptxt",
    "listtext", "pntext", "picprop", "moMath", "moMathPara", "pict", "footnote", "sp", "sn", "sv",
    "fldrslt", "header", "footer", "shpgrp",
})  # fmt: skip
r"""Destinations that are read although ``\*`` allows to pass them over."""

_HEADING = re.compile(
    r"(?:heading|überschrift|titre|titolo|título|kop|rubrik|overskrift|nagłówek|заголовок)\s*"
    r"([1-9])",
    re.IGNORECASE,
)
_TITLES = frozenset({"title", "titel", "titre", "titolo", "título"})
_MOST_PARENTS = 20  # styles based on one another


class Fonts:
    """The font table, which says how bytes are decoded.

    Attributes:
        page: code page of the file.
        default: number of the font that is used where none is named.
    """

    def __init__(self) -> None:
        self.page = 1252
        self.default: int | None = None
        self._current: int | None = None
        self._charsets: dict[int, int] = {}
        self._pages: dict[int, int] = {}
        self._names: dict[int, str] = {}
        self._codecs: dict[tuple[int | None, int], str] = {}  # found so far, by font and page

    def word(self, name: str, value: int | None) -> None:
        """A control word inside of the table."""
        self._codecs.clear()
        if name == "f":
            self._current = value
        elif self._current is not None and name == "fcharset":
            self._charsets[self._current] = value or 0
        elif self._current is not None and name == "cpg" and value:
            self._pages[self._current] = value

    def name(self, text: str) -> None:
        """Text inside of the table."""
        if self._current is not None:
            known = self._names.get(self._current, "")
            if not known.endswith(";"):
                self._names[self._current] = known + text.strip()

    def symbols(self, font: int | None) -> bool | None:
        """Whether a font of symbols is Symbol itself; ``None`` for a font of letters."""
        font = self.default if font is None else font
        if font is None:
            return None
        name = self._names.get(font, "").strip("; ").casefold()
        if self._charsets.get(font, 2 if name == "symbol" else 0) != 2:
            return None
        return name.startswith("symbol")

    def codec(self, font: int | None) -> str:
        """Python's name for the encoding of a font."""
        font = self.default if font is None else font
        known = self._codecs.get((font, self.page))
        if known is None:
            known = self._codecs[font, self.page] = self._found_codec(font)
        return known

    def _found_codec(self, font: int | None) -> str:
        if font is not None and font in self._pages:
            return windows_codec(self._pages[font])
        charset = self._charsets.get(font, 1) if font is not None else 1
        page = charset_page(charset)
        if page is None:
            page = self.page
            # Where other fonts name the file's code page, charset 0 means what it says (ANSI);
            # careless programs write 0 for all fonts and mean the file's.
            if charset == 0 and any(charset_page(c) == page for c in self._charsets.values()):
                page = 1252
        return windows_codec(page)


class Styles:
    """The style sheet, which says what is a heading."""

    def __init__(self) -> None:
        self._current: int | None = 0
        self._levels: dict[int, int] = {}
        self._parents: dict[int, int] = {}

    def word(self, name: str, value: int | None) -> None:
        """A control word inside of the sheet."""
        if name == "s":
            self._current = value or 0
        elif name in {"cs", "ds", "ts"}:
            self._current = None
        elif self._current is not None and name == "outlinelevel" and value is not None:
            self._levels[self._current] = value + 1 if 0 <= value < 9 else 0
        elif self._current is not None and name == "sbasedon" and value is not None:
            self._parents[self._current] = value

    def name(self, text: str) -> None:
        """A style's name, which ends its entry."""
        if self._current is not None and self._current not in self._levels:
            name = text.strip("; ").casefold()
            if match := _HEADING.fullmatch(name):
                self._levels[self._current] = int(match[1])
            elif name in _TITLES:
                self._levels[self._current] = 1
        if ";" in text:
            self._current = 0 if self._current is None else self._current

    def heading(self, style: int) -> int:
        """Level of the heading that a style makes, from 1; 0 for none."""
        for _ in range(_MOST_PARENTS):
            if style in self._levels:
                return self._levels[style]
            if style not in self._parents:
                return 0
            style = self._parents[style]
        return 0
