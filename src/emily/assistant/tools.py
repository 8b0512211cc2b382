"""The tools by which a model looks into the archive, whatever carries the call.

Every result goes the same way: found, held against what is private, put inside the wrapper,
written into the ledger, sent.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, Protocol, get_args

from emily.assistant.approvals import Approvals
from emily.assistant.conversations import Client, Conversation, Conversations
from emily.assistant.ledger import Egress, Role
from emily.assistant.private import PrivatePlaces
from emily.assistant.sheets import (
    SUMMARY,
    Sheet,
    answer_sheet,
    for_model,
    memory_sheet,
    said,
    summary_sheet,
)
from emily.assistant.turns import Look, Sight
from emily.assistant.writing import WRITE_FILE, FileWriter
from emily.errors import EmilyError, InputError
from emily.retrieval.filters import Filters, parse_filters
from emily.retrieval.passages import MOST_CHARACTERS
from emily.store import Database

if TYPE_CHECKING:
    from emily.memory import Memories
    from emily.retrieval.answer import Answer

__all__ = ["MODES", "PROPOSE_MEMORY", "SEARCH_MEMORY", "Mode", "Search", "ToolText", "Tools"]

Mode = Literal["summary", "answer"]
MODES: tuple[Mode, ...] = get_args(Mode)

SEARCH_MEMORY = "search_memory"
PROPOSE_MEMORY = "propose_memory"

MOST_BUDGET = 10_000
"""Tokens of one search for a model; more would not fit into one result."""
_MOST_NAMED = 40

_log = logging.getLogger("emily.assistant")


class Search(Protocol):
    """Searches the archive, unseen by the owner's log of questions; see ``Brain.search``."""

    async def __call__(
        self,
        query: str | Sequence[str],
        *,
        filters: Filters,
        budget: int | None,
        operators: bool,
        log: bool,
    ) -> Answer:
        """The answer."""
        ...


Ask = Callable[[int, str], Awaitable["Answer"]]


@dataclass(frozen=True, slots=True)
class ToolText:
    """What a call gives back.

    Attributes:
        text: what the model reads.
        refused: whether it is an error: nothing of any document is in it.
    """

    text: str
    refused: bool = False


