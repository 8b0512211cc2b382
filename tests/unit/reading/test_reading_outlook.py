"""Outlook messages: the same facts and the same text as the mail that they were."""

from __future__ import annotations

import datetime as dt
import struct
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.errors import LimitExceeded, ReadingError
from emily.reading.kind import detect
from emily.reading.mail.message import read_mail
from emily.reading.mail.outlook import read_msg
from emily.reading.mail.outlook_rtf import decompressed, unfolded
from emily.reading.pages import Correspondent, Page
from emily.reading.source import Draft, Source

Make = Callable[..., Source]
Pages = Callable[[Draft], list[Page]]
Tree = dict[str, Any]  # name to bytes or to a tree
SENT = dt.datetime(2026, 3, 3, 8, 5, tzinfo=dt.UTC)
RTF = rb"{\rtf1\ansi\ansicpg1252 {\fonttbl{\f0 Arial;}}\f0 Perch\'e9?\par Costa 5 \u8364?.\par}"
HTML_RTF = (
    rb"{\rtf1\ansi\ansicpg1252\fromhtml1 \deff0{\fonttbl{\f0\fswiss Arial;}{\f1\fcharset204 A;}}"
    rb"{\*\htmltag64 <html>}{\*\htmltag64 <body>}\htmlrtf \f0\plain\htmlrtf0 "
    rb"{\*\htmltag64 <p>}One\htmlrtf \par\htmlrtf0 {\*\htmltag72 </p>}"
    rb"{\*\htmltag64 <p title=\'93x\'94>}{\*\mhtmltag64 <p>}caff\'e8 {\f1 \'ef\'f0} \{a\}\line "
    rb"{\*\htmltag72 </p>}\htmlrtf hidden {also} \htmlrtf0 {\*\htmltag64 </body>}}"
)


