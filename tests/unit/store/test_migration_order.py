"""Which migrations are pending, and which records are refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.errors import StoreError
from emily.store.migrate import Migration, load_migrations, pending, read_migrations

KNOWN = tuple(Migration(number, f"step_{number}", f"SELECT {number}") for number in (1, 2, 3))


def _record(*migrations: Migration) -> list[tuple[int, str, str]]:
    return [(item.number, item.name, item.sha256) for item in migrations]


@given(st.integers(0, 3))
def test_pending_is_what_comes_after_the_record(count: int) -> None:
    assert pending(KNOWN, _record(*KNOWN[:count])) == KNOWN[count:]


def test_newer_database_is_refused() -> None:
    newer = Migration(4, "notes", "SELECT 4")
    with pytest.raises(StoreError, match=r"0004_notes.*up to 0003.*pip install --upgrade emily"):
        pending(KNOWN, _record(*KNOWN, newer))


def test_gap_in_the_record_is_refused() -> None:
    with pytest.raises(StoreError, match=r"has a gap: \[1, 3\]"):
        pending(KNOWN, _record(KNOWN[0], KNOWN[2]))


def test_changed_migration_is_refused() -> None:
    changed = Migration(2, "step_2", "SELECT 22")
    with pytest.raises(StoreError, match=r"0002_step_2 is not the one .* Install the version"):
        pending(KNOWN, _record(KNOWN[0], changed))


def test_line_ends_do_not_change_the_digest() -> None:
    assert Migration(1, "a", "SELECT\n1").sha256 == Migration(1, "a", "SELECT\r\n1").sha256
    assert Migration(1, "a", "SELECT\n1").sha256 != Migration(1, "a", "SELECT\n2").sha256


def test_files_are_ordered_by_number() -> None:
    found = read_migrations([("0002_b.sql", "SELECT 2"), ("0001_a.sql", "SELECT 1")])
    assert [str(item) for item in found] == ["0001_a", "0002_b"]


@pytest.mark.parametrize("name", ["1_a.sql", "0001-a.sql", "0001_A.sql", "readme.sql"])
def test_misnamed_file_is_refused(name: str) -> None:
    with pytest.raises(StoreError, match=f"Migration {name} is misnamed"):
        read_migrations([(name, "SELECT 1")])


@pytest.mark.parametrize("names", [["0002_b"], ["0001_a", "0003_c"], ["0001_a", "0001_b"]])
def test_missing_or_doubled_number_is_refused(names: list[str]) -> None:
    with pytest.raises(StoreError, match="must be numbered 1, 2, 3"):
        read_migrations([(f"{name}.sql", "SELECT 1") for name in names])


def test_migrations_of_the_package_load() -> None:
    assert str(load_migrations()[0]) == "0001_archive"
