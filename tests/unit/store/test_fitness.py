"""Which servers can hold the archive."""

from __future__ import annotations

from dataclasses import replace

import pytest

from emily.errors import StoreError
from emily.store.fitness import ServerFacts, check_fitness

FIT = ServerFacts(180006, "18.6", "UTF8", None, "0.8.6")
WHERE = "postgresql://ada@db/brain"


@pytest.mark.parametrize(
    "facts",
    [
        FIT,
        replace(FIT, version_number=150000, version="15.0"),
        replace(FIT, vector_installed="0.8.0"),
        replace(FIT, vector_installed="0.10.1"),
        replace(FIT, vector_installed="1.0"),
        replace(FIT, vector_installed="0.8.6", vector_available=None),
    ],
)
def test_fit_server_is_accepted(facts: ServerFacts) -> None:
    check_fitness(facts, WHERE)


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        (
            replace(FIT, version_number=140011, version="14.11"),
            ["PostgreSQL 14.11", "15 or newer"],
        ),
        (
            replace(FIT, encoding="SQL_ASCII"),
            ["encoding SQL_ASCII", "needs UTF8", "CREATE DATABASE"],
        ),
        (
            replace(FIT, vector_available=None),
            ["no pgvector", "0.8 or newer", "postgresql-18-pgvector", "CREATE EXTENSION vector"],
        ),
        (
            replace(FIT, vector_installed="0.7.4"),
            [
                "pgvector 0.7.4",
                "0.8 or newer",
                "Run in the database: ALTER EXTENSION vector UPDATE",
            ],
        ),
        (
            replace(FIT, vector_installed="0.5.1", vector_available="0.7.4"),
            ["pgvector 0.5.1", "apt install postgresql-18-pgvector", "ALTER EXTENSION"],
        ),
        (replace(FIT, vector_available="0.7.0"), ["pgvector 0.7.0", "0.8 or newer"]),
    ],
)
def test_unfit_server_is_refused_with_what_helps(facts: ServerFacts, words: list[str]) -> None:
    with pytest.raises(StoreError) as error:
        check_fitness(facts, WHERE)
    for word in [WHERE, *words]:
        assert word in str(error.value)
