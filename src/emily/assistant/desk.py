"""The assistant's desk: one object that joins conversations, tools, ledger and private places."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from uuid import UUID

from emily.assistant.approvals import Approvals
from emily.assistant.conversations import Client, Conversation, Conversations
from emily.assistant.ledger import Egress
from emily.assistant.private import PrivatePlaces
from emily.assistant.servers import ServerLedger
from emily.assistant.tools import Search, Tools
from emily.assistant.writing import WRITE_FILE, FileWriter
from emily.retrieval.presets import preset_of
from emily.settings import Settings
from emily.store import Database

if TYPE_CHECKING:
    from emily.memory import Memories
    from emily.retrieval.answer import Answer
    from emily.retrieval.retriever import Retriever

__all__ = ["Assistant"]

_WIDEN_MORE = 2
_PASSAGES = 8
"""Of an answer out of one document: as many as its 20,000 characters hold of widened ones."""


class Assistant:
    """What a model is shown of one archive, and what is kept of it.

    Attributes:
        conversations: with models; each may open what it was shown.
        egress: the ledger of what left.
        private: what never leaves.
        approvals: what models want to have done outside, and what the owner decided.
        memory: what is remembered of the owner.
    """

    def __init__(
        self,
        database: Database,
        settings: Settings,
        search: Search,
        retriever: Retriever,
        memory: Memories,
    ) -> None:
        """Join the parts.

        Args:
            database: the store.
            settings: of the home folder.
            search: searches the archive.
            retriever: puts questions to one document.
            memory: what is remembered of the owner.
        """
        self._database = database
        self._settings = settings
        self._search = search
        self._retriever = retriever
        self.memory = memory
        self.conversations = Conversations(database)
        self.egress = Egress(database)
        self.private = PrivatePlaces(database)
        self._writer = FileWriter(database, settings)
        self.approvals = Approvals(
            database, {WRITE_FILE: self._writer.write}, settings.approval_hours
        )

    def client(self, name: str, declared: str | None = None) -> Client:
        """A client by the name that the owner gave it; local if the settings say so."""
        return Client(name, name in self._settings.local_clients, declared)

    async def tools(self, client: Client, conversation: Conversation | UUID | None = None) -> Tools:
        """The tools of a conversation: a given one, or a new one.

        Raises:
            InputError: the conversation is another client's.
            StoreError: the database cannot take it.
        """
        if not isinstance(conversation, Conversation):
            conversation = await self.conversations.open(client, conversation)
        return Tools(
            self._database,
            self._search,
            self._asked,
            client,
            conversation,
            approvals=self.approvals,
            writer=self._writer,
            memory=self.memory,
            by_path=preset_of(self._settings).by_path,
        )

    @asynccontextmanager
    async def telling_of_servers(self) -> AsyncIterator[None]:
        """Inside, what is sent to models on servers elsewhere is written into the ledger."""
        with ServerLedger(self._database).running():
            yield

    async def _asked(self, document: int, question: str) -> Answer:
        """A question to one document, with wider passages than a search has."""
        preset = preset_of(self._settings)
        wide = self._retriever.under(widen=preset.widen + _WIDEN_MORE)
        return await wide.ask(document, question, max(_PASSAGES, preset.result_limit))
