"""Signed files: taken out of every envelope that signing programs make, and read as they are."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emily.errors import EmptyDocument, PasswordRequired, ReadingError
from emily.reading.data.signed import read_signed, signers, unwrap
from emily.reading.kind import detect
from emily.reading.source import Source

Make = Callable[..., Source]

SIGNED = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02"
DATA = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01"
ENVELOPED = b"\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x03"
AUTHENTICATED = b"\x06\x0b\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x17"
STAMPED = b"\x06\x0b\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01\x1f"


def der(tag: int, *parts: bytes) -> bytes:
    body = b"".join(parts)
    if len(body) < 0x80:
        return bytes([tag, len(body)]) + body
    size = len(body).to_bytes((len(body).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(size)]) + size + body


def ber(tag: int, *parts: bytes) -> bytes:
    return bytes([tag, 0x80]) + b"".join(parts) + b"\0\0"


def name(**fields: str) -> bytes:
    oids = {"cn": b"\x55\x04\x03", "sn": b"\x55\x04\x04", "gn": b"\x55\x04\x2a"}
    pairs = [der(0x30, der(6, oids[key]), der(0x0C, text.encode())) for key, text in fields.items()]
    return der(0x30, *(der(0x31, pair) for pair in pairs))


def certificate(serial: bytes, issuer: bytes, subject: bytes) -> bytes:
    version = der(0xA0, der(2, b"\x02"))
    return der(
        0x30, der(0x30, version, der(2, serial), der(0x30), issuer, der(0x30), subject), der(0x30)
    )


ISSUER = name(cn="Autorità di Prova")
ANNA = certificate(b"\x07", ISSUER, name(cn="Anna Prova"))
BRUNO = certificate(b"\x08", ISSUER, name(gn="Bruno", sn="Esempio"))


def signed(
    content: bytes | None,
    *,
    make: Callable[..., bytes] = der,
    chunks: int = 0,
    certificates: tuple[bytes, ...] = (ANNA,),
    serial: bytes = b"\x07",
) -> bytes:
    held = b""
    if content is not None:
        octets = der(4, content)
        if chunks:
            size = max(1, len(content) // chunks)
            pieces = [content[at : at + size] for at in range(0, len(content), size)]
            octets = make(0x24, *(der(4, piece) for piece in pieces))
        held = make(0xA0, octets)
    info = der(0x30, der(2, b"\x01"), der(0x30, ISSUER, der(2, serial)))
    body = make(
        0x30,
        der(2, b"\x01"),
        der(0x31),
        make(0x30, DATA, held),
        der(0xA0, *certificates) if certificates else b"",
        der(0x31, info),
    )
    return make(0x30, SIGNED, make(0xA0, body))


def pem(data: bytes, label: str = "PKCS7") -> bytes:
    body = base64.encodebytes(data)
    return b"-----BEGIN %b-----\n%b-----END %b-----\n" % (label.encode(), body, label.encode())


TEXT = "Perché no? Contratto firmato.\n".encode() * 8

ENVELOPES = {
    "der": signed(TEXT),
    "ber": signed(TEXT, make=ber),
    "der with chunks": signed(TEXT, chunks=3),
    "ber with chunks": signed(TEXT, make=ber, chunks=7),
    "long": signed(TEXT * 400),
    "pem": pem(signed(TEXT)),
    "pem cms": pem(signed(TEXT, make=ber), "CMS"),
    "pem crlf": pem(signed(TEXT)).replace(b"\n", b"\r\n"),
    "base64": base64.b64encode(signed(TEXT)),
    "base64 in lines": base64.encodebytes(signed(TEXT, make=ber, chunks=2)),
    "base64 of a short one": base64.b64encode(signed(b"Ciao")),
    "base64 of a long one": base64.encodebytes(signed(TEXT * 400)),
    "signed twice": signed(signed(TEXT, make=ber, chunks=4)),
    "signed three times": signed(signed(base64.encodebytes(signed(TEXT)))),
    "timestamped": der(0x30, STAMPED, der(0xA0, der(0x30, der(2, b"\x01"), der(4, TEXT)))),
    "timestamped and signed": der(
        0x30, STAMPED, der(0xA0, der(0x30, der(2, b"\x01"), der(4, signed(TEXT))))
    ),
}


def here(source: Source, tmp_path: Path) -> Source:
    source.scratch = tmp_path / "scratch"
    source.scratch.mkdir()
    return source


@pytest.mark.parametrize("how", ENVELOPES)
def test_every_envelope_is_known_and_taken_off(source: Make, tmp_path: Path, how: str) -> None:
    content = b"Ciao" if "short" in how else TEXT * 400 if "long" in how else TEXT
    assert unwrap(ENVELOPES[how]) == content
    file = here(source(ENVELOPES[how], "contratto.txt.p7m"), tmp_path)
    assert detect(file.path).name == "signed"
    draft = read_signed(file)
    assert draft.kind == "text"
    assert next(iter(draft.pages)).text == content.decode()
    assert "not verified" in draft.warnings[-1]


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("fattura.xml.p7m", b"<?xml version='1.0'?><a><b>Ciao</b></a>", "xml"),
        ("NOTA.MD.P7M", b"# Titolo\n\nTesto\n", "markdown"),
        ("tabella.csv.p7m.p7m", b"a;b\n1;2\n", "csv"),
        ("pagina.html.tsd", b"<html><body><p>Ciao</p></body></html>", "html"),
        ("senza nome", b"Solo testo", "text"),
    ],
)
def test_the_inner_name_tells_the_inner_kind(
    source: Make, tmp_path: Path, name: str, content: bytes, kind: str
) -> None:
    draft = read_signed(here(source(signed(content), name), tmp_path))
    assert draft.kind == kind
    assert list(draft.pages)


@pytest.mark.parametrize(
    ("serial", "certificates", "names"),
    [
        (b"\x07", (ANNA, BRUNO), ("Anna Prova",)),
        (b"\x08", (ANNA, BRUNO), ("Bruno Esempio",)),
        (b"\x09", (ANNA, BRUNO), ()),
        (b"\x07", (), ()),
    ],
)
def test_the_signer_is_who_the_signature_refers_to(
    source: Make, tmp_path: Path, serial: bytes, certificates: tuple[bytes, ...], names: tuple[str]
) -> None:
    data = signed(TEXT, serial=serial, certificates=certificates)
    assert signers(data) == names
    draft = read_signed(here(source(data, "x.txt.p7m"), tmp_path))
    list(draft.pages)
    assert draft.facts.author == (", ".join(names) or None)


def test_signers_of_all_envelopes(source: Make, tmp_path: Path) -> None:
    inner = signed(TEXT, make=ber)
    data = signed(inner, certificates=(BRUNO,), serial=b"\x08")
    draft = read_signed(here(source(data, "x.txt.p7m"), tmp_path))
    list(draft.pages)
    assert draft.facts.author == "Bruno Esempio, Anna Prova"
    assert "signed by Bruno Esempio, Anna Prova" in draft.warnings[-1]


@pytest.mark.parametrize("make", [der, ber])
@pytest.mark.parametrize("wrap", [bytes, base64.b64encode, pem])
def test_a_signature_alone(
    make: Callable[..., bytes], wrap: Callable[[bytes], bytes], source: Make, tmp_path: Path
) -> None:
    data = wrap(signed(None, make=make))
    with pytest.raises(ReadingError, match="signature alone"):
        unwrap(data)


@pytest.mark.parametrize(
    "data",
    [
        der(0x30, ENVELOPED, der(0xA0, der(0x30, der(2, b"\0"), b"\x04\x20" + bytes(32)))),
        ber(0x30, ENVELOPED, ber(0xA0, ber(0x30, der(2, b"\0"), b"\x04\x20" + bytes(32)))),
        der(0x30, AUTHENTICATED, der(0xA0, der(0x30, der(2, b"\0"), b"\x04\x20" + bytes(32)))),
        signed(der(0x30, ENVELOPED, der(0xA0, der(0x30, der(2, b"\0"), der(4, bytes(60)))))),
    ],
)
def test_an_encrypted_one(source: Make, tmp_path: Path, data: bytes) -> None:
    file = here(source(data, "x.pdf.p7m"), tmp_path)
    assert detect(file.path).name == "signed"
    with pytest.raises(PasswordRequired, match="private key"):
        read_signed(file)


def test_what_is_no_signed_file() -> None:
    for data in (b"", b"testo", b"%PDF-1.4", b"\x30", b"\x30\x03\x02\x01\x05", der(0x30, DATA)):
        with pytest.raises(ReadingError):
            unwrap(data)


def test_empty_content(source: Make, tmp_path: Path) -> None:
    with pytest.raises(EmptyDocument):
        read_signed(here(source(signed(b""), "x.txt.p7m"), tmp_path))


def test_signed_without_end() -> None:
    data = TEXT
    for _ in range(20):
        data = signed(data)
    with pytest.raises(ReadingError, match="times over"):
        unwrap(data)


@pytest.mark.parametrize("how", ["der", "ber with chunks", "signed twice", "pem"])
def test_truncated_anywhere(how: str) -> None:
    whole = ENVELOPES[how]
    for cut in range(0, min(len(whole), 300), 7):
        with pytest.raises(ReadingError):
            unwrap(whole[:cut])
        signers(whole[:cut])


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400), st.sampled_from(sorted(ENVELOPES)), st.integers(0, 200))
def test_random_bytes_raise_nothing_else(noise: bytes, how: str, at: int) -> None:
    for data in (noise, ENVELOPES[how][:at] + noise + ENVELOPES[how][at + len(noise) :]):
        signers(data)
        with contextlib.suppress(ReadingError):
            unwrap(data)


@settings(max_examples=60, deadline=None)
@given(st.binary(min_size=1, max_size=3000), st.integers(0, 9), st.booleans())
def test_any_content_comes_out_whole(content: bytes, chunks: int, indefinite: bool) -> None:
    data = signed(b"x" + content, make=ber if indefinite else der, chunks=chunks)
    assert unwrap(data) == b"x" + content
    assert unwrap(base64.encodebytes(data)) == b"x" + content
