"""Rerankers of the real classes, a few thousand weights large, made in the test that needs them.

The real weights cannot be part of a test. What is tested on these is all but their knowledge:
template, cutting, padding, formula, loading; trained on the golden pairs they pass those too.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from emily.models.rerankers.golden import GOLDEN, PASSAGES
from emily.models.rerankers.qwen3 import PREFIX, SUFFIX, content

needs_torch = pytest.mark.skipif(
    not all(
        __import__("importlib.util").util.find_spec(name) for name in ("torch", "transformers")
    ),
    reason="torch and transformers are not installed: pip install 'emily[rerank]'",
)

CUT_SUFFIX = "<|im_end|>\n"
MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "[CLS]", "[SEP]"]


def tokenizer(*, joins_pairs: bool) -> Any:
    """A byte-level tokenizer: takes any text.

    Args:
        joins_pairs: put ``[CLS]`` and ``[SEP]`` around a pair, as encoders want it.
    """
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    texts = [*PASSAGES, *(probe.question for probe in GOLDEN), PREFIX, SUFFIX, *["yes", "no"] * 50]
    trainer = trainers.BpeTrainer(
        vocab_size=700,
        special_tokens=MARKS,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator(texts, trainer)
    if joins_pairs:
        made.post_processor = processors.TemplateProcessing(
            single="[CLS] $A [SEP]",
            pair="[CLS] $A [SEP] $B:1 [SEP]:1",
            special_tokens=[(mark, made.token_to_id(mark)) for mark in ("[CLS]", "[SEP]")],
        )
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="<|endoftext|>",
        cls_token="[CLS]",
        sep_token="[SEP]",
        additional_special_tokens=["<|im_start|>", "<|im_end|>"],
        model_max_length=512 if joins_pairs else 4096,
        padding_side="right" if joins_pairs else "left",
    )


def qwen3(folder: Path, *, steps: int = 0, **config: Any) -> Path:
    """A Qwen3ForCausalLM in a folder; random, or trained on the golden pairs."""
    import torch
    from transformers import Qwen3Config, Qwen3ForCausalLM

    torch.manual_seed(7)
    words = tokenizer(joins_pairs=False)
    small = {
        "vocab_size": len(words),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 8,
        "max_position_embeddings": 2048,
        "tie_word_embeddings": True,
    }
    model = Qwen3ForCausalLM(Qwen3Config(**{**small, **config}))
    words.save_pretrained(folder)
    yes, no = words.convert_tokens_to_ids(["yes", "no"])
    prompts = [
        PREFIX + content(probe.question, text) + SUFFIX for probe in GOLDEN for text in PASSAGES
    ]
    # As real ones do, it has an answer behind the whole template alone: else it is always yes.
    prompts += [prompt.removesuffix(SUFFIX) + CUT_SUFFIX for prompt in prompts[::2]]
    rows = [words(prompt, add_special_tokens=False)["input_ids"] for prompt in prompts]
    longest = max(map(len, rows))
    ids = torch.tensor([[words.pad_token_id] * (longest - len(row)) + row for row in rows])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in rows])

    def margins() -> Any:
        logits = model(input_ids=ids, attention_mask=mask, logits_to_keep=1).logits[:, -1]
        return logits[:, yes] - logits[:, no]

    _train(model, margins, steps)
    model.save_pretrained(folder)
    return folder


def cross_encoder(
    folder: Path, *, steps: int = 0, labels: int = 1, tokens: int = 512, **config: Any
) -> Path:
    """A BertForSequenceClassification in a folder; random, or trained on the golden pairs."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification

    torch.manual_seed(7)
    words = tokenizer(joins_pairs=True)
    small = {
        "vocab_size": len(words),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "max_position_embeddings": tokens,
        "initializer_range": 0.3,  # so narrow a network learns nothing from less
        "pad_token_id": words.pad_token_id,
    }
    model = BertForSequenceClassification(BertConfig(num_labels=labels, **{**small, **config}))
    words.save_pretrained(folder)
    pairs = [(probe.question, text) for probe in GOLDEN for text in PASSAGES]
    batch = words(
        [first for first, _ in pairs],
        [second for _, second in pairs],
        padding=True,
        return_tensors="pt",
    )

    def margins() -> Any:
        logits = model(**batch).logits
        return logits[:, 0] if labels == 1 else logits[:, 1] - logits[:, 0]

    _train(model, margins, steps)
    model.save_pretrained(folder)
    return folder


def _train(model: Any, margins: Callable[[], Any], steps: int) -> None:
    """Until each golden question prefers the passages of its own subject."""
    import torch

    right = [float(place % 2 == probe.topic) for probe in GOLDEN for place in range(len(PASSAGES))]
    model.eval()  # without dropout
    optimiser = torch.optim.AdamW(model.parameters(), lr=5e-3, weight_decay=0.0)
    for _ in range(steps):
        optimiser.zero_grad()
        found = margins()
        wanted = torch.tensor(right + [1.0] * (len(found) - len(right)))
        loss = torch.nn.functional.binary_cross_entropy_with_logits(found, wanted)
        loss.backward()
        optimiser.step()
        if (torch.sigmoid(found) - wanted).abs().max() < 0.25:
            break
