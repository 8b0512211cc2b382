"""A place for files in between: attachments on their way to become documents, parsers' scratch."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import psutil

__all__ = ["Spool"]


class Spool:
    """Hands out empty folders, open to the owner alone.

    With the first one, what processes left that were killed is cleared away.

    Args:
        root: the folder that holds them; made when it is needed.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self._swept = False

    def folder(self) -> Path:
        """A new empty folder.

        Raises:
            OSError: it cannot be made.
        """
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not self._swept:
            self._sweep()
            self._swept = True
        return Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=self.root))

    def _sweep(self) -> None:
        for folder in self.root.iterdir():
            owner = folder.name.partition("-")[0]
            if owner.isdigit() and not psutil.pid_exists(int(owner)):
                shutil.rmtree(folder, ignore_errors=True)
