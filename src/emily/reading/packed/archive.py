"""ZIP archives: a list of what is inside of them, and the files themselves, one by one."""

from __future__ import annotations

import lzma
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from itertools import pairwise
from typing import IO

import pyzipper

from emily.errors import EmptyDocument, LimitExceeded, PasswordRequired, ReadingError
from emily.reading.file_names import harmless, unique
from emily.reading.packed.names import is_litter, member_name
from emily.reading.pages import Page
from emily.reading.source import Draft, Enclosed, Source, single_page

__all__ = ["read_zip"]

_MOST_LISTED = 2_000
_MOST_NAMED = 20  # files in one warning
_MOST_RATIO = 200  # of sizes unpacked and packed: databases and logs stay below 100
_SUSPECT = 20 << 20  # bytes; a smaller file may have any ratio
_LOCAL_HEADER = 30  # bytes before name and extra field (APPNOTE 6.3.10, 4.3.7)
_PIECE = 1 << 20
_ENCRYPTED = 1  # bit 0 of the general purpose flags (4.4.4)
# What the libraries raise for members that are damaged or packed oddly.
_BROKEN = (
    zipfile.BadZipFile,
    pyzipper.BadZipFile,
    struct.error,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    OSError,
    ValueError,
    IndexError,
    KeyError,
    TypeError,
    AttributeError,
    OverflowError,
)
_METHODS = {9: "Deflate64", 93: "Zstandard", 95: "XZ", 96: "JPEG", 97: "WavPack", 98: "PPMd"}


def read_zip(source: Source) -> Draft:
    """An archive: the names and sizes of its files as text, and the files enclosed, in its order.

    Folders, what systems leave behind (``__MACOSX``, ``.DS_Store``, lock files) and symbolic
    links are left out, the latter with a word. A file that is encrypted, damaged or looks like a
    bomb is left out with a warning.

    Raises:
        PasswordRequired: all of its files are encrypted, and no password opens them.
        EmptyDocument: it holds no file.
        ReadingError: it is broken.
    """
    archive = _opened(source)
    try:
        packed = _Packed(archive, source)
    except BaseException:
        archive.close()
        raise
    text = packed.listing()
    return Draft(
        "zip",
        "none",
        single_page(Page(1, text)),
        warnings=packed.warnings,
        enclosed=packed.enclosed(),
    )


def _opened(source: Source) -> zipfile.ZipFile:
    """The archive, by the library that knows AES where something in it is encrypted."""
    try:
        archive = zipfile.ZipFile(source.path)
        if any(member.flag_bits & _ENCRYPTED for member in archive.infolist()):
            archive.close()
            archive = pyzipper.AESZipFile(source.path)
    except (RuntimeError, *_BROKEN) as error:  # NotImplementedError is a RuntimeError
        raise ReadingError(f"the archive is broken: {error}") from None
    return archive


