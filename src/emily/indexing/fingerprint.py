"""The fingerprint of an index: what its rows depend on beside their text and the embedder.

A text of fields between semicolons: the rules' version, which is raised by hand when chunks, terms
or vectors are computed in another way; chunk size; overlap; languages; language confidence; and,
where stems are kept, the version of the full-text mapping. The embedder is a row of ``model`` that
each document points to.
"""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["differences", "fingerprint_of", "told"]

_FIELDS = ("rules", "chunk_tokens", "chunk_overlap", "languages", "language_confidence", "stems")


def fingerprint_of(
    rules: int,
    chunk_tokens: int,
    chunk_overlap: int,
    languages: Iterable[str],
    language_confidence: float,
    stems: str = "",
) -> str:
    """The fingerprint as it is kept with each document.

    Args:
        rules: version of the rules.
        chunk_tokens, chunk_overlap: of the settings.
        languages: of the archive; their order means nothing.
        language_confidence: of the settings.
        stems: what is put behind where stems are kept.
    """
    return (
        f"{rules};{chunk_tokens};{chunk_overlap};{','.join(sorted(languages))};"
        f"{language_confidence}{stems}"
    )


def differences(old: str, now: str) -> tuple[str, ...]:
    """What differs between two fingerprints, such as ``chunk_tokens 512 → 256``."""
    before, after = (_fields(text) for text in (old, now))
    return tuple(
        f"{name} {before.get(name, 'none') or 'none'} → {after.get(name, 'none') or 'none'}"
        for name in _FIELDS
        if before.get(name, "") != after.get(name, "")
    )


def told(others: Iterable[str] | None, now: str) -> str:
    """The differences of some fingerprints from the present one, in brackets; nothing of none."""
    found = dict.fromkeys(item for other in others or () for item in differences(other, now))
    return f" ({'; '.join(found)})" if found else ""


def _fields(text: str) -> dict[str, str]:
    return dict(zip(_FIELDS, text.split(";"), strict=False))
