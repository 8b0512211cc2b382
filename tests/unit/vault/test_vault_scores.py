"""Terms, BM25, the walk over links, the budget, the map."""

import math
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emily.indexing.terms import analyse, frequencies
from emily.retrieval.bm25 import Member, Statistics, TermGroup
from emily.retrieval.bm25 import score as archive_score
from emily.vault.bm25 import Collection, coverage, rank, score
from emily.vault.budget import estimated_tokens, spend
from emily.vault.graph import Edge, Graph
from emily.vault.notes import read_note
from emily.vault.passages import passages
from emily.vault.terms import name_terms, passage_terms, query_terms
from emily.vault.themes import MapNote, map_note, term_index, themes

_TOKENS = st.sampled_from(
    [
        "January",
        "10",
        "2024",
        "march",
        "3rd",
        "it60",
        "X054",
        "2811",
        "1 234",
        "C#",
        "C++",
        "perché",
        "l'acqua",
        "TM-X200",
        "camelCase",
        "12.03.2024",
        "1.234,56",
        "日本語",
        "the",
        "5",
        "marzo",
        "x" * 300,
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.one_of(st.lists(_TOKENS, max_size=10).map(" ".join), st.text(max_size=60)))
def test_counted_terms_are_those_of_the_analyser(text: str) -> None:
    assert frequencies(text) == dict(Counter(term.term for term in analyse(text)))


def test_terms_of_a_passage() -> None:
    note = read_note(
        "Boiler.md", b"# House\n\n## Heating\n\nThe pressureValve v2 leaks.\n\n## Roof\n\nTiles."
    )
    roof = passages(note)[1]
    assert passage_terms(note, roof) == {"boile": 1, "house": 1, "roof": 1, "tiles": 1}
    heating = passage_terms(note, passages(note)[0])
    assert heating["press"] == heating["valve"] == heating["!pressurevalve"] == 1
    assert "the" not in heating
    assert name_terms(note) == {"boile": 1, "house": 1}


def test_the_exact_spelling_ranks_first() -> None:
    assert query_terms("perché") == ("perch", "=perché")
    assert query_terms("perche") == ("perch",)
    texts = [frequencies(text) for text in ("perche no", "perché no", "perch no")]
    collection = Collection(3, 1.3)
    holding = {"perch": 3, "=perché": 1}
    scores = [
        score(collection, {t: counts.get(t, 0) for t in holding}, sum(counts.values()), holding)
        for counts in texts
    ]
    assert scores[1] > scores[0] == scores[2]


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.dictionaries(st.sampled_from("abcd"), st.integers(1, 9), min_size=1),
        min_size=1,
        max_size=8,
    ),
    st.sets(st.sampled_from("abcde"), min_size=1),
)
def test_bm25_is_that_of_the_archive(texts: list[dict[str, int]], query: set[str]) -> None:
    lengths = [sum(text.values()) for text in texts]
    holding = {term: sum(term in text for text in texts) for term in query}
    collection = Collection(len(texts), sum(lengths) / len(texts))
    statistics = Statistics(len(texts), collection.mean, holding)
    groups = [TermGroup(term, (Member(term, 1.0),)) for term in sorted(query)]
    postings = {
        term: [(at, text[term]) for at, text in enumerate(texts) if term in text] for term in query
    }
    ranked = rank(collection, postings, lengths)
    for at, text in enumerate(texts):
        matches = {term: text[term] for term in query if term in text}
        expected = archive_score(groups, matches, lengths[at], statistics)
        assert score(collection, matches, lengths[at], holding) == pytest.approx(expected)
        assert ranked.get(at, 0.0) == pytest.approx(expected)


def test_bm25_by_hand() -> None:
    collection = Collection(10, 4.0, k1=1.2, b=0.75)
    expected = math.log(1 + 8.5 / 2.5) * 3 * 2.2 / (3 + 1.2 * (0.25 + 0.75 * 8 / 4))
    assert score(collection, {"a": 3}, 8, {"a": 2}) == pytest.approx(expected)
    assert coverage(["a", "b"], ["a"], {"a": 3.0, "b": 1.0}) == 0.75
    assert coverage([], ["a"], {}) == 0.0


def _star(leaves: int) -> Graph:
    """0 links to 1, 1 to 2; the hub 3 is linked with 0 and with all leaves."""
    edges = [Edge(0, 1, "wiki", 5), Edge(1, 2, "wiki", 6), Edge(0, 3, "wiki", 7)]
    edges += [Edge(4 + leaf, 3, "wiki", 1) for leaf in range(leaves)]
    return Graph(4 + leaves, edges)


def test_neighbours_get_a_share_and_hubs_a_smaller_one() -> None:
    reached = _star(50).spread({0: 1.0})
    assert reached[1].score > 3 * reached[3].score
    assert reached[1].score > reached[2].score > 0
    step = reached[1].by
    assert (step.start, step.end, step.line, step.forward) == (0, 1, 5, True)
    back = _star(50).spread({1: 1.0})[0].by
    assert (back.start, back.end, back.line, back.forward) == (1, 0, 5, False)
    level = _star(50).spread({0: 1.0}, damping=0.0)
    assert level[1].score < 1.5 * level[3].score


