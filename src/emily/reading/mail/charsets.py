"""Encodings as mail names them, and words of headers that are encoded (RFC 2047)."""

from __future__ import annotations

import binascii
import codecs
import re

from emily.reading.encodings import decode_text

__all__ = ["decode_words", "decoded"]

# Names that occur in mail and that Python does not know, or knows more narrowly than they are
# used: what programs call ISO-8859-1 or GB2312 is Windows-1252 or GB18030 (WHATWG Encoding, 4.2).
_MEANT = {
    "ks_c_5601-1987": "cp949", "ks_c_5601": "cp949", "euc-kr": "cp949", "ksc5601": "cp949",
    "gb2312": "gb18030", "gbk": "gb18030", "gb_2312-80": "gb18030", "x-gbk": "gb18030",
    "iso-8859-1": "cp1252", "latin1": "cp1252", "iso8859-1": "cp1252", "iso-8859-8-i": "cp1255",
    "iso-8859-9": "cp1254", "shift_jis": "cp932", "x-sjis": "cp932", "sjis": "cp932",
    "windows-31j": "cp932", "windows-874": "cp874", "tis-620": "cp874", "iso-8859-11": "cp874",
    "unicode-1-1-utf-7": "utf-7", "x-mac-roman": "mac-roman", "macintosh": "mac-roman",
    "x-user-defined": "cp1252", "unicode": "utf-16-le", "iso-2022-jp": "iso2022_jp_ext",
    "cp-850": "cp850", "x-gb18030": "gb18030", "big5": "big5hkscs",
}  # fmt: skip
_NO_CHARSETS = frozenset({"idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined"})
_SEVEN_BITS = ("iso2022", "utf-7", "hz")  # valid ASCII, and yet not ASCII
_TOLERATED = 0.1  # of the characters above 127 may be broken
_WORD = re.compile(r"=\?([^?\s]{1,60})\?([bBqQ])\?((?:(?!=\?[^=]).)*?)\?=", re.DOTALL)
_BETWEEN = re.compile(r"(?<=\?=)\s+(?==\?[^?\s]{1,60}\?[bBqQ]\?)")


def decoded(data: bytes, charset: str = "") -> tuple[str, str | None]:
    """Text of a mail.

    Args:
        data: its bytes.
        charset: the encoding that the mail names, or an empty text.

    Returns:
        The text, and a sentence that names the encoding when it had to be assumed, else ``None``.
    """
    name = charset.strip().strip("\"'").lower()
    name = _codec(_MEANT.get(name.replace("_", "-"), _MEANT.get(name, name)))
    if name.replace("_", "-").startswith(_SEVEN_BITS) or name.startswith("iso2022"):
        try:
            return data.decode(name), None
        except (UnicodeError, LookupError):
            pass
    text, warning = decode_text(data, name or None)
    if warning is None or not name or name in {"utf-8", "ascii"}:
        return text, warning
    # A few broken bytes are no reason to doubt what the mail says.
    said = data.decode(name, "replace")
    foreign = sum(character > "\x7f" for character in said)
    return (said, None) if said.count("\ufffd") <= _TOLERATED * foreign else (text, warning)


def _codec(name: str) -> str:
    """The name of a codec for text, or an empty text."""
    try:
        b"".decode(name)  # refuses base64 and the like
        found = codecs.lookup(name).name
    except (LookupError, ValueError, UnicodeError):
        return ""
    return "" if found in _NO_CHARSETS else found


def decode_words(value: str) -> str:
    """A header's text with its encoded words decoded; what is broken stays as it stands."""
    if "=?" not in value:
        return value
    value = _BETWEEN.sub("", value)
    held: list[str] = []
    waiting, charset = b"", ""
    at = 0
    for found in _WORD.finditer(value):
        data = _word(found[2], found[3])
        if data is None:
            continue
        said = found[1].partition("*")[0].lower()  # RFC 2231 adds a language
        if found.start() > at or said != charset:
            held.append(decoded(waiting, charset)[0] if waiting else "")
            waiting = b""
            held.append(value[at : found.start()])
        # Characters of several bytes are cut in two by programs that fold without looking.
        waiting, charset, at = waiting + data, said, found.end()
    held.append(decoded(waiting, charset)[0] if waiting else "")
    return "".join(held) + value[at:]


def _word(encoding: str, text: str) -> bytes | None:
    """The bytes of an encoded word, or ``None`` where it is broken."""
    raw = text.encode("utf-8", "replace")
    if encoding in {"q", "Q"}:
        return binascii.a2b_qp(raw, header=True)
    letters = re.sub(rb"[^A-Za-z0-9+/]", b"", raw)
    if len(letters) % 4 == 1:
        letters = letters[:-1]
    try:
        return binascii.a2b_base64(letters + b"=" * (-len(letters) % 4))
    except binascii.Error:
        return None
