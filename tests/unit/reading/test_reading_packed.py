"""ZIP archives: files handed over in order, names harmless, passwords, bombs refused one by one."""

from __future__ import annotations

import io
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
import pyzipper
from hypothesis import given
from hypothesis import strategies as st

from emily.errors import EmptyDocument, PasswordRequired, ReadingError
from emily.reading.file_names import file_name, harmless, unique
from emily.reading.packed.archive import read_zip
from emily.reading.packed.names import is_litter, member_name
from emily.reading.pages import Page
from emily.reading.source import Draft, Source

Make = Callable[..., Source]
Pages = Callable[[Draft], list[Page]]
PASSWORD = "perché no"


def zipped(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return held.getvalue()


def sealed(files: dict[str, bytes], *, open_too: dict[str, bytes] | None = None) -> bytes:
    held = io.BytesIO()
    with pyzipper.AESZipFile(held, "w", compression=pyzipper.ZIP_DEFLATED) as archive:
        for name, data in (open_too or {}).items():
            archive.writestr(name, data)
        archive.setpassword(PASSWORD.encode())
        archive.setencryption(pyzipper.WZ_AES, nbits=256)
        for name, data in files.items():
            archive.writestr(name, data)
    return held.getvalue()


def unpacked(draft: Draft) -> dict[str, bytes]:
    return {enclosed.name: b"".join(enclosed.data) for enclosed in draft.enclosed}


@pytest.mark.parametrize(
    "method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
)
def test_files_in_the_order_of_the_archive(source: Make, pages: Pages, method: int) -> None:
    files = {"z/last.txt": b"zeta", "a.txt": b"alpha" * 1000, "Fattura è.pdf": b"%PDF-"}
    draft = read_zip(source(zipped(files, method)))
    assert pages(draft)[0].text == (
        "Archive of 3 files, 4.9 KiB unpacked\n\n"
        "z/last.txt, 4 bytes\na.txt, 4.9 KiB\nFattura è.pdf, 5 bytes"
    )
    assert draft.citation == "none"
    assert unpacked(draft) == files
    assert list(unpacked(read_zip(source(zipped(files, method))))) == list(files)
    assert draft.warnings == []


def test_litter_and_folders_are_left_out(source: Make) -> None:
    files = {
        "docs/": b"", "docs/a.txt": b"x", "__MACOSX/docs/._a.txt": b"x", "docs/.DS_Store": b"x",
        "~$b.docx": b"x", ".~lock.c.odt#": b"x", "Thumbs.db": b"x", "._d": b"x", "._e/f.txt": b"y",
    }  # fmt: skip
    assert set(unpacked(read_zip(source(zipped(files))))) == {"docs/a.txt", "._e/f.txt"}


@pytest.mark.parametrize("files", [{}, {"only/": b""}, {".DS_Store": b"x"}])
def test_an_archive_without_files(source: Make, files: dict[str, bytes]) -> None:
    with pytest.raises(EmptyDocument, match="the archive holds no files"):
        read_zip(source(zipped(files)))


def test_links_are_left_out_with_a_word(source: Make) -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        link = zipfile.ZipInfo("link")
        link.create_system = 3
        link.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(link, "/etc/passwd")
        archive.writestr("a.txt", "x")
    draft = read_zip(source(held.getvalue()))
    assert unpacked(draft) == {"a.txt": b"x"}
    assert draft.warnings == ["Links are not followed: link."]


@pytest.mark.parametrize(
    ("path", "safe"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("/etc/passwd", "etc/passwd"),
        ("C:/Windows/x.txt", "Windows/x.txt"),
        ("C:x.txt", "x.txt"),
        ("a/./b//c", "a/b/c"),
        ("a/..../b", "a/b"),
        ("new\nline\x00.txt", "new line .txt"),
        ("..", ""),
        ("", ""),
        ("x" * 2000 + ".txt", "x" * 896 + ".txt"),
    ],
)
def test_paths_are_made_harmless(path: str, safe: str) -> None:
    assert harmless(path) == safe


@given(st.text(max_size=60))
def test_no_path_leads_out(path: str) -> None:
    safe = harmless(path)
    assert harmless(safe) == safe
    assert not Path(safe).is_absolute()
    assert ".." not in safe.split("/")
    assert "\0" not in safe


@given(st.lists(st.sampled_from(["a.txt", "A.txt", "a (2).txt", "b", "d.e/b", ""]), max_size=12))
def test_every_name_is_given_once(names: list[str]) -> None:
    taken: dict[str, int] = {}
    given_names = [unique(name, taken) for name in names]
    assert len({name.lower() for name in given_names}) == len(names)
    assert given_names[:1] == names[:1]


def test_many_equal_names_are_numbered_in_time() -> None:
    taken: dict[str, int] = {}
    names = [unique("a.txt", taken) for _ in range(20_000)]
    assert names[:3] == ["a.txt", "a (2).txt", "a (3).txt"]
    assert len(set(names)) == 20_000


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Re: offer 3/4?", "Re offer 3 4"),
        ("  ..hidden.. ", "hidden"),
        ("x" * 300 + ".pdf", "x" * 146 + ".pdf"),
        ("\x00\x1f", ""),
    ],
)
def test_a_subject_becomes_a_file_name(text: str, name: str) -> None:
    assert file_name(text) == name