def test_a_tag_is_a_weak_link() -> None:
    graph = Graph(4, [Edge(0, 1, "wiki", 1), Edge(0, 3, "tag", 2), Edge(2, 3, "tag", 2)])
    reached = graph.spread({0: 1.0})
    assert reached[1].score > reached[2].score > 0
    assert reached[2].by.kind == "tag"


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30),
    st.dictionaries(st.integers(0, 9), st.floats(0.01, 5), max_size=4),
    st.floats(0.05, 1.0),
    st.floats(0.0, 1.0),
)
def test_no_score_is_made_out_of_nothing(
    pairs: list[tuple[int, int]], seeds: dict[int, float], restart: float, damping: float
) -> None:
    graph = Graph(10, [Edge(a, b, "wiki", 1) for a, b in pairs])
    reached = graph.spread(seeds, restart=restart, damping=damping)
    assert sum(each.score for each in reached.values()) <= sum(seeds.values()) * (1 + 1e-9)
    again = Graph.from_bytes(graph.to_bytes())
    assert again.spread(seeds, restart=restart, damping=damping) == reached
    for node in range(10):
        ends = {b for a, b in pairs if a == node} | {a for a, b in pairs if b == node}
        assert {step.end for step in graph.neighbours(node)} == ends - {node}
        assert graph.degree(node) == len(ends - {node})


def test_the_push_approximates_the_walk() -> None:
    edges = [Edge(a, b, "wiki", 1) for a, b in ((0, 1), (1, 2), (2, 3), (3, 0), (1, 3), (3, 4))]
    graph, restart = Graph(5, edges), 0.3
    mass, total = [1.0, 0, 0, 0, 0], [0.0] * 5
    for _ in range(200):
        following = [0.0] * 5
        for node in range(5):
            for step in graph.neighbours(node):
                following[step.end] += (1 - restart) * mass[node] / graph.degree(node)
        mass = following
        total = [a + restart * b for a, b in zip(total, mass, strict=True)]
    reached = graph.spread({0: 1.0}, restart=restart, damping=0.0, tolerance=1e-7)
    for node in range(5):
        assert reached[node].score == pytest.approx(total[node], abs=1e-4)


@pytest.mark.parametrize("data", [b"", b"12345678", b"\1\0\0\0\1\0\0\0x"])
def test_bytes_that_are_no_graph(data: bytes) -> None:
    with pytest.raises(ValueError, match="graph"):
        Graph.from_bytes(data)


@pytest.mark.parametrize(
    ("costs", "budget", "chosen"),
    [
        ([[10, 10], [10, 10]], 30, [[0, 1], [0]]),
        ([[10, 10], [10, 10]], 25, [[0], [0]]),
        ([[10, 5], [20, 5]], 20, [[0, 1], [1]]),
        ([[100], [10]], 50, [[0], []]),
        ([[5, 5], [5]], None, [[0, 1], [0]]),
        ([], 10, []),
        ([[], [5]], 10, [[], [0]]),
    ],
)
def test_a_budget_goes_to_the_best_of_each_document_first(
    costs: list[list[int]], budget: int | None, chosen: list[list[int]]
) -> None:
    assert spend(costs, budget) == chosen
    assert estimated_tokens("") == 0
    assert estimated_tokens("abcde") == 2


def test_themes_are_named_by_their_own_words() -> None:
    garden = [f"# Rose {n}\n\nRoses and compost, pruning number {n}." for n in range(4)]
    tax = [f"# Tax {n}\n\nInvoices and deductions of the year {n}." for n in range(4)]
    notes = [
        map_note(read_note(f"{kind}{n}.md", text.encode()))
        for kind, texts in (("garden", garden), ("tax", tax))
        for n, text in enumerate(texts)
    ]
    found = themes(notes, [("garden0.md", "garden1.md"), ("tax0.md", "tax1.md")])
    assert [sorted(theme.paths) for theme in found] == [
        [f"garden{n}.md" for n in range(4)],
        [f"tax{n}.md" for n in range(4)],
    ]
    assert {"rose", "compost", "pruning"} <= set(found[0].words)
    assert {"tax", "invoices", "deductions"} <= set(found[1].words)
    assert themes(notes[::-1], [("garden0.md", "garden1.md"), ("tax0.md", "tax1.md")]) == found
    assert themes([], []) == []


def test_the_index_of_words_names_notes() -> None:
    notes = [
        MapNote("a.md", "A", {"contract": 5, "garden": 1}),
        MapNote("b.md", "B", {"contracts": 1, "perché": 2}),
    ]
    assert [(e.word, e.notes, e.paths) for e in term_index(notes, "CONT")] == [
        ("contract", 2, ("a.md", "b.md"))
    ]
    assert [e.word for e in term_index(notes, "perche")] == ["perché"]
    assert [e.word for e in term_index(notes, most=1)] == ["contract"]
    assert term_index(notes, "zzz") == []
