"""Office files behind a password."""

from __future__ import annotations

import hashlib
import io
import struct
from collections.abc import Callable
from pathlib import Path

import msoffcrypto
import openpyxl
import pytest
from docx import Document
from hypothesis import given, settings
from hypothesis import strategies as st
from msoffcrypto.format.ooxml import OOXMLFile
from pptx import Presentation
from tests.unit.reading.office_binary import biff, compound, label, number, xls

from emily.errors import PasswordRequired, ReadingError
from emily.reading.kind import detect
from emily.reading.legacy.workbooks import read_workbook
from emily.reading.office.encrypted import read_encrypted
from emily.reading.pages import Page
from emily.reading.source import Draft, Source

Make = Callable[..., Source]
Pages = Callable[[Draft], list[Page]]


def bare(text: str) -> str:
    """Without the bars around cells, and the line below a header."""
    lines = [line.strip("| ") for line in text.split("\n") if not line.startswith("| ---")]
    return "\n".join(lines)


def plain(kind: str) -> bytes:
    data = io.BytesIO()
    if kind == "docx":
        document = Document()
        document.add_paragraph("Tide table")
        document.save(data)
    elif kind == "xlsx":
        book = openpyxl.Workbook()
        book.active["A1"] = "Tide table"  # type: ignore[index]
        book.save(data)
    else:
        deck = Presentation()
        deck.slides.add_slide(deck.slide_layouts[5]).shapes.title.text = "Tide table"
        deck.save(data)
    return data.getvalue()


def locked(data: bytes, password: str) -> bytes:
    closed = io.BytesIO()
    OOXMLFile(io.BytesIO(data)).encrypt(password, closed)
    return closed.getvalue()


@pytest.fixture
def closed(source: Make, tmp_path: Path) -> Callable[..., Source]:
    """An encrypted file, with passwords to try."""

    def make(data: bytes, name: str, *passwords: str) -> Source:
        made = source(data, name)
        made.scratch, made.passwords = tmp_path / "scratch", passwords
        made.scratch.mkdir(exist_ok=True)
        return made

    return make


@pytest.mark.parametrize("kind", ["docx", "xlsx", "pptx"])
def test_each_kind_is_read_as_what_it_holds(
    closed: Callable[..., Source], pages: Pages, kind: str
) -> None:
    made = closed(locked(plain(kind), "heron"), f"tides.{kind}", "wrong", "heron")
    assert detect(made.path).name == "encrypted"
    draft = read_encrypted(made)
    assert draft.kind == kind
    assert "Tide table" in pages(draft)[0].text


@pytest.mark.parametrize("passwords", [(), ("wrong",), ("Heron", "heron ", "")])
def test_without_the_right_password(
    closed: Callable[..., Source], passwords: tuple[str, ...]
) -> None:
    made = closed(locked(plain("docx"), "heron"), "tides.docx", *passwords)
    with pytest.raises(PasswordRequired, match="the file opens only with a password") as caught:
        read_encrypted(made)
    assert ("none of the passwords" in str(caught.value)) == bool(passwords)


def test_protection_from_changes_alone_opens_by_itself(
    closed: Callable[..., Source], pages: Pages
) -> None:
    draft = read_encrypted(closed(locked(plain("xlsx"), "VelvetSweatshop"), "tides.xlsx"))
    assert draft.kind == "xlsx"
    assert "Tide table" in pages(draft)[0].text


@pytest.mark.parametrize("password", ["però", "密码", "x" * 200])
def test_passwords_of_any_script(closed: Callable[..., Source], password: str) -> None:
    made = closed(locked(plain("docx"), password), "tides.docx", password)
    assert read_encrypted(made).kind == "docx"


@pytest.mark.parametrize("at", [600, 3000, 6000])
def test_truncated_files_fail_with_a_reason(closed: Callable[..., Source], at: int) -> None:
    with pytest.raises(ReadingError) as caught:
        read_encrypted(closed(locked(plain("docx"), "heron")[:at], "tides.docx", "heron"))
    assert str(caught.value).startswith(("the file is encrypted and cannot be opened", "the "))


@pytest.mark.parametrize("info", [b"", b"\x04\0\x04\0", b"\x04\0\x04\0\x40\0\0\0<encryption"])
def test_a_description_that_is_broken(closed: Callable[..., Source], info: bytes) -> None:
    data = compound({"EncryptionInfo": info, "EncryptedPackage": b"\xff" * 64})
    with pytest.raises(ReadingError, match=r"cannot be opened|opens only"):
        read_encrypted(closed(data, "tides.docx", "heron"))