class Tools:
    """The tools of one conversation.

    Attributes:
        client: who asks.
        conversation: whose set of documents counts.
        looks: what was given, in order.
    """

    def __init__(
        self,
        database: Database,
        search: Search,
        ask: Ask,
        client: Client,
        conversation: Conversation,
        *,
        approvals: Approvals,
        writer: FileWriter,
        memory: Memories,
        role: Role = "assistant",
        by_path: bool = False,
    ) -> None:
        """Bind the tools to a conversation.

        Args:
            database: the store.
            search: searches the archive.
            ask: puts a question to one document, by its id.
            client: who asks.
            conversation: whose set of documents counts.
            approvals: where what has an effect outside waits.
            writer: of new files.
            memory: what is remembered of the owner.
            role: what the ledger calls it.
            by_path: cite by path and line, as in a vault.
        """
        self._database = database
        self._search = search
        self._ask = ask
        self.client = client
        self.conversation = conversation
        self.looks: list[Look] = []
        self._approvals = approvals
        self._writer = writer
        self._memory = memory
        self._role: Role = role
        self._by_path = by_path
        self._conversations = Conversations(database)
        self._private = PrivatePlaces(database)
        self._egress = Egress(database)

    async def search_knowledge(
        self,
        queries: str | Sequence[str],
        *,
        since: str | None = None,
        until: str | None = None,
        types: Sequence[str] = (),
        languages: Sequence[str] = (),
        folder: str | None = None,
        budget: int | None = None,
    ) -> ToolText:
        """Search the archive; the conversation may open from then on what it is shown.

        Args:
            queries: the question, or several wordings of it, asked at once.
            since: documents of this year, month or day, or later.
            until: documents of this year, month or day, or earlier.
            types: documents of these kinds.
            languages: documents in these languages.
            folder: documents in this folder.
            budget: most tokens of all passages together.
        """
        return await self._guarded(
            "search_knowledge",
            self._searched(queries, since, until, types, languages, folder, budget),
        )

    async def get_document(
        self, document: int | str, mode: str = "answer", question: str | None = None
    ) -> ToolText:
        """Open a document of which this conversation was shown something.

        Args:
            document: its id.
            mode: ``answer``: the passages that answer a question best; ``summary``.
            question: what is asked of it, in the mode ``answer``.
        """
        return await self._guarded("get_document", self._opened(document, mode, question))

    async def write_file(self, name: str, text: str, folder: str = "") -> ToolText:
        """Ask the owner to have a new file written; calling again tells what became of it.

        Args:
            name: of the file.
            text: that it is to hold.
            folder: one of those that the owner named.
        """
        return await self._guarded(WRITE_FILE, self._wished(name, text, folder))

    async def search_memory(self, query: str) -> ToolText:
        """Look into what is remembered of the owner.

        Args:
            query: a question or some words.
        """
        return await self._guarded(SEARCH_MEMORY, self._remembered(query))

    async def propose_memory(
        self, text: str, original: str = "", document: int | None = None
    ) -> ToolText:
        """Propose something to be remembered; it waits until the owner accepts it.

        Args:
            text: a sentence in English.
            original: the owner's or the document's own words.
            document: that it comes from, one that was shown in this conversation.
        """
        return await self._guarded(PROPOSE_MEMORY, self._proposed(text, original, document))

    async def _remembered(self, query: str) -> Sheet:
        answer = await self._memory.search(query)
        return memory_sheet(answer.found, answer.notices)

    async def _proposed(self, text: str, original: str, document: int | None) -> Sheet:
        if document:
            document = await self._allowed(document)
        outcome = await self._memory.propose(
            text,
            original=original.strip() or None,
            client=self.client.name,
            conversation=self.conversation.id,
            document=document or None,
        )
        number = outcome.memory.id if outcome.memory else 0
        told = {
            "known": "This is remembered already.",
            "declined": "The owner has declined this; do not propose it again.",
            "proposed": f"Proposal {number} waits for the owner, who decides in a terminal with "
            f"emily memory accept {number}, or decline. Until then it is not remembered.",
        }
        return Sheet("\n".join(said([told[outcome.action]])))

    async def _wished(self, name: str, text: str, folder: str) -> Sheet:
        wish = await self._writer.wish(folder, name, text)
        approval = await self._approvals.find(self.conversation, WRITE_FILE, wish)
        if approval is None:
            await self._writer.check(wish)
            approval = await self._approvals.ask(self.conversation, WRITE_FILE, wish)
        what = f"Approval {approval.id}, writing {wish['path']} ({len(text):,} characters):"
        told = {
            "waiting": "it waits for the owner's decision, and nothing is written yet. The owner "
            "decides in a terminal with emily approvals; call this again with the same arguments "
            "to learn what became of it.",
            "approved": "the owner has approved it; it is being written.",
            "done": f"the owner has approved it. {approval.outcome}",
            "failed": f"the owner has approved it, but: {approval.outcome}",
            "denied": "the owner has denied it. Do not ask for it again.",
            "expired": "nobody decided in time, so it is not written.",
        }
        return Sheet("\n".join(said([f"{what} {told[approval.state]}"])))

    async def _searched(
        self,
        queries: str | Sequence[str],
        since: str | None,
        until: str | None,
        types: Sequence[str],
        languages: Sequence[str],
        folder: str | None,
        budget: int | None,
    ) -> Sheet:
        if budget is not None and not 1 <= budget <= MOST_BUDGET:
            raise InputError(
                f"The budget is {budget} tokens; it must be from 1 to {MOST_BUDGET:,}."
            )
        filters = parse_filters(
            since=since or None,
            until=until or None,
            kinds=types,
            languages=languages,
            folder=folder or None,
        )
        barred = await self._barred()
        answer = await self._search(
            queries,
            filters=replace(filters, without=barred),
            budget=budget,
            operators=False,
            log=False,
        )
        # Again: a search takes a moment, in which the owner may have said that one is private.
        barred |= await self._barred()
        results = [
            # The link by which a note came up may name a private one.
            replace(item, via=None) if barred else item
            for item in answer.results
            if item.document.id not in barred
        ]
        notices = [for_model(notice) for notice in answer.notices]
        if not results and not notices:
            notices.append("Nothing was found.")
        return answer_sheet(results, notices, by_path=self._by_path)

    async def _opened(self, document: int | str, mode: str, question: str | None) -> Sheet:
        if mode not in MODES:
            raise InputError(f"The mode is {mode!r}. Modes: {', '.join(MODES)}")
        identity = await self._allowed(document)
        if mode == "answer":
            return await self._answered(identity, question)
        row = await self._database.fetch_one("document_for_model", {"document": identity})
        if row is None:
            raise InputError(f"Document {identity} is no longer in the archive.")
        if not (row["summary"] or "").strip():
            notice = (
                f"Document {identity} has no summary yet. Ask it instead: get_document(document="
                f'{identity}, mode="answer", question="…").'
            )
            if question and question.strip():
                found = await self._answered(identity, question)
                return replace(found, text="\n".join([*said([notice]), found.text]))
            return Sheet("\n".join(said([notice])))
        stale = [] if row["current"] else ["The summary is of an earlier state of the document."]
        most = MOST_CHARACTERS
        if row["chunks"] > 1:
            most = min(most, row["characters"] // 2)
        return summary_sheet(identity, row["name"], row["summary"].strip(), stale, cut=most)

    async def _answered(self, identity: int, question: str | None) -> Sheet:
        if not (question or "").strip():
            raise InputError(
                'The mode "answer" needs a question: what do you want to know from the document?'
            )
        assert question is not None
        answer = await self._ask(identity, question)
        if identity in await self._barred():
            raise self._refusal(identity, await self._openable())
        results = [item for item in answer.results if item.document.id == identity]
        notices = [for_model(notice) for notice in answer.notices]
        if not results and not notices:
            notices.append("Nothing in the document answers that.")
        return answer_sheet(results, notices, inside=True, by_path=self._by_path)

    async def _allowed(self, document: int | str) -> int:
        """The id of a document that may be opened.

        Raises:
            InputError: it was not shown in this conversation, or is private by now.
        """
        openable = await self._openable()
        given = str(document).strip()
        for identity in openable:
            if given == str(identity):
                return identity
        raise self._refusal(document, openable)

    async def _openable(self) -> Sequence[int]:
        barred = await self._barred()
        shown = await self._conversations.shown(self.conversation.id)
        return [identity for identity in shown if identity not in barred]

    @staticmethod
    def _refusal(document: int | str, openable: Sequence[int]) -> InputError:
        # The same for what is not there, is private or was never shown: it tells nothing.
        listed = ", ".join(map(str, openable[-_MOST_NAMED:])) or "none yet"
        return InputError(
            f"Document {str(document)[:40]!r} cannot be opened: only documents of which "
            f"search_knowledge has shown a passage in this conversation can ({listed})."
        )

    async def _barred(self) -> frozenset[int]:
        """What this client is never sent."""
        return frozenset() if self.client.local else await self._private.documents()

    async def _guarded(self, tool: str, work: Awaitable[Sheet]) -> ToolText:
        """Do the work, write it into the ledger, and only then give it; errors become text."""
        try:
            sheet = await work
            await self._egress.record(
                self._role,
                self.client.name,
                characters=len(sheet.text),
                local=self.client.local,
                conversation=self.conversation.id,
                tool=tool,
                documents=sheet.documents,
            )
        except EmilyError as error:
            _log.info("%s was refused: %s", tool, error)
            self.looks.append(Look(tool, None))
            return ToolText(
                "\n".join(said([for_model(line) for line in str(error).split("\n")])), refused=True
            )
        self.looks.append(Look(tool, _sight(tool, sheet)))
        return ToolText(sheet.text)


def _sight(tool: str, sheet: Sheet) -> Sight | None:
    """What of documents a result shows."""
    if not sheet.documents:
        return None
    if tool == "get_document":
        return "summary" if sheet.documents[0].places == SUMMARY else "open"
    return "search"
