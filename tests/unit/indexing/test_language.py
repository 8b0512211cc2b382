import pytest

from emily.errors import SettingError
from emily.indexing.language import LanguageDetector

ITALIAN = "La caldaia va controllata ogni anno da un tecnico abilitato."
ENGLISH = "The boiler must be serviced every year by a qualified engineer."


@pytest.fixture(scope="module")
def detector() -> LanguageDetector:
    return LanguageDetector(("it", "en"))


def test_the_indexed_languages_are_told_apart(detector: LanguageDetector) -> None:
    assert detector.detect(ITALIAN)[0] == "it"
    assert detector.detect(ENGLISH)[0] == "en"
    code, probability = detector.detect("tax return")
    assert code == "en"
    assert 0.5 <= probability <= 1


def test_a_document_is_sampled_beyond_its_beginning(detector: LanguageDetector) -> None:
    assert detector.document_language(ENGLISH * 8 + "\n" + ITALIAN * 200) == "it"


def test_an_uncertain_chunk_takes_the_language_of_its_document(detector: LanguageDetector) -> None:
    assert detector.chunk_language(ENGLISH, "it", 0.8) == "en"
    assert detector.chunk_language("Roma 12", "it", 1.0) == "it"
    assert detector.chunk_language("Roma 12", None, 1.0) is None


@pytest.mark.parametrize("text", ["", "12.345,60 €", "\n\t", "東京都の人口 ok"])
def test_text_without_letters_has_no_language(detector: LanguageDetector, text: str) -> None:
    assert detector.detect(text) == (None, 0.0)
    assert detector.document_language(text) is None
    assert detector.chunk_language(text, "it", 0.8) is None


def test_a_single_language_is_certain() -> None:
    assert LanguageDetector(("it",)).detect(ENGLISH) == ("it", 1.0)


def test_an_unknown_language_is_named() -> None:
    with pytest.raises(SettingError, match=r"has xx, which cannot be detected\. Languages: "):
        LanguageDetector(("it", "xx")).detect(ITALIAN)
