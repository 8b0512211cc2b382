"""Ninety messages in two languages: what becomes of their facts, and what is found of them.

What the chat model says is scripted; a server on loopback says it to the real backend, and the
real embedder tells what is near. What is decided is Emily's own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from uuid import uuid4

import pytest
from benchmarks.memory_dialogue import Question, Turn, read_turns, scripted
from tests.contract.chat import ChatServer
from tests.fakes import bundled_embedder

from emily.indexing.language import LanguageDetector
from emily.memory import Memories, Outcome
from emily.models.chat import chat_model
from emily.settings import load_settings
from emily.store import Database, EmbeddedServer

# Where the rules cannot tell, both are kept: one thing worded as another, nothing lost.
MISSED = {
    "The owner takes coffee long with two sugars.": "added",
    "The spare keys of the owner's flat are with Amelia.": "added",
}
ACTIONS = {
    "add": "added",
    "drop": "known",
    "replace": "replaced",
    "retract": "retracted",
    "nothing": "nothing",
}


class Told:
    """The memory after all messages."""

    def __init__(self, memory: Memories, turns: list[Turn], questions: list[Question]) -> None:
        self.memory, self.turns, self.questions = memory, turns, questions
        self.ids: dict[str, int] = {}
        self.outcomes: list[tuple[str, str, str, Outcome]] = []
        self.prompts: list[str] = []


@pytest.fixture(scope="module")
async def told(
    server: EmbeddedServer, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Told]:
    import psycopg

    turns, questions = read_turns()
    name = f"dialogue_{uuid4().hex}"
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY FILE_COPY")
    home = tmp_path_factory.mktemp("dialogue")
    chat_server = ChatServer(lambda _system, prompt, _number: scripted(turns, prompt))
    with chat_server.running():
        values = {"chat": "ollama", "chat_url": chat_server.url, "chat_model": "terse:1b"}
        settings = load_settings(home, database_url=server.url(name), **values)
        model = chat_model("ollama", chat_server.url, "terse:1b", context=8192, seconds=60)
        async with Database.open(settings) as database:
            detector = LanguageDetector(("it", "en"))
            memory = Memories(settings, database, bundled_embedder(), detector, model)
            found = Told(memory, turns, questions)
            conversation = uuid4()
            for turn in turns:
                heard = await memory.hear(turn.message, client="chat", conversation=conversation)
                assert heard is not None, "it is long enough"
                (learned,) = await memory.extract()
                assert learned.problem is None, learned
                assert len(learned.outcomes) == len(turn.stated)
                for stated, outcome in zip(turn.stated, learned.outcomes, strict=True):
                    found.outcomes.append(
                        (stated.action, stated.name, stated.fact["statement"], outcome)
                    )
                    if stated.action == "add" or stated.fact["statement"] in MISSED:
                        assert outcome.memory is not None
                        found.ids[stated.name] = outcome.memory.id
            found.prompts = chat_server.prompts
            yield found
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_the_set_is_what_it_is_said_to_be() -> None:
    turns, questions = read_turns()
    assert len(turns) >= 80
    assert len({turn.message for turn in turns}) == len(turns)
    assert all(len(turn.message) >= 20 for turn in turns)
    assert min(Counter(turn.language for turn in turns).values()) >= 40
    actions = Counter(item.action for turn in turns for item in turn.stated)
    assert actions["add"] >= 40
    assert min(actions[name] for name in ("drop", "replace", "retract")) >= 6
    assert sum(not turn.stated for turn in turns) >= 7
    assert len(questions) >= 40


async def test_every_fact_is_decided_as_it_should_be(told: Told) -> None:
    wrong = {}
    for action, name, statement, outcome in told.outcomes:
        got = outcome.action
        meant = outcome.memory is None or action == "add" or outcome.memory.id == told.ids[name]
        if got != ACTIONS[action] or not meant:
            wrong[statement] = got
    assert wrong == MISSED


async def test_nothing_that_was_said_is_lost(told: Told) -> None:
    """Contradictions never delete both: each stands as it is now, or in the history."""
    kept = set()
    for memory in await told.memory.list(None):
        _, past = await told.memory.history(memory.id)
        kept |= {memory.text, *(item.text for item in past)}
        for item in past:
            assert item.said_at < item.ended_at
            assert item.reason == "replaced"
    said = {statement for action, _, statement, _ in told.outcomes if action in ("add", "replace")}
    assert said <= kept
    home = told.ids["home"]
    now, past = await told.memory.history(home)
    assert [item.text for item in past] == [
        "The owner lives in Genoa.",
        "The owner has moved to Savona.",
    ]
    assert now.text == "The owner lives in Genoa again."
    car = await told.memory.get(told.ids["car"])
    assert car.state == "ended"
    assert car.ended_at is not None


async def test_facts_are_the_owners_but_not_accepted_and_never_core(told: Told) -> None:
    for memory in await told.memory.list(None):
        assert (memory.source, memory.core, memory.accepted_at) == ("conversation", False, None)
    home = await told.memory.get(told.ids["doctor"])
    assert home.original == "My doctor is Dr Belmonte, she took over the practice."
    diet = await told.memory.get(told.ids["diet"])
    assert diet.language == "it"
    assert diet.text == "The owner does not eat meat, only fish."


async def test_what_was_said_is_found_in_both_languages(told: Told) -> None:
    """hit@3 of search_memory with the embedder that comes with the install."""
    missed = []
    for question in told.questions:
        answer = await told.memory.search(question.text, 3)
        assert answer.notices == ()
        if told.ids[question.name] not in [item.memory.id for item in answer.found]:
            missed.append(question.text)
    hit = 1 - len(missed) / len(told.questions)
    assert hit >= 0.85, (hit, missed)


async def test_a_message_is_data_to_the_model(told: Told) -> None:
    assert len(told.prompts) == len(told.turns), "one call for each message"
    for turn, prompt in zip(told.turns, told.prompts, strict=True):
        above, _, rest = prompt.partition("<external_content")
        assert turn.message not in above
        assert turn.message in rest
    assert "What is remembered already" in told.prompts[-1]
