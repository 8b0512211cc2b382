"""Models behind one protocol per role; one module per backend."""

from emily.models.protocols import Embedder, Judgement, ModelIdentity, Reranker, VisionModel
from emily.models.use import UseEmbedder

__all__ = ["Embedder", "Judgement", "ModelIdentity", "Reranker", "UseEmbedder", "VisionModel"]
