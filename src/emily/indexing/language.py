"""Which of the indexed languages a document and a chunk are written in."""

from __future__ import annotations

import re
from pathlib import Path
from threading import Lock
from typing import Any, Final

from emily.indexing.language_model import load_identifier

__all__ = ["LanguageDetector"]

SAMPLE: Final = 1000
"""Characters that are enough to tell a language; a longer text is sampled."""
SAMPLES: Final = 5
"""Places of a longer text that are sampled: a foreign cover letter must not decide."""

_SLASHED = re.compile(r"\d/\d{1,2}/\d")  # the only dates that the language decides
# fmt: off
_DAY_FIRST = ("ca", "cs", "da", "de", "es", "fi", "fr", "hr", "hu", "it", "nl", "no", "pl", "pt",
              "ro", "sk", "sl", "sv", "tr")
# fmt: on
_SURE = 0.9  # probability from which a text is in another language than English

_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f\u1e00-\u1eff]")
# Languages not written in Latin letters, of those that the identifier knows.
_OTHER_SCRIPTS_LIST = """
am ar as az be bg bn dz el fa gu he hi hy ja ka kk km kn ko ky lo mk ml mn mr ne or pa ps ru si
sr ta te th ug uk ur zh
"""
_OTHER_SCRIPTS = frozenset(_OTHER_SCRIPTS_LIST.split())


class LanguageDetector:
    """Tells the language of a text among the indexed ones, by py3langid's naive Bayes.

    Restricting it matters: among all its languages it calls "tax return" Latin. The model is
    loaded at the first use, once.

    Args:
        languages: ISO 639-1 codes.
        cache: folder where the unpacked model is kept for the next process, if anywhere.

    Raises:
        SettingError: at the first use, when a language is not known to the identifier.
    """

    def __init__(self, languages: tuple[str, ...], cache: Path | None = None) -> None:
        self.languages = tuple(dict.fromkeys(languages))
        self._cache = cache
        self._identifier: Any = None
        self._wide: LanguageDetector | None = None
        self._lock = Lock()
        self._latin_only = not _OTHER_SCRIPTS.intersection(self.languages)

    def detect(self, text: str) -> tuple[str | None, float]:
        """The likeliest of the indexed languages and its probability among them.

        Args:
            text: any length; of more than 1,000 characters five places are looked at.

        Returns:
            ``(None, 0.0)`` for a text without letters, or most of whose letters are not Latin where
            every indexed language is written in Latin ones. With one indexed language that
            one, at 1.
        """
        sample = _sample(text)
        letters = len(_LETTER.findall(sample))
        if not letters or (self._latin_only and 2 * len(_LATIN.findall(sample)) < letters):
            return None, 0.0
        if len(self.languages) == 1:
            return self.languages[0], 1.0
        code, probability = self._identify().classify(sample)
        return str(code), float(probability)

    def load(self) -> None:
        """Load the model now rather than with the first text."""
        self._identify()

    def document_language(self, text: str, confidence: float = 0.0) -> str | None:
        """The language of a whole document, ``None`` below the confidence."""
        code, probability = self.detect(text)
        return code if probability >= confidence else None

    def chunk_language(
        self, text: str, document_language: str | None, confidence: float
    ) -> str | None:
        """The language of a chunk.

        Args:
            text: the chunk.
            document_language: what it falls back to.
            confidence: probability below which it falls back, 0 to 1.

        Returns:
            a code; ``None`` for a text without letters, or when both are uncertain.
        """
        code, probability = self.detect(text)
        if code is None:
            return None
        return code if probability >= confidence else document_language

    def dates_language(self, text: str, language: str | None) -> str | None:
        """The language by whose rule a document's dates are read.

        That of the document, but ``None``, by which the day comes first, where English is only
        the nearest of the indexed languages and the text is in another of Europe's: a German
        letter of an archive in Italian and English.

        Args:
            text: the document's.
            language: among the indexed ones.
        """
        if language != "en" or _SLASHED.search(text) is None:
            return language
        with self._lock:
            if self._wide is None:
                spoken = tuple(dict.fromkeys([*self.languages, *_DAY_FIRST]))
                self._wide = LanguageDetector(spoken, self._cache)
        code, probability = self._wide.detect(text)
        return language if code == "en" or probability < _SURE else None

    def _identify(self) -> Any:
        with self._lock:
            if self._identifier is None:
                self._identifier = load_identifier(self.languages, self._cache)
            return self._identifier


def _sample(text: str) -> str:
    """At most 1,000 characters of a text, from five places at equal distance."""
    if len(text) <= SAMPLE:
        return text
    size = SAMPLE // SAMPLES
    step = (len(text) - size) // (SAMPLES - 1)
    return " ".join(text[at * step : at * step + size] for at in range(SAMPLES))
