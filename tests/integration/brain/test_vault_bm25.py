"""One formula of BM25: the database's SQL, its copy in memory, and that of the folder alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from emily.brain import Brain
from emily.retrieval.arms import archive_statistics, lexical_arm
from emily.retrieval.bm25 import Member, Scorer, TermGroup
from emily.retrieval.mirror import Mirror
from emily.retrieval.preset_arms import document_arm
from emily.settings import Settings
from emily.store import Database
from emily.vault.bm25 import Collection, score

NOTES = {
    "a.md": "# Ferry\n\nThe ferry leaves at seven and the ferry returns at nine.\n",
    "b.md": "# Bread\n\nFlour and water.\n\n## Oven\n\nBread bakes in the oven until seven.\n",
    "c.md": f"# Long\n\n{'harbour light tower ' * 60}ferry\n",
    "d/e.md": "# Seven\n\nSeven times seven.\n",
}
TERMS = ("ferry", "seven", "bread", "harbo")


@pytest.mark.parametrize(("k1", "b"), [(1.2, 0.75), (2.0, 0.0), (0.5, 1.0)])
async def test_sql_memory_and_folder_give_the_same_scores(
    brain: Brain,
    database: Database,
    settings: Settings,
    folder: Path,
    write: Callable[[str, str], Path],
    rows: Callable[..., list[tuple[object, ...]]],
    k1: float,
    b: float,
) -> None:
    for name, text in NOTES.items():
        write(name, text)
    await brain.vaults.add(folder)
    groups = [TermGroup(term, (Member(term, 1.0),)) for term in TERMS]
    statistics = await archive_statistics(database, groups, None, k1, b)
    by_sql = dict(await lexical_arm(database, groups, statistics, 100))
    revision = await database.fetch_one("revision_number")
    assert revision is not None
    mirror = Mirror(database, 64, 64, k1=k1, b=b)
    mirrored = await mirror.at(revision["number"])
    in_memory = dict(await lexical_arm(database, groups, statistics, 100, mirrored=mirrored))
    assert by_sql.keys() == in_memory.keys()

    lengths = dict(rows("SELECT id, terms FROM chunk"))
    counts: dict[int, dict[str, int]] = {}
    for term, chunk, frequency in rows(
        "SELECT p.term, u.chunk, u.frequency FROM posting p "
        "CROSS JOIN LATERAL unnest(p.chunk_ids, p.frequencies) AS u (chunk, frequency)"
    ):
        if term in TERMS:
            counts.setdefault(int(str(chunk)), {})[str(term)] = int(str(frequency))
    holding = {term: sum(term in found for found in counts.values()) for term in TERMS}
    lite = Collection(len(lengths), sum(map(int, map(str, lengths.values()))) / len(lengths), k1, b)
    scorer = Scorer(groups, statistics)
    assert counts.keys() == by_sql.keys()
    for chunk, found in counts.items():
        length = int(str(lengths[chunk]))
        expected = score(lite, found, length, holding)
        assert by_sql[chunk] == pytest.approx(expected, rel=1e-9)
        assert in_memory[chunk] == pytest.approx(expected, rel=1e-5)
        assert scorer.score(found, length) == pytest.approx(expected, rel=1e-9)


async def test_whole_documents_are_scored_by_the_same_formula(
    brain: Brain,
    database: Database,
    folder: Path,
    write: Callable[[str, str], Path],
    rows: Callable[..., list[tuple[object, ...]]],
) -> None:
    for name, text in NOTES.items():
        write(name, text)
    await brain.vaults.add(folder)
    groups = [TermGroup(term, (Member(term, 1.0),)) for term in TERMS]
    statistics = await archive_statistics(database, groups)
    ranking = dict(await document_arm(database, groups, statistics, 100))
    of_chunk = dict(rows("SELECT id, document_id FROM chunk"))
    lengths = {
        key: int(str(total))
        for key, total in rows("SELECT document_id, sum(terms) FROM chunk GROUP BY document_id")
    }
    counts: dict[object, dict[str, int]] = {}
    for term, document, frequencies in rows("SELECT term, document_id, frequencies FROM posting"):
        if term in TERMS:
            counts.setdefault(document, {})[str(term)] = sum(frequencies)  # type: ignore[call-overload]
    holding = {term: sum(term in found for found in counts.values()) for term in TERMS}
    lite = Collection(len(lengths), sum(lengths.values()) / len(lengths))
    by_document = {of_chunk[chunk]: value for chunk, value in ranking.items()}
    assert by_document.keys() == counts.keys()
    for document, found in counts.items():
        expected = score(lite, found, lengths[document], holding)
        assert by_document[document] == pytest.approx(expected, rel=1e-9)
