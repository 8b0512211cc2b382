"""Runs one other project's hybrid search over a set, for ``benchmarks.peers``.

    python peer_runner.py PEER FOLDER

It runs in an environment of its own, where ``requirements-peers.txt`` and Emily are; of Emily it
takes the embedder alone, so that every project searches by the same vectors. ``FOLDER`` holds
``corpus.jsonl`` and ``queries.jsonl`` (``id``, ``title``, ``text``). It prints one JSON object:
the documents found for each question, best first, the seconds of indexing and of each search, and
the most memory it held.

Each project is set up as its own documentation shows a hybrid search: its own splitter, words and
vectors, and its own way to join them. Twenty passages come from each leg.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

EACH = 20
"""Passages that each leg of a hybrid brings."""

Texts = Sequence[tuple[str, str]]
"""Ids of documents with their texts."""
Search = Callable[[str], list[str]]
Embed = Callable[[Sequence[str]], list[list[float]]]
Peer = Callable[[Texts, Embed], Search]


def llama_index(texts: Texts, embed: Embed) -> Search:
    """LlamaIndex: sentence splitter, vectors and BM25, joined by query fusion (reciprocal rank)."""
    from llama_index.core import Document, Settings, VectorStoreIndex
    from llama_index.core.embeddings import BaseEmbedding
    from llama_index.core.llms import MockLLM
    from llama_index.core.node_parser import SentenceSplitter
    from llama_index.core.retrievers import QueryFusionRetriever
    from llama_index.retrievers.bm25 import BM25Retriever

    class Model(BaseEmbedding):
        def _get_query_embedding(self, query: str) -> list[float]:
            return embed([query])[0]

        async def _aget_query_embedding(self, query: str) -> list[float]:
            return embed([query])[0]

        def _get_text_embedding(self, text: str) -> list[float]:
            return embed([text])[0]

        def _get_text_embeddings(self, texts: list[str]) -> list[list[float]]:
            return embed(texts)

    Settings.llm, Settings.embed_model = MockLLM(), Model(embed_batch_size=64)
    nodes = SentenceSplitter(chunk_size=512, chunk_overlap=50).get_nodes_from_documents(
        [Document(text=text, metadata={"id": name}, excluded_embed_metadata_keys=["id"],
                  excluded_llm_metadata_keys=["id"]) for name, text in texts]
    )  # fmt: skip
    index = VectorStoreIndex(nodes)
    retriever = QueryFusionRetriever(
        [
            index.as_retriever(similarity_top_k=EACH),
            BM25Retriever.from_defaults(nodes=nodes, similarity_top_k=EACH),
        ],
        similarity_top_k=EACH,
        num_queries=1,
        mode="reciprocal_rerank",
        use_async=False,
    )
    return lambda question: [item.node.metadata["id"] for item in retriever.retrieve(question)]


def haystack(texts: Texts, embed: Embed) -> Search:
    """Haystack: a pipeline of BM25 and vectors in memory, joined by reciprocal rank."""
    from haystack import Document, Pipeline
    from haystack.components.joiners import DocumentJoiner
    from haystack.components.preprocessors import DocumentSplitter
    from haystack.components.retrievers.in_memory import (
        InMemoryBM25Retriever,
        InMemoryEmbeddingRetriever,
    )
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore(embedding_similarity_function="dot_product")
    splitter = DocumentSplitter(split_by="word", split_length=250, split_overlap=32)
    parts = splitter.run([Document(content=text, meta={"name": name}) for name, text in texts])[
        "documents"
    ]
    vectors = embed([part.content for part in parts])
    from dataclasses import replace

    store.write_documents(
        [replace(part, embedding=vector) for part, vector in zip(parts, vectors, strict=True)]
    )
    pipeline = Pipeline()
    pipeline.add_component("words", InMemoryBM25Retriever(store, top_k=EACH))
    pipeline.add_component("vectors", InMemoryEmbeddingRetriever(store, top_k=EACH))
    pipeline.add_component("join", DocumentJoiner(join_mode="reciprocal_rank_fusion", top_k=EACH))
    pipeline.connect("words", "join")
    pipeline.connect("vectors", "join")

    def search(question: str) -> list[str]:
        found = pipeline.run(
            {"words": {"query": question}, "vectors": {"query_embedding": embed([question])[0]}}
        )
        return [item.meta["name"] for item in found["join"]["documents"]]

    return search


def txtai(texts: Texts, embed: Embed) -> Search:
    """txtai: a hybrid index, scores added half and half, of documents as they are."""
    import numpy as np
    from txtai import Embeddings

    index = Embeddings(
        method="external",
        transform=lambda items: np.array(embed(list(items)), np.float32),
        hybrid=True,
    )
    index.index(texts)
    return lambda question: [name for name, _ in index.search(question, EACH)]


def langchain(texts: Texts, embed: Embed) -> Search:
    """LangChain: its pgvector store and BM25, joined by the ensemble retriever."""
    from langchain_classic.retrievers import EnsembleRetriever
    from langchain_community.retrievers import BM25Retriever
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_postgres import PGVector
    from langchain_text_splitters import RecursiveCharacterTextSplitter

    class Model(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return embed(texts)

        def embed_query(self, text: str) -> list[float]:
            return embed([text])[0]

    splitter = RecursiveCharacterTextSplitter(chunk_size=1200, chunk_overlap=150)
    parts = splitter.split_documents(
        [Document(page_content=text, metadata={"name": name}) for name, text in texts]
    )
    store = PGVector(
        Model(), connection=os.environ["PEERS_DATABASE"], collection_name="peers", use_jsonb=True
    )
    for first in range(0, len(parts), 1000):
        store.add_documents(parts[first : first + 1000])
    words = BM25Retriever.from_documents(parts)
    words.k = EACH
    both = EnsembleRetriever(
        retrievers=[words, store.as_retriever(search_kwargs={"k": EACH})], weights=[0.5, 0.5]
    )
    return lambda question: [item.metadata["name"] for item in both.invoke(question)]


PEERS: dict[str, tuple[str, Peer]] = {
    "llama-index": ("llama-index-core", llama_index),
    "haystack": ("haystack-ai", haystack),
    "txtai": ("txtai", txtai),
    "langchain-pgvector": ("langchain-postgres", langchain),
}


def main(name: str, folder: Path) -> None:
    """Index, ask every question, and print what came of it."""
    package, build = PEERS[name]
    from emily.models import UseEmbedder

    model = UseEmbedder(threads=1)
    model.embed_queries(["warm"])

    def embed(texts: Sequence[str]) -> list[list[float]]:
        whole = [text if text.strip() else "." for text in texts]
        return [
            vector for part in _batches(whole, 64) for vector in model.embed_queries(part).tolist()
        ]

    texts = [
        (item["id"], "\n".join(part for part in (item.get("title", ""), item["text"]) if part))
        for item in _lines(folder / "corpus.jsonl")
    ]
    questions = list(_lines(folder / "queries.jsonl"))
    began = time.perf_counter()
    search = build(texts, embed)
    indexing = time.perf_counter() - began
    search(questions[0]["text"])
    found, seconds = {}, []
    for item in questions:
        began = time.perf_counter()
        names = search(item["text"])
        seconds.append(time.perf_counter() - began)
        found[item["id"]] = list(dict.fromkeys(names))
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        json.dumps(
            {"version": version(package), "found": found, "indexing": indexing,
             "seconds": seconds, "memory_mb": most}
        )
    )  # fmt: skip


def _batches(items: Sequence[str], size: int) -> Iterable[Sequence[str]]:
    return (items[first : first + size] for first in range(0, len(items), size))


def _lines(path: Path) -> Iterable[dict[str, str]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
