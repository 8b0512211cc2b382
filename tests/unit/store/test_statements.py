"""Named statements: what the loader accepts, and what it refuses in which words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.errors import StoreError
from emily.store import statement
from emily.store.statements import Statements, load_statements


def _load(text: str) -> Statements:
    return Statements([("archive.sql", text)])


def test_heading_description_and_body() -> None:
    loaded = _load(
        "-- What this file is for.\n"
        "\n"
        "-- Documents of one kind,\n"
        "-- the newest first.\n"
        "-- name: documents_of_kind\n"
        "SELECT id\n"
        "-- only what is whole\n"
        "FROM document WHERE kind = %(kind)s;\n"
        "\n"
        "-- All of them.\n"
        "-- name: documents\n"
        "SELECT id FROM document\n"
    )
    first = loaded["documents_of_kind"]
    assert first.text == ("SELECT id\n-- only what is whole\nFROM document WHERE kind = %(kind)s")
    assert first.description == "Documents of one kind, the newest first."
    assert first.file == "archive.sql"
    assert loaded["documents"].text == "SELECT id FROM document"
    assert loaded["documents"].description == "All of them."
    assert len(loaded) == 2


def test_statement_of_several_commands_keeps_inner_semicolons() -> None:
    assert _load("-- name: two\nSELECT 1;\nSELECT 2;\n")["two"].text == "SELECT 1;\nSELECT 2"


def test_unknown_name_lists_those_that_exist() -> None:
    loaded = _load("-- name: one\nSELECT 1\n-- name: two\nSELECT 2\n")
    with pytest.raises(StoreError) as error:
        loaded["three"]
    assert str(error.value) == "No statement is called 'three'. Statements: one, two"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SELECT 1\n", "archive.sql holds SQL before its first heading '-- name: …'."),
        ("-- name: one\n-- nothing\n", "Statement 'one' in archive.sql is empty."),
        ("-- name: one\n;\n", "Statement 'one' in archive.sql is empty."),
        ("-- name: a\nSELECT 1\n-- name: a\nSELECT 2\n", "in archive.sql and again in archive"),
        ("-- name: Two Words\nSELECT 1\n", "'Two Words' in archive.sql is no name"),
        ("-- name:\nSELECT 1\n", "'' in archive.sql is no name"),
    ],
)
def test_malformed_file_is_refused(text: str, message: str) -> None:
    with pytest.raises(StoreError) as error:
        _load(text)
    assert message in str(error.value)


def test_name_in_two_files_is_refused() -> None:
    files = [("a.sql", "-- name: one\nSELECT 1"), ("b.sql", "-- name: one\nSELECT 2")]
    with pytest.raises(StoreError, match=r"'one' is in a\.sql and again in b\.sql"):
        Statements(files)


_names = st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True)
_bodies = st.from_regex(r"SELECT [a-z%' ]{0,20}[a-z](\n *FROM [a-z]{1,8})?", fullmatch=True)


@given(st.dictionaries(_names, _bodies, max_size=6), st.sampled_from(["\n", "\r\n"]))
def test_what_is_written_is_read_back(written: dict[str, str], line_end: str) -> None:
    text = "\n\n".join(
        f"-- About {name}.\n-- name: {name}\n{sql};" for name, sql in written.items()
    )
    loaded = _load(text.replace("\n", line_end))
    assert {item.name: item.text for item in loaded} == written
    assert {item.description for item in loaded} == {f"About {name}." for name in written}


def test_statements_of_the_package_are_read_once() -> None:
    assert load_statements() is load_statements()
    assert "pg_extension" in statement("server_facts")
