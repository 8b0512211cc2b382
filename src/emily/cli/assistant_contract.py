"""The JSON of ``egress``, ``private`` and ``mcp``, a part of the contract in docs/json.md."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from emily.cli.contract import Output

if TYPE_CHECKING:
    from emily.assistant import Conversation, EgressEntry, EgressTotal, PrivatePlace
    from emily.assistant.approvals import Approval
    from emily.assistant.ledger import SentDocument

__all__ = [
    "ApprovalsOutput",
    "ChatOutput",
    "ConversationsOutput",
    "EgressOutput",
    "McpInstallOutput",
    "McpOutput",
    "McpTokenOutput",
    "PrivateOutput",
    "approvals_output",
    "conversations_output",
    "egress_output",
    "private_output",
    "sent_documents",
]


@dataclass(frozen=True, kw_only=True)
class SentDocumentPart:
    """A document of which something was sent."""

    id: Annotated[int, "Id of the document; it may be gone by now."]
    name: Annotated[str, "What it was called then."]
    places: Annotated[list[str], "What was sent of it: `page 3`, `lines 10-24`, `summary`."]
    characters: Annotated[int, "Characters, its name and description included."]


@dataclass(frozen=True, kw_only=True)
class EgressEntryPart:
    """One thing that was sent."""

    id: Annotated[int, "In the order of sending."]
    at: Annotated[str, "When, ISO 8601 with the time zone."]
    role: Annotated[
        str,
        "`assistant` for a tool; `chat`, `vision`, `embedding`, `reranking`, `ocr` for a model on "
        "a server.",
    ]
    client: Annotated[str, "Who got it: the client's name, or the server."]
    local: Annotated[bool, "Whether you call it a part of this machine."]
    conversation: Annotated[str | None, "Id of the conversation, of a tool."]
    tool: Annotated[str | None, "Which tool, or what the server was asked for."]
    characters: Annotated[int, "Characters of the whole text."]
    bytes: Annotated[int, "Bytes of pictures."]
    documents: Annotated[list[SentDocumentPart], "What of it came from documents."]


@dataclass(frozen=True, kw_only=True)
class EgressTotalPart:
    """What was sent on a day, to a client or of a document."""

    key: Annotated[str, "The day, the client's name or the document's id."]
    name: Annotated[str | None, "Name of the document; `null` for a day and a client."]
    calls: Annotated[int, "How many things were sent."]
    characters: Annotated[int, "Characters, all together."]
    bytes: Annotated[int, "Bytes of pictures."]
    last_at: Annotated[str, "When the last one was, ISO 8601."]


@dataclass(frozen=True, kw_only=True)
class EgressOutput(Output):
    """`emily egress`."""

    by: Annotated[str | None, "`day`, `client` or `document`; `null` for single entries."]
    entries: Annotated[list[EgressEntryPart], "Single entries, the latest first."]
    totals: Annotated[list[EgressTotalPart], "Totals, where they were asked for."]
    cleared: Annotated[int | None, "Entries that were forgotten; `null` if none were to be."]


@dataclass(frozen=True, kw_only=True)
class PrivatePlacePart:
    """A document or a folder that never leaves."""

    path: Annotated[str, "Path of the file or of the folder."]
    document: Annotated[int | None, "Id of the document; `null` for a folder."]
    name: Annotated[str | None, "Name of that document."]
    documents: Annotated[int, "Documents of the archive that lie there now."]
    since: Annotated[str, "When it was marked, ISO 8601."]


@dataclass(frozen=True, kw_only=True)
class PrivateOutput(Output):
    """`emily private`."""

    places: Annotated[list[PrivatePlacePart], "All that is marked now, by path."]
    documents: Annotated[list[int], "Ids of all documents that are private by them."]
    still_by: Annotated[list[str], "Places that keep private what was unmarked."]


@dataclass(frozen=True, kw_only=True)
class ApprovalPart:
    """What a model wants to have done, and what became of it."""

    id: Annotated[int, "Its number."]
    state: Annotated[
        str, "`waiting`, `approved` (and not done yet), `done`, `failed`, `denied`, `expired`."
    ]
    client: Annotated[str, "Who asked."]
    conversation: Annotated[str, "In which conversation."]
    action: Annotated[str, "What is to be done: `write_file`."]
    arguments: Annotated[dict[str, Any], "With what, exactly."]
    digest: Annotated[str, "SHA-256 of action and arguments, hex."]
    asked_at: Annotated[str, "When it was asked for, ISO 8601."]
    expires_at: Annotated[str, "When it can no longer be decided, ISO 8601."]
    decided_at: Annotated[str | None, "When it was decided, ISO 8601."]
    decided_by: Annotated[str | None, "Who decided, and where."]
    outcome: Annotated[str | None, "What came of it."]


@dataclass(frozen=True, kw_only=True)
class ApprovalsOutput(Output):
    """`emily approvals`."""

    approvals: Annotated[list[ApprovalPart], "The latest first."]


@dataclass(frozen=True, kw_only=True)
class ChatOutput(Output):
    """`emily chat MESSAGE`."""

    conversation: Annotated[str, "Id of the conversation, to go on with."]
    health: Annotated[list[str], "What of Emily is not well; the model was told too."]
    answer: Annotated[str, "The answer."]
    tools: Annotated[list[str], "Tools that were called, in their order."]
    documents: Annotated[list[SentDocumentPart], "Documents of which something was sent."]
    notices: Annotated[list[str], "What went wrong beside the answer, such as with memories."]


@dataclass(frozen=True, kw_only=True)
class ConversationPart:
    """A conversation."""

    id: Annotated[str, "To go on with it."]
    title: Annotated[str | None, "Its first words."]
    forked_from: Annotated[str | None, "The one that it was copied from."]
    started_at: Annotated[str, "When it began, ISO 8601."]
    last_at: Annotated[str, "When something was last asked in it, ISO 8601."]


@dataclass(frozen=True, kw_only=True)
class ConversationsOutput(Output):
    """`emily chat --list`."""

    conversations: Annotated[list[ConversationPart], "The latest first."]


@dataclass(frozen=True, kw_only=True)
class McpOutput(Output):
    """`emily mcp`."""

    command: Annotated[str, "What a client starts, to speak over stdin and stdout."]
    args: Annotated[list[str], "With these arguments."]
    url: Annotated[str, "Where `emily mcp --http` listens."]


@dataclass(frozen=True, kw_only=True)
class McpTokenOutput(Output):
    """`emily mcp token`."""

    client: Annotated[str, "The client."]
    token: Annotated[str | None, "Its token; `null` with `--list` and `--revoke`."]
    clients: Annotated[list[str], "Every client that has one."]


@dataclass(frozen=True, kw_only=True)
class McpInstallOutput(Output):
    """`emily mcp install`."""

    client: Annotated[str, "The client."]
    path: Annotated[str, "Its file of settings."]
    key: Annotated[str, "Under which it keeps servers."]
    before: Annotated[Any, "Emily's entry as it was; `null` if there was none."]
    after: Annotated[Any, "As it is now; `null` if there is none."]
    changed: Annotated[bool, "Whether the file was written."]
    backup: Annotated[str | None, "Copy of the file as it was; `null` if there was none."]


def egress_output(
    by: str | None,
    entries: Sequence[EgressEntry],
    totals: Sequence[EgressTotal],
    cleared: int | None,
) -> EgressOutput:
    """What left."""
    return EgressOutput(
        by=by,
        entries=[
            EgressEntryPart(
                id=item.id,
                at=item.at.isoformat(),
                role=item.role,
                client=item.client,
                local=item.local,
                conversation=None if item.conversation_id is None else str(item.conversation_id),
                tool=item.tool,
                characters=item.characters,
                bytes=item.bytes,
                documents=sent_documents(item.documents),
            )
            for item in entries
        ],
        totals=[
            EgressTotalPart(
                key=item.key,
                name=item.name,
                calls=item.calls,
                characters=item.characters,
                bytes=item.bytes,
                last_at=item.last_at.isoformat(),
            )
            for item in totals
        ],
        cleared=cleared,
    )


def approvals_output(approvals: Sequence[Approval]) -> ApprovalsOutput:
    """What waits for a decision, or was decided."""
    return ApprovalsOutput(
        approvals=[
            ApprovalPart(
                id=item.id,
                state=item.state,
                client=item.client,
                conversation=str(item.conversation_id),
                action=item.action,
                arguments=item.arguments,
                digest=item.digest,
                asked_at=item.asked_at.isoformat(),
                expires_at=item.expires_at.isoformat(),
                decided_at=None if item.decided_at is None else item.decided_at.isoformat(),
                decided_by=item.decided_by,
                outcome=item.outcome,
            )
            for item in approvals
        ]
    )


def sent_documents(documents: Sequence[SentDocument]) -> list[SentDocumentPart]:
    """Documents of which something was sent."""
    return [
        SentDocumentPart(
            id=sent.id, name=sent.name, places=list(sent.places), characters=sent.characters
        )
        for sent in documents
    ]


def conversations_output(conversations: Sequence[Conversation]) -> ConversationsOutput:
    """The conversations in the terminal."""
    return ConversationsOutput(
        conversations=[
            ConversationPart(
                id=str(item.id),
                title=item.title,
                forked_from=None if item.forked_from is None else str(item.forked_from),
                started_at=item.started_at.isoformat(),
                last_at=item.last_at.isoformat(),
            )
            for item in conversations
        ]
    )


def private_output(
    places: Sequence[PrivatePlace], documents: Sequence[int], still_by: Sequence[str]
) -> PrivateOutput:
    """What is private."""
    return PrivateOutput(
        places=[
            PrivatePlacePart(
                path=item.path,
                document=item.document_id,
                name=item.name,
                documents=item.documents,
                since=item.since.isoformat(),
            )
            for item in places
        ],
        documents=sorted(documents),
        still_by=list(still_by),
    )
