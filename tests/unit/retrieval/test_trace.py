"""The trace goes out as JSON."""

from __future__ import annotations

import json
import time

import numpy as np
import pytest

from emily.retrieval.bm25 import Member, TermGroup
from emily.retrieval.candidate import Candidate, Evidence, Gathered
from emily.retrieval.trace import Trace, candidate_record, ranking_record, terms_record

FULL = Candidate(
    7,
    vector=float(np.float32(0.1)),
    vector_rank=1,
    lexical=0.25,
    fused=0.275,
    order=0.3,
    probability=0.123456789,
    evidence=Evidence(*(np.float64(x) for x in (0.1, 0.2, 0.3, 1.0))),
    gathered=Gathered(
        3, 1, 0, 9, "en", 4, np.array([1, 2]), np.eye(2, dtype=np.float32), "n", None, {"a": 1}
    ),
)


def test_records_are_plain_json() -> None:
    records = {
        "candidates": [candidate_record(FULL), candidate_record(Candidate(1))],
        "ranking": ranking_record([(5, float(np.float32(0.3))), (4, 0.2)]),
        "terms": terms_record(
            (TermGroup("schermo", (Member("scher", 1.0), Member("scree", 0.71, "screen"))),)
        ),
    }
    assert json.loads(json.dumps(records, allow_nan=False)) == records
    assert records["candidates"][0]["probability"] == 0.123457
    assert records["candidates"][0]["evidence"]["figures"] == 1.0
    assert records["ranking"][1] == {"rank": 2, "chunk": 4, "score": 0.2}
    assert records["terms"][0]["neighbours"][0]["surface"] == "screen"


def test_stages_are_timed_in_the_order_they_ran() -> None:
    trace = Trace()
    with trace.stage("one") as record:
        record["x"] = 1
        time.sleep(0.002)
    with trace.stage("two"):
        pass
    with trace.stage("one") as record:
        record["y"] = 2
    assert list(trace.timings_ms) == ["one", "two"]
    assert trace.timings_ms["one"] >= 1
    assert trace.as_json() == {"one": {"x": 1, "y": 2}, "two": {}}


def test_a_stage_that_fails_is_timed_as_well() -> None:
    trace = Trace()
    with pytest.raises(RuntimeError), trace.stage("broken"):
        raise RuntimeError
    assert "broken" in trace.timings_ms