class _Packed:
    """The files of an archive that is open.

    Attributes:
        warnings: about those that are left out.
    """

    def __init__(self, archive: zipfile.ZipFile, source: Source) -> None:
        self._archive = archive
        self._source = source
        self._password: bytes | None = None
        self.warnings: list[str] = []
        self._files: list[tuple[str, zipfile.ZipInfo]] = []
        links = []
        taken: dict[str, int] = {}
        for number, member in enumerate(archive.infolist(), 1):
            name = member_name(member)
            # Not ``is_dir``, which fails on a member without a name.
            if member.filename.endswith("/") or is_litter(name):
                continue
            if stat.S_ISLNK(member.external_attr >> 16):
                links.append(name)
                continue
            self._files.append((unique(harmless(name) or f"file {number}", taken), member))
        if links:
            self.warnings.append(f"Links are not followed: {_named(links)}.")
        if not self._files:
            raise EmptyDocument("the archive holds no files")
        self._overlapping = _overlapping(member for _, member in self._files)
        closed = [member for _, member in self._files if member.flag_bits & _ENCRYPTED]
        if len(closed) == len(self._files):
            least = min(closed, key=lambda member: member.compress_size)
            if not self._opens(least):
                raise PasswordRequired("the archive opens only with a password")

    def listing(self) -> str:
        """What the archive holds, one file a line."""
        total = sum(member.file_size for _, member in self._files)
        count = len(self._files)
        lines = [f"Archive of {count:,} file{'s' * (count != 1)}, {_size(total)} unpacked"]
        comment = self._archive.comment.replace(b"\0", b"").decode("utf-8", "replace").split()
        if comment:
            lines.append(" ".join(comment)[:1000])
        lines.append("")
        lines += [f"{name}, {_size(m.file_size)}" for name, m in self._files[:_MOST_LISTED]]
        if count > _MOST_LISTED:
            lines.append(f"and {count - _MOST_LISTED:,} more")
        return "\n".join(lines)

    def enclosed(self) -> Iterator[Enclosed]:
        """The files, each opened when it is its turn."""
        left_out: dict[str, list[str]] = {}
        for at, (name, member) in enumerate(self._files):
            if self._source.late():
                self.warnings.append(
                    f"{len(self._files) - at:,} of its files are not read: the archive has "
                    f"used up its time of {self._source.seconds} s (setting reading_seconds)."
                )
                break
            why = self._refusal(member)
            if why is None:
                yield Enclosed(name, self._pieces(member, self._password))
            else:
                left_out.setdefault(why, []).append(name)
        for why, names in left_out.items():
            self.warnings.append(f"Not read, {why}: {_named(names)}.")

    def _refusal(self, member: zipfile.ZipInfo) -> str | None:
        """Why a file is not unpacked, as a clause; ``None`` where it is."""
        if member.header_offset in self._overlapping:
            return "because its bytes are those of another file too, as in a decompression bomb"
        ratio = member.file_size / max(1, member.compress_size)
        if member.file_size > _SUSPECT and ratio > _MOST_RATIO:
            return (
                f"because it unpacks to more than {_MOST_RATIO} times its packed size: this looks "
                "like a decompression bomb"
            )
        if member.flag_bits & _ENCRYPTED and not self._opens(member):
            return "for want of its password"
        return None

    def _opens(self, member: zipfile.ZipInfo) -> bool:
        """Whether a password opens an encrypted file; the one that did so last is tried first."""
        given = [password.encode() for password in self._source.passwords]
        given += [password.encode("cp437", "ignore") for password in self._source.passwords]
        for password in dict.fromkeys([*filter(None, [self._password]), *given]):
            self._archive.setpassword(password)
            try:
                with self._archive.open(member) as file:
                    # One password in 256 passes the test of ZipCrypto (APPNOTE 6.1.6). With
                    # another one Deflate fails soon; what is stored fails by its checksum only.
                    stored = member.compress_type == zipfile.ZIP_STORED
                    while file.read(_PIECE) and stored:
                        pass
            except (RuntimeError, *_BROKEN):
                continue
            self._password = password
            return True
        return False

    def _pieces(self, member: zipfile.ZipInfo, password: bytes | None) -> Iterator[bytes]:
        """A file's bytes.

        Raises:
            ReadingError: it is damaged, or packed by a method that is not known here.
            LimitExceeded: the time is up.
        """
        self._archive.setpassword(password or b"")
        left = member.file_size
        try:
            with self._archive.open(member) as file:
                while data := self._piece(file):
                    left -= len(data)
                    if left < 0:
                        raise LimitExceeded("it unpacks to more bytes than it declares")
                    yield data
        except NotImplementedError:
            method = _METHODS.get(member.compress_type, f"number {member.compress_type}")
            raise ReadingError(f"it is packed by a method that is not read ({method})") from None
        except RuntimeError as error:
            raise ReadingError(f"it cannot be opened: {error}") from None
        except _BROKEN as error:
            raise ReadingError(f"it is damaged: {error}") from None

    def _piece(self, file: IO[bytes]) -> bytes:
        if self._source.late():
            raise LimitExceeded(
                f"the archive has used up its time of {self._source.seconds} s "
                "(setting reading_seconds)"
            )
        return file.read(_PIECE)


def _overlapping(members: Iterator[zipfile.ZipInfo]) -> frozenset[int]:
    """Offsets of members whose bytes reach into the next one (D. Fifield, WOOT 2019), or are its.

    The first of several entries for the same bytes is refused as well.
    """
    ordered = sorted(members, key=lambda member: member.header_offset)
    found = set()
    for member, after in pairwise(ordered):
        end = member.header_offset + _LOCAL_HEADER + member.compress_size
        if end > after.header_offset:
            found.add(member.header_offset)
    return frozenset(found)


def _named(names: list[str]) -> str:
    more = len(names) - _MOST_NAMED
    return ", ".join(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _size(count: int) -> str:
    """A number of bytes as people write it."""
    if count < 1024:
        return f"{count} byte{'s' * (count != 1)}"
    unit = min((count.bit_length() - 1) // 10, 3)
    return f"{count / 1024**unit:,.1f} {('KiB', 'MiB', 'GiB')[unit - 1]}"
