"""Models behind one protocol per role; one module per backend."""

from emily.models.protocols import (
    ChatAnswer,
    ChatModel,
    Embedder,
    Judgement,
    ModelIdentity,
    Reranker,
    VisionModel,
)
from emily.models.use import UseEmbedder

__all__ = [
    "ChatAnswer",
    "ChatModel",
    "Embedder",
    "Judgement",
    "ModelIdentity",
    "Reranker",
    "UseEmbedder",
    "VisionModel",
]
