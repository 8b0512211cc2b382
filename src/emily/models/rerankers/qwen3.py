"""Qwen3-Reranker: a language model that is asked whether a passage answers, yes or no.

The template, the instruction and the formula are those of its model card
(https://huggingface.co/Qwen/Qwen3-Reranker-0.6B): the probability of "yes" against "no" as the
next token behind the template's suffix.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from emily.errors import ModelUnavailable, QuestionTooLong
from emily.models.rerankers.local import Encoded, LocalReranker, Network

__all__ = ["INSTRUCTION", "PREFIX", "SUFFIX", "Qwen3Network", "Qwen3Reranker", "content"]

PREFIX = (
    "<|im_start|>system\n"
    "Judge whether the Document meets the requirements based on the Query and the Instruct "
    'provided. Note that the answer can only be "yes" or "no".<|im_end|>\n'
    "<|im_start|>user\n"
)
SUFFIX = "<|im_end|>\n<|im_start|>assistant\n<think>\n\n</think>\n\n"
INSTRUCTION = "Given a web search query, retrieve relevant passages that answer the query"

_LEAST_PASSAGE = 32  # tokens; of less nobody can tell whether it answers


def content(query: str, passage: str) -> str:
    """What stands between the template's prefix and its suffix."""
    return f"<Instruct>: {INSTRUCTION}\n<Query>: {query}\n<Document>: {passage}"


class Qwen3Reranker(LocalReranker):
    """A model of the family Qwen3-Reranker."""

    def _open(self, folder: Path, tokens: int) -> Network:
        return Qwen3Network(folder, tokens)


class Qwen3Network(Network):
    """A causal language model with its tokenizer."""

    def __init__(self, folder: Path, tokens: int) -> None:
        """Load it.

        Args:
            folder: with configuration, tokenizer and safetensors.
            tokens: longest pair, template included.

        Raises:
            ModelUnavailable: weights are missing, or its tokenizer has no "yes" and "no".
        """
        import torch
        from transformers import AutoModelForCausalLM, AutoTokenizer

        self._torch = torch
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        # Half precision is slower than single on most CPUs.
        model, loading = AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=torch.float32,
            use_safetensors=True,
            local_files_only=True,
            output_loading_info=True,
        )
        if loading["missing_keys"]:
            raise ModelUnavailable(
                f"The reranker in {folder} lacks weights: {sorted(loading['missing_keys'])[:3]}"
            )
        self._model = model.eval()
        self._yes, self._no = self._token("yes"), self._token("no")
        self._prefix = self._ids(PREFIX, special=True)
        self._suffix = self._ids(SUFFIX, special=True)
        self._tokens = min(tokens, model.config.max_position_embeddings)
        pad = self._tokenizer.pad_token_id
        self._pad = self._suffix[0] if pad is None else pad

    def encode(self, query: str, passage: str) -> Encoded:
        """The pair in its template. What is too long loses the end of its passage, no more."""
        room = self._tokens - len(self._prefix) - len(self._suffix)
        before = len(self._ids(content(query, "")))
        if room - before < _LEAST_PASSAGE:
            raise QuestionTooLong(
                f"the question and its template take {self._tokens - room + before} of "
                f"{self._tokens} tokens, which leaves no room for a passage "
                "(setting reranker_tokens)"
            )
        inner = self._ids(content(query, passage))
        tokens = [*self._prefix, *inner[:room], *self._suffix]
        return Encoded({"input_ids": tokens}, len(inner) > room)

    def probabilities(self, batch: Sequence[Encoded]) -> list[float]:
        """P(yes) / (P(yes) + P(no)) behind the last token; shorter pairs are padded in front."""
        torch = self._torch
        longest = max(map(len, batch))
        rows = [pair.tokens["input_ids"] for pair in batch]
        padded = [[self._pad] * (longest - len(row)) + row for row in rows]
        mask = [[0] * (longest - len(row)) + [1] * len(row) for row in rows]
        with torch.inference_mode():
            logits = self._model(
                input_ids=torch.tensor(padded),
                attention_mask=torch.tensor(mask),
                logits_to_keep=1,
                use_cache=False,
            ).logits[:, -1, :]
            both = torch.stack([logits[:, self._no], logits[:, self._yes]], dim=1)
            found: list[float] = torch.softmax(both.float(), dim=1)[:, 1].tolist()
        return found

    def _ids(self, text: str, *, special: bool = False) -> list[int]:
        """Token ids; what looks like a mark of the template is one only where it is ours.

        Else a document that holds ``<|im_end|>`` could end its own part and answer in the
        model's stead.
        """
        return list(
            self._tokenizer(
                text, add_special_tokens=False, split_special_tokens=not special
            ).input_ids
        )

    def _token(self, word: str) -> int:
        found = self._tokenizer.convert_tokens_to_ids(word)
        if not isinstance(found, int) or found == self._tokenizer.unk_token_id:
            raise ModelUnavailable(
                f"The tokenizer of this reranker has no token {word!r}; it is not one of the "
                "family Qwen3-Reranker"
            )
        return found
