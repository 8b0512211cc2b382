"""The answers of ``emily lite``: as a document for JSON, and as lines for people.

Standard library only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from emily.vault.cache import Cache
from emily.vault.engine import Found, Outcome
from emily.vault.linking import (
    LedLink,
    backlinks,
    broken,
    mention_names,
    mentions,
    orphans,
    outgoing,
)
from emily.vault.links import links_of
from emily.vault.notes import Note, read_note, split_lines
from emily.vault.resolving import target_of
from emily.vault.terms import query_terms
from emily.vault.themes import MapNote, map_note, term_index, themes
from emily.vault.walk import read_bytes

__all__ = [
    "HELP",
    "MEANING_IS_MISSING",
    "SCHEMA_VERSION",
    "links_document",
    "map_document",
    "note_called",
    "problems_document",
    "search_document",
    "show_links",
    "show_map",
    "show_problems",
    "show_search",
    "show_terms",
    "show_vault_links",
    "terms_document",
    "vault_links_document",
]

MEANING_IS_MISSING: Final = (
    "By words and links only: notes that say it in other words are not found (emily search does)."
)
HELP: Final = {
    "budget": "most tokens of all passages, about four characters each",
    "limit": "most notes",
    "no_links": "leave the links out of account",
    "links": "instead of a search: links, backlinks, unlinked mentions and broken links of a note; "
    "'*' for the broken links and orphans of the folder",
    "map": "instead of a search: the themes of the folder",
    "terms": "instead of a search: words that begin so, with the notes about them; '' for all",
    "problems": "instead of a search: files with problems, and those left out",
    "cache": "where to keep what was read; outside of the folder of notes",
    "no_cache": "keep nothing",
    "processes": "most processes for reading; as many as there are processors without it",
}
SCHEMA_VERSION: Final = 1
"""Of the JSON, the same as every command's; a test holds them together."""
_SHOWN = 3

Document = dict[str, Any]


def notices_of(cache: Cache) -> list[str]:
    """Sentences about what was read."""
    notices = [cache.notice] if cache.notice else []
    failed = [each for each in cache.left_out if each.state == "failed"]
    if failed:
        shown = "; ".join(f"{each.path}: {each.reason}" for each in failed[:_SHOWN])
        more = f"; and {len(failed) - _SHOWN} more" if len(failed) > _SHOWN else ""
        notices.append(f"Not read: {shown}{more}.")
    count = cache.count_problems()
    if count:
        files = "1 file has" if count == 1 else f"{count} files have"
        notices.append(
            f"{files} a problem, and was read all the same; see: emily lite FOLDER --problems"
        )
    return notices


# Search


def search_document(cache: Cache, outcome: Outcome, query: str) -> Document:
    """An answer; the same fields whatever was found."""
    notices = [MEANING_IS_MISSING, *notices_of(cache)]
    if not outcome.terms:
        notices.append("The query holds no word that can be looked for.")
    elif not outcome.found:
        notices.append(f"None of {outcome.documents} notes holds a word of the query.")
    return {
        "query": query,
        "folder": str(cache.folder),
        "notices": notices,
        "terms": list(outcome.terms),
        "unknown_terms": list(outcome.unknown),
        "coverage": round(outcome.coverage, 4),
        "documents": outcome.documents,
        "read_now": cache.read_now,
        "tokens": sum(each.tokens for found in outcome.found for each in found.passages),
        "results": [_found(found) for found in outcome.found],
    }


def _found(found: Found) -> Document:
    lead = found.lead
    by = None
    if lead is not None:
        by = {
            "path": lead.path,
            "title": lead.title,
            "kind": lead.kind,
            "line": lead.line,
            "forward": lead.forward,
        }
    return {
        "path": found.path,
        "title": found.title,
        "score": round(found.score, 6),
        "words": round(found.words, 6),
        "lead": by,
        "passages": [
            {
                "citation": f"{found.path}:{passage.line}",
                "first": passage.first,
                "last": passage.last,
                "trail": list(passage.trail),
                "score": round(passage.score, 6),
                "tokens": passage.tokens,
                "text": passage.text,
            }
            for passage in found.passages
        ],
    }


def show_search(document: Document) -> Iterator[str]:
    """An answer in lines, each passage with the numbers of its own."""
    for rank, found in enumerate(document["results"], 1):
        yield f"{rank}. {found['title']}"
        if found["lead"] is not None:
            yield f"   {_by(found['lead'])}"
        for passage in found["passages"]:
            trail = " › ".join(passage["trail"])
            yield passage["citation"] + (f"  {trail}" if trail else "")
            lines = split_lines(passage["text"])
            if lines and not lines[-1]:
                lines.pop()
            for number, line in enumerate(lines, passage["first"]):
                yield f"{number:>5}  {line}".rstrip()
        yield ""


def _by(lead: Document) -> str:
    """Which link brought a note up."""
    if lead["kind"] == "tag":
        return f"by the tag {lead['title']}"
    if lead["forward"]:
        return f"by a link in {lead['path']}:{lead['line']}"
    return f"by its link to {lead['path']} in line {lead['line']}"


# Links


def note_called(cache: Cache, name: str) -> str | None:
    """The path of the note that goes by a path, a name, an alias or a title."""
    return cache.resolver().named(name, "").path


def links_document(cache: Cache, path: str) -> Document:
    """All that links say about one note."""
    led = list(cache.links(cache.resolver()))
    own = outgoing(path, led)
    return {
        "folder": str(cache.folder),
        "note": path,
        "links": [_led(each) for each in own],
        "backlinks": [_led(each) for each in backlinks(path, led)],
        "mentions": list(_mentions(cache, path)),
        "broken": [_led(each) for each in broken(own)],
        "notices": notices_of(cache),
    }


