"""Pinned questions: asked after every change of the archive, and told of when they are lost."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from emily.brain import Brain
from emily.errors import InputError, UnknownDocument

Write = Callable[[str, str], Path]
Rows = Callable[..., list[tuple[Any, ...]]]
OpenBrain = Callable[..., Awaitable[Brain]]

KEYS = "The spare keys lie with the neighbour on the second floor.\n"
QUESTION = "spare keys neighbour"


@pytest.fixture
async def pinned(open_brain: OpenBrain, write: Write) -> Brain:
    """An archive that shows one passage a search, with a pinned question."""
    brain = await open_brain(result_limit=1)
    await brain.add([write("keys.txt", KEYS), write("cake.txt", "The cake takes three eggs.\n")])
    found = await brain.pin(f"  {QUESTION} ", "keys.txt")
    assert (found.question, found.found, found.rank) == (QUESTION, True, 1)
    return brain


async def test_a_document_that_others_push_out_is_told_of(pinned: Brain, write: Write) -> None:
    better = write("better.txt", f"{QUESTION}\n")
    report = await pinned.add([better])
    (notice,) = report.notices
    assert notice.startswith(f"The pinned question '{QUESTION}' no longer finds keys.txt; lost by:")
    (alert,) = await pinned.alerts.open()
    lasting = notice.replace("no longer finds", "does not find")
    assert lasting.endswith(f"See: emily why '{QUESTION}' --doc 1")
    assert (alert.name, alert.level, alert.text) == ("pin:1", "warning", lasting)
    (pin,) = await pinned.pins.list()
    assert (pin.found, pin.rank) == (False, None)
    assert pin.lost_by in ("second stage", "selection")
    checks = {check.name: check for check in await pinned.doctor()}
    assert (checks["pins"].detail, checks["pins"].help) == (lasting, "emily pins")
    removed = await pinned.remove("better.txt")
    assert removed.document.name == "better.txt"
    assert removed.notices == (f"The pinned question '{QUESTION}' finds keys.txt again.",)
    assert not await pinned.alerts.open()
    assert not (await pinned.remove("cake.txt")).notices


async def test_what_was_never_found_is_not_told_as_lost(pinned: Brain) -> None:
    made = await pinned.pin("-garage where are the spare keys", "cake.txt")
    assert not made.found
    (alert,) = await pinned.alerts.open()
    assert "does not find cake.txt" in alert.text
    assert alert.text.endswith("See: emily why --doc 2 -- '-garage where are the spare keys'")


async def test_a_document_that_is_gone_and_comes_back(pinned: Brain, folder: Path) -> None:
    report = await pinned.remove("keys.txt")
    assert "has lost its document: keys.txt is no longer in the archive" in report.notices[0]
    (pin,) = await pinned.pins.list()
    assert (pin.document_id, pin.lost_by) == (None, "archive")
    back = await pinned.add([folder / "keys.txt"])
    assert back.notices == (f"The pinned question '{QUESTION}' finds keys.txt again.",)
    (pin,) = await pinned.pins.list()
    assert pin.document_id == back.files[0].document


async def test_reindexing_asks_them_too(pinned: Brain, rows: Rows) -> None:
    assert not (await pinned.reindex()).notices
    rows("UPDATE document SET fingerprint = 'older'")
    rows("UPDATE pin SET rank = NULL, lost_by = 'arms', checked_at = now()")
    report = await pinned.reindex()
    assert report.documents == 2
    assert report.notices == (f"The pinned question '{QUESTION}' finds keys.txt again.",)


async def test_without_pins_nothing_is_asked(brain: Brain, write: Write) -> None:
    assert (await brain.add([write("keys.txt", KEYS)])).notices == ()
    checks = {check.name: check for check in await brain.doctor()}
    assert checks["pins"].ok
    assert checks["pins"].detail == "no question is pinned"


async def test_pinned_questions_are_not_the_owners_traffic(pinned: Brain) -> None:
    await pinned.pins.check()
    await pinned.settle()
    assert await pinned.queries.count() == 0


async def test_what_cannot_be_pinned(pinned: Brain) -> None:
    with pytest.raises(InputError, match=r"is pinned to keys.txt already. See: emily pins"):
        await pinned.pin(QUESTION, "keys.txt")
    with pytest.raises(InputError, match="question is empty"):
        await pinned.pin("  ", "keys.txt")
    with pytest.raises(UnknownDocument):
        await pinned.pin(QUESTION, "nowhere.txt")
    assert len(await pinned.pins.list()) == 1


async def test_one_that_is_removed_takes_its_alert_along(pinned: Brain) -> None:
    await pinned.remove("keys.txt")
    assert (await pinned.pins.remove(1)).question == QUESTION
    assert not await pinned.alerts.open()
    with pytest.raises(InputError, match=r"No pinned question has the id 1. See: emily pins"):
        await pinned.pins.remove(1)


async def test_one_that_cannot_be_asked_spoils_no_change(pinned: Brain, rows: Rows) -> None:
    rows("ALTER TABLE alert RENAME TO hidden")
    report = await pinned.remove("cake.txt")
    assert report.document.name == "cake.txt"
    assert "The pinned questions could not be asked" in report.notices[0]
