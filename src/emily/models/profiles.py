"""Profiles: how each known embedder is to be used, by its name.

What a model was trained with (a prefix of the question or of the passage) is part of what its
vectors mean, so a profile's name stands in the identity of every vector. A model that is not
listed has no prefix; its window and dimension are set, or asked of whoever runs it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["PROFILES", "UNKNOWN", "EmbedderProfile", "bare_name", "profile_of"]


@dataclass(frozen=True, slots=True)
class EmbedderProfile:
    """How a model is used.

    Attributes:
        name: of the profile; another one means other vectors, so it changes with any prefix.
        models: bare names of the models that are used so, see ``bare_name``.
        query: stands before a question.
        document: stands before a passage, a sentence or a name.
        window: most tokens of the model's own that one text may have, prefix included.
        dimension: of its vectors; ``None`` where it must be set or asked for.
        tokens: how many tokens of its own the model may make of one of the bundled encoder's:
            99 of 100 passages make fewer, measured, see docs/decisions/0011.
        languages: ``many``, or the one it was made for.
        source: where prefix, window and dimension are written.
    """

    name: str
    models: tuple[str, ...] = ()
    query: str = ""
    document: str = ""
    window: int = 512
    dimension: int | None = None
    tokens: float = 2.0
    languages: str = "many"
    source: str = ""


UNKNOWN = EmbedderProfile("plain-1")

_QWEN_TASK = "Given a web search query, retrieve relevant passages that answer the query"

PROFILES: tuple[EmbedderProfile, ...] = (
    EmbedderProfile(
        "instruct-1",
        ("qwen3-embedding:0.6b", "qwen3-embedding", "qwen3-embedding-0.6b"),
        query=f"Instruct: {_QWEN_TASK}\nQuery:",
        window=4096,
        dimension=1024,
        source="model card of Qwen/Qwen3-Embedding-0.6B",
    ),
    EmbedderProfile(
        "instruct-1",
        ("qwen3-embedding:4b", "qwen3-embedding-4b"),
        query=f"Instruct: {_QWEN_TASK}\nQuery:",
        window=4096,
        dimension=2560,
        source="model card of Qwen/Qwen3-Embedding-4B",
    ),
    EmbedderProfile(
        "plain-1", ("bge-m3",), window=8192, dimension=1024, source="model card of BAAI/bge-m3"
    ),
    EmbedderProfile(
        "e5-1",
        ("multilingual-e5-small",),
        query="query: ",
        document="passage: ",
        dimension=384,
        source="model card of intfloat/multilingual-e5-small",
    ),
    EmbedderProfile(
        "e5-1",
        ("multilingual-e5-base",),
        query="query: ",
        document="passage: ",
        dimension=768,
        source="model card of intfloat/multilingual-e5-base",
    ),
    EmbedderProfile(
        "e5-1",
        ("multilingual-e5-large",),
        query="query: ",
        document="passage: ",
        dimension=1024,
        source="model card of intfloat/multilingual-e5-large",
    ),
    EmbedderProfile(
        "nomic-1",
        ("nomic-embed-text", "nomic-embed-text-v1.5"),
        query="search_query: ",
        document="search_document: ",
        window=2048,
        dimension=768,
        languages="en",
        source="model card of nomic-ai/nomic-embed-text-v1.5",
    ),
    EmbedderProfile(
        "nomic-1",
        ("nomic-embed-text-v2-moe",),
        query="search_query: ",
        document="search_document: ",
        dimension=768,
        source="model card of nomic-ai/nomic-embed-text-v2-moe",
    ),
    EmbedderProfile(
        "gemma-1",
        ("embeddinggemma", "embeddinggemma:300m", "embeddinggemma-300m"),
        query="task: search result | query: ",
        document="title: none | text: ",
        window=2048,
        dimension=768,
        source="model card of google/embeddinggemma-300m",
    ),
    EmbedderProfile(
        "arctic-1",
        ("snowflake-arctic-embed2", "snowflake-arctic-embed-l-v2.0"),
        query="query: ",
        window=8192,
        dimension=1024,
        source="model card of Snowflake/snowflake-arctic-embed-l-v2.0",
    ),
    EmbedderProfile(
        "mxbai-1",
        ("mxbai-embed-large", "mxbai-embed-large-v1"),
        query="Represent this sentence for searching relevant passages: ",
        dimension=1024,
        languages="en",
        source="model card of mixedbread-ai/mxbai-embed-large-v1",
    ),
    EmbedderProfile(
        "plain-1",
        ("all-minilm", "all-minilm-l6-v2"),
        window=256,
        dimension=384,
        languages="en",
        source="model card of sentence-transformers/all-MiniLM-L6-v2",
    ),
    EmbedderProfile(
        "plain-1",
        ("paraphrase-multilingual", "paraphrase-multilingual-mpnet-base-v2"),
        window=128,
        dimension=768,
        source="model card of sentence-transformers/paraphrase-multilingual-mpnet-base-v2",
    ),
    EmbedderProfile(
        "plain-1",
        ("text-embedding-3-small",),
        window=8191,
        dimension=1536,
        source="OpenAI's description of its embeddings",
    ),
    EmbedderProfile(
        "plain-1",
        ("text-embedding-3-large",),
        window=8191,
        dimension=3072,
        source="OpenAI's description of its embeddings",
    ),
)


def bare_name(model: str) -> str:
    """The name by which a model is known: ``BAAI/bge-m3:latest`` as ``bge-m3``."""
    return model.replace("\\", "/").rstrip("/").rpartition("/")[2].lower().removesuffix(":latest")


def profile_of(
    model: str, *, window: int | None = None, dimension: int | None = None
) -> EmbedderProfile:
    """The profile of a model.

    Args:
        model: its name; a build of a listed model (``bge-m3:567m-fp16``) is that model.
        window: instead of the profile's, where the owner has set one.
        dimension: instead of the profile's.
    """
    name = bare_name(model)
    base, _, tag = name.partition(":")
    sized = f"{base}:{tag.partition('-')[0]}"  # without how the weights are stored (-q8_0)
    found = _LISTED.get(name) or _LISTED.get(sized)
    if found is None and not any(known.startswith(f"{base}:") for known in _LISTED):
        found = _LISTED.get(base)  # a model of one size; sizes have dimensions of their own
    chosen = found or UNKNOWN
    return replace(chosen, window=window or chosen.window, dimension=dimension or chosen.dimension)


_LISTED = {known: profile for profile in PROFILES for known in profile.models}