def compound(tree: Tree) -> bytes:
    """A compound file of version 3 ([MS-CFB]) that holds a tree of streams."""
    entries: list[tuple[str, int, bytes, list[int]]] = []  # name, type, data, children

    def add(name: str, value: Any) -> int:
        at = len(entries)
        entries.append((name, 2 if isinstance(value, bytes) else 1, b"", []))
        if isinstance(value, bytes):
            entries[at] = (name, 2, value, [])
        else:
            children = [add(key, inner) for key, inner in value.items()]
            entries[at] = (name, 1, b"", children)
        return at

    add("Root Entry", tree)
    mini, sectors = bytearray(), bytearray()
    mini_fat: list[int] = []
    fat: list[int] = []

    def chain(table: list[int], count: int) -> int:
        first = len(table)
        table.extend([*range(first + 1, first + count), 0xFFFFFFFE])
        return first

    def large(data: bytes) -> int:
        sectors.extend(data + bytes(-len(data) % 512))
        return chain(fat, max(1, -(-len(data) // 512)))

    starts = []
    for _, _, data, _ in entries:
        if not data:
            starts.append(0xFFFFFFFE)
        elif len(data) < 4096:
            mini.extend(data + bytes(-len(data) % 64))
            starts.append(chain(mini_fat, -(-len(data) // 64)))
        else:
            starts.append(large(data))
    root = large(bytes(mini)) if mini else 0xFFFFFFFE
    table = struct.pack(f"<{len(mini_fat)}I", *mini_fat)
    table += b"\xff" * (-len(table) % 512)
    first_mini = large(table) if mini else 0xFFFFFFFE
    siblings = {}
    for _, _, _, children in entries:
        siblings.update(dict(zip(children, [*children[1:], 0xFFFFFFFF], strict=False)))
    directory = b""
    for at, (name, kind, data, children) in enumerate(entries):
        wide = name.encode("utf-16-le") + b"\0\0"
        directory += wide.ljust(64, b"\0") + struct.pack(
            "<HBB", len(wide), 5 if not at else kind, 1
        )
        child = children[0] if children else 0xFFFFFFFF
        directory += struct.pack("<III", 0xFFFFFFFF, siblings.get(at, 0xFFFFFFFF), child) + bytes(
            36
        )
        start, size = (root, len(mini)) if not at else (starts[at], len(data))
        directory += struct.pack("<IQ", start, size)
    first_directory = large(directory)
    count = 1
    while (len(fat) + count) * 4 > count * 512:
        count += 1
    first_fat = len(fat)
    fat += [0xFFFFFFFD] * count
    raw = struct.pack(f"<{len(fat)}I", *fat)
    sectors.extend(raw.ljust(count * 512, b"\xff"))
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16)
    header += struct.pack("<HHHHH6xIIII", 0x3E, 3, 0xFFFE, 9, 6, 0, count, first_directory, 0)
    header += struct.pack("<IIIII", 4096, first_mini, -(-len(table) // 512), 0xFFFFFFFE, 0)
    numbers = [*range(first_fat, first_fat + count)]
    header += struct.pack("<109I", *numbers, *[0xFFFFFFFF] * (109 - count))
    return header + bytes(sectors)


def properties(header: int, fixed: dict[int, int]) -> bytes:
    held = bytes(header)
    for number, value in fixed.items():
        kind = 0x40 if value > 1 << 32 else 3
        held += struct.pack("<HHIQ", kind, number, 6, value)
    return held


def ticks(when: dt.datetime) -> int:
    return int((when - dt.datetime(1601, 1, 1, tzinfo=dt.UTC)).total_seconds()) * 10**7


def folder(header: int, texts: dict[int, str], fixed: dict[int, int], **more: Any) -> Tree:
    tree: Tree = {"__properties_version1.0": properties(header, fixed)}
    for number, text in texts.items():
        tree[f"__substg1.0_{number:04X}001F"] = text.encode("utf-16-le")
    return tree | {name: value for name, value in more.items() if value is not None}


def message(texts: dict[int, str] | None = None, *, header: int = 32, **parts: Any) -> Tree:
    """A message from Ada to Bob, with Carl in copy; the parts are streams and storages."""
    told = {
        0x001A: "IPM.Note", 0x0037: "Offer: perché no?", 0x0042: "Lovelace, Ada",
        0x0065: "/O=EXCHANGE/CN=ADA", 0x5D02: "ada@example.org", 0x1000: "The text.\r\n",
        0x1035: "<m2@example.org>", 0x1039: "<m0@example.org> <m1@example.org>",
        0x1042: "<m1@example.org>",
    }  # fmt: skip
    people = {
        "__recip_version1.0_#00000000": folder(
            8, {0x3001: "Bob", 0x39FE: "bob@x.org"}, {0x0C15: 1}
        ),
        "__recip_version1.0_#00000001": folder(8, {0x3003: "carl@x.org"}, {0x0C15: 2}),
        "__recip_version1.0_#00000002": folder(8, {0x3003: "blind@x.org"}, {0x0C15: 3}),
    }
    return {
        "__nameid_version1.0": {"__substg1.0_00020102": b""},
        **folder(header, told | (texts or {}), {0x0039: ticks(SENT)}),
        **people,
        **parts,
    }


def attachment(name: str, data: bytes, **texts: str) -> Tree:
    numbers = {"kind": 0x370E, "content_id": 0x3712}
    said = {0x3707: name} | {numbers[key]: value for key, value in texts.items()}
    return folder(8, said, {0x3705: 1}, **{"__substg1.0_37010102": data})


HEAD = (
    'From: "Lovelace, Ada" <ada@example.org>\nTo: Bob <bob@x.org>\nCc: carl@x.org\n'
    "Date: 2026-03-03 08:05:00+00:00\nSubject: Offer: perché no?\n\n"
)


def test_text_and_facts(source: Make, pages: Pages) -> None:
    file = source(compound(message()), "a.msg")
    assert detect(file.path).name == "msg"
    draft = read_msg(file)
    assert pages(draft)[0].text == HEAD + "The text."
    assert draft.kind == "msg"
    assert draft.title == "Offer: perché no?"
    assert draft.facts.author == "Lovelace, Ada"
    assert draft.facts.date == dt.date(2026, 3, 3)
    assert draft.facts.date_source == "header"
    assert draft.facts.message_id == "m2@example.org"
    assert draft.facts.references == ("m0@example.org", "m1@example.org")
    assert draft.facts.correspondents == (
        Correspondent("from", "Lovelace, Ada", "ada@example.org"),
        Correspondent("to", "Bob", "bob@x.org"),
        Correspondent("cc", "", "carl@x.org"),
    )
    assert draft.warnings == []
    assert list(draft.enclosed) == []


def test_the_headers_that_it_came_with_are_preferred(source: Make, pages: Pages) -> None:
    came = (
        "Microsoft Mail Internet Headers Version 2.0\r\n"
        "From: =?utf-8?Q?Ad=C3=A0?= <ada@home.org>\r\n"
        "To: list@x.org\r\nDate: Tue, 03 Mar 2026 09:05:00 +0100\r\nSubject: other\r\n\r\n"
    )
    draft = read_msg(source(compound(message({0x007D: came}))))
    assert pages(draft)[0].text == (
        "From: Adà <ada@home.org>\nTo: list@x.org\nCc: carl@x.org\n"
        "Date: 2026-03-03 09:05:00+01:00\nSubject: Offer: perché no?\n\nThe text."
    )
    assert draft.facts.message_id == "m2@example.org"


@pytest.mark.parametrize(("page", "codec"), [(1252, "cp1252"), (1251, "cp1251"), (932, "cp932")])
def test_text_in_the_code_page_of_the_message(
    source: Make, pages: Pages, page: int, codec: str
) -> None:
    said = {"cp1252": "perché", "cp1251": "привет", "cp932": "こんにちは"}[codec]
    tree = message()
    del tree["__substg1.0_1000001F"]
    tree["__substg1.0_1000001E"] = said.encode(codec)
    tree["__properties_version1.0"] = properties(32, {0x0039: ticks(SENT), 0x3FFD: page})
    assert pages(read_msg(source(compound(tree))))[0].text.endswith(f"\n\n{said}")


def bare(**parts: Any) -> Tree:
    tree = message(**parts)
    del tree["__substg1.0_1000001F"]
    return tree


@pytest.mark.parametrize(
    ("part", "text"),
    [
        ({"__substg1.0_10130102": b"<p>In <b>HTML</b>: caf\xc3\xa9</p>"}, "In HTML: café"),
        ({"__substg1.0_1013001F": "<p>wide é</p>".encode("utf-16-le")}, "wide é"),
        ({"__substg1.0_10090102": b""}, ""),
        ({"__substg1.0_10090102": b"\0" * 40}, ""),
    ],
)
def test_bodies_without_plain_text(
    source: Make, pages: Pages, part: dict[str, bytes], text: str
) -> None:
    assert pages(read_msg(source(compound(bare(**part)))))[0].text == (HEAD + text).rstrip()


@pytest.mark.parametrize(
    ("rtf", "text"),
    [(RTF, "Perché?\nCosta 5 €."), (HTML_RTF, "One\n\ncaffè пр {a}")],
)
def test_rich_text_alone(source: Make, pages: Pages, rtf: bytes, text: str) -> None:
    for packed in (mela(rtf), lzfu(rtf)):
        tree = bare(**{"__substg1.0_10090102": packed})
        assert pages(read_msg(source(compound(tree))))[0].text == HEAD + text


def test_attachments_are_enclosed(source: Make) -> None:
    large = bytes(range(256)) * 40
    draft = read_msg(
        source(
            compound(
                message(
                    **{
                        "__attach_version1.0_#00000000": attachment("relazione è.pdf", b"%PDF-1"),
                        "__attach_version1.0_#00000001": attachment('a;b"c.bin', large),
                        "__attach_version1.0_#00000002": attachment(
                            "a.txt", b"x", kind="text/plain"
                        ),
                        "__attach_version1.0_#00000003": attachment(
                            "a.txt", b"y", kind="text/plain"
                        ),
                    }
                )
            )
        )
    )
    assert [(e.name, b"".join(e.data)) for e in draft.enclosed] == [
        ("relazione è.pdf", b"%PDF-1"),
        ("a;b c.bin", large),
        ("a.txt", b"x"),
        ("a (2).txt", b"y"),
    ]


def test_a_message_inside_is_enclosed_as_a_mail(source: Make, pages: Pages) -> None:
    inner = message(
        {0x0037: "Inner perché", 0x1000: "inner text é"},
        header=24,
        **{
            "__substg1.0_10130102": b"<p>inner text</p>",
            "__attach_version1.0_#00000000": attachment("in.txt", b"deep", kind="text/plain"),
        },
    )
    holder = folder(8, {0x3001: "Inner"}, {0x3705: 5}, **{"__substg1.0_3701000D": inner})
    draft = read_msg(source(compound(message(**{"__attach_version1.0_#00000000": holder}))))
    (enclosed,) = draft.enclosed
    assert enclosed.name == "Inner perché.eml"
    mail = read_mail(source(b"".join(enclosed.data), "inner.eml"))
    assert pages(mail)[0].text == HEAD.replace("Offer: perché no?", "Inner perché") + "inner text é"
    assert mail.facts.message_id == "m2@example.org"
    assert [(e.name, b"".join(e.data)) for e in mail.enclosed] == [("in.txt", b"deep")]


def test_inline_pictures_are_no_attachments(source: Make, pages: Pages) -> None:
    picture = attachment("image001.png", b"no picture", kind="image/png", content_id="image001@x")
    tree = bare(
        **{
            "__substg1.0_10130102": b"<p>See <img src='cid:image001@x'> there</p>",
            "__attach_version1.0_#00000000": picture,
        }
    )
    draft = read_msg(source(compound(tree)))
    (page,) = pages(draft)
    assert page.text == HEAD + "See\n\n[picture, not read]\n\nthere"
    assert page.pictures == 1
    assert list(draft.enclosed) == []


@pytest.mark.parametrize(
    ("parts", "warning"),
    [
        (
            {"__attach_version1.0_#00000000": attachment("message.rpmsg", b"v")},
            "Its content is protected by rights management and is not read.",
        ),
        (
            {
                "__attach_version1.0_#00000000": attachment(
                    "x", b"Version: 1", kind="application/pgp-encrypted"
                )
            },
            "Its content is encrypted with PGP and is not read.",
        ),
        (
            {"__attach_version1.0_#00000000": folder(8, {0x3707: "far.doc"}, {0x3705: 4})},
            "The attachment far.doc is kept elsewhere.",
        ),
    ],
)
def test_what_is_not_read_is_said(source: Make, parts: Tree, warning: str) -> None:
    assert read_msg(source(compound(message(**parts)))).warnings == [warning]


@pytest.mark.parametrize(
    "content",
    [
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600),
        b"not a compound file",
    ],
)
def test_a_broken_message(source: Make, content: bytes) -> None:
    with pytest.raises(ReadingError):
        read_msg(source(content))


@pytest.mark.parametrize("cut", [0.3, 0.6, 0.9])
def test_a_truncated_message_is_read_or_refused(source: Make, pages: Pages, cut: float) -> None:
    whole = compound(message({0x1000: "word " * 4000}))
    try:
        draft = read_msg(source(whole[: int(len(whole) * cut)]))
    except ReadingError:
        return
    assert len(pages(draft)) == 1


def mela(data: bytes) -> bytes:
    return struct.pack("<III", len(data) + 12, len(data), 0x414C454D) + bytes(4) + data


def lzfu(data: bytes) -> bytes:
    """Rich text compressed by a plain search for the longest match (MS-OXRTFCP 2.2)."""
    known = decompressed_known()
    window, out, at = known + data, bytearray(), 0
    tokens: list[bytes] = []
    flags: list[int] = []
    while at < len(data):
        place = len(known) + at
        best, length = 0, 0
        for size in range(min(17, len(data) - at), 1, -1):
            found = window.find(data[at : at + size], max(0, place - 4090), place + size - 1)
            if 0 <= found < place:
                best, length = found, size
                break
        if length > 1:
            tokens.append(struct.pack(">H", (best % 4096) << 4 | length - 2))
            flags.append(1)
            at += length
        else:
            tokens.append(data[at : at + 1])
            flags.append(0)
            at += 1
    tokens.append(struct.pack(">H", ((len(known) + len(data)) % 4096) << 4))
    flags.append(1)
    for first in range(0, len(tokens), 8):
        out.append(sum(flag << bit for bit, flag in enumerate(flags[first : first + 8])))
        out += b"".join(tokens[first : first + 8])
    return struct.pack("<III", len(out) + 12, len(data), 0x75465A4C) + bytes(4) + bytes(out)


def decompressed_known() -> bytes:
    """What every dictionary begins with, read out of it by a match of 17 bytes at a time."""
    pieces = b""
    for offset in range(0, 207, 17):
        size = min(17, 207 - offset)
        body = b"\x01" + struct.pack(">H", offset << 4 | size - 2)
        pieces += decompressed(struct.pack("<III", 15, size, 0x75465A4C) + bytes(4) + body)[:size]
    return pieces


def test_the_example_of_the_specification() -> None:
    # MS-OXRTFCP 4.1: "{\rtf1\ansi\ansicpg1252\pard hello world}"
    packed = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a00726370673132354232"
        "0af32068656c090020627705b06c647d0a800fa0"
    )
    assert decompressed(packed) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"


@given(st.binary(max_size=400))
def test_what_is_compressed_comes_back(data: bytes) -> None:
    assert decompressed(lzfu(data)) == data
    assert decompressed(mela(data)) == data


@given(st.binary(max_size=200))
def test_broken_rich_text_raises_only_reading_errors(data: bytes) -> None:
    head = struct.pack("<III", len(data) + 12, 500, 0x75465A4C) + bytes(4)
    unfolded(decompressed(head + data))
    unfolded(rb"{\rtf1 \fromhtml1 " + data)


def test_rich_text_that_unpacks_to_too_much_is_refused() -> None:
    with pytest.raises(LimitExceeded, match="its rich text unpacks to 4,000,000,000 bytes"):
        decompressed(struct.pack("<III", 20, 4_000_000_000, 0x75465A4C) + bytes(8))


# CMS (RFC 5652) around "Content-Type: text/plain", a blank line and "The signed text."
SIGNED = bytes.fromhex(
    "305106092a864886f70d010702a04430420201013100303906092a864886f70d010701a02c042a43"
    "6f6e74656e742d547970653a20746578742f706c61696e0a0a546865207369676e65642074657874"
    "2e3100"
)


@pytest.mark.parametrize("kind", ["application/pkcs7-mime", "application/x-pkcs7-mime", ""])
def test_a_signed_message_is_unwrapped(source: Make, pages: Pages, kind: str) -> None:
    tree = bare(**{"__attach_version1.0_#00000000": attachment("smime.p7m", SIGNED, kind=kind)})
    draft = read_msg(source(compound(tree)))
    assert pages(draft)[0].text == HEAD + "The signed text."
    assert list(draft.enclosed) == []


def test_a_message_signed_in_the_open_is_taken_apart(source: Make, pages: Pages) -> None:
    data = (
        b"Content-Type: multipart/signed; boundary=b\n\n--b\n\nThe signed text.\n"
        b"--b\nContent-Type: application/pkcs7-signature; name=smime.p7s\n\nx\n--b--\n"
    )
    held = attachment("smime.p7m", data, kind="multipart/signed")
    draft = read_msg(source(compound(bare(**{"__attach_version1.0_#00000000": held}))))
    assert pages(draft)[0].text == HEAD + "The signed text."
    assert list(draft.enclosed) == []
