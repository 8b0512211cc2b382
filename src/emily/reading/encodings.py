"""Bytes become text: strict UTF-8 first, and a guess is always a guess that is said aloud."""

from __future__ import annotations

import codecs
import re

__all__ = ["decode_text"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16, whose mark is its beginning
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_JIS_ESCAPE = re.compile(rb"\x1b\$[@B]|\x1b\([BJ]")
_KANA = re.compile("[\u3041-\u30ff]")
_SAMPLE = 65_536
_LEAST_FOREIGN = 16  # bytes above 127 below which no script can be told by statistics
_OTHER_SCRIPTS = [
    "cp1251", "koi8_r", "cp866", "cp1253", "cp1255", "cp1256", "cp874", "gb18030", "big5",
    "euc_kr", "euc_jp",
]  # fmt: skip


def decode_text(
    data: bytes, declared: str | None = None, *, guess_scripts: bool = True
) -> tuple[str, str | None]:
    """Decode the bytes of a text file.

    In this order: a byte order mark, strict UTF-8, the declared encoding, UTF-16 without a mark
    (every other byte zero), UTF-8 with a few broken bytes, Japanese (CP932, by its kana), a
    script other than Latin (by charset-normalizer, when a third of the bytes are above 127),
    Windows-1252, ISO-8859-1.

    Args:
        data: all bytes of the file.
        declared: an encoding that the file names itself, if any.
        guess_scripts: whether scripts other than Latin are told by charset-normalizer; without
            it the standard library is enough, and the result is the same everywhere.

    Returns:
        The text, and a sentence that names the encoding when it had to be assumed, else ``None``.
    """
    for mark, name in _MARKS:
        if data.startswith(mark):
            body = data[len(mark) :]
            try:
                return body.decode(name), None
            except UnicodeDecodeError as error:
                text = body.decode(name, errors="replace")
                return text, f"The file is marked as {name} but is broken at byte {error.start}."
    try:
        text = data.decode()
    except UnicodeDecodeError:
        pass
    else:
        if _JIS_ESCAPE.search(data):
            japanese = _strict(data, "iso2022_jp")
            if japanese is not None and _KANA.search(japanese):
                return japanese, None
        wide = _utf16_without_mark(data)
        return (
            (wide, "Read as UTF-16, assumed: the file has no byte order mark.")
            if wide
            else (
                text,
                None,
            )
        )
    if declared and declared.lower().replace("_", "-") not in {"utf-8", "utf8", "us-ascii"}:
        said = _strict(data, declared)
        if said is not None:
            return said, None
    return _guess(data, guess_scripts=guess_scripts)


def _guess(data: bytes, *, guess_scripts: bool) -> tuple[str, str]:
    wide = _utf16_without_mark(data)
    if wide is not None:
        return wide, "Read as UTF-16, assumed: the file has no byte order mark."
    patched = data.decode(errors="replace")
    broken = patched.count("\ufffd")
    sound = len(re.findall("[^\x00-\x7f\ufffd]", patched))
    if sound >= 10 * broken:
        return patched, f"Read as UTF-8 although {broken} places in it are not valid UTF-8."
    japanese = _strict(data, "cp932")
    if japanese is not None:
        foreign = len(re.findall("[^\x00-\x7f]", japanese))
        if len(_KANA.findall(japanese)) >= max(2, foreign // 10):
            return japanese, "Read as CP932 (Japanese), assumed: the file is not UTF-8."
    sample = data[:_SAMPLE]
    foreign_bytes = sum(byte > 127 for byte in sample) if guess_scripts else 0
    if foreign_bytes > max(_LEAST_FOREIGN, len(sample) / 3):
        found = _other_script(data)
        if found is not None:
            return found
    western = _strict(data, "cp1252")
    if western is not None:
        return western, "Read as Windows-1252, assumed: the file is not UTF-8."
    return data.decode("latin-1"), "Read as ISO-8859-1, assumed: the file is not UTF-8."


def _strict(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except (UnicodeDecodeError, LookupError):
        return None


def _utf16_without_mark(data: bytes) -> str | None:
    """Text of Latin script in UTF-16 shows as a zero in every other byte."""
    sample = data[:_SAMPLE]
    half = len(sample) // 2
    if half < 4 or len(data) % 2 or 0 not in sample:
        return None
    even, odd = sample[::2].count(0), sample[1::2].count(0)
    if odd > 0.4 * half and even < 0.05 * half:
        return _strict(data, "utf-16-le")
    if even > 0.4 * half and odd < 0.05 * half:
        return _strict(data, "utf-16-be")
    return None


def _other_script(data: bytes) -> tuple[str, str] | None:
    from charset_normalizer import from_bytes

    best = from_bytes(data[:_SAMPLE], cp_isolation=_OTHER_SCRIPTS).best()
    if best is None:
        return None
    text = _strict(data, best.encoding)
    if text is None:
        return None
    return text, f"Read as {best.encoding}, assumed: the file is not UTF-8."
