"""An embedder in this process: a model of sentence-transformers out of a local folder."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from emily.errors import ModelUnavailable
from emily.models.encoding import Encoded, TextTooLong

__all__ = ["SentenceTransformerEncoder", "folder_name"]

_INSTALL = "pip install 'emily[sentence-transformers]'"


class SentenceTransformerEncoder:
    """Runs a model of sentence-transformers; loads it at its first use, once.

    Args:
        folder: holds the model; nothing is fetched from anywhere.
        threads: CPU threads that it may use.
    """

    def __init__(self, folder: Path, *, threads: int = 2) -> None:
        self._folder = folder.expanduser()
        self._threads = threads
        self._lock = threading.Lock()
        self._model: Any = None

    @property
    def name(self) -> str:
        """The folder's name and place."""
        return f"{self._folder.name} in {self._folder.parent}"

    def encode(self, texts: Sequence[str], *, patient: bool) -> Encoded:  # noqa: ARG002
        """Raw vectors; a text over the model's window is refused and never cut in silence."""
        with self._lock:  # the library is not safe to call from several threads
            model = self._loaded()
            sizes = [len(ids) for ids in model.tokenizer(list(texts), verbose=False)["input_ids"]]
            longest = model.max_seq_length
            if longest is not None and max(sizes) > longest:
                raise TextTooLong(f"{max(sizes)} tokens, and the model reads {longest}")
            vectors = model.encode(
                list(texts), convert_to_numpy=True, show_progress_bar=False, batch_size=len(texts)
            )
        return Encoded(np.asarray(vectors, np.float32), sum(sizes))

    def dimension(self) -> int:
        """Dimension of its vectors; loads the model."""
        with self._lock:
            model = self._loaded()
            # The name of this method differs between versions of the library.
            ask = getattr(model, "get_embedding_dimension", None) or (
                model.get_sentence_embedding_dimension
            )
            return int(ask())

    def describe(self) -> str:
        """Version of the library, and the window of the model."""
        from importlib.metadata import version

        with self._lock:
            longest = self._loaded().max_seq_length
        return (
            f"{self.name}, sentence-transformers {version('sentence-transformers')}, "
            f"reads {longest} tokens"
        )

    def memory(self) -> int | None:
        """Nothing: it runs in this process."""
        return None

    def close(self) -> None:
        """Release the model; the next use loads it again."""
        with self._lock:
            self._model = None

    def _loaded(self) -> Any:
        if self._model is None:
            if not (self._folder / "config.json").is_file():
                raise ModelUnavailable(
                    f"The folder {self._folder} holds no model of sentence-transformers "
                    "(no config.json). Set embedder_model to the folder of one."
                )
            try:
                import torch
                from sentence_transformers import SentenceTransformer
                from transformers.utils.logging import disable_progress_bar
            except ImportError as error:
                raise ModelUnavailable(
                    f"sentence-transformers is not installed ({error}). Install it with: {_INSTALL}"
                ) from None
            try:
                torch.set_num_threads(self._threads)
                disable_progress_bar()
                self._model = SentenceTransformer(
                    str(self._folder), device="cpu", local_files_only=True, trust_remote_code=False
                )
            except Exception as error:  # noqa: BLE001 - the library raises what its parts raise
                raise ModelUnavailable(
                    f"The model in {self._folder} cannot be loaded: {error}"
                ) from None
        return self._model


def folder_name(folder: Path) -> str:
    """The name of a model in a folder: the folder's own, marked by what lies in it.

    Two folders of one name are two models; the mark is of the names and sizes of the files and
    of the configuration, so that naming a model reads no weights.
    """
    folder = folder.expanduser()
    digest = hashlib.sha256()
    if folder.is_dir():
        for path in sorted(folder.rglob("*")):
            if path.is_file() and path.suffix in (".json", ".safetensors", ".bin", ".txt"):
                digest.update(f"{path.relative_to(folder)} {path.stat().st_size}\n".encode())
        config = folder / "config.json"
        digest.update(config.read_bytes() if config.is_file() else b"")
    return f"{folder.name}@{digest.hexdigest()[:8]}"
