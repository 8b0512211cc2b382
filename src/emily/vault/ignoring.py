"""What an ignore file leaves out, by the rules of gitignore. Standard library only."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["Rule", "is_ignored", "read_rules"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of an ignore file.

    Attributes:
        pattern: compared with the path below the rule's folder, or with the name alone.
        whole: whether it is the path.
        negated: whether it takes a file in again.
        folders: whether it is about folders only.
        base: the folder of the ignore file, with a ``/`` behind it; empty for the root.
    """

    pattern: re.Pattern[str]
    whole: bool
    negated: bool
    folders: bool
    base: str


def read_rules(lines: Iterable[str], base: str = "") -> list[Rule]:
    """The rules of an ignore file, in order.

    Args:
        lines: those of the file.
        base: the folder in which it stands, relative to the vault, with a ``/`` behind it.
    """
    rules = []
    for line in lines:
        text = line.rstrip("\r\n")
        stripped = text.rstrip(" ")
        # A blank behind a backslash belongs to the name.
        slashes = len(stripped) - len(stripped.rstrip("\\"))
        text = stripped + (" " if slashes % 2 and len(text) > len(stripped) else "")
        if not text or text.startswith("#"):
            continue
        negated = text.startswith("!")
        text = text[negated:]
        folders = text.endswith("/")
        text = text.rstrip("/") if folders else text
        if not text:
            continue
        whole = "/" in text
        translated = _translated(text.removeprefix("/"))
        if translated is not None:
            rules.append(Rule(translated, whole, negated, folders, base))
    return rules


def is_ignored(rules: Sequence[Rule], path: str, *, folder: bool) -> bool:
    """Whether the rules leave a path out; the last that fits decides.

    Args:
        rules: of the ignore files from the root down to the path's folder.
        path: relative to the vault, with ``/``; the folders above it are not left out.
        folder: whether it is a folder.
    """
    name = path.rpartition("/")[2]
    for rule in reversed(rules):
        if rule.folders and not folder:
            continue
        if rule.whole:
            if not path.startswith(rule.base):
                continue
            fits = rule.pattern.fullmatch(path[len(rule.base) :])
        else:
            fits = rule.pattern.fullmatch(name) if path.startswith(rule.base) else None
        if fits:
            return not rule.negated
    return False


def _translated(glob: str) -> re.Pattern[str] | None:
    """A pattern of gitignore as a regular expression; ``None`` for one that can fit nothing."""
    out: list[str] = []
    at = 0
    while at < len(glob):
        char = glob[at]
        if char == "*":
            end = at
            while glob[end : end + 1] == "*":
                end += 1
            alone = (at == 0 or glob[at - 1] == "/") and glob[end : end + 1] in ("", "/")
            if end - at == 2 and alone:
                if end == len(glob):
                    out.append(".+" if at else ".*")
                else:
                    out.append("(?:.+/)?")
                    end += 1
            else:
                out.append("[^/]*")
            at = end
            continue
        if char == "?":
            out.append("[^/]")
        elif char == "[":
            end, text = _bracket(glob, at)
            if text is None:
                return None
            out.append(text)
            at = end
            continue
        elif char == "\\":
            at += 1
            if at == len(glob):
                return None
            out.append(re.escape(glob[at]))
        else:
            out.append(re.escape(char))
        at += 1
    try:
        return re.compile("".join(out), re.DOTALL)
    except re.error:
        return None


_CLASSES = {
    "alnum": r"^\W_", "alpha": r"^\W\d_", "digit": "0-9", "lower": "a-z", "upper": "A-Z",
    "space": r"\s", "xdigit": "0-9A-Fa-f", "punct": r"!-/:-@\[-`{-~",
}  # fmt: skip


def _bracket(glob: str, at: int) -> tuple[int, str | None]:
    """``[a-z]`` from the bracket at ``at``: the place behind it, and its expression."""
    start = at + 1
    negated = glob[start : start + 1] in ("!", "^")
    start += negated
    end = start
    parts: list[str] = []
    while end < len(glob) and (glob[end] != "]" or end == start):
        if glob.startswith("[:", end) and (close := glob.find(":]", end)) > 0:
            named = _CLASSES.get(glob[end + 2 : close])
            if named is None:
                return at, None
            parts.append(f"[{named}]")
            end = close + 2
            continue
        if glob[end] == "\\" and end + 1 < len(glob):
            end += 1
        low = glob[end]
        end += 1
        if glob[end : end + 1] == "-" and glob[end + 1 : end + 2] not in ("", "]"):
            high = glob[end + 1]
            end += 2
            if high == "\\" and end < len(glob):
                high = glob[end]
                end += 1
            if low <= high:
                parts.append(f"[{re.escape(low)}-{re.escape(high)}]")
        else:
            parts.append(re.escape(low))
    if end >= len(glob):
        return at, None
    inner = "|".join(parts)
    if negated:
        return end + 1, f"(?!{inner})[^/]" if inner else "[^/]"
    return end + 1, f"(?!/)(?:{inner})" if inner else "(?!)"
