"""Stems: which configuration of PostgreSQL's Snowball stemmers a language has.

The server stems, not we: its parser, stop words and stemmers are what a count of distinct
lexemes means where PostgreSQL searches text, and it is some 45 times as fast as the same
stemmers in Python (docs/decisions/0009). Stop words are taken out before stemming and accents
stay on, for without its accent an Italian stop word becomes a stem.
"""

from __future__ import annotations

__all__ = ["NO_STEMMER", "STEMS_MARK", "configuration"]

STEMS_MARK = ";stems-1"
"""What the fingerprint of a document that is indexed with stems ends in."""

NO_STEMMER = "?"
"""The language of stems of a chunk whose language is not known."""

_CONFIGURATIONS = {
    "ar": "arabic",
    "ca": "catalan",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "ne": "nepali",
    "nl": "dutch",
    "no": "norwegian",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}


def configuration(language: str | None) -> str:
    """The text search configuration of a language; words as they are where there is none.

    Args:
        language: ISO 639-1 code, or ``None``.
    """
    return f"pg_catalog.{_CONFIGURATIONS.get(language or '', 'simple')}"
