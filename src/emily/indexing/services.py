"""What the reading room may ask for while it reads: known pictures, and a vision model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emily.errors import ModelError, ReadingError
from emily.indexing.archive import Archive
from emily.reading.pages import PictureReading

if TYPE_CHECKING:
    from emily.models.protocols import VisionModel

__all__ = ["ReadingServices"]


class ReadingServices:
    """Answers a reader's questions (``emily.reading.process.Services``).

    Args:
        vision: reads what OCR cannot; ``None`` where none is configured.
        archive: that may hold a picture already; ``None`` for a file that is not added.
    """

    def __init__(self, vision: VisionModel | None, archive: Archive | None = None) -> None:
        self._vision = vision
        self._archive = archive

    @property
    def sees(self) -> bool:
        """Whether there is a vision model."""
        return self._vision is not None

    async def known(self, sha256: bytes) -> PictureReading | None:
        """What the archive holds of a picture."""
        return None if self._archive is None else await self._archive.picture(sha256)

    async def see(self, image: bytes) -> str:
        """What the vision model reads in a picture.

        Raises:
            ReadingError: it failed, or there is none.
        """
        if self._vision is None:
            raise ReadingError("no vision model is configured (setting vision)")
        try:
            return await self._vision.read(image)
        except ModelError as error:
            raise ReadingError(str(error)) from None
