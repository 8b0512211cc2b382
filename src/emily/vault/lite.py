"""``emily lite FOLDER "query"``: search a vault with nothing but Python.

    python -I -S src/emily/vault/lite.py FOLDER "query"

Words and links, no meaning: a note that says the same in other words is not found. The folder is
only read. What was read is kept outside of it for the next search (``--no-cache`` keeps nothing).
Standard library only.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

if __name__ == "__main__" and not __package__:  # run as a file, from a checkout
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from emily.vault import lite_answers as answers
from emily.vault.cache import Cache, cache_folder, open_cache
from emily.vault.engine import BUDGET, DOCUMENTS, search

__all__ = ["Request", "main", "run"]


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked for: a query, or one of the views of a vault.

    Attributes:
        folder: the vault.
        query: what to look for; may be empty where a view is asked for.
        budget: tokens of all passages, estimated.
        limit: notes at most.
        use_links: whether scores spread over links.
        as_json: whether to print JSON.
        links: path or name of a note whose links are asked for, ``*`` for the whole vault.
        map: whether the themes are asked for.
        terms: the beginning of words that are asked for.
        problems: whether all files with problems are asked for.
        kept_in: folder of the cache; ``None`` keeps nothing.
        processes: at most, for reading many notes.
    """

    folder: Path
    query: str = ""
    budget: int = BUDGET
    limit: int = DOCUMENTS
    use_links: bool = True
    as_json: bool = False
    links: str | None = None
    map: bool = False
    terms: str | None = None
    problems: bool = False
    kept_in: Path | None = None
    processes: int = 1

    @property
    def refusal(self) -> str | None:
        """Why it cannot be answered, ``None`` where it can."""
        if not self.folder.is_dir():
            what = "is a file" if self.folder.exists() else "does not exist"
            return f"Give a folder of notes: {self.folder} {what}."
        views = [self.links is not None, self.map, self.terms is not None, self.problems]
        if sum(views) + bool(self.query.strip()) > 1:
            return "Ask for one thing: a query, --links, --map, --terms or --problems."
        if not self.query.strip() and not any(views):
            return 'Give a query: emily lite FOLDER "query".'
        if self.budget < 1:
            return f"--budget must be 1 or more, not {self.budget}."
        if self.limit < 1:
            return f"--limit must be 1 or more, not {self.limit}."
        return None


def run(request: Request, out: TextIO, notices: TextIO) -> int:
    """Answer a request.

    Args:
        request: what is asked for.
        out: for the answer.
        notices: for sentences about it; they are in the JSON as well.

    Returns:
        The exit code: 0, also where nothing is found; 1 for bad input.
    """
    refusal = request.refusal
    if refusal is not None:
        notices.write(refusal + "\n")
        return 1
    # Nothing here is cyclic; the collector would only look through what is being built.
    collecting = gc.isenabled()
    gc.disable()
    try:
        cache = open_cache(request.folder, request.kept_in, processes=request.processes)
        try:
            return _answer(cache, request, out, notices)
        finally:
            cache.close()
    except OSError as error:
        notices.write(f"{request.folder} cannot be read: {error.strerror or error}.\n")
        return 1
    finally:
        if collecting:
            gc.enable()


def _answer(cache: Cache, request: Request, out: TextIO, notices: TextIO) -> int:
    if request.links is not None and request.links != "*":
        path = answers.note_called(cache, request.links)
        if path is None:
            notices.write(f"No note of the folder is called {request.links!r}.\n")
            return 1
        document = answers.links_document(cache, path)
        show = answers.show_links
    elif request.links is not None:
        document, show = answers.vault_links_document(cache), answers.show_vault_links
    elif request.map:
        document, show = answers.map_document(cache), answers.show_map
    elif request.terms is not None:
        document, show = answers.terms_document(cache, request.terms), answers.show_terms
    elif request.problems:
        document, show = answers.problems_document(cache), answers.show_problems
    else:
        outcome = search(
            cache,
            request.query,
            documents=request.limit,
            budget=request.budget,
            links=request.use_links,
        )
        document, show = answers.search_document(cache, outcome, request.query), answers.show_search
    if request.as_json:
        document = {"schema_version": answers.SCHEMA_VERSION, **document}
        out.write(json.dumps(document, ensure_ascii=False, indent=2) + "\n")
        return 0
    out.writelines(line + "\n" for line in show(document))
    notices.writelines(notice + "\n" for notice in document["notices"])
    return 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line without any package."""
    given = _parser().parse_args(arguments)
    kept_in = None if given.no_cache else Path(given.cache) if given.cache else cache_folder()
    request = Request(
        folder=Path(given.folder),
        query=" ".join(given.query),
        budget=given.budget,
        limit=given.limit,
        use_links=not given.no_links,
        as_json=given.json,
        links=given.links,
        map=given.map,
        terms=given.terms,
        problems=given.problems,
        kept_in=kept_in,
        processes=given.processes or os.cpu_count() or 1,
    )
    return run(request, sys.stdout, sys.stderr)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="emily lite",
        description="Search a folder of notes by words and links, with nothing but Python.",
        epilog=answers.MEANING_IS_MISSING,
    )
    add = parser.add_argument
    add("folder", help="the folder of notes; it is only read")
    add("query", nargs="*", help="what to look for")
    add("--json", action="store_true", help="print JSON")
    add("--budget", type=int, default=BUDGET, metavar="TOKENS", help=answers.HELP["budget"])
    add("--limit", type=int, default=DOCUMENTS, metavar="NOTES", help=answers.HELP["limit"])
    add("--no-links", action="store_true", help=answers.HELP["no_links"])
    add("--links", metavar="NOTE", help=answers.HELP["links"])
    add("--map", action="store_true", help=answers.HELP["map"])
    add("--terms", metavar="BEGINNING", help=answers.HELP["terms"])
    add("--problems", action="store_true", help=answers.HELP["problems"])
    add("--cache", metavar="FOLDER", help=answers.HELP["cache"])
    add("--no-cache", action="store_true", help=answers.HELP["no_cache"])
    add("--processes", type=int, default=0, help=answers.HELP["processes"])
    return parser


if __name__ == "__main__":
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="replace")
    sys.exit(main())
