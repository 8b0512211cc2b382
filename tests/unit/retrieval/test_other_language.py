"""The other language among the first three documents."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from emily.retrieval.candidate import Candidate, Gathered
from emily.retrieval.languages import lift_other_language

AXES = np.eye(4, dtype=np.float32)


def item(
    chunk: int, order: float, language: str | None, document: int | None = None, about: int = 0
) -> Candidate:
    facts = Gathered(
        document=chunk if document is None else document, ordinal=0, start=0, end=1,
        language=language, terms=1, name="x", sentences=AXES[[about]],
    )  # fmt: skip
    return Candidate(chunk, order=order, gathered=facts)


def chunks(found: list[Candidate]) -> list[int]:
    return [candidate.chunk for candidate in found]


def test_the_best_of_the_other_language_takes_the_third_place() -> None:
    ranked = [item(n, 1 - n / 10, "en") for n in range(1, 5)] + [item(5, 0.2, "it")]
    found, lifted = lift_other_language(ranked, "en")
    assert lifted == 5
    assert chunks(found) == [1, 2, 5, 3, 4]
    assert [c.order for c in found] == sorted((c.order or 0 for c in found), reverse=True)


def test_it_works_both_ways() -> None:
    ranked = [item(n, 1 - n / 10, "it") for n in range(1, 4)] + [item(5, 0.2, "en")]
    assert chunks(lift_other_language(ranked, "en")[0]) == [1, 2, 5, 3]


def test_likeness_to_the_first_document_chooses() -> None:
    ranked = [item(n, 1 - n / 10, "en", about=1) for n in range(1, 4)]
    ranked += [item(7, 0.5, "it", about=2), item(8, 0.4, "it", about=1)]
    assert lift_other_language(ranked, "en")[1] == 8


def test_documents_are_counted_not_chunks() -> None:
    ranked = [item(n, 1 - n / 10, "en", document=1) for n in range(1, 4)]
    ranked += [item(4, 0.5, "en"), item(5, 0.4, "it"), item(6, 0.3, "it")]
    found, lifted = lift_other_language(ranked, "en")
    assert lifted is None, "the third document is of the other language already"
    assert found == ranked


def test_nothing_is_done_without_languages_or_others() -> None:
    own = [item(n, 1 - n / 10, "en") for n in range(1, 6)]
    assert lift_other_language(own, "en") == (own, None)
    mixed = [*own, item(9, 0.1, "it")]
    assert lift_other_language(mixed, None) == (mixed, None)
    unknown = [item(1, 0.9, None), *own[1:], item(9, 0.1, "it")]
    assert lift_other_language(unknown, "en") == (unknown, None)
    assert lift_other_language([], "en") == ([], None)


@example([("it", 1), ("it", 1), ("it", 2), ("it", 1), ("it", 0), ("en", 3)])
@given(
    st.lists(st.tuples(st.sampled_from(["it", "en", "de", None]), st.integers(0, 4)), max_size=12)
)
def test_nothing_is_lost_and_the_first_two_stay(made: list[tuple[str | None, int]]) -> None:
    ranked = [
        item(n, 1 - n / 20, language, document) for n, (language, document) in enumerate(made)
    ]
    kinds = {c.facts.document: c.facts.language for c in ranked}  # one language a document
    ranked = [
        item(c.chunk, c.order or 0, kinds[c.facts.document], c.facts.document) for c in ranked
    ]
    found, lifted = lift_other_language(ranked, "en")
    assert sorted(chunks(found)) == sorted(chunks(ranked))
    assert found == sorted(found, key=lambda c: -(c.order or 0))
    if lifted is None:
        assert found == ranked
    else:
        documents = list(dict.fromkeys(c.facts.document for c in ranked))
        after = list(dict.fromkeys(c.facts.document for c in found))
        assert after[:2] == documents[:2]
        assert lifted in [c.chunk for c in found if c.facts.document in after[:3]]
