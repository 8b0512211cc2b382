"""Names of files inside of archives, as those who packed them meant them."""

from __future__ import annotations

import re
import struct
import zipfile
import zlib

from emily.reading.source import tidy

__all__ = ["is_litter", "member_name"]

_UTF8 = 0x800  # bit 11 of the general purpose flags (APPNOTE 6.3.10, 4.4.4)
_UNICODE_PATH = 0x7075  # the extra field of Info-ZIP (4.6.9)
_LITTER = frozenset({".ds_store", "thumbs.db", "desktop.ini", "icon\r", ".localized"})
# Letters of the languages of western Europe; which code page has most of them tells which it is.
_LETTERS = frozenset("àáâãäåæçèéêëìíîïñòóôõöøùúûüýßÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÑÒÓÔÕÖØÙÚÛÜÝœŒ€°–’")
_KANA = re.compile("[\u3041-\u30ff]")
_CYRILLIC = re.compile("[\u0430-\u044f]")


def member_name(member: zipfile.ZipInfo) -> str:
    """A member's path as its packer meant it, with ``/`` between folders.

    Packers that say they write UTF-8 are believed. Of the others, what is strictly UTF-8 is
    that; else it is the code page (850, 437, 1252, 932, 866) in which the bytes above 127 make
    most sense, since packers write that of their machine and do not name it.
    """
    name = member.filename
    if not member.flag_bits & _UTF8 and not name.isascii():
        raw = name.encode("cp437", "replace")
        name = _unicode_path(member.extra, raw) or _guessed(raw)
    return tidy(name).replace("\\", "/")


def _unicode_path(extra: bytes, raw: bytes) -> str | None:
    """The name in the extra field that is there for it, if it is of this name."""
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        field = extra[at + 4 : at + 4 + size]
        if kind == _UNICODE_PATH and len(field) > 5 and field[0] == 1:
            if struct.unpack_from("<I", field, 1)[0] == zlib.crc32(raw):
                return field[5:].decode("utf-8", "replace")
            return None
        at += 4 + size
    return None


def _guessed(raw: bytes) -> str:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        pass
    best, most = raw.decode("cp437"), 0.0
    for encoding in ("cp850", "cp437", "cp1252", "cp932", "cp866"):
        try:
            name = raw.decode(encoding)
        except UnicodeDecodeError:
            continue
        foreign = [character for character in name if character > "\x7f"]
        if encoding == "cp932":
            much = 2 * len(foreign) >= len(name.rpartition(".")[0] or name)
            likely = 2 * len(foreign) if much and len(_KANA.findall(name)) > 1 else 0
        elif encoding == "cp866":
            likely = len(_CYRILLIC.findall(name)) if len(foreign) > 2 else 0
        else:
            likely = sum(character in _LETTERS for character in foreign)
        if likely / len(foreign) > most:
            best, most = name, likely / len(foreign)
    return best


def is_litter(name: str) -> bool:
    """Whether a path is something that a system or a program left behind."""
    parts = [part.lower() for part in name.split("/") if part]
    if not parts:
        return True
    last = parts[-1]
    return (
        "__macosx" in parts
        or last in _LITTER
        or last.startswith(("~$", "._"))
        or (last.startswith(".~lock.") and last.endswith("#"))
    )