@pytest.mark.parametrize("encoding", ["utf-8", "cp850", "cp437", "cp1252", "cp932", "cp866"])
def test_names_in_the_code_page_of_their_packer(source: Make, encoding: str) -> None:
    name = {"cp932": "メモ帳.txt", "cp866": "привет.txt"}.get(encoding, "perché così più.txt")
    raw = name.encode(encoding)
    blank = zipped({"x" * len(raw): b"data"})
    draft = read_zip(source(blank.replace(b"x" * len(raw), raw)))
    assert list(unpacked(draft)) == [name]


def test_the_unicode_path_of_info_zip() -> None:
    member = zipfile.ZipInfo("caff\u03a6.txt")  # cp437 of cp1252's è
    raw = b"caff\xe8.txt"
    field = b"\x01" + struct.pack("<I", zlib.crc32(raw)) + "caffè lungo.txt".encode()
    member.extra = struct.pack("<HH", 0x7075, len(field)) + field
    assert member_name(member) == "caffè lungo.txt"
    member.extra = member.extra.replace(b"\x01", b"\x02", 1)
    assert member_name(member) == "caffè.txt"


def test_backslashes_are_folders_of_windows(source: Make) -> None:
    member = zipfile.ZipInfo("a")
    member.filename = "..\\docs\\a.txt"
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr(member, "x")
    assert list(unpacked(read_zip(source(held.getvalue())))) == ["docs/a.txt"]


def test_a_password_opens_what_is_encrypted(source: Make) -> None:
    data = sealed({"a.txt": b"secret", "b.txt": b"too"})
    with pytest.raises(PasswordRequired, match="the archive opens only with a password"):
        read_zip(source(data))
    with pytest.raises(PasswordRequired):
        read_zip(_with(source(data), "wrong"))
    assert unpacked(read_zip(_with(source(data), "wrong", PASSWORD))) == {
        "a.txt": b"secret",
        "b.txt": b"too",
    }


def test_the_old_cipher_is_known_too(source: Make) -> None:
    draft = read_zip(_with(source(zipcrypto("note.txt", b"old secret" * 9, b"pw")), "no", "pw"))
    assert unpacked(draft) == {"note.txt": b"old secret" * 9}
    with pytest.raises(PasswordRequired):
        read_zip(_with(source(zipcrypto("note.txt", b"old secret", b"pw")), "no"))


def test_files_that_are_open_are_read_without_the_password(source: Make) -> None:
    draft = read_zip(source(sealed({"b.txt": b"secret"}, open_too={"a.txt": b"public"})))
    assert unpacked(draft) == {"a.txt": b"public"}
    assert draft.warnings == ["Not read, for want of its password: b.txt."]


def test_a_bomb_is_refused_alone(source: Make) -> None:
    draft = read_zip(source(zipped({"zeros.bin": bytes(40 << 20), "a.txt": b"x"})))
    assert unpacked(draft) == {"a.txt": b"x"}
    (warning,) = draft.warnings
    assert "200 times its packed size: this looks like a decompression bomb" in warning
    assert warning.endswith("bomb: zeros.bin.")


def test_members_that_overlap_are_refused(source: Make) -> None:
    data = zipped({"a.txt": b"x" * 100, "b.txt": b"y" * 100}, zipfile.ZIP_STORED)
    second = data.rindex(b"PK\x01\x02")
    offset = second + 42  # of the local header (APPNOTE 4.3.12)
    broken = data[:offset] + struct.pack("<I", 10) + data[offset + 4 :]
    draft = read_zip(source(broken))
    files = {}
    for enclosed in draft.enclosed:
        try:
            files[enclosed.name] = b"".join(enclosed.data)
        except ReadingError:
            continue  # nothing begins at the wrong offset
    assert files == {}
    assert draft.warnings == [
        "Not read, because its bytes are those of another file too, as in a decompression bomb: "
        "a.txt."
    ]


def test_the_same_bytes_under_many_names_are_unpacked_once(source: Make) -> None:
    data = zipped({f"{n:03}.bin": bytes([n]) * 5000 for n in range(20)}, zipfile.ZIP_STORED)
    parts = data.split(b"PK\x01\x02")
    head = parts[1]
    same = [parts[0]] + [part[:38] + head[38:42] + part[42:] for part in parts[1:]]
    draft = read_zip(source(b"PK\x01\x02".join(same)))
    read = 0
    for enclosed in draft.enclosed:
        try:
            read += len(b"".join(enclosed.data))
        except ReadingError:
            continue
    assert read <= 5000


