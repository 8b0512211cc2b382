"""The graph of links, and how a score spreads in it: a random walk with restart, damped on hubs.

From a note the walk goes on along one of its links, in either direction, and at each step returns
with the probability ``restart`` to where it began. What a neighbour with more links than the mean
gets is multiplied by (mean / its links) to the power ``damping``, so that a note that all others
link to does not rise with every question. The walk is computed by pushing what is still to be
spread (Andersen, Chung and Lang, "Local Graph Partitioning using PageRank Vectors", 2006), whose
work depends on the tolerance and not on the size of the vault. Standard library only.
"""

from __future__ import annotations

import sys
from array import array
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

__all__ = [
    "DAMPING",
    "KINDS",
    "RESTART",
    "WEIGHTS",
    "Edge",
    "Graph",
    "Reached",
    "Step",
]

RESTART: Final = 0.5
"""Chosen by ``benchmarks.vault_graph``, see ``docs/vault-notes.md``."""
DAMPING: Final = 0.5
"""Chosen by ``benchmarks.vault_graph`` as well."""
TOLERANCE: Final = 1e-4
"""Share of all scores below which what a note still has to spread is left where it is."""

KINDS: Final = ("wiki", "markdown", "field", "tag")
WEIGHTS: Final = {"wiki": 1.0, "markdown": 1.0, "field": 1.0, "tag": 0.2}
"""How readily the walk takes a link of each kind; a tag is a weak one."""

_WEIGHTS = tuple(WEIGHTS[kind] for kind in KINDS)
_RANKS = tuple(2 * sorted(set(_WEIGHTS)).index(weight) for weight in _WEIGHTS)


class Edge(NamedTuple):
    """A link between two nodes.

    Attributes:
        source, target: numbers of the nodes, from 0.
        kind: one of ``KINDS``.
        line: 1-based line of the link in the source.
    """

    source: int
    target: int
    kind: str
    line: int


@dataclass(frozen=True, slots=True)
class Step:
    """How the walk came from one node to the next.

    Attributes:
        start, end: numbers of the nodes, in the direction of the walk.
        kind: of the link.
        line: of the link, in the note in which it stands.
        forward: whether the link stands in ``start``; otherwise ``end`` links back to it.
    """

    start: int
    end: int
    kind: str
    line: int
    forward: bool


@dataclass(frozen=True, slots=True)
class Reached:
    """What the walk brought to a node.

    Attributes:
        score: in the unit of the seeds.
        by: the step that brought most of it.
    """

    score: float
    by: Step


