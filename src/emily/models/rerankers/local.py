"""Rerankers that run in this process, through torch and transformers."""

from __future__ import annotations

import asyncio
import os
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from emily.errors import ModelError, ModelUnavailable, QuestionTooLong
from emily.models.protocols import Judgement
from emily.models.rerankers.golden import GOLDEN, PASSAGES, verdict
from emily.models.rerankers.judging import by_probability
from emily.models.residency import IDLE_SECONDS, Resident, off_the_loop

__all__ = ["Encoded", "LocalReranker", "Network", "batches", "import_torch", "model_folder"]

T = TypeVar("T")

_EXTRA = "pip install 'emily[rerank]'"
_FILES = ["*.json", "*.safetensors", "*.txt", "*.model", "*.jinja"]

# Padding is work that nobody needs: pairs of like length go together, at most so many at once,
# and a batch is the longest that a reranker goes on after its time is up.
_BATCH_PAIRS, _BATCH_TOKENS = 8, 4096


@dataclass(frozen=True, slots=True)
class Encoded:
    """A question and a passage as a network takes them.

    Attributes:
        tokens: ids by the name of the network's input, all of one length.
        cut: whether the passage's end was left out.
    """

    tokens: dict[str, list[int]]
    cut: bool

    def __len__(self) -> int:
        return len(self.tokens["input_ids"])


class Network(ABC):
    """A loaded model with its tokenizer."""

    @abstractmethod
    def encode(self, query: str, passage: str) -> Encoded:
        """A pair of at most the allowed length, the passage's end cut where it must be.

        Raises:
            QuestionTooLong: the question leaves no room.
        """

    @abstractmethod
    def probabilities(self, batch: Sequence[Encoded]) -> list[float]:
        """Probability of each pair, computed in one go."""


