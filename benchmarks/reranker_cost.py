"""What a cross-encoder costs on this CPU: ``python -m benchmarks reranker_cost``.

Time and memory of a network depend on its shape, not on what its weights have learnt. So the
published shapes are filled with random weights here, which needs no download, and pairs of a
given length go through the code that searches use. Quality is not measured: that needs the
real weights.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import psutil

from emily.models.rerankers.cross_encoder import CrossEncoderNetwork
from emily.models.rerankers.local import Encoded, import_torch
from emily.models.rerankers.qwen3 import Qwen3Network


def shapes() -> dict[str, Any]:
    """Classes of networks and the shapes of published models."""
    from transformers import Qwen3Config, Qwen3ForCausalLM, XLMRobertaConfig
    from transformers import XLMRobertaForSequenceClassification as Classifier

    def encoder(layers: int, width: int, heads: int, positions: int) -> Any:
        return Classifier(
            XLMRobertaConfig(
                vocab_size=250_002,
                num_hidden_layers=layers,
                hidden_size=width,
                intermediate_size=4 * width,
                num_attention_heads=heads,
                max_position_embeddings=positions,
                type_vocab_size=1,
                num_labels=1,
            )
        )

    return {
        "cross-encoder/mmarco-mMiniLMv2-L12-H384-v1": lambda: encoder(12, 384, 12, 514),
        "BAAI/bge-reranker-v2-m3": lambda: encoder(24, 1024, 16, 8194),
        "Qwen/Qwen3-Reranker-0.6B": lambda: Qwen3ForCausalLM(
            Qwen3Config(
                vocab_size=151_669,
                hidden_size=1024,
                intermediate_size=3072,
                num_hidden_layers=28,
                num_attention_heads=16,
                num_key_value_heads=8,
                head_dim=128,
                max_position_embeddings=40_960,
                tie_word_embeddings=True,
            )
        ),
    }


def network(model: Any, torch: Any) -> Any:
    """A model in the class that scores with it, without a tokenizer."""
    if hasattr(model, "classifier"):
        made: Any = object.__new__(CrossEncoderNetwork)
        made._two, made._as_it_is = False, False
        made._tokenizer = Padding(torch)
    else:
        made = object.__new__(Qwen3Network)
        made._yes, made._no, made._pad = 9693, 2152, 0
    made._model, made._torch = model.eval(), torch
    return made


class Padding:
    """What of a tokenizer is needed for pairs of one length."""

    def __init__(self, torch: Any) -> None:
        self._torch = torch

    def pad(self, rows: list[dict[str, list[int]]], **_: object) -> dict[str, Any]:
        """Rows as tensors."""
        return {name: self._torch.tensor([row[name] for row in rows]) for name in rows[0]}


def main(arguments: list[str]) -> None:
    """Print a table: seconds of CPU a pair, and memory, of each shape."""
    options = argparse.ArgumentParser(prog="python -m benchmarks reranker_cost")
    options.add_argument("--tokens", type=int, default=300, help="length of a pair")
    options.add_argument("--pairs", type=int, default=4, help="that are timed")
    options.add_argument("--threads", type=int, default=1)
    options.add_argument("--only", help="part of a model's name")
    chosen = options.parse_args(arguments)
    torch = import_torch(chosen.threads)
    torch.manual_seed(1)
    print(f"| shape of | parameters | CPU seconds a pair of {chosen.tokens} tokens | memory |")
    print("|---|---|---|---|")
    for name, make in shapes().items():
        if chosen.only and chosen.only not in name:
            continue
        before = psutil.Process().memory_info().rss
        scorer = network(make(), torch)
        ids = torch.randint(10, 9000, (chosen.pairs, chosen.tokens)).tolist()
        pairs = [
            Encoded({"input_ids": row, "attention_mask": [1] * len(row)}, cut=False) for row in ids
        ]
        scorer.probabilities(pairs[:1])
        started = time.process_time()
        scorer.probabilities(pairs)
        spent = (time.process_time() - started) / chosen.pairs
        grown = psutil.Process().memory_info().rss - before
        size = sum(weight.numel() for weight in scorer._model.parameters())
        print(f"| {name} | {size / 1e6:.0f} M | {spent:.2f} | {grown / 1e9:.1f} GB |", flush=True)
        del scorer


if __name__ == "__main__":
    main(sys.argv[1:])
