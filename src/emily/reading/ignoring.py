"""``.emilyignore``: what of a folder is not read, in the syntax of ``.gitignore``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

__all__ = ["IGNORE_FILE", "IgnoreFile", "ignored_by"]

IGNORE_FILE = ".emilyignore"


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """One such file; it counts for its folder and those below."""

    path: Path
    rules: GitIgnoreSpec

    @classmethod
    def read(cls, path: Path) -> Self:
        """Read one.

        Raises:
            OSError: it cannot be read.
            ValueError: a line is no pattern.
        """
        from pathspec import GitIgnoreSpec  # few folders have one

        text = path.read_text(encoding="utf-8-sig", errors="surrogateescape")
        try:
            return cls(path, GitIgnoreSpec.from_lines(text.splitlines()))
        except Exception as error:
            raise ValueError(str(error)) from error

    def verdict(self, path: Path, *, is_folder: bool) -> bool | None:
        """Whether a path below its folder is ignored; ``None`` where it says nothing."""
        relative = path.relative_to(self.path.parent).as_posix() + ("/" if is_folder else "")
        return self.rules.check_file(relative).include


def ignored_by(files: Sequence[IgnoreFile], path: Path, *, is_folder: bool) -> Path | None:
    """The file by which a path is ignored, if it is: the nearest that says something decides.

    Args:
        files: those of the folders around the path, the outermost first.
        path: to be judged.
        is_folder: what it is.
    """
    for file in reversed(files):
        verdict = file.verdict(path, is_folder=is_folder)
        if verdict is not None:
            return file.path if verdict else None
    return None
