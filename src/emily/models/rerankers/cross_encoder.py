"""Cross-encoders: networks with a head that scores a pair, as sentence-transformers makes them.

One logit becomes a probability by the logistic, two by the softmax over both. A head that was
trained to give the probability itself (``problem_type`` is ``regression``) is taken as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from emily.errors import ModelUnavailable, QuestionTooLong
from emily.models.rerankers.judging import probability
from emily.models.rerankers.local import Encoded, LocalReranker, Network
from emily.settings import RerankerScores

__all__ = ["CrossEncoderNetwork", "CrossEncoderReranker"]

_LEAST_PASSAGE = 32  # tokens; of less nobody can tell whether it answers


class CrossEncoderReranker(LocalReranker):
    """A model for sequence classification with one or two labels."""

    def __init__(self, model: str, *, scale: RerankerScores = "auto", **values: Any) -> None:
        """Prepare without loading.

        Args:
            model: folder or name on the hub.
            scale: what its only logit is; ``auto`` asks its configuration.
            values: see ``LocalReranker``.
        """
        super().__init__(model, **values)
        self._scale = scale

    def _open(self, folder: Path, tokens: int) -> Network:
        return CrossEncoderNetwork(folder, tokens, self._scale)


class CrossEncoderNetwork(Network):
    """A network for sequence classification with its tokenizer."""

    def __init__(self, folder: Path, tokens: int, scale: RerankerScores = "auto") -> None:
        """Load it.

        Args:
            folder: with configuration, tokenizer and safetensors.
            tokens: longest pair, special tokens included.
            scale: what its only logit is.

        Raises:
            ModelUnavailable: weights are missing, as those of the head in a mere encoder, or
                it has more than two labels.
        """
        import torch
        from transformers import AutoModelForSequenceClassification, AutoTokenizer

        self._torch = torch
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model, loading = AutoModelForSequenceClassification.from_pretrained(
            folder,
            dtype=torch.float32,
            use_safetensors=True,
            local_files_only=True,
            output_loading_info=True,
        )
        if loading["missing_keys"]:
            raise ModelUnavailable(
                f"The reranker in {folder} lacks weights: {sorted(loading['missing_keys'])[:3]}. "
                "It is no cross-encoder, or not all of one."
            )
        if model.config.num_labels > 2:
            raise ModelUnavailable(
                f"The model in {folder} has {model.config.num_labels} labels; a reranker has one "
                "or two"
            )
        self._model = model.eval()
        self._two = model.config.num_labels == 2
        trained = getattr(model.config, "problem_type", None) == "regression"
        self._as_it_is = scale == "probabilities" or (scale == "auto" and trained)
        self._tokens = min(tokens, _positions(model.config), self._tokenizer.model_max_length)
        self._reserved = self._tokenizer.num_special_tokens_to_add(pair=True)

    def encode(self, query: str, passage: str) -> Encoded:
        """The pair as the tokenizer joins it; the passage alone is cut."""
        asked = len(self._ids(query))
        room = self._tokens - self._reserved - asked
        if room < _LEAST_PASSAGE:
            raise QuestionTooLong(
                f"the question takes {asked} of {self._tokens} tokens, which leaves no room for "
                "a passage (setting reranker_tokens, and the model's own limit)"
            )
        pair = self._tokenizer(
            query,
            passage,
            truncation="only_second",
            max_length=self._tokens,
            split_special_tokens=True,
        )
        return Encoded(
            {name: list(values) for name, values in pair.items()},
            len(self._ids(passage)) > room,
        )

    def probabilities(self, batch: Sequence[Encoded]) -> list[float]:
        """By the logistic of one logit, or the softmax of two (the second is "relevant")."""
        torch = self._torch
        inputs = self._tokenizer.pad([pair.tokens for pair in batch], return_tensors="pt")
        with torch.inference_mode():
            logits = self._model(**inputs).logits.float()
            if self._two:
                found: list[float] = torch.softmax(logits, dim=1)[:, 1].tolist()
                return found
        values: list[float] = logits[:, 0].tolist()
        return values if self._as_it_is else [probability(value) for value in values]

    def _ids(self, text: str) -> list[int]:
        return list(
            self._tokenizer(text, add_special_tokens=False, split_special_tokens=True).input_ids
        )


def _positions(config: Any) -> int:
    """Most tokens that the network has places for."""
    most = int(getattr(config, "max_position_embeddings", 0) or 0)
    if not most:
        return 1 << 30  # of relative places there is no most
    # The family of RoBERTa counts its places from behind the padding's id.
    return most - int(config.pad_token_id) - 1 if "roberta" in config.model_type else most
