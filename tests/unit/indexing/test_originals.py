"""Kept files: complete or absent, under the digest of their bytes."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from emily.indexing.originals import Originals, file_sha256


@pytest.fixture
def originals(tmp_path: Path) -> Originals:
    return Originals(tmp_path / "originals")


def file(tmp_path: Path, content: bytes, name: str = "Lease.PDF") -> tuple[Path, bytes]:
    path = tmp_path / name
    path.write_bytes(content)
    return path, file_sha256(path)


def test_keeps_a_copy_under_its_digest(originals: Originals, tmp_path: Path) -> None:
    source, digest = file(tmp_path, b"content" * 400_000)
    assert digest == hashlib.sha256(b"content" * 400_000).digest()
    kept = originals.keep(source, digest)
    assert kept == originals.folder / digest.hex()[:2] / f"{digest.hex()}.pdf"
    assert kept.read_bytes() == source.read_bytes()
    assert originals.keep(source, digest) == kept
    assert kept.parent.stat().st_mode & 0o077 == 0, "no one else may look"
    assert kept.stat().st_mode & 0o077 == 0


def test_a_file_that_changed_meanwhile_is_not_kept(originals: Originals, tmp_path: Path) -> None:
    source, digest = file(tmp_path, b"before")
    source.write_bytes(b"after")
    with pytest.raises(ValueError, match="changed while it was being copied"):
        originals.keep(source, digest)
    assert not [path for path in originals.folder.rglob("*") if path.is_file()]


def test_a_failed_copy_leaves_nothing(originals: Originals, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        originals.keep(tmp_path / "gone.txt", b"\1" * 32)
    assert not [path for path in originals.folder.rglob("*") if path.is_file()]


def test_forgets_whatever_the_suffix(originals: Originals, tmp_path: Path) -> None:
    source, digest = file(tmp_path, b"x", "a.txt")
    other, _ = file(tmp_path, b"x", "b.md")
    originals.keep(source, digest)
    originals.keep(other, digest)
    kept, other_digest = file(tmp_path, b"y", "c.txt")
    originals.keep(kept, other_digest)
    originals.forget(digest)
    originals.forget(digest)
    assert originals.missing([digest, other_digest]) == [digest]


def test_tells_what_is_missing_and_what_is_left_over(originals: Originals, tmp_path: Path) -> None:
    assert originals.missing([b"\1" * 32]) == [b"\1" * 32], "not even the folder is there"
    assert originals.strays([]) == []
    source, digest = file(tmp_path, b"x")
    kept = originals.keep(source, digest)
    assert originals.strays([digest]) == []
    assert originals.strays([]) == [kept]


@pytest.mark.parametrize(
    ("name", "suffix"),
    [("a.tar.gz", ".gz"), ("a", ""), ("a.p d", ""), ("a.é", ""), ("a." + "x" * 40, ""), (".x", "")],
)
def test_only_a_plain_suffix_is_kept(
    originals: Originals, tmp_path: Path, name: str, suffix: str
) -> None:
    source, digest = file(tmp_path, b"x", name)
    assert originals.keep(source, digest).name == digest.hex() + suffix
