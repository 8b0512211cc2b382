"""Where the public question sets lie, and samples of them.

They lie in the folder ``retrieval`` of ``EMILY_BENCH_DATA``, one folder a set in the common form
(``emily.measure.sets``), and are no part of the project.
"""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from emily.errors import InputError
from emily.measure import sets
from emily.measure.sets import QuestionSet

__all__ = ["UNTITLED", "PublicSet", "available", "data_folder", "load_set"]

PublicSet = QuestionSet

UNTITLED = frozenset({"gnomehelp-it2en", "lohelp-x"})
"""Sets whose questions are the titles of their documents: nobody is given the titles."""


def data_folder() -> Path:
    """The folder of the sets.

    Raises:
        SystemExit: it is not there.
    """
    root = Path(__file__).resolve().parents[1]
    folder = Path(os.environ.get("EMILY_BENCH_DATA", root.parent / "shared" / "data")) / "retrieval"
    if not folder.is_dir():
        raise SystemExit(
            f"The public sets are not in {folder}. Set EMILY_BENCH_DATA to the folder that holds "
            "their folder 'retrieval'."
        )
    return folder


def available() -> tuple[str, ...]:
    """Names of the sets that are there."""
    return tuple(sorted(path.parent.name for path in data_folder().glob("*/corpus.jsonl")))


def load_set(
    name: str, *, documents: int | None = None, questions: int | None = None
) -> QuestionSet:
    """Load a set, or a sample of it that is the same at every run, without titles that are asked.

    Args:
        name: of its folder.
        documents: most documents; those that answer a chosen question are always kept.
        questions: most questions. Where a set has a development part, that one is used.

    Raises:
        SystemExit: there is no such set, or it is malformed.
    """
    folder = data_folder() / name
    if not folder.is_dir():
        raise SystemExit(f"There is no set '{name}'. Sets: {', '.join(available())}")
    try:
        chosen = sets.load_set(folder)
    except InputError as error:
        raise SystemExit(str(error)) from None
    developed = tuple(item for item in chosen.questions if item.slices.get("split", "dev") == "dev")
    sample = sets.sampled(
        replace(chosen, questions=developed), documents=documents, questions=questions
    )
    return sets.untitled(sample) if name in UNTITLED else sample
