"""The assistant: what a model is shown of the archive, and what is kept of it.

A model sees the archive through tools alone. The tools know no transport: the MCP server and the
conversation in the terminal call the same ones. What they give stands in the wrapper for foreign
text, opens only what the conversation was shown, and is written into the ledger before it leaves.
"""

from __future__ import annotations

from emily.assistant.conversations import Client, Conversation, Conversations
from emily.assistant.desk import Assistant
from emily.assistant.ledger import Egress, EgressEntry, EgressTotal
from emily.assistant.private import PrivatePlace, PrivatePlaces
from emily.assistant.tools import Tools, ToolText

__all__ = [
    "Assistant",
    "Client",
    "Conversation",
    "Conversations",
    "Egress",
    "EgressEntry",
    "EgressTotal",
    "PrivatePlace",
    "PrivatePlaces",
    "ToolText",
    "Tools",
]
