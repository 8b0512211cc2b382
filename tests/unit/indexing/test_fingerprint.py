"""What makes an index stale, and what is said of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes import WordsEmbedder

from emily.indexing import prepare
from emily.indexing.fingerprint import differences, told
from emily.indexing.language import LanguageDetector
from emily.indexing.prepare import Preparer
from emily.settings import Settings, load_settings


def _fingerprint(settings: Settings) -> str:
    return Preparer(WordsEmbedder(), LanguageDetector(settings.languages), settings).fingerprint


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"chunk_tokens": 256}, "chunk_tokens 512 → 256"),
        ({"chunk_overlap": 20}, "chunk_overlap 50 → 20"),
        ({"languages": ("it",)}, "languages en,it → it"),
        ({"language_confidence": 0.5}, "language_confidence 0.8 → 0.5"),
        ({"index_for": ("archive",)}, "stems none → stems-1"),
    ],
)
def test_each_of_these_settings_changes_it(
    home: Path, values: dict[str, object], said: str
) -> None:
    old, now = _fingerprint(load_settings(home)), _fingerprint(load_settings(home, **values))
    assert differences(old, now) == (said,)
    assert told([old, old], now) == f" ({said})"


def test_a_version_of_the_rules_is_raised_by_hand(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = _fingerprint(load_settings(home))
    monkeypatch.setattr(prepare, "INDEX_VERSION", prepare.INDEX_VERSION + 1)
    assert differences(old, _fingerprint(load_settings(home)))[0].startswith("rules ")


@pytest.mark.parametrize("name", ["threshold", "arm_size", "widen", "result_limit"])
def test_what_only_searches_ask_for_changes_nothing(home: Path, name: str) -> None:
    assert _fingerprint(load_settings(home, **{name: 1})) == _fingerprint(load_settings(home))


def test_the_order_of_languages_means_nothing(home: Path) -> None:
    one, other = (load_settings(home, languages=given) for given in (("it", "en"), ("en", "it")))
    assert _fingerprint(one) == _fingerprint(other)
    assert told([], "x") == told(None, "x") == ""
