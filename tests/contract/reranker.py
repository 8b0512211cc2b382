"""What every reranker keeps to. A backend's test subclasses this and gives the reranker."""

from __future__ import annotations

import asyncio
import math

import pytest
from tests.contract.embedder import ODD, TEXTS

from emily.models import Judgement, Reranker
from emily.models.rerankers.golden import GOLDEN, PASSAGES

QUESTION = GOLDEN[0].question


class RerankerContract:
    @pytest.fixture
    def reranker(self) -> Reranker:
        """One that passes the golden pairs in every language."""
        raise NotImplementedError

    async def test_keeps_to_the_protocol(self, reranker: Reranker) -> None:
        assert isinstance(reranker, Reranker)
        assert reranker.name
        assert reranker.warnings == ()
        await reranker.prepare()
        assert reranker.warnings == ()

    async def test_a_passage_that_answers_stands_first(self, reranker: Reranker) -> None:
        for probe in GOLDEN:
            found = await reranker.rank(probe.question, PASSAGES)
            assert {place % 2 for place in found.order[:2]} == {probe.topic}

    async def test_each_passage_has_a_probability(self, reranker: Reranker) -> None:
        found = await reranker.rank(QUESTION, TEXTS)
        scores = probabilities(found)
        assert sorted(found.order) == list(range(len(TEXTS)))
        assert all(0 <= score <= 1 for score in scores)
        ordered = [scores[place] for place in found.order]
        assert ordered == sorted(ordered, reverse=True)

    async def test_equals_stay_in_their_order(self, reranker: Reranker) -> None:
        found = await reranker.rank(QUESTION, [TEXTS[1], TEXTS[1], TEXTS[1]])
        assert found.order == (0, 1, 2)

    async def test_no_passage_gives_no_probability(self, reranker: Reranker) -> None:
        assert await reranker.rank(QUESTION, []) == Judgement((), ())

    async def test_a_lone_passage_keeps_its_probability(self, reranker: Reranker) -> None:
        together = probabilities(await reranker.rank(QUESTION, PASSAGES))
        for passage, score in zip(PASSAGES, together, strict=True):
            (alone,) = probabilities(await reranker.rank(QUESTION, [passage]))
            assert math.isclose(alone, score, abs_tol=1e-4)

    @pytest.mark.parametrize("text", ODD, ids=ascii)
    async def test_takes_any_text(self, reranker: Reranker, text: str) -> None:
        assert len(probabilities(await reranker.rank(text, [text, "two words"]))) == 2

    async def test_a_long_passage_is_cut_and_counted(self, reranker: Reranker) -> None:
        long = PASSAGES[0] + " and so on" * 20_000
        found = await reranker.rank(QUESTION, [long, PASSAGES[1]])
        assert found.cut == 1
        assert len(probabilities(found)) == 2

    async def test_callers_at_once_get_what_one_gets(self, reranker: Reranker) -> None:
        alone = probabilities(await reranker.rank(QUESTION, PASSAGES))
        several = [reranker.rank(QUESTION, PASSAGES) for _ in range(4)]
        for found in await asyncio.gather(*several):
            assert probabilities(found) == pytest.approx(alone, abs=1e-5)

    async def test_it_works_again_after_it_was_closed(self, reranker: Reranker) -> None:
        before = await reranker.rank(QUESTION, PASSAGES)
        reranker.close()
        reranker.close()
        after = await reranker.rank(QUESTION, PASSAGES)
        assert probabilities(after) == pytest.approx(probabilities(before), abs=1e-5)


def probabilities(judgement: Judgement) -> tuple[float, ...]:
    assert judgement.probabilities is not None
    return judgement.probabilities
