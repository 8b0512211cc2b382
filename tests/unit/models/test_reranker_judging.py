"""Scores are checked before anyone believes them, and golden pairs are judged."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.errors import ModelError, ModelUnavailable
from emily.models.protocols import Judgement
from emily.models.rerankers import reranker_of
from emily.models.rerankers.golden import GOLDEN, MARGIN, PASSAGES, verdict
from emily.models.rerankers.judging import by_order, by_probability, probability
from emily.models.rerankers.local import batches
from emily.models.rerankers.server import ServerReranker
from emily.settings import load_settings

RIGHT, WRONG = 0.9, 0.1


@given(st.lists(st.floats(0, 1), max_size=30))
def test_the_best_stands_first_and_nothing_is_scaled(scores: list[float]) -> None:
    found = by_probability("r", scores, len(scores))
    assert found.probabilities == tuple(scores)
    assert found.order == tuple(sorted(range(len(scores)), key=lambda place: -scores[place]))


@pytest.mark.parametrize(
    ("scores", "sentence"),
    [
        ([0.5], "gave 1 scores for 2 passages"),
        ([0.5, 0.5, 0.5], "gave 3 scores for 2 passages"),
        ([0.5, math.nan], "gave nan as a score"),
        ([0.5, -math.inf], "gave -inf as a score"),
        ([0.5, 1.2], "gave 1.2 as a probability, which lies from 0 to 1"),
        ([-0.1, 0.5], 'set reranker_scores = "raw"'),
    ],
)
def test_scores_that_cannot_be_are_refused(scores: list[float], sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence):
        by_probability("r", scores, 2)


def test_what_rounding_did_is_put_right() -> None:
    assert by_probability("r", [1.00001, -0.00001], 2).probabilities == (1.0, 0.0)


@pytest.mark.parametrize("positions", [[0], [0, 0], [1, 2], [0, 1, 2], [-1, 0]])
def test_positions_that_are_no_order_are_refused(positions: list[int]) -> None:
    with pytest.raises(ModelError, match="each of 0 to 1 must stand there once"):
        by_order("r", positions, 2)


@given(st.floats(-1e308, 1e308))
def test_the_logistic_overflows_for_nothing(logit: float) -> None:
    found = probability(logit)
    assert 0 <= found <= 1
    assert found >= 0.5 if logit >= 0 else found <= 0.5


@pytest.mark.parametrize("logit", [math.nan, math.inf, -math.inf])
def test_a_logit_that_is_not_finite_gives_no_probability(logit: float) -> None:
    assert math.isnan(probability(logit))


def judgements(knows: set[tuple[str, str]]) -> list[Judgement]:
    """Of a reranker that brings together questions and passages of these languages."""
    found = []
    for probe in GOLDEN:
        scores = []
        for place in range(len(PASSAGES)):
            known = (probe.language, ("en", "it")[place // 2]) in knows
            scores.append(RIGHT if known and place % 2 == probe.topic else WRONG)
        found.append(by_probability("r", scores, len(scores)))
    return found


ALL = {(asked, answered) for asked in ("en", "it") for answered in ("en", "it")}


def test_whoever_tells_all_apart_passes() -> None:
    assert verdict("r", judgements(ALL)) == ()


@pytest.mark.parametrize("knows", [set(), {("en", "it"), ("it", "en")}])
def test_whoever_knows_no_language_is_refused(knows: set[tuple[str, str]]) -> None:
    with pytest.raises(ModelUnavailable, match="cannot tell an answer from another subject"):
        verdict("r", judgements(knows))


def test_whoever_does_not_cross_languages_is_told_of() -> None:
    first, second = verdict("r", judgements({("en", "en"), ("it", "it")}))
    assert "does not cross languages: of two Italian passages" in first
    assert "the one that answers an English question" in first
    assert "of two English passages" in second


def test_whoever_knows_one_language_is_told_of() -> None:
    found = verdict("r", judgements({("en", "en")}))
    assert len(found) == 3
    assert "The reranker r fails its golden pair in Italian." in found


def test_whoever_does_not_look_at_the_question_is_refused() -> None:
    blind = [by_probability("r", [0.9, 0.2, 0.9, 0.2], 4)] * len(GOLDEN)
    with pytest.raises(ModelUnavailable, match=r"gives 0\.900 to the passage"):
        verdict("r", blind)


def test_a_small_difference_is_none() -> None:
    near = [
        by_probability(
            "r", [0.5 + MARGIN * 0.99 * (place % 2 == probe.topic) for place in range(4)], 4
        )
        for probe in GOLDEN
    ]
    with pytest.raises(ModelUnavailable):
        verdict("r", near)


@given(st.lists(st.integers(1, 8192), max_size=80))
def test_batches_hold_every_pair_once_and_are_bounded(lengths: list[int]) -> None:
    found = list(batches(lengths))
    assert sorted(place for batch in found for place in batch) == list(range(len(lengths)))
    for batch in found:
        assert len(batch) <= 8
        assert len(batch) == 1 or len(batch) * max(lengths[place] for place in batch) <= 4096


@pytest.mark.parametrize(
    ("values", "kind", "name"),
    [
        ({"reranker": "qwen3"}, "Qwen3Reranker", "Qwen/Qwen3-Reranker-0.6B"),
        ({"reranker": "qwen3", "reranker_model": "/m/other"}, "Qwen3Reranker", "other"),
        (
            {"reranker": "cross-encoder"},
            "CrossEncoderReranker",
            "cross-encoder/mmarco-mMiniLMv2-L12-H384-v1",
        ),
        ({"reranker": "http"}, "ServerReranker", "at http://127.0.0.1:8080"),
        (
            {"reranker": "http", "reranker_model": "m", "reranker_url": "http://localhost:1/v1"},
            "ServerReranker",
            "m at http://localhost:1/v1",
        ),
    ],
)
def test_the_settings_choose_one(values: dict[str, str], kind: str, name: str) -> None:
    found = reranker_of(load_settings(**values))
    assert type(found).__name__ == kind
    assert found is not None
    assert found.name == name


def test_none_is_set_by_default() -> None:
    assert reranker_of(load_settings()) is None


def test_a_key_and_consent_reach_the_server() -> None:
    found = reranker_of(
        load_settings(
            reranker="http",
            reranker_key="k",
            reranker_api="jina",
            reranker_scores="raw",
            reranker_tokens=300,
            reranker_seconds=7,
            allowed_servers=("ranker.example.org",),
        )
    )
    assert isinstance(found, ServerReranker)
    assert (found._key, found._api, found._raw) == ("k", "jina", True)
    assert (found._bytes, found._seconds, found._allowed) == (900, 7, ("ranker.example.org",))
