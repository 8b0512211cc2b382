"""winmail.dat: the text and the attachments that Outlook packed."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.errors import ReadingError
from emily.reading.mail.message import read_mail
from emily.reading.mail.mime import parse
from emily.reading.mail.tnef import parts_of
from emily.reading.pages import Page
from emily.reading.source import Draft, Source

Make = Callable[..., Source]
Pages = Callable[[Draft], list[Page]]
RTF = rb"{\rtf1\ansi\ansicpg1252 Perch\'e9?\par}"


def attribute(number: int, value: bytes, level: int = 1) -> bytes:
    return (
        struct.pack("<BHHI", level, number, 6, len(value))
        + value
        + struct.pack("<H", sum(value) & 0xFFFF)
    )


def properties(**held: bytes | str) -> bytes:
    """Properties by ``p`` (``o`` for objects) and their number, a number and a named one before."""
    count = len(held) + 2
    out = struct.pack("<IHHI", count, 3, 0x0E17, 7)
    name = "Keywords".encode("utf-16-le") + b"\0\0"
    out += struct.pack("<HH16xII", 0x1F, 0x8001, 1, len(name)) + name + bytes(-len(name) % 4)
    out += struct.pack("<II", 1, 4) + "k\0".encode("utf-16-le")
    for key, value in held.items():
        kind = 0x1F if isinstance(value, str) else 0x0D if key[0] == "o" else 0x102
        data = value.encode("utf-16-le") + b"\0\0" if isinstance(value, str) else value
        data = bytes(16) + data if kind == 0x0D else data  # an object's interface
        out += struct.pack("<HHII", kind, int(key[1:], 16), 1, len(data))
        out += data + bytes(-len(data) % 4)
    return out


def packed(*attributes: bytes) -> bytes:
    return struct.pack("<IH", 0x223E9F78, 1) + b"".join(attributes)


def rich(data: bytes) -> bytes:
    return struct.pack("<III", len(data) + 12, len(data), 0x414C454D) + bytes(4) + data


def attached(name: str, data: bytes, **more: str) -> bytes:
    return (
        attribute(0x9002, bytes(14), 2)
        + attribute(0x8010, b"SHORT.DAT\0", 2)
        + attribute(0x800F, data, 2)
        + attribute(0x9005, properties(p3707=name, **more), 2)
    )


def mail(data: bytes, text: str = "") -> bytes:
    body = f"--b\nContent-Type: text/plain\n\n{text}\n" if text else ""
    return (
        "From: a@x.org\nSubject: s\nContent-Type: multipart/mixed; boundary=b\n\n"
        f"{body}--b\nContent-Type: application/ms-tnef; name=winmail.dat\n"
        "Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(data).decode() + "--b--\n"
    ).encode()


def read(source: Make, pages: Pages, raw: bytes) -> tuple[str, list[tuple[str, bytes]], list[str]]:
    draft = read_mail(source(raw))
    text = pages(draft)[0].text.removeprefix("From: a@x.org\nSubject: s\n\n")
    return text, [(e.name, b"".join(e.data)) for e in draft.enclosed], draft.warnings


@pytest.mark.parametrize(
    ("attributes", "text"),
    [
        (attribute(0x9003, properties(p1009=rich(RTF))), "Perché?"),
        (attribute(0x9003, properties(p1013=b"<p>In HTML</p>")), "In HTML"),
        (attribute(0x9003, properties(p1000="Plain è")), "Plain è"),
        (
            attribute(0x9007, struct.pack("<II", 1251, 0))
            + attribute(0x800C, "привет\0".encode("cp1251")),
            "привет",
        ),
    ],
)  # fmt: skip
def test_the_text_where_the_mail_has_none(
    source: Make, pages: Pages, attributes: bytes, text: str
) -> None:
    assert read(source, pages, mail(packed(attributes))) == (text, [], [])


def test_attachments_beside_the_text_of_the_mail(source: Make, pages: Pages) -> None:
    data = packed(
        attribute(0x9003, properties(p1009=rich(RTF))),
        attached("relazione è.pdf", b"%PDF-1", p370E="application/pdf"),
        attached("", b"old"),
    )
    assert read(source, pages, mail(data, "The text.")) == (
        "The text.",
        [("relazione è.pdf", b"%PDF-1"), ("SHORT.DAT", b"old")],
        [],
    )


def test_a_message_inside_becomes_a_mail(source: Make, pages: Pages) -> None:
    inner = packed(attribute(0x9003, properties(p1000="inner text")), attached("deep.txt", b"deep"))
    held = attribute(0x9002, bytes(14), 2)
    held += attribute(0x9005, properties(o3701=inner, p3001="Inner perché"), 2)
    text, files, _ = read(source, pages, mail(packed(held), "outer"))
    assert text == "outer"
    ((name, data),) = files
    assert name == "Inner perché.eml"
    draft = read_mail(source(data, "inner.eml"))
    assert pages(draft)[0].text == "Subject: Inner perché\n\ninner text"
    assert [(e.name, b"".join(e.data)) for e in draft.enclosed] == [("deep.txt", b"deep")]


@pytest.mark.parametrize("data", [b"", b"x", b"x" * 100, packed()[:3]])
def test_what_is_not_packed_so(source: Make, pages: Pages, data: bytes) -> None:
    with pytest.raises(ReadingError, match="it is not TNEF"):
        parts_of(data)
    text, files, warnings = read(source, pages, mail(data, "The text."))
    assert (text, files) == ("The text.", [])
    assert warnings == ["winmail.dat is not read: it is not TNEF."]


@pytest.mark.parametrize("cut", [10, 30, 60, 200])
def test_a_truncated_file_gives_what_it_holds(cut: int) -> None:
    whole = packed(attribute(0x800C, b"text\0"), attached("a.pdf", b"%PDF-1" * 9))
    parts = parts_of(whole[:-cut])
    assert parts[0].body() == b"text"
    assert len(parts) <= 2


@given(st.binary(max_size=300))
def test_broken_bytes_raise_only_reading_errors(data: bytes) -> None:
    whole = bytearray(
        packed(attribute(0x9003, properties(p1000="x")), attached("a.pdf", b"x" * 50))
    )
    for at, byte in enumerate(data):
        whole[(at * 29 + byte) % len(whole)] ^= byte
    for broken in (bytes(whole), packed() + data, packed(attribute(0x9003, data))):
        try:
            parts_of(broken)
        except ReadingError:
            continue


def test_nested_files_end_at_a_depth() -> None:
    inner = packed(attribute(0x800C, b"deepest\0"))
    for _ in range(30):
        held = attribute(0x9002, bytes(14), 2) + attribute(0x9005, properties(p3701=inner), 2)
        inner = packed(held)
    (part,) = parts_of(inner)
    depth = 0
    while part.kind == "message/rfc822":
        part = parse(part.body()).parts[0]
        depth += 1
    assert depth == 8
