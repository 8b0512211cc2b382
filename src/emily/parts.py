"""The parts that the settings name: embedder, reader of files, vision model; made, not loaded."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from emily.errors import EmilyError
from emily.indexing.language import LanguageDetector
from emily.models import ChatModel, Embedder, Reranker, VisionModel
from emily.settings import Settings

if TYPE_CHECKING:
    from emily.reading.reader import Reader

__all__ = [
    "make_chat",
    "make_embedder",
    "make_reader",
    "make_vision",
    "reading_engine",
    "warm_up",
    "warm_up_reranker",
]


def make_embedder(settings: Settings) -> Embedder:
    """The embedder of documents and questions.

    Raises:
        SettingError: the settings name one that cannot be.
    """
    from emily.models.choosing import embedder_of

    return embedder_of(settings)


def make_reader(settings: Settings) -> Reader:
    """The reader of files, with its limits; its worker starts at the first file."""
    from emily.reading.limits import SlowWork
    from emily.reading.reader import Reader

    return Reader(
        spool=settings.home / "spool",
        seconds=settings.reading_seconds,
        memory_mb=settings.reading_memory_mb,
        file_mb=settings.reading_file_mb,
        ocr=settings.ocr,
        ocr_engine=settings.ocr_engine,
        threads=settings.threads,
        languages=settings.languages,
        slow=SlowWork(settings.vision_calls, settings.scanned_pages, settings.picture_side),
    )


def reading_engine(settings: Settings) -> str:
    """What pictures are read by; a picture that another one read is read again."""
    ocr = settings.ocr_engine if settings.ocr else "none"
    vision = settings.vision if settings.vision == "none" else settings.vision_model
    return f"{ocr};{vision}"


def make_vision(settings: Settings) -> VisionModel | None:
    """The vision model, if there is one.

    Raises:
        SettingError: its server is not one that the owner consented to.
    """
    from emily.models.vision import vision_model

    return vision_model(
        settings.vision,
        settings.vision_url,
        settings.vision_model,
        seconds=settings.vision_seconds,
        tokens=settings.vision_tokens,
        allowed=settings.allowed_servers,
        key=None if settings.vision_key is None else settings.vision_key.get_secret_value(),
    )


def make_chat(settings: Settings) -> ChatModel | None:
    """The chat model, if there is one; its server is not asked yet."""
    if settings.chat == "none":
        return None
    from emily.models.chat import chat_model

    return chat_model(
        settings.chat,
        settings.chat_url,
        settings.chat_model,
        context=settings.chat_context,
        seconds=settings.chat_seconds,
        allowed=settings.allowed_servers,
        key=None if settings.chat_key is None else settings.chat_key.get_secret_value(),
        minutes=settings.chat_minutes,
    )


def warm_up(model: Embedder, languages: LanguageDetector) -> None:
    """Load the models ahead of use; whoever uses one gets its error, if there is one."""
    with suppress(EmilyError):
        languages.load()
        model.embed_queries(["."])


async def warm_up_reranker(reranker: Reranker) -> None:
    """Load a cross-encoder ahead of use; the search that needs it gets its error."""
    with suppress(EmilyError):
        await reranker.prepare()
