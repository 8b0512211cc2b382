"""What every embedder keeps to. A backend's test subclasses this and gives the embedder."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from emily.models import Embedder

TEXTS = (
    "Il contratto di affitto scade a marzo.",
    "The rental contract expires in March.",
    "Der Mietvertrag läuft Ende März aus.",
    "租约于三月到期。",
    "ينتهي عقد الإيجار في مارس",
    "Договор аренды истекает в марте.",
    "DEC-0054 IT60X0542811101000000123456 1.234,56 €",
)
ODD = (
    "",
    " ",
    "\n\t",
    ".",
    "\0",
    "a\0b",
    "\ud800",
    "x\udfffy",
    "\u200b",
    "😀👩‍👩‍👧",
    "e\u0301" * 40,
)


class EmbedderContract:
    @pytest.fixture
    def embedder(self) -> Embedder:
        raise NotImplementedError

    def test_keeps_to_the_protocol(self, embedder: Embedder) -> None:
        assert isinstance(embedder, Embedder)
        assert embedder.identity.name
        assert embedder.identity.profile
        assert 0 <= embedder.reserved < embedder.max_tokens

    def test_vectors_have_length_one(self, embedder: Embedder) -> None:
        for vectors, identity in (
            (embedder.embed_queries(TEXTS), embedder.identity),
            (embedder.embed_words(TEXTS), embedder.words_identity),
        ):
            assert vectors.dtype == np.float32
            assert vectors.shape == (len(TEXTS), identity.dimension)
            np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)

    def test_no_text_gives_no_vector(self, embedder: Embedder) -> None:
        empty = (0, embedder.identity.dimension)
        assert embedder.embed_queries([]).shape == empty
        assert embedder.embed_words([]).shape == (0, embedder.words_identity.dimension)
        assert embedder.embed_parts([]) == []
        assert embedder.rarity([]).shape == (0,)

    @pytest.mark.parametrize("text", ODD, ids=ascii)
    def test_takes_any_text(self, embedder: Embedder, text: str) -> None:
        assert np.isfinite(embedder.embed_queries([text])).all()
        assert np.isfinite(embedder.rarity([text])).all()
        assert np.isfinite(embedder.embed_parts([[text]])[0].sentences).all()
        assert embedder.count(text) >= 1

    def test_a_vector_does_not_depend_on_its_batch(self, embedder: Embedder) -> None:
        together = embedder.embed_queries(TEXTS)
        alone = np.vstack([embedder.embed_queries([text]) for text in TEXTS])
        np.testing.assert_allclose(together, alone, atol=1e-5)

    def test_white_space_is_folded(self, embedder: Embedder) -> None:
        vectors = embedder.embed_queries(["due  parole\nqui", " due parole qui "])
        np.testing.assert_allclose(vectors[0], vectors[1], atol=1e-6)

    def test_the_same_words_are_nearer_than_others(self, embedder: Embedder) -> None:
        contract, same, other = embedder.embed_queries(
            ["the rental contract", "rental contract", "eggs with sugar"]
        )
        assert contract @ same > contract @ other + 0.2

    def test_parts_give_their_own_vector_and_their_sentences(self, embedder: Embedder) -> None:
        found = embedder.embed_parts([TEXTS[:1], TEXTS[1:4]])
        assert [item.sentences.shape[0] for item in found] == [1, 3]
        for item in found:
            assert item.part.shape == (embedder.identity.dimension,)
            np.testing.assert_allclose(np.linalg.norm(item.sentences, axis=1), 1, atol=1e-3)
            np.testing.assert_allclose(np.linalg.norm(item.part), 1, atol=1e-3)
        # A part of one sentence is that sentence.
        np.testing.assert_allclose(found[0].part, found[0].sentences[0], atol=1e-5)

    def test_counts_add_up_over_words(self, embedder: Embedder) -> None:
        for text in TEXTS:
            words = text.split()
            assert embedder.count(text) == sum(embedder.count(word) for word in words)

    def test_rarity_is_a_surprisal(self, embedder: Embedder) -> None:
        found = embedder.rarity(["house", "xylographer"])
        assert found.dtype == np.float32
        assert 0 <= found[0] < found[1]

    def test_threads_get_what_one_caller_gets(self, embedder: Embedder) -> None:
        alone = embedder.embed_queries(TEXTS)
        with ThreadPoolExecutor(4) as pool:
            for vectors in pool.map(embedder.embed_queries, [TEXTS] * 8):
                np.testing.assert_allclose(vectors, alone, atol=1e-6)
