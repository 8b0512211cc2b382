"""Profiles of known embedders: by name, with room for their prefixes, as the docs say."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.fakes import WordsEmbedder, bundled_embedder

from emily.errors import InputError, ModelUnavailable, SettingError
from emily.models import Embedder
from emily.models.backed import BackedEmbedder
from emily.models.choosing import EmbedderChoice, embedder_of, make_embedder, parse_choice
from emily.models.encoding import Encoded
from emily.models.profiles import PROFILES, UNKNOWN, EmbedderProfile, bare_name, profile_of
from emily.settings import load_settings

MODELS_PAGE = Path(__file__).parents[3] / "docs" / "models.md"


@pytest.mark.parametrize(
    ("model", "dimension", "window"),
    [
        ("qwen3-embedding:0.6b", 1024, 4096),
        ("qwen3-embedding:0.6b-q8_0", 1024, 4096),
        ("Qwen/Qwen3-Embedding-0.6B", 1024, 4096),
        ("qwen3-embedding:4b", 2560, 4096),
        ("qwen3-embedding:8b", None, 512),
        ("bge-m3", 1024, 8192),
        ("bge-m3:latest", 1024, 8192),
        ("BAAI/bge-m3", 1024, 8192),
        ("bge-m3:567m-fp16", 1024, 8192),
        ("/models/all-MiniLM-L6-v2/", 384, 256),
        ("something-else", None, 512),
    ],
)
def test_a_model_is_known_by_any_of_its_names(
    model: str, dimension: int | None, window: int
) -> None:
    found = profile_of(model)
    assert (found.dimension, found.window) == (dimension, window)


def test_the_owner_may_say_otherwise() -> None:
    found = profile_of("something-else", window=1000, dimension=7)
    assert found == replace(UNKNOWN, window=1000, dimension=7)
    assert profile_of("bge-m3", window=1000).window == 1000


def test_the_instruction_of_qwen_is_that_of_its_card() -> None:
    assert profile_of("qwen3-embedding:0.6b").query == (
        "Instruct: Given a web search query, retrieve relevant passages that answer the query"
        "\nQuery:"
    )


def test_no_name_is_used_twice_and_all_are_bare() -> None:
    names = [name for profile in PROFILES for name in profile.models]
    assert len(set(names)) == len(names)
    assert all(bare_name(name) == name for name in names)


class _Echo:
    """Keeps what it is sent; gives no vectors that mean anything."""

    name = "echo"

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.texts: list[str] = []

    def encode(self, texts: list[str], *, patient: bool) -> Encoded:
        self.texts += texts
        vectors = WordsEmbedder(dimension=self.dimension).embed_queries(texts)
        return Encoded(vectors, None)


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.models[0])
def test_what_is_sent_fits_the_window_with_its_prefix(profile: EmbedderProfile) -> None:
    """At the most tokens that the model may make of one of the bundled encoder's."""
    words = bundled_embedder()
    assert profile.dimension is not None
    echo = _Echo(profile.dimension)
    embedder = BackedEmbedder(echo, "x", profile, words)  # type: ignore[arg-type]
    long = " ".join(
        f"Il punto {number} riguarda la caldaia del condominio." for number in range(80)
    )
    embedder.embed_parts([(long[:2000], long), ("Breve.",)])
    embedder.embed_queries([long])
    sizes = [profile.tokens * words.count(text) + 2 for text in echo.texts]
    assert max(sizes) <= profile.window
    assert any(text.startswith(profile.query) for text in echo.texts)
    assert all(text.startswith((profile.query, profile.document)) for text in echo.texts), (
        "every text has its prefix"
    )


@pytest.mark.parametrize("profile", PROFILES, ids=lambda profile: profile.models[0])
def test_the_page_lists_it(profile: EmbedderProfile) -> None:
    rows = [line for line in MODELS_PAGE.read_text("utf-8").splitlines() if line.startswith("| `")]
    (row,) = [line for line in rows if f"| `{profile.models[0]}`" in line]
    assert all(f"`{name}`" in row for name in profile.models)
    assert f"| {profile.window:,} | {profile.dimension:,} |" in row
    for prefix in (profile.query, profile.document):
        assert prefix.replace("\n", "⏎") in row


def test_an_embedder_is_named_in_many_ways(home: Path, tmp_path: Path) -> None:
    settings = load_settings(home)
    named = {
        "bundled": EmbedderChoice("bundled"),
        "bge-m3": EmbedderChoice("ollama", "bge-m3"),
        "ollama/bge-m3:567m": EmbedderChoice("ollama", "bge-m3:567m"),
        "openai/BAAI/bge-m3": EmbedderChoice("openai", "BAAI/bge-m3"),
        "BAAI/bge-m3": EmbedderChoice("ollama", "BAAI/bge-m3"),
        str(tmp_path): EmbedderChoice("sentence-transformers", str(tmp_path)),
        f"sentence-transformers/{tmp_path}": EmbedderChoice("sentence-transformers", str(tmp_path)),
    }
    assert {text: parse_choice(text, settings) for text in named} == named
    served = load_settings(
        home, embedder="openai", embedder_model="x", embedder_url="http://a", embedder_dimension=9
    )
    assert parse_choice("x", served) == EmbedderChoice("openai", "x", "http://a", 9)
    assert parse_choice("y", served) == EmbedderChoice("openai", "y", "http://a")
    assert parse_choice("y", served, "http://b") == EmbedderChoice("openai", "y", "http://b")
    for text in ("", "  ", "ollama", "ollama/", "sentence-transformers"):
        with pytest.raises(InputError, match="names no embedder"):
            parse_choice(text, settings)


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"embedder": "ollama"}, "'embedder_model' is not set"),
        ({"embedder": "ollama", "embedder_model": "x"}, "emily models use ollama/x"),
        ({"embedder": "openai", "embedder_model": "bge-m3"}, "'embedder_url' is not set"),
    ],
)
def test_settings_that_are_not_enough_are_told(
    home: Path, values: dict[str, str], said: str
) -> None:
    with pytest.raises(SettingError, match=said):
        make_embedder(load_settings(home, **values))


def test_a_home_with_half_written_settings_can_be_opened_and_says_what_is_missing(
    home: Path,
) -> None:
    settings = load_settings(home, embedder="ollama", embedder_model="x")
    embedder = embedder_of(settings, bundled=bundled_embedder())
    assert isinstance(embedder, Embedder)
    assert embedder.count("two words") == bundled_embedder().count("two words")
    for use in (embedder.embed_queries, lambda texts: embedder.embed_parts([texts])):
        with pytest.raises(ModelUnavailable, match="emily models use ollama/x"):
            use(["x"])


def test_the_settings_make_the_embedder(home: Path) -> None:
    settings = load_settings(home, embedder="ollama", embedder_model="qwen3-embedding:0.6b")
    embedder = make_embedder(settings, bundled=bundled_embedder())
    assert str(embedder.identity) == "qwen3-embedding:0.6b/instruct-1 (1024 dimensions)"
    assert embedder.words_identity == bundled_embedder().identity
    assert make_embedder(load_settings(home), bundled=bundled_embedder()) is bundled_embedder()
