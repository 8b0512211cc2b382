"""The evidence of the whole document: terms that are spread over its chunks count together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from tests.integration.brain.conftest import OpenBrain

from emily.retrieval.bm25 import K1, B, inverse_frequency

Write = Callable[[str, str], Path]

HARBOUR = "\n\n".join(
    [
        "Vesco mooring plan. " * 90,
        "Tide gauge list. " * 90,
        "Dredging vote minutes. " * 90,
    ]
)
OTHERS = {
    "bay.txt": "The far bay has a tide.",
    "moor.txt": "A mooring stone stands on the moor.",
    "vote.txt": "There was no vote.",
}
QUESTION = "mooring tide dredging"


@pytest.mark.parametrize("memory", [0, 64])
async def test_terms_of_several_chunks_count_together(
    open_brain: OpenBrain, write: Write, memory: int
) -> None:
    brain = await open_brain(chunk_tokens=128, search_memory_mb=memory)
    await brain.add([write("harbour.txt", HARBOUR), *(write(*item) for item in OTHERS.items())])
    answer = await brain.search(QUESTION)
    assert answer.trace["mirror"]["in_memory"] is bool(memory)
    candidates = answer.trace["second_stage"]["candidates"]
    whole = {item["name"]: item["document_lexical"] for item in candidates}
    assert all(
        item["lexical"] < item["document_lexical"]
        for item in candidates
        if item["name"] == "harbour.txt"
    ), "no chunk has more than one of the three"
    assert whole["harbour.txt"] > 2 * max(whole[name] for name in OTHERS if name in whole)


async def test_the_score_of_a_document_is_bm25_over_documents(
    open_brain: OpenBrain, write: Write
) -> None:
    brain = await open_brain()
    await brain.add(
        [write("kedge.txt", "anchor anchor rope"), write("bosun.txt", "rope sail mast oar")]
    )
    (found,) = (
        item
        for item in (await brain.search("anchor")).trace["second_stage"]["candidates"]
        if item["name"] == "kedge.txt"
    )
    # Two of anchor, one of rope, and one of the name: four terms where the mean is four and a half.
    damping = K1 * (1 - B + B * 4 / 4.5)
    rarity = inverse_frequency(2, 1)
    assert found["document_lexical"] == pytest.approx(
        rarity * 2 * (K1 + 1) / (2 + damping) / (rarity * (K1 + 1)), abs=1e-6
    )
