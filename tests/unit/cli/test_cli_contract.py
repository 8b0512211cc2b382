"""The JSON of every command, to the letter."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.cli.fake_brain import TRACE

from emily.cli import contract
from emily.errors import StoreUnavailable
from emily.indexing.report import FileOutcome

if TYPE_CHECKING:
    from tests.unit.cli.conftest import Terminal

LEASE = {
    "id": 1,
    "name": "lease.pdf",
    "path": "/papers/lease.pdf",
    "kind": "pdf",
    "description": None,
    "vault": None,
    "paths": ["/papers/lease.pdf", "/backup/lease.pdf"],
    "language": "en",
    "pages": 2,
    "chunks": 3,
    "characters": 2100,
    "bytes": 48213,
    "added_at": "2026-03-01T09:30:00+00:00",
    "warnings": ["Page 2 is blank."],
    "author": "Ada",
    "date": "2026-02-27",
    "date_source": "text",
    "correspondents": [{"role": "to", "name": "Bruno", "address": None}],
    "parent": None,
    "categories": [],
}
ALERT = {
    "name": "reranker",
    "level": "critical",
    "text": "The reranker cannot be loaded.",
    "first_at": "2026-03-01T09:30:00+00:00",
    "last_at": "2026-03-01T09:40:00+00:00",
    "count": 3,
    "acknowledged_at": None,
    "resolved_at": None,
}
SEARCH = {
    "schema_version": 1,
    "query": "rent",
    "results": [
        {
            "document": {
                "id": 1,
                "name": "lease.pdf",
                "path": "/papers/lease.pdf",
                "kind": "pdf",
                "description": None,
                "vault": None,
            },
            "score": 0.82,
            "passages": [
                {
                    "pages": [1, 2],
                    "lines": None,
                    "start": 120,
                    "end": 166,
                    "route": "ocr",
                    "source": "original",
                    "score": 0.82,
                    "text": "The rent is 950 euro.\nIl canone è di 950 euro.",
                    "citation": None,
                }
            ],
            "via": None,
        }
    ],
    "present": 0.91,
    "signs": None,
    "notices": ["These are excerpts; the documents hold more than is shown."],
    "timings_ms": {"query": 0.5, "vector_arm": 1.25},
}


def test_search(terminal: Terminal) -> None:
    assert terminal.json("search", "rent") == SEARCH


def test_ask(terminal: Terminal) -> None:
    assert terminal.json("ask", "lease.pdf", "rent") == SEARCH


@pytest.mark.parametrize("command", [("search",), ("ask", "1")])
def test_the_trace_comes_with_explain_only(terminal: Terminal, command: tuple[str, ...]) -> None:
    assert terminal.json(*command, "rent", "--explain") == {**SEARCH, "trace": TRACE}


def test_an_answer_by_words_alone_has_no_score(terminal: Terminal) -> None:
    result = terminal.brain.answer.results[0]
    passage = replace(result.passages[0], score=None, pages=None, lines=(3, 9))
    terminal.brain.answer = replace(
        terminal.brain.answer, results=(replace(result, score=None, passages=(passage,)),)
    )
    found = terminal.json("search", "rent")["results"][0]
    assert found["score"] is None
    assert found["passages"][0]["score"] is None
    assert found["passages"][0]["pages"] is None
    assert found["passages"][0]["lines"] == [3, 9]


def test_nothing_found(terminal: Terminal) -> None:
    terminal.brain.answer = replace(terminal.brain.answer, results=(), notices=("Nothing found.",))
    found = terminal.json("search", "rent")
    assert (found["results"], found["notices"]) == ([], ["Nothing found."])


def test_add(terminal: Terminal, tmp_path: Path) -> None:
    terminal.brain.outcomes = [
        FileOutcome(
            Path("/papers/a.eml!/a.txt"), "added", 3, None, 2, 1, "read", Path("/papers/a.eml")
        ),
        FileOutcome(
            Path("/papers/b.pdf"),
            "failed",
            None,
            "It opens only with a password.",
            state="needs a password",
        ),
    ]
    assert terminal.json("add", str(tmp_path), exit_code=1) == {
        "schema_version": 1,
        "files": [
            {
                "path": "/papers/a.eml!/a.txt",
                "outcome": "added",
                "document": 3,
                "reason": None,
                "state": "read",
                "inside": "/papers/a.eml",
            },
            {
                "path": "/papers/b.pdf",
                "outcome": "failed",
                "document": None,
                "reason": "It opens only with a password.",
                "state": "needs a password",
                "inside": None,
            },
        ],
        "notices": [],
    }


def test_add_interrupted(terminal: Terminal, tmp_path: Path) -> None:
    terminal.brain.outcomes = [
        FileOutcome(Path("/papers/a.txt"), "added", 3),
        FileOutcome(Path("/papers/b.txt"), "added", 4),
    ]
    terminal.brain.stops_after = 1
    assert terminal.json("add", str(tmp_path), exit_code=130) == {
        "schema_version": 1,
        "error": {
            "type": "Interrupted",
            "message": "Interrupted. 1 of 2 files was finished and is kept. Run the same command "
            "again to go on.",
        },
        "files": [
            {
                "path": "/papers/a.txt",
                "outcome": "added",
                "document": 3,
                "reason": None,
                "state": None,
                "inside": None,
            }
        ],
    }


def test_add_that_loses_the_database(terminal: Terminal, tmp_path: Path) -> None:
    terminal.brain.outcomes = [FileOutcome(Path(f"/papers/{name}"), "added", 3) for name in "abc"]
    terminal.brain.stops_with = StoreUnavailable("The database is away.")
    terminal.brain.stops_after = 2
    found = terminal.json("add", str(tmp_path), exit_code=1)
    assert found["error"] == {
        "type": "StoreUnavailable",
        "message": "The database is away. 2 of 3 files were finished and are kept. Run the same "
        "command again to go on.",
    }
    assert [file["path"] for file in found["files"]] == ["/papers/a", "/papers/b"]
    terminal.brain.stops_after = 0
    assert terminal.json("add", str(tmp_path), exit_code=1) == {
        "schema_version": 1,
        "error": {"type": "StoreUnavailable", "message": "The database is away."},
    }


def test_list(terminal: Terminal) -> None:
    found = terminal.json("list")
    assert [*found] == ["schema_version", "documents"]
    assert found["documents"][0] == LEASE
    assert found["documents"][1]["description"] == "How to bake a cake."


def test_show(terminal: Terminal) -> None:
    assert terminal.json("show", "1") == {
        "schema_version": 1,
        "document": LEASE,
        "title": "Lease",
        "pages": [
            {
                "number": 1,
                "route": "text",
                "characters": 2100,
                "warning": None,
                "confidence": None,
                "pictures": 2,
            },
            {
                "number": 2,
                "route": "blank",
                "characters": 0,
                "warning": "The page has no ink.",
                "confidence": None,
                "pictures": 0,
            },
        ],
        "routes": {"text": 1, "blank": 1},
        "parts": [{"id": 2, "name": "torta.md", "kind": "markdown", "date": "2026-03-02"}],
        "thread": [],
    }


def test_remove(terminal: Terminal) -> None:
    terminal.brain.notices = ("The pinned question 'rent' has lost its document.",)
    assert terminal.json("remove", "lease.pdf", "--yes") == {
        "schema_version": 1,
        "removed": LEASE,
        "trashed": True,
        "documents": 2,
        "notices": ["The pinned question 'rent' has lost its document."],
    }


def test_reindex(terminal: Terminal) -> None:
    assert terminal.json("reindex") == {
        "schema_version": 1,
        "reindexed": 1,
        "left": 0,
        "stopped": False,
        "notices": [],
    }


def test_status(terminal: Terminal) -> None:
    assert terminal.json("status") == {
        "schema_version": 1,
        "home": "/home/ada/emily",
        "database": "embedded PostgreSQL 18.6, running",
        "documents": 2,
        "chunks": 4,
        "pages": 3,
        "words": 90,
        "bytes": 9_700_000,
        "languages": {"en": 1, "it": 1},
        "kinds": {"markdown": 1, "pdf": 1},
        "stale": 1,
        "model": "test-model (512 dimensions)",
        "problems": ["1 document is stale."],
        "alerts": [ALERT],
        "work": {"indexing": {"waiting": 2, "done": 5}, "analysis": {"failed": 1}},
        "workers": 1,
        "analysis": {"analysed": 1, "stale": 1, "failed": 0},
        "memory": {},
    }


def test_alerts(terminal: Terminal) -> None:
    assert terminal.json("alerts") == {"schema_version": 1, "alerts": [ALERT], "resolved": []}
    found = terminal.json("alerts", "--all", "ack", "reranker")
    assert found["resolved"] == [
        {**ALERT, "name": "arms", "resolved_at": "2026-03-01T09:40:00+00:00"}
    ]
    assert ("acknowledge", "reranker") in terminal.brain.asked


def test_queries(terminal: Terminal) -> None:
    query = {
        "id": 7,
        "asked_at": "2026-03-01T09:30:00+00:00",
        "kind": "search",
        "text": "rent of the flat",
        "document": None,
        "options": {"limit": 3},
        "preset": "default",
        "model": "test-model",
        "archive": 2,
        "arms": {"vector": 4, "lexical": 0},
        "terms": 2,
        "candidates": 4,
        "pool": 2,
        "slots": [1, 1, 2],
        "best": 0.82,
        "median": 0.1,
        "timings_ms": {"query": 0.5},
        "total_ms": 41.7,
        "warm": True,
    }
    kept = {"schema_version": 1, "queries": [query], "total": 1, "forgotten": 0, "enabled": True}
    assert terminal.json("queries", "--limit", "0") == kept
    assert terminal.brain.asked == [("recent", None)]
    assert terminal.json("queries", "--clear") == {
        "schema_version": 1,
        "queries": [],
        "total": 0,
        "forgotten": 1,
        "enabled": True,
    }


def test_why(terminal: Terminal) -> None:
    found = terminal.json("why", "rent of the flat", "--doc", "2", "--quote", "cake")
    assert terminal.brain.asked == [("why", "rent of the flat", "2", "cake", None)]
    assert found == {
        "schema_version": 1,
        "question": "rent of the flat",
        "document": 2,
        "name": "torta.md",
        "found": False,
        "rank": None,
        "lost_by": "fusion",
        "verdict": "torta.md is not found: it stays outside the pool that goes to the second "
        "stage.",
        "reasons": ["The question is in en and the document in it."],
        "terms": [
            {"surface": "rent", "held": "itself", "times": 2, "neighbours": []},
            {"surface": "flat", "held": "neighbours", "times": 0, "neighbours": ["casa", "piano"]},
            {"surface": "lake", "held": "not at all", "times": 0, "neighbours": []},
        ],
        "stages": [
            {
                "stage": "vector_arm",
                "rank": 3,
                "score": 0.25,
                "size": 20,
                "kept": True,
                "sentence": "The vector arm has it at 3 with 0.250.",
            },
            {
                "stage": "fusion",
                "rank": 21,
                "score": 0.2,
                "size": 20,
                "kept": False,
                "sentence": "The fusion has it at 21 of 30.",
            },
            {
                "stage": "second_stage",
                "rank": None,
                "score": None,
                "size": None,
                "kept": None,
                "sentence": "The second stage did not see it.",
            },
        ],
        "evidence": {"part": 0.25, "coverage": 0.5},
        "above": [{"document": 1, "name": "lease.pdf", "rank": 1, "score": 0.7}],
        "cure": {
            "settings": {"pool_size": 21},
            "verified": True,
            "rank": 2,
            "sentence": "With pool_size >= 21 it is shown, at 2.",
        },
        "quote": {
            "found": True,
            "start": 4,
            "end": 9,
            "pages": [1],
            "chunks": [0, 1],
            "cut": True,
            "shown": False,
            "sentence": "The words are cut.",
        },
        "notices": ["1 of 2 documents were indexed with other settings."],
    }


def test_pins(terminal: Terminal) -> None:
    pin = {
        "id": 4,
        "question": "rent of the flat",
        "document": 1,
        "name": "lease.pdf",
        "path": "/papers/lease.pdf",
        "found": True,
        "rank": 1,
        "lost_by": None,
        "pinned_at": "2026-03-01T09:30:00+00:00",
        "checked_at": "2026-03-01T09:31:00+00:00",
    }
    lost = {
        **pin,
        "id": 5,
        "question": "plan of the flat",
        "found": False,
        "rank": None,
        "lost_by": "fusion",
    }
    made = terminal.json("pin", "rent of the flat", "--doc", "lease.pdf")
    assert made == {"schema_version": 1, "pin": pin}
    found = terminal.json("pins", "--check", exit_code=1)
    assert found == {"schema_version": 1, "pins": [pin, lost], "removed": None}
    assert terminal.json("pins", "--remove", "5")["removed"] == lost


def test_doctor(terminal: Terminal) -> None:
    assert terminal.json("doctor", exit_code=1) == {
        "schema_version": 1,
        "ok": False,
        "checks": [
            {"name": "database", "ok": True, "detail": "runs", "help": None},
            {
                "name": "ocr",
                "ok": False,
                "detail": "not installed",
                "help": "pip install --force-reinstall rapidocr",
            },
        ],
    }


def test_doctor_when_the_database_does_not_open(terminal: Terminal) -> None:
    terminal.brain.fails_to_open = StoreUnavailable("The database server did not start.")
    assert terminal.json("doctor", exit_code=1) == {
        "schema_version": 1,
        "ok": False,
        "checks": [
            {
                "name": "database",
                "ok": False,
                "detail": "The database server did not start.",
                "help": None,
            },
            {"name": "disk", "ok": True, "detail": "enough", "help": None},
        ],
    }


def test_stop(terminal: Terminal) -> None:
    assert terminal.json("stop") == {"schema_version": 1, "stopped": True, "served": False}
    terminal.server_runs = False
    assert terminal.json("stop") == {"schema_version": 1, "stopped": False, "served": False}


def test_settings(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMILY_THRESHOLD", "0.2")
    found = {item["name"]: item for item in terminal.json("settings")["settings"]}
    assert found["threshold"] == {
        "name": "threshold",
        "value": 0.2,
        "default": 0.05,
        "bounds": "0.0 to 1.0",
        "stale": None,
        "source": "environment",
        "description": "Least probability that a passage must have to be shown.",
        "file_only": None,
    }


def test_version(terminal: Terminal) -> None:
    assert terminal.json("version") == {
        "schema_version": 1,
        "version": metadata.version("emily"),
    }


def test_an_error_is_one_document_too(terminal: Terminal) -> None:
    result = terminal.run("show", "nothing.pdf", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "schema_version": 1,
        "error": {"type": "UnknownDocument", "message": "There is no document 'nothing.pdf'."},
    }
    assert result.stderr == "emily: There is no document 'nothing.pdf'.\n"


@pytest.mark.parametrize("encoding", ["utf-8", "UTF8", "ascii", "latin-1", "cp1252"])
@given(text=st.text(st.characters()))
def test_text_survives_every_encoding(encoding: str, text: str) -> None:
    printed = contract.as_text(contract.error_output("InputError", text), encoding)
    read = json.loads(printed.encode(encoding))["error"]["message"]
    # A pair of lone surrogates is one character in JSON's escapes; nothing else may change.
    assert read.encode("utf-16", "surrogatepass") == text.encode("utf-16", "surrogatepass")


def test_utf8_is_printed_as_it_is() -> None:
    assert "perché 🙂" in contract.as_text(contract.error_output("X", "perché 🙂"), "utf-8")
