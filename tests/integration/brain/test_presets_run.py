"""The presets on a real archive: what each finds, shows, says and needs of the index."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import WordsEmbedder
from tests.integration.brain.conftest import OpenBrain, Shelf

from emily.brain import Answer, Brain, presets
from emily.errors import InputError

Write = Callable[[str, str], Path]
Rows = Callable[..., list[tuple[Any, ...]]]

FILES = {
    "affitto.txt": (
        "Il contratto di locazione dura quattro anni. Il canone mensile è di settecento euro e si "
        "paga entro il giorno cinque. Perché il contratto sia disdetto serve una lettera."
    ),
    "lease.txt": (
        "The lease runs for four years. The monthly rent is paid on the fifth. The tenants have "
        "been renting the flat and its cellar since March."
    ),
    "caldaia.txt": "\n\n".join(
        f"Capitolo {n}. La caldaia numero {n} è stata controllata dal tecnico e scalda bene."
        for n in range(1, 40)
    ),
    "torta.txt": "Per la torta servono tre uova, burro, farina e zucchero; cuoce quaranta minuti.",
}


@pytest.fixture(scope="module")
async def archive(shelf: Shelf) -> AsyncIterator[Brain]:
    """A small archive that serves every preset, and that no test changes."""
    async with shelf.filled(FILES, chunk_tokens=64, chunk_overlap=10, index_for="archive") as brain:
        yield brain


def names(answer: Answer) -> list[str]:
    return [result.document.name for result in answer.results]


@pytest.mark.parametrize("preset", presets())
async def test_every_preset_finds_and_says_what_it_is(archive: Brain, preset: str) -> None:
    answer = await archive.search("canone mensile del contratto", preset=preset)
    assert names(answer)[0] == "affitto.txt"
    assert answer.trace["preset"]["name"] == preset
    assert answer.trace["fusion"]["pool"]
    said = " ".join(answer.notices)
    assert ("was described with" in said) == (preset != "default")
    assert ("qwen3-embedding (words in its place)" in said) == (preset != "default")
    assert ("Qwen3-Reranker (the late interaction" in said) == (preset == "archive")
    assert answer.trace["preset"]["links"] == (preset != "archive")


async def test_archive_counts_distinct_stems_in_the_language_of_each_chunk(
    archive: Brain, database_rows: Rows
) -> None:
    answer = await archive.search("i contratti e le locazioni; tenant rents", preset="archive")
    stems = answer.trace["lexical_arm"]["stems"]
    assert {"it:contratt", "it:locazion", "en:tenant", "en:rent"} <= set(stems)
    # Each chunk is compared in its own language only, and no stem is counted twice.
    for item in answer.trace["lexical_arm"]["ranking"]:
        own = database_rows(
            "SELECT count(DISTINCT p.term), min(c.language) FROM stem_posting p "
            "JOIN chunk c ON c.id = ANY(p.chunk_ids) "
            "WHERE c.id = %s AND p.term = ANY(%s) GROUP BY c.id",
            item["chunk"],
            stems,
        )
        assert own[0][0] == item["score"]
    found = database_rows("SELECT DISTINCT split_part(term, ':', 1) FROM stem_posting")
    assert {row[0] for row in found} <= {"it", "en", "?"}
    # An Italian stop word with its accent is no stem.
    assert not database_rows("SELECT 1 FROM stem_posting WHERE term IN ('it:perc', 'it:perché')")


async def test_archive_breaks_ties_by_occurrences_then_by_age(
    archive: Brain, database_rows: Rows
) -> None:
    answer = await archive.search("caldaia tecnico capitolo", preset="archive")
    ranking = answer.trace["lexical_arm"]["ranking"]
    assert len(ranking) > 5

    def occurrences(chunk: int) -> int:
        ((total,),) = database_rows(
            "SELECT sum(u.frequency) FROM stem_posting p, unnest(p.chunk_ids, p.frequencies) "
            "AS u (chunk, frequency) WHERE u.chunk = %s AND p.term = ANY(%s)",
            chunk,
            answer.trace["lexical_arm"]["stems"],
        )
        return int(total)

    keys = [(-item["score"], -occurrences(item["chunk"]), item["chunk"]) for item in ranking]
    assert keys == sorted(keys)


async def test_archive_joins_by_ranks_and_has_one_vector_a_chunk(
    archive: Brain, database_rows: Rows
) -> None:
    answer = await archive.search("quando si paga il canone", preset="archive")
    fusion = answer.trace["fusion"]
    assert fusion["name"] == "rrf"
    for record in answer.trace["second_stage"]["candidates"]:
        ranks = [record["vector_rank"], record["lexical_rank"]]
        assert record["fused"] == pytest.approx(
            sum(1 / (60 + rank) for rank in ranks if rank is not None), abs=1e-6
        )
    assert len(answer.trace["vector_arm"]["ranking"]) <= 20
    ((chunks, whole),) = database_rows(
        "SELECT (SELECT count(*) FROM chunk), (SELECT count(*) FROM chunk_whole)"
    )
    assert chunks == whole


async def test_vault_interleaves_and_keeps_that_order(archive: Brain) -> None:
    answer = await archive.search("caldaia controllata dal tecnico", preset="vault")
    trace = answer.trace
    assert trace["fusion"]["name"] == "interleave"
    assert trace["second_stage"]["name"] == "signals"
    ranked = [item["chunk"] for item in trace["second_stage"]["candidates"]]
    assert ranked == trace["fusion"]["pool"]
    assert trace["lexical_arm"]["documents"], "documents have a BM25 of their own"
    meaning = [item["chunk"] for item in trace["vector_arm"]["ranking"]]
    assert trace["fusion"]["pool"][:2] == meaning[:2]
    assert all(item["probability"] is None for item in trace["second_stage"]["candidates"])
    signals = trace["second_stage"]["signals"]
    assert signals["coverage"] == 1.0
    assert -1 <= signals["similarity"] <= 1
    assert any("covers 100% of the question's words" in notice for notice in answer.notices)
    assert answer.results[0].score is None
    # A line number stands with every passage of text.
    assert all(p.lines is not None for r in answer.results for p in r.passages)
    path = answer.results[0].document.path
    assert f"--- {path}:{answer.results[0].passages[0].lines[0]}\n" in answer.text
    assert not any("gives no probability" in notice for notice in answer.notices)
    barred = await archive.search("caldaia", preset="vault", threshold=0.5)
    assert barred.results
    assert any("gives no probability" in notice for notice in barred.notices)
    absent = await archive.search("xilofono zorblax", preset="vault")
    assert absent.trace["second_stage"]["signals"]["coverage"] == 0


async def test_vault_ranks_documents_by_all_of_their_text(archive: Brain) -> None:
    answer = await archive.search("caldaia torta", preset="vault")
    documents = answer.trace["lexical_arm"]["documents"]
    assert len(documents) == 2, "one passage a document that has a term"
    values = [item["score"] for item in documents]
    assert values == sorted(values, reverse=True)


async def test_settings_stand_above_a_preset(open_brain: OpenBrain, write: Write) -> None:
    brain = await open_brain(preset="vault", fusion="rrf")
    await brain.add([write("torta.txt", FILES["torta.txt"])])
    answer = await brain.search("torta uova")
    assert answer.trace["preset"]["name"] == "vault"
    assert answer.trace["fusion"]["name"] == "rrf"


async def test_an_index_that_does_not_serve_a_preset_says_what_does(
    open_brain: OpenBrain, write: Write, rows: Rows
) -> None:
    brain = await open_brain()
    await brain.add([write("torta.txt", FILES["torta.txt"])])
    with pytest.raises(InputError, match=r'index_for = \["archive"\].*emily reindex') as caught:
        await brain.search("torta", preset="archive")
    assert str(brain.settings.home) in str(caught.value)
    assert rows("SELECT count(*) FROM stem_posting") == [(0,)], "the default does not pay for it"
    serving = await open_brain(index_for="archive")
    await serving.add([write("affitto.txt", FILES["affitto.txt"])])
    answer = await serving.search("canone", preset="archive")
    assert any("1 of 2 documents are not indexed for the preset" in n for n in answer.notices)
    await serving.reindex()
    answer = await serving.search("torte", preset="archive")
    assert "it:tort" in answer.trace["lexical_arm"]["stems"]
    assert len(answer.trace["lexical_arm"]["ranking"]) == 1
    assert not any("not indexed" in notice for notice in answer.notices)
    # What is gone leaves no stem behind.
    await serving.remove("torta.txt")
    assert rows("SELECT count(*) FROM stem_posting WHERE term = 'it:tort'") == [(0,)]
    assert rows("SELECT count(*) FROM chunk_whole") == rows("SELECT count(*) FROM chunk")


async def test_a_chunk_on_which_the_embedder_fails_has_stems(
    open_brain: OpenBrain, write: Write
) -> None:
    embedder = WordsEmbedder()
    embedder.broken.add("zucchero")
    brain = await open_brain(embedder, preset="archive")
    await brain.add([write("torta.txt", FILES["torta.txt"])])
    embedder.broken.clear()
    answer = await brain.search("zuccheri e farine")
    assert answer.trace["vector_arm"]["ranking"] == []
    assert answer.trace["lexical_arm"]["ranking"]


async def test_an_unknown_preset(archive: Brain) -> None:
    with pytest.raises(InputError, match="Presets: default, archive, vault"):
        await archive.search("torta", preset="best")


async def test_an_empty_archive_serves_every_preset(brain: Brain) -> None:
    for preset in presets():
        answer = await brain.search("torta", preset=preset)
        assert answer.results == ()


@pytest.fixture
def database_rows(archive: Brain) -> Rows:
    """Runs SQL on the archive that all tests of this module share."""
    import psycopg

    def run(sql: str, *parameters: Any) -> list[tuple[Any, ...]]:
        with psycopg.connect(str(archive.settings.database_url), autocommit=True) as connection:
            return connection.execute(sql, parameters).fetchall()

    return run
