"""An embedder of an Ollama server (``/api/embed``)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from emily.errors import ModelUnavailable
from emily.models.embedding_server import EmbeddingServer, as_vectors
from emily.models.encoding import Encoded
from emily.models.profiles import bare_name

__all__ = ["DEFAULT_URL", "OllamaEncoder", "known_faults"]

DEFAULT_URL = "http://127.0.0.1:11434"
_KEPT_MINUTES = 15.0  # loading a model takes longer than a question


class OllamaEncoder(EmbeddingServer):
    """Runs a model of an Ollama server; arguments as in ``EmbeddingServer``.

    ``truncate`` is switched off and the context asked for, so that a text that is too long is
    refused and not cut; servers that ignore both are found out by ``emily.models.backed``. The
    model stays loaded for ``minutes`` after its last use.
    """

    def __init__(
        self,
        url: str,
        model: str,
        *,
        context: int | None = None,
        minutes: float = _KEPT_MINUTES,
        **values: Any,
    ) -> None:
        super().__init__(url, model, **values)
        self._context = context
        self._minutes = minutes

    def encode(self, texts: Sequence[str], *, patient: bool) -> Encoded:
        """Raw vectors; see ``emily.models.encoding.TextEncoder``."""
        body: dict[str, Any] = {
            "model": self.model,
            "input": list(texts),
            "truncate": False,
            "keep_alive": f"{self._minutes:g}m",
        }
        if self._context is not None:
            body["options"] = {"num_ctx": self._context}
        answer = self.post("/api/embed", body, patient=patient)
        if not isinstance(answer, dict) or "embeddings" not in answer:
            raise ModelUnavailable(
                f"The answer of the embedder {self.name} cannot be understood: it has no embeddings"
            )
        counted = answer.get("prompt_eval_count")
        return Encoded(
            as_vectors(answer["embeddings"], self.name),
            counted if isinstance(counted, int) and counted > 0 else None,
        )

    def models(self) -> dict[str, str]:
        """Names of the server's models that embed, with their digests.

        Raises:
            ModelUnavailable: it cannot be reached.
        """
        answer = self.get("/api/tags")
        listed = answer.get("models", []) if isinstance(answer, dict) else []
        return {
            str(item["name"]): str(item.get("digest", ""))[:12]
            for item in listed
            if isinstance(item, dict) and "name" in item and _embeds(item)
        }

    def version(self) -> str:
        """The server's version.

        Raises:
            ModelUnavailable: it cannot be reached.
        """
        answer = self.get("/api/version")
        return str(answer.get("version", "?")) if isinstance(answer, dict) else "?"

    def describe(self) -> str:
        """Version and known faults."""
        version = self.version()
        faults = known_faults(version, self.model)
        said = "".join(f". Known fault: {fault}" for fault in faults)
        return f"{self.name}, Ollama {version}{said}"

    def memory(self) -> int | None:
        """Bytes that the model takes in the server, while it is loaded."""
        try:
            answer = self.get("/api/ps")
        except ModelUnavailable:
            return None
        listed = answer.get("models", []) if isinstance(answer, dict) else []
        sizes = [
            item["size"]
            for item in listed
            if isinstance(item, dict)
            and bare_name(str(item.get("name"))) == bare_name(self.model)
            and isinstance(item.get("size"), int)
        ]
        return sizes[0] if sizes else None

    def missing(self, detail: str) -> ModelUnavailable:
        """Ollama answers 404 for a model that was not fetched."""
        return ModelUnavailable(
            f"Ollama does not have the model {self.name} ({detail}). "
            f"Get it with: ollama pull {self.model}"
        )


@dataclass(frozen=True, slots=True)
class _Fault:
    """A fault of some versions, as it was reported to its makers.

    Attributes:
        first: the version it was first seen with.
        last: the last it was seen with; ``None`` where no version is known to be free of it.
        models: the models it concerns; empty for all.
        text: what happens and what helps.
    """

    first: tuple[int, ...]
    last: tuple[int, ...] | None
    models: tuple[str, ...]
    text: str


_FAULTS = (
    _Fault(
        (0, 12, 9),
        None,
        ("bge-m3",),
        "bge-m3 returns NaN for some texts on a GPU (reported from 0.12.9 to 0.23.0, "
        "ollama#14657, #15582); those passages are found by words only. On the CPU it does not: "
        "PARAMETER num_gpu 0 in a Modelfile",
    ),
    _Fault(
        (0, 12, 0),
        None,
        ("qwen3-embedding:8b-fp16",),
        "qwen3-embedding:8b-fp16 returns NaN for some texts (ollama#12921); take q8_0",
    ),
    _Fault(
        (0, 1, 32),
        (0, 1, 42),
        (),
        "vectors of versions 0.1.32 to 0.1.42 are wrong (ollama#3777, #4275); update Ollama",
    ),
    _Fault(
        (0, 4, 0),
        (0, 5, 4),
        (),
        "num_ctx is not applied to embeddings: no more than 2,048 tokens are read (ollama#7741); "
        "update Ollama",
    ),
    _Fault(
        (0, 13, 5),
        None,
        (),
        "the option truncate is ignored (ollama#14186): a text that is too long is refused, and "
        "Emily embeds it in pieces",
    ),
)


def known_faults(version: str, model: str) -> list[str]:
    """What is known to be wrong with a version and a model."""
    seen = _numbers(version)
    if seen is None:
        return []
    names = {bare_name(model), bare_name(model).partition(":")[0]}
    return [
        fault.text
        for fault in _FAULTS
        if fault.first <= seen
        and (fault.last is None or seen <= fault.last)
        and (not fault.models or names & set(fault.models))
    ]


def _numbers(version: str) -> tuple[int, ...] | None:
    found = re.match(r"v?(\d+)\.(\d+)\.(\d+)", version)
    return None if found is None else tuple(int(part) for part in found.groups())


def _embeds(item: dict[str, Any]) -> bool:
    """Whether a listed model is one of sentences: by its family, else by its name."""
    name = str(item["name"]).lower()
    families = (item.get("details") or {}).get("families") or []
    return any("bert" in str(family) for family in families) or any(
        word in name for word in ("embed", "bge", "e5", "minilm", "paraphrase")
    )
