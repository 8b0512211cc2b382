"""The index in memory after notes came, changed and went is that which a new process loads."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from emily.brain import Brain
from emily.retrieval import mirror as mirrors
from emily.retrieval.mirror import Mirror, Mirrored
from emily.store import Database

Write = Callable[[str, str], Path]


async def _now(database: Database, mirror: Mirror) -> Mirrored:
    row = await database.fetch_one("revision_number")
    assert row is not None
    found = await mirror.at(row["number"])
    assert found is not None
    return found


def _columns(mirrored: Mirrored) -> dict[str, object]:
    table = mirrored.table
    return {
        "ids": table.ids.tolist(),
        "columns": {name: column.tolist() for name, column in table.columns.items()},
        "names": dict(table.names),
        "languages": table.languages.tolist(),
        "average": table.average,
        "vectors": table.vectors.vectors.exact.tolist(),
        "signs": table.vectors.signs.tolist(),
        "starts": table.vectors.starts.tolist(),
    }


@pytest.mark.parametrize("few", [0, 200])
async def test_a_mirror_that_was_brought_up_to_date_is_a_new_one(
    brain: Brain,
    database: Database,
    folder: Path,
    write: Write,
    monkeypatch: pytest.MonkeyPatch,
    few: int,
) -> None:
    monkeypatch.setattr(mirrors, "_FEW", few)
    for number in range(8):
        write(f"n{number}.md", f"# Note {number}\n\nThe ferry number {number} leaves.\n")
    await brain.vaults.add(folder)
    dimension = brain._retriever._embedder.identity.dimension
    kept = Mirror(database, dimension, 64)
    before = await _now(database, kept)
    then = _columns(before)
    for changed, gone in (([2], []), ([0, 7], [3]), ([], [5]), ([1], [])):
        for number in changed:
            write(f"n{number}.md", f"# Note {number}\n\nIt stays.\n\n## More\n\nAnd {number}.\n")
        for number in gone:
            (folder / f"n{number}.md").unlink()
        await brain.vaults.refresh()
        mirrored = await _now(database, kept)
        assert _columns(mirrored) == _columns(await _now(database, Mirror(database, dimension, 64)))
    assert len(mirrored.table) == len(np.unique(mirrored.table.ids))
    assert _columns(before) == then  # a search that still goes on sees what it began with
