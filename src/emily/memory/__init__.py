"""Facts out of conversations: what is known of the owner, what it was, what waits to be said."""

from emily.memory.facts import Fact, Facts, Memory, MemoryCounts, Past
from emily.memory.finding import Found
from emily.memory.service import Answered, Learned, Memories, Message, Outcome

__all__ = [
    "Answered",
    "Fact",
    "Facts",
    "Found",
    "Learned",
    "Memories",
    "Memory",
    "MemoryCounts",
    "Message",
    "Outcome",
    "Past",
]
