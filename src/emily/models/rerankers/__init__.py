"""Cross-encoders, which an owner may set beside the built-in second stage.

None comes with the install: the smallest one that reads Italian and English is larger than all
the rest of Emily. Torch is imported when such a model is first loaded, and not before.
"""

from __future__ import annotations

from typing import Any

from emily.models.protocols import Reranker
from emily.settings import Settings

__all__ = ["DEFAULT_MODELS", "reranker_of"]

DEFAULT_MODELS = {
    "qwen3": "Qwen/Qwen3-Reranker-0.6B",
    "cross-encoder": "cross-encoder/mmarco-mMiniLMv2-L12-H384-v1",
}
"""What is asked for where the setting ``reranker_model`` is left alone. Both read Italian and
English, lie on the hub as safetensors and have the licence Apache-2.0; what they cost stands in
docs/models.md."""


def reranker_of(settings: Settings) -> Reranker | None:
    """The reranker of the settings, not loaded yet; ``None`` for ``none``."""
    kind = settings.reranker
    if kind == "none":
        return None
    if kind == "http":
        from emily.models.rerankers.server import ServerReranker

        key = settings.reranker_key
        return ServerReranker(
            settings.reranker_url,
            api=settings.reranker_api,
            model=settings.reranker_model,
            scale=settings.reranker_scores,
            tokens=settings.reranker_tokens,
            seconds=settings.reranker_seconds,
            allowed=settings.allowed_servers,
            key=None if key is None else key.get_secret_value(),
        )
    from emily.models.rerankers.cross_encoder import CrossEncoderReranker
    from emily.models.rerankers.qwen3 import Qwen3Reranker

    values: dict[str, Any] = {
        "tokens": settings.reranker_tokens,
        "seconds": settings.reranker_seconds,
        "threads": settings.threads,
        "download": settings.reranker_download,
        "idle_seconds": settings.reranker_minutes * 60.0,
    }
    model = settings.reranker_model or DEFAULT_MODELS[kind]
    if kind == "qwen3":
        return Qwen3Reranker(model, **values)
    return CrossEncoderReranker(model, scale=settings.reranker_scores, **values)