# The encryption of Excel 97 ([MS-OFFCRYPTO] 2.3.6): RC4 with a new key every 1,024 bytes; the heads
# of records and some records are left as they are ([MS-XLS] 2.2.10).


def rc4(key: bytes, count: int) -> bytes:
    box = list(range(256))
    j = 0
    for i in range(256):
        j = (j + box[i] + key[i % len(key)]) & 255
        box[i], box[j] = box[j], box[i]
    out, i, j = bytearray(), 0, 0
    for _ in range(count):
        i = (i + 1) & 255
        j = (j + box[i]) & 255
        box[i], box[j] = box[j], box[i]
        out.append(box[(box[i] + box[j]) & 255])
    return bytes(out)


def md5(data: bytes) -> bytes:
    return hashlib.md5(data).digest()


def mixed(data: bytes, stream: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(data, stream, strict=False))


def old_workbook(password: str) -> bytes:
    salt, verifier = bytes(range(16)), bytes(range(16, 32))
    short = md5((md5(password.encode("utf-16-le"))[:5] + salt) * 16)[:5]

    def keys(block: int, count: int) -> bytes:
        return rc4(md5(short + struct.pack("<I", block)), count)

    proof = mixed(verifier + md5(verifier), keys(0, 32))
    filepass = biff(0x2F, struct.pack("<HHH", 1, 1, 1) + salt + proof)
    streams = xls({"Tides": [label(0, 0, "High water"), number(1, 0, 45_000, 1)]}, extra=filepass)
    stream = streams["Workbook"]
    stream += biff(0x99, bytes(-len(stream) % 4))  # what pads it then reads as empty records
    whole = b"".join(keys(block, 1024) for block in range(len(stream) // 1024 + 1))
    out, at = bytearray(stream), 0
    while at + 4 <= len(stream):
        kind, size = struct.unpack_from("<HH", stream, at)
        begin, end = at + 4 + (4 if kind == 0x85 else 0), at + 4 + size
        if kind not in {0x809, 0x2F}:
            out[begin:end] = mixed(stream[begin:end], whole[begin:end])
        at = end
    return compound({"Workbook": bytes(out)})


@pytest.mark.parametrize("password", ["heron", "VelvetSweatshop", "però"])
def test_an_old_workbook_opens_with_its_password(
    closed: Callable[..., Source], pages: Pages, password: str
) -> None:
    given_passwords = () if password == "VelvetSweatshop" else ("wrong", password)
    made = closed(old_workbook(password), "tides.xls", *given_passwords)
    assert detect(made.path).name == "xls"
    draft = read_workbook(made)
    assert draft.kind == "xls"
    assert bare(pages(draft)[0].text) == "# Tides\n\nHigh water\n2023-03-15"


@pytest.mark.parametrize("passwords", [(), ("wrong",), ("Heron", "")])
def test_an_old_workbook_without_its_password(
    closed: Callable[..., Source], passwords: tuple[str, ...]
) -> None:
    with pytest.raises(PasswordRequired, match="the xls file opens only with a password"):
        read_workbook(closed(old_workbook("heron"), "tides.xls", *passwords))


def test_nothing_is_left_outside_of_the_scratch_folder(
    closed: Callable[..., Source], tmp_path: Path
) -> None:
    made = closed(locked(plain("docx"), "heron"), "tides.docx", "heron")
    before = {path.name for path in tmp_path.iterdir()}
    list(read_encrypted(made).pages)
    assert {path.name for path in tmp_path.iterdir()} == before


@settings(max_examples=6)  # each password takes 100,000 rounds of SHA-512 by the standard
@given(st.binary(min_size=1, max_size=40), st.integers(0, 5000))
def test_damaged_files_never_escape(noise: bytes, at: int) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tides.docx"
        at = 512 + at % (len(CLOSED) - 512)
        path.write_bytes(CLOSED[:at] + noise + CLOSED[at + len(noise) :])
        made = Source(path, None, 1e12, 60, passwords=("heron",), scratch=Path(folder))
        try:
            draft = read_encrypted(made)
        except ReadingError:
            return
        assert draft.kind in {"docx", "zip"}


CLOSED = locked(plain("docx"), "heron")


def test_the_fixture_is_encrypted() -> None:
    assert msoffcrypto.OfficeFile(io.BytesIO(CLOSED)).is_encrypted()