def test_a_damaged_file_is_an_error_of_its_own(source: Make) -> None:
    data = bytearray(zipped({"a.txt": b"abc" * 50, "b.txt": b"def" * 50}, zipfile.ZIP_STORED))
    data[data.index(b"abcabc")] = 0
    draft = read_zip(source(bytes(data)))
    first, second = draft.enclosed
    with pytest.raises(ReadingError, match="it is damaged: Bad CRC-32"):
        list(first.data)
    assert b"".join(second.data) == b"def" * 50


def test_a_method_that_is_not_known_is_named(source: Make) -> None:
    data = zipped({"a.txt": b"abc"}, zipfile.ZIP_STORED)
    data = data.replace(b"\x14\0\0\0\0\0", b"\x14\0\0\0\x09\0")  # version 2.0, method 9
    draft = read_zip(source(data))
    (only,) = draft.enclosed
    with pytest.raises(ReadingError, match=r"not read \(Deflate64\)"):
        list(only.data)


@pytest.mark.parametrize("content", [b"PK\x03\x04 broken", b"PK\x05\x06", b"PK\x03\x04" * 99])
def test_a_broken_archive(source: Make, content: bytes) -> None:
    with pytest.raises(ReadingError, match="the archive is broken"):
        read_zip(source(content))


def test_a_long_list_is_bounded(source: Make, pages: Pages) -> None:
    draft = read_zip(source(zipped({f"{n}.txt": b"x" for n in range(2_500)})))
    lines = pages(draft)[0].text.split("\n")
    assert lines[0].startswith("Archive of 2,500 files")
    assert lines[-2:] == ["1999.txt, 1 byte", "and 500 more"]


def test_an_archive_that_is_late_says_what_is_left(source: Make) -> None:
    given_source = source(zipped({"a.txt": b"x", "b.txt": b"x"}))
    given_source.deadline = 0
    draft = read_zip(given_source)
    assert unpacked(draft) == {}
    assert draft.warnings[0].startswith("2 of its files are not read: the archive has used up")


@given(st.binary(max_size=200))
def test_broken_bytes_raise_only_reading_errors(data: bytes) -> None:
    whole = bytearray(zipped({"a.txt": b"abc", "b/ü.txt": b"d" * 300}))
    for at, byte in enumerate(data):
        whole[(at * 37 + byte) % len(whole)] ^= byte
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.zip"
        path.write_bytes(whole)
        try:
            draft = read_zip(Source(path, None, 1e12, 60))
            for enclosed in draft.enclosed:
                try:
                    b"".join(enclosed.data)
                except ReadingError:
                    continue
        except ReadingError:
            return


@pytest.mark.parametrize("name", ["__MACOSX/x", "a/__macosx/b", ".DS_Store", "~$a.docx", ""])
def test_what_is_litter(name: str) -> None:
    assert is_litter(name)


def _with(source: Source, *passwords: str) -> Source:
    source.passwords = passwords
    return source


def zipcrypto(name: str, data: bytes, password: bytes) -> bytes:
    """An archive of one stored file under the cipher of PKZIP 2.0 (APPNOTE 6.1)."""
    keys = [0x12345678, 0x23456789, 0x34567890]

    def crc(value: int, byte: int) -> int:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xEDB88320 if value & 1 else 0)
        return value

    def update(byte: int) -> None:
        keys[0] = (keys[0] >> 8) ^ crc((keys[0] ^ byte) & 0xFF, 0)
        keys[1] = (keys[1] + (keys[0] & 0xFF)) * 134775813 + 1 & 0xFFFFFFFF
        keys[2] = (keys[2] >> 8) ^ crc((keys[2] ^ keys[1] >> 24) & 0xFF, 0)

    for byte in password:
        update(byte)
    check = zlib.crc32(data)
    cipher = bytearray()
    for byte in bytes(11) + bytes([check >> 24]) + data:
        low = keys[2] | 2
        cipher.append(byte ^ (low * (low ^ 1) >> 8) & 0xFF)
        update(byte)
    raw = name.encode()
    fields = struct.pack("<HHHHHIII", 20, 1, 0, 0, 33, check, len(cipher), len(data))
    local = b"PK\x03\x04" + fields + struct.pack("<HH", len(raw), 0) + raw + bytes(cipher)
    central = b"PK\x01\x02" + struct.pack("<H", 20) + fields
    central += struct.pack("<HHHHHII", len(raw), 0, 0, 0, 0, 0, 0) + raw
    end = struct.pack("<HHHHIIH", 0, 0, 1, 1, len(central), len(local), 0)
    return local + central + b"PK\x05\x06" + end
