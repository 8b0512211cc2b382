"""Embedders of sentence-transformers: the real classes, with a tiny model that is made here."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.contract.embedder import TEXTS, EmbedderContract
from tests.fakes import WordsEmbedder

from emily.errors import ModelUnavailable
from emily.models.backed import BackedEmbedder
from emily.models.encoding import TextTooLong
from emily.models.probes import FAR, GOLDEN, PARAPHRASE, TRANSLATION
from emily.models.profiles import EmbedderProfile
from emily.models.sentence_transformer import SentenceTransformerEncoder, folder_name

needs_library = pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is None,
    reason="not installed: pip install 'emily[sentence-transformers]'",
)
DIMENSION = 96
WINDOW = 64


def tiny_model(folder: Path) -> Path:
    """A BERT without layers: the mean of its tokens' vectors, by the library's own classes."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(5)
    words = Tokenizer(models.BPE())
    words.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    texts = [*TEXTS, GOLDEN, PARAPHRASE, TRANSLATION, FAR, "the rental contract eggs with sugar"]
    words.train_from_iterator(
        texts * 3,
        trainers.BpeTrainer(
            vocab_size=900,
            special_tokens=["[PAD]"],
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
            show_progress=False,
        ),
    )
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=words, pad_token="[PAD]")
    bert = BertModel(
        BertConfig(
            vocab_size=len(tokenizer),
            hidden_size=DIMENSION,
            num_hidden_layers=0,
            num_attention_heads=4,
            intermediate_size=8,
            max_position_embeddings=WINDOW,
        ),
        add_pooling_layer=False,
    )
    with torch.no_grad():
        bert.embeddings.position_embeddings.weight.zero_()
        bert.embeddings.token_type_embeddings.weight.zero_()
    inner = folder / "bert"
    bert.save_pretrained(inner)
    tokenizer.save_pretrained(inner)
    transformer = Transformer(str(inner), max_seq_length=WINDOW)
    made = SentenceTransformer(modules=[transformer, Pooling(DIMENSION)], device="cpu")
    made.save(str(folder / "tiny"))
    return folder / "tiny"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_model(tmp_path_factory.mktemp("tiny"))


def embedder_of(folder: Path, **values: Any) -> BackedEmbedder:
    profile = EmbedderProfile("plain-1", dimension=DIMENSION, window=WINDOW, **values)
    encoder = SentenceTransformerEncoder(folder)
    return BackedEmbedder(encoder, folder_name(folder), profile, WordsEmbedder())


@needs_library
class TestSentenceTransformer(EmbedderContract):
    @pytest.fixture(scope="class")
    def embedder(self, folder: Path) -> BackedEmbedder:
        return embedder_of(folder)


@needs_library
def test_vectors_are_the_mean_over_tokens_as_worked_out_by_hand(folder: Path) -> None:
    from safetensors.numpy import load_file

    weights = load_file(next(folder.rglob("model.safetensors")))
    encoder = SentenceTransformerEncoder(folder)
    ids = encoder._loaded().tokenizer(GOLDEN)["input_ids"]
    rows = weights["embeddings.word_embeddings.weight"][ids]
    mean, spread = rows.mean(axis=1, keepdims=True), rows.var(axis=1, keepdims=True)
    expected = ((rows - mean) / np.sqrt(spread + 1e-12)).mean(axis=0)
    (found,) = encoder.encode([GOLDEN], patient=True).vectors
    np.testing.assert_allclose(found, expected, atol=1e-4)


@needs_library
def test_a_text_over_the_window_is_refused_and_then_embedded_in_pieces(folder: Path) -> None:
    encoder = SentenceTransformerEncoder(folder)
    long = " ".join(f"word{number}" for number in range(100))
    with pytest.raises(TextTooLong, match=f"the model reads {WINDOW}"):
        encoder.encode([long], patient=True)
    embedder = embedder_of(folder, tokens=0.1)  # an estimate that is far too small
    first, last = embedder.embed_queries([long, long + " the rental contract"])
    assert np.isfinite(first).all()
    assert 0.5 < first @ last < 0.9999, "the end was read"


@needs_library
def test_tells_dimension_version_and_window(folder: Path) -> None:
    encoder = SentenceTransformerEncoder(folder)
    assert encoder.dimension() == DIMENSION
    assert f"reads {WINDOW} tokens" in encoder.describe()
    encoder.close()
    assert encoder.dimension() == DIMENSION, "it loads again"


@needs_library
def test_a_broken_model_is_told(folder: Path, tmp_path: Path) -> None:
    import shutil

    copied = Path(shutil.copytree(folder, tmp_path / "broken"))
    next(copied.rglob("model.safetensors")).write_bytes(b"\0" * 100)
    with pytest.raises(ModelUnavailable, match="cannot be loaded"):
        SentenceTransformerEncoder(copied).encode(["x"], patient=True)


def test_a_folder_without_a_model_is_told(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"no config\.json.*embedder_model"):
        SentenceTransformerEncoder(tmp_path).encode(["x"], patient=True)


def test_a_missing_library_names_the_line_that_installs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    (tmp_path / "config.json").write_text("{}")
    for name in ("torch", "sentence_transformers"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ModelUnavailable, match=r"pip install 'emily\[sentence-transformers\]'"):
        SentenceTransformerEncoder(tmp_path).encode(["x"], patient=True)


def test_the_name_of_a_folder_tells_its_content(tmp_path: Path) -> None:
    first, other = tmp_path / "a" / "model", tmp_path / "b" / "model"
    for path, content in ((first, "{}"), (other, '{"layers": 2}')):
        path.mkdir(parents=True)
        (path / "config.json").write_text(content)
    assert folder_name(first).startswith("model@")
    assert folder_name(first) != folder_name(other)
    assert folder_name(first) == folder_name(first)
