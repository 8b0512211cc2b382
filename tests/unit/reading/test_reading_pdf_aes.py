"""PDFs that are encrypted with AES-256 (ISO 32000-2): an owner password opens them to readers."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from Cryptodome.Cipher import AES
from Cryptodome.Util.Padding import pad

from emily.errors import PasswordRequired
from emily.reading.pdf.document import read_pdf
from emily.reading.source import Source

At = Callable[[Path], Source]
SENTENCE = "The lease runs for four years and goes on by itself."
KEY = bytes(range(32))
SALTS = b"checking", b"unpacked"


def hardened(password: bytes, salt: bytes, user: bytes, revision: int) -> bytes:
    """Algorithm 2.B; revision 5, of Adobe alone, has no more than the first step."""
    found = hashlib.sha256(password + salt + user).digest()
    if revision == 5:
        return found
    turn = 0
    while True:
        turn += 1
        cipher = AES.new(found[:16], AES.MODE_CBC, found[16:32])
        packed = cipher.encrypt((password + found + user) * 64)
        by = (hashlib.sha256, hashlib.sha384, hashlib.sha512)[sum(packed[:16]) % 3]
        found = by(packed).digest()
        if turn >= 64 and packed[-1] <= turn - 32:
            return found[:32]


def sealed(password: bytes, user: bytes, revision: int) -> tuple[bytes, bytes]:
    """What proves a password, and the file's key locked by it: algorithms 8 and 9."""
    check, key = SALTS
    proof = hardened(password, check, user, revision) + check + key
    lock = AES.new(hardened(password, key, user, revision), AES.MODE_CBC, bytes(16))
    return proof, lock.encrypt(KEY)


def encrypted(user: str, owner: str, revision: int = 6) -> bytes:
    """A page of text, encrypted."""
    proof, locked = sealed(user.encode(), b"", revision)
    owners, owners_lock = sealed(owner.encode(), proof, revision)
    rights = struct.pack("<iI", -3904, 0xFFFFFFFF) + b"Tadbxxxx"  # neither printing nor copying
    rights = AES.new(KEY, AES.MODE_ECB).encrypt(rights)
    text = f"BT /F 12 Tf 72 700 Td ({SENTENCE}) Tj ET".encode()
    vector = bytes(range(16, 32))
    content = vector + AES.new(KEY, AES.MODE_CBC, vector).encrypt(pad(text, 16))
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Count 1/Kids[3 0 R]>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]/Contents 4 0 R"
        b"/Resources<</Font<</F 5 0 R>>>>>>",
        b"<</Length %d>>stream\n" % len(content) + content + b"\nendstream",
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
        f"<</Filter/Standard/V 5/R {revision}/Length 256/P -3904/U<{proof.hex()}>"
        f"/UE<{locked.hex()}>/O<{owners.hex()}>/OE<{owners_lock.hex()}>/Perms<{rights.hex()}>"
        "/CF<</StdCF<</AuthEvent/DocOpen/CFM/AESV3/Length 32>>>>/StmF/StdCF/StrF/StdCF>>".encode(),
    ]
    data = b"%PDF-2.0\n"
    places = []
    for number, body in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj" % number + body + b"endobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return (
        data
        + b"xref\n0 7\n0000000000 65535 f \n"
        + table
        + b"trailer<</Size 7/Root 1 0 R/Encrypt 6 0 R/ID[<01><01>]>>\nstartxref\n%d\n%%%%EOF\n"
        % len(data)
    )


def read(at: At, folder: Path, data: bytes, *passwords: str) -> list[str]:
    path = folder / "a.pdf"
    path.write_bytes(data)
    source = at(path)
    source.passwords = passwords
    draft = read_pdf(source)
    assert draft.warnings == []
    return [page.text for page in draft.pages]


@pytest.mark.parametrize("revision", [5, 6])
def test_an_owner_password_alone_opens(at: At, tmp_path: Path, revision: int) -> None:
    assert read(at, tmp_path, encrypted("", "owner", revision)) == [SENTENCE]


@pytest.mark.parametrize("revision", [5, 6])
def test_a_password_opens_whosesoever(at: At, tmp_path: Path, revision: int) -> None:
    data = encrypted("open sesame", "owner", revision)
    for password in ("open sesame", "owner"):
        assert read(at, tmp_path, data, "wrong", password) == [SENTENCE]
    with pytest.raises(PasswordRequired, match="none of those known fits"):
        read(at, tmp_path, data, "wrong")


def test_without_the_password_none_is_read(at: At, tmp_path: Path) -> None:
    with pytest.raises(PasswordRequired, match=r"^the PDF opens only with a password$"):
        read(at, tmp_path, encrypted("perché no", "owner"))
    assert read(at, tmp_path, encrypted("perché no", "owner"), "perché no") == [SENTENCE]
