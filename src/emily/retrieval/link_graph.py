"""The graph of links between documents, kept in memory and read again when a link changed."""

from __future__ import annotations

import asyncio
from array import array
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from emily.retrieval.chunk_table import integers
from emily.store import Database
from emily.vault.graph import KINDS, WEIGHTS, Graph, Reached

__all__ = ["LinkGraph", "LinkGraphs"]


@dataclass(frozen=True, slots=True)
class LinkGraph:
    """Documents that are linked, at one moment.

    Attributes:
        graph: its nodes are those documents and, behind them, the tags that they bear.
        documents: ``(n,)`` ids of the documents, ascending; the nodes from 0 on.
    """

    graph: Graph = field(default_factory=lambda: Graph(0, ()))
    documents: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))

    def spread(
        self, seeds: Mapping[int, float], restart: float, damping: float
    ) -> dict[int, Reached]:
        """What documents get from those that match, by links; only of others than tags.

        Args:
            seeds: scores of documents.
            restart: probability with which the walk goes back at each step.
            damping: how much hubs are held back, 0 to 1.

        Returns:
            by document; the nodes of a step are those of ``graph``.
        """
        nodes = {
            node: score for document, score in seeds.items() if (node := self.node(document)) >= 0
        }
        if not nodes:
            return {}
        found = self.graph.spread(nodes, restart=restart, damping=damping)
        return {
            int(self.documents[node]): reached
            for node, reached in found.items()
            if node < len(self.documents)
        }

    def node(self, document: int) -> int:
        """The node of a document; -1 if nothing links it."""
        at = int(np.searchsorted(self.documents, document))
        there = at < len(self.documents) and self.documents[at] == document
        return at if there else -1

    def document(self, node: int) -> int | None:
        """The document of a node; ``None`` of a tag."""
        return int(self.documents[node]) if node < len(self.documents) else None


class LinkGraphs:
    """Reads the graph of the database.

    Args:
        database: the store.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._revision = -1
        self._graph = LinkGraph()
        self._lock = asyncio.Lock()

    async def now(self) -> LinkGraph:
        """The graph as it is; read again only where a link changed since."""
        row = await self._database.fetch_one("links_revision")
        assert row is not None
        async with self._lock:
            if row["links"] != self._revision:
                self._graph = await self._read() if row["links"] else LinkGraph()
                self._revision = row["links"]
            return self._graph

    async def _read(self) -> LinkGraph:
        links = await self._database.fetch_one("link_graph", {"kinds": list(KINDS)})
        tags = await self._database.fetch_one("tag_graph")
        assert links is not None
        assert tags is not None
        sources, targets, kinds, lines = (
            integers(links[name], size)
            for name, size in (("sources", 8), ("targets", 8), ("kinds", 4), ("lines", 4))
        )
        bearers, borne, tag_lines = (
            integers(tags[name], size)
            for name, size in (("documents", 8), ("tags", 8), ("lines", 4))
        )
        return await asyncio.to_thread(
            _made, (sources, targets, kinds, lines), (bearers, borne, tag_lines)
        )


_Column = NDArray[np.int64]


def _made(
    links: tuple[_Column, _Column, _Column, _Column], tags: tuple[_Column, _Column, _Column]
) -> LinkGraph:
    """The graph of ``emily.vault.graph``, put together from columns."""
    sources, targets, kinds, lines = links
    bearers, borne, tag_lines = tags
    documents = np.unique(np.concatenate([sources, targets, bearers]))
    names, tag = np.unique(borne, return_inverse=True)
    count = len(documents) + len(names)
    start = np.concatenate(
        [np.searchsorted(documents, sources), np.searchsorted(documents, bearers)]
    )
    end = np.concatenate([np.searchsorted(documents, targets), len(documents) + tag])
    kind = np.concatenate([kinds, np.full(len(bearers), KINDS.index("tag"))])
    line = np.maximum(1, np.concatenate([lines, tag_lines]))
    # Walked in both directions; of several links between two, the strongest and the one ahead.
    both = np.concatenate([start, end]), np.concatenate([end, start])
    weights = np.array([WEIGHTS[name] for name in KINDS])[np.concatenate([kind, kind])]
    signed = np.concatenate([line, -line])
    order = np.lexsort((np.arange(len(signed)), signed < 0, -weights, both[1], both[0]))
    first, second = both[0][order], both[1][order]
    alone = np.ones(len(order), bool)
    alone[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    alone &= first != second
    kept = order[alone]
    offsets = np.searchsorted(first[alone], np.arange(count + 1)).astype(np.uint32)
    data = b"".join(
        [
            array("I", [count, len(kept)]).tobytes(),
            offsets.tobytes(),
            both[1][kept].astype(np.uint32).tobytes(),
            signed[kept].astype(np.int32).tobytes(),
            np.concatenate([kind, kind])[kept].astype(np.uint8).tobytes(),
        ]
    )
    return LinkGraph(Graph.from_bytes(data), documents)
