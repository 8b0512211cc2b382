"""Opening a place of a file in the owner's editor: a list of arguments, never a shell's string."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath
from urllib.parse import quote

from emily.errors import InputError

__all__ = ["OBSIDIAN", "editor_command", "parse_place"]

OBSIDIAN = "obsidian"
"""Value of the setting ``editor`` that opens notes in Obsidian, which knows no lines."""

_PLUS = frozenset(
    "vi vim nvim view gvim nano emacs emacsclient micro kak joe ne mg jed".split()  # noqa: SIM905
)
_GOTO = frozenset(["code", "code-insiders", "codium", "vscodium", "cursor", "windsurf"])
_COLON = frozenset(["subl", "zed", "zeditor", "hx", "helix", "mate", "lapce"])
_KATE = frozenset(["kate", "kwrite", "gedit"])


def parse_place(given: str) -> tuple[str, int | None]:
    """A path and a line, as answers cite them: ``notes/ferry.md:12``.

    A file whose own name ends like that is meant where it is there.
    """
    path, colon, line = given.rpartition(":")
    if colon and path and line.isascii() and line.isdigit() and not Path(given).exists():
        return path, max(1, int(line))
    return given, None


def editor_command(
    path: Path,
    line: int | None,
    *,
    chosen: str,
    environment: Mapping[str, str],
    which: Callable[[str], str | None],
    platform: str = sys.platform,
) -> list[str]:
    """The program to start, with its arguments.

    Args:
        path: of the file, absolute.
        line: to go to.
        chosen: the setting ``editor``: a command, ``obsidian``, or empty.
        environment: ``VISUAL`` and ``EDITOR`` come after the setting.
        which: finds a program.
        platform: as ``sys.platform`` names it.

    Raises:
        InputError: no editor is set or found, or the one that is set is not there.
    """
    opener = {"darwin": ["open"], "win32": ["explorer"]}.get(platform, ["xdg-open"])
    if chosen.strip() == OBSIDIAN:
        return [*opener, f"obsidian://open?path={quote(str(path), safe='')}"]
    command = chosen.strip() or environment.get("VISUAL", "").strip()
    command = command or environment.get("EDITOR", "").strip()
    if not command:
        command = "code" if which("code") else ""
    if not command:
        if which(opener[0]) is None:
            raise InputError(
                'No editor is set. Name one by the line editor = "code -g" in settings.toml of '
                "the home folder (emily config get home), or by the variable EMILY_EDITOR, VISUAL "
                "or EDITOR."
            )
        return [*opener, str(path)]
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"The editor {command!r} cannot be understood: {error}.") from None
    if not words or which(words[0]) is None:
        raise InputError(
            f'The editor {command!r} is not there. Name another by the line editor = "COMMAND" in '
            "settings.toml of the home folder (emily config get home), or by the variable "
            "EMILY_EDITOR, VISUAL or EDITOR."
        )
    return [*words, *_place(PurePath(words[0]).stem, words[1:], str(path), line)]


def _place(program: str, given: list[str], path: str, line: int | None) -> list[str]:
    """A file and a line as a program is told them; one that is not known gets the file alone."""
    if line is None:
        return [path]
    if program in _GOTO:
        goto = [] if {"-g", "--goto"} & set(given) else ["-g"]
        return [*goto, f"{path}:{line}"]
    if program in _COLON:
        return [f"{path}:{line}"]
    if program in _KATE:
        return (["-l", str(line), path]) if program != "gedit" else [f"+{line}", path]
    return [f"+{line}", path] if program in _PLUS else [path]
