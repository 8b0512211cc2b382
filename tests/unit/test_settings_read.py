"""Every setting is read where it should be: one that nobody reads does nothing."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import emily
from emily.retrieval.presets import SETTINGS as OF_PRESETS
from emily.settings import Settings, kept_in_file

SOURCE = Path(emily.__file__).parent
# Names under which a module holds the settings.
HOLDERS = {"settings", "chosen", "_settings", "configuration"}
# Read by the list of their own names, see ``preset_of``.
BY_NAME = dict.fromkeys(OF_PRESETS, "retrieval/presets.py")

# Where a setting that must be in a certain place is read. What is not named here must be read
# somewhere.
PLACES = {
    "home": "brain.py",
    "database_url": "store/database.py",
    "languages": "indexing/prepare.py",
    "language_confidence": "indexing/prepare.py",
    "chunk_tokens": "indexing/prepare.py",
    "chunk_overlap": "indexing/prepare.py",
    "document_characters": "indexing/prepare.py",
    "ocr": "parts.py",
    "ocr_engine": "parts.py",
    "vision_tokens": "parts.py",
    "vision_calls": "parts.py",
    "scanned_pages": "parts.py",
    "picture_side": "parts.py",
    "ask_pool_size": "retrieval/retriever.py",
    "ask_threshold_share": "retrieval/retriever.py",
    "search_memory_mb": "retrieval/retriever.py",
    "query_log": "brain.py",
}


@cache
def _readers() -> dict[str, set[str]]:
    """Modules that read each setting: an attribute of something that is called the settings."""
    found: dict[str, set[str]] = defaultdict(set)
    for path in SOURCE.rglob("*.py"):
        module = path.relative_to(SOURCE).as_posix()
        if module == "settings.py":
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Attribute):
                continue
            holder = node.value
            name = (
                holder.attr
                if isinstance(holder, ast.Attribute)
                else holder.id
                if isinstance(holder, ast.Name)
                else ""
            )
            if name in HOLDERS:
                found[node.attr].add(module)
    for name, module in BY_NAME.items():
        found[name].add(module)
    # ``index_for`` is asked for by the method that reads it.
    found["index_for"] |= found.pop("serves", set())
    return found


@pytest.mark.parametrize("name", Settings.model_fields)
def test_somebody_reads_it(name: str) -> None:
    assert _readers().get(name), f"nobody reads the setting {name}"


@pytest.mark.parametrize(("name", "module"), PLACES.items())
def test_it_is_read_where_it_should_be(name: str, module: str) -> None:
    assert module in _readers()[name]


def test_a_setting_that_nobody_reads_would_be_found() -> None:
    assert not _readers().get("colour_of_the_moon")


def test_at_least_eighteen_settings_may_have_a_row() -> None:
    rows = [name for name in Settings.model_fields if kept_in_file(name) is None]
    assert len(rows) >= 18
    for name in (*OF_PRESETS, "chunk_tokens", "languages", "language_confidence", "ask_pool_size"):
        assert name in rows
