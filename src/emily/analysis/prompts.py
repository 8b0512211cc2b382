"""What a chat model is told. The system prompt is the same in every call, to the byte."""

from __future__ import annotations

from collections.abc import Sequence

from emily.models.untrusted import wrapped

__all__ = [
    "SYSTEM",
    "again_in",
    "categories_prompt",
    "description_prompt",
    "language_name",
    "merge_prompt",
    "repair_prompt",
    "summary_prompt",
]

SYSTEM = (
    "You describe the documents of a private archive to their owner. You are given a document, a "
    "part of one, or summaries of its parts, between two marks. You say what stands there and "
    "nothing else: who, what, when, how much, with names, dates and amounts as they are written. "
    "You add no opinion, no advice and nothing that you know from elsewhere. You write plain "
    "running sentences in the language that you are asked for, without headings, lists, remarks "
    "about your task or a closing line. Where JSON is asked for you answer with that JSON alone."
)

_LANGUAGES = {
    "ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish",
    "de": "German", "el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian",
    "fi": "Finnish", "fr": "French", "he": "Hebrew", "hr": "Croatian", "hu": "Hungarian",
    "it": "Italian", "ja": "Japanese", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian",
    "nl": "Dutch", "no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian",
    "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sv": "Swedish", "tr": "Turkish",
    "uk": "Ukrainian", "zh": "Chinese",
}  # fmt: skip


def language_name(code: str) -> str:
    """A language as a model knows it."""
    return _LANGUAGES.get(code, f"the language with the ISO 639-1 code {code}")


def summary_prompt(text: str, place: int, count: int, words: int, language: str | None) -> str:
    """Asks for the summary of one group of a text; ``place`` counts from 1."""
    what = "this document" if count == 1 else f"this part, {place} of {count} of one document,"
    return (
        f"{wrapped(text)}\n\n"
        f"Summarise {what} in about {words} words. Keep names, dates, amounts and decisions. "
        f"{_written_in(language)}"
    )


def merge_prompt(summaries: Sequence[str], words: int, language: str | None) -> str:
    """Asks for one summary of the summaries of parts that follow each other."""
    text = "\n\n".join(summaries)
    return (
        f"{wrapped(text)}\n\n"
        f"These are summaries of {len(summaries)} parts of one document, in order. Make of them "
        f"one summary of about {words} words that says something of every part. Keep names, "
        f"dates, amounts and decisions. {_written_in(language)}"
    )


def description_prompt(summary: str, facts: str, language: str | None) -> str:
    """Asks for a description, as JSON, of what a summary says."""
    known = f"{facts}\n\n{summary}" if facts else summary
    return (
        f"{wrapped(known)}\n\n"
        "Describe this document in two or three sentences of together 40 to 100 words, for "
        "somebody who looks for it later: what sort of document it is, whose, from when, about "
        'what. Answer with JSON: {"description": "…"}. '
        f"{_written_in(language)}"
    )


def categories_prompt(
    summary: str, categories: Sequence[tuple[str, str, Sequence[str]]], language: str | None
) -> str:
    """Asks which of the owner's categories a document belongs to, as JSON.

    Args:
        summary: of the document.
        categories: name, description and examples of each, the owner's own words.
        language: of the document.
    """
    listed = "\n".join(
        f"- {name}"
        + (f": {description}" if description else "")
        + (f" (for example: {'; '.join(examples)})" if examples else "")
        for name, description, examples in categories
    )
    return (
        f"{wrapped(summary)}\n\n"
        f"The owner's categories are:\n{listed}\n\n"
        "Which of them does this document surely belong to? Mostly it is one, or none; never "
        "choose one that only comes near. Give each with a reason in one short sentence, by its "
        'exact name. Answer with JSON: {"categories": [{"name": "…", "reason": "…"}]}; where '
        f'none fits: {{"categories": []}}. {_written_in(language, "the reasons")}'
    )


def again_in(prompt: str, language: str) -> str:
    """The same question, where the answer came in another language."""
    name = language_name(language)
    return f"{prompt}\n\nYour last answer was in another language. Write in {name}, only {name}."


def repair_prompt(prompt: str, answer: str, problem: str) -> str:
    """The same question, where the answer could not be used."""
    return (
        f"{prompt}\n\nYour last answer was:\n{wrapped(answer)}\n\n"
        f"It cannot be used ({problem}). Answer again, with the JSON alone, complete and short."
    )


def _written_in(language: str | None, what: str = "") -> str:
    if language is None:
        return f"Write {what or 'it'} in the language of the document."
    return f"Write {what or 'it'} in {language_name(language)}."
