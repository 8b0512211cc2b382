"""Pictures inside documents: read once, and set apart from the text around them."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

from PIL import UnidentifiedImageError

from emily.errors import LimitExceeded, ReadingError
from emily.reading.ocr.image import recognised
from emily.reading.ocr.raster import BROKEN, bound, flatten, opened
from emily.reading.pages import PictureReading

if TYPE_CHECKING:
    from emily.reading.source import Source

__all__ = ["UNREAD", "Pictures"]

_MOST_BYTES = 64 << 20
_END = "[/picture]"
UNREAD = "[picture, not read]"
"""The line that stands in place of a picture that could not be read."""

_HEADS = {
    "ocr": "[picture, read by OCR]",
    "vision": "[picture, described by a model]",
    "unread": UNREAD,
}


class Pictures:
    """The pictures of one file. A picture is known by the SHA-256 of its bytes.

    Attributes:
        readings: the pictures met so far, each once, in order.
        known: asks whether the archive holds a picture already; ``None`` if it does not.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._by_page: dict[int, int] = {}
        self._seen: dict[bytes, PictureReading | None] = {}
        self._problems: dict[bytes, str] = {}
        self.known: Callable[[bytes], PictureReading | None] = lambda _: None

    @property
    def readings(self) -> tuple[PictureReading, ...]:
        """The pictures met so far, each once, in order."""
        return tuple(reading for reading in self._seen.values() if reading is not None)

    @property
    def warnings(self) -> list[str]:
        """Which pictures were not read, or doubtfully, and why: a sentence for each sort."""
        unread = {found.sha256 for found in self.readings if found.route == "unread"}
        doubtful = {found.sha256 for found in self.readings if found.route == "ocr"}
        return [
            f"{self._counted(digests)} {what}: {'; '.join(reasons)}."
            for digests, what in (
                (unread & self._problems.keys(), "not read"),
                (doubtful & self._problems.keys(), "read by OCR alone, or with doubt"),
            )
            if (reasons := self._reasons(digests))
        ]

    @staticmethod
    def _counted(digests: Collection[bytes]) -> str:
        return "1 picture is" if len(digests) == 1 else f"{len(digests):,} pictures are"

    def _reasons(self, digests: Collection[bytes]) -> list[str]:
        """The commonest reasons first, at most three."""
        counted = Counter(self._problems[digest] for digest in sorted(digests))
        return [reason for reason, _ in counted.most_common(3)]

    def on_page(self, page: int) -> int:
        """How many pictures stand on a page, too small ones left out."""
        return self._by_page.get(page, 0)

    def block(self, data: bytes, page: int) -> list[str]:
        """Read a picture.

        Args:
            data: the picture's file.
            page: number of the page that it stands on.

        Returns:
            The lines that stand in its place: what was read, between marks that say by which
            route. None for a picture that is too small, holds nothing to read, or stood in this
            document before.
        """
        digest = hashlib.sha256(data).digest()
        if digest in self._seen:
            if self._seen[digest] is not None:
                self._by_page[page] = self.on_page(page) + 1
            return []
        reading = self.known(digest)
        if reading is None:
            reading = self._read(data, digest, page)
        else:
            reading = PictureReading(digest, page, reading.route, reading.text, reading.confidence)
        self._seen[digest] = reading
        if reading is None:
            return []
        self._by_page[page] = self.on_page(page) + 1
        if reading.route == "blank":
            return []
        lines = reading.text.split("\n") if reading.text else []
        return [_HEADS[reading.route], *lines, _END] if lines else [_HEADS[reading.route]]

    def missed(self, digest: bytes, page: int, reason: str) -> list[str]:
        """Note a picture whose file cannot be had.

        Args:
            digest: what it is known by, 32 bytes.
            page: number of the page that it stands on.
            reason: why it is not read, as the end of a sentence.

        Returns:
            The line that stands in its place; none if it stood in this document before.
        """
        known = digest in self._seen
        self._by_page[page] = self.on_page(page) + 1
        if known:
            return []
        self._problems[digest] = reason
        self._seen[digest] = PictureReading(digest, page, "unread")
        return [UNREAD]

    def _read(self, data: bytes, digest: bytes, page: int) -> PictureReading | None:
        """Read a picture that is new; ``None`` for one that is too small to tell anything."""
        if len(data) > _MOST_BYTES:
            self._problems[digest] = f"its file has more than {_MOST_BYTES >> 20} MiB"
            return PictureReading(digest, page, "unread")
        try:
            with opened(io.BytesIO(data)) as image:
                if min(image.size) < self._source.slow.side:
                    return None
                bound(image)
                upright = flatten(image)
        except LimitExceeded as error:
            self._problems[digest] = str(error)
            return PictureReading(digest, page, "unread")
        except (UnidentifiedImageError, ReadingError, *BROKEN):  # EMF and WMF among them
            self._problems[digest] = "it is broken, or of a kind that is not read"
            return PictureReading(digest, page, "unread")
        found = recognised(upright, self._source)
        route = "blank" if found.route == "ocr" and not found.text.strip() else found.route
        if found.problem is not None:
            self._problems[digest] = found.problem.removeprefix("it is scanned and ")
        return PictureReading(digest, page, route, found.text.strip(), found.confidence)
