"""The JSON of ``emily vault …``, ``links`` and ``lite`` with ``--json``, see docs/json.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from emily.cli.contract import Output

if TYPE_CHECKING:
    from emily.vault.report import SyncReport, VaultInfo

__all__ = [
    "LinksOutput",
    "VaultListOutput",
    "VaultMapOutput",
    "VaultOpenOutput",
    "VaultRemoveOutput",
    "VaultSyncOutput",
    "links_output",
    "vault_list_output",
    "vault_map_output",
    "vault_remove_output",
    "vault_sync_output",
]


@dataclass(frozen=True, kw_only=True)
class VaultPart:
    """A vault."""

    name: Annotated[str, "Its name, for `--in` and `emily vault`."]
    path: Annotated[str, "Its folder."]
    reachable: Annotated[bool, "Whether the folder is there."]
    indexed: Annotated[bool, "Whether the database knows it."]
    notes: Annotated[int, "Notes and other texts that are cut into passages."]
    passages: Annotated[int, "Of notes and attachments."]
    attachments: Annotated[int, "PDFs, pictures and other files that were read."]
    unread: Annotated[int, "Files that wait to be read or hold no text."]
    incomplete: Annotated[int, "Notes that are found by words alone in part."]
    links: Annotated[int, "Links of all notes, tags left out."]
    broken: Annotated[int, "Links that lead nowhere."]
    synced_at: Annotated[str | None, "When it was last compared with its files; ISO 8601."]
    problems: Annotated[dict[str, list[str]], "What is wrong with files, by path in the vault."]


@dataclass(frozen=True, kw_only=True)
class VaultListOutput(Output):
    """`emily vault list` and `emily vault status`."""

    vaults: Annotated[list[VaultPart], "In the order in which they were added."]


@dataclass(frozen=True, kw_only=True)
class VaultRemoveOutput(Output):
    """`emily vault remove`."""

    vault: Annotated[VaultPart, "What was forgotten; its files are as they were."]


@dataclass(frozen=True, kw_only=True)
class MovePart:
    """A file that was moved or renamed."""

    before: Annotated[str, "Its path in the vault before."]
    after: Annotated[str, "Its path now."]


@dataclass(frozen=True, kw_only=True)
class ReasonPart:
    """A file with a reason."""

    path: Annotated[str, "Its path in the vault."]
    reason: Annotated[str, "Why."]


@dataclass(frozen=True, kw_only=True)
class SyncPart:
    """What changed in a vault."""

    vault: Annotated[str, "Its name."]
    path: Annotated[str, "Its folder."]
    reachable: Annotated[bool, "Whether it could be looked at; if not, all is as it was."]
    added: Annotated[list[str], "Paths of new files, in the vault."]
    changed: Annotated[list[str], "Files with another content."]
    moved: Annotated[list[MovePart], "Files that lie elsewhere and keep their documents."]
    removed: Annotated[list[str], "Files that are gone."]
    unchanged: Annotated[int, "How many are as they were."]
    waiting: Annotated[list[str], "Attachments that wait to be read."]
    words_only: Annotated[list[str], "Notes that are found by words alone."]
    failed: Annotated[list[ReasonPart], "Files that could not be read."]
    skipped: Annotated[list[ReasonPart], "What is left out: ignored, links out of the folder."]
    notices: Annotated[list[str], "Sentences of Emily's own."]


@dataclass(frozen=True, kw_only=True)
class VaultSyncOutput(Output):
    """`emily vault add` and `emily vault sync`."""

    vaults: Annotated[list[SyncPart], "One for each vault that was looked at."]


@dataclass(frozen=True, kw_only=True)
class VaultOpenOutput(Output):
    """`emily vault open`."""

    path: Annotated[str, "The file."]
    line: Annotated[int | None, "Its line, from 1."]
    command: Annotated[list[str], "The program that was started, with its arguments."]


@dataclass(frozen=True, kw_only=True)
class LinkPart:
    """A link."""

    path: Annotated[str, "The note in which it stands."]
    line: Annotated[int, "Its line, from 1."]
    kind: Annotated[str, "`wiki`, `markdown` or `field` (of front matter)."]
    target: Annotated[str, "As it is written."]
    heading: Annotated[str | None, "The heading that it names."]
    block: Annotated[str | None, "The block that it names."]
    to: Annotated[str | None, "The file that it leads to; `null` for none."]
    by: Annotated[str | None, "How that was found: `path`, `name`, `alias`, `title`, `self`."]
    others: Annotated[list[str], "Further files that it could mean."]
    why: Annotated[str | None, "What is wrong with it, if it is broken."]


@dataclass(frozen=True, kw_only=True)
class MentionPart:
    """A place where a note is named without a link."""

    path: Annotated[str, "The note that names it."]
    line: Annotated[int, "From 1."]
    text: Annotated[str, "The words as they stand there."]


@dataclass(frozen=True, kw_only=True)
class LinksOutput(Output):
    """`emily links`."""

    folder: Annotated[str, "The vault's folder."]
    note: Annotated[str | None, "The note; `null` for the whole vault."]
    links: Annotated[list[LinkPart], "Links of the note; of a vault, those that are ambiguous."]
    backlinks: Annotated[list[LinkPart], "Links that lead to the note."]
    mentions: Annotated[list[MentionPart], "Places that name it without a link."]
    broken: Annotated[list[LinkPart], "Links that lead nowhere."]
    orphans: Annotated[list[str], "Of a whole vault, notes without any link."]
    notices: Annotated[list[str], "Sentences of Emily's own."]


@dataclass(frozen=True, kw_only=True)
class ThemePart:
    """A group of notes."""

    words: Annotated[list[str], "By which it is named."]
    paths: Annotated[list[str], "Its notes, the best linked first."]


@dataclass(frozen=True, kw_only=True)
class TermPart:
    """A word of a vault."""

    word: Annotated[str, "As it stands in most notes."]
    notes: Annotated[int, "How many hold it."]
    paths: Annotated[list[str], "Those that are most about it."]


@dataclass(frozen=True, kw_only=True)
class VaultMapOutput(Output):
    """`emily vault map`."""

    folder: Annotated[str, "The vault's folder."]
    notes: Annotated[int, "How many there are; 0 with `--terms`."]
    ungrouped: Annotated[int, "How many are in no theme."]
    themes: Annotated[list[ThemePart], "The themes; none with `--terms`."]
    terms: Annotated[list[TermPart], "The words that `--terms` asks for."]
    notices: Annotated[list[str], "Sentences of Emily's own."]


def vault_list_output(vaults: Sequence[VaultInfo]) -> VaultListOutput:
    """The document of ``emily vault list`` and ``emily vault status``."""
    return VaultListOutput(vaults=[_vault(item) for item in vaults])


def vault_remove_output(vault: VaultInfo) -> VaultRemoveOutput:
    """The document of ``emily vault remove``."""
    return VaultRemoveOutput(vault=_vault(vault))


def vault_sync_output(reports: Sequence[SyncReport]) -> VaultSyncOutput:
    """The document of ``emily vault add`` and ``emily vault sync``."""
    return VaultSyncOutput(vaults=[_report(item) for item in reports])


def links_output(found: Mapping[str, Any]) -> LinksOutput:
    """The document of ``emily links``.

    Args:
        found: of one note or of a whole vault, as ``emily.vault.lite_answers`` has them.
    """
    own = found["links"] if "note" in found else found["ambiguous"]
    return LinksOutput(
        folder=found["folder"],
        note=found.get("note"),
        links=[LinkPart(**item) for item in own],
        backlinks=[LinkPart(**item) for item in found.get("backlinks", ())],
        mentions=[MentionPart(**item) for item in found.get("mentions", ())],
        broken=[LinkPart(**item) for item in found["broken"]],
        orphans=list(found.get("orphans", ())),
        notices=list(found["notices"]),
    )


def vault_map_output(found: Mapping[str, Any]) -> VaultMapOutput:
    """The document of ``emily vault map``.

    Args:
        found: themes or terms, as ``emily.vault.lite_answers`` has them.
    """
    return VaultMapOutput(
        folder=found["folder"],
        notes=found.get("notes", 0),
        ungrouped=found.get("ungrouped", 0),
        themes=[ThemePart(**item) for item in found.get("themes", ())],
        terms=[TermPart(**item) for item in found.get("terms", ())],
        notices=list(found["notices"]),
    )


def _vault(item: VaultInfo) -> VaultPart:
    return VaultPart(
        name=item.name,
        path=item.path,
        reachable=item.reachable,
        indexed=item.indexed,
        notes=item.notes,
        passages=item.passages,
        attachments=item.attachments,
        unread=item.unread,
        incomplete=item.incomplete,
        links=item.links,
        broken=item.broken,
        synced_at=None if item.synced_at is None else item.synced_at.isoformat(),
        problems={path: list(reasons) for path, reasons in item.problems},
    )


def _report(item: SyncReport) -> SyncPart:
    return SyncPart(
        vault=item.vault,
        path=item.path,
        reachable=item.reachable,
        added=list(item.added),
        changed=list(item.changed),
        moved=[MovePart(before=before, after=after) for before, after in item.moved],
        removed=list(item.removed),
        unchanged=item.unchanged,
        waiting=list(item.waiting),
        words_only=list(item.words_only),
        failed=[ReasonPart(path=path, reason=why) for path, why in item.failed],
        skipped=[ReasonPart(path=path, reason=why) for path, why in item.skipped],
        notices=list(item.notices),
    )
