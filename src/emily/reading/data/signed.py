"""Signed files (.p7m, .tsd): the envelope is taken off, and what is inside of it is read.

CMS (RFC 5652) in BER as signing programs really write it: lengths may be indefinite and the
content cut into chunks (X.690, 8.1.3 and 8.7), which strict DER parsers refuse.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from emily.errors import EmptyDocument, PasswordRequired, ReadingError
from emily.reading.formats import reader_of
from emily.reading.kind import detect
from emily.reading.pages import Page
from emily.reading.source import Draft, Source, tidy

__all__ = ["read_signed", "signers", "unwrap"]

_PKCS7 = b"\x2a\x86\x48\x86\xf7\x0d\x01\x07"  # 1.2.840.113549.1.7
_SMIME = b"\x2a\x86\x48\x86\xf7\x0d\x01\x09\x10\x01"  # 1.2.840.113549.1.9.16.1
_SIGNED = _PKCS7 + b"\x02"
_STAMPED = _SMIME + b"\x1f"  # timestamped data, RFC 5544
_ENCRYPTED = frozenset({_PKCS7 + b"\x03", _PKCS7 + b"\x04", _PKCS7 + b"\x06", _SMIME + b"\x17"})
_SEQUENCE, _SET, _OID, _OCTETS, _NULL = 0x30, 0x31, 0x06, 0x04, b"\0\0"
_COMMON_NAME, _SURNAME, _GIVEN_NAME = b"\x55\x04\x03", b"\x55\x04\x04", b"\x55\x04\x2a"
_ENVELOPES = re.compile(r"(?:\.(?:p7m|p7s|p7b|p7|tsd|m7m))+\Z", re.IGNORECASE)
_ARMOUR = re.compile(rb"-----BEGIN [A-Z0-9 ]+-----\s*(.*?)(?:-----END|\Z)", re.DOTALL)
_BASE64 = re.compile(rb"[A-Za-z0-9+/=\s]+")
_MOST_NESTED = 8  # signatures around signatures, and chunks inside of chunks


@dataclass(frozen=True, slots=True)
class _Element:
    """One element of BER: its first byte, and where its content lies; ``after`` is what follows."""

    tag: int
    start: int
    end: int
    after: int


def read_signed(source: Source) -> Draft:
    """A signed file, read as the file that was signed.

    The signers' names, by the certificates inside of it, are its author where the file names
    none. No signature is verified, and a warning says so.

    Raises:
        PasswordRequired: it is encrypted for a certificate.
        ReadingError: it holds a signature alone, or is broken.
    """
    data = source.path.read_bytes()
    content = unwrap(data)
    if not content.strip():
        raise EmptyDocument("the signed file inside of it is empty (0 bytes)")
    names = signers(data)
    name = _ENVELOPES.sub("", source.name) or source.name
    if source.scratch is None:
        raise ReadingError("the signed file has no place to be unpacked to")
    path = source.scratch / "signed-content"
    path.write_bytes(content)
    kind = detect(path, name)
    draft = reader_of(kind.name)(source.within(path, name))
    by = f" by {', '.join(names)}" if names else ""
    draft.warnings += [
        *([kind.warning] if kind.warning else []),
        f"The file is signed{by}; the signature was not verified.",
    ]
    draft.pages = _and_author(draft, draft.pages, names)
    return draft


def _and_author(draft: Draft, pages: Iterator[Page], names: tuple[str, ...]) -> Iterator[Page]:
    yield from pages
    if names and draft.facts.author is None:
        draft.facts = replace(draft.facts, author=", ".join(names))


def unwrap(data: bytes) -> bytes:
    """What was signed, out of all envelopes around it.

    Args:
        data: CMS signed data or timestamped data in BER or DER, as PEM or as bare base64.

    Raises:
        PasswordRequired: it is encrypted.
        ReadingError: it is something else, broken, or a signature without the signed content.
    """
    for _ in range(_MOST_NESTED):
        data = _content(_binary(data))
        if not _is_envelope(data):
            return data
    raise ReadingError(f"it is signed more than {_MOST_NESTED} times over")


def signers(data: bytes) -> tuple[str, ...]:
    """Names on the certificates that the signatures of all envelopes refer to, each once.

    Never raises: what cannot be told is left out.
    """
    names: dict[str, None] = {}
    for _ in range(_MOST_NESTED):
        try:
            data = _binary(data)
            names.update(dict.fromkeys(_signers_of(data)))
            data = _content(data)
            if not _is_envelope(data):
                break
        except (ReadingError, IndexError, UnicodeError):
            break
    return tuple(names)


def _is_envelope(data: bytes) -> bool:
    """Whether what was signed is itself signed."""
    try:
        kind, _ = _outer(_binary(data[:512]), cut=True)
    except (ReadingError, IndexError):
        return False
    return kind in {_SIGNED, _STAMPED} or kind in _ENCRYPTED


def _binary(data: bytes) -> bytes:
    """The envelope as bytes, whatever it is wrapped in."""
    armour = _ARMOUR.search(data[:200])
    if armour is not None:
        whole = _ARMOUR.search(data)
        data = whole[1] if whole else data
        data = data.split(b"\n\n", 1)[-1] if b": " in data[:200] else data
    elif data[:1] == b"\x30" and not _BASE64.fullmatch(data[:64]):
        return data
    if not _BASE64.fullmatch(data[:4096]):
        return data
    try:
        return base64.b64decode(re.sub(rb"[^A-Za-z0-9+/]", b"", data) + b"==")
    except binascii.Error:
        return data


def _outer(data: bytes, *, cut: bool = False) -> tuple[bytes, _Element]:
    """The kind of an envelope, and the element that holds its content.

    Args:
        data: the envelope.
        cut: whether ``data`` may be only its beginning; the element then ends with it.
    """
    if data[:1] != b"\x30":
        raise ReadingError("the signed file is broken: it is not CMS (PKCS #7)")
    top = _element(data, 0, cut=cut)
    oid = _element(data, top.start, cut=cut)
    if oid.tag != _OID:
        raise ReadingError("the signed file is broken: it does not say what it is")
    kind = data[oid.start : oid.end]
    if kind in _ENCRYPTED or cut:
        return kind, oid
    explicit = _element(data, oid.after)
    return kind, _element(data, explicit.start)


def _content(data: bytes) -> bytes:
    """What one envelope holds."""
    try:
        kind, body = _outer(data)
        if kind in _ENCRYPTED:
            raise PasswordRequired(
                "the file is encrypted for a certificate and opens only with its private key"
            )
        if kind == _STAMPED:
            octets = [part for part in _children(data, body) if part.tag & 0x1F == _OCTETS]
        elif kind == _SIGNED:
            octets = _signed_octets(data, body)
        else:
            raise ReadingError("the file is CMS (PKCS #7), but not signed data")
        if not octets:
            raise ReadingError(
                "the file is a signature alone (detached); the signed file is kept apart from it"
            )
        return b"".join(_octets(data, octets[0]))
    except IndexError:
        raise ReadingError("the signed file is truncated or broken") from None


def _signed_octets(data: bytes, body: _Element) -> list[_Element]:
    """The content inside of signed data, ``[]`` where it is kept elsewhere."""
    for part in _children(data, body):
        if part.tag == _SEQUENCE:  # the first one, after the version and the digest algorithms
            return [
                inner
                for held in list(_children(data, part))[1:]
                for inner in _children(data, held)
                if inner.tag & 0xDF in {_OCTETS, 0x10}
            ][:1]
    return []


def _octets(data: bytes, element: _Element, depth: int = 0) -> Iterator[bytes]:
    """The bytes of an OCTET STRING, whole or in chunks."""
    if element.tag == _SEQUENCE:
        raise ReadingError("what is signed is not a file")
    if not element.tag & 0x20:
        yield data[element.start : element.end]
        return
    if depth > _MOST_NESTED:
        raise ReadingError("the signed file is broken: chunks inside of chunks without end")
    for chunk in _children(data, element):
        yield from _octets(data, chunk, depth + 1)


def _element(data: bytes, at: int, *, cut: bool = False) -> _Element:
    """The element that begins at an offset.

    Raises:
        IndexError: the data end inside of it.
    """
    tag, start, length = _head(data, at)
    if length is None:
        end = len(data) if cut else _end_of_contents(data, start)
        return _Element(tag, start, end, end if cut else end + 2)
    end = start + length
    if end > len(data):
        if not cut:
            raise IndexError
        end = len(data)
    return _Element(tag, start, end, end)


def _head(data: bytes, at: int) -> tuple[int, int, int | None]:
    """First byte, begin of the content, and its length; ``None`` for an indefinite one."""
    tag = data[at]
    at += 1
    if tag & 0x1F == 0x1F:
        while data[at] & 0x80:
            at += 1
        at += 1
    size = data[at]
    at += 1
    if size == 0x80:
        return tag, at, None
    if size < 0x80:
        return tag, at, size
    count = size & 0x7F
    if at + count > len(data):
        raise IndexError
    return tag, at + count, int.from_bytes(data[at : at + count], "big")


def _end_of_contents(data: bytes, at: int) -> int:
    """Where the two zeros stand that close an indefinite length."""
    depth = 1
    while True:
        if data[at : at + 2] == _NULL:
            depth -= 1
            if not depth:
                return at
            at += 2
            continue
        _, start, length = _head(data, at)
        depth += length is None
        at = start + (length or 0)


def _children(data: bytes, element: _Element) -> Iterator[_Element]:
    at = element.start
    while at < element.end:
        child = _element(data, at)
        yield child
        at = child.after


def _signers_of(data: bytes) -> Iterator[str]:
    """Names on the certificates of one envelope's signers; on all of them where none is told."""
    kind, body = _outer(data)
    if kind != _SIGNED:
        return
    parts = list(_children(data, body))
    infos = [info for part in parts[-1:] if part.tag == _SET for info in _children(data, part)]
    wanted = set()
    for info in infos:
        for part in list(_children(data, info))[1:2]:
            if part.tag == _SEQUENCE:
                wanted.add(bytes(data[part.start : part.end]))
    certificates = [c for part in parts if part.tag == 0xA0 for c in _children(data, part)]
    for certificate in certificates:
        if certificate.tag != _SEQUENCE:
            continue
        fields = list(_children(data, _element(data, certificate.start)))
        fields = fields[1:] if fields[0].tag == 0xA0 else fields  # the version is optional
        serial, issuer, subject = fields[0], fields[2], fields[4]
        issued = _whole(data, issuer) + _whole(data, serial)
        if issued in wanted or (not wanted and len(certificates) == 1):
            name = _name(data, subject)
            if name:
                yield name


def _whole(data: bytes, element: _Element) -> bytes:
    """An element with its head, as it stands in an issuer and serial number."""
    # Heads of definite length are found backwards from the content.
    for size in range(2, 8):
        at = element.start - size
        if at >= 0 and data[at] == element.tag:
            try:
                if _element(data, at) == element:
                    return data[at : element.after]
            except IndexError:
                continue
    return b""


def _name(data: bytes, subject: _Element) -> str:
    """The common name of a subject, else given name and surname."""
    found: dict[bytes, str] = {}
    for group in _children(data, subject):
        for pair in _children(data, group):
            oid, value = list(_children(data, pair))[:2]
            encoding = {0x1E: "utf-16-be", 0x14: "latin-1"}.get(value.tag, "utf-8")
            text = data[value.start : value.end].decode(encoding, "replace")
            found.setdefault(data[oid.start : oid.end], " ".join(tidy(text).split()))
    both = f"{found.get(_GIVEN_NAME, '')} {found.get(_SURNAME, '')}".strip()
    return found.get(_COMMON_NAME) or both