class LocalReranker(ABC):
    """What the backends in this process have in common.

    Args:
        model: folder of the model, or its name on the Hugging Face hub.
        tokens: longest pair; the passage of a longer one is cut.
        seconds: longest time for one question, loading included.
        threads: CPU threads that the network may use.
        download: fetch the model if it is not on this machine.
        idle_seconds: after the last use its memory is given back.
        clock: seconds from any point on, for idleness.
    """

    def __init__(
        self,
        model: str,
        *,
        tokens: int,
        seconds: float,
        threads: int = 2,
        download: bool = False,
        idle_seconds: float = IDLE_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._model = model
        self._tokens = tokens
        self._seconds = seconds
        self._threads = threads
        self._download = download
        self._warnings: tuple[str, ...] = ()
        self.resident: Resident[Network] = Resident(
            self._loaded, idle_seconds=idle_seconds, clock=clock
        )

    @property
    def name(self) -> str:
        """The model's name, or that of its folder."""
        return Path(self._model).name if _is_path(self._model) else self._model

    @property
    def warnings(self) -> tuple[str, ...]:
        """What the golden pairs showed that it cannot do."""
        return self._warnings

    async def prepare(self) -> None:
        """Load the model; see ``emily.models.protocols.Reranker``."""
        await self._in_time(lambda deadline: self._use(deadline, lambda _: None))

    async def rank(self, query: str, passages: Sequence[str]) -> Judgement:
        """Judge passages; see ``emily.models.protocols.Reranker``."""
        return await self._in_time(
            lambda deadline: self._use(
                deadline, lambda network: self._judge(network, query, passages, deadline)
            )
        )

    def close(self) -> None:
        """Give back the memory."""
        self.resident.close()

    @abstractmethod
    def _open(self, folder: Path, tokens: int) -> Network:
        """Load the network; may raise whatever its library raises."""

    async def _in_time(self, work: Callable[[float], T]) -> T:
        deadline = time.monotonic() + self._seconds
        try:
            async with asyncio.timeout(self._seconds):
                return await off_the_loop(lambda: work(deadline))
        except TimeoutError:
            raise ModelError(
                f"the reranker {self.name} took more than {self._seconds:g} s "
                "(setting reranker_seconds)"
            ) from None

    def _use(self, deadline: float, work: Callable[[Network], T]) -> T:
        with self.resident.use(deadline - time.monotonic()) as network:
            return work(network)

    def _loaded(self) -> Network:
        """The network, once it has passed the golden pairs."""
        try:
            import_torch(self._threads)
            network = self._open(model_folder(self._model, self._download), self._tokens)
        except ModelError:
            raise
        except Exception as error:  # noqa: BLE001 - whatever a broken model makes a library raise
            raise ModelUnavailable(
                f"The reranker {self.name} cannot be loaded ({type(error).__name__}): "
                f"{_first_line(error)}"
            ) from None
        try:
            judged = [
                self._judge(network, probe.question, PASSAGES, float("inf")) for probe in GOLDEN
            ]
        except QuestionTooLong as error:
            raise ModelUnavailable(f"The reranker {self.name} is too short: {error}") from None
        self._warnings = verdict(self.name, judged)
        return network

    def _judge(
        self, network: Network, query: str, passages: Sequence[str], deadline: float
    ) -> Judgement:
        try:
            pairs = [network.encode(_storable(query), _storable(text)) for text in passages]
            scores = [0.0] * len(pairs)
            for places in batches([len(pair) for pair in pairs]):
                if time.monotonic() > deadline:
                    raise TimeoutError
                found = network.probabilities([pairs[place] for place in places])
                for place, score in zip(places, found, strict=True):
                    scores[place] = score
        except (TimeoutError, QuestionTooLong):
            raise
        except Exception as error:  # noqa: BLE001 - as above
            raise ModelError(
                f"the reranker {self.name} failed ({type(error).__name__}): {_first_line(error)}"
            ) from None
        cut = sum(pair.cut for pair in pairs)
        return by_probability(self.name, scores, len(passages), cut)


def batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Places of pairs to compute together, short ones first.

    Args:
        lengths: tokens of each pair.
    """
    batch: list[int] = []
    for place in sorted(range(len(lengths)), key=lambda item: lengths[item]):
        full = len(batch) == _BATCH_PAIRS or (len(batch) + 1) * lengths[place] > _BATCH_TOKENS
        if batch and full:
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


def import_torch(threads: int) -> Any:
    """Torch, held to some CPU threads; transformers is there as well.

    Raises:
        ModelUnavailable: one of them is not installed.
    """
    # Its tokenizers would warn of every worker process that is forked after they used threads.
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    try:
        import torch
        import transformers
    except ImportError as error:
        raise ModelUnavailable(
            f"A reranker in this process needs torch and transformers ({error}). "
            f"Install them: {_EXTRA}"
        ) from None
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(threads)
    return torch


def model_folder(model: str, download: bool) -> Path:
    """Where a model's files lie on this machine.

    Only safetensors are taken: other weights are programs, which run when they are opened.

    Args:
        model: a folder, or a name on the hub.
        download: fetch a name that is not in the hub's cache.

    Raises:
        ModelUnavailable: it is not here.
    """
    if _is_path(model):
        folder = Path(model).expanduser()
        if not folder.is_dir():
            raise ModelUnavailable(
                f"The reranker's folder {model} is not there (setting reranker_model)."
            )
        return folder
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(model, local_files_only=not download, allow_patterns=_FILES))
    except Exception as error:  # noqa: BLE001 - its own errors, and those of two HTTP libraries
        if download:
            raise ModelUnavailable(
                f"The reranker {model} cannot be downloaded: {_first_line(error)}"
            ) from None
        raise ModelUnavailable(
            f"The reranker {model} is not on this machine. Put its files into a folder and name "
            "that in the setting reranker_model, or have it fetched: reranker_download = true"
        ) from None


def _is_path(model: str) -> bool:
    return model.startswith(("/", ".", "~")) or Path(model).is_dir()


def _storable(text: str) -> str:
    """Without halves of surrogate pairs, which no tokenizer takes."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:300] if lines else "no reason given"
