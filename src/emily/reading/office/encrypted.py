"""Office files behind a password: opened with the passwords that are given, and read in place."""

from __future__ import annotations

import tempfile
from pathlib import Path

import msoffcrypto
from msoffcrypto.exceptions import InvalidKeyError

from emily.errors import PasswordRequired, ReadingError
from emily.reading.kind import detect
from emily.reading.source import Draft, Source

__all__ = ["read_encrypted", "unlocked"]

_DEFAULT = "VelvetSweatshop"
"""The password that Excel tries by itself, for files that are only protected from changes
([MS-OFFCRYPTO] 2.4.2.3)."""


def read_encrypted(source: Source) -> Draft:
    """A Word, Excel or PowerPoint file that is encrypted as a whole, read as what it holds.

    Raises:
        PasswordRequired: no password of ``source.passwords`` opens it.
        ReadingError: it is broken, or encrypted in a way that is not known.
    """
    from emily.reading.formats import reader_of

    inner = unlocked(source, "the file")
    kind = detect(inner.path, inner.name)
    if kind.name == "encrypted":
        raise ReadingError("the file is encrypted in itself again")
    return reader_of(kind.name)(inner)


def unlocked(source: Source, what: str) -> Source:
    """A file without its encryption, in ``source.scratch``.

    Args:
        source: the encrypted file, and the passwords.
        what: names it in messages.

    Raises:
        PasswordRequired: no password opens it.
        ReadingError: it is broken, or encrypted in a way that is not known.
    """
    if source.scratch is None:
        raise AssertionError("a reader that decrypts needs a scratch folder")
    with tempfile.NamedTemporaryFile(dir=source.scratch, prefix="open-", delete=False) as file:
        target = Path(file.name)
    for password in filter(None, dict.fromkeys((*source.passwords, _DEFAULT))):
        try:
            with source.path.open("rb") as closed, target.open("wb") as opened:
                office = msoffcrypto.OfficeFile(closed)
                _load(office, password)
                office.decrypt(opened)
        except InvalidKeyError:
            continue
        except (ReadingError, MemoryError):
            raise
        except Exception as error:  # noqa: BLE001 - its parsers raise whatever broken bytes cause
            # The old formats have no way to tell a wrong password but by what comes out.
            raise ReadingError(f"{what} is encrypted and cannot be opened: {error}") from None
        if target.stat().st_size:
            return source.within(target, source.name)
    given = "; none of the passwords that were given opens it" if source.passwords else ""
    raise PasswordRequired(f"{what} opens only with a password{given}")


def _load(office: msoffcrypto.OfficeFile, password: str) -> None:
    try:
        office.load_key(password=password, verify_password=True)
    except TypeError:  # the old formats always verify, and take no such argument
        office.load_key(password=password)
