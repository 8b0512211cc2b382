"""The fusion worked out again: agrees with every fusion there is, and finds one that differs."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emily.measure.refusion import REFUSIONS, FusionDiffers, check_fusion
from emily.retrieval import fusion
from emily.retrieval.candidate import Candidate
from emily.retrieval.stages import FUSIONS
from emily.retrieval.trace import candidate_record, ranking_record
from emily.settings import Fusion

SCORES = st.floats(-1, 1).map(lambda value: round(value, 7))


def trace_of(name, vector, lexical, scores, size):
    """A trace as a search leaves it, the pool made by production."""
    merged = fusion.merge_arms(vector, lexical)
    candidates = [
        Candidate(
            item.chunk,
            vector=scores[item.chunk][0],
            vector_rank=item.vector_rank,
            lexical=scores[item.chunk][1],
            lexical_rank=item.lexical_rank,
        )
        for item in merged
    ]
    pool = FUSIONS[name](candidates, size)
    return {
        "vector_arm": {"ranking": ranking_record(vector)},
        "lexical_arm": {"ranking": ranking_record(lexical)},
        "fusion": {
            "name": name,
            "candidates": [candidate_record(item) for item in candidates],
            "pool": [item.chunk for item in pool],
        },
        "second_stage": {"candidates": [candidate_record(item) for item in pool]},
    }


@st.composite
def searches(draw):
    chunks = draw(st.lists(st.integers(1, 30), unique=True, max_size=14))
    arms = []
    for _ in range(2):
        arm = draw(st.permutations(chunks))[: draw(st.integers(0, len(chunks)))]
        arms.append([(chunk, 1.0 - place / 100) for place, chunk in enumerate(arm)])
    # Few distinct scores, so that many are equal.
    values = draw(st.lists(SCORES, min_size=1, max_size=5))
    scores = {
        chunk: (draw(st.sampled_from(values)), draw(st.sampled_from([None, *values])))
        for chunk in chunks
    }
    return arms[0], arms[1], scores, draw(st.integers(1, 14))


def test_every_fusion_can_be_worked_out_again():
    assert set(get_args(Fusion)) == set(FUSIONS) == set(REFUSIONS) - {"words"}


@pytest.mark.parametrize("name", get_args(Fusion))
@given(search=searches())
def test_it_agrees_with_production(name, search):
    check_fusion(trace_of(name, *search), "where?")


VECTOR = [(1, 0.9), (2, 0.8), (3, 0.7)]
LEXICAL = [(3, 5.0), (4, 4.0)]
HELD = {1: (0.9, 0.0), 2: (0.8, 0.1), 3: (0.7, 0.9), 4: (0.2, 0.8)}


def test_pools_worked_out_by_hand():
    pools = {
        name: trace_of(name, VECTOR, LEXICAL, HELD, 4)["fusion"]["pool"]
        for name in get_args(Fusion)
    }
    # .7 + .63, .9, .8 + .07, .2 + .56
    assert pools["sum"] == [3, 1, 2, 4]
    # 1/63 + 1/61, 1/61, 1/62, 1/62
    assert pools["rrf"] == [3, 1, 2, 4]
    assert pools["interleave"] == [1, 2, 3, 4]
    for name in pools:
        check_fusion(trace_of(name, VECTOR, LEXICAL, HELD, 2), "where?")


@pytest.mark.parametrize("name", get_args(Fusion))
@pytest.mark.parametrize(
    ("pool", "problem"),
    [
        ([4, 3, 2, 1], "stands before chunk"),
        ([4], "was left out"),
        ([1, 1], "holds a chunk twice"),
        ([9], "no arm brought it"),
        ([], "nothing was taken"),
    ],
)
def test_a_pool_that_differs_stops_the_measurement(name, pool, problem):
    trace = trace_of(name, VECTOR, LEXICAL, HELD, 4)
    trace["fusion"]["pool"] = pool
    with pytest.raises(FusionDiffers, match=problem) as caught:
        check_fusion(trace, "where?")
    assert "The question was 'where?'" in str(caught.value)


def test_a_production_that_weighs_otherwise_is_noticed(monkeypatch):
    monkeypatch.setattr(fusion, "LEXICAL_WEIGHT", 0.5)
    with pytest.raises(FusionDiffers, match="was given"):
        check_fusion(trace_of("sum", VECTOR, LEXICAL, HELD, 4), "where?")
    monkeypatch.setattr(fusion, "_RRF_K", 10)
    with pytest.raises(FusionDiffers, match="was given"):
        check_fusion(trace_of("rrf", VECTOR, LEXICAL, HELD, 4), "where?")


def test_a_rank_that_is_not_the_place_in_the_arm_is_noticed():
    trace = trace_of("rrf", VECTOR, LEXICAL, HELD, 4)
    trace["vector_arm"]["ranking"].reverse()
    with pytest.raises(FusionDiffers, match="chunk 1 has rank 1 of the vector arm, and stands"):
        check_fusion(trace, "where?")


def test_a_fusion_that_is_not_known_is_refused():
    trace = trace_of("sum", VECTOR, LEXICAL, HELD, 4)
    trace["fusion"]["name"] = "borda"
    with pytest.raises(FusionDiffers, match="'borda' cannot be worked out again; known are sum"):
        check_fusion(trace, "where?")


def test_a_lexical_arm_of_passages_and_documents_is_looked_into():
    trace = trace_of("interleave", VECTOR, LEXICAL, HELD, 4)
    trace["query"] = {"text": "where?"}
    trace["lexical_arm"] |= {
        "passages": ranking_record([(3, 2.0), (4, 1.0)]),
        "documents": ranking_record([(3, 9.0)]),
    }
    check_fusion(trace, "where?")
    trace["lexical_arm"]["documents"] = ranking_record([(4, 9.0)])
    # 4: 1/62 + 1/61, above 3 with 1/61.
    with pytest.raises(FusionDiffers, match="in the lexical arm, chunk 3"):
        check_fusion(trace, "where?")


def test_several_questions_at_once_are_looked_at_one_by_one():
    good, bad = (trace_of("sum", VECTOR, LEXICAL, HELD, 4) for _ in range(2))
    bad["fusion"]["pool"].reverse()
    joined = {"questions": {"asked": [{"text": "a", **good}, {"text": "b", **bad}]}}
    with pytest.raises(FusionDiffers, match="The question was 'b'"):
        check_fusion(joined, "a / b")


def test_a_search_that_ended_before_the_fusion_passes():
    check_fusion({"query": {"text": "?"}}, "?")
