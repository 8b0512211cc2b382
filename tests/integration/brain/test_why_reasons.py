"""Why a document is not found, where the reason lies before the search or in the question."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes import WordsEmbedder

from emily.brain import Brain
from emily.errors import AmbiguousDocument, InputError

Write = Callable[[str, str], Path]
Rows = Callable[..., list[tuple[Any, ...]]]
OpenBrain = Callable[..., Awaitable[Brain]]


@pytest.fixture
async def filled(brain: Brain, write: Write) -> Brain:
    await brain.add(
        [write("rent.txt", "The rent is 950 euro.\n"), write("cake.txt", "Three eggs and flour.\n")]
    )
    return brain


async def test_pages_that_were_not_read(filled: Brain, rows: Rows) -> None:
    rows("UPDATE page SET route = 'unread'")
    found = await filled.why("rent", "rent.txt", quote="garage")
    assert found.reasons[0].startswith("Not read: page 1 of 1. What stands there cannot be found.")
    assert found.quote is not None
    assert not found.quote.found
    assert found.quote.sentence.endswith("does not hold these words; not read: page 1.")


async def test_an_index_of_other_settings(filled: Brain, rows: Rows) -> None:
    rows("UPDATE document SET fingerprint = 'older' WHERE name = 'rent.txt'")
    rows("UPDATE revision SET number = number + 1")
    stale = "Its index is stale: it was made with other settings."
    assert (await filled.why("rent", "rent.txt")).reasons[0].startswith(stale)
    other = await filled.why("eggs", "cake.txt")
    assert not any(reason.startswith(stale) for reason in other.reasons)


async def test_an_index_of_another_model(filled: Brain, open_brain: OpenBrain) -> None:
    other = await open_brain(WordsEmbedder("other"))
    found = await other.why("rent", "rent.txt")
    assert (found.lost_by, found.rank) == ("index", None)
    assert "Its vectors are of words/1, and the embedder is now other" in found.reasons[0]
    assert "Two models cannot be compared" in found.reasons[1]


async def test_words_that_are_cut_in_two(open_brain: OpenBrain, write: Write, rows: Rows) -> None:
    brain = await open_brain(chunk_tokens=64, chunk_overlap=0)
    text = " ".join(f"word{place}" for place in range(150)) + ".\n"
    await brain.add([write("long.txt", text)])
    ((end,),) = rows("SELECT end_at FROM chunk WHERE ordinal = 0")
    quote = " ".join([*text[:end].split()[-2:], *text[end:].split()[:2]])
    found = await brain.why("word3", "long.txt", quote=quote)
    assert found.quote is not None
    assert found.quote.cut
    assert found.quote.chunks == (0, 1)
    assert "are cut: no chunk holds all of them, chunks 0, 1 hold a part each" in (
        found.quote.sentence
    )
    assert found.quote.shown  # widening brings the other half back


async def test_a_question_that_leaves_the_document_out(filled: Brain) -> None:
    found = await filled.why('eggs -rent "no such phrase"', "rent.txt")
    assert found.lost_by == "arms"
    assert found.cure is not None
    assert "words in quotation marks or leaves words out" in found.cure.sentence


async def test_an_embedder_that_is_down(open_brain: OpenBrain, write: Write) -> None:
    embedder = WordsEmbedder()
    brain = await open_brain(embedder)
    await brain.add([write("rent.txt", "The rent is 950 euro.\n")])
    embedder.down = True
    found = await brain.why("rent", "rent.txt")
    assert found.rank == 1
    sentences = {stage.stage: stage.sentence for stage in found.stages}
    assert "the embedder is down" in sentences["vector_arm"]
    assert sentences["threshold"] == "There is no probability to judge by."
    assert any("Searched by words alone" in notice for notice in found.notices)


async def test_what_cannot_be_asked(filled: Brain, write: Write) -> None:
    with pytest.raises(InputError, match="question is empty"):
        await filled.why(" ", "rent.txt")
    with pytest.raises(InputError, match="holds no word"):
        await filled.why("rent", "rent.txt", quote="?!")
    await filled.add([write("other/rent.txt", "Another rent, of 700 euro.\n")])
    with pytest.raises(AmbiguousDocument):
        await filled.why("rent", "rent.txt")
