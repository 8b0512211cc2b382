"""An embedder of a server that speaks as OpenAI's does (``/v1/embeddings``).

llama.cpp, vLLM, text-embeddings-inference, LM Studio and many others do.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from emily.errors import ModelUnavailable
from emily.models.embedding_server import EmbeddingServer, as_vectors
from emily.models.encoding import Encoded

__all__ = ["OpenAiEncoder"]


class OpenAiEncoder(EmbeddingServer):
    """Runs a model of such a server; arguments as in ``EmbeddingServer``."""

    def encode(self, texts: Sequence[str], *, patient: bool) -> Encoded:
        """Raw vectors, put in the order of the texts by their ``index``."""
        body = {"model": self.model, "input": list(texts), "encoding_format": "float"}
        answer = self.post(f"{self._base}/embeddings", body, patient=patient)
        try:
            items = answer["data"]
            rows = [item["embedding"] for item in items]
            places = [item.get("index", place) for place, item in enumerate(items)]
            usage = answer.get("usage") or {}
            counted = usage.get("prompt_tokens")
        except (TypeError, KeyError, AttributeError) as error:
            raise ModelUnavailable(
                f"The answer of the embedder {self.name} cannot be understood: {error!r}"
            ) from None
        if len(rows) == len(texts) and sorted(map(str, places)) != sorted(
            map(str, range(len(texts)))
        ):
            raise ModelUnavailable(
                f"The embedder {self.name} numbers the vectors of {len(texts)} texts as "
                f"{places[:20]}. Nothing of it was used."
            )
        vectors = as_vectors(rows, self.name)
        if len(rows) == len(texts):
            vectors = vectors[np.argsort(np.array(places, dtype=np.int64))]
        return Encoded(vectors, counted if isinstance(counted, int) and counted > 0 else None)

    def models(self) -> dict[str, str]:
        """Names of the models that the server lists; it does not say which of them embed.

        Raises:
            ModelUnavailable: it cannot be reached.
        """
        answer = self.get(f"{self._base}/models")
        listed = answer.get("data", []) if isinstance(answer, dict) else []
        return {str(item["id"]): "" for item in listed if isinstance(item, dict) and "id" in item}

    def describe(self) -> str:
        """Whether it is there."""
        self.models()
        return f"{self.name}, OpenAI-compatible"

    @property
    def _base(self) -> str:
        return "" if self.url.endswith("/v1") else "/v1"
