"""``--explain`` tells what a reranker did, or why it did nothing."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from emily.cli.explaining import explained

RECORD = {"model": "ranker at http://127.0.0.1:9", "given": 20, "looked_at": 8}


@pytest.mark.parametrize(
    ("record", "outcome"),
    [
        ({"cut": 2, "probabilities": True}, "used"),
        ({"cut": 2, "probabilities": False}, "used for the order alone"),
        ({"down": "it took more than 30 s"}, "not used: it took more than 30 s"),
        ({"skipped_because": "the embedder is down"}, "not used: the embedder is down"),
    ],
)
def test_what_a_reranker_did_is_explained(record: dict[str, Any], outcome: str) -> None:
    console = Console(width=160, record=True, file=StringIO())
    for table in explained({"reranking": {**RECORD, **record}}, {}):
        console.print(table)
    shown = console.export_text()
    for wanted in ("reranking", "ranker at http://127.0.0.1:9", "8 of 20", outcome):
        assert wanted in shown