class Graph:
    """Links between nodes, each walked in both directions."""

    def __init__(self, nodes: int, edges: Iterable[Edge]) -> None:
        """Take the links; one of a node to itself is left out, a repeated one counts once.

        Args:
            nodes: how many there are; notes first, then what else links can mean, such as tags.
            edges: between them.
        """
        # Numbers, not tuples: from and to as the key, then how good the link is, its kind and line.
        best: dict[int, int] = {}
        for edge in edges:
            source, target = edge.source, edge.target
            if source == target:
                continue
            kind = KINDS.index(edge.kind)
            there = (_RANKS[kind] + 1) << 40 | kind << 32 | edge.line
            back = _RANKS[kind] << 40 | kind << 32 | edge.line
            for pair, packed in (
                (source << 32 | target, there),
                (target << 32 | source, back),
            ):
                known = best.get(pair)
                if known is None or packed >> 40 > known >> 40:
                    best[pair] = packed
        self._offsets = array("I", bytes(4 * (nodes + 1)))
        self._targets = array("I")
        self._lines = array("i")
        self._kinds = bytearray()
        at = 0
        for pair in sorted(best):
            packed = best[pair]
            start = pair >> 32
            line = packed & 0xFFFFFFFF
            while at < start:
                at += 1
                self._offsets[at] = len(self._targets)
            self._targets.append(pair & 0xFFFFFFFF)
            self._lines.append(line if packed >> 40 & 1 else -line)
            self._kinds.append(packed >> 32 & 0xFF)
        while at < nodes:
            at += 1
            self._offsets[at] = len(self._targets)
        self._usual = self._mean_degree()

    def _mean_degree(self) -> float:
        """The mean number of links of the nodes that have any."""
        offsets = self._offsets
        linked = sum(offsets[at] != offsets[at + 1] for at in range(len(offsets) - 1))
        return len(self._targets) / linked if linked else 1.0

    @property
    def nodes(self) -> int:
        """How many nodes there are."""
        return len(self._offsets) - 1

    def degree(self, node: int) -> int:
        """How many others a node is linked with."""
        return self._offsets[node + 1] - self._offsets[node]

    def neighbours(self, node: int) -> list[Step]:
        """The links of a node, walked away from it."""
        return [self._step(node, at) for at in range(self._offsets[node], self._offsets[node + 1])]

    def _step(self, node: int, at: int) -> Step:
        line = self._lines[at]
        return Step(node, self._targets[at], KINDS[self._kinds[at]], abs(line), line > 0)

    def spread(
        self,
        seeds: Mapping[int, float],
        *,
        restart: float = RESTART,
        damping: float = DAMPING,
        tolerance: float = TOLERANCE,
    ) -> dict[int, Reached]:
        """Let scores spread from the matches to what they are linked with.

        Args:
            seeds: scores of the matches, all positive.
            restart: probability of going back at each step, above 0 and up to 1.
            damping: 0 leaves hubs as they are, 1 divides by how far they exceed the mean.
            tolerance: see ``TOLERANCE``.

        Returns:
            What each node got from others, its own score not among it.
        """
        total = sum(seeds.values())
        if not total:
            return {}
        enough = tolerance * total
        pending = dict(seeds)
        queue = deque(sorted(seeds))
        waiting = set(queue)
        got: dict[int, float] = {}
        shares: dict[int, tuple[float, int]] = {}
        while queue:
            node = queue.popleft()
            waiting.discard(node)
            amount = pending.pop(node, 0.0)
            if amount <= 0.0:
                continue
            for at, share in self._outward(node, damping):
                moved = (1.0 - restart) * amount * share
                if moved <= enough / 100:
                    continue
                target = self._targets[at]
                got[target] = got.get(target, 0.0) + restart * moved
                most = shares.get(target)
                if most is None or moved > most[0]:
                    shares[target] = (moved, (node << 32) | at)
                left = pending.get(target, 0.0) + moved
                pending[target] = left
                if left > enough and target not in waiting:
                    waiting.add(target)
                    queue.append(target)
        found = {}
        for node, score in got.items():
            packed = shares[node][1]
            found[node] = Reached(score, self._step(packed >> 32, packed & 0xFFFFFFFF))
        return found

    def _outward(self, node: int, damping: float) -> list[tuple[int, float]]:
        """The links of a node with the share of the walk that each takes, together 1 or less.

        The division is even but for the kinds of links; then the share of a target that has more
        links than the mean node is damped, and what it loses is lost: a note that links to hubs
        only passes on little.
        """
        first, last = self._offsets[node], self._offsets[node + 1]
        if first == last:
            return []
        offsets, targets, kinds = self._offsets, self._targets, self._kinds
        weights = []
        plain = 0.0
        for at in range(first, last):
            target = targets[at]
            weight = _WEIGHTS[kinds[at]]
            plain += weight
            degree = offsets[target + 1] - offsets[target]
            if damping and degree > self._usual:
                weight *= (self._usual / degree) ** damping
            weights.append(weight)
        return [
            (at, weight / plain) for at, weight in zip(range(first, last), weights, strict=True)
        ]

    # For the cache of ``lite``.

    def to_bytes(self) -> bytes:
        """The graph as bytes of this machine."""
        head = array("I", [self.nodes, len(self._targets)])
        parts = (head, self._offsets, self._targets, self._lines, self._kinds)
        return b"".join(bytes(part) for part in parts)

    @classmethod
    def from_bytes(cls, data: bytes) -> Graph:
        """The graph that ``to_bytes`` wrote.

        Raises:
            ValueError: the bytes are not such a graph.
        """
        if len(data) < 8:
            raise ValueError("too short for a graph")
        nodes, edges = array("I", data[:8])
        sizes = (4 * (nodes + 1), 4 * edges, 4 * edges, edges)
        if len(data) != 8 + sum(sizes):
            raise ValueError("not as long as its graph says")
        graph = cls(0, ())
        at = 8
        parts = []
        for size in sizes:
            parts.append(data[at : at + size])
            at += size
        graph._offsets = array("I", parts[0])
        graph._targets = array("I", parts[1])
        graph._lines = array("i", parts[2])
        graph._kinds = bytearray(parts[3])
        graph._usual = graph._mean_degree()
        return graph


if array("I").itemsize != 4:  # pragma: no cover
    raise ImportError(f"an unsigned integer takes {array('I').itemsize} bytes on {sys.platform}")
