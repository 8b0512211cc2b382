"""What became of a folder, by sizes, dates and bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from emily.vault.changes import FileState, KnownFile, compare, match_moves

_NAMES = st.text("abc", min_size=1, max_size=2)


def _known(number: int, path: str, data: bytes = b"x", inode: str = "") -> KnownFile:
    return KnownFile(number, path, True, number, 1, 1, inode or path, data, 1, complete=True)


def _state(inode: str = "") -> FileState:
    return FileState(1, 1, inode, note=True)


def test_a_moved_file_is_known_by_its_bytes_then_its_name_then_its_number() -> None:
    gone = [_known(1, "a/x.md", b"1"), _known(2, "b/x.md", b"1"), _known(3, "c/y.md", b"2", "i")]
    fresh = {
        "new/x.md": (b"1", _state()),
        "new/z.md": (b"1", _state("b/x.md")),
        "new/edited.md": (b"3", _state("i")),
    }
    found = match_moves(gone, fresh)
    assert {path: file.id for path, file in found.items()} == {
        "new/x.md": 1,
        "new/z.md": 2,
        "new/edited.md": 3,
    }


def test_what_waits_to_be_read_is_not_matched_by_its_empty_digest() -> None:
    gone = [_known(1, "a.pdf", b"")]
    assert match_moves(gone, {"b.pdf": (b"", _state("other"))}) == {}


@given(
    st.dictionaries(_NAMES, st.tuples(st.binary(max_size=1), st.text("ij", max_size=1))),
    st.dictionaries(_NAMES, st.tuples(st.binary(max_size=1), st.text("ij", max_size=1))),
)
def test_each_old_file_moves_to_one_place_at_most(
    old: dict[str, tuple[bytes, str]], new: dict[str, tuple[bytes, str]]
) -> None:
    gone = [_known(n, path, data, inode) for n, (path, (data, inode)) in enumerate(old.items())]
    found = match_moves(gone, {path: (data, _state(inode)) for path, (data, inode) in new.items()})
    assert len({file.id for file in found.values()}) == len(found)
    assert set(found) <= set(new)


@given(st.dictionaries(_NAMES, st.integers(0, 2)), st.dictionaries(_NAMES, st.integers(0, 2)))
def test_every_difference_is_seen_and_nothing_else(
    before: dict[str, int], after: dict[str, int]
) -> None:
    known = {
        path: KnownFile(n, path, True, n, 1, date, "", b"x", 1, complete=True)
        for n, (path, date) in enumerate(before.items())
    }
    found = {path: FileState(1, date, "", note=True) for path, date in after.items()}
    changes = compare(known, found)
    assert set(changes.fresh) == after.keys() - before.keys()
    assert {file.path for file in changes.gone} == before.keys() - after.keys()
    assert set(changes.touched) == {
        path for path in before.keys() & after.keys() if before[path] != after[path]
    }
    assert changes.none == (before == after)