def _mentions(cache: Cache, path: str) -> Iterator[Document]:
    note = _read(cache, path)
    if note is None:
        return
    target = target_of(note)
    names = mention_names([note.name, note.title, *target.aliases])
    resolver = cache.resolver()
    holding: set[str] = set()
    for name in names:
        holding |= cache.holding(query_terms(name))
    for other in sorted(holding - {path}):
        found = _read(cache, other)
        if found is not None:
            links = [
                LedLink(other, link, resolver.resolve(link, other)) for link in links_of(found)
            ]
            for mention in mentions(names, path, found, links):
                yield {"path": other, "line": mention.line, "text": mention.text}


def vault_links_document(cache: Cache) -> Document:
    """What is broken and what stands alone in the whole folder."""
    led = list(cache.links(cache.resolver()))
    notes = [file.path for file in cache.files if file.kind == "markdown"]
    ambiguous = [each for each in led if each.resolution.is_ambiguous]
    return {
        "folder": str(cache.folder),
        "links": len(led),
        "broken": [_led(each) for each in broken(led)],
        "ambiguous": [_led(each) for each in ambiguous],
        "orphans": orphans(notes, led),
        "notices": notices_of(cache),
    }


def _led(each: LedLink) -> Document:
    return {
        "path": each.source,
        "line": each.link.line,
        "kind": each.link.kind,
        "target": each.link.target,
        "heading": each.link.heading,
        "block": each.link.block,
        "to": each.resolution.path,
        "by": each.resolution.by,
        "others": list(each.resolution.others),
        "why": each.why if each.is_broken else None,
    }


def show_links(document: Document) -> Iterator[str]:
    """The links of a note in lines."""
    yield document["note"]
    for name, heading in (("links", "Links"), ("backlinks", "Backlinks"), ("broken", "Broken")):
        yield f"{heading}: {len(document[name])}"
        for each in document[name]:
            what = each["why"] or each["to"]
            place = f"line {each['line']}" if name == "links" else f"{each['path']}:{each['line']}"
            yield f"  {place}  {what}" + _others(each)
    yield f"Unlinked mentions: {len(document['mentions'])}"
    for each in document["mentions"]:
        yield f"  {each['path']}:{each['line']}  {each['text']}"


def show_vault_links(document: Document) -> Iterator[str]:
    """What is broken, ambiguous and alone, in lines."""
    yield f"Broken: {len(document['broken'])} of {document['links']} links"
    for each in document["broken"]:
        yield f"  {each['path']}:{each['line']}  {each['why']}"
    yield f"Ambiguous: {len(document['ambiguous'])}"
    for each in document["ambiguous"]:
        yield f"  {each['path']}:{each['line']}  {each['to']}" + _others(each)
    yield f"Orphans: {len(document['orphans'])}"
    for path in document["orphans"]:
        yield f"  {path}"


def _others(each: Document) -> str:
    return f" (or {', '.join(each['others'])})" if each["others"] else ""


# Map


def _map_notes(cache: Cache) -> Iterator[MapNote]:
    for file in cache.files:
        if file.kind != "attachment":
            note = _read(cache, file.path)
            if note is not None:
                yield map_note(note)


def map_document(cache: Cache) -> Document:
    """The themes of the folder with the paths of their notes."""
    notes = list(_map_notes(cache))
    led = cache.links(cache.resolver())
    pairs = [(each.source, each.resolution.path) for each in led if each.resolution.path]
    found = themes(notes, pairs)
    grouped = sum(len(theme.paths) for theme in found)
    return {
        "folder": str(cache.folder),
        "notes": len(notes),
        "ungrouped": len(notes) - grouped,
        "themes": [{"words": list(theme.words), "paths": list(theme.paths)} for theme in found],
        "notices": notices_of(cache),
    }


def show_map(document: Document) -> Iterator[str]:
    """The themes in lines, with the best linked notes of each."""
    for theme in document["themes"]:
        yield f"{', '.join(theme['words'])} ({len(theme['paths'])})"
        for path in theme["paths"][:8]:
            yield f"  {path}"
    yield f"In no theme: {document['ungrouped']} of {document['notes']} notes"


def terms_document(cache: Cache, beginning: str) -> Document:
    """Words of the folder with the notes that are about them."""
    found = term_index(_map_notes(cache), beginning)
    return {
        "folder": str(cache.folder),
        "beginning": beginning,
        "terms": [
            {"word": each.word, "notes": each.notes, "paths": list(each.paths)} for each in found
        ],
        "notices": notices_of(cache),
    }


def show_terms(document: Document) -> Iterator[str]:
    """Words in lines."""
    for each in document["terms"]:
        yield f"{each['word']} ({each['notes']}): {', '.join(each['paths'])}"


# Problems


def problems_document(cache: Cache) -> Document:
    """What could not be read as it was meant, and what was not read at all."""
    problems = cache.problems()
    return {
        "folder": str(cache.folder),
        "problems": [{"path": path, "line": line, "what": what} for path, line, what in problems],
        "left_out": [
            {"path": each.path, "state": each.state, "reason": each.reason}
            for each in cache.left_out
        ],
        "notices": [cache.notice] if cache.notice else [],
    }


def show_problems(document: Document) -> Iterator[str]:
    """Problems in lines."""
    for each in document["problems"]:
        yield f"{each['path']}:{each['line'] or 1}: {each['what']}"
    for each in document["left_out"]:
        yield f"{each['path']}: {each['state']}: {each['reason']}"


def _read(cache: Cache, path: str) -> Note | None:
    try:
        return read_note(path, read_bytes(cache.folder, path))
    except OSError:
        return None  # deleted meanwhile
